# %% [markdown]
# # Quick start: a table, a model, both intervals
#
# Scikit-learn's diabetes data: 442 people, ten measurements, and how far the disease had progressed
# a year later. Run as `python examples/quick_start.py docs/pictures/quick_start.png`.

# %%
import sys

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from confide import BootstrappedDeepEnsembleRegressor
from confide.plot import IntervalsDisplay, SplitDisplay

# %% Fit; nothing has to be scaled.
X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=1)
model = BootstrappedDeepEnsembleRegressor(random_state=0).fit(X_train, y_train)

# %% Both intervals of the rows that were kept back, and where the uncertainty comes from.
figure, (above, below) = plt.subplots(
    2, 1, figsize=(8, 6.5), sharex=True, height_ratios=(3, 2), layout="constrained"
)
IntervalsDisplay.from_estimator(model, X_test, y_test, confidence_level=0.9, ax=above)
SplitDisplay.from_estimator(model, X_test, ax=below)
above.set(xlabel="", ylabel="disease progression")

# %%
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
