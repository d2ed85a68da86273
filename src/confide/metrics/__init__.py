"""Judgement of predictions and intervals; knows arrays only.

Read `simulated.py` for the paper's pointwise judgement over simulated data sets, `observed.py`
for scores and coverage of observed targets, `jackknife.py` for standard errors.
"""

from confide.metrics.jackknife import jackknife_standard_error as jackknife_standard_error
from confide.metrics.observed import COVERAGE_LEVELS as COVERAGE_LEVELS
from confide.metrics.observed import CalibrationCurve as CalibrationCurve
from confide.metrics.observed import ObservedCoverage as ObservedCoverage
from confide.metrics.observed import calibration_curve as calibration_curve
from confide.metrics.observed import crps_of_normal_mixture as crps_of_normal_mixture
from confide.metrics.observed import interval_score as interval_score
from confide.metrics.observed import log_score as log_score
from confide.metrics.observed import observed_coverage as observed_coverage
from confide.metrics.observed import pinball_loss as pinball_loss
from confide.metrics.simulated import PointwiseBias as PointwiseBias
from confide.metrics.simulated import at_equal_mean_width as at_equal_mean_width
from confide.metrics.simulated import attainable_brier_score as attainable_brier_score
from confide.metrics.simulated import brier_score as brier_score
from confide.metrics.simulated import brier_score_standard_error as brier_score_standard_error
from confide.metrics.simulated import cicf as cicf
from confide.metrics.simulated import cicf_at_equal_mean_width as cicf_at_equal_mean_width
from confide.metrics.simulated import covered as covered
from confide.metrics.simulated import mean_width as mean_width
from confide.metrics.simulated import picf as picf
from confide.metrics.simulated import pointwise_bias as pointwise_bias
from confide.metrics.simulated import pointwise_mean_width as pointwise_mean_width
from confide.metrics.simulated import stretched_to_mean_width as stretched_to_mean_width
from confide.metrics.simulated import unbiased_brier_score as unbiased_brier_score
