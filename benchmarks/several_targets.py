"""Whether a fit to two targets takes as long as two fits, one after the other.

`python benchmarks/several_targets.py` prints for each recipe the seconds of both, best of some
turns in one process, whose programs are compiled, and of one turn in a process of its own, where
they are not. The models are compared to the last bit. Run it on an idle machine.
"""

import subprocess
import sys
import time

import numpy as np
from sklearn.base import clone

import confide

N_ROWS, N_COLUMNS, N_TURNS = 400, 13, 2
RECIPES = ("tabular", "paper")


def table() -> tuple[np.ndarray, np.ndarray]:
    """Inputs, and two targets of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_COLUMNS))
    means = np.column_stack([np.sin(2 * X[:, 0]) + X[:, 1], X[:, 2] * X[:, 3]])
    return X, means + 0.3 * rng.normal(size=means.shape)


def fitted(recipe: str, *, together: bool) -> tuple[float, np.ndarray]:
    """The seconds, and the bounds of both targets' intervals."""
    X, Y = table()
    model = confide.BootstrappedDeepEnsembleRegressor(recipe=recipe, random_state=0)
    start = time.perf_counter()
    if together:
        model.fit(X, Y)
    models = model.targets_.values() if together else [clone(model).fit(X, y) for y in Y.T]
    seconds = time.perf_counter() - start
    return seconds, np.stack([model.predict_interval(X, 0.9)[1] for model in models])


def warm(recipe: str) -> tuple[float, float]:
    """Seconds of the best turn of each, in turns."""
    turns = []
    for _ in range(N_TURNS + 1):  # the first compiles
        (one, bounds), (other, others) = (fitted(recipe, together=way) for way in (True, False))
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


if __name__ == "__main__":
    if sys.argv[1:]:
        print(fitted(sys.argv[1], together=sys.argv[2] == "together")[0])
    else:
        main()
