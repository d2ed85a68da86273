"""Laws that have intervals and no density: of one level, or of calibration scores."""

import math
import warnings
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np
from jaxtyping import Float64

from confide.errors import NoSuchIntervalError
from confide.uncertainty.law import Draws, Law, Numbers, Row, SymmetricLaw, Values

Scores = Float64[np.ndarray, " score"]
# Levels are compared as they are meant: 0.7 + 0.1 is 0.8.
SAME_LEVEL = 1e-9


NO_DENSITY = (
    "A calibrated prediction has quantiles and no density. Score its quantiles or its intervals, "
    "or ask the law of `prediction.uncalibrated`."
)


class DensityFreeLaw(Law):
    """A law that has intervals and no density."""

    def log_density(self, value: Values) -> NoReturn:
        """Refuses: there is no density."""
        del value
        raise NoSuchIntervalError(self._no_density)

    def normal_mixture(self) -> NoReturn:
        """Refuses: it is not a mixture of normal laws."""
        raise NoSuchIntervalError(self._no_density)

    @property
    @abstractmethod
    def _no_density(self) -> str:
        """What the user is told, and advised to ask for instead."""


@dataclass(frozen=True)
class LevelLaw(DensityFreeLaw, SymmetricLaw):
    """An interval for each row at one level: a law with one answer.

    Attributes:
        location: the middle of the interval.
        half_width_at_level: half its width.
        confidence_level: the level it was made for.
    """

    per_row = ("location", "half_width_at_level")
    half_width_at_level: Row
    confidence_level: float

    @property
    def levels(self) -> tuple[float]:
        """The one that it was made for."""
        return (self.confidence_level,)

    def half_width(self, confidence_level: float) -> Row:
        """Half the width of the interval, if that is its level."""
        if abs(confidence_level - self.confidence_level) > SAME_LEVEL:
            raise NoSuchIntervalError(
                f"This method was trained for {100 * self.confidence_level:g} % intervals and has "
                f"no others, got confidence_level={confidence_level:g}. Ask for "
                f"{self.confidence_level:g}, or fit anew with "
                f"confidence_level={confidence_level:g}."
            )
        return self.half_width_at_level

    def cdf(self, value: Values) -> NoReturn:
        """Refuses: one interval is not a distribution."""
        del value
        raise NoSuchIntervalError(self._no_density)

    def sample(self, generator: np.random.Generator, n_samples: int) -> NoReturn:
        """Refuses: one interval is not a distribution."""
        del generator, n_samples
        raise NoSuchIntervalError(self._no_density)

    @property
    def _no_density(self) -> str:
        return (
            f"This method bounds a new observation at {100 * self.confidence_level:g} % and has no "
            "distribution of it. Ask for its prediction interval at that level."
        )


def conformal_quantile(sorted_scores: Scores, confidence_level: float) -> float:
    """The score that holds a new row's with at least that probability; infinite if there is none.

    Example:
        >>> nine = np.arange(1.0, 10.0)
        >>> conformal_quantile(nine, 0.9), conformal_quantile(nine[:8], 0.9)
        (9.0, inf)
    """
    # Levels are taken as they are meant: 100 * 0.07 is the 7th score, though floats make it more.
    rank = math.ceil((len(sorted_scores) + 1) * (confidence_level - SAME_LEVEL))
    if rank > len(sorted_scores):
        return math.inf
    return float(sorted_scores[rank - 1]) if rank > 0 else 0.0


