"""The estimators: one class a method, its arguments spelled out."""

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from confide.estimators.base import IntervalRegressor
from confide.learners import Learner, named_learner
from confide.methods import (
    bootstrapped_deep_ensemble,
    concrete_dropout,
    deep_ensemble,
    naive_bootstrap,
    quality_driven_ensemble,
)

Estimator = TypeVar("Estimator", bound=IntervalRegressor)


class BootstrappedDeepEnsembleRegressor(IntervalRegressor):
    """Networks with a confidence interval for the true function and a prediction interval.

    Trains a deep ensemble, goes back to a snapshot near the end of training, repeats the last
    stretch on targets simulated from the members themselves, and reads the variance that is due
    to finite data off the shift (Sluijterman, Cator and Heskes, Algorithms 1 and 2). X and y are
    standardised inside, and tables with categories, dates and missing values are encoded.

    Args:
        n_members: number of networks, at least 2. More make the prediction steadier and shrink
            the share of random training in its uncertainty.
        retrain_fraction: share of the epochs that is repeated; the paper finds 0.2 to 0.4 good.
        n_retrains: retrainings of each member. More make the classical variance steadier.
        network: "paper" for the built-in network, or a function that makes one of your own:
            make(key, n_features) returns an Equinox or Flax NNX module that maps one row to a mean,
            or to a mean and a log standard deviation; make(n_features) returns a PyTorch module
            that does so for a batch of rows.
        hidden_layer_sizes: units of each hidden layer of the built-in network.
        max_epochs: passes over the data, or "auto" to choose their number by the likelihood of
            held-out rows and then train on all of them: better predictions, but confidence
            intervals that covered less than those of 80 epochs (`results/epochs.md`). The search
            takes as long as the fit, a few times as long for tables of some thousand rows or less.
        batch_size: rows in a step.
        learning_rate: step size of Adam, or a schedule: for JAX an optax schedule, for PyTorch a
            function from the optimiser and the number of steps to a scheduler.
        optimiser: None for Adam, or one of your own with its own learning rate: for JAX an optax
            transformation, for PyTorch a function from parameters to a `torch.optim` optimiser.
        l2_penalty: strength of the penalty on the built-in network's hidden kernels, or None for
            1 / number of rows.
        device: where PyTorch trains, such as "cuda"; None for the processor.
        retrain_optimiser: "restored" as it was at the snapshot (the paper), or "fresh" (its
            published code).
        retrain_targets: "original_scale" (the paper), or "restandardised" (its published code).
        n_jobs: threads, or None for one per core. Results do not depend on it.
        verbose: show a progress bar while fitting.
        random_state: seed; with the same seed on the same machine, the same numbers.

    Attributes:
        n_features_in_: number of features seen in `fit`.
        feature_names_in_: their names, where X had names.
        max_epochs_: number of epochs of the fit.
        epochs_: how it was chosen (`EpochChoice`), where `max_epochs="auto"`.
        encoder_: how the columns of a table become numbers; None where X was an array.
        fitted_: the fitted method, an immutable value.

    Example:
        >>> import numpy as np
        >>> x = np.linspace(-1, 1, 200)[:, None]
        >>> y = np.sin(3 * x[:, 0]) + np.random.default_rng(0).normal(0, 0.1, 200)
        >>> model = BootstrappedDeepEnsembleRegressor(random_state=0).fit(x, y)
        >>> y_pred, interval = model.predict_interval(x, confidence_level=0.9, kind="confidence")
        >>> interval.shape
        (200, 2)
    """

    method: ClassVar[ModuleType] = bootstrapped_deep_ensemble

    def __init__(
        self,
        n_members: int = 5,
        retrain_fraction: float = 0.3,
        n_retrains: int = 1,
        network: str | Callable[..., Any] = "paper",
        hidden_layer_sizes: Sequence[int] = (40, 30, 20),
        max_epochs: int | Literal["auto"] = 80,
        batch_size: int = 32,
        learning_rate: float | Callable[..., Any] = 1e-3,
        optimiser: Any = None,
        l2_penalty: float | None = None,
        device: str | None = None,
        retrain_optimiser: Literal["restored", "fresh"] = "restored",
        retrain_targets: Literal["original_scale", "restandardised"] = "original_scale",
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_members = n_members
        self.retrain_fraction = retrain_fraction
        self.n_retrains = n_retrains
        self.network = network
        self.hidden_layer_sizes = hidden_layer_sizes
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.optimiser = optimiser
        self.l2_penalty = l2_penalty
        self.device = device
        self.retrain_optimiser = retrain_optimiser
        self.retrain_targets = retrain_targets
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state


class DeepEnsembleRegressor(IntervalRegressor):
    """A plain deep ensemble (Lakshminarayanan et al. 2017), with its own intervals.

    Its prediction is that of `BootstrappedDeepEnsembleRegressor` with the same seed, to the last
    bit. Its uncertainty leaves out what is due to finite data. With one member it is a plain
    network with a predicted variance, and has no confidence interval.

    Args:
        n_members: number of networks.
        network: "paper" for the built-in network, or a function that makes one of your own:
            make(key, n_features) returns an Equinox or Flax NNX module that maps one row to a mean,
            or to a mean and a log standard deviation; make(n_features) returns a PyTorch module
            that does so for a batch of rows.
        hidden_layer_sizes: units of each hidden layer of the built-in network.
        max_epochs: passes over the data, or "auto" to choose their number by the likelihood of
            held-out rows and then train on all of them: better predictions, but confidence
            intervals that covered less than those of 80 epochs (`results/epochs.md`). The search
            takes as long as the fit, a few times as long for tables of some thousand rows or less.
        batch_size: rows in a step.
        learning_rate: step size of Adam, or a schedule: for JAX an optax schedule, for PyTorch a
            function from the optimiser and the number of steps to a scheduler.
        optimiser: None for Adam, or one of your own with its own learning rate: for JAX an optax
            transformation, for PyTorch a function from parameters to a `torch.optim` optimiser.
        l2_penalty: strength of the penalty on the built-in network's hidden kernels, or None for
            1 / number of rows.
        device: where PyTorch trains, such as "cuda"; None for the processor.
        n_jobs: threads, or None for one per core. Results do not depend on it.
        verbose: show a progress bar while fitting.
        random_state: seed; with the same seed on the same machine, the same numbers.

    Attributes:
        n_features_in_: number of features seen in `fit`.
        feature_names_in_: their names, where X had names.
        max_epochs_: number of epochs of the fit.
        epochs_: how it was chosen (`EpochChoice`), where `max_epochs="auto"`.
        encoder_: how the columns of a table become numbers; None where X was an array.
        fitted_: the fitted method, an immutable value.
    """

    method: ClassVar[ModuleType] = deep_ensemble

    def __init__(
        self,
        n_members: int = 5,
        network: str | Callable[..., Any] = "paper",
        hidden_layer_sizes: Sequence[int] = (40, 30, 20),
        max_epochs: int | Literal["auto"] = 80,
        batch_size: int = 32,
        learning_rate: float | Callable[..., Any] = 1e-3,
        optimiser: Any = None,
        l2_penalty: float | None = None,
        device: str | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_members = n_members
        self.network = network
        self.hidden_layer_sizes = hidden_layer_sizes
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.optimiser = optimiser
        self.l2_penalty = l2_penalty
        self.device = device
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state


class NaiveBootstrapRegressor(IntervalRegressor):
    """The naive bootstrap (Efron 1982; Heskes 1997): every network sees its own resampled rows.

    The spread between its networks stands for finite data and random training together.

    Args:
        n_members: number of networks, at least 2.
        network: "paper" for the built-in network, or a function that makes one of your own:
            make(key, n_features) returns an Equinox or Flax NNX module that maps one row to a mean,
            or to a mean and a log standard deviation; make(n_features) returns a PyTorch module
            that does so for a batch of rows.
        hidden_layer_sizes: units of each hidden layer of the built-in network.
        max_epochs: passes over the data, or "auto" to choose their number by the likelihood of
            held-out rows and then train on all of them: better predictions, but confidence
            intervals that covered less than those of 80 epochs (`results/epochs.md`). The search
            takes as long as the fit, a few times as long for tables of some thousand rows or less.
        batch_size: rows in a step.
        learning_rate: step size of Adam, or a schedule: for JAX an optax schedule, for PyTorch a
            function from the optimiser and the number of steps to a scheduler.
        optimiser: None for Adam, or one of your own with its own learning rate: for JAX an optax
            transformation, for PyTorch a function from parameters to a `torch.optim` optimiser.
        l2_penalty: strength of the penalty on the built-in network's hidden kernels, or None for
            1 / number of rows.
        device: where PyTorch trains, such as "cuda"; None for the processor.
        spread: variance between members as of a "sample" (divisor M - 1) or a "population" (M, the
            paper's published code).
        n_jobs: threads, or None for one per core. Results do not depend on it.
        verbose: show a progress bar while fitting.
        random_state: seed; with the same seed on the same machine, the same numbers.

    Attributes:
        n_features_in_: number of features seen in `fit`.
        feature_names_in_: their names, where X had names.
        max_epochs_: number of epochs of the fit.
        epochs_: how it was chosen (`EpochChoice`), where `max_epochs="auto"`.
        encoder_: how the columns of a table become numbers; None where X was an array.
        fitted_: the fitted method, an immutable value.
    """

    method: ClassVar[ModuleType] = naive_bootstrap

    def __init__(
        self,
        n_members: int = 5,
        network: str | Callable[..., Any] = "paper",
        hidden_layer_sizes: Sequence[int] = (40, 30, 20),
        max_epochs: int | Literal["auto"] = 80,
        batch_size: int = 32,
        learning_rate: float | Callable[..., Any] = 1e-3,
        optimiser: Any = None,
        l2_penalty: float | None = None,
        device: str | None = None,
        spread: Literal["sample", "population"] = "sample",
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_members = n_members
        self.network = network
        self.hidden_layer_sizes = hidden_layer_sizes
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.optimiser = optimiser
        self.l2_penalty = l2_penalty
        self.device = device
        self.spread = spread
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state


class ConcreteDropoutRegressor(IntervalRegressor):
    """Concrete Dropout (Gal, Hron and Kendall 2017): one network whose units drop out at random.

    The dropout rates are learned with the weights; the spread over random passes is its epistemic
    uncertainty.

    Args:
        hidden_layer_sizes: units of each hidden layer.
        max_epochs: passes over the data.
        batch_size: rows in a step.
        learning_rate: step size of Adam.
        n_passes: networks thinned at random that make a prediction.
        prior_length_scale: of the prior on the weights.
        regulariser: the inventors' ("concrete"), or "none" (what the paper's published code came
            to).
        n_jobs: threads, or None for one per core. Results do not depend on it.
        verbose: show a progress bar while fitting.
        random_state: seed; with the same seed on the same machine, the same numbers.

    Attributes:
        n_features_in_: number of features seen in `fit`.
        feature_names_in_: their names, where X had names.
        encoder_: how the columns of a table become numbers; None where X was an array.
        fitted_: the fitted method, an immutable value.
    """

    method: ClassVar[ModuleType] = concrete_dropout

    def __init__(
        self,
        hidden_layer_sizes: Sequence[int] = (40, 30, 20),
        max_epochs: int = 240,
        batch_size: int = 32,
        learning_rate: float = 1e-3,
        n_passes: int = 200,
        prior_length_scale: float = 1e-4,
        regulariser: Literal["concrete", "none"] = "concrete",
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.n_passes = n_passes
        self.prior_length_scale = prior_length_scale
        self.regulariser = regulariser
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state


class QualityDrivenEnsembleRegressor(IntervalRegressor):
    """Quality-Driven Ensembles (Pearce et al. 2018): networks that output prediction bounds.

    They are trained for one level, have a prediction interval at that level alone, and no
    confidence interval. Their prediction is the middle of the interval.

    Args:
        confidence_level: the level that the networks are trained for.
        n_members: number of networks, at least 2.
        hidden_layer_sizes: units of each hidden layer.
        max_epochs: passes over the data.
        batch_size: rows in a step.
        learning_rate: step size of Adam.
        coverage_penalty: the price of capturing too few (the paper's published code: 15).
        softening: how sharply the loss counts what is captured.
        initial_bound: the bounds start at plus and minus this, in standard deviations of y (the
            paper's published code: 0).
        captured_width: the width counts rows captured for certain ("hard"), or softly ("soft", the
            paper's published code).
        spread: variance between members as of a "sample" (divisor M - 1) or a "population" (M, the
            paper's published code).
        n_jobs: threads, or None for one per core. Results do not depend on it.
        verbose: show a progress bar while fitting.
        random_state: seed; with the same seed on the same machine, the same numbers.

    Attributes:
        n_features_in_: number of features seen in `fit`.
        feature_names_in_: their names, where X had names.
        encoder_: how the columns of a table become numbers; None where X was an array.
        fitted_: the fitted method, an immutable value.
    """

    method: ClassVar[ModuleType] = quality_driven_ensemble

    def __init__(
        self,
        confidence_level: float = 0.95,
        n_members: int = 5,
        hidden_layer_sizes: Sequence[int] = (40, 30, 20),
        max_epochs: int = 240,
        batch_size: int = 32,
        learning_rate: float = 1e-3,
        coverage_penalty: float = 4.0,
        softening: float = 160.0,
        initial_bound: float = 3.0,
        captured_width: Literal["hard", "soft"] = "hard",
        spread: Literal["sample", "population"] = "sample",
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.confidence_level = confidence_level
        self.n_members = n_members
        self.hidden_layer_sizes = hidden_layer_sizes
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.coverage_penalty = coverage_penalty
        self.softening = softening
        self.initial_bound = initial_bound
        self.captured_width = captured_width
        self.spread = spread
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state


class BootstrappedEnsembleRegressor(IntervalRegressor):
    """Any learner with a confidence interval for the true function and a prediction interval.

    The bootstrap of `BootstrappedDeepEnsembleRegressor` around boosted trees, or a learner of your
    own: members are trained, the last stretch is repeated on targets simulated from themselves, and
    the shift tells the variance that is due to finite data. Boosted trees predict a mean alone:
    their noise is learnt from residuals of rows that were left out in turn, which takes ten more
    trainings of a member.

    Args:
        learner: "xgboost" or "lightgbm" (both need `pip install 'confide[boosting]'`), or a
            `confide.learners.Learner`.
        learner_parameters: parameters of the named library, in its own words, such as
            {"max_depth": 6, "learning_rate": 0.1}.
        n_members: number of members, at least 2; boosted trees differ by the rows that they sample,
            and by columns where `learner_parameters` say so.
        retrain_fraction: share of the epochs that is repeated.
        n_retrains: retrainings of each member. More make the classical variance steadier.
        max_epochs: rounds of boosting, or what a step of your learner is.
        n_jobs: threads, or None for one per core. Results do not depend on it.
        verbose: show a progress bar while fitting.
        random_state: seed; with the same seed on the same machine, the same numbers.

    Attributes:
        n_features_in_: number of features seen in `fit`.
        feature_names_in_: their names, where X had names.
        encoder_: how the columns of a table become numbers; None where X was an array.
        fitted_: the fitted method, an immutable value.
    """

    method: ClassVar[ModuleType] = bootstrapped_deep_ensemble

    def __init__(
        self,
        learner: str | Learner[Any] = "xgboost",
        learner_parameters: Mapping[str, Any] | None = None,
        n_members: int = 5,
        retrain_fraction: float = 0.3,
        n_retrains: int = 1,
        max_epochs: int = 200,
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.learner = learner
        self.learner_parameters = learner_parameters
        self.n_members = n_members
        self.retrain_fraction = retrain_fraction
        self.n_retrains = n_retrains
        self.max_epochs = max_epochs
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def make_learner(self, n_features: int) -> Learner[Any]:
        """The named learner, or the one that was passed."""
        del n_features
        return named_learner(self.learner, self.learner_parameters, self.n_jobs)


ESTIMATORS: dict[str, type[IntervalRegressor]] = {
    estimator.__name__: estimator
    for estimator in (
        BootstrappedDeepEnsembleRegressor,
        DeepEnsembleRegressor,
        NaiveBootstrapRegressor,
        ConcreteDropoutRegressor,
        QualityDrivenEnsembleRegressor,
        BootstrappedEnsembleRegressor,
    )
}


def register(estimator: type[Estimator]) -> type[Estimator]:
    """Makes an estimator of your own known to `confide.load`; also as a decorator.

    Example:
        >>> from confide.estimators import DeepEnsembleRegressor, register
        >>> @register
        ... class CautiousRegressor(DeepEnsembleRegressor):
        ...     "A deep ensemble of another name."
    """
    if not (isinstance(estimator, type) and issubclass(estimator, IntervalRegressor)):
        raise TypeError(
            "Only a subclass of confide.estimators.IntervalRegressor can be registered, got "
            f"{estimator!r}."
        )
    known = ESTIMATORS.setdefault(estimator.__name__, estimator)
    if known.__module__ != estimator.__module__ or known.__qualname__ != estimator.__qualname__:
        raise ValueError(
            f"There is an estimator {estimator.__name__} already, in {known.__module__}. Give "
            "yours another name: model files know estimators by it."
        )
    ESTIMATORS[estimator.__name__] = estimator
    return estimator
