"""What a fit trains and for how long: from the constructor's arguments, and from the data."""

import inspect
import warnings
from dataclasses import replace
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Float64, PRNGKeyArray
from sklearn.base import BaseEstimator, RegressorMixin

from confide.budget import of_worker
from confide.encoding import Encoder
from confide.engines import Engine, named_engine
from confide.errors import SlowerTrainingWarning
from confide.estimators.intervals import IntervalMixin
from confide.estimators.recipes import MOST_RESTARTS, MOST_STEPS, left_to_recipe, with_recipe
from confide.estimators.validation import TrainingArrays
from confide.learners import Learner, TrainingDivergedError
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
    refuse_auto_epochs_without_law,
    search_epochs,
)
from confide.progress import progress_bar

Row = Float64[np.ndarray, " row"]


class Planning(IntervalMixin, RegressorMixin, BaseEstimator):
    """How the estimators train: settings and learner, epochs and strength, and on which engine.

    The constructor's arguments that the method's `Settings` have go there. The others go to the
    function that makes its learner.
    """

    method: ClassVar[ModuleType]
    # Model files keep these under their names.
    encoder_: Encoder | None = None
    epochs_: EpochChoice | None = None

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

    def memory_of_fit(self, shape: tuple[int, int]) -> float:
        """Bytes that a worker needs for a whole fit to so many rows and columns."""
        n_members: int = self.settings().n_members
        if self._calibration is None:
            return of_worker(shape, 2 * n_members)  # they, and they retrained
        from confide.calibration import usual_simulations

        return of_worker(shape, 2 * usual_simulations(shape[0]) * n_members)

    def _with_epochs(
        self,
        checked: "Planning",
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

    def _arguments(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The constructor's arguments: those of the method's settings, and those of its learner."""
        known = inspect.signature(self.method.Settings).parameters
        given = with_recipe(self.get_params(deep=False))
        settings = {name: value for name, value in given.items() if name in known}
        ours = {*known, "recipe", "calibration", "target_transform", "bounds"}
        ours |= {"random_state", "verbose", "engine"}
        return settings, {name: value for name, value in given.items() if name not in ours}

    @property
    def _engine(self) -> Engine:
        """Where members are trained; an estimator of the user's own may know nothing of it."""
        return named_engine(getattr(self, "engine", None))

    @property
    def _calibration(self) -> str | None:
        """How `fit` calibrates the confidence intervals, if it does."""
        return with_recipe(self.get_params(deep=False)).get("calibration")


def _at_home(fitted: Any) -> Any:
    """A fit that is asked in this process, wherever it was trained."""
    return replace(fitted, learner=fitted.learner.at_home)
