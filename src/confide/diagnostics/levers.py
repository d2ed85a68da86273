"""Shares of the sources of uncertainty, and what more members, rows or features would do."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Float64
from scipy import stats

from confide.checks import is_number
from confide.uncertainty import TPlusNormalLaw

Row = Float64[np.ndarray, " row"]
Sources: TypeAlias = Mapping[str, Row]
"""For each source, its part of the total variance of each row."""

MORE_MEMBERS = (2, 4, np.inf)
MORE_ROWS = (2, 4)
# Sources that fall as rows are added.
FALLING = ("classical", "optimisation")


class Decay(NamedTuple):
    r"""How the variances fall as rows are added: as $N^{-a}$, with the standard error of each a.

    For the classical variance this project measured 0.63 from 500 to 30,000 rows of one set (the
    paper's Experiment 2), but 0.25 on tables of a few hundred rows: networks that are trained for
    as many epochs on more rows take more steps, and follow more. The default stands between the
    two, with an error that reaches both; `results/README.md` has how far its forecasts are off.
    Theory has 1 for a fixed parametric model.
    """

    classical: float = 0.45
    classical_se: float = 0.2
    optimisation: float = 0.27
    optimisation_se: float = 0.2


MEASURED = Decay()


def checked_decay(decay: object) -> Decay:
    """The decay, if it is one; a number is the exponent of the classical variance."""
    if decay is None:
        return MEASURED
    numbers: tuple[object, ...] = decay if isinstance(decay, Decay) else (decay, 0.0)
    finite = all(is_number(number) and np.isfinite(number) for number in numbers)
    if not finite or any(error < 0 for error in numbers[1::2]):  # type: ignore[operator]
        raise ValueError(
            "`decay` must be the exponent a of a variance that falls as N^-a, or a Decay of finite "
            f"numbers whose errors are not negative, got {decay!r}. Pass for example 0.5, or None."
        )
    return decay if isinstance(decay, Decay) else Decay(float(decay), 0.0)  # type: ignore[arg-type]


class Lever(NamedTuple):
    """What one change would do to the widths of the intervals: a factor, the mean over the rows.

    Attributes:
        lever: "members", "rows", "features" or "floor".
        change: the change in words.
        confidence_width: the confidence intervals' new width over their present one.
        confidence_width_se: its standard error, from that of the decay.
        prediction_width: likewise for the prediction intervals.
        prediction_width_se: its standard error.
    """

    lever: str
    change: str
    confidence_width: float
    confidence_width_se: float
    prediction_width: float
    prediction_width_se: float


@dataclass(frozen=True)
class Forecast:
    """The widths of both intervals now and after a change; the attributes are `Explanation`'s."""

    sources: Sources
    n_members: int
    confidence_level: float
    decay: Decay
    t_in_prediction: bool

    @functools.cached_property
    def levers(self) -> list[Lever]:
        """All levers whose effect follows from the method's variances."""
        noise = self.sources["aleatoric"]
        half = self.widths({**self.sources, "aleatoric": noise / 2})
        floor = self.widths({"aleatoric": noise})
        return [
            *(self._more_members(times) for times in MORE_MEMBERS if self.n_members > 1),
            *(self._more_rows(times) for times in MORE_ROWS if "classical" in self.sources),
            self._lever("features", "features that explain half of the noise's variance", half),
            self._lever("floor", "the true function known exactly: noise alone", floor),
        ]

    @functools.cached_property
    def present(self) -> Float64[np.ndarray, "kind row"]:
        """The widths now."""
        return self.widths(self.sources)

    def widths(
        self, sources: Sources, n_members: float | None = None
    ) -> Float64[np.ndarray, "kind row"]:
        """Half the width of the confidence and of the prediction interval, for each row."""
        n_members = self.n_members if n_members is None else n_members
        noise = sources["aleatoric"]
        own: Row = np.sum([np.zeros_like(noise), *epistemic(sources).values()], axis=0)
        # One network's dropout masks, or unlimited members, leave a normal law.
        normal = n_members == 1 or np.isinf(n_members)
        quantile = (stats.norm if normal else stats.t(n_members - 1)).ppf(
            (1 + self.confidence_level) / 2
        )
        if normal or not self.t_in_prediction:
            law = TPlusNormalLaw.normal(noise, np.sqrt(noise + own))
        else:
            law = TPlusNormalLaw(noise, np.sqrt(own), np.sqrt(noise), int(n_members) - 1)
        return np.stack([quantile * np.sqrt(own), law.half_width(self.confidence_level)])

    def _more_members(self, times: float) -> Lever:
        """Exact: the method's own formula with another number of members."""
        n_members = times * self.n_members
        sources = dict(self.sources)
        if "classical" in sources:  # Eq. (2): only this part is divided by their number
            sources["optimisation"] = sources["optimisation"] / times
        elif "optimisation" in sources:  # Eq. (1): a spread with divisor M, not divided again
            grown = (1 - 1 / n_members) / (1 - 1 / self.n_members)
            sources["optimisation"] = sources["optimisation"] * grown
        number = f"{n_members}" if np.isfinite(times) else "unlimited"
        change = f"{number} members instead of {self.n_members}"
        return self._lever("members", change, self.widths(sources, n_members))

    def _more_rows(self, times: float) -> Lever:
        r"""By the decay, each part falls as $N^{-a}$; its errors add as squares."""

        def widths(decay: Decay) -> Float64[np.ndarray, "kind row"]:
            fallen = {name: self.sources[name] * times ** -getattr(decay, name) for name in FALLING}
            return self.widths({**self.sources, **fallen})

        errors = []
        for name in FALLING:
            a, error = getattr(self.decay, name), getattr(self.decay, f"{name}_se")
            slow, fast = (
                self._factors(widths(self.decay._replace(**{name: exponent})))
                for exponent in (a - error, a + error)
            )
            errors.append((slow - fast) / 2)
        change = f"{times} times as many rows"
        return self._lever("rows", change, widths(self.decay), np.hypot(*errors))

    def _lever(
        self,
        lever: str,
        change: str,
        widths: Float64[np.ndarray, "kind row"],
        errors: Float64[np.ndarray, " kind"] | Sequence[float] = (0.0, 0.0),
    ) -> Lever:
        numbers = np.column_stack([self._factors(widths), errors])
        return Lever(lever, change, *numbers.ravel().tolist())

    def _factors(self, widths: Float64[np.ndarray, "kind row"]) -> Float64[np.ndarray, " kind"]:
        """New over present width, the mean over the rows; not a number where none has a width."""
        return np.array([mean(over(*pair)) for pair in zip(widths, self.present, strict=True)])


def epistemic(sources: Sources) -> dict[str, Row]:
    """The sources of the prediction's own variance: all but the noise."""
    return {name: part for name, part in sources.items() if name != "aleatoric"}


def shares(sources: Sources) -> dict[str, Row]:
    """The share of each source in each row's sum; not a number where there is no variance.

    Example:
        >>> shares({"aleatoric": np.array([1.0, 0.0]), "classical": np.array([3.0, 0.0])})
        {'aleatoric': array([0.25,  nan]), 'classical': array([0.75,  nan])}
    """
    total = np.sum(list(sources.values()), axis=0)
    return {name: over(part, total) for name, part in sources.items()}


def mean_shares(sources: Sources) -> dict[str, float]:
    """The mean of the rows' shares: of sums, a row with a huge variance would be all one sees."""
    return {name: mean(share) for name, share in shares(sources).items()}


def over(part: Row, whole: Row) -> Row:
    """Their quotient; not a number where there is no whole."""
    return np.divide(part, whole, out=np.full_like(whole, np.nan), where=whole > 0)


def mean(values: Row) -> float:
    """The mean of those that are numbers."""
    numbers = values[~np.isnan(values)]
    return float(numbers.mean()) if len(numbers) else np.nan
