"""What all estimators do, the way scikit-learn expects it: check the data, then ask the method."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO, Self

import numpy as np
from jaxtyping import Float, Float64, PRNGKeyArray
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from confide.diagnostics import Novelty
from confide.encoding import LongTable
from confide.estimators.calibrating import Calibrating
from confide.estimators.long_tables import (
    further_rows,
    in_some_row,
    is_source,
    long_table,
    warn_not_calibrated,
)
from confide.estimators.recipes import with_recipe
from confide.estimators.several import fitted_to_each, of_each_target, several_columns
from confide.estimators.target import AUTO as AUTO_TRANSFORM
from confide.estimators.target import Target, chosen_transform
from confide.estimators.training_rows import SeenRows
from confide.estimators.validation import TrainingArrays, check_targets, checked_training_data
from confide.learners import spread
from confide.methods import fit_batches, held_out_epochs
from confide.progress import Progress, progress_bar, rescaled
from confide.randomness import generator_from, key_from, split_on_host

if TYPE_CHECKING:
    from confide.calibration import ConfidenceCalibration

Row = Float64[np.ndarray, " row"]


class IntervalRegressor(Calibrating):
    """Base of the estimators; a subclass names its method and spells out its arguments."""

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


def _with_calibration(
    one: tuple[int, Row, Any], estimator: IntervalRegressor, X: Float[np.ndarray, "row feature"]
) -> tuple[Any, "ConfidenceCalibration | None"]:
    """The fit to one of many data sets, with the calibration of its confidence intervals."""
    seed, y, fitted = one
    return fitted, estimator._calibrated_on_twins(key_from(seed), fitted, X, y, None)  # noqa: SLF001


def _novelty_of(
    checked: IntervalRegressor, X: Float[np.ndarray, "row feature"], fitted: Any
) -> Novelty:
    without_range = () if checked.encoder_ is None else checked.encoder_.mean_targets
    return Novelty.of_training(X, fitted.standardiser, without_range)
