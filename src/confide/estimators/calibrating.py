"""Estimators whose intervals are calibrated: on held-out rows, and on twins of the data."""

import warnings
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from jaxtyping import Float, Float64, PRNGKeyArray
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from confide.calibration import Calibration
from confide.checks import checked_targets
from confide.errors import CalibrationWarning, NoSuchIntervalError, TwinError
from confide.estimators.groups import warn_of_small_groups
from confide.estimators.own_parts import is_own
from confide.estimators.predicting import Predicting
from confide.estimators.several import with_each_target
from confide.estimators.validation import checked_training_X, checked_X
from confide.learners import TrainingDivergedError
from confide.randomness import key_from, split_on_host
from confide.standardise import Standardiser

if TYPE_CHECKING:
    from confide.calibration import ConfidenceCalibration
    from confide.simulate import Truth

Row = Float64[np.ndarray, " row"]


class Calibrating(Predicting):
    """Both calibrations of an estimator: those of prediction and of confidence intervals."""

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
