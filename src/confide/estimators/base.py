"""The scikit-learn face that all methods share: validate, convert, delegate."""

import inspect
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, overload

import numpy as np
from jaxtyping import Float, Float64, PRNGKeyArray
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from confide.calibration import Calibration
from confide.checks import checked_targets
from confide.diagnostics import Novelty
from confide.encoding import Encoder
from confide.errors import CalibrationWarning
from confide.estimators.training_table import TrainingTable
from confide.estimators.validation import (
    checked_training_data,
    checked_X,
    refuse_answers_that_are_not_numbers,
    refuse_targets_that_cannot_be_learnt,
)
from confide.fingerprints import fingerprints, identities
from confide.learners import Learner
from confide.methods import (
    FALLBACK,
    EpochChoice,
    choose_epochs,
    fit_batches,
    is_auto,
    refuse_auto_epochs_without_likelihood,
    search_epochs,
)
from confide.prediction import Kind, Prediction
from confide.progress import Progress, progress_bar, rescaled
from confide.randomness import key_from, split_on_host
from confide.standardise import Standardiser

if TYPE_CHECKING:
    from confide.calibration import ConfidenceCalibration
    from confide.simulate import Truth

Row = Float64[np.ndarray, " row"]


class IntervalRegressor(RegressorMixin, BaseEstimator):
    """Base of the estimators; a subclass names its method and spells out its arguments.

    An argument of the constructor that the method's `Settings` know is passed on to them, the
    others to what makes its learner.
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
    training_table_: TrainingTable | None = None

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Trains the ensemble.

        Args:
            X: a table of pandas, polars or pyarrow, or an array of numbers. It need not be scaled.
                The columns of a table may be numbers, categories, text, dates, times, durations
                or truths, with missing values: `confide.encoding.Encoder` says what becomes of
                them. Those of no use are left out with a `LeftOutColumnWarning`.
            y: one number for each row.
            sample_weight: weight of each row's loss; only ratios matter, and a row of weight
                zero is left out.

        Returns:
            The estimator itself.
        """
        settings, checked, key = self.settings(), copy(self), key_from(self.random_state)
        X, y, weight = checked_training_data(checked, X, y, sample_weight)
        learner = self.make_learner(X.shape[1])
        settings = self._with_epochs(checked, settings, learner, key, X, y, weight)
        total = self.method.member_epochs(settings, learner)
        with progress_bar(f"Fitting {type(self).__name__}", total, shown=self.verbose) as progress:
            (fitted,) = self.method.fit(
                [key],
                X,
                y[None],
                settings,
                learner,
                sample_weight=weight,
                progress=progress,
            )
        return self.adopt(checked, fitted, Novelty.of_training(X, fitted.standardiser))

    def fit_many(
        self,
        X: ArrayLike,
        targets: ArrayLike,
        random_states: Sequence[int],
        *,
        progress: Progress | None = None,
    ) -> Iterator[Self]:
        """Fits to many data sets with the same inputs, all in one batch on all cores.

        For simulations: far faster than a loop of fits. The numbers of a data set depend on its
        targets and its random state alone, not on what is fitted beside it; but with
        `max_epochs="auto"`, the epochs are chosen once, from the first data set, for all.

        Args:
            X: a table or an array, as for `fit`, the same for all.
            targets: one row of targets for each data set.
            random_states: a seed for each data set.
            progress: called with the number of member-epochs just finished.

        Yields:
            A fitted copy of the estimator for each data set, in their order; as many are in memory
            at once as a batch holds.
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
            refuse_targets_that_cannot_be_learnt(y)
        learner = self.make_learner(X.shape[1])
        expected = self.method.member_epochs(settings, learner)
        key = key_from(random_states[0])
        settings = self._with_epochs(checked, settings, learner, key, X, targets[0], None)
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
        """
        prediction = self._prediction(X, calibrated=False)
        if return_std:
            return prediction.mean, np.sqrt(prediction.total_variance)
        return prediction.mean

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
                "`confidence_level` must be a level or a list of some, got []. Pass 0.95, or "
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
        """All that the ensemble says about some rows, computed once.

        Categories that training did not have count as none of the known ones, and missing values
        as the median; an `UnseenValueWarning` says which, and how often.
        """
        return self._prediction(X, with_novelty=True)

    def calibrate(self, X_cal: ArrayLike, y_cal: ArrayLike) -> Self:
        """Calibrates the prediction intervals on rows that were kept back from `fit`.

        From then on a prediction interval of level 0.9 holds a new observation with a probability
        of at least 0.9, averaged over rows and over calibration sets, if new rows are like those of
        `X_cal`: each row's half-width is a multiple of its own standard deviation, and the multiple
        is a quantile of the calibration rows' |y - prediction| / standard deviation (split
        conformal prediction). n rows support levels up to n / (n + 1), 19 of them 0.95; above
        that the bounds are infinite and a warning says so. A hundred rows or more are of use:
        with n of them the coverage that one calibration reaches scatters by about
        sqrt(level * (1 - level) / n).

        Confidence intervals stay as they are. To calibrate them so it would take rows where the
        true function was observed, and it never is: a target is the function plus noise, and how
        often an interval holds targets does not tell how often it holds the function.
        `calibrate_confidence` does it on simulated twins of the data.

        The interval is symmetric about the prediction, so its two bounds together have the level,
        not each by itself: where noise is skewed, `predict_quantiles` is off on either side.

        Rows that `fit` has seen have residuals that are too small, and so would be the intervals.
        It cannot be told from the rows, so keep them apart. `fit` drops the calibration, another
        call replaces it, and `save` keeps it. Variances stay the method's own;
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
        if (table := self.training_table_) is not None:  # other rows than those set aside
            rows = fingerprints(checked_X(self, X_cal), y)
            known = np.unique(identities(rows, copies=table.copies))
            self.training_table_ = replace(table, set_aside=known, n_set_aside=len(y))
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

        Networks are biased where the true function is rough, and nothing in one fit shows it. But
        on data simulated from a known function that resembles yours it shows: this fits the whole
        procedure to `n_simulations` such data sets, which takes as long as that many fits, and
        widens (or narrows) the interval of each row as would have been right there. Rows that were
        never seen are calibrated likewise, at any level. The predicted mean stays as it is.

        How honest the intervals are now depends on how well the twin resembles the unknown
        function: `confidence_calibration_.summary` says what was chosen, what changed, and what to
        doubt; `print` it. Prediction intervals are calibrated on the twins as well, unless
        `calibrate` has seen held-out rows, which are better evidence.

        `fit` drops the calibration, another call replaces it, and `save` keeps it.
        `Prediction.uncalibrated` has the method's own intervals, `Prediction.twin_errors` what the
        simulations say of each row. Predictions take `n_simulations` times as long. Epochs that
        "auto" chose are kept for the simulated fits, and sample weights are not simulated. K
        simulations support levels up to K / (K + 1), twenty 95 %; of higher ones expect less.

        Args:
            X: the rows of `fit`.
            y: the targets of `fit`.
            twin: what to simulate from: one of "forest" (deep random forest), "boosting" (gradient
                boosting) and "smooth" (kernel ridge regression), fitted to your data; "auto" for
                those of the three that are at most one standard error behind the best of them on
                held-out rows; or a truth of your own.
            n_simulations: simulated data sets, at least 10; with 20 a row's factor is known to
                about a sixth.
            shift: share of the bias that the twins show by which the intervals' centres are moved
                off the prediction. 0.5 makes confidence intervals narrower and their centres
                nearer to the true function where the twin is right; where it is wrong they cover
                less. 0 relies on widths alone.
            random_state: seed of the simulations; None for the estimator's own.
            truth: the old name of `twin`.

        Returns:
            The estimator itself.

        Raises:
            TwinError: a twin cannot be fitted to the data.
        """
        # Here, because forests take long to load.
        from confide.calibration import ConfidenceCalibration, twin_argument

        check_is_fitted(self, "fitted_")
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
        for each in self.confidence_calibration_.summary.warnings:
            warnings.warn(each, CalibrationWarning, stacklevel=2)
        return self

    def _warn_of_other_rows(
        self, X: Float[np.ndarray, "row feature"], y: Float64[np.ndarray, " row"]
    ) -> None:
        """The networks remember the mean and the spread of the rows that they were fitted to."""
        fitted, (given,) = self.fitted_.standardiser, Standardiser.for_each(X, y[None])
        same = np.all(np.abs(given.x_mean - fitted.x_mean) <= 1e-3 * fitted.x_scale) and (
            abs(given.y_mean - fitted.y_mean) <= 1e-3 * fitted.y_scale
        )
        if not same:
            warnings.warn(
                "The rows to calibrate with are not those of `fit`: their means differ, or `fit` "
                "had weights, which the simulations have not. The twins then resemble other data "
                "than the networks have seen. Pass X and y as to `fit`.",
                CalibrationWarning,
                stacklevel=3,
            )

    def _prediction(
        self, X: ArrayLike, *, with_novelty: bool = False, calibrated: bool = True
    ) -> Prediction:
        """A prediction; what takes time is for those alone who get to see it."""
        check_is_fitted(self, "fitted_")
        X = checked_X(self, X)
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused below
            prediction = self.method.predict(self.fitted_, X)
        refuse_answers_that_are_not_numbers(prediction)
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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the fitted model to one file of arrays and JSON; `confide.load` reads it back.

        An older file of that name is replaced in one step: it is whole at every moment.

        The file holds up to 300 rows of the training data, standardised, to which new rows are
        compared. Where it must not, set `novelty_` to None before: predictions then have no
        `novelty`, and nothing else changes.
        """
        from confide.estimators.files import save_estimator

        check_is_fitted(self, "fitted_")
        save_estimator(self, path)

    def adopt(self, checked: "IntervalRegressor", fitted: Any, novelty: Novelty) -> Self:
        """All that a fit leaves, in one go: one that fails half-way changes nothing."""
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(checked, name):
                setattr(self, name, getattr(checked, name))
            elif hasattr(self, name):
                delattr(self, name)
        self.fitted_ = fitted
        self.parameters_ = {**checked.get_params(deep=False), "max_epochs": self.max_epochs_}
        self.encoder_, self.epochs_, self.novelty_ = checked.encoder_, checked.epochs_, novelty
        # These were of the networks before.
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
        """The settings, epochs chosen if they are left to the data; `checked` keeps why."""
        checked.epochs_ = None  # that of an earlier fit
        if not is_auto(self.max_epochs):
            return settings
        title = f"Choosing epochs for {type(self).__name__}"
        total = search_epochs(settings, learner, len(y))
        with progress_bar(title, total, shown=self.verbose) as progress:
            checked.epochs_ = choose_epochs(
                key,
                X,
                y,
                self.method,
                settings,
                learner,
                sample_weight=sample_weight,
                progress=progress,
            )
        return replace(settings, max_epochs=checked.epochs_.epochs)

    def settings(self) -> Any:
        """The method's settings from the constructor's arguments, checked.

        Epochs that are left to the data are the paper's here, and others after `fit`.
        """
        values, _ = self._arguments()
        if is_auto(values.get("max_epochs")):
            refuse_auto_epochs_without_likelihood(type(self).__name__, self.method)
            values["max_epochs"] = FALLBACK
        return self.method.Settings(**values)

    def make_learner(self, n_features: int) -> Learner[Any]:
        """What is trained, from the constructor's arguments, checked."""
        _, others = self._arguments()
        return self.method.learner(self.settings(), n_features, **others)

    def member_epochs(self, n_features: int) -> int:
        """How many epochs of one member a fit takes: the scale of its progress."""
        return int(self.method.member_epochs(self.settings(), self.make_learner(n_features)))

    def _arguments(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The constructor's arguments: those of the method's settings, and those of its learner."""
        known = inspect.signature(self.method.Settings).parameters
        given = self.get_params(deep=False)
        settings = {name: value for name, value in given.items() if name in known}
        ours = {*known, "random_state", "verbose"}
        return settings, {name: value for name, value in given.items() if name not in ours}
