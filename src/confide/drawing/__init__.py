"""What pictures show, as plain data: rows in order, intervals, shares, counts, colours and names.

`confide.plot` paints it with matplotlib, `confide.document` and the page of a report with Altair.
Read `intervals.py` first; `places.py` says which rows are drawn and where each of them stands.
"""

from confide.drawing.coverage import named_coverages
from confide.drawing.feature import feature_of
from confide.drawing.intervals import (
    HEADROOM,
    Band,
    IntervalsPicture,
    axis_limits,
    calibration_bands,
    interval_bands,
    intervals_picture,
)
from confide.drawing.novelty import NoveltyHistogram, novelty_histogram, p_values_of
from confide.drawing.places import Places, places_of
from confide.drawing.split import Share, stacked
from confide.drawing.widening import Widening, before_calibration, widening_of
from confide.drawing.words import (
    BIASED,
    BY_PREDICTION,
    COLOURS,
    SOURCES,
    WITHIN_CHANCE,
    interval_name,
)

__all__ = [
    "BIASED",
    "BY_PREDICTION",
    "COLOURS",
    "HEADROOM",
    "SOURCES",
    "WITHIN_CHANCE",
    "Band",
    "IntervalsPicture",
    "NoveltyHistogram",
    "Places",
    "Share",
    "Widening",
    "axis_limits",
    "before_calibration",
    "calibration_bands",
    "feature_of",
    "interval_bands",
    "interval_name",
    "intervals_picture",
    "named_coverages",
    "novelty_histogram",
    "p_values_of",
    "places_of",
    "stacked",
    "widening_of",
]
