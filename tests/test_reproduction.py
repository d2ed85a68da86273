"""The paper's Table 1 at small scale: the numbers of the method are those of print."""

import os
from pathlib import Path

import numpy as np
import pytest

N_SIMULATIONS, LEVEL = 10, 0.8


def has_data() -> bool:
    folder = os.environ.get("CONFIDE_DATA")
    return folder is not None and (Path(folder) / "yacht.csv.gz").is_file()


@pytest.fixture(scope="module")
def intervals():
    """Confidence intervals of ten simulated data sets, for the published variant and DE."""
    import jax
    from sklearn.model_selection import train_test_split

    from confide import BootstrappedDeepEnsembleRegressor, DeepEnsembleRegressor
    from confide.datasets import load
    from confide.methods.bootstrapped_deep_ensemble import AS_PUBLISHED
    from confide.simulate import RandomForestTruth

    data = load("yacht")
    truth = RandomForestTruth.from_data(data.X, data.y)
    X_train, X_test = train_test_split(data.X, test_size=0.2, random_state=1)
    methods = {
        "BDE": BootstrappedDeepEnsembleRegressor(**AS_PUBLISHED),
        "DE": DeepEnsembleRegressor(),
    }
    out = {name: [] for name in methods}
    for j in range(N_SIMULATIONS):
        y_train = truth.draw(jax.random.key(j), X_train)
        for name, method in methods.items():
            method.set_params(random_state=j).fit(X_train, y_train)
            out[name].append(method.predict_interval(X_test, LEVEL, kind="confidence")[1])
    return truth.mean(X_test), {name: np.array(each) for name, each in out.items()}


def debiased_brier(true_mean, intervals):
    """The Brier score less what chance alone adds at this number of simulations."""
    inside = (intervals[..., 0] < true_mean) & (true_mean < intervals[..., 1])
    share = inside.mean(axis=0)
    return np.mean((share - LEVEL) ** 2 - share * (1 - share) / (len(inside) - 1))


@pytest.mark.slow
@pytest.mark.skipif(not has_data(), reason="CONFIDE_DATA names no folder with yacht.csv.gz")
@pytest.mark.parametrize(("method", "printed"), [("BDE", 0.11), ("DE", 0.14)])
def test_brier_score_is_that_of_print(intervals, method, printed):
    true_mean, all_intervals = intervals
    score = debiased_brier(true_mean, all_intervals[method])
    jackknife = [
        debiased_brier(true_mean, np.delete(all_intervals[method], j, axis=0))
        for j in range(N_SIMULATIONS)
    ]
    error = np.sqrt((N_SIMULATIONS - 1) * np.var(jackknife))
    # Print has two digits and its own error of some 4 %, and holds chance's share at 100
    # simulations, at most 0.25 / 100.
    assert abs(score - printed) < 4 * error + 0.005 + 4 * 0.04 * printed + 0.0025


@pytest.mark.slow
@pytest.mark.skipif(not has_data(), reason="CONFIDE_DATA names no folder with yacht.csv.gz")
@pytest.mark.parametrize(("method", "printed"), [("BDE", 2.7), ("DE", 2.4)])
def test_width_is_that_of_print(intervals, method, printed):
    widths = np.diff(intervals[1][method], axis=-1).mean(axis=(1, 2))
    error = widths.std(ddof=1) / np.sqrt(N_SIMULATIONS)
    assert abs(widths.mean() - printed) < 4 * error + 0.05  # print has two digits
