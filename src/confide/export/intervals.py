"""How both intervals of a level follow from a row's variances."""

import warnings
from typing import Any

import numpy as np
from scipy import stats

from confide.estimators import IntervalRegressor
from confide.export.parts import trees_parts, weights
from confide.learners import plain_networks
from confide.methods import concrete_dropout, deep_ensemble, quality_driven_ensemble
from confide.persistence import Arrays
from confide.prediction import Prediction
from confide.uncertainty import LevelLaw, TPlusNormalLaw, conformal_quantile

# The law of t plus normal noise is tabulated by the logarithm of the ratio of both scales, up to
# this size, where one of them is all. Cubic between entries, it is right to within 1e-8, however
# heavy the tails.
LARGEST_LOG, N_RATIOS = 21.0, 2049
# Methods whose law of a new observation is normal, where they predict the noise themselves.
NORMAL = (concrete_dropout, deep_ensemble)


def interval_rules(
    model: IntervalRegressor, confidence_level: float
) -> tuple[dict[str, Any], Arrays]:
    """The bounds of both intervals, as functions of the variances of a row.

    With e the epistemic and a the aleatoric variance, half the method's own confidence interval is
    `confidence_times` * sqrt(e); a method that has none lacks this. The prediction interval reaches
    from the mean by the largest of these that are there: `total_bounds` * sqrt(e + a);
    `epistemic_times` * sqrt(e); and the array `by_ratio` at log(e / a) / 2, cubic between its
    entries from -`largest_log` to `largest_log`, times sqrt(e + a). For a method of bounds without
    variances, half their distance takes the place of sqrt(e + a). If `contains` is true, it is made
    wider where it would not contain the confidence interval. `twins` says how that is calibrated,
    as `confide.calibration.ConfidenceCalibration` does it. None stands for infinity.

    Args:
        model: fitted.
        confidence_level: of both intervals.

    Returns:
        The numbers, and the arrays beside them.

    Raises:
        NoSuchIntervalError: the method has no intervals of that level.
    """
    on_twins, of_twins = model.confidence_calibration_, Arrays()
    rules = _confidence_rules(model, confidence_level)
    if model.calibration_ is not None:
        bounds = _calibrated_bounds(model.calibration_, confidence_level)
        own, arrays = {"total_bounds": bounds, "contains": True}, Arrays()
    else:
        own, arrays = _prediction_rules(model, confidence_level)
    rules |= own
    if on_twins is not None:
        rules["contains"] = True
        rules["twins"], of_twins = _twins(on_twins, confidence_level)
    return rules, arrays | of_twins


def _confidence_rules(model: IntervalRegressor, confidence_level: float) -> dict[str, Any]:
    """How wide the method's own confidence interval is, if it has one."""
    n_members, p = model.fitted_.settings.n_members, (1 + confidence_level) / 2
    if model.method is concrete_dropout:
        return {"confidence_times": float(stats.norm.ppf(p))}
    if model.method is quality_driven_ensemble or n_members == 1:
        return {}
    return {"confidence_times": float(stats.t.ppf(p, n_members - 1))}


def _prediction_rules(
    model: IntervalRegressor, confidence_level: float
) -> tuple[dict[str, Any], Arrays]:
    """How wide the method's own prediction interval is."""
    fitted, p = model.fitted_, (1 + confidence_level) / 2
    n_members, noise = fitted.settings.n_members, fitted.noise
    if model.method is quality_driven_ensemble:
        LevelLaw(np.zeros(1), np.ones(1), fitted.settings.confidence_level).half_width(
            confidence_level
        )  # or there is none of that level
        return {"total_bounds": [-1.0, 1.0], "contains": False}, {}
    if noise is not None:
        own = float(stats.t.ppf(p, noise.degrees_of_freedom))
        rules: dict[str, Any] = {"contains": n_members > 1}
        rules["total_bounds"] = [-own * noise.tail_scale, own * noise.tail_scale]
        if n_members > 1:
            rules["epistemic_times"] = float(stats.t.ppf(p, n_members - 1))
        return rules, {}
    if model.method in NORMAL:
        normal = float(stats.norm.ppf(p))
        return {"total_bounds": [-normal, normal], "contains": False}, {}
    ratio = np.exp(np.linspace(-LARGEST_LOG, LARGEST_LOG, N_RATIOS))
    total = np.hypot(ratio, 1.0)
    law = TPlusNormalLaw(np.zeros(N_RATIOS), ratio / total, 1 / total, n_members - 1)
    by_ratio = law.half_width(confidence_level)
    return {"contains": True, "largest_log": LARGEST_LOG}, {"by_ratio": by_ratio}


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
    arrays = trees_parts("missed", correction.missed) | trees_parts("squares", calibration.squares)
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
        "y_scale": units.y_scale,
        "echo": [echo.standardiser.y_mean, echo.standardiser.y_scale],
        "echo_reach": list(reach) if np.isfinite(reach).all() else None,
    }, arrays


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
