"""Where the uncertainty comes from, and what would shrink it: the split as advice."""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float64
from scipy import stats

from confide.errors import is_number
from confide.uncertainty import Law

if TYPE_CHECKING:
    import pandas as pd

Row = Float64[np.ndarray, " row"]

WORDS = {
    "aleatoric": "noise",
    "classical": "finite data",
    "optimisation": "random training",
    "epistemic": "finite data with random training",
}
MORE_MEMBERS = (2, 4, np.inf)
MORE_ROWS = (2, 4)


class Decay(NamedTuple):
    r"""How the variances fall as rows are added: as $N^{-a}$, with the standard error of each a.

    The default is Experiment 2 of the paper as this project measured it, on 500 to 30,000 rows of
    one benchmark set (`results/README.md`). Theory has 1 for the classical variance of a fixed
    parametric model. `confide.laboratory.measured_decay` measures it on your own table.
    """

    classical: float = 0.63
    classical_se: float = 0.04
    optimisation: float = 0.27
    optimisation_se: float = 0.06


MEASURED = Decay()


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
class Explanation:
    """A prediction's uncertainty by source, and what each lever would do about it.

    Attributes:
        sources: for each source, its part of the total variance of each row (so random training
            is divided by the number of members).
        n_members: the number of members.
        confidence_level: the level of the intervals that the levers are about.
        decay: how the variances fall as rows are added.
        t_in_prediction: whether the method's prediction interval gives the epistemic part a t law
            (Algorithm 2), not a normal one (Deep Ensembles).
    """

    sources: Mapping[str, Row]
    n_members: int
    confidence_level: float = 0.95
    decay: Decay = MEASURED
    t_in_prediction: bool = True

    @property
    def shares(self) -> dict[str, float]:
        """The share of each source in the variance of a new observation; they sum to one.

        The mean over the rows of each row's share: of summed variances, a single row with a huge
        one would be all that is seen.
        """
        return _mean_shares(self.sources)

    @property
    def confidence_shares(self) -> dict[str, float]:
        """The share of each source in the variance of the prediction itself, likewise."""
        return _mean_shares(_epistemic(self.sources))

    @property
    def rows(self) -> "pd.DataFrame":
        """The share of each source for each row; they sum to one."""
        import pandas as pd

        return pd.DataFrame(_shares(self.sources))

    @property
    def levers(self) -> "pd.DataFrame":
        """What each change would do to the widths of both intervals: the columns of `Lever`."""
        import pandas as pd

        return pd.DataFrame(self._levers, columns=Lever._fields)

    @property
    def paragraphs(self) -> list[str]:
        """The advice in plain words: a new observation, the true function, how rows differ."""
        return [
            text for text in (self._of_observation(), self._of_function(), self._of_rows()) if text
        ]

    def __str__(self) -> str:
        """In words."""
        return "\n\n".join(self.paragraphs)

    def _repr_markdown_(self) -> str:
        return str(self)

    @functools.cached_property
    def _levers(self) -> list[Lever]:
        return [*self._more_members(), *self._more_rows(), *self._less_noise()]

    def _more_members(self) -> Iterator[Lever]:
        """Exact: the formula of the method with another number of members."""
        if self.n_members < 2:
            return
        for times in MORE_MEMBERS:
            n_members = times * self.n_members
            sources = dict(self.sources)
            if "classical" in sources:  # Eq. (2): only this part is divided by their number
                sources["optimisation"] = sources["optimisation"] / times
            elif "optimisation" in sources:  # Eq. (1): a spread with divisor M, not divided again
                sources["optimisation"] = (
                    sources["optimisation"] * (1 - 1 / n_members) / (1 - 1 / self.n_members)
                )
            number = f"{n_members}" if np.isfinite(times) else "unlimited"
            change = f"{number} members instead of {self.n_members}"
            yield self._lever("members", change, sources, n_members)

    def _more_rows(self) -> Iterator[Lever]:
        r"""By the decay: each part falls as $N^{-a}$."""
        if "classical" not in self.sources:
            return
        for times in MORE_ROWS:
            lever = self._lever("rows", f"{times} times as many rows", self._with_rows(times))
            errors = []
            for name in ("classical", "optimisation"):
                a, se = getattr(self.decay, name), getattr(self.decay, f"{name}_se")
                slow, fast = (
                    self._widths(self._with_rows(times, self.decay._replace(**{name: a + d})))
                    for d in (-se, se)
                )
                errors.append(self._factors(slow) - self._factors(fast))
            confidence_se, prediction_se = np.hypot(*errors) / 2
            yield lever._replace(
                confidence_width_se=float(confidence_se), prediction_width_se=float(prediction_se)
            )

    def _less_noise(self) -> Iterator[Lever]:
        half = {**self.sources, "aleatoric": self.sources["aleatoric"] / 2}
        yield self._lever("features", "features that explain half of the noise's variance", half)
        nothing = np.zeros_like(self.sources["aleatoric"])
        floor = dict.fromkeys(self.sources, nothing) | {"aleatoric": self.sources["aleatoric"]}
        yield self._lever("floor", "the true function known exactly: noise alone", floor)

    def _with_rows(self, times: float, decay: Decay | None = None) -> dict[str, Row]:
        decay = decay or self.decay
        return {
            **self.sources,
            "classical": self.sources["classical"] * times**-decay.classical,
            "optimisation": self.sources["optimisation"] * times**-decay.optimisation,
        }

    def _lever(
        self, lever: str, change: str, sources: Mapping[str, Row], n_members: float | None = None
    ) -> Lever:
        confidence, prediction = self._factors(self._widths(sources, n_members))
        return Lever(lever, change, float(confidence), 0.0, float(prediction), 0.0)

    def _factors(self, widths: Float64[np.ndarray, "kind row"]) -> Float64[np.ndarray, " kind"]:
        """New over present width, the mean over the rows; not a number where none has a width."""
        return np.array([_mean(_over(*each)) for each in zip(widths, self._present, strict=True)])

    @functools.cached_property
    def _present(self) -> Float64[np.ndarray, "kind row"]:
        return self._widths(self.sources)

    def _widths(
        self, sources: Mapping[str, Row], n_members: float | None = None
    ) -> Float64[np.ndarray, "kind row"]:
        """Half the width of the confidence and of the prediction interval, for each row."""
        n_members = self.n_members if n_members is None else n_members
        aleatoric = sources["aleatoric"]
        epistemic = sum(_epistemic(sources).values(), np.zeros_like(aleatoric))
        # One network's dropout masks, or as many members as you like, leave a normal law.
        exact = n_members == 1 or np.isinf(n_members)
        law_of_t = stats.norm if exact else stats.t(n_members - 1)
        confidence = law_of_t.ppf((1 + self.confidence_level) / 2) * np.sqrt(epistemic)
        if exact or not self.t_in_prediction:
            law = Law.normal(aleatoric, np.sqrt(aleatoric + epistemic))
        else:
            law = Law(aleatoric, np.sqrt(epistemic), np.sqrt(aleatoric), int(n_members) - 1)
        prediction = law.half_width(self.confidence_level)
        return np.stack([confidence, prediction])

    def _first(self, lever: str) -> Lever:
        """The lever of that name; of several, the smallest change."""
        return next(each for each in self._levers if each.lever == lever)

    def _of_observation(self) -> str:
        shares = self.shares
        largest = max(shares, key=lambda name: shares[name])
        most = "Most of it" if shares[largest] > 0.5 else "The largest part"
        start = f"A new observation: its variance about the prediction is {_listed(shares)}."
        intervals = f"{100 * self.confidence_level:g} % prediction intervals"
        if largest == "aleatoric":
            floor = self._first("floor").prediction_width
            return (
                f"{start} {most} is noise, which neither more rows nor more members remove: with "
                f"the true function known exactly, {intervals} would still be {_percent(floor)} of "
                "their width. Only features that explain the noise narrow them further."
            )
        if largest == "classical":
            rows = self._first("rows").prediction_width
            return (
                f"{start} {most} is finite data, which more rows shrink: with twice as many, "
                f"{intervals} would be about {_percent(rows)} of their width."
            )
        if largest == "optimisation" and "classical" in shares:
            members = self._first("members").prediction_width
            return (
                f"{start} {most} is random training, which more members shrink, at the cost of "
                f"computing time alone: with twice as many, {intervals} would be "
                f"{_percent(members)} of their width."
            )
        return start

    def _of_function(self) -> str:
        intervals = f"{100 * self.confidence_level:g} % confidence intervals"
        if "classical" not in self.sources:
            return (
                "The true function: this method does not estimate what finite data add to the "
                f"variance of the prediction, so what more rows would do to its {intervals} cannot "
                "be forecast. BootstrappedDeepEnsembleRegressor estimates it."
            )
        members, rows = self._first("members"), self._first("rows")
        better = "members" if members.confidence_width < rows.confidence_width else "rows"
        return (
            f"The true function: the prediction's own variance, with {self.n_members} members, is "
            f"{_listed(self.confidence_shares)}. With twice the members {intervals} would be "
            f"{_percent(members.confidence_width)} of their width; with twice the rows about "
            f"{_percent(rows.confidence_width)}, if finite data's part falls as N to the power "
            f"-{self.decay.classical:.2g} ± {self.decay.classical_se:.1g}. More {better} narrow "
            "them most."
        )

    def _of_rows(self) -> str:
        if np.sum(sum(self.sources.values()) > 0) < 2:
            return ""
        low, high = np.nanquantile(_shares(self.sources)["aleatoric"], [0.05, 0.95])
        return (
            f"Rows differ: noise makes up {_percent(low)} to {_percent(high)} of the variance in "
            "nine rows of ten."
        )


