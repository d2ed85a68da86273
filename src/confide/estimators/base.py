"""What all estimators do, the way scikit-learn expects it: check the data, then ask the method."""

import inspect
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Literal, Self, overload

import numpy as np
from jaxtyping import Float, Float64, PRNGKeyArray
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from confide.budget import of_worker
from confide.calibration import Calibration
from confide.checks import checked_targets
from confide.diagnostics import NOVEL, Novelty, Unseen
from confide.encoding import Encoder, LongTable, index_of
from confide.engines import Engine, named_engine
from confide.errors import (
    CalibrationWarning,
    NoSuchIntervalError,
    SlowerTrainingWarning,
    TwinError,
)
from confide.estimators.groups import groups_of, warn_of_small_groups, warn_of_unseen_groups
from confide.estimators.intervals import IntervalMixin
from confide.estimators.long_tables import (
    further_rows,
    in_some_row,
    is_source,
    long_table,
    warn_not_calibrated,
)
from confide.estimators.own_parts import is_own
from confide.estimators.recipes import MOST_RESTARTS, MOST_STEPS, left_to_recipe, with_recipe
from confide.estimators.several import (
    Predictions,
    fitted_to_each,
    of_each_target,
    several_columns,
    stacked,
    with_each_target,
)
from confide.estimators.target import AUTO as AUTO_TRANSFORM
from confide.estimators.target import Target, chosen_transform
from confide.estimators.training_rows import SeenRows, TrainingRows
from confide.estimators.validation import (
    TrainingArrays,
    check_targets,
    checked_rows,
    checked_training_data,
    checked_training_X,
    checked_X,
    without_overflow,
)
from confide.learners import Learner, TrainingDivergedError, spread
from confide.methods import (
    AUTO,
    FALLBACK,
    Choice,
    EpochChoice,
    candidates_for,
    choice_epochs,
    choose_epochs,
    choose_strength,
    epochs_within,
    fit_batches,
    held_out_epochs,
    mean_of,
    refuse_auto_epochs_without_law,
    search_epochs,
)
from confide.prediction import VARIANCES, Prediction
from confide.progress import Progress, progress_bar, rescaled
from confide.randomness import generator_from, key_from, split_on_host
from confide.standardise import Standardiser

if TYPE_CHECKING:
    from confide.calibration import ConfidenceCalibration
    from confide.simulate import Truth

Row = Float64[np.ndarray, " row"]


