"""What all estimators do, the way scikit-learn expects it: check the data, then ask the method."""

import inspect
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Literal, Self, overload

import numpy as np
from jaxtyping import Float, Float64, PRNGKeyArray
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from confide.calibration import Calibration
from confide.checks import checked_targets
from confide.diagnostics import Novelty
from confide.encoding import Encoder
from confide.errors import CalibrationWarning, SlowerTrainingWarning
from confide.estimators.own_parts import is_own
from confide.estimators.recipes import MOST_RESTARTS, MOST_STEPS, left_to_recipe, with_recipe
from confide.estimators.training_rows import TrainingRows
from confide.estimators.validation import (
    check_targets,
    checked_training_data,
    checked_X,
    without_overflow,
)
from confide.learners import Learner, TrainingDivergedError
from confide.methods import (
    AUTO,
    FALLBACK,
    Choice,
    EpochChoice,
    choice_epochs,
    choose_epochs,
    choose_strength,
    fit_batches,
    held_out_epochs,
    refuse_auto_epochs_without_law,
    search_epochs,
)
from confide.prediction import VARIANCES, Kind, Prediction
from confide.progress import Progress, progress_bar, rescaled
from confide.randomness import key_from, split_on_host
from confide.standardise import Standardiser

if TYPE_CHECKING:
    from confide.calibration import ConfidenceCalibration
    from confide.simulate import Truth

Row = Float64[np.ndarray, " row"]


