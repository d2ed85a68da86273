"""The summary of a calibration: its twins, what it changed, and how sure that is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from jaxtyping import Float64
from scipy import stats

from confide.diagnostics import LARGE, UNLIKELY, VERY_UNLIKELY, Grade, graded
from confide.persistence import checked_fields
from confide.prediction import Prediction
from confide.simulate import OLD_KINDS, Candidate
from confide.uncertainty import Row

if TYPE_CHECKING:
    import pandas as pd

PerSimulation = Float64[np.ndarray, "simulation row"]
# Levels at which it says how much wider intervals became.
LEVELS = (0.8, 0.95)
# A larger share of rows whose systematic error exceeds chance is worth a warning.
MANY_BIASED = 0.1
# What the model does at rows where it is biased, and what follows.
SYSTEMATIC = (
    "the model is too high, or too low, each time it learns a simulated table like yours, whose "
    "true function is known. Confidence intervals are shifted there to make up for it; predictions "
    "are not. More rows, longer training or another learner may help; more members do not."
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
    def of(cls, kind: str, real: Row, simulated: PerSimulation) -> "Resemblance":
        """Compares residuals at the same rows.

        Args:
            kind: the twin's.
            real: the residuals on the data.
            simulated: the residuals on each data set that was simulated from the twin.

        Returns:
            How alike they are.
        """
        test = stats.ks_2samp(real, simulated.reshape(-1), method="asymp")
        size = np.sqrt(np.mean(real**2))
        ratio = float(np.sqrt(np.mean(simulated**2)) / max(size, np.finfo(np.float64).tiny))
        return cls(kind, len(simulated), ratio, float(test.statistic), float(test.pvalue))

    @property
    def is_other_size(self) -> bool:
        """Whether the twin's residuals are of another size than the data's, perhaps by chance."""
        return not 1 / LARGE <= self.ratio <= LARGE

    @property
    def grade(self) -> Grade:
        """How well the twin's residuals agree with the data's."""
        return graded(self.p_value, is_large=self.is_other_size)

    def __str__(self) -> str:
        size = "not close" if self.is_other_size else "close"
        return (
            f"On the twin {self.kind!r}, the model's residuals (observed minus predicted) are "
            f"{self.ratio:.2g} times as large as on your data, which is {size} ({1 / LARGE:.2g} "
            f"to {LARGE:g} times counts as close). The shares of residuals below any value differ "
            f"by at most {100 * self.distance:.0f} points. Chance {self._chance}."
        )

    @property
    def _chance(self) -> str:
        about = f"this (p-value about {self.p_value:.2g}"
        if self.p_value >= UNLIKELY:
            return f"may explain {about}, not below {UNLIKELY:g})"
        if self.p_value >= VERY_UNLIKELY:
            return f"hardly explains {about}, below {UNLIKELY:g})"
        return f"does not explain {about}, below {VERY_UNLIKELY:g})"


Twin = TypeVar("Twin", Candidate, Resemblance)


@dataclass(frozen=True)
class CalibrationSummary:
    """What there is to know about a calibration, measured at training rows.

    Attributes:
        candidates: how well each kind of twin predicted held-out rows; empty if a truth was given.
        resemblances: for each twin.
        n_rows: training rows that it was measured at.
        widening: for each level, how many times as wide as the method's own a calibrated
            confidence interval is: the 5 %, 50 % and 95 % quantile over rows.
        biased: share of rows whose bias is beyond chance; see `TwinErrors.is_biased`.
    """

    candidates: tuple[Candidate, ...]
    resemblances: tuple[Resemblance, ...]
    n_rows: int
    widening: Mapping[float, tuple[float, float, float]]
    biased: float

    @classmethod
    def empty(cls) -> "CalibrationSummary":
        """Of a calibration that is not summarised yet."""
        return cls((), (), 0, {}, 0.0)

    @classmethod
    def of(
        cls,
        prediction: Prediction,
        candidates: Sequence[Candidate],
        resemblances: Sequence[Resemblance],
    ) -> "CalibrationSummary":
        """Summarises a calibrated prediction at training rows.

        Args:
            prediction: the calibrated prediction.
            candidates: how well each kind of twin predicted held-out rows.
            resemblances: how much each twin resembles the data.

        Returns:
            The summary.
        """
        errors = prediction.twin_errors
        assert errors is not None, "it is calibrated on twins"  # noqa: S101
        return cls(
            tuple(candidates),
            tuple(resemblances),
            len(prediction),
            {level: _widening(prediction, level) for level in LEVELS},
            float(errors.is_biased.mean()),
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should worry about."""
        biased = f"At {100 * self.biased:.0f} % of the rows {SYSTEMATIC}"
        unlike = [
            f"The twin {twin.kind!r} does not resemble the data: the model's residuals are "
            f"{twin.ratio:.2g} times as large on it. The calibrated widths are doubtful: compare "
            "them with those of another `twin`."
            for twin in self.resemblances
            if twin.grade is Grade.DO_NOT_HOLD
        ]
        return (biased, *unlike) if self.biased > MANY_BIASED else tuple(unlike)

    @property
    def grade(self) -> Grade | None:
        """How well the confidence intervals hold, as far as residuals show; None if unknown."""
        if not self.resemblances:
            return None
        caution = Grade.SLIGHTLY_OFF if any(self._cautions()) else Grade.HOLD
        return max(caution, *(twin.grade for twin in self.resemblances))

    @property
    def reason(self) -> str:
        """Why they have this grade."""
        if self.grade is None:
            return "it is not known how well the simulated twins resemble your data"
        return {
            Grade.HOLD: "the model's errors on simulated twins are like those on your data",
            Grade.SLIGHTLY_OFF: ", and ".join(self._cautions()),
            Grade.DO_NOT_HOLD: "the model's errors on simulated twins differ from those on your "
            "data, so the calibrated widths may be wrong",
        }[self.grade]

    @property
    def verdict(self) -> str:
        """Whether the confidence intervals hold, and what that rests on."""
        words = "it is not known whether they hold" if self.grade is None else self.grade.now
        return " ".join([f"{words.capitalize()}: {self.reason}.", *map(str, self.resemblances)])

    def _cautions(self) -> Iterator[str]:
        """What calls for care, but not for a rejection."""
        unlike = [twin for twin in self.resemblances if twin.grade is not Grade.DO_NOT_HOLD]
        if any(twin.is_other_size for twin in unlike):
            yield (
                "the model's residuals have another size on a twin than on your data, and there "
                "are too few rows to tell whether this is chance"
            )
        if any(twin.grade and not twin.is_other_size for twin in unlike):
            yield (
                "the model's residuals are about as large on simulated twins as on your data, but "
                "of another shape"
            )
        if self.biased > MANY_BIASED:
            yield (
                f"at {100 * self.biased:.0f} % of the rows the model is biased; intervals are "
                "shifted there, and their widths are less certain"
            )

    def to_frame(self) -> "pd.DataFrame":
        """A row for each kind of twin: its held-out error, and how well it resembles the data."""
        import pandas as pd

        candidates = {candidate.kind: asdict(candidate) for candidate in self.candidates}
        resemblances = {twin.kind: asdict(twin) for twin in self.resemblances}
        kinds = candidates or resemblances
        return pd.DataFrame([candidates.get(k, {}) | resemblances.get(k, {}) for k in kinds])

    def __str__(self) -> str:
        twins = " and ".join(
            f"{twin.kind} ({twin.n_simulations} simulations, residuals {twin.ratio:.2g} times the "
            "data's)"
            for twin in self.resemblances
        )
        widening = [
            f"{100 * level:g} % confidence intervals are {middle:.2g} times as wide as before "
            f"calibration (at nine of ten rows {low:.2g} to {high:.2g} times)."
            for level, (low, middle, high) in self.widening.items()
        ]
        biased = (
            f"At {100 * self.biased:.0f} % of {self.n_rows} rows there is bias beyond chance: more "
            "than twice the error of the interval's centre."
        )
        warnings = [f"Warning: {warning}" for warning in self.warnings]
        return "\n".join([f"Calibrated on {twins}.", *widening, biased, *warnings])

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        widening = {f"{level:g}": list(ratios) for level, ratios in self.widening.items()}
        return asdict(self) | {"widening": widening}

    @classmethod
    def from_json(cls, payload: Any) -> "CalibrationSummary":
        """From plain values, checked."""
        summary = cls(**checked_fields(cls, payload))
        return replace(
            summary,
            candidates=tuple(map(_renamed, summary.candidates)),
            resemblances=tuple(map(_renamed, summary.resemblances)),
        )


def _widening(prediction: Prediction, level: float) -> tuple[float, float, float]:
    """How many times as wide as before confidence intervals are: three quantiles over rows."""
    assert prediction.uncalibrated is not None, "it is calibrated"  # noqa: S101
    before = np.ptp(prediction.uncalibrated.confidence_interval(level), axis=1)
    after = np.ptp(prediction.confidence_interval(level), axis=1)
    ratio = np.divide(after, before, out=np.ones_like(before), where=before > 0)
    low, middle, high = np.quantile(ratio, [0.05, 0.5, 0.95]).tolist()
    return low, middle, high


def _renamed(entry: Twin) -> Twin:
    """With the kind's name of today: older files have others."""
    return replace(entry, kind=OLD_KINDS.get(entry.kind, entry.kind))
