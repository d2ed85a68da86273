"""Predictions in the target's own units, as nodes of a graph: see `confide.estimators.target`."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from confide.export.onnx.answers import Interval, Numbers, containing
from confide.export.onnx.graph import Graph, Value
from confide.uncertainty import NOISE_NODES, NOISE_WEIGHTS, Transform


@dataclass(frozen=True)
class BackTransform:
    """The way back of a transformed target.

    Attributes:
        graph: to add to.
        transform: of the target.
        n_rows: rows that were trained on.
        numbers: of each row, as the method has them.
    """

    graph: Graph
    transform: Transform
    n_rows: int
    numbers: Numbers

    def restored(self) -> Numbers:
        """The numbers in the target's own units, by the delta method."""
        own, slope = self.numbers, self._slope_of_mean
        mean = self._mean(own.mean)
        variances = {
            name: slope**2 * (variance + (self._shift if name != "optimisation" else 0.0))
            for name in ("epistemic", "classical", "optimisation")
            if (variance := getattr(own, name)) is not None
        }
        if own.aleatoric is not None:
            squares = self._average(lambda z: (self.back(z) - mean) ** 2, own.mean, self._spread)
            variances["aleatoric"] = squares
        half_width = None
        if own.half_width is not None:  # halved first, so that the largest floats do not overflow
            ends = (self.back(own.mean + side * own.half_width) for side in (-1.0, 1.0))
            lower, upper = ends
            half_width = upper / 2 - lower / 2
        return Numbers(mean, **variances, half_width=half_width)

    def intervals(
        self, confidence: Interval | None, prediction: Interval
    ) -> tuple[Interval | None, Interval]:
        """Both intervals in the target's own units, the one within the other."""
        outer = Interval(*(self.back(each) for each in prediction))
        if confidence is None:
            return None, outer
        centre, own = confidence.centre, self.numbers.epistemic
        is_positive = self.graph.node("Greater", own, 0.0, dtype=np.bool_)
        share = self.graph.where(is_positive, self._shift / own, 0.0)
        stretch = self.graph.sqrt(share + 1.0)
        inner = Interval(*(self._mean(centre + stretch * (each - centre)) for each in confidence))
        return inner, containing(self.graph, outer, inner)

    def back(self, z: Value) -> Value:
        """The targets whose transformed values these are."""
        if self.transform.name == "log":
            return self.graph.exp(z)
        if self.transform.name == "sqrt":
            return self.graph.maximum(z, 0.0) ** 2
        power = self.transform.power
        upper = self._inverse_box_cox(self.graph.maximum(z, 0.0), power)
        lower = self._inverse_box_cox(self.graph.maximum(-z, 0.0), 2 - power)
        return upper - lower  # of which one is zero

    def _inverse_box_cox(self, z: Value, power: float) -> Value:
        return (self.graph.exp(z) if power == 0 else (z * power + 1.0) ** (1 / power)) - 1.0

    def _slope(self, y: Value) -> Value:
        """How steeply targets rise with their transformed values."""
        if self.transform.name == "log":
            return y
        if self.transform.name == "sqrt":
            return 2.0 * self.graph.sqrt(y)
        size, rate = self.graph.node("Abs", y) + 1.0, 1 - self.transform.power
        return self.graph.node("Pow", size, self.graph.node("Sign", y) * rate)

    @cached_property
    def _spread(self) -> Value | None:
        own = self.numbers.aleatoric
        return None if own is None else self.graph.sqrt(own)

    def _mean(self, location: Value, times: float = 1.0) -> Value:
        spread = self._spread
        return self._average(self.back, location, None if spread is None else spread * times)

    @cached_property
    def _slope_of_mean(self) -> Value:
        def slope(z: Value) -> Value:
            return self._slope(self.back(z))

        return self._average(slope, self.numbers.mean, self._spread)

    @cached_property
    def _shift(self) -> Value:
        """What the noise, which is not known exactly, does to the mean, squared."""
        location = self.numbers.mean
        moved = self._mean(location, 1 + 1 / math.sqrt(2 * self.n_rows)) - self._mean(location)
        square = (moved / self._slope_of_mean) ** 2
        return self.graph.where(self.graph.is_finite(square), square, 0.0)

    def _average(
        self, function: Callable[[Value], Value], location: Value, spread: Value | None
    ) -> Value:
        """Over the noise; of a method without variances, at its middle."""
        if spread is None:
            return function(location)
        values: Any = function(location + spread * NOISE_NODES[None])
        return self.graph.sum(values * NOISE_WEIGHTS[None])
