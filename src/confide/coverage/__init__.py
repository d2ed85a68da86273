"""The laboratory: methods judged by pointwise coverage on data whose truth is known.

Read `simulations.py` for fitting many simulated data sets, `result.py` for the numbers and words
that come of them, `coverage_check.py` for the check on a simulated twin of the user's own data.
"""

from confide.coverage.adapters import MapieAdapter as MapieAdapter
from confide.coverage.adapters import SkproAdapter as SkproAdapter
from confide.coverage.coverage_check import coverage_check as coverage_check
from confide.coverage.coverage_check import coverages_of as coverages_of
from confide.coverage.result import Coverage as Coverage
from confide.coverage.result import CoverageCheck as CoverageCheck
from confide.coverage.simulations import Answers as Answers
from confide.coverage.simulations import simulated_answers as simulated_answers
from confide.coverage.simulations import work as work
from confide.moved import renamed
from confide.prediction import KINDS as KINDS

__getattr__ = renamed(__name__, {"CoverageReport": "CoverageCheck"})
