r"""Truths of our own that are hard in one way each, to try intervals on.

Features are uniform on $[0, 1]$ and counted from one. The noise is about a third of the standard
deviation of $f$, and larger where $x_1$ is.
"""

from collections.abc import Mapping

import numpy as np

from confide.named import Named
from confide.simulate.analytic import AnalyticTruth
from confide.simulate.truth import Row, Table


class SyntheticTruth(AnalyticTruth):
    """A function whose noise has the standard deviation `size` times 1/2 + the first feature."""

    size: float

    def std(self, X: Table) -> Row:
        """The true standard deviation of the noise."""
        return self.size * (0.5 + np.asarray(X[:, 0], np.float64))


class Additive(SyntheticTruth):
    r"""A sum of curves: $f(x) = \sum_{j=1}^{8} \sin(2\pi j x_j / 4) / \sqrt{j}$."""

    lowest, highest, size = (0.0,) * 8, (1.0,) * 8, 0.3

    def mean(self, X: Table) -> Row:
        """The true function."""
        j = np.arange(1, 9)
        return (np.sin(np.pi * j / 2 * X) / np.sqrt(j)).sum(axis=1)


class Interactions(SyntheticTruth):
    r"""Products alone: $f(x) = 4 (u_1 u_2 + u_3 u_4 + u_5 u_6 u_1)$ with $u = 2x - 1$."""

    lowest, highest, size = (0.0,) * 6, (1.0,) * 6, 0.7

    def mean(self, X: Table) -> Row:
        """The true function."""
        u = (2 * np.asarray(X, np.float64) - 1).T
        return 4 * (u[0] * u[1] + u[2] * u[3] + u[4] * u[5] * u[0])


class Steps(SyntheticTruth):
    r"""Jumps: $f(x) = 2 [x_1 > 0.3] - 3 [x_2 > 0.6] + 2 [x_1 > 0.7, x_3 > 0.5]$."""

    lowest, highest, size = (0.0,) * 5, (1.0,) * 5, 0.6

    def mean(self, X: Table) -> Row:
        """The true function."""
        x1, x2, x3, *_ = np.asarray(X, np.float64).T
        return 2.0 * (x1 > 0.3) - 3.0 * (x2 > 0.6) + 2.0 * ((x1 > 0.7) & (x3 > 0.5))


class GaussianProcess(SyntheticTruth):
    r"""A draw from a Gaussian process of four features, by 500 random Fourier features.

    Its kernel is $\exp(-\|x - x'\|^2 / (2 \cdot 0.35^2))$.
    """

    lowest, highest, size = (0.0,) * 4, (1.0,) * 4, 0.3

    def mean(self, X: Table) -> Row:
        """The true function."""
        generator = np.random.default_rng(0)
        frequencies = generator.normal(size=(4, 500)) / 0.35
        phases, weights = generator.uniform(0, 2 * np.pi, 500), generator.normal(size=500)
        return np.cos(np.asarray(X, np.float64) @ frequencies + phases) @ weights / np.sqrt(250)


class FewUseful(SyntheticTruth):
    r"""Four useful columns of 32: $f(x) = 10 \sin(\pi x_1 x_2) + 20 (x_3 - 1/2)^2 + 10 x_4$."""

    lowest, highest, size = (0.0,) * 32, (1.0,) * 32, 1.5

    def mean(self, X: Table) -> Row:
        """The true function."""
        x1, x2, x3, x4, *_ = np.asarray(X, np.float64).T
        return 10 * np.sin(np.pi * x1 * x2) + 20 * (x3 - 0.5) ** 2 + 10 * x4


SYNTHETIC_TRUTHS: Mapping[str, type[SyntheticTruth]] = Named(
    "synthetic truth",
    {t.name: t for t in (Additive, Interactions, Steps, GaussianProcess, FewUseful)},
)
