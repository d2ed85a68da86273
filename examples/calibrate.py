# %% [markdown]
# # Prediction intervals before and after calibration
#
# Networks that were trained for too long are overconfident. Held-out rows correct this. Run as
# `python examples/calibrate.py docs/pictures/calibrate.png`.

# %%
import sys

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from confide import BootstrappedDeepEnsembleRegressor
from confide.plot import plot_observed_coverage

# %% A half to train on, a quarter to calibrate with, a quarter to judge.
X, y = load_diabetes(return_X_y=True, as_frame=True)
X_train, X_rest, y_train, y_rest = train_test_split(X, y, test_size=0.5, random_state=0)
X_cal, X_test, y_cal, y_test = train_test_split(X_rest, y_rest, test_size=0.5, random_state=0)

# %% Eighty epochs are too many for such noisy data.
model = BootstrappedDeepEnsembleRegressor(recipe="paper", max_epochs=80, random_state=0).fit(
    X_train, y_train
)
model.calibrate(X_cal, y_cal)
prediction = model.get_prediction(X_test)

# %% How often new observations lie in the prediction intervals, at nineteen levels.
figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
plot_observed_coverage(
    {
        "as the networks say": prediction.uncalibrated.observed_coverage(y_test),
        "calibrated": prediction.observed_coverage(y_test),
    },
    ax=ax,
)

# %%
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
