"""What each lever would do to the widths of both intervals."""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64
from scipy import stats

from confide.diagnostics.decay import Decay
from confide.diagnostics.shares import Row, Sources, epistemic, mean, over
from confide.uncertainty import TPlusNormalLaw

MORE_MEMBERS = (2, 4, np.inf)
MORE_ROWS = (2, 4)


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
    """A prediction's variances by source, and the widths they would make after a change.

    The attributes are those of `Explanation`.
    """

    sources: Sources
    n_members: int
    confidence_level: float
    decay: Decay
    t_in_prediction: bool

    def levers(self) -> list[Lever]:
        """All levers that the method's account can tell of."""
        return [*self.more_members(), *self.more_rows(), *self.less_noise()]

    def more_members(self) -> Iterator[Lever]:
        """Exact: the method's own formula with another number of members."""
        if self.n_members < 2:
            return
        for times in MORE_MEMBERS:
            n_members = times * self.n_members
            sources = dict(self.sources)
            if "classical" in sources:  # Eq. (2): only this part is divided by their number
                sources["optimisation"] = sources["optimisation"] / times
            elif "optimisation" in sources:  # Eq. (1): a spread with divisor M, not divided again
                grown = (1 - 1 / n_members) / (1 - 1 / self.n_members)
                sources["optimisation"] = sources["optimisation"] * grown
            number = f"{n_members}" if np.isfinite(times) else "unlimited"
            change = f"{number} members instead of {self.n_members}"
            yield self._lever("members", change, self.widths(sources, n_members))

    def more_rows(self) -> Iterator[Lever]:
        r"""By the decay: each part falls as $N^{-a}$."""
        if "classical" not in self.sources:
            return
        for times in MORE_ROWS:
            change = f"{times} times as many rows"
            lever = self._lever("rows", change, self._with_rows(times, self.decay))
            confidence_se, prediction_se = self._error_with_rows(times)
            yield lever._replace(
                confidence_width_se=float(confidence_se), prediction_width_se=float(prediction_se)
            )

    def less_noise(self) -> Iterator[Lever]:
        """What features that explain some noise would do, and all that is left without them."""
        noise = self.sources["aleatoric"]
        half = self.widths({**self.sources, "aleatoric": noise / 2})
        yield self._lever("features", "features that explain half of the noise's variance", half)
        floor = self.widths({"aleatoric": noise})
        yield self._lever("floor", "the true function known exactly: noise alone", floor)

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
        own: Row = sum(epistemic(sources).values(), np.zeros_like(noise))
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

    def _with_rows(self, times: float, decay: Decay) -> Float64[np.ndarray, "kind row"]:
        fallen = {
            name: self.sources[name] * times ** -getattr(decay, name)
            for name in ("classical", "optimisation")
        }
        return self.widths({**self.sources, **fallen})

    def _error_with_rows(self, times: float) -> Float64[np.ndarray, " kind"]:
        """Half of what an error of each exponent, up and down, does; both as squares."""
        errors = []
        for name in ("classical", "optimisation"):
            a, error = getattr(self.decay, name), getattr(self.decay, f"{name}_se")
            slow, fast = (
                self._factors(self._with_rows(times, self.decay._replace(**{name: exponent})))
                for exponent in (a - error, a + error)
            )
            errors.append((slow - fast) / 2)
        return np.hypot(*errors)

    def _lever(self, lever: str, change: str, widths: Float64[np.ndarray, "kind row"]) -> Lever:
        confidence, prediction = self._factors(widths)
        return Lever(lever, change, float(confidence), 0.0, float(prediction), 0.0)

    def _factors(self, widths: Float64[np.ndarray, "kind row"]) -> Float64[np.ndarray, " kind"]:
        """New over present width, the mean over the rows; not a number where none has a width."""
        return np.array([mean(over(*each)) for each in zip(widths, self.present, strict=True)])
