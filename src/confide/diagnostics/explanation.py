"""A prediction's uncertainty in numbers and in words."""

import functools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from confide.diagnostics.levers import (
    MEASURED,
    Decay,
    Forecast,
    Lever,
    Sources,
    epistemic,
    mean_shares,
    shares,
)
from confide.errors import enumerated

if TYPE_CHECKING:
    import pandas as pd


class Source(NamedTuple):
    """A source of uncertainty in words.

    Attributes:
        name: in two or three words.
        meaning: what is behind it.
        advice: what would shrink it, after "Most of it is".
    """

    name: str
    meaning: str
    advice: str


# A model that has not learnt all that the features tell counts the rest as noise.
SOURCES = {
    "aleatoric": Source(
        "noise",
        "scatter of the target that these features do not explain, or that the model has not "
        "learnt",
        "noise, or what the model has not learnt. More members do not shrink it. More rows shrink "
        "only what can still be learnt. Features that explain more of the target would shrink it.",
    ),
    "classical": Source(
        "finite data",
        "another sample of the same kind of data would have given another model",
        "finite data, which more training rows would shrink.",
    ),
    "optimisation": Source(
        "random training",
        "training again with other random numbers would have given another model",
        "random training, which more members would shrink. They cost computing time only.",
    ),
    "epistemic": Source(
        "finite data with random training",
        "finite data and random training, which this method does not separate",
        "finite data with random training, which this method does not separate. More training rows "
        "would shrink it.",
    ),
}
# Eq. (1) has no division by the number of members.
SPREAD = (
    "random training. More members do not shrink it: this method counts the whole spread of its "
    "members, however many there are."
)
WORDS = {key: source.name for key, source in SOURCES.items()}
# The lever that shows what to expect of the largest source, and the sentence about it.
LEVERS = {"aleatoric": "floor", "classical": "rows", "optimisation": "members"}
FORECASTS = {
    "floor": "If it is noise alone, {intervals} would keep {width} of their width even with the "
    "true function known exactly.",
    "rows": "With twice as many rows, {intervals} would have about {width} of their width.",
    "members": "With twice as many, {intervals} would have {width} of their width.",
}
NO_FORECAST = (
    "The true function: this method does not estimate how much finite data add to the variance of "
    "the prediction, so the effect of more rows on its {intervals} cannot be forecast. "
    "BootstrappedDeepEnsembleRegressor estimates it."
)
OF_FUNCTION = (
    "The true function: the prediction's own variance, with {n_members} members, comes from "
    "{sources}. With twice the members, {intervals} would have {with_members} of their width, in "
    "part because more members show better how much they differ. With twice the rows, "
    "they would have about {with_rows}; this forecast depends on how fast variances fall as rows "
    "are added."
)
AFTER_CALIBRATION = (
    "After calibration they include systematic errors too, which more members do not shrink."
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

        return pd.DataFrame(self._forecast.levers, columns=Lever._fields)

    @property
    def paragraphs(self) -> list[str]:
        """The advice in plain words: a new observation, the true function, how rows differ."""
        paragraphs = (self._of_observation(), self._of_function(), self._of_rows())
        return [text for text in paragraphs if text]

    def __str__(self) -> str:
        """In words."""
        return "\n\n".join(self.paragraphs)

    def _repr_markdown_(self) -> str:
        return str(self)

    @functools.cached_property
    def _forecast(self) -> Forecast:
        every = max(1, len(self.sources["aleatoric"]) // MOST_ROWS)
        some = {name: part[::every] for name, part in self.sources.items()}
        how = (self.n_members, self.confidence_level, self.decay, self.t_in_prediction)
        return Forecast(some, *how)

    def _first(self, name: str) -> Lever:
        """The lever of that name; of several, the smallest change."""
        return next(lever for lever in self._forecast.levers if lever.lever == name)

    def _intervals(self, kind: str) -> str:
        before = " before calibration" if kind in self.calibrated else ""
        return f"{100 * self.confidence_level:g} % {kind} intervals{before}"

    def _of_observation(self) -> str:
        shares = self.shares
        text = (
            f"A new observation: its variance around the prediction comes from {_listed(shares)}. "
            f"{largest_words(shares)}"
        )
        lever = LEVERS.get(max(shares, key=lambda name: shares[name]))
        if lever is None or (lever == "members" and "classical" not in shares):
            return text  # not told apart, or a spread that more members do not shrink
        width = _percent(self._first(lever).prediction_width)
        intervals = self._intervals("prediction")
        return f"{text} {FORECASTS[lever].format(intervals=intervals, width=width)}"

    def _of_function(self) -> str:
        intervals = self._intervals("confidence")
        if "classical" not in self.sources:
            return NO_FORECAST.format(intervals=intervals)
        members, rows = self._first("members"), self._first("rows")
        text = OF_FUNCTION.format(
            n_members=self.n_members,
            sources=_listed(self.confidence_shares),
            intervals=intervals,
            with_members=_percent(members.confidence_width),
            with_rows=_percent(rows.confidence_width),
        )
        difference = members.confidence_width - rows.confidence_width
        if abs(difference) < np.hypot(members.confidence_width_se, rows.confidence_width_se):
            text += " The two are too close to tell which narrows them more."
        else:
            text += f" Twice the {'members' if difference < 0 else 'rows'} narrow them more."
        return f"{text} {AFTER_CALIBRATION}" if "confidence" in self.calibrated else text

    def _of_rows(self) -> str:
        if np.sum(sum(self.sources.values()) > 0) < 2:
            return ""
        ends = np.nanquantile(shares(self.sources)["aleatoric"], [0.05, 0.95])
        low, high = map(_percent, ends)
        if low == high:
            return ""
        return f"Rows differ: noise makes up {low} to {high} of the variance in nine rows of ten."


def largest_words(mean_shares: Mapping[str, float]) -> str:
    """Which source is the largest and what would shrink it, in words."""
    largest = max(mean_shares, key=lambda name: mean_shares[name])
    most = "Most of it" if mean_shares[largest] > 0.5 else "The largest part"
    is_spread = largest == "optimisation" and "classical" not in mean_shares
    return f"{most} is {SPREAD if is_spread else SOURCES[largest].advice}"


def _listed(shares: Mapping[str, float]) -> str:
    """Shares in words, the largest first."""
    ordered = sorted(shares.items(), key=lambda item: -item[1])
    return enumerated([f"{SOURCES[name].name} ({_percent(share)})" for name, share in ordered])


def _percent(share: float) -> str:
    """A share that is not nothing never reads as 0 %."""
    return f"{100 * share:.0f} %" if share == 0 or share >= 0.01 else "under 1 %"
