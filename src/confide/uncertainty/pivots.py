r"""Intervals calibrated on simulated data, whose truth is known: prepivoting, row by row.

On data simulated from a known truth, fit k errs at a row by $e_k(x)$ and claims a standard error
$s_k(x)$. If the claim were right, the studentised errors $r_k = e_k / s_k$ would have the law that
the method assumes. Where networks are biased they are larger. So the row's own factor

$$c(x) = \Big(\tfrac1K \sum_k r_k(x)^2\Big)^{1/2}$$

takes the place of what the method assumes of their size, and the scores $|r_k| / c_{-k}$, with
$c_{-k}$ the factor from the other simulations, take that of their shape, pooled over rows: an
interval has the half-width $s(x)\,c(x)\,q$, with $q$ the scores' quantile. A factor of its own for
each row needs few simulations because the shape, which needs many, is shared.

Part of the error may be taken away rather than covered: with a shift $w$ the interval's centre is
the prediction less $w$ times the bias $\bar e(x)$ that the simulations show, and their own errors
are $e_k - w\,\bar e_{-k}$, each with the bias that the others show.

If real data come from that truth, they are exchangeable with the simulated data sets, and a row's
$r_0$ with its $r_1, \ldots, r_K$. Scores are pooled over rows of the same data sets, though, so K
data sets are behind them however many rows there are: averaged over rows the interval covers about
as it says at levels up to K / (K + 1), 95 % with twenty; far beyond, only as far as errors of
different rows are independent. With several truths in turn, or a shift, there is no such argument:
what they do was measured (results/honest_confidence.md). If data come from another truth, how well
that of the simulations resembles theirs decides (R. Beran, "Prepivoting to reduce level error of
confidence sets", Biometrika 74 (1987); W.-Y. Loh, "Calibrating confidence coefficients", JASA 82
(1987)).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64

from confide.uncertainty.density_free import ScoreLaw, Scores
from confide.uncertainty.law import Origin, Row

PerSimulation = Float64[np.ndarray, "simulation row"]
TINY = np.finfo(np.float64).tiny


class PivotLaw(ScoreLaw):
    """The law of the true function's value, or of a new observation, by errors on twins."""

    origin: ClassVar[Origin] = "twins"

    def _why_infinite(self, confidence_level: float) -> str:
        return (
            f"Intervals at {100 * confidence_level:g} %, calibrated on a simulated twin, are "
            f"infinite: this level takes more than the {len(self.sorted_scores)} simulated errors "
            "that there are. Calibrate with more simulations, or ask for a lower level."
        )


def pooled_scores(studentised: PerSimulation, expected: PerSimulation | None = None) -> Scores:
    """Each simulation's error in units of what the others say of its row, sorted.

    Args:
        studentised: errors in units of what the fits claim.
        expected: expectations of their squares, where parts of the errors were drawn at random;
            None for the squares themselves.

    Example:
        >>> pooled_scores(np.array([[1.0], [-2.0], [2.0]])).tolist()  # 1 / 2, 2 / sqrt(5 / 2) twice
        [0.5, 1.2649110640673518, 1.2649110640673518]
    """
    squares = studentised**2 if expected is None else expected
    others = np.sqrt((squares.sum(axis=0) - squares) / (len(squares) - 1))
    scores = np.zeros_like(squares)
    np.divide(np.abs(studentised), others, out=scores, where=others > 0)
    return np.sort(scores, axis=None)


@dataclass(frozen=True)
class TwinErrors:
    """How far fits to simulated data were off at some rows, and how far they claimed to be.

    Attributes:
        factor: root mean square of the studentised errors of the confidence intervals.
        factor_error: standard error of the factor, as a share of it; more simulations reduce it.
        prediction_factor: the same for a new observation.
        bias: mean error of the prediction over the simulations, in units of the target.
        systematic: size of the bias within each truth, its root mean square over the truths.
        spread: standard deviation of the error over the simulations of one truth.
        claimed: the standard error that the simulated fits claimed, its root mean square.
        n_simulations: how many there were.
    """

    factor: Row
    factor_error: Row
    prediction_factor: Row
    bias: Row
    systematic: Row
    spread: Row
    claimed: Row
    n_simulations: int

    @property
    def is_biased(self) -> Bool[np.ndarray, " row"]:
        """Whether the systematic error exceeds both chance and what the method itself claims.

        There the method's own interval misses the truth, and no narrow interval is honest, however
        many members average chance away.
        """
        return self.systematic > np.maximum(self.spread, self.claimed)


@dataclass(frozen=True)
class Simulated:
    """What fits to simulated data predict at some rows, beside the truth there.

    Attributes:
        errors: prediction less true function.
        claimed: the fits' standard errors of their predictions, above zero.
        claimed_total: their standard deviations of a new observation.
        noise: the true standard deviation of the noise.
        n_truths: how many truths the simulations have in turn.
    """

    errors: PerSimulation
    claimed: PerSimulation
    claimed_total: PerSimulation
    noise: PerSimulation
    n_truths: int = 1

    def confidence_scores(self, shift: float = 0.0) -> Scores:
        """Of the errors for the true function."""
        return pooled_scores(self._shifted(shift) / self.claimed)

    def prediction_scores(self, drawn: PerSimulation, shift: float = 0.0) -> Scores:
        """Of the errors for new observations, whose noise is drawn in standard deviations."""
        errors = self._shifted(shift)
        return pooled_scores(
            (errors - self.noise * drawn) / self.claimed_total, self._expected_squares(errors)
        )

    def summary(self, shift: float = 0.0) -> TwinErrors:
        """What they say of each row."""
        n, errors = len(self.errors), self._shifted(shift)
        squares = (errors / self.claimed) ** 2
        mean_square = squares.mean(axis=0)
        error = squares.std(axis=0, ddof=1) / np.sqrt(n)  # of the mean square; of its root half
        by_truth = [self.errors[i :: self.n_truths] for i in range(self.n_truths)]
        chance = np.mean([own.var(axis=0, ddof=1) for own in by_truth], axis=0)
        bias = np.mean([own.mean(axis=0) ** 2 for own in by_truth], axis=0)
        return TwinErrors(
            factor=np.sqrt(mean_square),
            factor_error=error / np.maximum(2 * mean_square, TINY),
            prediction_factor=np.sqrt(self._expected_squares(errors).mean(axis=0)),
            bias=self.errors.mean(axis=0),
            # Chance moves a mean of n / n_truths errors as well.
            systematic=np.sqrt(np.maximum(bias - chance * self.n_truths / n, 0.0)),
            spread=np.sqrt(chance),
            claimed=np.sqrt((self.claimed**2).mean(axis=0)),
            n_simulations=n,
        )

    def _shifted(self, shift: float) -> PerSimulation:
        """Errors of centres that are moved by a share of the bias which the others show."""
        others = (self.errors.sum(axis=0) - self.errors) / (len(self.errors) - 1)
        return self.errors - shift * others

    def _expected_squares(self, errors: PerSimulation) -> PerSimulation:
        """Of studentised errors for a new observation, over its noise."""
        return (errors**2 + self.noise**2) / self.claimed_total**2
