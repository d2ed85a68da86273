"""The one result object: a prediction with its intervals and its sources of uncertainty."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Bool, Float64
from numpy.typing import ArrayLike

from confide.checks import checked_level, checked_probability, checked_targets
from confide.diagnostics import NOVEL, Decay, Explanation, checked_decay, shares
from confide.errors import NoSuchIntervalError, nearest
from confide.metrics import COVERAGE_LEVELS, ObservedCoverage, observed_coverage
from confide.moved import renamed_attribute
from confide.uncertainty import VAST, Law, Origin, PartlyUnboundedLaw, Row, TwinErrors

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Bounds = Float64[np.ndarray, "row 2"]
Kind = Literal["confidence", "prediction"]
KINDS: tuple[Kind, ...] = ("confidence", "prediction")
# The names of their columns begin so, as in statsmodels.
COLUMNS: dict[Kind, str] = {"confidence": "mean", "prediction": "obs"}
ORIGINS: dict[Origin | None, str] = {
    None: "not available",
    "model": "not calibrated",
    "held_out": "calibrated on held-out rows",
    "twins": "calibrated on twins",
}
VARIANCES = (
    "aleatoric_variance",
    "epistemic_variance",
    "classical_variance",
    "optimisation_variance",
)
# A normal law's interval at this level reaches one standard deviation to each side.
ONE_DEVIATION = 0.6826894921370859


@dataclass(frozen=True, repr=False)
class Prediction:
    """What a fitted method predicts for some rows; every other answer derives from this value.

    Attributes:
        mean: the ensemble's prediction.
        aleatoric_variance: noise of the target itself, or None where the method has no variances.
        epistemic_variance: the method's own variance of `mean` as an estimate of the true
            function, or None likewise.
        prediction_law: the law of a new observation.
        confidence_law: the law of the true function's value, or None where the method has none.
        classical_variance: part that is due to finite data, or None where it is not estimated.
        optimisation_variance: variance of one member due to random training (undivided), or None
            where the method does not separate it.
        n_members: the number of members.
        without_confidence: why there is no confidence interval, and what to do.
        novelty: for each row a p-value: how probable so unusual a row is among rows like the
            training data. None where it was not asked for. Do not trust intervals of rows where it
            is small.
        uncalibrated: the same prediction before its intervals were calibrated, or None where they
            were not.
        twin_errors: how far fits to simulated twins were off at these rows, or None where the
            confidence intervals were not calibrated on them.
        novel_columns: for each novel row the columns that make it so: those with values that no
            training row had, or else those that are farthest from the nearest training row. Empty
            for other rows, None where novelty was not asked for.
        index: of the rows, where they came with one, as those of pandas do; or None.
    """

    mean: Row
    aleatoric_variance: Row | None
    epistemic_variance: Row | None
    prediction_law: Law
    confidence_law: Law | None
    classical_variance: Row | None
    optimisation_variance: Row | None
    n_members: int
    without_confidence: str = (
        "A confidence interval needs at least two members, but this is a single network: it "
        "cannot show how much random training changes a prediction. Ask for kind='prediction', "
        "or fit with `n_members` of 2 or more."
    )
    novelty: Row | None = None
    uncalibrated: "Prediction | None" = None
    twin_errors: TwinErrors | None = None
    novel_columns: tuple[tuple[str, ...], ...] | None = None
    index: "pd.Index[Any] | None" = None

    simulated = renamed_attribute("simulated", "twin_errors")

    def __len__(self) -> int:
        return len(self.mean)

    def __repr__(self) -> str:
        intervals = (f"{kind} intervals {ORIGINS[self._origin(kind)]}" for kind in KINDS)
        numbers = f"n_rows={len(self)}, n_members={self.n_members}"
        return f"<Prediction: {numbers}, {', '.join(intervals)}>"

    def _origin(self, kind: Kind) -> Origin | None:
        law = self.confidence_law if kind == "confidence" else self.law(kind)
        return None if law is None else law.origin

    def unbounded(
        self, is_unbounded: Bool[np.ndarray, " row"], overflown: "Prediction"
    ) -> "Prediction":
        """The same with infinite bounds and a novelty of zero at some rows.

        Args:
            is_unbounded: whether each row is one of those.
            overflown: the means and variances of those rows, as far as they are finite.
        """
        laws = {"prediction_law": self.prediction_law, "confidence_law": self.confidence_law}
        mean = np.where(is_unbounded, overflown.mean, self.mean)
        variances = {name: (getattr(self, name), getattr(overflown, name)) for name in VARIANCES}
        own, errors = self.uncalibrated, self.twin_errors
        if errors is not None:
            errors = replace(errors, error=np.where(is_unbounded, np.inf, errors.error))
        changed: dict[str, Any] = {
            name: None if usual is None else np.where(is_unbounded, _tamed(wild), usual)
            for name, (usual, wild) in variances.items()
        }
        for name, law in laws.items():
            changed[name] = None if law is None else PartlyUnboundedLaw(law, is_unbounded, mean)
        return replace(
            self,
            mean=mean,
            novelty=None if self.novelty is None else np.where(is_unbounded, 0.0, self.novelty),
            uncalibrated=None if own is None else own.unbounded(is_unbounded, overflown),
            twin_errors=errors,
            **changed,
        )

    @property
    def total_variance(self) -> Row:
        """Aleatoric plus epistemic variance."""
        aleatoric, epistemic = self._variances
        return aleatoric + epistemic

    @property
    def is_novel(self) -> Bool[np.ndarray, " row"] | None:
        """Whether each row is unlike the training data, so that its intervals cannot be trusted.

        About one in a hundred rows that are like the training data is flagged as well.
        """
        return None if self.novelty is None else self.novelty < NOVEL

    @property
    def scale(self) -> Row:
        """What a calibrated prediction interval is a multiple of, for each row.

        The root of the total variance. Where the method has no variances, it is half the width of
        its own prediction interval, at the highest level that it has, or at about 68 % if it has
        every level.
        """
        if self.aleatoric_variance is not None and self.epistemic_variance is not None:
            return np.sqrt(self.total_variance)
        law = (self.uncalibrated or self).prediction_law
        lower, upper = law.interval(max(law.levels or (ONE_DEVIATION,))).T
        return upper / 2 - lower / 2  # halved first, so that the largest floats do not overflow

    def is_calibrated(self, kind: Kind) -> bool:
        """Whether the intervals of that kind are calibrated, on held-out rows or on twins."""
        return self._origin(kind) not in {None, "model"}

    @property
    def sources(self) -> dict[str, Row]:
        """The part of each source in the total variance, for each row.

        The part of random training is the epistemic variance without the part of finite data: for
        a bootstrapped ensemble `optimisation_variance / n_members`, as in Eq. (2); for a deep
        ensemble all of it. A method that does not separate the two has one part, "epistemic", for
        both; one that estimates neither has none.
        """
        aleatoric, epistemic = self._variances
        parts, rest = {"aleatoric": aleatoric}, epistemic
        if self.classical_variance is not None:
            parts["classical"] = self.classical_variance
            rest = epistemic - self.classical_variance
        if self.confidence_law is not None:
            name = "epistemic" if self.optimisation_variance is None else "optimisation"
            parts[name] = rest
        return parts

    @property
    def shares(self) -> dict[str, Row]:
        """The share of each of the `sources` in the total variance of a row; they sum to one."""
        return shares(self.sources)

    def explain(
        self, confidence_level: float = 0.95, *, decay: Decay | float | None = None
    ) -> Explanation:
        """Where the uncertainty comes from and what would reduce it: `print` it, or use its frames.

        Args:
            confidence_level: level of the intervals whose widths are forecast.
            decay: how the variances fall as rows are added, `N^-a`: the exponent of the classical
                variance, or a `Decay` with errors; None for what was measured on simulated truths.

        Returns:
            The explanation.

        Raises:
            NoSuchIntervalError: the method has no variances, or is a single network.
        """
        sources = self.sources
        if self.confidence_law is None:
            raise NoSuchIntervalError(self.without_confidence)
        law = (self.uncalibrated or self).prediction_law
        return Explanation(
            sources,
            self.n_members,
            checked_level(confidence_level),
            checked_decay(decay),
            t_in_prediction=law.has_t_part,
            calibrated=tuple(kind for kind in KINDS if self.is_calibrated(kind)),
        )

    @property
    def _variances(self) -> tuple[Row, Row]:
        if self.aleatoric_variance is None or self.epistemic_variance is None:
            raise NoSuchIntervalError(
                "This method has bounds for a new observation, but no variance. Ask for its "
                "prediction interval instead."
            )
        return self.aleatoric_variance, self.epistemic_variance

    def confidence_interval(self, confidence_level: float = 0.95) -> Bounds:
        """Bounds that hold the true function's value with that confidence, for each row."""
        return self.interval("confidence", confidence_level)

    def prediction_interval(self, confidence_level: float = 0.95) -> Bounds:
        """Bounds that hold a new observation with that confidence, for each row."""
        return self.interval("prediction", confidence_level)

    def interval(self, kind: Kind, confidence_level: float) -> Bounds:
        """The interval of the named kind."""
        return self.law(kind).interval(checked_level(confidence_level))

    def law(self, kind: Kind) -> Law:
        """The law behind the interval of the named kind."""
        if kind == "prediction":
            return self.prediction_law
        if kind != "confidence":
            raise ValueError(
                f"`kind` must be 'confidence' (for the true function) or 'prediction' (for a new "
                f"observation), got {kind!r}. {nearest(kind, KINDS)}"
            )
        if self.confidence_law is None:
            raise NoSuchIntervalError(self.without_confidence)
        return self.confidence_law

    def quantiles(
        self, probabilities: Sequence[float], kind: Kind = "prediction"
    ) -> Float64[np.ndarray, "row probability"]:
        """Quantiles of a new observation (or of the true function's value), for each row."""
        if np.ndim(probabilities) != 1 or len(probabilities) == 0:
            raise ValueError(
                f"Quantile probabilities must be a list, got {probabilities!r}. Pass for example "
                "[0.05, 0.5, 0.95]."
            )
        law = self.law(kind)
        return np.stack([law.quantile(checked_probability(p)) for p in probabilities], axis=-1)

    def cdf(self, value: float | Row, kind: Kind = "prediction") -> Row:
        """The probability that a new observation lies at or below `value`, for each row."""
        return self.law(kind).cdf(np.asarray(value, np.float64))

    def sample(
        self,
        n_samples: int,
        *,
        random_state: int | np.random.Generator | None = None,
        kind: Kind = "prediction",
    ) -> Float64[np.ndarray, "sample row"]:
        """Random draws of a new observation, independent between rows.

        Args:
            n_samples: draws for each row.
            random_state: a seed or a generator, or None for other draws each time.
            kind: "confidence" for draws of the true function's value instead.

        Returns:
            The draws.
        """
        return self.law(kind).sample(np.random.default_rng(random_state), n_samples)

    def observed_coverage(
        self, y: ArrayLike, confidence_levels: Sequence[float] | None = None
    ) -> ObservedCoverage:
        """The share of observed targets in their prediction intervals, with error bars.

        Confidence intervals cannot be judged this way: nobody observes the true function.

        Args:
            y: the targets of these rows, which took no part in the fit.
            confidence_levels: levels to look at, or None for all levels that the method has, or
                for eleven from 0.1 to 0.99 if it has every level.

        Returns:
            Nominal and observed coverage for each level.
        """
        if confidence_levels is None:
            confidence_levels = self.prediction_law.levels or COVERAGE_LEVELS
        levels = np.array([checked_level(level) for level in confidence_levels])
        if not len(levels):
            raise ValueError(
                "`confidence_levels` must contain at least one level, got none. Pass for "
                "example [0.5, 0.9], or None for the usual ones."
            )
        bounds = [self.prediction_interval(float(level)) for level in levels]
        intervals = np.stack(bounds, axis=-1)
        return observed_coverage(checked_targets(y, len(self)), intervals, levels)

    def summary_frame(self, confidence_level: float = 0.95) -> "pd.DataFrame":
        """A table under statsmodels' column names, then the sources of uncertainty.

        It has the index of the rows, where they came with one, so that it can be joined to them.
        `mean_se` and `mean_ci_*` are about the true function, `obs_ci_*` about a new observation.
        What the method does not estimate has no column. `novelty` is small where a row is unlike
        the training data. Where `mean_ci_*` or `obs_ci_*` are calibrated, the last columns have the
        method's own interval, if it has one at that level. `to_polars` is the same for polars.
        """
        import pandas as pd  # here, because importing it takes longer than all of confide

        columns = {"mean": self.mean}
        if self.confidence_law is not None and self.epistemic_variance is not None:
            columns["mean_se"] = np.sqrt(self.epistemic_variance)
        for kind in KINDS if self.confidence_law is not None else KINDS[1:]:
            columns |= _ci_columns(kind, self.interval(kind, confidence_level))
        for name in ("aleatoric_variance", "classical_variance", "optimisation_variance"):
            if (variance := getattr(self, name)) is not None:
                columns[name] = variance
        if self.novelty is not None:
            columns["novelty"] = self.novelty
        for kind in KINDS:
            if self.uncalibrated is not None and self.is_calibrated(kind):
                with suppress(NoSuchIntervalError):
                    own = self.uncalibrated.interval(kind, confidence_level)
                    columns |= _ci_columns(kind, own, "_uncalibrated")
        return pd.DataFrame(columns, index=self.index)

    def to_polars(self, confidence_level: float = 0.95) -> "pl.DataFrame":
        """The table of `summary_frame` as one of polars, with its rows in the same order.

        To put them beside each other: `polars.concat([X, prediction.to_polars()],
        how="horizontal")`.
        """
        import polars as pl

        frame = self.summary_frame(confidence_level)
        return pl.DataFrame({str(name): values.to_numpy() for name, values in frame.items()})


def _tamed(variance: Row) -> Row:
    return np.where(np.isfinite(variance), np.minimum(variance, VAST), VAST)


def _ci_columns(kind: Kind, bounds: Bounds, ending: str = "") -> dict[str, Row]:
    lower, upper = bounds.T
    name = COLUMNS[kind]
    return {f"{name}_ci_lower{ending}": lower, f"{name}_ci_upper{ending}": upper}
