"""Golden numbers of the paper's recipe. `python tests/golden/paper.py` writes them anew.

They were made by the code of version 0.1, before learners came in through an argument, and have
not been made again since. Whoever does must say here why the paper's numbers may change.

There was a case of calibration on twins, which is not the paper's. It was removed when calibration
began to correct for bias: its numbers had to change, and tests/calibration has exact ones instead.
"""

import hashlib
import json
import platform
from pathlib import Path

import jaxlib
import numpy as np

import confide
from confide.methods import REGISTRY
from confide.simulate import NetworkTruth

FILE = Path(__file__).with_suffix(".json")
NETWORK = {"hidden_layer_sizes": (40, 30, 20), "batch_size": 32, "learning_rate": 1e-3}
PAPER = {"recipe": "paper"}
FEW = {**NETWORK, "max_epochs": 6, "random_state": 0}
CASES = {
    "bootstrapped": (
        "BootstrappedDeepEnsembleRegressor",
        {**PAPER, "n_members": 5, "retrain_fraction": 0.3, "n_retrains": 1, "l2_penalty": None},
    ),
    "bootstrapped, as published": (
        "BootstrappedDeepEnsembleRegressor",
        {
            **PAPER,
            "n_members": 3,
            "n_retrains": 2,
            **REGISTRY["bootstrapped_deep_ensemble"].AS_PUBLISHED,
        },
    ),
    "deep": ("DeepEnsembleRegressor", {**PAPER, "n_members": 5, "l2_penalty": None}),
    "naive": ("NaiveBootstrapRegressor", {**PAPER, "n_members": 5, "l2_penalty": None}),
    "naive, as published": (
        "NaiveBootstrapRegressor",
        {**PAPER, "n_members": 5, **REGISTRY["naive_bootstrap"].AS_PUBLISHED},
    ),
    "dropout": ("ConcreteDropoutRegressor", {"n_passes": 20}),
    "dropout, as published": (
        "ConcreteDropoutRegressor",
        {"n_passes": 20, **REGISTRY["concrete_dropout"].AS_PUBLISHED},
    ),
    "quality-driven": ("QualityDrivenEnsembleRegressor", {"n_members": 5}),
    "quality-driven, as published": (
        "QualityDrivenEnsembleRegressor",
        {"n_members": 5, **REGISTRY["quality_driven_ensemble"].AS_PUBLISHED},
    ),
}


def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A curve in two of three features, noise that grows, and rows to predict."""
    generator = np.random.default_rng(2026)
    X = generator.normal(size=(90, 3))
    noise = (0.1 + 0.2 * np.abs(X[:, 1])) * generator.normal(size=90)
    return X[:75], (np.sin(2 * X[:, 0]) + X[:, 1] + noise)[:75], X[75:]


def answers(prediction: confide.Prediction) -> dict[str, np.ndarray]:
    """All arrays that a prediction has."""
    names = ("mean", "aleatoric_variance", "epistemic_variance", "classical_variance")
    found = {name: getattr(prediction, name) for name in (*names, "optimisation_variance")}
    found["prediction_interval"] = prediction.prediction_interval(0.95)
    if prediction.confidence_law is not None:
        found["confidence_interval"] = prediction.confidence_interval(0.95)
    return {name: array for name, array in found.items() if array is not None}


def numbers(case: str) -> dict[str, np.ndarray]:
    """What a case's estimator says of the new rows."""
    X, y, new = data()
    if case == "network truth":
        truth = NetworkTruth.from_data(X, y, random_state=0)
        return {"mean": truth.mean(new), "std": truth.std(new)}
    if case == "many":
        model = confide.BootstrappedDeepEnsembleRegressor(**FEW, **PAPER)
        fits = list(model.fit_many(X, [y, y[::-1]], [3, 4]))
        return answers(fits[1].get_prediction(new))
    if case == "auto":
        model = confide.DeepEnsembleRegressor(
            **{**FEW, **PAPER, "max_epochs": "auto", "n_members": 2}
        )
        model.fit(X, y)
        return {"epochs": np.array([model.max_epochs_]), **answers(model.get_prediction(new))}
    name, parameters = CASES[case]
    return answers(getattr(confide, name)(**FEW, **parameters).fit(X, y).get_prediction(new))


ALL = (*CASES, "network truth", "many", "auto")


def machine() -> str:
    """What the last bits depend on: XLA's version, and the instructions of the processor."""
    flags = Path("/proc/cpuinfo")
    lines = flags.read_text().splitlines() if flags.exists() else [platform.processor()]
    instructions = next((line for line in lines if line.startswith("flags")), platform.processor())
    words = f"{jaxlib.__version__} {platform.machine()} {instructions}"
    return hashlib.sha256(words.encode()).hexdigest()[:16]


if __name__ == "__main__":
    found = {
        case: {name: array.ravel().tolist() for name, array in numbers(case).items()}
        for case in ALL
    }
    FILE.write_text(json.dumps({"machine": machine(), "numbers": found}, indent=0) + "\n")