class IntervalRegressor(IntervalMixin, RegressorMixin, BaseEstimator):
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
    target_: Target | None = None
    seen_rows_: SeenRows | None = None

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn asks: missing values are taken."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Trains the ensemble.

        Args:
            X: a table of pandas, polars or pyarrow, or an array of numbers. It need not be scaled.
                An array with NaN is taken as a table of numbers with missing values.
                The columns of a table may be numbers, booleans, categories, text, dates, times or
                durations, with missing values; `confide.encoding.Encoder` describes how they
                become numbers. Columns of no use are left out with a `LeftOutColumnWarning`.
                Or a table that is larger than memory: the name of a file, of a folder or of a
                pattern of Parquet files, or a dataset of pyarrow. The members are trained on all
                rows. Everything else is chosen and learnt on a random sample (see the guide).
            y: one number for each row; of files and datasets the name of the column to predict. Or
                a table or array with a column for each of several targets: each gets a model of its
                own, the one that a fit to it alone would give; `targets_` has them by name ("0",
                "1" and so on for an array).
            sample_weight: weight of each row in the loss; only ratios matter, and rows of weight
                zero are left out.
            groups: what each row belongs to, such as its patient. Rows are left out in turn to
                choose how to train and to learn the noise, and rows of a group are left out
                together, as equal rows always are. For rows in the order of time, pass blocks of
                it, such as `dates.dt.to_period("Q")`. A row without a group (None or NaN) is one of
                its own. Without `groups`, rows are taken to be independent.

        Returns:
            The estimator itself.
        """
        if (columns := several_columns(self, X, y, sample_weight)) is not None:
            of_rows = {"sample_weight": sample_weight, "groups": groups}
            return self.adopt_targets(fitted_to_each(self, X, columns, **of_rows))
        settings, checked, key = self.settings(), copy(self), key_from(self.random_state)
        if is_source(X):
            of_sample = generator_from(split_on_host(key, 17)[-1])  # beyond all that a fit has
            others = {"sample_weight": sample_weight, "groups": groups}
            X, y = long_table(X, y, of_sample, shown=bool(self.verbose), **others)
        long = X if isinstance(X, LongTable) else None
        rows = X if long is None else long.sample
        with nullcontext() if long is None else in_some_row():
            data = checked_training_data(checked, rows, y, sample_weight, groups)
            checked.target_ = self._target(key, data)
            checked.seen_rows_ = SeenRows.of(data.X, data.y)
            if checked.target_ is not None:
                data = data._replace(y=checked.target_.forward(data.y))
            with self._engine.connected():
                fitted, on_twins = self._fitted(checked, key, settings, data, long)
        self.adopt(checked, fitted, _novelty_of(checked, data.X, fitted))
        self.confidence_calibration_ = on_twins
        return self

    def _fitted(
        self,
        checked: Self,
        key: PRNGKeyArray,
        settings: Any,
        data: TrainingArrays,
        long: LongTable | None,
    ) -> "tuple[Any, ConfidenceCalibration | None]":
        """Trains with what the data choose; the method's fit, and the calibration on twins.

        Args:
            checked: a copy that knows the columns and the target.
            key: of all chance.
            settings: of the method.
            data: the rows in memory.
            long: where there are more rows than these.
        """
        learner = spread(checked.make_learner(data.X.shape[1]), self._engine)
        settings = self._with_epochs(checked, settings, learner, key, data)
        learner, chosen, held_out = self._with_strength(settings, learner, key, data)
        n_further = 0 if long is None else long.n_further
        epochs = chosen
        if n_further:
            n_all = len(data.y) + n_further
            epochs = self._epochs_of_all(settings, learner, n_all, chosen)
        settings = replace(settings, max_epochs=epochs)
        total = self.method.member_epochs(settings, learner)
        if held_out is not None:  # that is done already
            total -= held_out_epochs(epochs, settings.n_members)
        total += n_further > 0  # to read them
        title = f"Fitting {type(self).__name__}"
        with (
            progress_bar(title, total, shown=self.verbose) as progress,
            further_rows(long, checked, chosen, progress) as further,
        ):
            how = {"sample_weight": data.weight, "progress": progress, **further}
            how |= {} if held_out is None else {"held_out": held_out}
            how |= {} if data.groups is None else {"groups": data.groups}
            fitted = self._trained(key, data.X, data.y, settings, learner, how)
        if not n_further:
            return fitted, self._calibrated_on_twins(key, fitted, data.X, data.y, data.weight)
        if self._calibration is not None:
            warn_not_calibrated()
        return fitted, None

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
                return _at_home(self.method.fit([key], X, y[None], settings, learner, **how)[0])
            except TrainingDivergedError as error:
                slower = learner.slower()
                if slower is None or getattr(self, "learning_rate", 0) is not None:
                    raise
                warnings.warn(
                    f"Training diverged at step {error.step} and starts again with a tenth of "
                    "its learning rate. Look for extreme values in X and y.",
                    SlowerTrainingWarning,
                    stacklevel=4,
                )
                learner = slower
                how.pop("held_out", None)  # these were of the faster one
        return _at_home(self.method.fit([key], X, y[None], settings, learner, **how)[0])

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
        left to the data, such as the number of epochs or the numbers of a column of many
        categories, is chosen by the first of them for all.

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
        data = checked_training_data(checked, X, targets[0])
        for y in targets:
            check_targets(y)
        key = key_from(random_states[0])
        checked.seen_rows_, checked.target_ = None, self._target(key, data)
        target = checked.target_
        if target is not None:
            targets = np.stack([target.forward(y) for y in targets])
            data = data._replace(y=targets[0])
        engine = self._engine
        learner = spread(checked.make_learner(data.X.shape[1]), engine)
        expected = self.method.member_epochs(settings, learner)
        keys = [key_from(seed) for seed in random_states]
        with engine.connected():
            settings = self._with_epochs(checked, settings, learner, key, data)
            learner, epochs, _ = self._with_strength(settings, learner, key, data)
            settings = replace(settings, max_epochs=epochs)
            progress = rescaled(progress, self.method.member_epochs(settings, learner), expected)
            how: dict[str, Any] = {"progress": progress}
            fits = fit_batches(self.method, keys, data.X, targets, settings, learner, **how)
            sets = zip(random_states, targets, fits, strict=True)
            calibrated = self._calibrated_sets(sets, data.X)
            novelty = None
            for seed, (fitted, on_twins) in zip(random_states, calibrated, strict=True):
                # One for all: the inputs are the same.
                novelty = novelty or _novelty_of(checked, data.X, fitted)
                own = clone(self).set_params(random_state=seed).adopt(checked, fitted, novelty)
                own.confidence_calibration_ = on_twins
                yield own

    def _calibrated_sets(
        self,
        sets: Iterable[tuple[int, Row, Any]],
        X: Float[np.ndarray, "row feature"],
    ) -> "Iterator[tuple[Any, ConfidenceCalibration | None]]":
        """The fits to many data sets, each calibrated as a whole by one worker of the engine."""
        if self._calibration is None:
            return ((fitted, None) for _, _, fitted in sets)
        alone = clone(self)
        if hasattr(alone, "engine"):
            alone.engine = None
        memory = self.memory_of_fit(X.shape)
        return self._engine.map(_with_calibration, sets, (alone, X), memory=memory)

    def memory_of_fit(self, shape: tuple[int, int]) -> float:
        """Bytes that a worker needs for a whole fit to so many rows and columns."""
        n_members: int = self.settings().n_members
        if self._calibration is None:
            return of_worker(shape, 2 * n_members)  # they, and they retrained
        from confide.calibration import usual_simulations

        return of_worker(shape, 2 * usual_simulations(shape[0]) * n_members)

    @overload
    def predict(self, X: ArrayLike, return_std: Literal[False] = ...) -> Row: ...
    @overload
    def predict(self, X: ArrayLike, return_std: Literal[True]) -> tuple[Row, Row]: ...
    @overload
    def predict(self, X: ArrayLike, return_std: bool) -> Row | tuple[Row, Row]: ...
    @of_each_target(stacked)
    def predict(self, X: ArrayLike, return_std: bool = False) -> Row | tuple[Row, Row]:
        """The predicted mean of each row.

        Args:
            X: rows like those of `fit`.
            return_std: also return the standard deviation of a new observation about the
                prediction, the root of `Prediction.total_variance`.

        Returns:
            The means, or the means and the standard deviations; for several targets as (row,
            target).
        """
        if return_std:
            prediction = self._prediction(X, calibrated=False)
            return prediction.mean, np.sqrt(prediction.total_variance)
        check_is_fitted(self, "fitted_")
        if self.target_ is not None:
            return self._prediction(X, calibrated=False).mean
        X = checked_X(self, X)
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is seen to below
            mean = mean_of(self.method, self.fitted_, X)
        return without_overflow(mean, self.fitted_.standardiser.y_mean)

    @of_each_target(Predictions)
    def get_prediction(self, X: ArrayLike) -> Prediction:
        """All that the model says about some rows, computed once.

        A category that the training data did not have counts as none of the known ones, and a
        missing value as a typical one; an `UnseenValueWarning` says which, and how often. For
        several targets, this is a `Predictions`: a `Prediction` under the name of each.
        """
        return replace(self._prediction(X, with_novelty=True), index=index_of(X))

    def _novelty(self, X: Float[np.ndarray, "row feature"], unseen: Unseen) -> dict[str, Any]:
        """Novelty p-values, and the columns behind those that are small."""
        if self.novelty_ is None:
            return {}
        standardiser = self.fitted_.standardiser
        with np.errstate(over="ignore"):  # what is too far to be a float32 is far enough
            p_values = self.novelty_.p_values(X, standardiser, unseen)
        novel = np.flatnonzero(p_values < NOVEL)
        of_novel = Unseen({name: rows[novel] for name, rows in unseen.is_new.items()})
        columns: list[tuple[str, ...]] = [()] * len(X)
        with np.errstate(over="ignore"):
            named = self.novelty_.responsible(
                X[novel], standardiser, of_novel, self._feature_columns
            )
        for row, names in zip(novel, named, strict=True):
            columns[row] = names
        return {"novelty": p_values, "novel_columns": tuple(columns)}

    @property
    def _feature_columns(self) -> list[str]:
        """For each number that the networks see, the column that it is of."""
        if self.encoder_ is not None:
            return self.encoder_.feature_columns
        names = getattr(self, "feature_names_in_", range(self.n_features_in_))
        return [str(name) for name in names]

    def calibrate(
        self,
        X_cal: ArrayLike,
        y_cal: ArrayLike,
        *,
        symmetric: bool | None = None,
        groups: str | int | None = None,
    ) -> Self:
        """Calibrates the prediction intervals on held-out rows, which `fit` has not seen.

        From then on, a prediction interval of level 0.9 holds a new observation with a probability
        of at least 0.9, on average over rows and over calibration sets, if new rows are like those
        of `X_cal`. How far each bound is from the prediction is a multiple of the row's own
        standard deviation; the multiple is a quantile of (y - prediction) / standard deviation over
        the calibration rows (split conformal prediction). Use a hundred rows or more: the coverage
        that one calibration reaches varies by about sqrt(level * (1 - level) / n). Above the levels
        that n rows support, bounds are infinite, and a warning says so.

        Where a prediction interval would not contain the confidence interval of its level, it is
        made wider, and covers more often.

        Confidence intervals do not change. To calibrate them this way, one would need rows where
        the true function was observed. But a target is the function plus noise, and how often
        intervals hold targets does not tell how often they hold the function.
        `calibrate_confidence` calibrates them on simulated twins of the data.

        Rows that `fit` has seen have residuals that are too small, which makes intervals too
        narrow: they are refused. `fit` drops the calibration, another call replaces it, and `save`
        keeps it. Variances stay the method's own, and `Prediction.uncalibrated` has the method's
        own prediction interval.

        Args:
            X_cal: rows like those of `fit`, none of them among those.
            y_cal: one number for each row, or for several targets their columns.
            symmetric: whether both bounds are as far from the prediction. Both together then have
                the level, but where noise is skewed, neither bound is right by itself. n rows
                support levels up to n / (n + 1): 19 rows support 0.95. Without it, each bound is
                right by itself, and so are quantiles; 0.95 takes 39 rows. None for bounds by
                themselves where there are at least 200 rows, in each group.
            groups: name of a column of X (its number, where X is an array). Each of its values is a
                group of rows, whose prediction intervals are calibrated on its own rows and have
                the level in that group. A row of a group that was not there is calibrated on all
                rows, with a warning.

        Returns:
            The estimator itself.

        Raises:
            ValueError: the model was trained on many of these rows.
        """
        if self.targets_ is not None:
            with_each: dict[str, Any] = {"symmetric": symmetric, "groups": groups}
            self.targets_ = with_each_target(
                self.targets_, y_cal, lambda own, y: own.calibrate(X_cal, y, **with_each)
            )
            return self
        raw = self._prediction(X_cal, calibrated=False, restored=False)
        y, table = checked_targets(y_cal, len(raw)), checked_X(self, X_cal)
        if self.seen_rows_ is not None:
            self.seen_rows_.refuse(table, y)
        of_rows = None if groups is None else self._groups(X_cal, groups)
        transformed = y if self.target_ is None else self.target_.forward(y)
        how: dict[str, Any] = {"symmetric": symmetric, "column": groups, "groups": of_rows}
        self.calibration_ = Calibration.of(transformed, raw.mean, raw.scale, **how)
        warn_of_small_groups(self.calibration_)
        if self.training_table_ is not None:  # other rows than those set aside
            self.training_table_ = self.training_table_.calibrated_on(table, y)
        return self

    def _groups(self, X: ArrayLike, column: str | int) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return groups_of(X, column, None if names is None else list(names))

    def calibrate_confidence(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        twin: "str | Truth" = "auto",
        n_simulations: int | None = None,
        shift: "float | Literal['auto']" = "auto",
        random_state: int | np.random.RandomState | None = None,
        truth: "str | Truth | None" = None,
    ) -> Self:
        """Calibrates the confidence intervals on simulated twins of the training data.

        Models are biased where the true function is rough, and one fit does not show it. It shows
        on functions that are known. So this method fits the model to a known function like yours,
        and takes the error that it makes there off the centre of each confidence interval. Then it
        repeats all of this on data sets that are simulated from twins of your data, and makes the
        intervals as wide as would have been right there. Each simulation takes two fits of the
        members, without their retraining: twenty of them take about as long as three fits. New rows
        are calibrated in the same way, at any level. The predicted mean does not change, and lies
        outside of the confidence interval where the model is known to be biased.

        `fit` does this by itself, unless `calibration` is None. Call it to choose another `twin` or
        more simulations. How well the intervals cover depends on how well the twins resemble the
        unknown function: `print(model.confidence_calibration_.summary)` tells what was chosen, what
        changed, and what to doubt. Prediction intervals only become wider where they would not
        contain the confidence interval.

        `fit` replaces the calibration, another call too, and `save` keeps it.
        `Prediction.uncalibrated` has the method's own intervals, `Prediction.twin_errors` what the
        simulations say about each row.

        Args:
            X: the rows of `fit`.
            y: the targets of `fit`, all of them.
            twin: what to simulate from. "forest" (a deep random forest), "boosting" (gradient
                boosting) and "smooth" (kernel ridge regression) are fitted to your data; "auto"
                uses those of the three that are at most one standard error behind the best of them
                on held-out rows. Or a truth of your own.
            n_simulations: simulated data sets, at least 10; None for 20, or 10 with more than
                5,000 rows.
            shift: share of the estimated bias that is taken off the centres. 0 leaves the centres
                at the prediction; where the bias is large, the intervals then cover some rows
                always and others never. "auto" takes 1, or 0.5 where 1 would make the errors of
                the centres on twins more than a quarter larger.
            random_state: seed of the simulations; None for the estimator's own.
            truth: the old name of `twin`.

        Returns:
            The estimator itself.

        Raises:
            NoSuchIntervalError: the method has no confidence interval.
            TwinError: a twin cannot be fitted to the data.
            ValueError: the model was loaded without the optimiser of your own that it had.
        """
        from confide.calibration import twin_argument

        how: dict[str, Any] = {"twin": twin_argument(twin, truth), "shift": shift}
        how |= {"n_simulations": n_simulations}
        if self.targets_ is not None:
            self.targets_ = with_each_target(
                self.targets_,
                y,
                lambda own, column: own.calibrate_confidence(
                    X, column, random_state=random_state, **how
                ),
            )
            return self
        check_is_fitted(self, "fitted_")
        self._refuse_missing_parts()
        table = checked_training_X(self, X, y)
        targets = checked_targets(y, len(table))
        if self.target_ is not None:
            self._refuse_truth(how["twin"])
            targets = self.target_.forward(targets)
        self._warn_of_other_rows(table, targets)
        seed = self.random_state if random_state is None else random_state
        key, matrix = key_from(seed), np.asarray(table, np.float64)
        with self._engine.connected():
            on_twins = self._on_twins(key, self.fitted_, matrix, targets, **how)
        self.confidence_calibration_ = on_twins
        for doubt in self.confidence_calibration_.summary.warnings:
            warnings.warn(doubt, CalibrationWarning, stacklevel=2)
        return self

    def _on_twins(
        self,
        key: PRNGKeyArray,
        fitted: Any,
        X: Float[np.ndarray, "row feature"],
        y: Float64[np.ndarray, " row"],
        sample_weight: Float64[np.ndarray, " row"] | None = None,
        **how: Any,
    ) -> "ConfidenceCalibration":
        # Here, because forests take long to load.
        from confide.calibration import ConfidenceCalibration, MethodRefit

        return ConfidenceCalibration.on_twins(
            split_on_host(key, 16)[-1],  # beyond the keys that a fit has from it
            MethodRefit(self.method, fitted, X, sample_weight, self._engine),
            lambda rows: self.method.predict(fitted, X[rows]),
            X,
            y,
            verbose=bool(self.verbose),
            **how,
        )

    def _calibrated_on_twins(
        self,
        key: PRNGKeyArray,
        fitted: Any,
        X: Float[np.ndarray, "row feature"],
        y: Float64[np.ndarray, " row"],
        sample_weight: Float64[np.ndarray, " row"] | None,
    ) -> "ConfidenceCalibration | None":
        """The calibration that is part of a fit, if it is and the data allow it."""
        if self._calibration is None:
            return None
        try:
            return self._on_twins(key, fitted, np.asarray(X, np.float64), y, sample_weight)
        except NoSuchIntervalError:  # a single network
            return None
        except (TwinError, TrainingDivergedError) as error:
            warnings.warn(
                f"The confidence intervals are not calibrated. {error}",
                CalibrationWarning,
                stacklevel=4,
            )
            return None

    @property
    def _engine(self) -> Engine:
        """Where members are trained; an estimator of the user's own may know nothing of it."""
        return named_engine(getattr(self, "engine", None))

    @property
    def _calibration(self) -> str | None:
        """How `fit` calibrates the confidence intervals, if it does."""
        return with_recipe(self.get_params(deep=False)).get("calibration")

    def _refuse_truth(self, twin: "str | Truth") -> None:
        """Twins of transformed targets are fitted: a truth has targets in their own units."""
        if self.target_ is not None and self.target_.transform and not isinstance(twin, str):
            raise ValueError(
                "A model with a `target_transform` is calibrated on twins that are fitted to its "
                "transformed targets, got a truth of your own. Pass twin='auto', or fit without "
                "the transformation."
            )

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
        self,
        X: ArrayLike,
        *,
        with_novelty: bool = False,
        calibrated: bool = True,
        restored: bool = True,
    ) -> Prediction:
        """A prediction, without the slow parts that the caller does not show.

        Args:
            X: rows like those of `fit`.
            with_novelty: whether each row is compared with the training data.
            calibrated: whether intervals are calibrated, where that can be done.
            restored: whether it is in the target's own units, not in those of the method.
        """
        check_is_fitted(self, "fitted_")
        given, (X, unseen) = X, checked_rows(self, X)
        novelty = self._novelty(X, unseen) if with_novelty else {}
        groups = self._calibrated_groups(given) if calibrated else None
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is seen to below
            prediction = self.method.predict(self.fitted_, X)
            own = self._restored(prediction) if restored else prediction
            numbers = [own.mean, own.scale, *_known_variances(own)]
        wild = ~np.isfinite(np.stack(numbers)).all(axis=0)
        if not wild.any():
            return self._completed(prediction, X, novelty, calibrated, restored, groups)
        # The other rows are answered: the mean row takes the place of those, for the time being.
        tame = np.where(wild[:, None], self.fitted_.standardiser.x_mean, X)
        usual = self.method.predict(self.fitted_, tame)
        answered = self._completed(usual, tame, novelty, calibrated, restored, groups)
        typical, target = self.fitted_.standardiser.y_mean, self.target_ if restored else None
        if target is not None:
            typical = target.restored_value(typical)
        overflown = replace(own, mean=without_overflow(own.mean, typical))
        unbounded = answered.unbounded(wild, overflown)
        return unbounded if target is None else target.unbounded(unbounded)

    def _calibrated_groups(self, X: ArrayLike) -> list[str] | None:
        """The group of each row, where prediction intervals are calibrated by groups."""
        if self.calibration_ is None or self.calibration_.column is None:
            return None
        groups = self._groups(X, self.calibration_.column)
        warn_of_unseen_groups(self.calibration_, groups)
        return groups

    def _restored(self, prediction: Prediction) -> Prediction:
        """In the target's own units."""
        return prediction if self.target_ is None else self.target_.restored(prediction)

    def _completed(
        self,
        prediction: Prediction,
        X: Float[np.ndarray, "row feature"],
        novelty: dict[str, Any],
        calibrated: bool,
        restored: bool,
        groups: list[str] | None,
    ) -> Prediction:
        """With novelty and calibrated intervals, as far as they are asked for and there."""
        prediction = replace(prediction, **novelty)
        if calibrated and self.confidence_calibration_ is not None:
            echo = self.confidence_calibration_.correction.echo
            echoed = mean_of(self.method, echo, X)
            prediction = self.confidence_calibration_.calibrated(echoed, prediction, X)
        if calibrated and self.calibration_ is not None:
            prediction = self.calibration_.calibrated(prediction, groups)
        return self._restored(prediction) if restored else prediction

    def save(self, path: str | os.PathLike[str] | BinaryIO, *, overwrite: bool = False) -> None:
        """Writes the fitted model to one file of arrays and JSON; `confide.load` reads it back.

        The file holds up to 300 rows of the training data, standardised, to compare new rows with.
        If it must not hold them, set `novelty_` to None first: predictions then have no `novelty`,
        and nothing else changes.

        Args:
            path: the name of the file, or a file that is open for writing bytes.
            overwrite: whether to replace a file of that name. It is replaced in one step, and so
                is whole at every moment.

        Raises:
            WouldOverwriteError: there is such a file, and `overwrite` is False.
        """
        from confide.estimators.files import save_estimator

        check_is_fitted(self, "fitted_" if self.targets_ is None else "targets_")
        save_estimator(self, path, overwrite=overwrite)

    def adopt(self, checked: "IntervalRegressor", fitted: Any, novelty: Novelty) -> Self:
        """Stores the results of a fit, all at once: a fit that fails half-way changes nothing.

        Args:
            checked: a copy of the estimator that knows the columns and the target.
            fitted: the method's fit.
            novelty: what rows like the training data look like.

        Returns:
            The estimator itself.
        """
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(checked, name):
                setattr(self, name, getattr(checked, name))
            elif hasattr(self, name):
                delattr(self, name)
        self.fitted_ = fitted
        parameters = with_recipe(checked.get_params(deep=False))
        parameters.pop("engine", None)  # no part of a model: another machine has other ones
        self.parameters_ = {
            **parameters,
            **fitted.learner.chosen,
            "max_epochs": int(fitted.settings.max_epochs),
        }
        self.encoder_, self.epochs_, self.novelty_ = checked.encoder_, checked.epochs_, novelty
        self.target_, self.seen_rows_ = checked.target_, checked.seen_rows_
        # These belong to an earlier fit.
        self.calibration_ = self.confidence_calibration_ = self.training_table_ = None
        self.targets_ = None
        return self

    def _target(self, key: PRNGKeyArray, data: TrainingArrays) -> Target | None:
        """What is done to the targets; an estimator of the user's own may know nothing of it."""
        name, bounds = (getattr(self, each, None) for each in ("target_transform", "bounds"))
        if name == AUTO_TRANSFORM:
            Target.asked(None, bounds, data.y)  # refuses targets before anything is trained
            name = chosen_transform(self, key, data)
        return Target.fitted(name, bounds, data.y)

    @property
    @of_each_target(dict)
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
        data: TrainingArrays,
    ) -> Any:
        """The settings, with a number of epochs chosen if it is "auto"; `checked` keeps why."""
        checked.epochs_ = None  # that of an earlier fit
        settings = self._within_steps(settings, learner, len(data.y))
        if self._leaves_epochs or str(self.max_epochs) != AUTO:
            return settings
        title = f"Choosing epochs for {type(self).__name__}"
        total = search_epochs(settings, learner, len(data.y))
        with progress_bar(title, total, shown=self.verbose) as progress:
            how: dict[str, Any] = {"sample_weight": data.weight, "groups": data.groups}
            checked.epochs_ = choose_epochs(
                key, data.X, data.y, self.method, settings, learner, progress=progress, **how
            )
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

    def _epochs_of_all(self, settings: Any, learner: Learner[Any], n_rows: int, chosen: int) -> int:
        """Passes over all rows of a long table, where so many over its sample were chosen."""
        if self._leaves_epochs:
            most = self._within_steps(self.settings(), learner, n_rows).max_epochs
            return epochs_within(settings, round(most * chosen / settings.max_epochs))
        is_auto = str(self.max_epochs) == AUTO
        return min(chosen, candidates_for(settings, learner, n_rows)[-1]) if is_auto else chosen

    def _with_strength(
        self,
        settings: Any,
        learner: Learner[Any],
        key: PRNGKeyArray,
        data: TrainingArrays,
    ) -> Choice:
        """As much regularised as is best for held-out rows, where there is a choice."""
        epochs, may_shorten = settings.max_epochs, self._leaves_epochs
        total = choice_epochs(learner, epochs, may_shorten=may_shorten)
        title = f"Choosing the strength of {type(self).__name__}"
        with progress_bar(title, total, shown=self.verbose and total > 0) as progress:
            how: dict[str, Any] = {"sample_weight": data.weight, "groups": data.groups}
            how |= {"may_shorten": may_shorten, "progress": progress}
            return choose_strength(key, data.X, data.y, learner, epochs, settings.n_members, **how)

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
        """What is trained, from the constructor's arguments, checked, and from the columns."""
        _, others = self._arguments()
        if others.get("network") == "tabular" and self.encoder_ is not None:
            others["indicators"] = self.encoder_.indicators
        return self.method.learner(self.settings(), n_features, **others)

    def member_epochs(self, n_features: int) -> int:
        """How many epochs of one member a fit takes: the scale of its progress."""
        return int(self.method.member_epochs(self.settings(), self.make_learner(n_features)))

    def expected_epochs(self, n_rows: int, n_features: int, n_fits: int = 1) -> int:
        """About how many epochs of one member it takes to choose how to train, and to fit.

        Args:
            n_rows: number of training rows.
            n_features: number of features.
            n_fits: number of fits that share one choice.

        Returns:
            The number of epochs, summed over all members that are trained.
        """
        learner = self.make_learner(n_features)
        settings = self._within_steps(self.settings(), learner, n_rows)
        epochs, may_shorten = settings.max_epochs, self._leaves_epochs
        choosing = choice_epochs(learner, epochs, may_shorten=may_shorten)
        if str(self.max_epochs) == AUTO and not may_shorten:
            # Most searches end after a quarter of their candidates.
            choosing += search_epochs(settings, learner, n_rows) // 4
        of_a_fit = self.method.member_epochs(settings, learner)
        if self._calibration is not None:
            from confide.calibration import usual_simulations

            of_a_fit += (2 * usual_simulations(n_rows) + 1) * settings.n_members * epochs
        return int(choosing + n_fits * of_a_fit)

    def _arguments(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The constructor's arguments: those of the method's settings, and those of its learner."""
        known = inspect.signature(self.method.Settings).parameters
        given = with_recipe(self.get_params(deep=False))
        settings = {name: value for name, value in given.items() if name in known}
        ours = {*known, "recipe", "calibration", "target_transform", "bounds"}
        ours |= {"random_state", "verbose", "engine"}
        return settings, {name: value for name, value in given.items() if name not in ours}


def _with_calibration(
    one: tuple[int, Row, Any], estimator: IntervalRegressor, X: Float[np.ndarray, "row feature"]
) -> tuple[Any, "ConfidenceCalibration | None"]:
    """The fit to one of many data sets, with the calibration of its confidence intervals."""
    seed, y, fitted = one
    return fitted, estimator._calibrated_on_twins(key_from(seed), fitted, X, y, None)  # noqa: SLF001


def _at_home(fitted: Any) -> Any:
    """A fit that is asked in this process, wherever it was trained."""
    return replace(fitted, learner=fitted.learner.at_home)


def _novelty_of(
    checked: IntervalRegressor, X: Float[np.ndarray, "row feature"], fitted: Any
) -> Novelty:
    without_range = () if checked.encoder_ is None else checked.encoder_.mean_targets
    return Novelty.of_training(X, fitted.standardiser, without_range)


def _known_variances(prediction: Prediction) -> list[Row]:
    variances = (getattr(prediction, name) for name in VARIANCES)
    return [variance for variance in variances if variance is not None]
