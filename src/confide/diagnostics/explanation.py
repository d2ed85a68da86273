"""A prediction's uncertainty in numbers and in words."""

import functools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from confide.diagnostics.decay import MEASURED, Decay
from confide.diagnostics.levers import Forecast, Lever
from confide.diagnostics.shares import Sources, epistemic, mean_shares, shares

if TYPE_CHECKING:
    import pandas as pd

WORDS = {
    "aleatoric": "noise",
    "classical": "finite data",
    "optimisation": "random training",
    "epistemic": "finite data with random training",
}
# What each source is where it is the largest, and what would shrink it. Networks that have not
# learnt all that the features tell count the rest as noise.
SHRINKS = {
    "aleatoric": "noise, or what the networks have not learnt. More members do not shrink it, and "
    "more rows only what can still be learnt; features that explain more of the target would.",
    "classical": "finite data, which more rows to train on would shrink.",
    "optimisation": "random training, which more members would shrink, at the cost of computing "
    "time alone.",
    "epistemic": "finite data with random training, which this method does not tell apart; more "
    "rows to train on would shrink it.",
}
# Eq. (1) has no division by the number of members.
SPREAD = (
    "random training. More members do not shrink it: this method takes the whole spread of its "
    "networks for it, however many they are."
)
# Rows that the levers are computed for: means over so many are right to the second digit.
MOST_ROWS = 1000


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
        calibrated: which kinds of the prediction's intervals are calibrated, "confidence" or
            "prediction"; forecasts are about those before that.
    """

    sources: Sources
    n_members: int
    confidence_level: float = 0.95
    decay: Decay = MEASURED
    t_in_prediction: bool = True
    calibrated: Collection[str] = ()

    @property
    def shares(self) -> dict[str, float]:
        """The share of each source in the variance of a new observation; they sum to one.

        The mean over the rows of each row's share: of summed variances, a single row with a huge
        one would be all that is seen.
        """
        return mean_shares(self.sources)

    @property
    def confidence_shares(self) -> dict[str, float]:
        """The share of each source in the variance of the prediction itself, likewise."""
        return mean_shares(epistemic(self.sources))

    @property
    def rows(self) -> "pd.DataFrame":
        """The share of each source for each row; they sum to one."""
        import pandas as pd

        return pd.DataFrame(shares(self.sources))

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
        return self._forecast.levers()

    @property
    def _forecast(self) -> Forecast:
        every = max(1, len(self.sources["aleatoric"]) // MOST_ROWS)
        some = {name: part[::every] for name, part in self.sources.items()}
        how = (self.n_members, self.confidence_level, self.decay, self.t_in_prediction)
        return Forecast(some, *how)

    def _first(self, lever: str) -> Lever:
        """The lever of that name; of several, the smallest change."""
        return next(each for each in self._levers if each.lever == lever)

    def _of_observation(self) -> str:
        shares = self.shares
        start = f"A new observation: its variance about the prediction is {_listed(shares)}."
        return f"{start} {largest_words(shares)} {self._forecast_words(shares)}".rstrip()

    def _forecast_words(self, shares: Mapping[str, float]) -> str:
        """What the lever of the largest part would do to prediction intervals."""
        intervals = self._intervals("prediction")
        match max(shares, key=lambda name: shares[name]):
            case "aleatoric":
                floor = _percent(self._first("floor").prediction_width)
                return (
                    f"If it is noise alone, then even with the true function known exactly "
                    f"{intervals} would still be {floor} of their width."
                )
            case "classical":
                rows = _percent(self._first("rows").prediction_width)
                return f"With twice as many rows, {intervals} would be about {rows} of their width."
            case "optimisation" if "classical" in shares:
                members = _percent(self._first("members").prediction_width)
                return f"With twice as many, {intervals} would be {members} of their width."
        return ""

    def _intervals(self, kind: str) -> str:
        before = " before calibration" if kind in self.calibrated else ""
        return f"{100 * self.confidence_level:g} % {kind} intervals{before}"

    def _of_function(self) -> str:
        intervals = self._intervals("confidence")
        if "classical" not in self.sources:
            return (
                "The true function: this method does not estimate what finite data add to the "
                f"variance of the prediction, so what more rows would do to its {intervals} cannot "
                "be forecast. BootstrappedDeepEnsembleRegressor estimates it."
            )
        members, rows = self._first("members"), self._first("rows")
        return (
            f"The true function: the prediction's own variance, with {self.n_members} members, is "
            f"{_listed(self.confidence_shares)}. With twice the members {intervals} would be "
            f"{_percent(members.confidence_width)} of their width, in part because more members "
            f"show better how far they differ; with twice the rows about "
            f"{_percent(rows.confidence_width)}, a forecast that rests on how fast variances fall "
            f"as rows are added. {_better(members, rows)}{self._of_bias()}"
        )

    def _of_bias(self) -> str:
        if "confidence" not in self.calibrated:
            return ""
        return (
            " After calibration they have room for systematic errors too, which more members do "
            "not shrink."
        )

    def _of_rows(self) -> str:
        if np.sum(sum(self.sources.values()) > 0) < 2:
            return ""
        ends = np.nanquantile(shares(self.sources)["aleatoric"], [0.05, 0.95])
        low, high = (_percent(end) for end in ends)
        if low == high:
            return ""
        return f"Rows differ: noise makes up {low} to {high} of the variance in nine rows of ten."


def largest_words(shares: Mapping[str, float]) -> str:
    """Which source is the largest and what would shrink it, in words."""
    largest = max(shares, key=lambda name: shares[name])
    most = "Most of it" if shares[largest] > 0.5 else "The largest part"
    if largest == "optimisation" and "classical" not in shares:
        return f"{most} is {SPREAD}"
    return f"{most} is {SHRINKS[largest]}"


def _better(members: Lever, rows: Lever) -> str:
    """Which of the two narrows confidence intervals more, if that can be told."""
    difference = members.confidence_width - rows.confidence_width
    if abs(difference) < np.hypot(members.confidence_width_se, rows.confidence_width_se):
        return "The two are too close to tell which narrows them more."
    return f"Twice the {'members' if difference < 0 else 'rows'} narrow them more."


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
