# %% [markdown]
# # What "80 % confidence" promises
#
# Forty data sets with the same inputs and new noise, and a fit to each. At one input, the picture
# shows the confidence interval for the true function and the prediction interval of each fit.
# Run as `python examples/what_confidence_promises.py docs/pictures/what_confidence_promises.png`.

# %%
import sys

import matplotlib.pyplot as plt
import numpy as np

from confide import BootstrappedDeepEnsembleRegressor
from confide.drawing import COLOURS

# %% The truth, which only a simulation knows, and forty data sets from it.
N_SETS, LEVEL = 40, 0.8
generator = np.random.default_rng(4)
x = np.sort(generator.uniform(-1.5, 1.5, 200))


def true_mean(x):
    """A wave."""
    return np.sin(3 * x) + 0.5 * x


noise = 0.3
targets = true_mean(x) + noise * generator.normal(size=(N_SETS, x.size))

# %% One fit for each data set, all in one batch; then both intervals at the input 0.4.
place = np.array([[0.4]])
truth = true_mean(place[0, 0])
models = BootstrappedDeepEnsembleRegressor(recipe="paper", max_epochs=100).fit_many(
    x[:, None], targets, random_states=range(N_SETS)
)
predictions = [model.get_prediction(place) for model in models]
confidence = np.array([p.confidence_interval(LEVEL)[0] for p in predictions])
prediction = np.array([p.prediction_interval(LEVEL)[0] for p in predictions])
observations = truth + noise * generator.normal(size=N_SETS)

# %% How often each holds what it is about.
figure, axes = plt.subplots(1, 2, figsize=(9, 5), sharey=True, sharex=True, layout="constrained")
rows = np.arange(N_SETS)
shown = {
    "confidence interval for the true function": (confidence, np.full(N_SETS, truth)),
    "prediction interval for a new observation": (prediction, observations),
}
colours = {True: COLOURS["confidence"], False: COLOURS["observed"]}
for ax, (name, (interval, value)) in zip(axes, shown.items(), strict=True):
    held = (interval[:, 0] < value) & (value < interval[:, 1])
    ax.vlines(truth, -1, N_SETS, color="black", linewidth=1, ls="--", label="true function")
    ax.hlines(rows, *interval.T, color=[colours[bool(h)] for h in held], linewidth=2.5)
    if name.startswith("prediction"):
        ax.plot(value, rows, ".", color="black", markersize=5, label="new observation")
    ax.plot([], [], color=colours[True], linewidth=2.5, label="holds it")
    ax.plot([], [], color=colours[False], linewidth=2.5, label="misses it")
    ax.set_title(f"80 % {name}\n{held.sum()} of {N_SETS} hold it", fontsize=11)
    ax.set_xlabel("y at x = 0.4")
    ax.legend(frameon=False, loc="upper left", ncols=2, fontsize="small")
axes[0].set(ylabel="data set", ylim=(-1.5, N_SETS + 6))

# %%
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
