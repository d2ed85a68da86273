"""What columns of text are worth, beside leaving them out.

    python benchmarks/text_columns.py --seeds 5

Simulated tables of 3,000 rows, each with two numbers that matter and a column of text that does, or
does not: one of 1,500 job titles, from common to rare; or a remark of 12 out of 300 words, of which
10 matter. Each fit is judged on 2,000 further rows, a quarter of which have a title that training
did not have. The same rows, with the text and without.
"""

import argparse
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd

from confide import BootstrappedDeepEnsembleRegressor

ROWS, NEW_ROWS, TITLES, WORDS, TELLING, SAID = 3000, 2000, 1500, 300, 10, 12
Text = Callable[[np.random.Generator, np.random.Generator, int], tuple[list[str], np.ndarray]]


def titles(
    fixed: np.random.Generator, generator: np.random.Generator, n: int
) -> tuple[list[str], np.ndarray]:
    """Job titles, and what each is worth."""
    worth, share = fixed.normal(size=TITLES), fixed.dirichlet(np.full(TITLES, 0.5))
    chosen = generator.choice(TITLES, n, p=share)
    names = [f"title {i}" for i in chosen]
    if n == NEW_ROWS:
        names[::4] = ["unheard of"] * len(names[::4])
    return names, worth[chosen]


def remarks(
    fixed: np.random.Generator, generator: np.random.Generator, n: int
) -> tuple[list[str], np.ndarray]:
    """Remarks, and what each is worth."""
    words = np.array([a + b for a in "abcdefghijklmnopqrst" for b in "abcdefghijklmno"])
    worth, share = np.zeros(WORDS), 1 / np.arange(3, WORDS + 3)
    worth[fixed.choice(WORDS // 3, TELLING, replace=False)] = 1
    said = [generator.choice(WORDS, SAID, replace=False, p=share / share.sum()) for _ in range(n)]
    return [" ".join(words[row]) for row in said], np.array([worth[row].sum() for row in said])


def table(text: Text, seed: int, effect: float, n: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows with a text and two numbers, and their targets."""
    generator = np.random.default_rng([seed, n])
    texts, worth = text(np.random.default_rng(1000 + seed), generator, n)
    x = generator.normal(size=(n, 2))
    y = np.sin(2 * x[:, 0]) + x[:, 1] + effect * worth + generator.normal(0, 0.5, n)
    return pd.DataFrame({"text": texts, "a": x[:, 0], "b": x[:, 1]}), y


def scores(text: Text, seed: int, effect: float, *, used: bool) -> tuple[float, float, float]:
    """RMSE on new rows, and coverage and mean width of the 90 % prediction intervals."""
    (X, y), (X_new, y_new) = (table(text, seed, effect, n) for n in (ROWS, NEW_ROWS))
    if not used:
        X, X_new = X.drop(columns="text"), X_new.drop(columns="text")
    model = BootstrappedDeepEnsembleRegressor(
        recipe=ARGUMENTS.recipe, random_state=seed, calibration=None
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mean, bounds = model.fit(X, y).predict_interval(X_new, 0.9)
    held = (bounds[:, 0] <= y_new) & (y_new <= bounds[:, 1])
    return float(np.sqrt(np.mean((y_new - mean) ** 2))), held.mean(), np.ptp(bounds, 1).mean()


def compare(name: str, text: Text, effect: float) -> None:
    """Prints the scores with and without, and their difference with its standard error."""
    with_it, without = (
        np.array([scores(text, seed, effect, used=used) for seed in range(ARGUMENTS.seeds)])
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
    compare("titles that matter", titles, 1.0)
    compare("titles that do not", titles, 0.0)
    compare("remarks that matter", remarks, 1.0)
    compare("remarks that do not", remarks, 0.0)
