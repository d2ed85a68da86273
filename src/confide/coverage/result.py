"""The result of a coverage check, in numbers, words and a picture."""

import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float, Float64

from confide.metrics import attainable_brier_score, brier_score, brier_score_standard_error
from confide.prediction import Kind
from confide.uncertainty import Row

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

# Below this many simulations a mean coverage is off by several points: no claim is made.
ENOUGH_SIMULATIONS = 10
# So few test rows say nothing about data like yours, however often they are simulated.
ENOUGH_ROWS = 10
# A stretch of a feature is named as the worst only if it holds this share of the test rows.
SMALLEST_STRETCH = 0.1


@dataclass(frozen=True)
class Coverage:
    """One estimator's intervals of one kind at one level, over all simulations.

    Attributes:
        estimator: its name.
        kind: "confidence" or "prediction".
        confidence_level: the level that was asked for.
        held: for each simulation and test row, whether the interval holds the true function's value
            (confidence), or the exact probability that it holds a new observation (prediction).
        width: mean width of the interval at each test row.
        held_own: for each simulation and test row, whether the confidence interval holds the
            average of all simulations' centres, which is the truth plus the bias; None for
            prediction intervals.
    """

    estimator: str
    kind: Kind
    confidence_level: float
    held: Bool[np.ndarray, "simulation row"] | Float64[np.ndarray, "simulation row"]
    width: Row
    held_own: Bool[np.ndarray, "simulation row"] | None = None

    @property
    def pointwise(self) -> Row:
        """Coverage of each test row: the CICF of Eq. (4) or the PICF of Eq. (6)."""
        return np.asarray(np.mean(self.held, axis=0, dtype=np.float64))

    @property
    def mean(self) -> float:
        """Mean coverage over the test rows."""
        return float(np.mean(self.held))

    @property
    def mean_se(self) -> float:
        """Its Monte-Carlo standard error: rows of one simulation err together."""
        if len(self.held) < 2:
            return float("nan")
        means = np.mean(self.held, axis=1, dtype=np.float64)
        return float(np.std(means, ddof=1) / np.sqrt(len(self.held)))

    @property
    def own_mean(self) -> float:
        """How often they hold their own average centre.

        If this is near the level and `mean` is not, the variance is right and the bias is the
        problem.
        """
        return float("nan") if self.held_own is None else float(np.mean(self.held_own))

    @property
    def covers_as_it_should(self) -> bool:
        """Whether the mean is within two standard errors, and at least two points, of the level."""
        # Less than two points are of no consequence.
        return abs(self.mean - self.confidence_level) <= max(2 * self.mean_se, 0.02)

    @property
    def covers_too_seldom(self) -> bool:
        """Whether the mean is below that."""
        return not self.covers_as_it_should and self.mean < self.confidence_level

    @property
    def brier(self) -> float:
        """Mean squared distance of the pointwise coverage from its level, Eq. (5)."""
        return brier_score(self.pointwise, self.confidence_level)

    @property
    def brier_se(self) -> float:
        """Its Monte-Carlo standard error."""
        if len(self.held) < 2:
            return float("nan")
        return brier_score_standard_error(self.held, self.confidence_level)

    @property
    def brier_attainable(self) -> float:
        """What perfect intervals would score with as many simulations."""
        if self.kind == "prediction":
            return 0.0  # exact probabilities: nothing is left to chance
        return attainable_brier_score(self.confidence_level, len(self.held))


@dataclass(frozen=True)
class WorstStretch:
    """The stretch of one feature where an estimator's intervals are farthest from their level."""

    feature: str
    lower: float
    upper: float
    coverage: float
    is_date: bool = False

    def __str__(self) -> str:
        lower, upper = self._written(self.lower), self._written(self.upper)
        if self.lower == self.upper:
            return f"{self.feature} is {lower}"
        if np.isinf(self.lower):
            return f"{self.feature} is at most {upper}"
        if np.isinf(self.upper):
            return f"{self.feature} is above {lower}"
        return f"{self.feature} is above {lower} and at most {upper}"

    def _written(self, bound: float) -> str:
        if self.is_date and np.isfinite(bound):
            return str(np.datetime64("1970-01-01") + np.timedelta64(int(bound), "D"))
        return f"{bound:.4g}"


