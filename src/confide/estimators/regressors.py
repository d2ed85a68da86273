"""The estimators: one class a method, its arguments spelled out."""

from collections.abc import Sequence
from types import ModuleType
from typing import ClassVar, Literal

import numpy as np

from confide.estimators.base import EnsembleRegressor
from confide.methods import (
    bootstrapped_deep_ensemble,
    concrete_dropout,
    deep_ensemble,
    naive_bootstrap,
    quality_driven_ensemble,
)


class BootstrappedDeepEnsembleRegressor(EnsembleRegressor):
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
        hidden_layer_sizes: units of each hidden layer.
        max_epochs: passes over the data, or "auto" to choose their number by the likelihood of
            held-out rows and then train on all of them: better predictions, but confidence
            intervals that covered less than those of 80 epochs (`results/epochs.md`). The search
            takes as long as the fit, a few times as long for tables of some thousand rows or less.
        batch_size: rows in a step.
        learning_rate: step size of Adam.
        l2_penalty: strength of the penalty on the hidden kernels, or None for 1 / number of rows.
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
        hidden_layer_sizes: Sequence[int] = (40, 30, 20),
        max_epochs: int | Literal["auto"] = 80,
        batch_size: int = 32,
        learning_rate: float = 1e-3,
        l2_penalty: float | None = None,
        retrain_optimiser: Literal["restored", "fresh"] = "restored",
        retrain_targets: Literal["original_scale", "restandardised"] = "original_scale",
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_members = n_members
        self.retrain_fraction = retrain_fraction
        self.n_retrains = n_retrains
        self.hidden_layer_sizes = hidden_layer_sizes
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.l2_penalty = l2_penalty
        self.retrain_optimiser = retrain_optimiser
        self.retrain_targets = retrain_targets
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state


class DeepEnsembleRegressor(EnsembleRegressor):
    """A plain deep ensemble (Lakshminarayanan et al. 2017), with its own intervals.

    Its prediction is that of `BootstrappedDeepEnsembleRegressor` with the same seed, to the last
    bit. Its uncertainty leaves out what is due to finite data. With one member it is a plain
    network with a predicted variance, and has no confidence interval.

    Args:
        n_members: number of networks.
        hidden_layer_sizes: units of each hidden layer.
        max_epochs: passes over the data, or "auto" to choose their number by the likelihood of
            held-out rows and then train on all of them: better predictions, but confidence
            intervals that covered less than those of 80 epochs (`results/epochs.md`). The search
            takes as long as the fit, a few times as long for tables of some thousand rows or less.
        batch_size: rows in a step.
        learning_rate: step size of Adam.
        l2_penalty: strength of the penalty on the hidden kernels, or None for 1 / number of rows.
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
        hidden_layer_sizes: Sequence[int] = (40, 30, 20),
        max_epochs: int | Literal["auto"] = 80,
        batch_size: int = 32,
        learning_rate: float = 1e-3,
        l2_penalty: float | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_members = n_members
        self.hidden_layer_sizes = hidden_layer_sizes
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.l2_penalty = l2_penalty
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state


class NaiveBootstrapRegressor(EnsembleRegressor):
    """The naive bootstrap (Efron 1982; Heskes 1997): every network sees its own resampled rows.

    The spread between its networks stands for finite data and random training together.

    Args:
        n_members: number of networks, at least 2.
        hidden_layer_sizes: units of each hidden layer.
        max_epochs: passes over the data, or "auto" to choose their number by the likelihood of
            held-out rows and then train on all of them: better predictions, but confidence
            intervals that covered less than those of 80 epochs (`results/epochs.md`). The search
            takes as long as the fit, a few times as long for tables of some thousand rows or less.
        batch_size: rows in a step.
        learning_rate: step size of Adam.
        l2_penalty: strength of the penalty on the hidden kernels, or None for 1 / number of rows.
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
        hidden_layer_sizes: Sequence[int] = (40, 30, 20),
        max_epochs: int | Literal["auto"] = 80,
        batch_size: int = 32,
        learning_rate: float = 1e-3,
        l2_penalty: float | None = None,
        spread: Literal["sample", "population"] = "sample",
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_members = n_members
        self.hidden_layer_sizes = hidden_layer_sizes
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.l2_penalty = l2_penalty
        self.spread = spread
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state


class ConcreteDropoutRegressor(EnsembleRegressor):
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


class QualityDrivenEnsembleRegressor(EnsembleRegressor):
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


ESTIMATORS: dict[str, type[EnsembleRegressor]] = {
    estimator.__name__: estimator
    for estimator in (
        BootstrappedDeepEnsembleRegressor,
        DeepEnsembleRegressor,
        NaiveBootstrapRegressor,
        ConcreteDropoutRegressor,
        QualityDrivenEnsembleRegressor,
    )
}
