"""What a model says of each row, as nodes of a graph: its numbers, and both intervals."""

from typing import Any, NamedTuple

import numpy as np

from confide.estimators import IntervalRegressor
from confide.export.intervals import interval_rules
from confide.export.onnx.graph import Graph, Value
from confide.export.onnx.networks import outputs, standardised, tree_sum, within_reach
from confide.export.parts import member_networks, retrained_networks
from confide.methods import (
    concrete_dropout,
    deep_ensemble,
    naive_bootstrap,
    quality_driven_ensemble,
)

VARIANCES = ("aleatoric", "epistemic", "classical", "optimisation")
TINY = np.finfo(np.float64).tiny


class Numbers(NamedTuple):
    """The mean of each row, and what its intervals follow from; all are (row, 1).

    Attributes:
        mean: the prediction.
        aleatoric: variance of the noise; None where the method has no variances.
        epistemic: variance of the mean, or None likewise.
        classical: the part of it that is due to finite data, if the method knows it.
        optimisation: variance of one member, if the method knows it.
        half_width: of the prediction interval, of methods without variances.
    """

    mean: Value
    aleatoric: Any = None
    epistemic: Any = None
    classical: Any = None
    optimisation: Any = None
    half_width: Any = None

    @property
    def scale(self) -> Value:
        """What calibrated prediction intervals are a multiple of."""
        if self.aleatoric is None or self.epistemic is None:
            return self.half_width
        return self.mean.graph.sqrt(self.aleatoric + self.epistemic)


class Interval(NamedTuple):
    """Both bounds of each row, and the middle that they were made about."""

    lower: Value
    upper: Value
    centre: Value


def numbers_of(graph: Graph, model: IntervalRegressor, features: Value) -> Numbers:
    """What the method itself says, in units of the target.

    Args:
        graph: to add to.
        model: fitted.
        features: of each row.
    """
    fitted = model.fitted_
    inputs = standardised(graph, features, fitted.standardiser)
    members = outputs(graph, _members(fitted), inputs, fitted.learner.likelihood)
    own = (
        _of_bounds(graph, fitted, *members)
        if model.method is quality_driven_ensemble
        else _of_members(graph, model, inputs, members)
    )
    unit = fitted.standardiser.y_scale
    in_units = {name: unit**2 * getattr(own, name) for name in VARIANCES if getattr(own, name)}
    half_width = unit * own.half_width if own.half_width else None
    mean = fitted.standardiser.y_mean + unit * own.mean
    return Numbers(mean, **in_units, half_width=half_width)


def mean_of(graph: Graph, fitted: Any, features: Value) -> Value:
    """The mean of a fit alone, in units of the target."""
    inputs = standardised(graph, features, fitted.standardiser)
    means, *_ = outputs(graph, _members(fitted), inputs, fitted.learner.likelihood)
    mean = graph.mean(within_reach(graph, means, fitted.standardiser))
    return fitted.standardiser.y_mean + fitted.standardiser.y_scale * mean


def _members(fitted: Any) -> Any:
    return member_networks(fitted, len(fitted.standardiser.x_mean))


def _of_members(
    graph: Graph, model: IntervalRegressor, inputs: Value, members: list[Value]
) -> Numbers:
    """The numbers of a method whose members have means, standardised."""
    fitted = model.fitted_
    settings, noise = fitted.settings, fitted.noise
    means = within_reach(graph, members[0], fitted.standardiser)
    mean = graph.mean(means)
    aleatoric = graph.mean(members[1]) if noise is None else tree_sum(graph, noise.variance, inputs)
    squares, n = graph.sum((means - mean) ** 2), settings.n_members
    if model.method is concrete_dropout:
        return Numbers(mean, aleatoric, squares / settings.n_passes)
    if model.method is naive_bootstrap:
        return Numbers(mean, aleatoric, squares / (n - (settings.spread == "sample")))
    optimisation = squares / (n - 1) if n > 1 else None
    if model.method is deep_ensemble:
        return Numbers(mean, aleatoric, squares / n, None, optimisation)
    classical = _classical(graph, fitted, inputs, means)
    epistemic = classical + squares / ((n - 1) * n)
    return Numbers(mean, aleatoric, epistemic, classical, optimisation)


def _classical(graph: Graph, fitted: Any, inputs: Value, means: Value) -> Value:
    """Mean squared shift of the members when they are retrained; as often as they were."""
    networks = retrained_networks(fitted, len(fitted.standardiser.x_mean))
    again, *_ = outputs(graph, networks, inputs, fitted.learner.likelihood)
    again = again * fitted.scale[None] + fitted.location[None]
    again = within_reach(graph, again, fitted.standardiser)
    before = graph.concatenate([means] * fitted.settings.n_retrains)
    net = 1.0 if fitted.noise is None else fitted.noise.net
    return net * graph.mean((again - before) ** 2)


