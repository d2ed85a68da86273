"""A prediction's uncertainty in numbers and in words."""

import functools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from confide.diagnostics.levers import MEASURED, Decay, Forecast, Lever, epistemic
from confide.diagnostics.sources import WORDS, Sources, largest_words, mean_shares, shares

if TYPE_CHECKING:
    import pandas as pd

# Of the largest source: the lever that shows what to expect, and the sentence about it.
FORECASTS = {
    "aleatoric": (
        "floor",
        "Were the true function known, {intervals} would still have {width} of their width.",
    ),
    "classical": (
        "rows",
        "With twice as many rows, {intervals} would have about {width} of their width.",
    ),
    "optimisation": (
        "members",
        "With twice as many, {intervals} would have {width} of their width.",
    ),
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
    "After calibration they have room for systematic errors too, which more members do not shrink."
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
        largest = max(shares, key=lambda name: shares[name])
        if largest not in FORECASTS or (largest == "optimisation" and "classical" not in shares):
            return text
        lever, forecast = FORECASTS[largest]
        width = _percent(self._first(lever).prediction_width)
        return f"{text} {forecast.format(intervals=self._intervals('prediction'), width=width)}"

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
