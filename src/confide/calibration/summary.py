"""What a calibration tells of itself: its twins, what it changed, and how sure that is."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64
from scipy import stats

from confide.prediction import Prediction
from confide.simulate import Candidate

if TYPE_CHECKING:
    import pandas as pd

Row = Float64[np.ndarray, " row"]
# Levels at which it is told how much wider intervals became.
LEVELS = (0.8, 0.95)
# A larger share of rows whose systematic error exceeds chance is worth a warning.
MANY_BIASED = 0.1
# Residuals of twin and data that differ by more than this ratio, and beyond chance, are too.
UNLIKE = 1.5
BEYOND_CHANCE = 0.01
# What to do with calibrated confidence intervals.
USE, CARE, AVOID = "Use them", "Use them with care", "Do not rely on them"


# What the networks do at rows where they err systematically, and what follows.
SYSTEMATIC = (
    "the networks miss the twins' true function in the same way each time, by more than chance "
    "scatters them and more than the method allows for. A confidence interval that is right there "
    "must be wide, and more members do not narrow it; longer training, other networks or more rows "
    "may."
)


@dataclass(frozen=True)
class Resemblance:
    """The model's residuals on simulated data, against those on the data: a two-sample check.

    Attributes:
        kind: the twin's.
        n_simulations: data sets simulated from it.
        ratio: root mean square of the residuals on the twin, over that on the data. Above one the
            twin has more noise, or is harder to learn, than the data.
        distance: the largest difference of the two distribution functions, Kolmogorov-Smirnov's.
        p_value: of such a distance by chance, were the twin the truth; approximate, because
            simulated residuals of one data set are not independent.
    """

    kind: str
    n_simulations: int
    ratio: float
    distance: float
    p_value: float

    @classmethod
    def of(
        cls, kind: str, real: Row, simulated: Float64[np.ndarray, "simulation row"]
    ) -> "Resemblance":
        """From residuals at the same rows."""
        found = stats.ks_2samp(real, simulated.reshape(-1), method="asymp")
        size = np.sqrt(np.mean(real**2))
        ratio = float(np.sqrt(np.mean(simulated**2)) / max(size, np.finfo(np.float64).tiny))
        return cls(kind, len(simulated), ratio, float(found.statistic), float(found.pvalue))

    @property
    def is_other_size(self) -> bool:
        """Whether the twin's residuals are of another size than the data's, be it by chance."""
        return not 1 / UNLIKE <= self.ratio <= UNLIKE

    @property
    def is_beyond_chance(self) -> bool:
        """Whether the twin's residuals differ from the data's by more than chance explains."""
        return self.p_value < BEYOND_CHANCE

    @property
    def is_doubtful(self) -> bool:
        """Whether the twin's residuals are of another size than the data's, beyond chance."""
        return self.is_other_size and self.is_beyond_chance

    def __str__(self) -> str:
        size = "not close" if self.is_other_size else "close"
        chance, side = (
            ("does not explain", "below") if self.is_beyond_chance else ("may explain", "not below")
        )
        return (
            f"On the twin {self.kind.replace('_', ' ')!r} the model's residuals (observed less "
            f"predicted) are {self.ratio:.2g} times the size of those on your data: {size}, as "
            f"{1 / UNLIKE:.2g} to {UNLIKE:g} times counts as close. The share of residuals below "
            f"any value differs by at most {100 * self.distance:.0f} in 100, which chance "
            f"{chance} (p-value about {self.p_value:.2g}, {side} {BEYOND_CHANCE:g})."
        )


@dataclass(frozen=True)
class CalibrationSummary:
    """What there is to know about a calibration, measured at training rows.

    Attributes:
        candidates: how well each kind of function predicted held-out rows; empty where the truth
            was given.
        resemblances: for each twin.
        n_rows: training rows that it was measured at.
        widening: for each level, how many times as wide as the method's own a calibrated
            confidence interval is: the 5 %, 50 % and 95 % quantile over rows.
        factor_error: typical relative standard error of a row's factor.
        biased: share of rows whose systematic error exceeds chance and the method's own claim.
    """

    candidates: tuple[Candidate, ...]
    resemblances: tuple[Resemblance, ...]
    n_rows: int
    widening: Mapping[float, tuple[float, float, float]]
    factor_error: float
    biased: float

    @classmethod
    def empty(cls) -> "CalibrationSummary":
        """Of a calibration that has not been looked at yet."""
        return cls((), (), 0, {}, 0.0, 0.0)

    @classmethod
    def of(
        cls,
        prediction: Prediction,
        candidates: Sequence[Candidate],
        resemblances: Sequence[Resemblance],
    ) -> "CalibrationSummary":
        """From a calibrated prediction at training rows."""
        own, errors = prediction.uncalibrated, prediction.twin_errors
        assert own is not None, "it is calibrated"  # noqa: S101
        assert errors is not None, "on simulated data"  # noqa: S101
        widening = {}
        for level in LEVELS:
            before, after = (
                np.ptp(each.confidence_interval(level), axis=1) for each in (own, prediction)
            )
            ratio = np.divide(after, before, out=np.ones_like(before), where=before > 0)
            low, middle, high = np.quantile(ratio, [0.05, 0.5, 0.95]).tolist()
            widening[level] = (low, middle, high)
        return cls(
            tuple(candidates),
            tuple(resemblances),
            len(prediction),
            widening,
            float(np.median(errors.factor_error)),
            float(errors.is_biased.mean()),
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should worry about."""
        found = []
        if self.biased > MANY_BIASED:
            found.append(f"At {100 * self.biased:.0f} % of the rows {SYSTEMATIC}")
        found += [
            f"The twin {each.kind!r} does not resemble the data: the model's residuals are "
            f"{each.ratio:.2g} times as large on it. Calibrated widths are doubtful; compare with "
            "another `truth`."
            for each in self.resemblances
            if each.is_doubtful
        ]
        return tuple(found)

    @property
    def advice(self) -> str:
        """What to do with the confidence intervals, in a few words: `USE`, `CARE` or `AVOID`."""
        if not self.resemblances or any(each.is_doubtful for each in self.resemblances):
            return AVOID
        return CARE if self._cautions() else USE

    @property
    def verdict(self) -> str:
        """Whether to trust the confidence intervals, and what that rests on."""
        if not self.resemblances:
            return f"{AVOID}: nothing is known of how well the simulated twins resemble your data."
        reasons = {
            USE: "the model errs on simulated twins much as it does on your data, so far as its "
            "residuals can tell",
            CARE: " and ".join(self._cautions()),
            AVOID: "the model does not err on simulated twins as it does on your data, so the "
            "widths found there may be wrong here",
        }
        told = f"{self.advice}: {reasons[self.advice]}."
        return " ".join([told, *map(str, self.resemblances)])

    def _cautions(self) -> list[str]:
        """What calls for care, though not for a rejection."""
        found = []
        if any(each.is_other_size and not each.is_beyond_chance for each in self.resemblances):
            found.append(
                "the model's residuals have another size on a twin than on your data, and these "
                "rows are too few to tell whether that is chance"
            )
        if any(each.is_beyond_chance and not each.is_other_size for each in self.resemblances):
            found.append(
                "the model's residuals are about as large on simulated twins as on your data, but "
                "of a different shape"
            )
        if self.biased > MANY_BIASED:
            found.append(
                f"at {100 * self.biased:.0f} % of the rows the networks err systematically, where "
                "the widths hang on the twins most"
            )
        return found

    def to_frame(self) -> "pd.DataFrame":
        """A row for each kind of twin: its held-out error, and how well it resembles the data."""
        import pandas as pd

        resemblances = {each.kind: asdict(each) for each in self.resemblances}
        kinds = [each.kind for each in self.candidates] or list(resemblances)
        candidates = {each.kind: asdict(each) for each in self.candidates}
        rows = [candidates.get(k, {}) | resemblances.get(k, {}) | {"kind": k} for k in kinds]
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        twins = " and ".join(
            f"{each.kind.replace('_', ' ')} ({each.n_simulations} simulations, residuals "
            f"{each.ratio:.2g} times the data's)"
            for each in self.resemblances
        )
        lines = [f"Calibrated on {twins}."]
        lines += [
            f"{100 * level:g} % confidence intervals are {middle:.2g} times as wide as before "
            f"calibration (at nine of ten rows {low:.2g} to {high:.2g} times)."
            for level, (low, middle, high) in self.widening.items()
        ]
        lines.append(
            f"From so many simulations a row's width is known to about ± "
            f"{100 * self.factor_error:.0f} %. At {100 * self.biased:.0f} % of {self.n_rows} rows "
            "the systematic error exceeds chance."
        )
        return "\n".join([*lines, *(f"Warning: {each}" for each in self.warnings)])

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        said = asdict(self)
        said["widening"] = {f"{level:g}": list(each) for level, each in self.widening.items()}
        return said

    @classmethod
    def from_json(cls, said: Any) -> "CalibrationSummary":
        """From plain values."""
        return cls(
            candidates=tuple(Candidate(**each) for each in said["candidates"]),
            resemblances=tuple(Resemblance(**each) for each in said["resemblances"]),
            n_rows=int(said["n_rows"]),
            widening={
                float(level): (float(low), float(middle), float(high))
                for level, (low, middle, high) in said["widening"].items()
            },
            factor_error=float(said["factor_error"]),
            biased=float(said["biased"]),
        )
