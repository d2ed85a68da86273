"""The estimators: one class a method, its arguments spelled out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from confide.engines import Engine
from confide.estimators.base import IntervalRegressor
from confide.estimators.descriptions import described
from confide.learners import Learner, named_learner
from confide.methods import (
    bootstrapped_deep_ensemble,
    concrete_dropout,
    deep_ensemble,
    naive_bootstrap,
    quality_driven_ensemble,
)

Estimator = TypeVar("Estimator", bound=IntervalRegressor)

# Like `n_jobs`, `engine` changes where work is done, and not the results. So it is an
# argument of the constructor, which `clone`, pipelines and searches carry along. Model files
# do not keep it.


@described(
    n_members="""number of networks, at least 2. More make the prediction steadier and shrink the
        share of random training in its uncertainty."""
)
@dataclass(eq=False, repr=False)
class BootstrappedDeepEnsembleRegressor(IntervalRegressor):
    """Networks with a confidence interval for the true function and a prediction interval.

    Trains a deep ensemble, goes back to a snapshot near the end of training, repeats the last
    stretch on targets simulated from the members themselves, and measures how far the predictions
    shift: this shows the variance that is due to finite data (Sluijterman, Cator and Heskes,
    Algorithms 1 and 2). X and y are standardised inside, and tables with categories, dates and
    missing values are encoded.

    Example:
        >>> import numpy as np
        >>> x = np.linspace(-1, 1, 200)[:, None]
        >>> y = np.sin(3 * x[:, 0]) + np.random.default_rng(0).normal(0, 0.1, 200)
        >>> quick = {"max_epochs": 20, "calibration": None}  # left out, the recipe decides
        >>> model = BootstrappedDeepEnsembleRegressor(**quick, random_state=0).fit(x, y)
        >>> y_pred, interval = model.predict_interval(x, confidence_level=0.9, kind="confidence")
        >>> interval.shape
        (200, 2)
    """

    method: ClassVar[ModuleType] = bootstrapped_deep_ensemble

    n_members: int = 5
    retrain_fraction: float | None = None
    n_retrains: int = 1
    recipe: Literal["tabular", "paper"] = "tabular"
    network: str | Callable[..., Any] | None = None
    hidden_layer_sizes: Sequence[int] | None = None
    max_epochs: int | Literal["auto"] | None = None
    batch_size: int | None = None
    learning_rate: float | Callable[..., Any] | None = None
    optimiser: Any = None
    dropout: float | Literal["auto"] | None = None
    smooth: bool | Literal["auto"] | None = None
    l2_penalty: float | None = None
    device: str | None = None
    calibration: Literal["recipe", "twins"] | None = "recipe"
    retrain_optimiser: Literal["restored", "fresh"] = "restored"
    retrain_targets: Literal["original_scale", "restandardised"] = "original_scale"
    target_transform: Literal["log", "sqrt", "yeo-johnson", "auto"] | None = None
    bounds: tuple[float | None, float | None] | None = None
    n_jobs: int | None = None
    engine: str | Engine | None = None
    verbose: bool = False
    random_state: int | np.random.RandomState | None = None


@described(n_members="number of networks.")
@dataclass(eq=False, repr=False)
class DeepEnsembleRegressor(IntervalRegressor):
    """A plain deep ensemble (Lakshminarayanan et al. 2017), with its own intervals.

    Its prediction is that of `BootstrappedDeepEnsembleRegressor` with the same seed, to the last
    bit. Its uncertainty leaves out what is due to finite data. With one member it is a plain
    network with a predicted variance, and has no confidence interval.
    """

    method: ClassVar[ModuleType] = deep_ensemble

    n_members: int = 5
    recipe: Literal["tabular", "paper"] = "tabular"
    network: str | Callable[..., Any] | None = None
    hidden_layer_sizes: Sequence[int] | None = None
    max_epochs: int | Literal["auto"] | None = None
    batch_size: int | None = None
    learning_rate: float | Callable[..., Any] | None = None
    optimiser: Any = None
    dropout: float | Literal["auto"] | None = None
    smooth: bool | Literal["auto"] | None = None
    l2_penalty: float | None = None
    device: str | None = None
    calibration: Literal["recipe", "twins"] | None = "recipe"
    target_transform: Literal["log", "sqrt", "yeo-johnson", "auto"] | None = None
    bounds: tuple[float | None, float | None] | None = None
    n_jobs: int | None = None
    engine: str | Engine | None = None
    verbose: bool = False
    random_state: int | np.random.RandomState | None = None


@described()
@dataclass(eq=False, repr=False)
class NaiveBootstrapRegressor(IntervalRegressor):
    """The naive bootstrap (Efron 1982; Heskes 1997): every network sees its own resampled rows.

    The spread between its networks stands for finite data and random training together.
    """

    method: ClassVar[ModuleType] = naive_bootstrap

    n_members: int = 5
    recipe: Literal["tabular", "paper"] = "tabular"
    network: str | Callable[..., Any] | None = None
    hidden_layer_sizes: Sequence[int] | None = None
    max_epochs: int | Literal["auto"] | None = None
    batch_size: int | None = None
    learning_rate: float | Callable[..., Any] | None = None
    optimiser: Any = None
    dropout: float | Literal["auto"] | None = None
    smooth: bool | Literal["auto"] | None = None
    l2_penalty: float | None = None
    device: str | None = None
    calibration: Literal["recipe", "twins"] | None = "recipe"
    spread: Literal["sample", "population"] = "sample"
    target_transform: Literal["log", "sqrt", "yeo-johnson", "auto"] | None = None
    bounds: tuple[float | None, float | None] | None = None
    n_jobs: int | None = None
    engine: str | Engine | None = None
    verbose: bool = False
    random_state: int | np.random.RandomState | None = None


@described(
    hidden_layer_sizes="units of each hidden layer.",
    max_epochs="passes over the data.",
    learning_rate="step size of Adam.",
)
@dataclass(eq=False, repr=False)
class ConcreteDropoutRegressor(IntervalRegressor):
    """Concrete Dropout (Gal, Hron and Kendall 2017): one network whose units drop out at random.

    The dropout rates are learned with the weights; the spread over random passes is its epistemic
    uncertainty.
    """

    method: ClassVar[ModuleType] = concrete_dropout

    hidden_layer_sizes: Sequence[int] = (40, 30, 20)
    max_epochs: int = 240
    batch_size: int = 32
    learning_rate: float = 1e-3
    n_passes: int = 200
    prior_length_scale: float = 1e-4
    regulariser: Literal["concrete", "none"] = "concrete"
    target_transform: Literal["log", "sqrt", "yeo-johnson", "auto"] | None = None
    bounds: tuple[float | None, float | None] | None = None
    n_jobs: int | None = None
    engine: str | Engine | None = None
    verbose: bool = False
    random_state: int | np.random.RandomState | None = None


@described(
    hidden_layer_sizes="units of each hidden layer.",
    max_epochs="passes over the data.",
    learning_rate="step size of Adam.",
)
@dataclass(eq=False, repr=False)
class QualityDrivenEnsembleRegressor(IntervalRegressor):
    """Quality-Driven Ensembles (Pearce et al. 2018): networks that output prediction bounds.

    They are trained for one level, have a prediction interval at that level alone, and no
    confidence interval. Their prediction is the middle of the interval.
    """

    method: ClassVar[ModuleType] = quality_driven_ensemble

    confidence_level: float = 0.95
    n_members: int = 5
    hidden_layer_sizes: Sequence[int] = (40, 30, 20)
    max_epochs: int = 240
    batch_size: int = 32
    learning_rate: float = 1e-3
    coverage_penalty: float = 4.0
    softening: float = 160.0
    initial_bound: float = 3.0
    captured_width: Literal["hard", "soft"] = "hard"
    spread: Literal["sample", "population"] = "sample"
    target_transform: Literal["log", "sqrt", "yeo-johnson", "auto"] | None = None
    bounds: tuple[float | None, float | None] | None = None
    n_jobs: int | None = None
    engine: str | Engine | None = None
    verbose: bool = False
    random_state: int | np.random.RandomState | None = None


@described(
    n_members="""number of members, at least 2; boosted trees differ by the rows that they sample,
        and by columns where `learner_parameters` say so.""",
    max_epochs="rounds of boosting, or steps of your own learner.",
)
@dataclass(eq=False, repr=False)
class BootstrappedEnsembleRegressor(IntervalRegressor):
    """Any learner with a confidence interval for the true function and a prediction interval.

    The bootstrap of `BootstrappedDeepEnsembleRegressor` around boosted trees, or a learner of your
    own: members are trained, the last stretch is repeated on targets simulated from themselves, and
    the shift shows the variance that is due to finite data. Boosted trees predict a mean alone:
    their noise is learnt from residuals of rows that were left out in turn, which takes ten more
    trainings of a member.
    """

    method: ClassVar[ModuleType] = bootstrapped_deep_ensemble

    learner: str | Learner[Any] = "xgboost"
    learner_parameters: Mapping[str, Any] | None = None
    n_members: int = 5
    retrain_fraction: float = 0.3
    n_retrains: int = 1
    max_epochs: int = 200
    target_transform: Literal["log", "sqrt", "yeo-johnson", "auto"] | None = None
    bounds: tuple[float | None, float | None] | None = None
    n_jobs: int | None = None
    engine: str | Engine | None = None
    verbose: bool = False
    random_state: int | np.random.RandomState | None = None

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
        ... class BraveRegressor(DeepEnsembleRegressor):
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
