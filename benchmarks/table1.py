"""The paper's Table 1 as printed and corrected: five methods on simulated twins of real data.

Run `python benchmarks/table1.py` (about half an hour on two cores), or with `--simulations 10
--repeats 1 --sets yacht` for a taste. The data sets must be on the machine: see
`confide.datasets.load`. Numbers are means over independent repetitions of the whole experiment of
100 simulations, with their standard error, beside the ratio to print.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from sklearn.model_selection import train_test_split

import confide
from confide.datasets import load
from confide.laboratory import simulated_answers
from confide.laboratory.coverage_check import coverages_of
from confide.methods import REGISTRY
from confide.metrics import (
    at_equal_mean_width,
    brier_score,
    brier_score_standard_error,
    covered,
    mean_width,
)
from confide.randomness import key_from
from confide.simulate import RandomForestTruth

LEVEL = 0.8
HEADER = """# Table 1 of the paper, as printed and corrected

Simulated twins of five data sets (Algorithm 3): two random forests fitted to the real data are the
true function and the true noise. In each simulation every method is fitted anew, and the tables say
how far the pointwise coverage of its 80 % intervals is from 80 % (Brier score, Eq. (5)), how wide
they are, and how often they cover (mean over test rows). Confidence intervals are held against the
true function, prediction intervals against the exact law of a new target.

A number is the mean over independent repetitions of the whole experiment, plus or minus its
standard error; *print* is the paper's Table 1 (`benchresults`), one such experiment, and *ratio*
ours to print. *As published* is the method with the settings of the code that the paper's tables
were made with, *as described* the method as its inventors describe it and confide's default:

| method | as published | as described |
|---|---|---|
| BDE | fresh optimiser, restandardised targets when retraining | optimiser restored, scale kept |
| DE | the same in both | |
| NB | trained on the data set's real targets, while it is judged against the simulated truth; divisor M | trained on the simulated targets; divisor M - 1 |
| CD | no regulariser: rates follow the likelihood alone | the inventors' regulariser |
| QDE | penalty 15, bounds start together, soft captured width, divisor M | penalty 4, bounds start at +-3, hard captured width, divisor M - 1 |

