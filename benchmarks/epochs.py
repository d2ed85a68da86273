"""How long to train: `max_epochs="auto"` and a formula against the paper's 80 epochs.

The nine benchmark sets and scikit-learn's diabetes set, in random splits (80 % train, 20 % test).
In each split the three fit the same rows with the same seed, so their differences are paired:

- "80": `BootstrappedDeepEnsembleRegressor()`, the paper's setting;
- "auto": the same with `max_epochs="auto"`;
- "1600 steps": as many epochs as make 1600 steps of 32 rows, a formula of the number of rows alone.

A second part checks confidence intervals, on simulated twins (random forests) of a few sets. Tables
go to stdout, progress to stderr.

The rule, fixed before looking: a contender is better than 80 if on no set its mean CRPS or log
score is worse by more than two standard errors, and on several one of them is better by that much.
"""

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from speed.measure import say
from speed.provenance import provenance

from confide import BootstrappedDeepEnsembleRegressor, coverage_check
from confide.datasets import load
from confide.metrics import crps_of_normal_mixture

SETS = (
    *("diabetes", "boston", "concrete", "energy", "kin8nm"),
    *("naval", "power", "yacht", "wine_red", "protein"),
)
PAPER, AUTO, FORMULA = "80", "auto", "1600 steps"
LEVELS = (0.8, 0.95)
MANY = 2  # standard errors


@dataclass(frozen=True)
class Plan:
    """What is measured.

    Attributes:
        sets: names of tables.
        n_splits: random splits of each.
        most_rows: longer tables are thinned at random to this many rows.
        twins: tables whose simulated twins check the confidence intervals.
        n_simulations: data sets simulated from each twin.
    """

    sets: tuple[str, ...] = SETS
    n_splits: int = 6
    most_rows: int = 1500
    twins: tuple[str, ...] = ("diabetes", "boston", "concrete", "yacht")
    n_simulations: int = 20


QUICK = Plan(("diabetes", "yacht"), n_splits=2, most_rows=100, twins=("yacht",), n_simulations=2)


@dataclass(frozen=True)
class Measured:
    """One fit, asked about the test rows; lengths are in standard deviations of the target.

    Seconds are of all cores together, so that others on the machine do not count.
    """

    table: str
    split: int
    contender: str
    n_rows: int
    epochs: int
    seconds: float
    rmse: float
    crps: float
    log_score: float
    coverage: tuple[float, ...]
    width: tuple[float, ...]


def main() -> int:
    """Measure, print the tables and write the files."""
    arguments = parse_arguments()
    plan = QUICK if arguments.quick else Plan()
    if arguments.sets:
        chosen = tuple(arguments.sets)
        plan = replace(plan, sets=chosen, twins=tuple(t for t in plan.twins if t in chosen))
    if arguments.splits:
        plan = replace(plan, n_splits=arguments.splits)
    if arguments.simulations:
        plan = replace(plan, n_simulations=arguments.simulations)
    if arguments.rows:
        plan = replace(plan, most_rows=arguments.rows)
    made = provenance() | {"quick": arguments.quick}
    kept = Kept.read(arguments.kept)
    fits = list(measured_fits(plan, kept))
    twins = [row for name in plan.twins for row in kept.twin(name, plan)]
    page = as_page(plan, fits, twins, made)
    print(page)
    if arguments.output is not None:
        arguments.output.write_text(page)
    return 0


class Kept:
    """What has been measured, in a file if there is one: a run that was stopped goes on."""

    def __init__(self, path: Path | None, fits: list[Measured], twins: dict[str, Any]) -> None:
        self.path, self.fits, self.twins = path, fits, twins

    @classmethod
    def read(cls, path: Path | None) -> "Kept":
        """What an earlier run left."""
        if path is None or not path.exists():
            return cls(path, [], {})
        said = json.loads(path.read_text())
        return cls(path, [Measured(**fit) for fit in said["fits"]], said["twins"])

    def write(self) -> None:
        """All of it."""
        if self.path is not None:
            said = {"fits": [asdict(fit) for fit in self.fits], "twins": self.twins}
            self.path.write_text(json.dumps(said, indent=1) + "\n")

    def fit(self, name: str, split: int, contender: str, parts: Sequence[np.ndarray]) -> Measured:
        """One fit, if it is not here already."""
        for fit in self.fits:
            if (fit.table, fit.split, fit.contender) == (name, split, contender):
                return fit
        fit = measured(name, split, contender, *parts)
        say(f"{name} {split} {contender}: {fit.epochs} epochs, {fit.seconds:.1f} CPU s")
        self.fits.append(fit)
        self.write()
        return fit

    def twin(self, name: str, plan: Plan) -> list[dict[str, Any]]:
        """One twin, if it is not here already."""
        if name not in self.twins:
            self.twins[name] = twin_rows(name, plan)
            self.write()
        rows: list[dict[str, Any]] = self.twins[name]
        return rows


