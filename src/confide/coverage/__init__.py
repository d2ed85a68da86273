"""The laboratory: methods judged by pointwise coverage on data whose truth is known.

Read `simulations.py` for fitting many simulated data sets, `report.py` for what is made of them,
`coverage_check.py` for the check on a simulated twin of one's own data.
"""

from confide.coverage.adapters import MapieAdapter, SkproAdapter
from confide.coverage.coverage_check import coverage_check, coverages_of
from confide.coverage.result import Coverage, CoverageCheck
from confide.coverage.simulations import KINDS, Answers, simulated_answers, work
from confide.moved import renamed

__all__ = [
    "KINDS",
    "Answers",
    "Coverage",
    "CoverageCheck",
    "MapieAdapter",
    "SkproAdapter",
    "coverage_check",
    "coverages_of",
    "simulated_answers",
    "work",
]

__getattr__ = renamed(__name__, {"CoverageReport": "CoverageCheck"})
