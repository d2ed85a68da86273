"""What pictures show, as plain data: rows in order, intervals, shares, counts, colours and names.

`confide.plot` paints it with matplotlib, `confide.document` and the page of a report with Altair.
Read `intervals.py` first; `places.py` says which rows are drawn and where each of them stands.
"""

from confide.drawing.feature import Values as Values
from confide.drawing.feature import as_values as as_values
from confide.drawing.feature import feature_of as feature_of
from confide.drawing.intervals import HEADROOM as HEADROOM
from confide.drawing.intervals import Band as Band
from confide.drawing.intervals import IntervalsPicture as IntervalsPicture
from confide.drawing.intervals import Widening as Widening
from confide.drawing.intervals import axis_limits as axis_limits
from confide.drawing.intervals import before_calibration as before_calibration
from confide.drawing.intervals import calibration_bands as calibration_bands
from confide.drawing.intervals import interval_bands as interval_bands
from confide.drawing.intervals import intervals_picture as intervals_picture
from confide.drawing.intervals import named_coverages as named_coverages
from confide.drawing.intervals import robust_range as robust_range
from confide.drawing.intervals import widening_of as widening_of
from confide.drawing.novelty import NoveltyHistogram as NoveltyHistogram
from confide.drawing.novelty import novelty_histogram as novelty_histogram
from confide.drawing.novelty import p_values_of as p_values_of
from confide.drawing.places import Places as Places
from confide.drawing.places import places_of as places_of
from confide.drawing.places import some as some
from confide.drawing.words import BIASED as BIASED
from confide.drawing.words import BY_PREDICTION as BY_PREDICTION
from confide.drawing.words import COLOURS as COLOURS
from confide.drawing.words import SOURCES as SOURCES
from confide.drawing.words import UNBIASED as UNBIASED
from confide.drawing.words import Share as Share
from confide.drawing.words import interval_name as interval_name
from confide.drawing.words import stacked as stacked
