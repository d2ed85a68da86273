"""Algorithm 1 of the paper, written once, against the Learner protocol."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
from jaxtyping import Float, Float64, PRNGKeyArray

from confide.learners import Learner, Likelihood, Normal, Plan
from confide.progress import Progress
from confide.randomness import (
    MemberKeys,
    further_keys,
    generator_from,
    member_keys,
    split_on_host,
)

State = TypeVar("State")
# In memory: TrainingData, and an array of member and row. On disk, for a learner that
# `reads_from_disk`: StoredData and StoredTargets.
Data: TypeAlias = Any
Targets: TypeAlias = Any
NoiseVariance: TypeAlias = Callable[
    [Float[np.ndarray, "row feature"]], Float[np.ndarray, "member row"]
]


class Keys(NamedTuple):
    """A key for each member and purpose, so that a new draw in one place changes no other.

    Attributes:
        initialisation: for the weights that members start with.
        training: for the order of the rows in training, and other chance there.
        simulation: for the simulated targets.
        retraining: for the order of the rows in retraining.
    """

    initialisation: MemberKeys
    training: MemberKeys
    simulation: MemberKeys
    retraining: MemberKeys

    @classmethod
    def from_key(cls, key: PRNGKeyArray, n_members: int) -> "Keys":
        """Keys for all members and purposes; member i's depend on the key and i alone."""
        return cls(*(member_keys(purpose, n_members) for purpose in split_on_host(key, 4)))

    @classmethod
    def from_keys(cls, keys: Sequence[PRNGKeyArray], n_members: int) -> "Keys":
        """Those of the members of several ensembles, one after the other."""
        ensembles = [cls.from_key(key, n_members) for key in keys]
        return cls(*(np.concatenate(purpose) for purpose in zip(*ensembles, strict=True)))


@dataclass(frozen=True)
class Bootstrap:
    """How members are retrained.

    The defaults are the paper's method. The code it was published with departed from it in two
    places, kept here as named settings: there retraining began with a "fresh" optimiser, and the
    simulated targets were "restandardised" with their own mean and standard deviation.

    Attributes:
        epochs: epochs of training in all.
        retrain_fraction: r, the share of the epochs that is repeated.
        n_retrains: B, retrainings of each member.
        optimiser: "restored" as it was at the snapshot, or "fresh".
        targets: simulated targets on their "original_scale", or "restandardised".
    """

    epochs: int
    retrain_fraction: float
    n_retrains: int = 1
    optimiser: Literal["restored", "fresh"] = "restored"
    targets: Literal["original_scale", "restandardised"] = "original_scale"

    @property
    def snapshot_epoch(self) -> int:
        """The epoch of the snapshot, N_epoch (1 - r), rounded (Section 3.1)."""
        return round(self.epochs * (1 - self.retrain_fraction))

    @property
    def repeated_epochs(self) -> int:
        """How many epochs are repeated."""
        return self.epochs - self.snapshot_epoch


@dataclass(frozen=True)
class BootstrappedEnsemble(Generic[State]):
    """Members, and the same members retrained on targets simulated from themselves.

    Retraining b of member i is entry b * M + i of `retrained`. A retrained member answers on the
    scale it was trained on: its prediction is `location` plus `scale` times its output.

    Attributes:
        members: the state of the members.
        retrained: the state of the retrained members.
        location: of each retrained member; zero for targets on their original scale.
        scale: of each retrained member; one for targets on their original scale.
    """

    members: State
    retrained: State
    location: Float64[np.ndarray, " retrained"]
    scale: Float64[np.ndarray, " retrained"]

    def part(
        self, learner: Learner[State], members: slice, n_members: int
    ) -> "BootstrappedEnsemble[State]":
        """Some of the members, with their retrainings.

        Args:
            learner: whose states they are.
            members: which of them.
            n_members: how many there are in all.

        Returns:
            The ensemble of these members alone.
        """
        of_members = np.arange(n_members)[members]
        of_retrained = np.arange(len(self.location)).reshape(-1, n_members)[:, members].ravel()
        return BootstrappedEnsemble(
            members=learner.take(self.members, of_members),
            retrained=learner.take(self.retrained, of_retrained),
            location=self.location[of_retrained],
            scale=self.scale[of_retrained],
        )


def train_ensemble(
    keys: Keys,
    learner: Learner[State],
    data: Data,
    targets: Targets,
    epochs: int,
    *,
    progress: Progress | None = None,
) -> State:
    """A deep ensemble: members that differ in initialisation and order of the data alone.

    Args:
        keys: for each member and purpose.
        learner: what is trained.
        data: the rows to train on.
        targets: a row of targets for each member.
        epochs: how many epochs to train.
        progress: called with the number of member-epochs just finished.

    Returns:
        The trained members.
    """
    state = learner.init(keys.initialisation, data)
    plan = Plan(total=epochs, done=0, epochs=epochs)
    return learner.train(keys.training, state, data, targets, plan, progress=progress)


