r"""Confidence intervals calibrated on simulated twins of the data, whose true function is known.

On a twin, the centre of a confidence interval errs by $e_k(x)$ in simulation k. Two things are read
off these errors: how large they are at a row, $v(x)$, the mean of $e_k(x)^2$ as a function of the
row; and how they are distributed, from the scores $|e_k(x)| / \sqrt{v(x)}$, pooled over rows that
the simulated fits have not seen. An interval has the half-width $\sqrt{v(x)}\,q$, with q the
scores' quantile at its level. A size of its own for each row needs few simulations because the
shape, which needs many, is shared.

If real data come from that twin, they are exchangeable with the simulated data sets, and the
interval covers about as often as its level says, averaged over rows (R. Beran, "Prepivoting to
reduce level error of confidence sets", Biometrika 74 (1987); W.-Y. Loh, "Calibrating confidence
coefficients", JASA 82 (1987)). If they come from another truth, it matters how well the twins
resemble it.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool

from confide.uncertainty.density_free import ScoreLaw
from confide.uncertainty.law import Origin, Row


class PivotLaw(ScoreLaw):
    """The law of the true function's value, by errors on twins."""

    origin: ClassVar[Origin] = "twins"

    def _why_infinite(self, confidence_level: float) -> str:
        return (
            f"Confidence intervals at {100 * confidence_level:g} %, calibrated on simulated twins, "
            f"are infinite: this level takes more than the {len(self.sorted_scores)} simulated "
            "errors that there are. Calibrate with more simulations, or ask for a lower level."
        )


@dataclass(frozen=True)
class TwinErrors:
    """What simulated twins of the data tell about some rows.

    Attributes:
        bias: by how much predictions are taken to be off on average, in units of the target. The
            confidence interval lies about the prediction less this.
        error: root mean squared error of the centre of the confidence interval.
        claimed: the standard error that the method itself claims.
    """

    bias: Row
    error: Row
    claimed: Row

    @property
    def factor(self) -> Row:
        """How many times as large as the claim the error is."""
        return self.error / np.maximum(self.claimed, np.finfo(np.float64).tiny)

    @property
    def is_biased(self) -> Bool[np.ndarray, " row"]:
        """Whether the bias exceeds twice the error of the centre: more than chance makes of it."""
        return np.abs(self.bias) > 2 * self.error
