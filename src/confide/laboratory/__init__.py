"""The laboratory: methods judged by pointwise coverage on data whose truth is known.

Read `simulations.py` for fitting many simulated data sets, `report.py` for what is made of them,
`coverage_check.py` for the check on a simulated twin of one's own data.
"""

from confide.laboratory.adapters import MapieAdapter, SkproAdapter
from confide.laboratory.coverage_check import coverage_check
from confide.laboratory.report import CoverageReport
from confide.laboratory.simulations import Answers, simulated_answers

__all__ = [
    "Answers",
    "CoverageReport",
    "MapieAdapter",
    "SkproAdapter",
    "coverage_check",
    "simulated_answers",
]
