"""How members are asked: their numbers for each row, in blocks, and the prediction made of them."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float, Float32, Float64

from confide.learners import Learner
from confide.methods.noise import Noise
from confide.prediction import Prediction
from confide.standardise import Standardiser
from confide.uncertainty import disagreement_variance, optimisation_variance

# Rows answered at once: members x rows stays a few megabytes however long the table is.
ROWS_PER_BLOCK = 65_536
# Members x rows: some hundred megabytes however many members a stranger's small file has.
ANSWERS_PER_BLOCK = 2**24
# Settings that multiply the answers for a row.
COUNTS = ("n_members", "n_retrains", "n_passes")
# Variance between members as of a sample (divisor M - 1) or of a population (divisor M).
SPREADS = {"sample": optimisation_variance, "population": disagreement_variance}

Table: TypeAlias = Float[np.ndarray, "row feature"]
Row: TypeAlias = Float64[np.ndarray, " row"]


@dataclass(frozen=True)
class FittedMembers:
    """Trained members, with what it takes to ask them.

    Attributes:
        settings: of the method.
        learner: what was trained.
        standardiser: of inputs and target.
        members: the trained members, the learner's own state.
        noise: where the learner predicts a mean alone, in standardised units; None where it
            predicts the variance too.
    """

    settings: Any
    learner: Learner[Any]
    standardiser: Standardiser
    members: Any
    noise: Noise | None


@dataclass(frozen=True)
class Predictor:
    """A method's `predict`: the numbers of each row, computed in blocks, then a `Prediction`.

    The mean alone comes from the same code: it is the first of the numbers, and the others are
    not computed.

    Attributes:
        numbers: yields the mean of some rows and then their other numbers, in units of the
            standardised target, where a large mean costs no digits.
        prediction: makes the prediction from the fit and these numbers, in units of y.
        power: of the other numbers' unit: 2 for variances.
        rows_per_block: rows that are asked for at once, or fewer where there are many members.
    """

    numbers: Callable[[Any, Table], Iterator[Row]]
    prediction: Callable[..., Prediction]
    power: int = 2
    rows_per_block: int = ROWS_PER_BLOCK

    def __call__(self, fitted: Any, X: Table) -> Prediction:
        """The prediction for each row."""
        mean, *others = self._in_units_of_y(fitted, X, None)
        return self.prediction(fitted, mean, *others)

    def mean(self, fitted: Any, X: Table) -> Row:
        """The mean of the same prediction, without what it does not need."""
        return self._in_units_of_y(fitted, X, 1)[0]

    def _in_units_of_y(self, fitted: Any, X: Table, n_numbers: int | None) -> list[Row]:
        n_answers = math.prod(getattr(fitted.settings, name, 1) for name in COUNTS)
        size = max(1, min(self.rows_per_block, ANSWERS_PER_BLOCK // n_answers))
        blocks = (X[start : start + size] for start in range(0, max(len(X), 1), size))
        asked = [np.stack([*islice(self.numbers(fitted, rows), n_numbers)]) for rows in blocks]
        mean, *others = np.concatenate(asked, axis=1)
        y_mean, y_scale = fitted.standardiser.y_mean, fitted.standardiser.y_scale
        return [y_mean + y_scale * mean, *(number * y_scale**self.power for number in others)]


def mean_of(method: Any, fitted: Any, X: Table) -> Row:
    """The mean that a method predicts, without the variances where they would take extra time."""
    predict = method.predict
    return predict.mean(fitted, X) if hasattr(predict, "mean") else predict(fitted, X).mean


@dataclass(frozen=True)
class Answers:
    """What each member predicts for some rows, in standardised units."""

    fitted: FittedMembers
    inputs: Float32[np.ndarray, "row feature"]
    outputs: Float[np.ndarray, "member row output"]

    @classmethod
    def of(cls, fitted: FittedMembers, X: Table) -> "Answers":
        """Asks every member."""
        inputs = fitted.standardiser.inputs(X)
        return cls(fitted, inputs, fitted.learner.predict(fitted.members, inputs))

    @property
    def means(self) -> Float[np.ndarray, "member row"]:
        """The means, kept within reach of the training targets."""
        means = self.fitted.learner.likelihood.mean(self.outputs)
        return self.fitted.standardiser.within_reach(means)

    @property
    def variances(self) -> Float[np.ndarray, "member row"]:
        """The variances of the noise: predicted, or learnt beside the members."""
        if self.fitted.noise is None:
            return self.fitted.learner.likelihood.variance(self.outputs)
        return np.broadcast_to(self.fitted.noise.variance(self.inputs), self.outputs.shape[:2])
