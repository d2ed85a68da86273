# %% [markdown]
# # Honest confidence intervals: corrected for bias, and calibrated on simulated twins of the data
#
# Networks smooth a rough function, and their own confidence intervals do not show it. Here the true
# function is known, so you can see where the intervals contain it and where they miss it. Run as
# `python examples/honest_confidence.py docs/pictures/honest_confidence.png`, or cell by cell.

# %%
import sys

import matplotlib.pyplot as plt
import numpy as np

from confide import BootstrappedDeepEnsembleRegressor
from confide.plot import ConfidenceCalibrationDisplay

LEVEL = 0.9

# %% The truth: slow on the left, with fast waves on the right, which networks smooth over.
generator = np.random.default_rng(1)


def true_mean(x):
    """The function that the confidence interval is about."""
    return np.sin(2 * x) + 0.6 * np.sin(12 * x) * (x > 0)


x = generator.uniform(-1.5, 1.5, 300)
y = true_mean(x) + 0.2 * generator.normal(size=x.size)

# %% Fit the paper's networks, and calibrate them as those of the default recipe are.
model = BootstrappedDeepEnsembleRegressor(recipe="paper", calibration="twins", random_state=0)
model.fit(x[:, None], y)

# %% Where does each confidence interval hold the true function?
grid = np.linspace(-1.5, 1.5, 601)
prediction = model.get_prediction(grid[:, None])


def held(intervals):
    """The share of x at which the true function lies inside."""
    lower, upper = intervals.T
    return np.mean((lower <= true_mean(grid)) & (true_mean(grid) <= upper))


own = held(prediction.uncalibrated.confidence_interval(LEVEL))
calibrated = held(prediction.confidence_interval(LEVEL))

# %%
figure, axes = plt.subplots(
    2, 1, figsize=(8, 6.5), sharex=True, height_ratios=(3, 2), layout="constrained"
)
axes[0].scatter(x, y, s=7, color="#777777", linewidth=0, zorder=3, label="observed")
ConfidenceCalibrationDisplay.from_prediction(
    prediction, grid[:, None], feature=0, confidence_level=LEVEL, axes=axes
)
axes[0].plot(grid, true_mean(grid), "--", color="#D55E00", linewidth=1.6, label="true function")
axes[0].legend(loc="upper left", fontsize="small", ncols=2, edgecolor="none")
axes[0].set_title(
    f"{100 * LEVEL:.0f} % confidence intervals hold the true function at {100 * own:.0f} % of x "
    f"(the method's own) and at {100 * calibrated:.0f} % (calibrated)",
    loc="left",
    fontsize="small",
)
axes[0].set_ylabel("y")
axes[1].set_xlabel("x")

# %%
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
