"""Pointwise judgement of intervals over simulated data sets; knows arrays only."""

from confide.metrics.coverage import brier_score, cicf

__all__ = ["brier_score", "cicf"]
