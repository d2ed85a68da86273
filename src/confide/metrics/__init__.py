"""Judgement of predictions and intervals; knows arrays only.

Read `coverage.py` for the paper's pointwise judgement over simulated data sets, `width.py` for its
price, `bias.py` for what intervals cannot mend, `scores.py` for scores against observed targets,
`observed.py` for the coverage of those.
"""

from confide.metrics.bias import PointwiseBias, pointwise_bias
from confide.metrics.coverage import (
    attainable_brier_score,
    brier_score,
    brier_score_standard_error,
    cicf,
    covered,
    picf,
    unbiased_brier_score,
)
from confide.metrics.observed import COVERAGE_LEVELS, ObservedCoverage, observed_coverage
from confide.metrics.scores import (
    CalibrationCurve,
    calibration_curve,
    crps_of_normal_mixture,
    interval_score,
    log_score,
    pinball_loss,
)
from confide.metrics.width import (
    at_equal_mean_width,
    cicf_at_equal_mean_width,
    mean_width,
    pointwise_mean_width,
    stretched_to_mean_width,
)

__all__ = [
    "COVERAGE_LEVELS",
    "CalibrationCurve",
    "ObservedCoverage",
    "PointwiseBias",
    "at_equal_mean_width",
    "attainable_brier_score",
    "brier_score",
    "brier_score_standard_error",
    "calibration_curve",
    "cicf",
    "cicf_at_equal_mean_width",
    "covered",
    "crps_of_normal_mixture",
    "interval_score",
    "log_score",
    "mean_width",
    "observed_coverage",
    "picf",
    "pinball_loss",
    "pointwise_bias",
    "pointwise_mean_width",
    "stretched_to_mean_width",
    "unbiased_brier_score",
]
