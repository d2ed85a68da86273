"""What an estimator says of rows: the method's prediction, completed and calibrated."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from jaxtyping import Float, Float64
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from confide.calibration import Calibration
from confide.diagnostics import NOVEL, Novelty, Unseen
from confide.encoding import index_of
from confide.estimators.groups import groups_of, warn_of_unseen_groups
from confide.estimators.planning import Planning
from confide.estimators.several import Predictions, of_each_target, stacked
from confide.estimators.target import Target
from confide.estimators.training_rows import SeenRows, TrainingRows
from confide.estimators.validation import checked_rows, checked_X, without_overflow
from confide.methods import mean_of
from confide.prediction import VARIANCES, Prediction

if TYPE_CHECKING:
    from confide.calibration import ConfidenceCalibration

Row = Float64[np.ndarray, " row"]


class Predicting(Planning):
    """Predictions of a fitted estimator, with novelty and whatever calibrations it has."""

    # What a fit leaves, or None; model files keep it under these names.
    fitted_: Any
    parameters_: Mapping[str, Any]
    """The constructor's arguments as they were at the fit, with the epochs that it had."""
    novelty_: Novelty | None = None
    calibration_: Calibration | None = None
    confidence_calibration_: "ConfidenceCalibration | None" = None
    training_table_: TrainingRows | None = None
    target_: Target | None = None
    seen_rows_: SeenRows | None = None

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

    def _groups(self, X: ArrayLike, column: str | int) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return groups_of(X, column, None if names is None else list(names))

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


def _known_variances(prediction: Prediction) -> list[Row]:
    variances = (getattr(prediction, name) for name in VARIANCES)
    return [variance for variance in variances if variance is not None]