def measured_fits(plan: Plan, kept: Kept) -> Iterator[Measured]:
    """Every contender on the first split of every table, then on the second."""
    warm = set()
    for split in range(plan.n_splits):
        for name in plan.sets:
            X, y = thinned(name, plan.most_rows, split)
            parts = train_test_split(X, y, test_size=0.2, random_state=split)
            if name not in warm:  # what is timed below compiles nothing
                fitted("2", parts[0], parts[2], split)
                warm.add(name)
            for contender in (PAPER, AUTO, FORMULA):
                yield kept.fit(name, split, contender, parts)


def thinned(name: str, most_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A table's inputs and targets, at most so many rows of it."""
    X, y = table(name)
    rows = np.random.default_rng(seed).permutation(len(y))[:most_rows]
    return X[rows], y[rows]


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and targets by name."""
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
        return X, y
    data = load(name).without_constant_columns()
    return data.X, data.y


def fitted(
    contender: str, X: np.ndarray, y: np.ndarray, seed: int
) -> BootstrappedDeepEnsembleRegressor:
    """A contender's fit."""
    epochs = {AUTO: AUTO, FORMULA: max(2, round(1600 / math.ceil(len(y) / 32)))}
    model = BootstrappedDeepEnsembleRegressor(
        max_epochs=epochs.get(contender) or int(contender), random_state=seed
    )
    return model.fit(X, y)


def measured(
    name: str,
    split: int,
    contender: str,
    X: np.ndarray,
    X_test: np.ndarray,
    y: np.ndarray,
    y_test: np.ndarray,
) -> Measured:
    """One fit, timed and scored."""
    start = time.process_time()
    model = fitted(contender, X, y, split)
    seconds = time.process_time() - start
    prediction, scale = model.get_prediction(X_test), float(np.std(y))
    law = prediction.law("prediction")
    intervals = [prediction.prediction_interval(level) for level in LEVELS]
    return Measured(
        table=name,
        split=split,
        contender=contender,
        n_rows=len(y),
        epochs=model.max_epochs_,
        seconds=seconds,
        rmse=float(np.sqrt(np.mean((y_test - prediction.mean) ** 2))) / scale,
        crps=float(np.mean(crps_of_normal_mixture(y_test, *law.normal_mixture()))) / scale,
        log_score=-float(np.mean(law.log_density(y_test))) - math.log(scale),
        coverage=tuple(
            float(np.mean((i[:, 0] <= y_test) & (y_test <= i[:, 1]))) for i in intervals
        ),
        width=tuple(float(np.mean(i[:, 1] - i[:, 0])) / scale for i in intervals),
    )


def twin_rows(name: str, plan: Plan) -> list[dict[str, Any]]:
    """Coverage and width of 80 % confidence intervals on a simulated twin."""
    say(f"Twin of {name}, {plan.n_simulations} simulations")
    X, y = thinned(name, plan.most_rows, 0)
    contenders = {
        c: BootstrappedDeepEnsembleRegressor(max_epochs=e) for c, e in ((PAPER, 80), (AUTO, AUTO))
    }
    report = coverage_check(
        contenders, X, y, n_simulations=plan.n_simulations, confidence_levels=0.8, random_state=0
    )
    return [
        {
            "table": name,
            "contender": c.estimator,
            "kind": c.kind,
            "coverage": c.mean,
            "coverage_se": c.mean_se,
            "brier": c.brier,
            "brier_se": c.brier_se,
            "width": float(np.mean(c.width)),
        }
        for c in report.coverages
    ]


def differences(
    fits: Sequence[Measured], name: str, contender: str, score: str
) -> tuple[float, float]:
    """Mean and standard error over the splits of a contender's score less that of 80 epochs."""
    of = {(f.contender, f.split): getattr(f, score) for f in fits if f.table == name}
    splits = sorted({split for _, split in of})
    each = np.array([of[contender, s] - of[PAPER, s] for s in splits])
    error = float(np.std(each, ddof=1) / np.sqrt(len(each))) if len(each) > 1 else math.nan
    return float(np.mean(each)), error


def verdict(fits: Sequence[Measured], contender: str) -> str:
    """What the rule says."""
    better, worse = [], []
    for name in dict.fromkeys(f.table for f in fits):
        judged = [differences(fits, name, contender, score) for score in ("crps", "log_score")]
        if any(mean < -MANY * error for mean, error in judged):
            better.append(name)
        if any(mean > MANY * error for mean, error in judged):
            worse.append(name)
    return (
        f"**{contender}** against 80, CRPS or log score, by more than two standard errors: better "
        f"on {len(better)} sets ({', '.join(better) or 'none'}), worse on {len(worse)} "
        f"({', '.join(worse) or 'none'})."
    )


def as_page(
    plan: Plan, fits: Sequence[Measured], twins: list[dict[str, Any]], made: dict[str, Any]
) -> str:
    """All tables as Markdown."""
    parts = ["# Epochs: chosen on held-out rows, or 80\n", *_score_tables(fits)]
    parts += [verdict(fits, contender) + "\n" for contender in (AUTO, FORMULA)]
    if twins:
        parts += ["## 80 % intervals on simulated twins\n", _twin_table(twins), ""]
    versions = ", ".join(f"{package} {version}" for package, version in made["versions"].items())
    parts.append(
        f"{'Quick run, numbers mean nothing. ' if made['quick'] else ''}"
        f"{plan.n_splits} splits of each set, sets thinned to {plan.most_rows} rows, "
        f"{plan.n_simulations} simulations; {made['cpu']}, {made['cores']} cores; commit "
        f"{made['commit']}; {made['date']}; {versions}."
    )
    return "\n".join(parts) + "\n"


def _score_tables(fits: Sequence[Measured]) -> Iterator[str]:
    names = list(dict.fromkeys(f.table for f in fits))
    for contender in (AUTO, FORMULA):
        yield f"## {contender}, against 80 epochs\n"
        yield (
            "| set | rows | epochs | RMSE of 80 | ... difference | CRPS of 80 | ... difference | "
            "log score of 80 | ... difference | CPU time / that of 80 |"
        )
        yield "|" + " --- |" * 10
        for name in names:
            here = [f for f in fits if f.table == name and f.contender == contender]
            paper = [f for f in fits if f.table == name and f.contender == PAPER]
            epochs = sorted(f.epochs for f in here)
            cells = [
                name,
                str(here[0].n_rows),
                f"{epochs[len(epochs) // 2]} ({epochs[0]}-{epochs[-1]})",
            ]
            for score in ("rmse", "crps", "log_score"):
                mean, error = differences(fits, name, contender, score)
                mark = "**" if abs(mean) > MANY * error else ""
                base = np.mean([getattr(f, score) for f in paper])
                cells += [f"{base:.3f}", f"{mark}{mean:+.3f}{mark} ± {error:.3f}"]
            cells.append(f"{sum(f.seconds for f in here) / sum(f.seconds for f in paper):.1f}")
            yield f"| {' | '.join(cells)} |"
        yield ""
    yield "## Prediction intervals: coverage and mean width\n"
    contenders = (PAPER, AUTO, FORMULA)
    heads = [f"{100 * level:g} %, {c}" for level in LEVELS for c in contenders]
    yield f"| set | {' | '.join(heads)} |"
    yield "|" + " --- |" * (1 + len(heads))
    for name in names:
        cells = [name]
        for i in range(len(LEVELS)):
            for contender in contenders:
                here = [f for f in fits if f.table == name and f.contender == contender]
                coverage = np.array([f.coverage[i] for f in here])
                error = np.std(coverage, ddof=1) / np.sqrt(len(here)) if len(here) > 1 else math.nan
                width = np.mean([f.width[i] for f in here])
                cells.append(f"{100 * np.mean(coverage):.0f} ± {100 * error:.0f} ({width:.2f})")
        yield f"| {' | '.join(cells)} |"
    yield ""


def _twin_table(twins: list[dict[str, Any]]) -> str:
    lines = [
        "| twin of | intervals | contender | coverage, % | Brier score | mean width / that of 80 |",
        "|" + " --- |" * 6,
    ]
    paper = {(t["table"], t["kind"]): t["width"] for t in twins if t["contender"] == PAPER}
    lines += [
        f"| {t['table']} | {t['kind']} | {t['contender']} | {100 * t['coverage']:.1f} ± "
        f"{100 * t['coverage_se']:.1f} | {t['brier']:.4f} ± {t['brier_se']:.4f} | "
        f"{t['width'] / paper[t['table'], t['kind']]:.2f} |"
        for t in twins
    ]
    return "\n".join(lines)


def parse_arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="example: python benchmarks/epochs.py -o epochs.md",
    )
    parser.add_argument("--quick", action="store_true", help="tiny tables: do all parts work?")
    parser.add_argument("--sets", nargs="+", choices=SETS, help="these tables alone")
    parser.add_argument("--splits", type=int, help="random splits of each table")
    parser.add_argument("--simulations", type=int, help="data sets simulated from each twin")
    parser.add_argument("--rows", type=int, help="thin longer tables to this many rows")
    parser.add_argument("-o", "--output", type=Path, help="also write the tables to a file")
    parser.add_argument(
        "--kept", type=Path, help="a file for all numbers: a run that was stopped goes on from it"
    )
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
