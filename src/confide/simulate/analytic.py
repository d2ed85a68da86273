r"""Truths that are formulas, with the law of their inputs.

The functions are classical; their noise was constant or absent and depends on the input here. On
average over the inputs $\sigma$ keeps the source's size, and where the source has no noise it is
about a third of the standard deviation of $f$. Features are counted from one, as in the sources.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, PRNGKeyArray

from confide.named import Named
from confide.randomness import generator_from
from confide.simulate.truth import Row, Table, Truth

# The stream of the inputs: targets are drawn from the key's first one, and one key may serve both.
_INPUTS = 1


@dataclass(frozen=True)
class AnalyticTruth(Truth):
    """A formula on a box, over which its inputs are uniform and independent.

    Attributes:
        name: its name in `ANALYTIC_TRUTHS`: that of the class, in small letters.
        lowest: the smallest value of each feature.
        highest: the largest value of each feature.
    """

    name: ClassVar[str]
    lowest: ClassVar[tuple[float, ...]]
    highest: ClassVar[tuple[float, ...]]

    def __init_subclass__(cls) -> None:
        cls.name = cls.__name__.lower()

    def inputs(self, key: PRNGKeyArray, n_rows: int) -> Float64[np.ndarray, "row feature"]:
        """Rows drawn uniformly from the box."""
        shape = (n_rows, len(self.lowest))
        return generator_from(key, _INPUTS).uniform(self.lowest, self.highest, shape)


@dataclass(frozen=True)
class Sine(AnalyticTruth):
    r"""A sine with growing noise, our own, in one dimension for pictures.

    $f(x) = \sin(\pi x)$ and $\sigma(x) = 0.05 + 0.1\,(1 + x)$ with $x \in [-1, 1]$: the noise grows
    from 0.05 to 0.25.

    Attributes:
        half_gap: no input lies within this distance of zero; they are uniform over the rest.
    """

    lowest = (-1.0,)
    highest = (1.0,)
    half_gap: float = 0.0

    def __post_init__(self) -> None:
        """Refuses a gap that leaves no inputs."""
        if not 0 <= self.half_gap < 1:
            raise ValueError(
                f"`half_gap` must lie in [0, 1), got {self.half_gap!r}. It is half the width of "
                "the gap around zero, where there are no inputs; pass for example 0.3."
            )

    def inputs(self, key: PRNGKeyArray, n_rows: int) -> Float64[np.ndarray, "row feature"]:
        """Rows drawn uniformly from [-1, 1] without the gap."""
        x = super().inputs(key, n_rows)
        # Each half of the box is squeezed away from zero.
        return np.copysign(self.half_gap + (1 - self.half_gap) * np.abs(x), x)

    def mean(self, X: Table) -> Row:
        """The true function."""
        (x,) = _columns(X)
        return np.sin(np.pi * x)

    def std(self, X: Table) -> Row:
        """The true standard deviation of the noise."""
        (x,) = _columns(X)
        return 0.05 + 0.1 * (1 + x)


class Friedman1(AnalyticTruth):
    r"""Friedman's first problem: interaction, curvature, and five features without effect.

    $f(x) = 10 \sin(\pi x_1 x_2) + 20 (x_3 - \tfrac12)^2 + 10 x_4 + 5 x_5$ with ten features in
    $[0, 1]$ (J. H. Friedman, "Multivariate adaptive regression splines", Annals of Statistics
    19 (1991)). Here $\sigma(x) = \tfrac12 + x_4$, on average the source's 1.
    """

    lowest = (0.0,) * 10
    highest = (1.0,) * 10

    def mean(self, X: Table) -> Row:
        """The true function."""
        x1, x2, x3, x4, x5, *_ = _columns(X)
        return 10 * np.sin(np.pi * x1 * x2) + 20 * (x3 - 0.5) ** 2 + 10 * x4 + 5 * x5

    def std(self, X: Table) -> Row:
        """The true standard deviation of the noise."""
        return 0.5 + _columns(X)[3]


class Friedman2(AnalyticTruth):
    r"""Friedman's second problem: the impedance of an alternating-current circuit.

    $f(x) = \sqrt{x_1^2 + (x_2 x_3 - 1 / (x_2 x_4))^2}$ with $x_1 \in [0, 100]$,
    $x_2 \in [40\pi, 560\pi]$, $x_3 \in [0, 1]$, $x_4 \in [1, 11]$ (Friedman 1991, as for
    `Friedman1`; L. Breiman, "Bagging predictors", Machine Learning 24 (1996)). Here
    $\sigma(x) = 125\,(\tfrac12 + x_3)$, on average the usual 125, a third of the signal's.
    """

    lowest = (0.0, 40 * np.pi, 0.0, 1.0)
    highest = (100.0, 560 * np.pi, 1.0, 11.0)

    def mean(self, X: Table) -> Row:
        """The true function."""
        x1, x2, x3, x4 = _columns(X)
        return np.sqrt(x1**2 + (x2 * x3 - 1 / (x2 * x4)) ** 2)

    def std(self, X: Table) -> Row:
        """The true standard deviation of the noise."""
        return 125 * (0.5 + _columns(X)[2])


class Friedman3(AnalyticTruth):
    r"""Friedman's third problem: the phase angle of that circuit.

    $f(x) = \arctan\{(x_2 x_3 - 1 / (x_2 x_4)) / x_1\}$, with the inputs and the sources of
    `Friedman2`. Here $\sigma(x) = 0.1\,(\tfrac12 + x_3)$, on average the usual 0.1.
    """

    lowest = Friedman2.lowest
    highest = Friedman2.highest

    def mean(self, X: Table) -> Row:
        """The true function."""
        x1, x2, x3, x4 = _columns(X)
        # The angle of a point: as the quotient's arctan, but defined where x1 is zero.
        return np.arctan2(x2 * x3 - 1 / (x2 * x4), x1)

    def std(self, X: Table) -> Row:
        """The true standard deviation of the noise."""
        return 0.1 * (0.5 + _columns(X)[2])


class Ishigami(AnalyticTruth):
    r"""The Ishigami function: strongly non-linear, a feature that acts through another alone.

    $f(x) = \sin x_1 + 7 \sin^2 x_2 + 0.1\,x_3^4 \sin x_1$ with features in $[-\pi, \pi]$
    (T. Ishigami and T. Homma, "An importance quantification technique in uncertainty analysis for
    computer models", ISUMA 1990; coefficients as in A. Marrel et al., Reliability Engineering and
    System Safety 94 (2009)). The source has no noise. Here $\sigma(x) = (1 + |x_3|) / 2$.
    """

    lowest = (-np.pi,) * 3
    highest = (np.pi,) * 3

    def mean(self, X: Table) -> Row:
        """The true function."""
        x1, x2, x3 = _columns(X)
        return np.sin(x1) + 7 * np.sin(x2) ** 2 + 0.1 * x3**4 * np.sin(x1)

    def std(self, X: Table) -> Row:
        """The true standard deviation of the noise."""
        return (1 + np.abs(_columns(X)[2])) / 2


class Branin(AnalyticTruth):
    r"""The Branin-Hoo function: a curved valley with three equal minima.

    $f(x) = (x_2 - \tfrac{5.1}{4\pi^2} x_1^2 + \tfrac5\pi x_1 - 6)^2
    + 10\,(1 - \tfrac{1}{8\pi}) \cos x_1 + 10$ with $x_1 \in [-5, 10]$, $x_2 \in [0, 15]$ (L. C. W.
    Dixon and G. P. Szego, "The global optimization problem: an introduction", Towards Global
    Optimization 2 (1978)). The source has no noise. Here $\sigma(x) = 5 + 1.6\,x_2$.
    """

    lowest = (-5.0, 0.0)
    highest = (10.0, 15.0)

    def mean(self, X: Table) -> Row:
        """The true function."""
        x1, x2 = _columns(X)
        valley = x2 - 5.1 / (4 * np.pi**2) * x1**2 + 5 / np.pi * x1 - 6
        return valley**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x1) + 10

    def std(self, X: Table) -> Row:
        """The true standard deviation of the noise."""
        return 5 + 1.6 * _columns(X)[1]


class Borehole(AnalyticTruth):
    r"""The borehole function: water that flows through a hole between two aquifers.

    $f(x) = 2\pi T_u (H_u - H_l) \,/\, [\ell\,(1 + 2 L T_u / (\ell r_w^2 K_w) + T_u / T_l)]$ with
    $\ell = \ln(r / r_w)$ and, in this order, the radius of the hole $r_w \in [0.05, 0.15]$, the
    radius of influence $r \in [100, 50000]$, of the upper aquifer transmissivity
    $T_u \in [63070, 115600]$ and head $H_u \in [990, 1110]$, of the lower one
    $T_l \in [63.1, 116]$ and $H_l \in [700, 820]$, the hole's length $L \in [1120, 1680]$ and
    conductivity $K_w \in [9855, 12045]$ (W. V. Harper and S. K. Gupta, report BMI/ONWI-516, 1983;
    uniform inputs as in J. An and A. B. Owen, "Quasi-regression", Journal of Complexity 17
    (2001)). The source has no noise. Here $\sigma(x) = f(x) / 5$: the flow is measured to 20 %.
    """

    lowest = (0.05, 100, 63_070, 990, 63.1, 700, 1120, 9855)
    highest = (0.15, 50_000, 115_600, 1110, 116, 820, 1680, 12_045)

    def mean(self, X: Table) -> Row:
        """The true function."""
        r_w, r, T_u, H_u, T_l, H_l, L, K_w = _columns(X)
        log_ratio = np.log(r / r_w)
        resistance = 1 + 2 * L * T_u / (log_ratio * r_w**2 * K_w) + T_u / T_l
        return 2 * np.pi * T_u * (H_u - H_l) / (log_ratio * resistance)

    def std(self, X: Table) -> Row:
        """The true standard deviation of the noise."""
        return self.mean(X) / 5


def _columns(X: Table) -> Float64[np.ndarray, "feature row"]:
    """One array for each feature."""
    return np.asarray(X, np.float64).T


ANALYTIC_TRUTHS: Mapping[str, type[AnalyticTruth]] = Named(
    "analytic truth",
    {t.name: t for t in (Sine, Friedman1, Friedman2, Friedman3, Ishigami, Branin, Borehole)},
)
