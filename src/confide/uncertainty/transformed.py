r"""Targets that were transformed for training, and the way back to their own units.

A method that is trained on $z = g(y)$ tells of each row where $g(y)$ lies: about $\mu$, with noise
of standard deviation $s$. With $h = g^{-1}$, a new observation is $h(z)$, so its quantiles go back
one by one and keep their probability. The true function is the mean of $y$, which is not $h(\mu)$:
with normal noise it is

$$m(\mu, s) = \mathbb E\, h(\mu + s Z), \qquad Z \sim N(0, 1),$$

which is $\exp(\mu + s^2 / 2)$ for the logarithm. It rises with $\mu$, so an interval for $\mu$
becomes one for the mean, with the same confidence if $s$ is known (as for the lognormal mean: X.-H.
Zhou and S. Gao, "Confidence intervals for the log-normal mean", Statistics in Medicine 16 (1997)).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from scipy import special, stats

from confide.uncertainty.law import Bounds, DerivedLaw, Draws, Law, Numbers, Row, Values

TransformName: TypeAlias = Literal["log", "sqrt", "yeo-johnson"]
TRANSFORMS: tuple[TransformName, ...] = ("log", "sqrt", "yeo-johnson")
# Means over the noise: exact to twelve digits for the logarithm of noise up to 2.
NOISE_NODES, _SIZES = np.polynomial.hermite_e.hermegauss(40)
NOISE_WEIGHTS = _SIZES / _SIZES.sum()
_NUMBERS_PER_BLOCK = 1_000_000
# Halvings of a bracket that leave nothing between two floats.
_HALVINGS = 64


@dataclass(frozen=True)
class Transform:
    """An increasing function of the target.

    Attributes:
        name: "log", "sqrt" or "yeo-johnson".
        power: the parameter of Yeo and Johnson's, in [0, 2], where it reaches all numbers.
    """

    name: TransformName
    power: float = 1.0

    @classmethod
    def fitted(cls, name: TransformName, y: Row) -> "Transform":
        """The transformation of that name; the power of Yeo and Johnson is the likeliest one."""
        if name != "yeo-johnson":
            return cls(name)
        power = float(stats.yeojohnson_normmax(y))
        return cls(name, float(np.clip(power, 0, 2)) if np.isfinite(power) else 1.0)

    @property
    def lowest(self) -> float:
        """No target lies below; for the logarithm, it lies above."""
        return -np.inf if self.name == "yeo-johnson" else 0.0

    def accepts(self, y: Row) -> np.ndarray:
        """Whether each target can be transformed."""
        return y > 0 if self.name == "log" else y >= self.lowest

    def forward(self, y: Values) -> Values:
        """The transformed targets."""
        y = np.maximum(y, self.lowest)
        with np.errstate(divide="ignore"):
            if self.name == "log":
                return np.log(y)
        if self.name == "sqrt":
            return np.sqrt(y)
        upper = special.boxcox1p(np.maximum(y, 0), self.power)
        return np.where(y >= 0, upper, -special.boxcox1p(np.maximum(-y, 0), 2 - self.power))

    def back(self, z: Values) -> Values:
        """The targets whose transformed values these are; the lowest where there are none."""
        with np.errstate(over="ignore"):
            if self.name == "log":
                return np.exp(z)
            if self.name == "sqrt":
                return np.maximum(z, 0) ** 2
            upper = special.inv_boxcox1p(np.maximum(z, 0), self.power)
            lower = special.inv_boxcox1p(np.maximum(-z, 0), 2 - self.power)
            return np.where(z >= 0, upper, -lower)

    def slope(self, y: Values) -> Values:
        """How steeply targets rise with their transformed values."""
        if self.name == "log":
            return y
        if self.name == "sqrt":
            return 2 * np.sqrt(y)
        return (1 + np.abs(y)) ** (np.sign(y) * (1 - self.power))

    def mean(self, location: Values, spread: Row) -> Values:
        """The mean target of transformed values about a location, with normal noise.

        Example:
            >>> Transform("log").mean(np.zeros(1), np.ones(1)).round(6).tolist()  # exp(1 / 2)
            [1.648721]
        """
        return self._average(self.back, location, spread)

    def variance(self, location: Row, spread: Row) -> Row:
        """The variance of such targets."""
        mean = self.mean(location, spread)
        return self._average(lambda z: (self.back(z) - mean) ** 2, location, spread)

    def slope_of_mean(self, location: Values, spread: Row) -> Values:
        """How steeply their mean rises with the location."""
        return self._average(lambda z: self.slope(self.back(z)), location, spread)

    def location(self, mean: Values, spread: Row) -> Values:
        """The location about which targets have that mean; minus infinity where there is none."""
        start = np.broadcast_to(self.forward(mean), np.broadcast_shapes(mean.shape, spread.shape))
        if not spread.any():
            return np.where(mean < self.lowest, -np.inf, start)
        # Far enough on both sides: the logarithm is off by spread^2 / 2.
        reach = 10 * spread + spread**2
        near, far = start - reach, start + reach
        for _ in range(_HALVINGS):
            middle = (near + far) / 2
            is_low = self.mean(middle, spread) < mean
            near, far = np.where(is_low, middle, near), np.where(is_low, far, middle)
        return np.where(mean < self.lowest, -np.inf, far)

    def _average(
        self, function: Callable[[Values], Values], location: Values, spread: Row
    ) -> Values:
        """Over the noise."""
        if not spread.any():
            return function(location)
        total = np.zeros(np.broadcast_shapes(location.shape, spread.shape))
        step = max(1, _NUMBERS_PER_BLOCK // max(1, total.size))
        with np.errstate(over="ignore", invalid="ignore"):
            for first in range(0, len(NOISE_NODES), step):
                nodes = NOISE_NODES[first : first + step].reshape(-1, *(1,) * total.ndim)
                values = function(location + spread * nodes)
                for weight, value in zip(NOISE_WEIGHTS[first:], values, strict=False):
                    total += weight * value
        return total


@dataclass(frozen=True)
class BackTransformedLaw(DerivedLaw):
    """The law of a target, or of its mean, from the law of what it was transformed to.

    Attributes:
        law: of the transformed target, or of its mean.
        transform: of the target.
        spread: standard deviation of the noise that the mean is taken over; zero for an
            observation.
        centre: of the law, for `stretch`.
        stretch: how many times as far from the centre bounds lie, because the spread is not known
            exactly either.
    """

    transform: Transform
    spread: Row
    centre: Row
    stretch: Row

    @classmethod
    def of_observation(cls, law: Law, transform: Transform, n_rows: int) -> "BackTransformedLaw":
        """The law of a target, whose noise is part of the law itself.

        Args:
            law: the law of the transformed target.
            transform: what was done to the target.
            n_rows: number of rows.

        Returns:
            The law on the scale of the target.
        """
        zeros = np.zeros(n_rows)
        return cls(law, transform, zeros, zeros, zeros + 1)

    def interval(self, confidence_level: float) -> Bounds:
        """Lower and upper bound, each taken back by itself."""
        lower, upper = self.law.interval(confidence_level).T
        return np.stack([self._back(lower), self._back(upper)], axis=-1)

    def quantile(self, probability: float) -> Row:
        """The value below which the unknown lies with that probability."""
        return self._back(self.law.quantile(probability))

    def quantile_of_each(self, probabilities: Row) -> Row:
        """The same at a probability for each row."""
        return self._back(self.law.quantile_of_each(probabilities))

    def cdf(self, value: Values) -> Row:
        """The probability of lying at or below `value` (one number, or one for each row)."""
        return self.law.cdf(self._forward(self.transform.location(value, self.spread)))

    def log_density(self, value: Values) -> Row:
        """The logarithm of the density at `value` (one number, or one for each row)."""
        location = self.transform.location(value, self.spread)
        slope = self.stretch * self.transform.slope_of_mean(location, self.spread)
        with np.errstate(divide="ignore", invalid="ignore"):
            density = self.law.log_density(self._forward(location)) - np.log(slope)
        return np.where(np.isfinite(location), density, -np.inf)

    def sample(self, generator: np.random.Generator, n_samples: int) -> Draws:
        """Independent draws, for each row."""
        return self._back(self.law.sample(generator, n_samples))

    def take(self, rows: Numbers) -> "BackTransformedLaw":
        """The law of the rows with these numbers, in this order."""
        own = {name: getattr(self, name)[rows] for name in ("spread", "centre", "stretch")}
        return replace(self, law=self.law.take(rows), **own)

    def _back(self, z: Values) -> Values:
        return self.transform.mean(self.centre + self.stretch * (z - self.centre), self.spread)

    def _forward(self, location: Values) -> Values:
        return self.centre + (location - self.centre) / self.stretch
