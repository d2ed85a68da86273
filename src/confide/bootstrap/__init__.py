"""The bootstrap: go back to a snapshot, retrain on simulated targets, keep the shift."""

from confide.bootstrap.algorithm import (
    Bootstrap,
    BootstrappedEnsemble,
    Keys,
    bootstrapped_ensemble,
    simulated_targets,
    train_ensemble,
)

__all__ = [
    "Bootstrap",
    "BootstrappedEnsemble",
    "Keys",
    "bootstrapped_ensemble",
    "simulated_targets",
    "train_ensemble",
]
