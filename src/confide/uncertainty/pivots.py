r"""Intervals calibrated on simulated data, whose truth is known: prepivoting, row by row.

On data simulated from a known truth, fit k errs at a row by $e_k(x)$ and claims a standard error
$s_k(x)$. If the claim were right, the studentised errors $r_k = e_k / s_k$ would have the law that
the method assumes. Where networks are biased they are larger. So the row's own factor

$$c(x) = \Big(\tfrac1K \sum_k r_k(x)^2\Big)^{1/2}$$

takes the place of what the method assumes of their size, and the scores $|r_k| / c_{-k}$, with
$c_{-k}$ the factor from the other simulations, take that of their shape, pooled over rows: an
interval has the half-width $s(x)\,c(x)\,q$, with $q$ the scores' quantile. A factor of its own for
each row needs few simulations because the shape, which needs many, is shared.

If real data come from that truth, $r_0, r_1, \ldots, r_K$ are exchangeable, and so are the scores,
up to $c$ being made of K simulations instead of K - 1: averaged over rows the interval covers as it
says. If they do not, how well the truth of the simulations resembles theirs decides (R. Beran,
"Prepivoting to reduce level error of confidence sets", Biometrika 74 (1987); W.-Y. Loh,
"Calibrating confidence coefficients", JASA 82 (1987)).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64

from confide.uncertainty.score_law import Row, ScoreLaw, Scores

PerSimulation = Float64[np.ndarray, "simulation row"]


class PivotLaw(ScoreLaw):
    """What simulated data say of the unknown: the true function's value, or a new observation."""

    def _why_infinite(self, confidence_level: float) -> str:
        return (
            f"Intervals at {100 * confidence_level:g} %, calibrated on a simulated twin, are "
            f"infinite: this level takes more than the {len(self.sorted_scores)} simulated errors "
            "that there are. Calibrate with more simulations, or ask for a lower level."
        )


def pooled_scores(studentised: PerSimulation) -> Scores:
    """Each simulation's error in units of what the others say of its row, sorted.

    Example:
        >>> pooled_scores(np.array([[1.0], [-2.0], [2.0]])).tolist()  # 1 / 2, 2 / sqrt(5 / 2) twice
        [0.5, 1.2649110640673518, 1.2649110640673518]
    """
    n = len(studentised)
    squares = studentised**2
    others = np.sqrt((squares.sum(axis=0) - squares) / (n - 1))
    scores = np.zeros_like(squares)
    np.divide(np.abs(studentised), others, out=scores, where=others > 0)
    return np.sort(scores, axis=None)


@dataclass(frozen=True)
class SimulatedErrors:
    """How far simulated fits were off at some rows, by their truth and by their own account.

    Attributes:
        factor: root mean square of the studentised errors of the confidence intervals.
        factor_error: standard error of the factor, as a share of it: so many simulations tell it
            no better.
        prediction_factor: the same for a new observation.
        bias: mean error of the prediction over the simulations, in units of the target.
        spread: standard deviation of that error over the simulations.
        claimed: the standard error that the simulated fits claimed, its root mean square.
        n_simulations: how many there were.
    """

    factor: Row
    factor_error: Row
    prediction_factor: Row
    bias: Row
    spread: Row
    claimed: Row
    n_simulations: int

    @property
    def is_biased(self) -> Bool[np.ndarray, " row"]:
        """Whether the systematic error exceeds chance, and what the method itself claims.

        There the method's own interval stands beside the truth, and no narrow one is honest,
        however many members average chance away.
        """
        by_chance = self.spread**2 / self.n_simulations
        return self.bias**2 - by_chance > np.maximum(self.spread, self.claimed) ** 2
