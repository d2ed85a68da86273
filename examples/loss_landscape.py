# %% [markdown]
# # Why a network is retrained from a snapshot
#
# Algorithm 1 step by step, and the loss on straight lines between its networks. Two members lie in
# different valleys. A member and its retrained self lie in the same valley, whose floor has moved.
# Run as `python examples/loss_landscape.py docs/pictures/loss_landscape.png`.

# %%
import sys

import matplotlib.pyplot as plt
import numpy as np

from confide.bootstrap import Bootstrap, simulated_targets
from confide.drawing import COLOURS
from confide.learners import PAPER, Plan, networks
from confide.methods.members import EnsembleSettings, prepared
from confide.randomness import key_from

# %% A hundred observations of a wave, and two members.
generator = np.random.default_rng(0)
x = generator.uniform(-1.5, 1.5, (100, 1))
y = np.sin(3 * x[:, 0]) + 0.3 * generator.normal(size=100)
bootstrap, n_members = Bootstrap(epochs=400, retrain_fraction=0.3), 2
learner = networks(n_features=1, n_members=n_members, **PAPER)
settings = EnsembleSettings(n_members=n_members)
sets = prepared([key_from(1)], x, y[None], settings, learner)
data, targets = sets.data, sets.targets

# %% Algorithm 1: train to the snapshot, train on, simulate targets, go back and train on those.
keys = sets.keys
before = Plan(bootstrap.epochs, done=0, epochs=bootstrap.snapshot_epoch)
after = Plan(bootstrap.epochs, done=bootstrap.snapshot_epoch, epochs=bootstrap.repeated_epochs)
snapshot = learner.train(
    keys.training, learner.init(keys.initialisation, data), data, targets, before
)
members = learner.train(keys.training, snapshot, data, targets, after)
outputs = learner.predict(members, data.inputs)
new_targets = simulated_targets(keys.simulation, learner.likelihood, outputs, 1)
retrained = learner.train(keys.retraining, snapshot, data, new_targets, after)

# %% The loss on the line from one vector of weights (t = 0) to another (t = 1).


def losses(t, start, end, y):
    """Negative log-likelihood of the targets, without its constant, at each point of the line."""
    weights = ((1 - t)[:, None] * start + t[:, None] * end).astype(np.float32)
    outputs = learner.predict(learner.state_from(weights, n_features=1), data.inputs)
    mean, variance = outputs[..., 0], outputs[..., 1]
    return np.mean(np.log(variance) / 2 + (y - mean) ** 2 / (2 * variance), axis=1)


figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
first, second = members.parameters
retrained_first = retrained.parameters[0]
both = {"observed": targets[0], "new": new_targets[0]}
lines = (
    (axes[0], np.linspace(-0.12, 1.12, 150), second, "member B", "observed"),
    (axes[1], np.linspace(-1, 2, 150), retrained_first, "A, retrained", "new"),
)
for ax, t, end, name, minimised in lines:
    drawn = {which: losses(t, first, end, y) for which, y in both.items()}
    ax.plot(t, drawn["observed"], color="black", label="with the observed targets")
    ax.plot(t, drawn["new"], color=COLOURS["classical"], label="with the new targets")
    for place, words, which in ((0, "member A", "observed"), (1, name, minimised)):
        low = np.interp(place, t, drawn[which])
        ax.plot(place, low, "o", color=COLOURS["observed"], zorder=3)
        ax.annotate(words, (place, low), (0, -16), textcoords="offset points", ha="center")
    ax.set_title(f"member A to {name}: distance {np.linalg.norm(end - first):.1f}", fontsize=11)
    ax.set_xlabel("place on the straight line between their weights")
    ax.set_ylabel("loss")
    ax.margins(y=0.15)
axes[1].legend(frameon=False, loc="upper center", fontsize="small")

# %%
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