@dataclass(frozen=True)
class CoverageCheck:
    """How often intervals cover on simulated data.

    Attributes:
        coverages: for each estimator, kind and level that there is, its coverage.
        X_test: the rows at which coverage was measured.
        feature_names: their columns.
        n_train: rows of each simulated training set.
        truth: what the data were simulated from, in words.
        dates: the date that each feature of days since 1970 comes from.
        waves: features that are the sine or cosine of a time; no stretch of them is named.
    """

    coverages: tuple[Coverage, ...]
    X_test: Float[np.ndarray, "row feature"]
    feature_names: tuple[str, ...]
    n_train: int
    truth: str
    dates: Mapping[str, str] = field(default_factory=dict)
    waves: Collection[str] = ()

    @property
    def n_simulations(self) -> int:
        """The number of simulated data sets."""
        return len(self.coverages[0].held)

    def worst(self, coverage: Coverage) -> WorstStretch:
        """The stretch of one feature, a quarter of the rows or so, farthest from its level."""
        pointwise = coverage.pointwise
        stretches = [
            WorstStretch(
                self.dates.get(name, name),
                lower,
                upper,
                float(pointwise[rows].mean()),
                name in self.dates,
            )
            for name, column in zip(self.feature_names, self.X_test.T, strict=True)
            if name not in self.waves or len(self.waves) == len(self.feature_names)
            for lower, upper, rows in _stretches(column)
        ]
        return max(stretches, key=lambda s: abs(s.coverage - coverage.confidence_level))

    @property
    def verdict(self) -> str:
        """One plain sentence for each estimator and kind: its lowest level, and the others."""
        together: dict[tuple[str, Kind], list[Coverage]] = {}
        for coverage in sorted(self.coverages, key=lambda c: c.confidence_level):
            together.setdefault((coverage.estimator, coverage.kind), []).append(coverage)
        return "\n".join(self._sentence(*coverages) for coverages in together.values())

    def to_frame(self) -> "pd.DataFrame":
        """A row for each estimator, kind and level."""
        import pandas as pd

        return pd.DataFrame(
            {
                "estimator": c.estimator,
                "kind": c.kind,
                "confidence_level": c.confidence_level,
                "coverage": c.mean,
                "coverage_se": c.mean_se,
                "coverage_of_own_centre": c.own_mean,
                "brier": c.brier,
                "brier_se": c.brier_se,
                "brier_attainable": c.brier_attainable,
                "width": float(c.width.mean()),
                "worst_where": str(worst := self.worst(c)),
                "worst_coverage": worst.coverage,
            }
            for c in self.coverages
        )

    def plot(self) -> "Figure":
        """The pointwise coverages of each estimator about their levels."""
        from confide.plot import plot_coverage

        return plot_coverage(self.coverages)

    def __str__(self) -> str:
        table = self.to_frame().to_string(index=False, float_format=lambda x: f"{x:.3g}")
        return f"{table}\n\n{self.verdict}"

    def _sentence(self, c: Coverage, *others: Coverage) -> str:
        result = (
            f"{c.estimator}: {100 * c.confidence_level:g} % {c.kind} intervals cover "
            f"{100 * c.mean:.0f} %"
        )
        if self.n_simulations < ENOUGH_SIMULATIONS:
            return (
                f"{result} in {self.n_simulations} simulations, too few for a verdict: pass "
                f"n_simulations={2 * ENOUGH_SIMULATIONS} or more."
            )
        if len(self.X_test) < ENOUGH_ROWS:
            return (
                f"{result} at {len(self.X_test)} test rows, too few for a verdict: pass more "
                "data, or a larger test_size."
            )
        worst = self.worst(c)
        rest = "".join(f"; {100 * o.confidence_level:g} %: {100 * o.mean:.0f} %" for o in others)
        return (
            f"{result} (± {100 * c.mean_se:.1f}) on data like yours, {_judged(c)}; worst where "
            f"{worst} ({100 * worst.coverage:.0f} %){rest}."
        )


def _judged(coverage: Coverage) -> str:
    if coverage.covers_as_it_should:
        return "as they should on average"
    return "too seldom" if coverage.covers_too_seldom else ("too often: they are wider than needed")


def _stretches(column: Row) -> list[tuple[float, float, Bool[np.ndarray, " row"]]]:
    """Values of a feature with few, or its quarters: lower (excluded) and upper bound, and rows."""
    values = np.unique(column)
    if len(values) <= 4:
        stretches = [(float(v), float(v), column == v) for v in values]
    else:
        inner = np.unique(np.quantile(column, [0.25, 0.5, 0.75], method="inverted_cdf"))
        stretches = [
            (lower, upper, (lower < column) & (column <= upper))
            for lower, upper in itertools.pairwise([-np.inf, *inner.tolist(), np.inf])
        ]
    return [stretch for stretch in stretches if np.mean(stretch[2]) >= SMALLEST_STRETCH]
