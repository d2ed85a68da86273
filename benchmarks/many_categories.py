"""What a column of thousands of categories is worth as mean targets, beside leaving it out.

    python benchmarks/many_categories.py --seeds 5

Two simulated tables of 3,000 rows: 1,500 job titles, from common to rare, that matter for the
salary, or that do not; beside them two numbers that do. Each fit is judged on 2,000 further rows,
a quarter of which have a title that training did not have. The same rows, with and without.
"""

import argparse
import warnings

import numpy as np
import pandas as pd

from confide import BootstrappedDeepEnsembleRegressor
from confide.encoding import EncodedTable

ROWS, TITLES = 3000, 1500


def table(seed: int, effect: float, n: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows of people with one of many job titles, and their salaries."""
    of_titles = np.random.default_rng(1000 + seed)
    worth = effect * of_titles.normal(size=TITLES)
    share = of_titles.dirichlet(np.full(TITLES, 0.5))
    generator = np.random.default_rng([seed, n])
    title, x = generator.choice(TITLES, n, p=share), generator.normal(size=(n, 2))
    y = np.sin(2 * x[:, 0]) + x[:, 1] + worth[title] + generator.normal(0, 0.5, n)
    return pd.DataFrame({"title": [f"title {i}" for i in title], "a": x[:, 0], "b": x[:, 1]}), y


def scores(seed: int, effect: float, *, used: bool) -> tuple[float, float, float]:
    """RMSE on new rows, and coverage and mean width of the 90 % prediction intervals."""
    (X, y), (X_new, y_new) = table(seed, effect, ROWS), table(seed, effect, 2000)
    X_new.loc[::4, "title"] = "unheard of"
    model = BootstrappedDeepEnsembleRegressor(recipe=ARGUMENTS.recipe, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(EncodedTable.for_training(X, y if used else None), y)
        mean, bounds = model.predict_interval(X_new, 0.9)
    held = (bounds[:, 0] <= y_new) & (y_new <= bounds[:, 1])
    return float(np.sqrt(np.mean((y_new - mean) ** 2))), held.mean(), np.ptp(bounds, 1).mean()


def compare(name: str, effect: float) -> None:
    """Prints the scores with and without, and their difference with its standard error."""
    with_it, without = (
        np.array([scores(seed, effect, used=used) for seed in range(ARGUMENTS.seeds)])
        for used in (True, False)
    )
    difference = with_it - without
    error = difference.std(axis=0, ddof=1) / np.sqrt(ARGUMENTS.seeds)
    for i, score in enumerate(("RMSE", "coverage", "width")):
        print(
            f"{name}: {score} {with_it[:, i].mean():.3f} with, {without[:, i].mean():.3f} without, "
            f"difference {difference[:, i].mean():+.4f} (se {error[i]:.4f})",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--recipe", default="tabular")
    ARGUMENTS = parser.parse_args()
    compare("titles that matter", 1.0)
    compare("titles that do not", 0.0)