DE's prediction equals BDE's in every simulation, bit for bit (the script checks it). Yacht's printed
widths are not compared for prediction intervals: print repeats those of the confidence intervals.
"""  # noqa: E501 (rows of a table)


class Method(NamedTuple):
    """A row of the table."""

    name: str
    variant: str
    estimator: Any
    real_targets: bool = False


class Measured(NamedTuple):
    """What one repetition found for one method and kind of interval."""

    brier: float
    width: float
    coverage: float


def _published(estimator: type[Any]) -> dict[str, Any]:
    return dict(REGISTRY[estimator.method.NAME].AS_PUBLISHED)


BDE, NB = confide.BootstrappedDeepEnsembleRegressor, confide.NaiveBootstrapRegressor
CD, QDE = confide.ConcreteDropoutRegressor, confide.QualityDrivenEnsembleRegressor
METHODS = (
    Method("BDE", "as published", BDE(**_published(BDE))),
    Method("BDE", "as described", BDE()),
    Method("DE", "", confide.DeepEnsembleRegressor()),
    Method("NB", "as published", NB(**_published(NB)), real_targets=True),
    Method("NB", "as described", NB()),
    Method("CD", "as published", CD(**_published(CD))),
    Method("CD", "as described", CD()),
    Method("QDE", "as published", QDE(confidence_level=LEVEL, **_published(QDE))),
    Method("QDE", "as described", QDE(confidence_level=LEVEL)),
)

# Table 1 (`benchresults`): Brier scores (x 100) and widths of 80 % intervals.
_COLUMNS = {"confidence": ("BDE", "DE", "NB", "CD"), "prediction": ("BDE", "DE", "QDE", "CD")}
_BRIER = {
    "confidence": {
        "boston": (7.8, 11, 18, 7.8),
        "concrete": (2.6, 8.2, 33, 15),
        "energy": (4.0, 6.7, 37, 1.5),
        "kin8nm": (0.78, 0.63, 62, 51),
        "naval": (2.1, 3.6, 59, 30),
        "power": (8.5, 12, 33, 36),
        "yacht": (11, 14, 22, 11),
        "wine_red": (0.89, 2.6, 8.6, 26),
    },
    "prediction": {
        "boston": (2.4, 3.5, 3.1, 1.5),
        "concrete": (0.80, 1.5, 1.5, 2.6),
        "energy": (0.80, 1.3, 1.7, 0.59),
        "kin8nm": (0.13, 0.25, 0.93, 3.1),
        "naval": (0.24, 0.19, 1.1, 0.11),
        "power": (0.08, 0.07, 2.3, 0.21),
        "yacht": (2.8, 4.3, 12, 3.7),
        "wine_red": (0.95, 1.5, 0.80, 6.2),
    },
}
_WIDTH = {
    "confidence": {
        "boston": (3.4, 3.0, 4.0, 3.7),
        "concrete": (8.7, 6.4, 7.9, 6.0),
        "energy": (2.3, 1.8, 2.0, 2.1),
        "kin8nm": (0.17, 0.14, 0.12, 0.024),
        "naval": (2.2e-3, 1.4e-3, 1.2e-3, 0.7e-3),
        "power": (3.1, 2.2, 2.8, 0.78),
        "yacht": (2.7, 2.4, 3.5, 7.3),
        "wine_red": (0.50, 0.45, 0.68, 0.27),
    },
    "prediction": {
        "boston": (7.6, 7.2, 14.8, 8.6),
        "concrete": (22.7, 21.1, 39.3, 20.1),
        "energy": (5.6, 5.1, 17.7, 5.4),
        "kin8nm": (0.53, 0.52, 0.69, 0.44),
        "naval": (0.03, 0.03, 0.03, 0.03),
        "wine_red": (1.4, 1.4, 2.1, 1.1),
    },
}
EQUAL_WIDTH = {("BDE", "as described"), ("DE", ""), ("NB", "as described")}
DEFAULT_SETS = ("boston", "concrete", "energy", "yacht", "wine_red")

Results = dict[tuple[str, str, str, str], list[Measured]]
"""For each set, kind, method and variant, the repetitions."""


def simulate(name: str, first_seed: int, n_simulations: int) -> Results:
    """One repetition of the experiment on one set."""
    data = load(name).without_constant_columns()
    truth = RandomForestTruth.from_data(data.X, data.y)
    X_train, X_test, y_train, _ = train_test_split(data.X, data.y, test_size=0.2, random_state=1)
    seeds = list(range(first_seed, first_seed + n_simulations))
    drawn = np.array([truth.draw(key_from(seed), X_train) for seed in seeds])
    results: Results = {}
    means = {}
    for method in METHODS:
        targets = np.tile(y_train, (n_simulations, 1)) if method.real_targets else drawn
        start = time.monotonic()
        answers = simulated_answers(method.estimator, X_train, targets, X_test, [LEVEL], seeds)
        means[method.name, method.variant] = answers.means
        for each in coverages_of(method.name, answers, truth, X_test):
            measured = Measured(each.brier, float(each.width.mean()), each.mean)
            results[name, each.kind, method.name, method.variant] = [measured]
        seconds = time.monotonic() - start
        print(
            f"{name} {first_seed}: {method.name} {method.variant} {seconds:.0f} s", file=sys.stderr
        )
    if not np.array_equal(means["BDE", "as described"], means["DE", ""]):
        raise AssertionError("a deep ensemble's prediction must equal the bootstrapped one's")
    return results


def at_equal_width(name: str, n_simulations: int) -> list[str]:
    """Is a method better, or only wider? Confidence intervals stretched to BDE's mean width."""
    data = load(name).without_constant_columns()
    truth = RandomForestTruth.from_data(data.X, data.y)
    X_train, X_test = train_test_split(data.X, test_size=0.2, random_state=1)
    seeds = list(range(n_simulations))
    drawn = np.array([truth.draw(key_from(seed), X_train) for seed in seeds])
    intervals = {}
    for method in METHODS:
        if (method.name, method.variant) in EQUAL_WIDTH:
            answers = simulated_answers(method.estimator, X_train, drawn, X_test, [LEVEL], seeds)
            intervals[method.name] = answers.intervals["confidence", LEVEL]
    true_mean = truth.mean(X_test)
    stretched = at_equal_mean_width(intervals)
    rows = []
    for method_name, own in intervals.items():
        cells = [name, method_name, f"{mean_width(own):.3g}"]
        for each in (own, stretched[method_name]):
            held = covered(true_mean, each)
            brier = brier_score(held.mean(axis=0), LEVEL)
            error = brier_score_standard_error(held, LEVEL)
            cells += [f"{brier:.3g} ± {error:.1g}", f"{held.mean():.3f}"]
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def printed(kind: str, name: str, method: str) -> tuple[float, float]:
    """Brier score and width of the paper's table, or nan."""
    if method not in _COLUMNS[kind]:
        return float("nan"), float("nan")
    column = _COLUMNS[kind].index(method)
    brier = _BRIER[kind][name][column] / 100
    widths = _WIDTH[kind].get(name)
    return brier, float("nan") if widths is None else widths[column]


