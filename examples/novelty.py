# %% [markdown]
# # Rows unlike the training data
#
# Networks give an answer for any row. Far from the training data you cannot trust either interval,
# and the novelty p-value is small. Run as `python examples/novelty.py docs/pictures/novelty.png`.

# %%
import sys

import matplotlib.pyplot as plt
import numpy as np

from confide import BootstrappedDeepEnsembleRegressor
from confide.drawing import COLOURS
from confide.plot import plot_intervals

# %% Observations on two stretches, none in between and none beyond.
generator = np.random.default_rng(2)
x = np.concatenate([generator.uniform(-1.5, -0.6, 150), generator.uniform(0.3, 1.2, 150)])
y = np.sin(3 * x) + 0.2 * generator.normal(size=x.size)
model = BootstrappedDeepEnsembleRegressor(recipe="paper", max_epochs=100, random_state=0).fit(
    x[:, None], y
)

# %% Asked everywhere, also where nothing was seen.
grid = np.linspace(-2.5, 2.5, 251)
prediction = model.get_prediction(grid[:, None])
novel = prediction.is_novel

# %%
figure, (above, below) = plt.subplots(
    2, 1, figsize=(8, 5.6), sharex=True, height_ratios=(3, 1), layout="constrained"
)
above.scatter(x, y, s=7, color=COLOURS["observed"], linewidth=0, zorder=3, label="observed")
plot_intervals(prediction, grid, confidence_level=0.9, ax=above)
above.plot(grid, np.sin(3 * grid), "--", color="#F0E442", linewidth=1.6, label="true function")
above.legend(frameon=False, loc="upper center", ncols=3, fontsize="small")
above.set_ylabel("y")
below.plot(grid, prediction.novelty, color="black")
below.axhline(0.01, color=COLOURS["observed"], linestyle="--", linewidth=1)
below.set(xlabel="x", ylabel="novelty, p-value", xlim=(-2.5, 2.5), ylim=(0, 1))
for ax in (above, below):
    ax.fill_between(
        grid, 0, 1, where=novel, transform=ax.get_xaxis_transform(), color="#D55E00", alpha=0.12
    )
below.annotate("shaded: novel,\np below 0.01", (1.85, 0.5), ha="center", va="center", fontsize=9)

# %%
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
