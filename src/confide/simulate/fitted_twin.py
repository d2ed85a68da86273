"""A twin of a data set: a function and a variance fitted to it, and the noise's law."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from jaxtyping import Float64

from confide.simulate.smooth import Kernels
from confide.simulate.truth import Truth
from confide.standardise import Standardiser
from confide.trees import Row, Table, Trees

Function: TypeAlias = Trees | Kernels
# Twins' old names; truths of the same names are another thing.
OLD_KINDS = {"random_forest": "forest", "gradient_boosting": "boosting"}


@dataclass(frozen=True)
class FittedTwin(Truth):
    """A twin of a data set.

    Trees cut at numbers in single precision, and stop at a fixed impurity: so twins are fitted in
    units in which every feature, and the target, have mean 0 and standard deviation 1.

    Attributes:
        kind: the kind of its function: "forest", "boosting" or "smooth".
        standardiser: converts to and from those units.
        function: the true function, in those units.
        variance: the true variance of the noise, in those units.
    """

    kind: str
    standardiser: Standardiser
    function: Function
    variance: Trees

    def mean(self, X: Table) -> Row:
        """The true function."""
        own = self.standardiser
        return own.y_mean + own.y_scale * self.function(standardised_inputs(own, X))

    def std(self, X: Table) -> Row:
        """The true standard deviation of the noise."""
        own = self.standardiser
        variance = self.variance(standardised_inputs(own, X))
        return own.y_scale * np.sqrt(np.maximum(variance, 0.0))


def standardised_inputs(standardiser: Standardiser, X: Table) -> Float64[np.ndarray, "row feature"]:
    """In double precision: the networks' own are rounded, and columns may lie far from zero."""
    return np.asarray((X - standardiser.x_mean) / standardiser.x_scale)
