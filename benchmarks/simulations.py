"""How many simulations the calibration on twins needs: ten beside twenty, on short and long tables.

`python benchmarks/simulations.py` prints, for tables of 300 and of 5,200 rows, how often 80 %
confidence intervals of `ConfidenceRegressor` contain a known function, and their mean width, with
ten and with twenty simulated data sets; about an hour.
"""

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from confide import ConfidenceRegressor

LEVEL, NOISE, N_FEATURES = 0.8, 3.0, 8
# Rows of a table, and how many tables.
SIZES = {300: 16, 5_200: 4}


def truth(X: np.ndarray) -> np.ndarray:
    """Friedman's first function."""
    waves = 10 * np.sin(np.pi * X[:, 0] * X[:, 1])
    return waves + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]


def judged(n_rows: int, seed: int, n_simulations: int, X_test: np.ndarray) -> tuple[float, float]:
    """Coverage and mean width of the intervals of one table."""
    rng = np.random.default_rng(seed + 10)
    X = rng.uniform(size=(n_rows, N_FEATURES))
    y = truth(X) + NOISE * rng.standard_normal(n_rows)
    model = ConfidenceRegressor(
        HistGradientBoostingRegressor(max_iter=25),
        n_simulations=n_simulations,
        random_state=seed,
        n_jobs=1,
    ).fit(X, y)
    lower, upper = model.get_prediction(X_test).confidence_interval(LEVEL).T
    true = truth(X_test)
    return float(np.mean((lower <= true) & (true <= upper))), float(np.mean(upper - lower))


def main() -> None:
    """Prints a table."""
    X_test = np.random.default_rng(1).uniform(size=(400, N_FEATURES))
    print("| rows | tables | simulations | coverage, % | points off 80 % | width over that of 20 |")
    print("|---:|---:|---:|---:|---:|---:|")
    for n_rows, n_tables in SIZES.items():
        found = {
            n: np.array([judged(n_rows, seed, n, X_test) for seed in range(n_tables)])
            for n in (10, 20)
        }
        for n, own in found.items():
            covered, error = 100 * own[:, 0], 100 * own[:, 0].std(ddof=1) / np.sqrt(n_tables)
            off = np.sqrt(np.mean((covered - 100 * LEVEL) ** 2))
            ratio = own[:, 1] / found[20][:, 1]
            print(
                f"| {n_rows:,} | {n_tables} | {n} | {covered.mean():.1f} ± {error:.1f} | {off:.1f} "
                f"| {ratio.mean():.3f} (sd {ratio.std():.3f}) |",
                flush=True,
            )


if __name__ == "__main__":
    main()
