"""A procedure that is fitted again, to other targets of the rows that it was fitted to."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from jaxtyping import Float, Float64, Int, PRNGKeyArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from confide.budget import of_other_fit
from confide.cores import one_blas_thread
from confide.engines import Engine, InProcess
from confide.learners import spread
from confide.methods import fit_batches, mean_of
from confide.progress import Progress
from confide.randomness import generator_from, split_on_host
from confide.uncertainty import Row

Table = Float[np.ndarray, "row feature"]
Rows = Int[np.ndarray, " seen"]
Targets = Float64[np.ndarray, "set seen"]


class Refit(Protocol):
    """What calibration on twins asks of a procedure: new fits, and their predictions."""

    def fit(
        self, key: PRNGKeyArray, rows: Rows, targets: Targets, progress: Progress | None = None
    ) -> Sequence[Any]:
        """Fits the procedure to some rows, once for each set of targets.

        Args:
            key: of all that is random here.
            rows: their numbers.
            targets: those of each set.
            progress: called with the work just done, of `work(len(targets))` in all.

        Returns:
            A fit for each set.
        """

    def mean(self, fitted: Any, rows: Rows) -> Row:
        """What such a fit predicts for some rows of the data."""

    def work(self, n_sets: int) -> int:
        """How much work so many fits are."""


@dataclass(frozen=True)
class MethodRefit(Refit):
    """One of confide's methods, fitted again for its mean alone with the settings of a fit.

    Attributes:
        method: one of `confide.methods`.
        fitted: its fit to the data.
        X: the rows of the data.
        sample_weight: their weights.
        engine: where members are trained.
    """

    method: Any
    fitted: Any
    X: Table
    sample_weight: Row | None = None
    engine: Engine = field(default_factory=InProcess)

    def fit(
        self, key: PRNGKeyArray, rows: Rows, targets: Targets, progress: Progress | None = None
    ) -> Sequence[Any]:
        """Fits it, many sets side by side; progress is counted in epochs of one member."""
        weight = None if self.sample_weight is None else self.sample_weight[rows]
        return list(
            fit_batches(
                mean_fits(self.method),
                split_on_host(key, len(targets)),
                self.X[rows],
                targets,
                self.fitted.settings,
                spread(self.fitted.learner, self.engine),
                sample_weight=weight,
                progress=progress,
            )
        )

    def mean(self, fitted: Any, rows: Rows) -> Row:
        """What such a fit predicts for some rows of the data."""
        return mean_of(self.method, fitted, self.X[rows])

    def work(self, n_sets: int) -> int:
        """Epochs of one member."""
        settings = self.fitted.settings
        return n_sets * int(settings.n_members * settings.max_epochs)


@dataclass(frozen=True)
class EstimatorRefit(Refit):
    """Any regressor with scikit-learn's `fit` and `predict`, cloned and fitted again.

    Attributes:
        estimator: unfitted.
        X: the rows of the data, as the estimator takes them.
        engine: where it is fitted.
    """

    estimator: Any
    X: Any
    engine: Engine = field(default_factory=InProcess)

    def fit(
        self, key: PRNGKeyArray, rows: Rows, targets: Targets, progress: Progress | None = None
    ) -> Sequence[Any]:
        """Fits it once for each set, with a seed of its own; progress is counted in fits."""
        X = _safe_indexing(self.X, rows)
        seeds = generator_from(key).integers(2**31, size=len(targets))
        unfitted = (seeded(self.estimator, int(seed)) for seed in seeds)
        jobs = zip(unfitted, targets, strict=True)
        fits = []
        for fitted in self.engine.map(_fitted, jobs, (X,), memory=of_other_fit(np.shape(X))):
            fits.append(fitted)
            if progress is not None:
                progress(1)
        return fits

    def mean(self, fitted: Any, rows: Rows) -> Row:
        """What such a fit predicts for some rows of the data."""
        return predicted(fitted, _safe_indexing(self.X, rows))

    def work(self, n_sets: int) -> int:
        """Fits."""
        return n_sets


def _fitted(one: tuple[Any, Row], X: Any) -> Any:
    """A fit. Jobs side by side have one thread for matrices each, so this process has one too."""
    estimator, y = one
    with one_blas_thread():
        return estimator.fit(X, y)


def seeded(estimator: Any, seed: int) -> Any:
    """An unfitted clone; whatever in it has a `random_state` has this one."""
    own = clone(estimator)
    names = (name for name in own.get_params() if name.split("__")[-1] == "random_state")
    return own.set_params(**dict.fromkeys(names, seed))


def predicted(fitted: Any, X: Any) -> Row:
    """What a regressor predicts, as one number for each row.

    Raises:
        ValueError: it predicts something else.
    """
    mean = np.asarray(fitted.predict(X), np.float64)
    mean = mean[:, 0] if mean.ndim == 2 and mean.shape[1] == 1 else mean
    if mean.ndim != 1 or not np.isfinite(mean).all():
        raise ValueError(
            f"{type(fitted).__name__}.predict must return one finite number for each row, got "
            f"an array of shape {mean.shape}"
            f"{'' if np.isfinite(mean).all() else ' with values that are not finite'}."
        )
    return mean


def mean_fits(method: Any) -> Any:
    """How a method is fitted for its mean alone; whole, if it has no shorter way.

    A `predict` without `mean` cannot ask a fit that lacks the rest.
    """
    return getattr(method, "MEAN_FITS", method) if hasattr(method.predict, "mean") else method
