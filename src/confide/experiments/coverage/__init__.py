"""Methods judged by pointwise coverage on simulated data: what Experiment 1 and its kin share.

Read `contenders.py` for who is judged, `study.py` for the cells, `comparison.py` for the numbers
beside the paper's, and `repetition.py` for an experiment that changes a condition.
"""

from confide.experiments.coverage.comparison import (
    beside_print,
    in_numbers,
    of_variant,
    standard_error,
)
from confide.experiments.coverage.contenders import CONTENDERS, DESCRIBED, PUBLISHED, Contender
from confide.experiments.coverage.figures import violins_of
from confide.experiments.coverage.repetition import Repetition
from confide.experiments.coverage.study import (
    Condition,
    Judged,
    judged,
    simulate,
    study_cells,
    study_headline,
)
from confide.experiments.coverage.tables import of, table_beside_print, table_of_all

__all__ = [
    "CONTENDERS",
    "DESCRIBED",
    "PUBLISHED",
    "Condition",
    "Contender",
    "Judged",
    "Repetition",
    "beside_print",
    "in_numbers",
    "judged",
    "of",
    "of_variant",
    "simulate",
    "standard_error",
    "study_cells",
    "study_headline",
    "table_beside_print",
    "table_of_all",
    "violins_of",
]
