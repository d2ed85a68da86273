# %% [markdown]
# # Three sources of uncertainty, seen one at a time
#
# Noise makes observations scatter. Random training makes five networks with the same data disagree.
# Finite data makes one network shift when it is retrained from its snapshot on other noise. Run as
# `python examples/three_sources.py docs/pictures/three_sources.png`.

# %%
import sys

import matplotlib.pyplot as plt
import numpy as np

from confide import BootstrappedDeepEnsembleRegressor
from confide.drawing import COLOURS, SOURCES
from confide.methods.bootstrapped_deep_ensemble import member_means

# %% Sixty observations of a wave.
generator = np.random.default_rng(3)
x = np.sort(generator.uniform(-1.5, 1.5, 60))
y = np.sin(3 * x) + 0.5 * x + 0.3 * generator.normal(size=x.size)

# %% Eight members, each retrained eight times, so that there is something to see.
model = BootstrappedDeepEnsembleRegressor(
    recipe="paper", n_members=8, n_retrains=8, max_epochs=125, random_state=1
).fit(x[:, None], y)
grid = np.linspace(-1.5, 1.5, 151)
prediction = model.get_prediction(grid[:, None])
members, retrained = member_means(model.fitted_, grid[:, None])

# %% Each source by itself: what it moves.
figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), sharey=True, layout="constrained")
noise, finite, training = axes
noise.scatter(x, y, s=12, color=COLOURS["observed"], linewidth=0, zorder=3)
spread = 1.28 * np.sqrt(prediction.aleatoric_variance)
band = {"color": COLOURS["aleatoric"], "label": "80 % of new observations"}
noise.fill_between(grid, prediction.mean - spread, prediction.mean + spread, **band)
noise.plot(grid, prediction.mean, color="black", linewidth=1.2, label="prediction")
noise.legend(frameon=False, loc="upper left", fontsize="small")
line = {"linewidth": 1, "alpha": 0.8}
finite.plot(grid, retrained[:, 0].T, color=COLOURS["classical"], **line)
finite.plot(grid, members[0], color="black", linewidth=1.4, label="one member")
finite.plot([], [], color=COLOURS["classical"], label="the same, retrained on new noise")
finite.legend(frameon=False, loc="upper left", fontsize="small")
training.plot(grid, members.T, color=COLOURS["optimisation"], **line)
training.plot([], [], color=COLOURS["optimisation"], label="members, same data")
training.plot(grid, prediction.mean, color="black", linewidth=1.4, label="their mean")
training.legend(frameon=False, loc="upper left", fontsize="small")
for ax, source in zip(axes, ("aleatoric", "classical", "optimisation"), strict=True):
    ax.set_title(SOURCES[source], fontsize=11)
    ax.set_xlabel("x")
noise.set(ylabel="y", ylim=(-2.1, 2.9))

# %%
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
