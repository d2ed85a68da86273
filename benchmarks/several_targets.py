"""Whether a fit to two targets takes as long as two fits, one after the other.

`python benchmarks/several_targets.py` prints for each recipe the seconds of both, best of some
turns in one process, whose programs are compiled, and of one turn in a process of its own, where
they are not. The models are compared to the last bit. Run it on an idle machine.

`python benchmarks/several_targets.py joblib` prints the same for two and three targets on joblib
with two processes, where two targets are fitted side by side; and then how much faster one fit is
with more workers, by the cost model of `benchmarks/cluster.py`.
"""

import subprocess
import sys
import time
from typing import Any

import numpy as np
from cluster import Costs, predicted, recorded
from sklearn.base import clone

import confide
from confide.engines import Engine, Joblib

N_ROWS, N_COLUMNS, N_TURNS = 400, 13, 2
RECIPES = ("tabular", "paper")
# Of a call, a piece and a byte on Ray, as measured in results/cluster.md.
COSTS = Costs(0.0118, 0.0056, 2.79e-9)


def table(n_targets: int = 2, n_rows: int = N_ROWS) -> tuple[np.ndarray, np.ndarray]:
    """Inputs, and some targets of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, N_COLUMNS))
    means = [np.sin(2 * X[:, 0]) + X[:, 1], X[:, 2] * X[:, 3], np.abs(X[:, 4])]
    chosen = np.column_stack(means[:n_targets])
    return X, chosen + 0.3 * rng.normal(size=chosen.shape)


def fitted(
    recipe: str, *, together: bool, engine: Engine | None = None, n_targets: int = 2
) -> tuple[float, np.ndarray]:
    """The seconds, and the bounds of all targets' intervals."""
    X, Y = table(n_targets)
    model = confide.BootstrappedDeepEnsembleRegressor(recipe=recipe, random_state=0, engine=engine)
    start = time.perf_counter()
    if together:
        model.fit(X, Y)
    models = model.targets_.values() if together else [clone(model).fit(X, y) for y in Y.T]
    seconds = time.perf_counter() - start
    return seconds, np.stack([model.predict_interval(X, 0.9)[1] for model in models])


def warm(recipe: str, engine: Engine | None = None, n_targets: int = 2) -> tuple[float, float]:
    """Seconds of the best turn of each, in turns."""
    turns = []
    for _ in range(N_TURNS + 1):  # the first compiles
        (one, bounds), (other, others) = (
            fitted(recipe, together=way, engine=engine, n_targets=n_targets)
            for way in (True, False)
        )
        if not np.array_equal(bounds, others):
            raise AssertionError(f"The models of recipe {recipe!r} differ.")
        turns.append((one, other))
    together, apart = np.min(turns[1:], axis=0)
    return float(together), float(apart)


def cold(recipe: str) -> tuple[float, float]:
    """Seconds of one turn of each, in processes of their own."""
    found = []
    for way in ("together", "apart"):
        words = [sys.executable, __file__, recipe, way]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        found.append(float(done.stdout))
    return found[0], found[1]


def main() -> None:
    """Prints a table."""
    print("| recipe | programs | two targets, seconds | two fits, seconds | ratio |")
    print("|---|---|---|---|---|")
    for recipe in RECIPES:
        for name, measure in (("compiled before", warm), ("compiled in the fit", cold)):
            together, apart = measure(recipe)
            ratio = together / apart
            print(f"| {recipe} | {name} | {together:.1f} | {apart:.1f} | {ratio:.2f} |", flush=True)


def with_workers() -> None:
    """Prints the tables for engines."""
    print("| recipe | targets | side by side, seconds | one after the other, seconds | ratio |")
    print("|---|---|---|---|---|")
    for recipe in RECIPES:
        for n_targets in (2, 3):
            together, apart = warm(recipe, Joblib(2), n_targets)
            ratio = together / apart
            print(
                f"| {recipe} | {n_targets} | {together:.1f} | {apart:.1f} | {ratio:.2f} |",
                flush=True,
            )
    print("\n| fit | rows | 2 workers | 4 | 8 | 64 |\n|---|---|---|---|---|---|")
    for name, how in {"calibrated": {}, "not calibrated": {"calibration": None}}.items():
        for n_rows in (N_ROWS, 4000):
            told = " | ".join(f"{gain:.1f}" for gain in gains(n_rows, how))
            print(f"| {name} | {n_rows} | {told} |", flush=True)


def gains(n_rows: int, how: dict[str, Any]) -> list[float]:
    """How many times as fast one fit is with 2, 4, 8 and 64 workers as with one."""
    X, Y = table(1, n_rows)

    def fit(engine: Engine) -> None:
        confide.BootstrappedDeepEnsembleRegressor(random_state=0, engine=engine, **how).fit(
            X, Y[:, 0]
        )

    calls, after = recorded(fit)
    one, *others = (predicted(calls, after, n, COSTS) for n in (1, 2, 4, 8, 64))
    return [one / other for other in others]


if __name__ == "__main__":
    if sys.argv[1:] == ["joblib"]:
        with_workers()
    elif sys.argv[1:]:
        print(fitted(sys.argv[1], together=sys.argv[2] == "together")[0])
    else:
        main()