def checked_decay(decay: object) -> Decay:
    """The decay, if it is one; a number is the exponent of the classical variance."""
    if decay is None:
        return Decay()
    if isinstance(decay, Decay):
        numbers: tuple[object, ...] = decay
    else:
        numbers = (decay,)
    if not all(is_number(each) and 0 <= each < np.inf for each in numbers):
        raise ValueError(
            f"`decay` must be the exponent a of a variance that falls as N^-a, not negative, got "
            f"{decay!r}. Pass for example 0.5, or what `confide.laboratory.measured_decay` gives."
        )
    return decay if isinstance(decay, Decay) else Decay(float(decay), 0.0)  # type: ignore[arg-type]


def _epistemic(sources: Mapping[str, Row]) -> dict[str, Row]:
    return {name: part for name, part in sources.items() if name != "aleatoric"}


def _shares(sources: Mapping[str, Row]) -> dict[str, Row]:
    total = np.sum(list(sources.values()), axis=0)
    return {name: _over(part, total) for name, part in sources.items()}


def _mean_shares(sources: Mapping[str, Row]) -> dict[str, float]:
    return {name: _mean(share) for name, share in _shares(sources).items()}


def _over(part: Row, whole: Row) -> Row:
    """Their quotient; not a number where there is no whole."""
    return np.divide(part, whole, out=np.full_like(whole, np.nan), where=whole > 0)


def _mean(values: Row) -> float:
    """The mean of those that are numbers."""
    numbers = values[~np.isnan(values)]
    return float(numbers.mean()) if len(numbers) else np.nan


def _listed(shares: Mapping[str, float]) -> str:
    """Shares in words, the largest first."""
    *most, last = (
        f"{WORDS[name]} ({_percent(share)})"
        for name, share in sorted(shares.items(), key=lambda item: -item[1])
    )
    return f"{', '.join(most)} and {last}" if most else last


def _percent(share: float) -> str:
    """A share that is not nothing never reads as 0 %."""
    return f"{100 * share:.0f} %" if share == 0 or share >= 0.01 else "under 1 %"
