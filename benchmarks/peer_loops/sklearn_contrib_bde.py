"""The deep ensemble inside sklearn-contrib-bde, a Bayesian relative with a similar name.

That package trains a deep ensemble and then samples each member's posterior with
microcanonical Langevin Monte Carlo. Only the first half is a peer of ours, so sampling is
set to the least its interface allows: no warm-up, one sample, no thinning. What is left is
one sampler step of length 1e-3 (the learning rate), which moves no weight by more than
about 1e-4, and the compilation of that step.

What differs from the other peers (version 1.0.2, read in its source and checked):

- There is no bootstrap and no variance due to the data; each member is trained once.
- Training is full batch: one epoch is one update. `match="updates"` (the default here)
  asks for as many updates as `epochs` of mini-batches would make, each on all rows;
  `match="epochs"` asks for `epochs` updates, which trains far too little at this
  learning rate. Report both when times are compared.
- Members share the order of the rows (there is none) and differ in starting weights only.
- `patience=None`, the package's default, trains the members and then **returns their
  starting weights**: the callback used without early stopping hands back what it was
  given first. So `patience` is set to a number that cannot be reached, which holds out
  the package's default 15 % of the rows and returns each member's best epoch on them
  (on the Boston set about the 100th of 1,040 updates; all of them are run).
- Starting kernels are normal with variance 1 / inputs; standard deviation is
  softplus(output) + 1e-6; no l2 (`weight_decay` is accepted and not used); Adam's epsilon
  is 1e-8.
- Everything is compiled anew in every `fit`: seconds, whatever the size of the data.
- Members run in parallel only over several JAX devices, which a process must ask for
  before JAX starts (`XLA_FLAGS=--xla_force_host_platform_device_count=2`). That is the
  caller's to set, not ours; with JAX 0.10.2 it fails unless the number of devices divides
  the number of members, so not with two devices and five members.
- Progress goes to standard error; there is no switch for it.
"""

import math
from typing import Literal

import numpy as np
from bde import BdeRegressor
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def fit(
    X: np.ndarray,
    y: np.ndarray,
    *,
    n_members: int = 5,
    epochs: int = 80,
    batch_size: int = 32,
    hidden: tuple[int, ...] = (40, 30, 20),
    retrain_fraction: float = 0.3,
    seed: int = 0,
    match: Literal["updates", "epochs"] = "updates",
) -> TransformedTargetRegressor:
    """Fit the package's deep ensemble on standardised inputs and targets.

    Args:
        X: Training inputs, one row per observation.
        y: Training targets.
        n_members: Number of ensemble members.
        epochs: Passes over the data that the other peers make.
        batch_size: Rows per update in the other peers; here it only counts updates.
        hidden: Widths of the hidden layers.
        retrain_fraction: Ignored: there is no bootstrap.
        seed: Seed of all random numbers.
        match: What to share with the other peers, the number of updates or of passes
            over the data; full batches cannot share both.
    """
    del retrain_fraction
    updates_per_epoch = math.ceil(len(X) / batch_size) if match == "updates" else 1
    n_updates = epochs * updates_per_epoch
    ensemble = BdeRegressor(
        n_members=n_members,
        hidden_layers=list(hidden),
        activation="relu",
        lr=1e-3,
        epochs=n_updates,
        patience=n_updates + 1,
        n_samples=1,
        n_thinning=1,
        warmup_steps=0,
        seed=seed,
    )
    fitted = TransformedTargetRegressor(
        make_pipeline(StandardScaler(), ensemble), transformer=StandardScaler()
    )
    return fitted.fit(np.asarray(X, dtype=np.float32), np.asarray(y, dtype=np.float32))


def predict(fitted: TransformedTargetRegressor, X: np.ndarray) -> np.ndarray:
    """Predict the ensemble mean on the scale of the targets."""
    return np.asarray(fitted.predict(np.asarray(X, dtype=np.float32)), dtype=np.float64)
