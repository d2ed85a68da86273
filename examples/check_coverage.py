# %% [markdown]
# # Would confidence and prediction intervals cover on data like mine?
#
# A twin of the diabetes data has a known true function. Twenty data sets are drawn from it, and
# three methods are fitted to each. At every row we count how often both intervals cover. Run as
# `python examples/check_coverage.py docs/pictures/check_coverage.png`.

# %%
import sys

from sklearn.datasets import load_diabetes

from confide import (
    BootstrappedDeepEnsembleRegressor,
    DeepEnsembleRegressor,
    NaiveBootstrapRegressor,
    coverage_check,
)

# %% One call.
X, y = load_diabetes(return_X_y=True, as_frame=True)
methods = {
    "bootstrapped": BootstrappedDeepEnsembleRegressor(recipe="paper", max_epochs=20),
    "deep ensemble": DeepEnsembleRegressor(recipe="paper", max_epochs=20),
    "naive bootstrap": NaiveBootstrapRegressor(recipe="paper", max_epochs=20),
}
report = coverage_check(methods, X, y, n_simulations=20, confidence_levels=0.8, random_state=0)

# %% A violin is the spread of the coverage over rows; honest ones lie on the line at each.
figure = report.plot()

# %%
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
