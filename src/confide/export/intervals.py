"""How both intervals of a level follow from a row's variances."""

import warnings
from typing import Any

import numpy as np
from scipy import stats

from confide.estimators import IntervalRegressor
from confide.export.parts import trees_parts, weights
from confide.learners import plain_networks
from confide.persistence import Arrays
from confide.prediction import Prediction
from confide.uncertainty import TPlusNormalLaw, conformal_quantile

# Where the law of t plus normal noise is tabulated: linear between these, to within 1e-7.
ANGLES = 2049


def interval_rules(
    model: IntervalRegressor, confidence_level: float
) -> tuple[dict[str, Any], Arrays]:
    """The bounds of both intervals, as functions of the variances of a row.

    With e the epistemic and a the aleatoric variance, half the method's own confidence interval is
    `confidence_times` * sqrt(e). The prediction interval reaches from the mean by the largest of
    these that are there: `total_bounds` * sqrt(e + a); `epistemic_times` * sqrt(e); and the array
    `by_angle` at atan2(sqrt(e), sqrt(a)), linear between its entries from 0 to pi / 2, times
    sqrt(e + a). It contains the confidence interval. `twins` says how that is calibrated, as
    `confide.calibration.ConfidenceCalibration` does it. None stands for infinity.

    Args:
        model: a bootstrapped ensemble, fitted.
        confidence_level: of both intervals.

    Returns:
        The numbers, and the arrays beside them.
    """
    n_members, noise = model.fitted_.settings.n_members, model.fitted_.noise
    p = (1 + confidence_level) / 2
    rules: dict[str, Any] = {"confidence_times": float(stats.t.ppf(p, n_members - 1))}
    arrays: Arrays = {}
    if model.calibration_ is not None:
        rules["total_bounds"] = _calibrated_bounds(model.calibration_, confidence_level)
    elif noise is None:
        angles = np.linspace(0, np.pi / 2, ANGLES)
        zeros = np.zeros_like(angles)
        law = TPlusNormalLaw(zeros, np.sin(angles), np.cos(angles), n_members - 1)
        arrays["by_angle"] = law.half_width(confidence_level)
    else:
        own = float(stats.t.ppf(p, noise.degrees_of_freedom))
        least = own * noise.least_scale(n_members)
        rules["total_bounds"] = [-own * noise.tail_scale, own * noise.tail_scale]
        rules["epistemic_times"] = max(least, rules["confidence_times"])
    on_twins = model.confidence_calibration_
    if on_twins is not None:
        rules["twins"], of_twins = _twins(on_twins, confidence_level)
        arrays |= of_twins
    return rules, arrays


def _calibrated_bounds(calibration: Any, confidence_level: float) -> list[float | None]:
    """The prediction interval of a row with mean zero and a total variance of one."""
    one, zero = np.ones(1), np.zeros(1)
    law = TPlusNormalLaw.normal(zero, one)
    row = Prediction(zero, one, zero, law, None, None, None, n_members=1)
    with warnings.catch_warnings():  # the page says itself where bounds are infinite
        warnings.simplefilter("ignore", UserWarning)
        bounds = calibration.calibrated(row).prediction_interval(confidence_level)[0]
    return [_finite(bound) for bound in bounds]


def _twins(calibration: Any, confidence_level: float) -> tuple[dict[str, Any], Arrays]:
    """What moves the centre of the confidence interval, and how wide it is."""
    from confide.calibration import BY_SIMULATIONS, LEAST  # here, because forests take long to load

    correction = calibration.correction
    units, echo = correction.units, correction.echo
    n_features = len(units.x_mean)
    networks = plain_networks(echo.learner, echo.members, n_features)
    arrays = trees_parts("pilot", correction.pilot) | trees_parts("squares", calibration.squares)
    arrays |= {"echo": weights(networks)} if networks is not None else {}
    for name, standardiser in (("units", units), ("echo", echo.standardiser)):
        arrays |= {f"{name}.{own}": getattr(standardiser, own) for own in ("x_mean", "x_scale")}
    reach = echo.standardiser.reach
    return {
        "times": _finite(conformal_quantile(calibration.scores, confidence_level)),
        "shift": calibration.shift,
        "claim": calibration.claim,
        "by_simulations": BY_SIMULATIONS,
        "least": (LEAST * units.y_scale) ** 2,
        "units": [units.y_mean, units.y_scale],
        "echo": [echo.standardiser.y_mean, echo.standardiser.y_scale],
        "echo_reach": list(reach) if np.isfinite(reach).all() else None,
    }, arrays


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
