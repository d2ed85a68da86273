"""What the arguments of the estimators mean, once: the docstring of each class is made from it."""

import inspect
from collections.abc import Callable
from textwrap import fill
from typing import TypeVar

Class = TypeVar("Class", bound=type)

ARGUMENTS = {
    "n_members": "number of networks, at least 2.",
    "retrain_fraction": """share of the epochs that is repeated; the paper finds 0.2 to 0.4 good
        for its networks.""",
    "n_retrains": "retrainings of each member. More make the classical variance steadier.",
    "recipe": """which network, and how it is trained: "tabular" for tables of all kinds, or
        "paper" for the paper's settings. Arguments that are left at None are the recipe's; see
        `confide.estimators.RECIPES`.""",
    "dropout": """share of hidden units that are left out in a step of training; "auto" chooses
        none, 0.3 or 0.5 on rows that are held out. Only for the recipe "tabular".""",
    "smooth": """whether the network has no high frequencies, for a smooth function; "auto" chooses
        on rows that are held out. Only for the recipe "tabular".""",
    "network": """None for the recipe's network, or a function that makes one of your own:
        make(key, n_features) returns an Equinox or Flax NNX module that maps one row to a mean, or
        to a mean and a log standard deviation; make(n_features) returns a PyTorch module that does
        so for a batch of rows.""",
    "hidden_layer_sizes": "units of each hidden layer of the recipe's network.",
    "max_epochs": """passes over the data. Left out or "auto", the recipe "tabular" chooses 128, 32
        or 16 of them on rows that are held out, and fewer for long tables. For "paper" they are 80;
        "auto" then chooses their number by the likelihood of held-out rows, which makes better
        predictions, but confidence intervals that cover less often (`results/epochs.md`).""",
    "batch_size": "rows in a step.",
    "learning_rate": """step size of Adam, or a schedule: for JAX an optax schedule, for PyTorch a
        function from the optimiser and the number of steps to a scheduler.""",
    "optimiser": """None for Adam, or one of your own with its own learning rate: for JAX an optax
        transformation, for PyTorch a function from parameters to a `torch.optim` optimiser.""",
    "l2_penalty": """strength of the penalty on the built-in network's hidden kernels, or None for
        1 / number of rows.""",
    "device": """where PyTorch trains, such as "cuda"; None for the processor.""",
    "calibration": """how `fit` calibrates the confidence intervals: on simulated "twins" of the
        data (see `calibrate_confidence`), which takes as long as about nine fits, or not at all
        (None). "recipe" means "twins" for the recipe "tabular" and None for "paper" and for
        networks of your own.""",
    "retrain_optimiser": """"restored" as it was at the snapshot (the paper), or "fresh" (its
        published code).""",
    "retrain_targets": """"original_scale" (the paper), or "restandardised" (its published
        code).""",
    "spread": """variance between members as of a "sample" (divisor M - 1) or a "population" (M,
        the paper's published code).""",
    "n_passes": "random passes for a prediction: each drops other units of the network.",
    "prior_length_scale": "of the prior on the weights.",
    "regulariser": """that of the authors ("concrete"), or "none" (the paper's published code, in
        effect).""",
    "confidence_level": "the level that the networks are trained for.",
    "coverage_penalty": """weight of the penalty for capturing too few targets (the paper's
        published code: 15).""",
    "softening": "how sharply the loss counts what is captured.",
    "initial_bound": """the bounds start at plus and minus this, in standard deviations of y (the
        paper's published code: 0).""",
    "captured_width": """the width counts rows captured for certain ("hard"), or softly ("soft",
        the paper's published code).""",
    "learner": """"xgboost" or "lightgbm" (both need `pip install 'confide[boosting]'`), or a
        `confide.learners.Learner`.""",
    "learner_parameters": """parameters of the library, under its own names, such as
        {"max_depth": 6, "learning_rate": 0.1}.""",
    "target_transform": """function of the targets that the model is trained on: "log" for positive
        ones, "sqrt" for those of at least zero, "yeo-johnson" for all. "auto" takes the one with
        the best CRPS on held-out rows, or none; this takes up to four more fits. Predictions and
        both intervals are in the units of the target, and the confidence interval is for its
        mean.""",
    "bounds": """lowest and highest value that a target can have, such as (0, None): no prediction
        and no interval crosses them.""",
    "n_jobs": "threads, or None for one per core. Results do not depend on it.",
    "engine": """where members are trained: None for this process, "joblib" for joblib's backend,
        "ray" for a Ray on this machine, or an engine such as
        `confide.engines.RayCluster("10.0.0.1:6379")`. Several targets are fitted there side by
        side. Results do not depend on it.""",
    "verbose": "show a progress bar while fitting.",
    "random_state": "seed. The same seed gives the same numbers on the same machine.",
}
ATTRIBUTES = {
    "n_features_in_": "number of features seen in `fit`.",
    "feature_names_in_": "their names, where X had names.",
    "max_epochs_": "number of epochs of the fit.",
    "epochs_": """how it was chosen (`EpochChoice`), where `max_epochs="auto"`.""",
    "encoder_": "how the columns of a table become numbers; None where X was an array.",
    "fitted_": "the fitted method, an immutable value.",
    "targets_": """where `fit` had several targets, the fitted model of each by its name; it has the
        attributes above. Else None.""",
}


def described(**own: str) -> Callable[[Class], Class]:
    """Adds `Args:` and `Attributes:` to the docstring of an estimator, before its example.

    Args:
        own: what arguments mean to this estimator, where it differs from the others.
    """

    def describe(estimator: Class) -> Class:
        text, example, rest = inspect.cleandoc(estimator.__doc__ or "").partition("\n\nExample:")
        names = inspect.signature(estimator).parameters
        arguments = _listed("Args", {name: own.get(name, ARGUMENTS[name]) for name in names})
        estimator.__doc__ = f"{text}\n\n{arguments}\n\n{_listed('Attributes', ATTRIBUTES)}"
        estimator.__doc__ += example + rest
        return estimator

    return describe


def _listed(title: str, meanings: dict[str, str]) -> str:
    """A section of a docstring, in Google's style."""
    lines = [
        fill(
            f"{name}: {' '.join(text.split())}",
            96,
            initial_indent="    ",
            subsequent_indent="        ",
        )
        for name, text in meanings.items()
    ]
    return "\n".join([f"{title}:", *lines])
