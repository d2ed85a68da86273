"""Any scikit-learn regressor with a confidence interval for the true function."""

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from confide.calibration import Calibration
from confide.diagnostics import Novelty
from confide.encoding import Encoder, index_of
from confide.engines import Engine, Joblib, named_engine
from confide.estimators.intervals import IntervalMixin
from confide.estimators.long_tables import is_source
from confide.estimators.several import (
    Predictions,
    fitted_to_each,
    of_each_target,
    several_columns,
    stacked,
)
from confide.estimators.validation import checked_training_data, checked_X
from confide.prediction import Prediction
from confide.randomness import generator_from, key_from, split_on_host
from confide.standardise import Standardiser
from confide.trees import Trees, variance_of_residuals
from confide.uncertainty import Row, TPlusNormalLaw

if TYPE_CHECKING:
    from confide.calibration import ConfidenceCalibration
    from confide.simulate import Truth

# Rows are left out in so many parts, to see how far new observations are from predictions.
N_FOLDS = 5
# However large the error of the fit seems to be, some of what residuals show is noise.
LEAST_NOISE = 0.1


class ConfidenceRegressor(IntervalMixin, MetaEstimatorMixin, RegressorMixin, BaseEstimator):
    """Gives any scikit-learn regressor a confidence interval and a prediction interval.

    The regressor is cloned and fitted to the data, which makes its predictions. For the confidence
    intervals it is fitted again: once to a known function like the true one, to see its bias, and
    twice for each of `n_simulations` data sets that are simulated from twins of the data. See
    `BootstrappedDeepEnsembleRegressor.calibrate_confidence` for what this promises. For the
    prediction intervals it is fitted to four fifths of the rows in turn, and predicts the others.

    So a fit takes 2 `n_simulations` + 7 fits of the regressor. They run in parallel with joblib:
    set `n_jobs`, or choose a backend with `joblib.parallel_config`. All but the first have one
    thread for products of matrices, wherever they run: last bits would differ otherwise. Wherever
    the regressor has a `random_state`, each fit has another one. To keep a fitted model, pickle it
    with joblib.

    Args:
        estimator: any regressor, such as `HistGradientBoostingRegressor()`, or a pipeline that ends
            with one. Whatever it takes as X may be passed to `fit`.
        twin: what to simulate from, see `calibrate_confidence`.
        n_simulations: simulated data sets, at least 10; None for 20, or 10 with more than 5,000
            rows.
        shift: share of the estimated bias that is taken off the centres of confidence intervals,
            see `calibrate_confidence`.
        n_jobs: jobs of joblib, where there is no `engine`.
        engine: where the regressor is fitted again, such as "ray" for a Ray on this machine or
            `confide.engines.RayCluster("auto")` for a cluster. Several targets are fitted there
            side by side. Results do not depend on it.
        verbose: show progress bars.
        random_state: seed; with the same seed, the same numbers.

    Attributes:
        estimator_: the regressor, fitted to the data.
        confidence_calibration_: how its confidence intervals are made; `print` its `summary`.
        calibration_: how its prediction intervals are made.
        n_features_in_: number of features seen in `fit`.
        feature_names_in_: their names, where X had names.

    Example:
        >>> import numpy as np
        >>> from sklearn.linear_model import LinearRegression
        >>> x = np.linspace(0, 1, 100)[:, None]
        >>> y = x[:, 0] + np.random.default_rng(0).normal(0, 0.1, 100)
        >>> model = ConfidenceRegressor(LinearRegression(), random_state=0).fit(x, y)
        >>> y_pred, interval = model.predict_interval(x, confidence_level=0.9, kind="confidence")
        >>> interval.shape
        (100, 2)
    """

    encoder_: Encoder | None = None

    def __init__(
        self,
        estimator: Any,
        *,
        twin: "str | Truth" = "auto",
        n_simulations: int | None = None,
        shift: "float | Literal['auto']" = "auto",
        n_jobs: int | None = None,
        engine: "str | Engine | None" = None,
        verbose: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.twin = twin
        self.n_simulations = n_simulations
        self.shift = shift
        self.n_jobs = n_jobs
        self.engine = engine
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fits the regressor, and then again as often as its intervals need.

        Args:
            X: what the regressor takes: an array of numbers, or a table of pandas, polars or
                pyarrow. confide encodes a copy for its twins.
            y: one number for each row, or a table or array with a column for each of several
                targets. Each target gets a model of its own; `targets_` has them by name.

        Returns:
            The estimator itself.
        """
        if is_source(X):
            raise TypeError(
                "ConfidenceRegressor needs a table or an array in memory as X, because the "
                f"regressor inside takes no files and no datasets, got {X!r}. Read them first, "
                "such as with pyarrow.dataset.dataset('folder').to_table(), or fit "
                "BootstrappedDeepEnsembleRegressor, which takes both."
            )
        if (columns := several_columns(self, X, y)) is not None:
            return self.adopt_targets(fitted_to_each(self, X, columns))
        # Here, because forests take long to load.
        from confide.calibration import ConfidenceCalibration, EstimatorRefit, seeded

        checked = copy(self)
        data = checked_training_data(checked, X, y)
        of_fit, of_folds, of_twins = split_on_host(key_from(self.random_state), 3)
        engine = self._engine
        refit = EstimatorRefit(self.estimator, X, engine)
        seed = int(generator_from(of_fit).integers(2**31))
        fitted = seeded(self.estimator, seed).fit(X, data.y)
        matrix = np.asarray(data.X, np.float64)
        (units,) = Standardiser.for_each(matrix, data.y[None])
        means = refit.mean(fitted, np.arange(len(data.y)))
        with engine.connected():
            calibration = ConfidenceCalibration.on_twins(
                of_twins,
                refit,
                lambda rows: _unclaimed(means[rows], units.y_scale),
                matrix,
                data.y,
                twin=self.twin,
                n_simulations=self.n_simulations,
                shift=self.shift,
                verbose=bool(self.verbose),
            )
            checked.targets_ = None
            checked.estimator_, checked.confidence_calibration_ = fitted, calibration
            checked.units_, checked.novelty_ = units, Novelty.of_training(matrix, units)
            checked._learn_noise(of_folds, refit, matrix, data.y)  # noqa: SLF001
        self.__dict__.update(checked.__dict__)  # a fit that fails leaves the former one whole
        return self

    @property
    def _engine(self) -> Engine:
        """Where the regressor is fitted again."""
        return Joblib(self.n_jobs) if self.engine is None else named_engine(self.engine)

    def _learn_noise(self, key: Any, refit: Any, X: Any, y: Row) -> None:
        """From residuals of rows that were left out: the noise, and the law of new observations."""
        from sklearn.model_selection import KFold

        predicted, seed = np.empty(len(y)), int(generator_from(key).integers(2**31))
        folds = KFold(N_FOLDS, shuffle=True, random_state=seed).split(y)
        for own, (seen, left_out) in zip(split_on_host(key, N_FOLDS), folds, strict=True):
            (fitted,) = refit.fit(own, seen, y[None, seen])
            predicted[left_out] = refit.mean(fitted, left_out)
        residuals = (y - predicted) / self.units_.y_scale
        self.variance_, _ = variance_of_residuals(self.units_.inputs(X), residuals, seed)
        self.calibration_ = Calibration.of(y, predicted, self._raw(predicted, X).scale)

    @of_each_target(stacked)
    def predict(self, X: ArrayLike) -> Row:
        """The regressor's own prediction of each row."""
        from confide.calibration import predicted

        check_is_fitted(self, "estimator_")
        return predicted(self.estimator_, X)

    @of_each_target(Predictions)
    def get_prediction(self, X: ArrayLike) -> Prediction:
        """All that the model says about some rows, computed once; for targets a `Predictions`."""
        return replace(self._prediction(X), index=index_of(X))

    def _prediction(self, X: ArrayLike) -> Prediction:
        from confide.calibration import predicted

        mean, matrix = self.predict(X), np.asarray(checked_X(self, X), np.float64)
        on_twins: ConfidenceCalibration = self.confidence_calibration_
        echoed = predicted(on_twins.correction.echo, X)
        raw = self._raw(mean, matrix)
        calibrated = on_twins.calibrated(echoed, _unclaimed(mean, self.units_.y_scale), matrix)
        prediction = replace(
            raw, confidence_law=calibrated.confidence_law, twin_errors=calibrated.twin_errors
        )
        prediction = replace(self.calibration_.calibrated(prediction), uncalibrated=None)
        return replace(prediction, novelty=self.novelty_.p_values(matrix, self.units_))

    def _raw(self, mean: Row, X: Any) -> Prediction:
        """Variances of the prediction by the twins, and of the noise by rows that were left out."""
        on_twins: ConfidenceCalibration = self.confidence_calibration_
        error = on_twins.scale(np.full(len(mean), self.units_.y_scale**2), X) ** 2
        variance: Trees = self.variance_
        residual = self.units_.y_scale**2 * variance(self.units_.inputs(X))
        noise = np.maximum(residual - error, LEAST_NOISE * residual)
        law = TPlusNormalLaw.normal(mean, np.sqrt(noise + error))
        return replace(
            _unclaimed(mean, 1.0), aleatoric_variance=noise, epistemic_variance=error,
            prediction_law=law,
        )  # fmt: skip


def _unclaimed(mean: Row, scale: float) -> Prediction:
    """A prediction whose variance is not known: the same for every row."""
    variance = np.full(len(mean), scale**2)
    law = TPlusNormalLaw.normal(mean, np.full(len(mean), scale))
    return Prediction(
        mean=mean,
        aleatoric_variance=variance,
        epistemic_variance=variance,
        prediction_law=law,
        confidence_law=law,
        classical_variance=None,
        optimisation_variance=None,
        n_members=1,
    )