@dataclass(frozen=True)
class ScoreLaw(DensityFreeLaw, SymmetricLaw):
    """A law whose intervals are quantiles of calibration scores.

    So it has no density, and the share 1 / (n + 1) that n scores leave open lies at infinity, half
    on each side: `cdf` does not reach one, and one of n + 1 draws is infinite. Between scores `cdf`
    is linear, and at least the level at the bounds of an interval.

    Attributes:
        location: its centre.
        scale: what a score of one stands for.
        sorted_scores: how far off the centre was when it could be seen, in scales.
    """

    per_row = ("location", "scale")
    scale: Row
    sorted_scores: Scores

    def half_width(self, confidence_level: float) -> Row:
        """Half the width of the interval; infinite, with a warning, for want of scores."""
        if confidence_level < SAME_LEVEL:
            return np.zeros_like(self.scale)  # the median is the centre, on an infinite scale too
        score = conformal_quantile(self.sorted_scores, confidence_level)
        if score == math.inf:
            warnings.warn(
                self._why_infinite(confidence_level),
                UserWarning,
                stacklevel=5,  # the line that asked a `Prediction` or an estimator, as a rule
            )
        return _times(score, self.scale)

    def cdf(self, value: Values) -> Row:
        """The probability of lying at or below `value` (one number, or one for each row)."""
        distance = np.broadcast_to(value - self.location, self.location.shape)
        side = np.where(distance < 0, -1, 1)
        return (1 + side * self._central_probability(np.abs(distance))) / 2

    def sample(self, generator: np.random.Generator, n_samples: int) -> Draws:
        """Independent draws, for each row; one of n + 1 is infinite."""
        shape = (n_samples, len(self.location))
        scores, probabilities = self._curve
        drawn = generator.uniform(size=shape)
        score = np.interp(drawn, probabilities, scores, right=math.inf)
        side = np.where(generator.uniform(size=shape) < 0.5, -1, 1)
        return self.location + side * _times(score, self.scale)

    @property
    def _curve(self) -> tuple[Scores, Scores]:
        """The finite scores from zero on, and the probability of a score up to each."""
        finite = self.sorted_scores[np.isfinite(self.sorted_scores)]
        probabilities = np.arange(len(finite) + 1) / (len(self.sorted_scores) + 1)
        return np.concatenate([[0.0], finite]), probabilities

    def _central_probability(self, distance: Row) -> Row:
        # A row without a scale has all finite scores at its centre.
        ratio = np.full_like(distance, math.inf)
        with np.errstate(over="ignore"):
            np.divide(distance, self.scale, out=ratio, where=self.scale > 0)
        return np.where(np.isinf(distance), 1.0, np.interp(ratio, *self._curve))

    @abstractmethod
    def _why_infinite(self, confidence_level: float) -> str:
        """What the user is told of infinite bounds at that level."""

    @property
    def _no_density(self) -> str:
        return NO_DENSITY


@dataclass(frozen=True)
class SignedScoreLaw(DensityFreeLaw):
    """A law each of whose bounds is a quantile of signed scores, and right by itself.

    Of n scores, the share 1 / (n + 1) is left open on each side, and lies at infinity there.

    Attributes:
        location: what the scores are counted from.
        scale: what a score of one stands for.
        sorted_scores: how far above the location observations were, in scales; below it they are
            negative.
    """

    location: Row
    scale: Row
    sorted_scores: Scores

    def quantile(self, probability: float) -> Row:
        """The value below which the unknown lies; infinite, with a warning, for want of scores."""
        scores, ranks = self.sorted_scores, (len(self.sorted_scores) + 1) * probability
        slack = SAME_LEVEL * len(scores)  # levels are taken as they are meant
        below, above = math.floor(ranks + slack), math.ceil(ranks - slack)
        if abs(probability - 0.5) < SAME_LEVEL:
            score = float(np.mean(scores[[below - 1, above - 1]])) if len(scores) > 1 else scores[0]
        elif probability < 0.5:
            score = float(scores[below - 1]) if below > 0 else -math.inf
        else:
            score = float(scores[above - 1]) if above <= len(scores) else math.inf
        if math.isinf(score):
            why = self._why_infinite(abs(2 * probability - 1))
            warnings.warn(why, UserWarning, stacklevel=5)
        return self.location + _times(score, self.scale)

    def cdf(self, value: Values) -> Row:
        """The probability of lying at or below `value` (one number, or one for each row)."""
        distance = np.broadcast_to(value - self.location, self.location.shape)
        ratio = np.where(distance >= 0, math.inf, -math.inf)  # without a scale
        with np.errstate(over="ignore"):
            np.divide(distance, self.scale, out=ratio, where=self.scale > 0)
        inside = np.interp(ratio, *self._curve)
        return np.where(np.isinf(distance), np.where(distance > 0, 1.0, 0.0), inside)

    def sample(self, generator: np.random.Generator, n_samples: int) -> Draws:
        """Independent draws, for each row; two of n + 1 are infinite."""
        drawn = generator.uniform(size=(n_samples, len(self.location)))
        scores, probabilities = self._curve
        score = np.interp(drawn, probabilities, scores, left=-math.inf, right=math.inf)
        return self.location + _times(score, self.scale)

    def take(self, rows: Numbers) -> "SignedScoreLaw":
        """The law of the rows with these numbers, in this order."""
        return replace(self, location=self.location[rows], scale=self.scale[rows])

    @property
    def _curve(self) -> tuple[Scores, Scores]:
        """The finite scores, and the probability of a score up to each."""
        probabilities = np.arange(1, len(self.sorted_scores) + 1) / (len(self.sorted_scores) + 1)
        finite = np.isfinite(self.sorted_scores)
        return self.sorted_scores[finite], probabilities[finite]

    @abstractmethod
    def _why_infinite(self, confidence_level: float) -> str:
        """What the user is told of infinite bounds at that level."""

    @property
    def _no_density(self) -> str:
        return NO_DENSITY


def _times(score: float | Values, scale: Row) -> Values:
    """Score times scale, where an infinite score is infinite on any scale, zero too."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(np.isinf(score), score, score * scale)