def as_markdown(results: Results, kind: str) -> str:
    """One kind's table, print beside ours: means over repetitions, with their standard errors."""
    short = "CI80" if kind == "confidence" else "PI80"
    measures = f"Brier-{short} | print | ratio | width {short} | print | ratio | coverage"
    lines = [f"| set | method | {measures} |", "|---|---|---|---|---|---|---|---|---|"]
    for (name, found_kind, method, variant), repetitions in results.items():
        if found_kind != kind:
            continue
        values = np.array(repetitions)
        means, n = values.mean(axis=0), len(values)
        errors = values.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.full(3, np.nan)
        cells = [name, f"{method} {variant}".strip()]
        for mean, error, value in zip(means, errors, printed(kind, name, method), strict=False):
            cells += [f"{mean:.3g} ± {error:.1g}"]
            cells += ["-", "-"] if np.isnan(value) else [f"{value:.3g}", f"{mean / value:.2f}"]
        lines.append(f"| {' | '.join([*cells, f'{means[2]:.3f}'])} |")
    return "\n".join(lines)


def page(results: Results, provenance: dict[str, Any]) -> str:
    """Both tables under the header."""
    return (
        f"{HEADER}\n## Confidence intervals\n\n{as_markdown(results, 'confidence')}\n\n"
        f"## Prediction intervals\n\n{as_markdown(results, 'prediction')}\n\n"
        f"`{json.dumps(provenance)}`\n"
    )


def main() -> None:
    """Runs the sets asked for and prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    sets = list(_BRIER["confidence"])
    parser.add_argument("--sets", nargs="+", default=list(DEFAULT_SETS), choices=sets)
    parser.add_argument("--simulations", type=int, default=100, help="data sets in a repetition")
    parser.add_argument("--repeats", type=int, default=3, help="independent repetitions")
    parser.add_argument("-o", "--output", type=Path, help="also write the tables, with provenance")
    parser.add_argument(
        "--equal-width", action="store_true", help="compare BDE, DE and NB at equal width instead"
    )
    arguments = parser.parse_args()
    if arguments.equal_width:
        print("| set | method | width | Brier | coverage | Brier at BDE's width | coverage |")
        print("|---|---|---|---|---|---|---|")
        for name in arguments.sets:
            print("\n".join(at_equal_width(name, arguments.simulations)), flush=True)
        return
    start, commit = time.monotonic(), _commit()  # the code that runs is that of the start
    results: Results = {}
    for name in arguments.sets:
        for repeat in range(arguments.repeats):
            for row, measured in simulate(name, 1000 * repeat, arguments.simulations).items():
                results.setdefault(row, []).extend(measured)
        provenance = {
            "commit": commit,
            "simulations": arguments.simulations,
            "repeats": arguments.repeats,
            "level": LEVEL,
            "jax": jax.__version__,
            "seconds": round(time.monotonic() - start),
        }
        if arguments.output:
            arguments.output.write_text(page(results, provenance))
    print(page(results, provenance))


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    here = Path(__file__).parent
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=here)
    return done.stdout.strip()


if __name__ == "__main__":
    main()
