# %% [markdown]
# # Networks that follow the noise
#
# The same table after 20 and after 400 epochs. A network that fits the noise of its rows also fits
# new noise when it is retrained, so the variance due to finite data becomes as large as the noise.
# Run as `python examples/overfitting.py docs/pictures/overfitting.png`.

# %%
import sys

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from confide import BootstrappedDeepEnsembleRegressor
from confide.plot import plot_overfitting

# %% Fit, and look at the rows that were trained on.
X, y = load_diabetes(return_X_y=True, as_frame=True)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
for ax, epochs in zip(axes, (20, 400), strict=True):
    model = BootstrappedDeepEnsembleRegressor(
        recipe="paper", max_epochs=epochs, random_state=0
    ).fit(X, y)
    plot_overfitting(model.get_prediction(X), ax=ax)
    ax.set_title(f"{epochs} epochs", fontsize=11)

# %%
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
