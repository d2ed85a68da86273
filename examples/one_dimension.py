# %% [markdown]
# # One dimension: both intervals, and where the uncertainty comes from
#
# A function we know, noise that grows with x, and fewer observations on the left. Run as
# `python examples/one_dimension.py docs/one_dimension.png`, or cell by cell in a notebook.

# %%
import sys

import matplotlib.pyplot as plt
import numpy as np

from confide import BootstrappedDeepEnsembleRegressor
from confide.plot import plot_intervals, plot_split

# %% The truth: a wave, with noise of standard deviation 0.1 to 0.4.
generator = np.random.default_rng(1)


def true_mean(x):
    """The function that the confidence interval is about."""
    return np.sin(3 * x) + 0.5 * x


x = np.concatenate([generator.uniform(-1.5, 0.0, 40), generator.uniform(0.0, 1.5, 260)])
y = true_mean(x) + (0.25 + 0.1 * x) * generator.normal(size=x.size)

# %% Fit, and ask once for everything.
model = BootstrappedDeepEnsembleRegressor(recipe="paper", max_epochs=150, random_state=0)
model.fit(x[:, None], y)
grid = np.linspace(-1.5, 1.5, 301)
prediction = model.get_prediction(grid[:, None])

# %% The confidence interval widens where data are missing, the prediction interval where noise is.
figure, (above, below) = plt.subplots(
    2, 1, figsize=(8, 6.5), sharex=True, height_ratios=(3, 2), layout="constrained"
)
above.scatter(x, y, s=8, color="#D55E00", alpha=0.6, linewidth=0, zorder=3, label="observed")
plot_intervals(prediction, grid, confidence_level=0.9, ax=above)
above.plot(grid, true_mean(grid), "--", color="#F0E442", linewidth=1.6, label="true function")
above.legend(frameon=False, loc="upper left", fontsize="small", ncols=2)
above.set_ylabel("y")
plot_split(prediction, grid, ax=below)
below.set_xlabel("x")

# %%
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