def bootstrapped_ensemble(
    keys: Keys,
    learner: Learner[State],
    data: Data,
    targets: Targets,
    bootstrap: Bootstrap,
    *,
    noise_variance: NoiseVariance | None = None,
    progress: Progress | None = None,
) -> BootstrappedEnsemble[State]:
    """Algorithm 1 (`CIalg`), lines 2 to 6, for all members at once.

    The members are those of `train_ensemble` to the last bit: a snapshot changes nothing.

    Args:
        keys: for each member and purpose.
        learner: what is trained.
        data: the rows.
        targets: those of each member.
        bootstrap: how members are retrained.
        noise_variance: of each member's noise at some inputs, if the learner predicts a mean alone.
        progress: called with the number of member-epochs just finished.

    Returns:
        The members, and the same members retrained.
    """
    n_members = len(targets)
    before, after = bootstrap.snapshot_epoch, bootstrap.repeated_epochs
    to_snapshot = Plan(bootstrap.epochs, 0, before)
    from_snapshot = Plan(bootstrap.epochs, before, after)
    # Line 3: train, keeping the state (weights and optimiser) at the snapshot.
    start = learner.init(keys.initialisation, data)
    snapshot = learner.train(keys.training, start, data, targets, to_snapshot, progress=progress)
    members = learner.train(
        keys.training, snapshot, data, targets, from_snapshot, progress=progress
    )

    # Line 4: simulate new targets from the members' own predictions, a block of rows at a time.
    drawn = _draws(keys.simulation, bootstrap.n_retrains)

    def simulated_blocks() -> Iterator[Float[np.ndarray, "retrained _"]]:
        for inputs in data.input_blocks():
            likelihood = learner.likelihood
            outputs = learner.checked_outputs(members, inputs, n_members)
            if noise_variance is not None:
                variance = noise_variance(inputs)
                likelihood, outputs = Normal(), np.stack([outputs[..., 0], variance], axis=-1)
            yield _simulated(drawn, likelihood, outputs)

    simulated = data.kept("simulated", simulated_blocks(), len(drawn))
    location, scale = np.zeros(len(simulated)), np.ones(len(simulated))
    if bootstrap.targets == "restandardised":
        location, scale = simulated.mean(axis=1), simulated.std(axis=1)
        simulated = (simulated - location[:, None]) / scale[:, None]

    # Line 5: repeat the last epochs from the snapshot on the new targets.
    if bootstrap.optimiser == "fresh":
        snapshot = learner.with_fresh_optimiser(snapshot, data)
    again = learner.take(snapshot, np.tile(np.arange(n_members), bootstrap.n_retrains))
    retraining = [further_keys(keys.retraining, b) for b in range(bootstrap.n_retrains)]
    retrained = learner.train(
        np.concatenate(retraining), again, data, simulated, from_snapshot, progress=progress
    )
    return BootstrappedEnsemble(
        members, retrained, location.astype(np.float64), scale.astype(np.float64)
    )


def simulated_targets(
    keys: MemberKeys,
    likelihood: Likelihood,
    outputs: Float[np.ndarray, "member row output"],
    n_retrains: int,
) -> Float[np.ndarray, "retrained row"]:
    r"""New targets $Y_{\mathrm{new}} \sim \mathcal N(\hat f_i(X), \hat\sigma_i^2(X))$, line 4.

    Those of member i in retraining b depend on its key and b alone.

    Args:
        keys: of each member.
        likelihood: what the outputs mean.
        outputs: of each member at the training rows.
        n_retrains: retrainings of each member.

    Returns:
        Row b * M + i has the targets of member i in retraining b.
    """
    return _simulated(_draws(keys, n_retrains), likelihood, outputs)


def _draws(keys: MemberKeys, n_retrains: int) -> list[np.random.Generator]:
    """The chance in the targets of each retrained member.

    It is drawn in the order of the rows: that of a row depends on the key and on its number alone,
    not on the block it comes in.
    """
    of_each = np.ndindex(n_retrains, len(keys))
    return [generator_from(keys[i], b) for b, i in of_each]


def _simulated(
    drawn: Sequence[np.random.Generator],
    likelihood: Likelihood,
    outputs: Float[np.ndarray, "member row output"],
) -> Float[np.ndarray, "retrained row"]:
    """Targets of the rows that come next."""
    n_members, n_rows, _ = outputs.shape
    targets = np.empty((len(drawn), n_rows), np.float32)
    for row, generator in enumerate(drawn):
        targets[row] = likelihood.sample(generator, outputs[row % n_members])
    return targets
