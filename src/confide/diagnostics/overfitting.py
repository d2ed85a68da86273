"""Do the members follow the noise of their training rows? The paper's appendix as a check."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

from confide.checks import checked_targets
from confide.errors import NoSuchIntervalError

if TYPE_CHECKING:
    from confide.prediction import Prediction

Row = Float64[np.ndarray, " row"]

# A fit with p effective parameters on N rows follows p / N of its noise; with a third, squared
# residuals of new rows are (1 + 1/3) / (1 - 1/3), twice those of the training rows. So both signs
# have one threshold. `results/overfitting_check.md` has what they say of fits good and bad.
LARGEST_RATIO = 1 / 3
LARGEST_INFLATION = 2.0
# Held-out squares must exceed those of the training rows by this many standard errors.
BEYOND_CHANCE = 2.0
FOLLOWED = (
    "The members seem to follow the noise of their training rows, so confidence and prediction "
    "intervals may be too narrow."
)
LEARNT_BY_HEART = (
    "The members fit their training rows much better than rows that they have not seen, so "
    "confidence and prediction intervals may be too narrow."
)
WHAT_TO_DO = "Fewer epochs, a smaller model, a stronger penalty or more rows would help."
UNLESS = (
    "If the target has hardly any noise, this sign is misleading: check with held-out rows instead."
)


@dataclass(frozen=True)
class OverfittingCheck:
    """Whether members follow the noise of their training rows, and how that was seen.

    Attributes:
        ratio: mean over the training rows of classical over aleatoric variance, or None where the
            method does not estimate them.
        n_rows: the number of training rows.
        inflation: mean squared residual of held-out rows over that of the training rows, or None
            where none were given.
        inflation_se: its standard error.
    """

    ratio: float | None
    n_rows: int
    inflation: float | None = None
    inflation_se: float | None = None

    @property
    def effective_parameters(self) -> float | None:
        """How many rows' worth of noise the fit follows: the ratio times the number of rows."""
        return None if self.ratio is None else self.ratio * self.n_rows

    @property
    def fires(self) -> bool:
        """Whether to warn: held-out rows decide where there are some, else the ratio."""
        if self.inflation is None or self.inflation_se is None:
            return self._ratio_is_high
        surely_larger = self.inflation - BEYOND_CHANCE * self.inflation_se > 1
        return self.inflation >= LARGEST_INFLATION and surely_larger

    @property
    def reason(self) -> str:
        """What is seen and what to do, in words."""
        return self.in_words()

    def in_words(self, what_to_do: str = WHAT_TO_DO) -> str:
        """What is seen, and what to do if it is overfitting."""
        sentences = ["No sign of overfitting."]
        if self.fires:
            sentences = [FOLLOWED if self.inflation is None else LEARNT_BY_HEART]
        if self.inflation is not None:
            sentences.append(
                f"Squared residuals of held-out rows are {self.inflation:.2g} ± "
                f"{self.inflation_se:.1g} times those of the training rows."
            )
        if self.ratio is not None:
            sentences.append(
                f"At the {self.n_rows} training rows the variance due to finite data is on average "
                f"{self.ratio:.2g} times that of the noise."
            )
        if self.fires:
            sentences += [what_to_do, UNLESS] if self.inflation is None else [what_to_do]
        elif self._ratio_is_high:
            sentences.append("The last number says little if the target has hardly any noise.")
        return " ".join(sentences)

    def __str__(self) -> str:
        """In words."""
        return self.reason

    @property
    def _ratio_is_high(self) -> bool:
        return self.ratio is not None and self.ratio >= LARGEST_RATIO


def overfitting_check(
    training: "Prediction",
    y_train: ArrayLike | None = None,
    held_out: "Prediction | None" = None,
    y_held_out: ArrayLike | None = None,
) -> OverfittingCheck:
    r"""Whether members follow the noise of their training rows.

    Members that overfit follow the new noise when they are retrained on simulated targets, so at
    the training rows the classical variance is large against the noise (the paper's appendix,
    `overfittingappendix`). For a linear fit
    $\sum_i \sigma^2_{\mathrm{classical}}(x_i) / \sigma^2(x_i)$ is the number of parameters, so the
    mean ratio is the share of the noise that is followed.

    The ratio is misleading in two cases: if the target has hardly any noise, the ratio shows the
    members' own jitter; and members that know their rows by heart report no noise to simulate. So
    pass held-out rows if you have some: their squared residuals, against those of the training
    rows, then decide.

    Args:
        training: the prediction at the rows that the model was trained on.
        y_train: their targets; only needed with held-out rows.
        held_out: the prediction at rows that the model has not seen.
        y_held_out: their targets.

    Returns:
        An `OverfittingCheck`: `fires` says whether to worry, `reason` says why.

    Raises:
        NoSuchIntervalError: there are no held-out rows, and the method does not estimate the
            classical variance.
    """
    given = [value is not None for value in (y_train, held_out, y_held_out)]
    if any(given) and not all(given):
        raise ValueError(
            "Held-out rows need all of `y_train`, `held_out` and `y_held_out`. Pass the three, or "
            "none of them."
        )
    ratio = _ratio(training)
    if held_out is None:
        if ratio is None:
            raise NoSuchIntervalError(
                "Without held-out rows the overfitting check needs the variance that is due to "
                "finite data, but this method does not estimate it. Pass held-out rows, or use "
                "BootstrappedDeepEnsembleRegressor."
            )
        return OverfittingCheck(ratio, len(training))
    inside = _squares(training, y_train, "y_train")
    outside = _squares(held_out, y_held_out, "y_held_out")
    return OverfittingCheck(ratio, len(training), *_quotient_of_means(outside, inside))


def _ratio(training: "Prediction") -> float | None:
    classical, aleatoric = training.classical_variance, training.aleatoric_variance
    if classical is None or aleatoric is None:
        return None
    # Where nothing shifts nothing is followed; of no noise, infinitely much.
    with np.errstate(divide="ignore"):
        ratios = np.divide(classical, aleatoric, out=np.zeros_like(classical), where=classical > 0)
    return float(ratios.mean())


def _squares(prediction: "Prediction", y: ArrayLike | None, name: str) -> Row:
    targets = checked_targets(np.asarray(y), len(prediction))
    if len(targets) < 2:
        raise ValueError(f"`{name}` must have at least two rows, got {len(targets)}. Pass more.")
    return (targets - prediction.mean) ** 2


def _quotient_of_means(above: Row, below: Row) -> tuple[float, float]:
    """The quotient and its standard error, by the delta method."""
    top, bottom = above.mean(), below.mean()
    if bottom == 0:
        return (np.inf, 0.0) if top > 0 else (1.0, 0.0)
    errors = [np.std(values, ddof=1) / np.sqrt(len(values)) for values in (above, below)]
    quotient = top / bottom
    return float(quotient), float(np.hypot(errors[0] / bottom, quotient * errors[1] / bottom))
