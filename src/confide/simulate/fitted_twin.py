"""A truth that can be kept in a file: a function and a variance fitted to data, and its noise."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from confide.arrays import Arrays, checked_array, part
from confide.simulate.functions import FUNCTIONS, Function, Row, Table, Trees
from confide.simulate.noise import GAUSSIAN, NoiseLaw, Residuals
from confide.simulate.truth import Truth

N_TREES = 50


@dataclass(frozen=True)
class FittedTwin(Truth):
    """A twin of a data set.

    Attributes:
        kind: which candidate its function is.
        function: the true function.
        variance: the true variance of the noise.
    """

    kind: str
    function: Function
    variance: Trees

    @classmethod
    def from_residuals(
        cls, kind: str, function: Function, X: Table, residuals: Row, seed: int
    ) -> "FittedTwin":
        """A function, with noise like the residuals of rows that a fit had not seen.

        Residuals of rows that were fitted are too small, and so would be the noise. A forest with
        large leaves smooths the squared ones; what they are beyond their size is drawn from them.
        """
        forest = RandomForestRegressor(
            N_TREES,
            min_samples_leaf=max(10, len(X) // 30),
            max_features=0.5 if X.shape[1] > 2 else 1.0,
            random_state=seed,
        ).fit(X, residuals**2)
        variance = Trees.from_sklearn(forest.estimators_, weight=1 / N_TREES)
        std = np.sqrt(variance(X))
        standardised = np.divide(residuals, std, out=np.zeros_like(residuals), where=std > 0)
        return cls(kind, function, variance, noise=Residuals.of(standardised))

    def mean(self, X: Table) -> Row:
        """The true function."""
        return self.function(X)

    def std(self, X: Table) -> Row:
        """The true standard deviation of the noise."""
        return np.sqrt(np.maximum(self.variance(X), 0.0))

    def to_file(self) -> tuple[dict[str, Any], Arrays]:
        """Its JSON and its arrays."""
        arrays = {f"mean.{name}": array for name, array in self.function.to_arrays().items()}
        arrays |= {f"variance.{name}": array for name, array in self.variance.to_arrays().items()}
        if isinstance(self.noise, Residuals):
            arrays["noise"] = self.noise.sorted_values
        return {"kind": self.kind, "function": self.function.name}, arrays

    @classmethod
    def from_file(cls, said: Any, arrays: Arrays, n_features: int) -> "FittedTwin":
        """From a model file's parts, checked."""
        noise: NoiseLaw = GAUSSIAN
        if "noise" in arrays:
            values = checked_array(arrays, "noise", arrays["noise"].shape[:1], np.float64)
            noise = Residuals(values)
        return cls(
            str(said["kind"]),
            FUNCTIONS[str(said["function"])].from_arrays(part(arrays, "mean"), n_features),
            Trees.from_arrays(part(arrays, "variance"), n_features),
            noise=noise,
        )