class IntervalRegressor(RegressorMixin, BaseEstimator):
    """Base of the estimators; a subclass names its method and spells out its arguments.

    The constructor's arguments that the method's `Settings` have go there. The others go to the
    function that makes its learner.
    """

    method: ClassVar[ModuleType]
    # What a fit leaves beside the networks, or None; model files keep them under these names.
    fitted_: Any
    parameters_: Mapping[str, Any]
    """The constructor's arguments as they were at the fit, with the epochs that it had."""
    encoder_: Encoder | None = None
    epochs_: EpochChoice | None = None
    novelty_: Novelty | None = None
    calibration_: Calibration | None = None
    confidence_calibration_: "ConfidenceCalibration | None" = None
    training_table_: TrainingRows | None = None

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Trains the ensemble.

        Args:
            X: a table of pandas, polars or pyarrow, or an array of numbers. It need not be scaled.
                The columns of a table may be numbers, booleans, categories, text, dates, times or
                durations, with missing values; `confide.encoding.Encoder` describes how they
                become numbers. Columns of no use are left out with a `LeftOutColumnWarning`.
            y: one number for each row.
            sample_weight: weight of each row in the loss; only ratios matter, and rows of weight
                zero are left out.

        Returns:
            The estimator itself.
        """
        settings, checked, key = self.settings(), copy(self), key_from(self.random_state)
        X, y, weight = checked_training_data(checked, X, y, sample_weight)
        learner = self.make_learner(X.shape[1])
        settings = self._with_epochs(checked, settings, learner, key, X, y, weight)
        learner, epochs, held_out = self._with_strength(settings, learner, key, X, y, weight)
        settings = replace(settings, max_epochs=epochs)
        total = self.method.member_epochs(settings, learner)
        if held_out is not None:  # that is done already
            total -= held_out_epochs(epochs, settings.n_members)
        with progress_bar(f"Fitting {type(self).__name__}", total, shown=self.verbose) as progress:
            how = {"sample_weight": weight, "progress": progress}
            how |= {} if held_out is None else {"held_out": held_out}
            fitted = self._trained(key, X, y, settings, learner, how)
        return self.adopt(checked, fitted, Novelty.of_training(X, fitted.standardiser))

    def _trained(
        self,
        key: PRNGKeyArray,
        X: Float[np.ndarray, "row feature"],
        y: Float64[np.ndarray, " row"],
        settings: Any,
        learner: Learner[Any],
        how: dict[str, Any],
    ) -> Any:
        """The method's fit; where it diverges at the recipe's rate, all over at a lower one.

        All members are trained anew, so that they still differ by chance alone.
        """
        for _ in range(MOST_RESTARTS):
            try:
                return self.method.fit([key], X, y[None], settings, learner, **how)[0]
            except TrainingDivergedError as error:
                slower = learner.slower()
                if slower is None or getattr(self, "learning_rate", 0) is not None:
                    raise
                warnings.warn(
                    f"Training diverged at step {error.step} and begins anew at a tenth of its "
                    "learning rate. Look for extreme values in X and y.",
                    SlowerTrainingWarning,
                    stacklevel=3,
                )
                learner = slower
                how.pop("held_out", None)  # these were of the faster one
        return self.method.fit([key], X, y[None], settings, learner, **how)[0]

    def fit_many(
        self,
        X: ArrayLike,
        targets: ArrayLike,
        random_states: Sequence[int],
        *,
        progress: Progress | None = None,
    ) -> Iterator[Self]:
        """Fits to many data sets with the same inputs, all in one batch on all cores.

        This is for simulations, and far faster than a loop of fits. The result for a data set
        depends on its targets and its random state alone, not on the other data sets. But what is
        left to the data, such as the number of epochs, is chosen by the first of them for all.

        Args:
            X: a table or an array, as for `fit`, the same for all.
            targets: one row of targets for each data set.
            random_states: a seed for each data set.
            progress: called with the number of member-epochs just finished.

        Yields:
            A fitted copy of the estimator for each data set, in their order. Only the fits of one
            batch are in memory at once.
        """
        targets = np.asarray(targets, np.float64)
        if targets.ndim != 2 or len(targets) != len(random_states):
            raise ValueError(
                f"`targets` must have one row for each of the {len(random_states)} random states, "
                f"got shape {targets.shape}. Stack the targets of each data set as a row."
            )
        if len(targets) == 0:
            raise ValueError("`targets` must have at least one row, got none.")
        settings, checked = self.settings(), copy(self)
        X, _, _ = checked_training_data(checked, X, targets[0], None)
        for y in targets:
            check_targets(y)
        learner = self.make_learner(X.shape[1])
        expected = self.method.member_epochs(settings, learner)
        key = key_from(random_states[0])
        settings = self._with_epochs(checked, settings, learner, key, X, targets[0], None)
        learner, epochs, _ = self._with_strength(settings, learner, key, X, targets[0], None)
        settings = replace(settings, max_epochs=epochs)
        progress = rescaled(progress, self.method.member_epochs(settings, learner), expected)
        keys = [key_from(seed) for seed in random_states]
        fits = fit_batches(self.method, keys, X, targets, settings, learner, progress=progress)
        novelty = None
        for seed, fitted in zip(random_states, fits, strict=True):
            # One for all: the inputs are the same.
            novelty = novelty or Novelty.of_training(X, fitted.standardiser)
            yield clone(self).set_params(random_state=seed).adopt(checked, fitted, novelty)

    @overload
    def predict(self, X: ArrayLike, return_std: Literal[False] = ...) -> Row: ...
    @overload
    def predict(self, X: ArrayLike, return_std: Literal[True]) -> tuple[Row, Row]: ...
    @overload
    def predict(self, X: ArrayLike, return_std: bool) -> Row | tuple[Row, Row]: ...
    def predict(self, X: ArrayLike, return_std: bool = False) -> Row | tuple[Row, Row]:
        """The predicted mean of each row.

        Args:
            X: rows like those of `fit`.
            return_std: also return the standard deviation of a new observation about the
                prediction, the root of `Prediction.total_variance`.

        Returns:
            The means, or the means and the standard deviations.
        """
        if return_std:
            prediction = self._prediction(X, calibrated=False)
            return prediction.mean, np.sqrt(prediction.total_variance)
        check_is_fitted(self, "fitted_")
        X, predict = checked_X(self, X), self.method.predict
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is seen to below
            if hasattr(predict, "mean"):  # without the variances, which may take as long
                mean = predict.mean(self.fitted_, X)
            else:
                mean = predict(self.fitted_, X).mean
        return without_overflow(mean, self.fitted_.standardiser.y_mean)

    def predict_interval(
        self,
        X: ArrayLike,
        confidence_level: float | Sequence[float] = 0.95,
        kind: Kind = "prediction",
    ) -> tuple[Float64[np.ndarray, " row"], Float64[np.ndarray, "row 2 *level"]]:
        """The prediction of each row with its interval.

        Args:
            X: rows like those of `fit`.
            confidence_level: one level, or several.
            kind: "confidence" for the true function, "prediction" for a new observation.

        Returns:
            The predictions, and the lower and upper bounds as (row, 2), or (row, 2, level) when
            several levels are asked for.
        """
        prediction = self._prediction(X)
        if np.ndim(confidence_level) == 0:
            return prediction.mean, prediction.interval(kind, confidence_level)  # type: ignore[arg-type]
        levels = list(confidence_level)  # type: ignore[arg-type]
        if not levels:
            raise ValueError(
                "`confidence_level` must be a level or a list of levels, got []. Pass 0.95, or "
                "[0.8, 0.95]."
            )
        intervals = [prediction.interval(kind, level) for level in levels]
        return prediction.mean, np.stack(intervals, axis=-1)

    def predict_quantiles(
        self, X: ArrayLike, quantiles: Sequence[float] = (0.05, 0.5, 0.95)
    ) -> Float64[np.ndarray, "row quantile"]:
        """Quantiles of a new observation for each row."""
        return self._prediction(X).quantiles(quantiles)

    def get_prediction(self, X: ArrayLike) -> Prediction:
        """All that the model says about some rows, computed once.

        A category that the training data did not have counts as none of the known ones, and a
        missing value as the median; an `UnseenValueWarning` says which, and how often.
        """
        return self._prediction(X, with_novelty=True)

    def calibrate(self, X_cal: ArrayLike, y_cal: ArrayLike) -> Self:
        """Calibrates the prediction intervals on held-out rows, which `fit` has not seen.

        From then on, a prediction interval of level 0.9 holds a new observation with a probability
        of at least 0.9, on average over rows and over calibration sets, if new rows are like those
        of `X_cal`. Each row's half-width is a multiple of its own standard deviation; the multiple
        is a quantile of |y - prediction| / standard deviation over the calibration rows (split
        conformal prediction). n rows support levels up to n / (n + 1): 19 rows support 0.95. Above
        that the bounds are infinite, and a warning says so. Use a hundred rows or more: the
        coverage that one calibration reaches varies by about sqrt(level * (1 - level) / n).

        Where a prediction interval would not contain the confidence interval of its level, it is
        made wider, and covers more often.

        Confidence intervals do not change. To calibrate them this way, one would need rows where
        the true function was observed. But a target is the function plus noise, and how often
        intervals hold targets does not tell how often they hold the function.
        `calibrate_confidence` calibrates them on simulated twins of the data.

        The interval is symmetric about the prediction. Both bounds together have the level, but
        one bound by itself may not: where noise is skewed, `predict_quantiles` is off on both
        sides.

        Rows that `fit` has seen have residuals that are too small, which makes intervals too
        narrow. confide cannot detect this, so keep the rows apart. `fit` drops the calibration,
        another call replaces it, and `save` keeps it. Variances stay the method's own, and
        `Prediction.uncalibrated` has the method's own prediction interval.

        Args:
            X_cal: rows like those of `fit`, none of them among those.
            y_cal: one number for each row.

        Returns:
            The estimator itself.
        """
        raw = self._prediction(X_cal, calibrated=False)
        y = checked_targets(y_cal, len(raw))
        self.calibration_ = Calibration.of(y, raw.mean, raw.scale)
        if self.training_table_ is not None:  # other rows than those set aside
            self.training_table_ = self.training_table_.calibrated_on(checked_X(self, X_cal), y)
        return self

    def calibrate_confidence(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        twin: "str | Truth" = "auto",
        n_simulations: int = 20,
        shift: float = 0.0,
        random_state: int | np.random.RandomState | None = None,
        truth: "str | Truth | None" = None,
    ) -> Self:
        """Calibrates the confidence intervals on simulated twins of the training data.

        Models are biased where the true function is rough, and one fit does not show it. It shows
        on data that were simulated from a known function that resembles yours. This method repeats
        the whole fit on `n_simulations` such data sets, which takes as long as that many fits. Then
        it makes the interval of each row as much wider or narrower as would have been right there.
        New rows are calibrated in the same way, at any level. The predicted mean does not change.

        How well the intervals cover now depends on how well the twins resemble the unknown
        function. `print(model.confidence_calibration_.summary)` tells what was chosen, what
        changed, and what to doubt. Prediction intervals are calibrated on the twins as well, unless
        `calibrate` has seen held-out rows, which are better evidence.

        `fit` drops the calibration, another call replaces it, and `save` keeps it.
        `Prediction.uncalibrated` has the method's own intervals, `Prediction.twin_errors` what the
        simulations say about each row. Predictions take `n_simulations` times as long. Epochs that
        "auto" chose are kept for the simulated fits, and sample weights are not simulated. K
        simulations support levels up to K / (K + 1): 20 support 0.95. Intervals of higher levels
        may cover less often.

        Args:
            X: the rows of `fit`.
            y: the targets of `fit`.
            twin: what to simulate from. "forest" (a deep random forest), "boosting" (gradient
                boosting) and "smooth" (kernel ridge regression) are fitted to your data; "auto"
                uses those of the three that are at most one standard error behind the best of them
                on held-out rows. Or a truth of your own.
            n_simulations: simulated data sets, at least 10; 20 determine the factor of a row to
                within about a sixth.
            shift: how far to move the centres of the intervals, as a share of the bias that the
                twins show. 0.5 makes confidence intervals narrower, and puts their centres nearer
                to the true function if the twin is right; if it is wrong they cover less often. 0
                leaves the centres at the prediction.
            random_state: seed of the simulations; None for the estimator's own.
            truth: the old name of `twin`.

        Returns:
            The estimator itself.

        Raises:
            TwinError: a twin cannot be fitted to the data.
            ValueError: the model was loaded without the optimiser of your own that it had.
        """
        # Here, because forests take long to load.
        from confide.calibration import ConfidenceCalibration, twin_argument

        check_is_fitted(self, "fitted_")
        self._refuse_missing_parts()
        table = checked_X(self, X)
        targets = checked_targets(y, len(table))
        self._warn_of_other_rows(table, targets)
        seed = self.random_state if random_state is None else random_state
        self.confidence_calibration_ = ConfidenceCalibration.on_twins(
            split_on_host(key_from(seed), 16)[-1],  # beyond the keys that a fit has from it
            self.method,
            self.fitted_,
            np.asarray(table, np.float64),
            targets,
            twin=twin_argument(twin, truth),
            n_simulations=n_simulations,
            shift=shift,
            verbose=bool(self.verbose),
        )
        for doubt in self.confidence_calibration_.summary.warnings:
            warnings.warn(doubt, CalibrationWarning, stacklevel=2)
        return self

    def _refuse_missing_parts(self) -> None:
        """The twins must be fitted as the model was, and a file does not hold all that takes."""
        for name, value in self.parameters_.items():
            if is_own(value):
                raise ValueError(
                    f"This model was trained with its own `{name}`, {value['own']}, which no file "
                    f"holds, and the twins must be fitted in the same way. Pass it: "
                    f"confide.load(path, {name}=...)."
                )

    def _warn_of_other_rows(
        self, X: Float[np.ndarray, "row feature"], y: Float64[np.ndarray, " row"]
    ) -> None:
        """Warns where the means are not those that the fit has standardised with."""
        robust = self.fitted_.learner.is_robust
        fitted = self.fitted_.standardiser
        (given,) = Standardiser.for_each(X, y[None], robust=robust)
        same = np.all(np.abs(given.x_mean - fitted.x_mean) <= 1e-3 * fitted.x_scale) and (
            abs(given.y_mean - fitted.y_mean) <= 1e-3 * fitted.y_scale
        )
        if not same:
            warnings.warn(
                "The rows to calibrate with are not those of `fit`: their means differ, or `fit` "
                "had weights, which the simulations do not have. The twins then resemble other "
                "data than the model was trained on. Pass the X and y of `fit`.",
                CalibrationWarning,
                stacklevel=3,
            )

    def _prediction(
        self, X: ArrayLike, *, with_novelty: bool = False, calibrated: bool = True
    ) -> Prediction:
        """A prediction, without the slow parts that the caller does not show."""
        check_is_fitted(self, "fitted_")
        X = checked_X(self, X)
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is seen to below
            prediction = self.method.predict(self.fitted_, X)
            numbers = [prediction.mean, prediction.scale, *_known_variances(prediction)]
        wild = ~np.isfinite(np.stack(numbers)).all(axis=0)
        if not wild.any():
            return self._completed(prediction, X, with_novelty, calibrated)
        mean = without_overflow(prediction.mean, self.fitted_.standardiser.y_mean)
        prediction = replace(prediction, mean=mean)
        # The other rows are answered: the mean row takes the place of those, for the time being.
        tame = np.where(wild[:, None], self.fitted_.standardiser.x_mean, X)
        answered = self._completed(
            self.method.predict(self.fitted_, tame), tame, with_novelty, calibrated
        )
        return answered.unbounded(wild, prediction)

    def _completed(
        self,
        prediction: Prediction,
        X: Float[np.ndarray, "row feature"],
        with_novelty: bool,
        calibrated: bool,
    ) -> Prediction:
        """With novelty and calibrated intervals, as far as they are asked for and there."""
        if with_novelty and self.novelty_ is not None:
            p_values = self.novelty_.p_values(X, self.fitted_.standardiser)
            prediction = replace(prediction, novelty=p_values)
        if not calibrated:
            return prediction
        if self.confidence_calibration_ is not None:
            prediction = self.confidence_calibration_.calibrated(self.method, prediction, X)
        if self.calibration_ is not None:
            prediction = self.calibration_.calibrated(prediction)
        return prediction

    def save(self, path: str | os.PathLike[str] | BinaryIO) -> None:
        """Writes the fitted model to one file of arrays and JSON; `confide.load` reads it back.

        An older file of that name is replaced in one step: it is whole at every moment. Instead of
        a path, a file may be passed that is open for writing bytes.

        The file holds up to 300 rows of the training data, standardised, to compare new rows with.
        If it must not hold them, set `novelty_` to None first: predictions then have no `novelty`,
        and nothing else changes.
        """
        from confide.estimators.files import save_estimator

        check_is_fitted(self, "fitted_")
        save_estimator(self, path)

    def adopt(self, checked: "IntervalRegressor", fitted: Any, novelty: Novelty) -> Self:
        """Takes over all that a fit leaves, at once: a fit that fails half-way changes nothing."""
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(checked, name):
                setattr(self, name, getattr(checked, name))
            elif hasattr(self, name):
                delattr(self, name)
        self.fitted_ = fitted
        self.parameters_ = {
            **with_recipe(checked.get_params(deep=False)),
            **fitted.learner.chosen,
            "max_epochs": int(fitted.settings.max_epochs),
        }
        self.encoder_, self.epochs_, self.novelty_ = checked.encoder_, checked.epochs_, novelty
        # These belong to an earlier fit.
        self.calibration_ = self.confidence_calibration_ = self.training_table_ = None
        return self

    @property
    def max_epochs_(self) -> int:
        """The number of epochs of the fit; `epochs_` says how `max_epochs="auto"` chose it."""
        check_is_fitted(self, "fitted_")
        return int(self.fitted_.settings.max_epochs)

    def _with_epochs(
        self,
        checked: "IntervalRegressor",
        settings: Any,
        learner: Learner[Any],
        key: PRNGKeyArray,
        X: Float[np.ndarray, "row feature"],
        y: Float64[np.ndarray, " row"],
        sample_weight: Float64[np.ndarray, " row"] | None,
    ) -> Any:
        """The settings, with a number of epochs chosen if it is "auto"; `checked` keeps why."""
        checked.epochs_ = None  # that of an earlier fit
        settings = self._within_steps(settings, learner, len(y))
        if self._leaves_epochs or str(self.max_epochs) != AUTO:
            return settings
        title = f"Choosing epochs for {type(self).__name__}"
        total = search_epochs(settings, learner, len(y))
        with progress_bar(title, total, shown=self.verbose) as progress:
            how: dict[str, Any] = {"sample_weight": sample_weight, "progress": progress}
            checked.epochs_ = choose_epochs(key, X, y, self.method, settings, learner, **how)
        return replace(settings, max_epochs=checked.epochs_.epochs)

    @property
    def _leaves_epochs(self) -> bool:
        """Whether the number of epochs is left to the recipe."""
        return "max_epochs" in left_to_recipe(self.get_params(deep=False))

    def _within_steps(self, settings: Any, learner: Learner[Any], n_rows: int) -> Any:
        """The settings; of a long table with fewer epochs, where these are left to the recipe."""
        if not self._leaves_epochs:
            return settings
        most = max(1, MOST_STEPS // max(1, learner.steps_per_epoch(n_rows)))
        return replace(settings, max_epochs=min(settings.max_epochs, most))

    def _with_strength(
        self,
        settings: Any,
        learner: Learner[Any],
        key: PRNGKeyArray,
        X: Float[np.ndarray, "row feature"],
        y: Float64[np.ndarray, " row"],
        sample_weight: Float64[np.ndarray, " row"] | None,
    ) -> Choice:
        """As much regularised as is best for held-out rows, where there is a choice."""
        epochs, may_shorten = settings.max_epochs, self._leaves_epochs
        total = choice_epochs(learner, epochs, may_shorten=may_shorten)
        title = f"Choosing the strength of {type(self).__name__}"
        with progress_bar(title, total, shown=self.verbose and total > 0) as progress:
            how: dict[str, Any] = {"sample_weight": sample_weight, "progress": progress}
            how |= {"may_shorten": may_shorten}
            return choose_strength(key, X, y, learner, epochs, settings.n_members, **how)

    def settings(self) -> Any:
        """The method's settings from the constructor's arguments, checked.

        Where `max_epochs` is "auto", the settings have the paper's number until `fit` chooses one.
        """
        values, _ = self._arguments()
        if str(values.get("max_epochs")) == AUTO:
            refuse_auto_epochs_without_law(type(self).__name__, self.method)
            values["max_epochs"] = FALLBACK
        return self.method.Settings(**values)

    def make_learner(self, n_features: int) -> Learner[Any]:
        """What is trained, from the constructor's arguments, checked."""
        _, others = self._arguments()
        return self.method.learner(self.settings(), n_features, **others)

    def member_epochs(self, n_features: int) -> int:
        """How many epochs of one member a fit takes: the scale of its progress."""
        return int(self.method.member_epochs(self.settings(), self.make_learner(n_features)))

    def expected_epochs(self, n_rows: int, n_features: int, n_fits: int = 1) -> int:
        """How many epochs of one member it takes to choose how to train, and to fit; roughly.

        Args:
            n_rows: of the training data.
            n_features: their columns.
            n_fits: fits that share one choice.
        """
        learner = self.make_learner(n_features)
        settings = self._within_steps(self.settings(), learner, n_rows)
        epochs, may_shorten = settings.max_epochs, self._leaves_epochs
        choosing = choice_epochs(learner, epochs, may_shorten=may_shorten)
        if str(self.max_epochs) == AUTO and not may_shorten:
            # Most searches end after a quarter of their candidates.
            choosing += search_epochs(settings, learner, n_rows) // 4
        return int(choosing + n_fits * self.method.member_epochs(settings, learner))

    def _arguments(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The constructor's arguments: those of the method's settings, and those of its learner."""
        known = inspect.signature(self.method.Settings).parameters
        given = with_recipe(self.get_params(deep=False))
        settings = {name: value for name, value in given.items() if name in known}
        ours = {*known, "recipe", "random_state", "verbose"}
        return settings, {name: value for name, value in given.items() if name not in ours}


def _known_variances(prediction: Prediction) -> list[Row]:
    variances = (getattr(prediction, name) for name in VARIANCES)
    return [variance for variance in variances if variance is not None]