def _of_bounds(graph: Graph, fitted: Any, lower: Value, upper: Value) -> Numbers:
    """The numbers of a quality-driven ensemble, whose members have bounds, standardised."""
    from scipy import special

    settings = fitted.settings
    quantile = special.ndtri((1 + float(settings.confidence_level)) / 2)
    divisor = settings.n_members - (settings.spread == "sample")
    ends = []
    for side, bound in ((-1, lower), (1, upper)):
        mean = graph.mean(bound)
        spread = graph.sqrt(graph.sum((bound - mean) ** 2) / divisor)
        ends.append(mean + side * quantile * spread)
    half_width = graph.maximum(ends[1] - ends[0], 0.0) / 2
    return Numbers((ends[0] + ends[1]) / 2, half_width=half_width)


def intervals_of(
    graph: Graph,
    model: IntervalRegressor,
    confidence_level: float,
    numbers: Numbers,
    twins: tuple[Value, Value] | None,
) -> tuple[Interval | None, Interval]:
    """The confidence interval, if there is one, and the prediction interval.

    Args:
        graph: to add to.
        model: fitted.
        confidence_level: of both.
        numbers: of each row.
        twins: centre and scale of confidence intervals that are calibrated on twins, or None.

    Returns:
        Both.
    """
    rules, arrays = interval_rules(model, confidence_level)
    confidence = None
    if twins is not None:
        confidence = _about(*twins, rules["twins"]["times"])
    elif "confidence_times" in rules:
        root = graph.sqrt(numbers.epistemic)
        confidence = _about(numbers.mean, root, rules["confidence_times"])
    prediction = _prediction(graph, rules, arrays, numbers)
    if rules["contains"] and confidence is not None:
        prediction = containing(graph, prediction, confidence)
    return confidence, prediction


def containing(graph: Graph, interval: Interval, inner: Interval) -> Interval:
    """An interval, made wider where it does not contain another."""
    lower = graph.minimum(interval.lower, inner.lower)
    return interval._replace(lower=lower, upper=graph.maximum(interval.upper, inner.upper))


def on_twins(
    graph: Graph, model: IntervalRegressor, numbers: Numbers, features: Value
) -> tuple[Value, Value] | None:
    """Centre and scale of the confidence interval, where it is calibrated on twins.

    Args:
        graph: to add to.
        model: fitted.
        numbers: of each row.
        features: of each row.
    """
    calibration = model.confidence_calibration_
    if calibration is None:
        return None
    facts = interval_rules(model, 0.5)[0]["twins"]
    units = calibration.correction.units
    inputs = standardised(graph, features, units)
    known = numbers.mean + units.y_scale * tree_sum(graph, calibration.correction.missed, inputs)
    bias = mean_of(graph, calibration.correction.echo, features) - known
    share = facts["by_simulations"]
    by_simulations = share * units.y_scale**2 * tree_sum(graph, calibration.squares, inputs)
    variance = by_simulations + (1 - share) * facts["claim"] * numbers.epistemic
    scale = graph.sqrt(graph.maximum(variance, facts["least"]))
    return numbers.mean - facts["shift"] * bias, scale


def _about(centre: Value, scale: Value, times: float | None) -> Interval:
    """From a centre so many scales to both sides; None stands for infinitely many."""
    return Interval(centre + _times(scale, times, -1), centre + _times(scale, times, 1), centre)


def _times(scale: Value, times: float | None, side: int) -> Value:
    """So many scales to one side; infinity on any scale, zero too, where there is no number."""
    return scale * 0.0 + side * np.inf if times is None else scale * (side * times)


def _prediction(graph: Graph, rules: dict[str, Any], arrays: Any, numbers: Numbers) -> Interval:
    """The prediction interval, before it is made to contain another."""
    below, above = rules.get("total_bounds", (0.0, 0.0))
    below = _times(numbers.scale, None if below is None else -below, -1)
    above = _times(numbers.scale, above, 1)
    least = None
    if "epistemic_times" in rules:
        least = graph.sqrt(numbers.epistemic) * rules["epistemic_times"]
    elif "by_ratio" in arrays:
        least = _by_ratio(graph, numbers, rules, arrays["by_ratio"])
    if least is not None:
        below, above = graph.minimum(below, -least), graph.maximum(above, least)
    return Interval(numbers.mean + below, numbers.mean + above, numbers.mean)


def _by_ratio(graph: Graph, numbers: Numbers, rules: dict[str, Any], table: Any) -> Value:
    """Half the interval of t plus normal noise, cubic through four entries of a table."""
    most = rules["largest_log"]
    ratio = numbers.epistemic / graph.maximum(numbers.aleatoric, TINY)
    log = graph.minimum(graph.maximum(graph.node("Log", ratio) / 2, -most), most)
    log = graph.where(graph.is_nan(log), 0.0, log)  # NaN has no place in a list
    at = (log / most + 1.0) / 2 * (len(table) - 1)
    first = graph.maximum(graph.node("Floor", at) - 1.0, 0.0)
    first = graph.minimum(first, float(len(table) - 4))
    a, b, c, d = (at - first - float(k) for k in range(4))
    weights = (b * c * d / -6, a * c * d / 2, a * b * d / -2, a * b * c / 6)
    parts = [w * graph.taken(table, first.cast(np.int64) + k) for k, w in enumerate(weights)]
    return numbers.scale * (parts[0] + parts[1] + parts[2] + parts[3])
