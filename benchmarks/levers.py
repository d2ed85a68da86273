"""Are the forecasts of `Prediction.explain` right? Against variances over simulated data sets.

A bootstrapped ensemble is fitted to many data sets simulated from a known truth, with N rows and
with 2N. The variance of its mean over the data sets is what its standard error should be, and how
that changes with members and rows is what `explain` forecasts.

    CONFIDE_DATA=... python benchmarks/levers.py -o results/levers.md     # about 10 minutes
"""

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from confide import BootstrappedDeepEnsembleRegressor
from confide.diagnostics import Decay
from confide.document import Column, Table
from confide.document.tables import to_markdown
from confide.experiments.provenance import provenance
from confide.experiments.simulated import twin_of
from confide.methods.bootstrapped_deep_ensemble import member_means
from confide.randomness import key_from
from confide.simulate import Friedman1

CASES = ("friedman1", "boston", "concrete", "yacht", "energy")
# Members now, and after the lever: those of one fit make four ensembles now and one after.
FEW, MANY = 5, 20
TEST_ROWS = 200


class Case(NamedTuple):
    """What members say in each simulation, [simulation, member, row], with N rows and with 2N."""

    n_rows: int
    before: tuple[np.ndarray, np.ndarray]
    after: tuple[np.ndarray, np.ndarray]

    def without(self, simulation: int) -> "Case":
        """All simulations but one."""

        def rest(pair: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
            return tuple(np.delete(each, simulation, axis=0) for each in pair)

        return Case(self.n_rows, rest(self.before), rest(self.after))


def simulated(name: str, n_simulations: int) -> Case:
    """Ensembles fitted to simulated data sets of N rows and of 2N, the first N being the same."""
    if name == "friedman1":
        truth = Friedman1()
        X, X_test = truth.inputs(key_from(0), 800), truth.inputs(key_from(1), TEST_ROWS)
    else:
        twin = twin_of(name)
        truth, X, X_test = twin.truth, twin.X_train, twin.X_test[:TEST_ROWS]
    half = len(X) // 2
    X = X[: 2 * half]
    targets = np.array([truth.draw(key_from(1000 + i), X) for i in range(n_simulations)])
    seeds = list(range(n_simulations))
    before, after = [], []
    for n in (half, 2 * half):
        fits = BootstrappedDeepEnsembleRegressor(MANY).fit_many(X[:n], targets[:, :n], seeds)
        said = [member_means(each.fitted_, X_test.astype(np.float32)) for each in fits]
        before.append(np.array([means for means, _ in said]))
        after.append(np.array([retrained for _, retrained in said]).reshape(before[-1].shape))
    return Case(half, tuple(before), tuple(after))


def true_variances(case: Case, size: int) -> tuple[float, float]:
    """Of the mean of few and of many members: over simulations, the mean over rows."""
    means = case.before[size]
    n_simulations, _, n_rows = means.shape
    of_few = means.reshape(n_simulations, MANY // FEW, FEW, n_rows).mean(axis=2)
    few = np.var(of_few, axis=0, ddof=1).mean()
    return float(few), float(np.var(means.mean(axis=1), axis=0, ddof=1).mean())


def true_split(case: Case, size: int) -> tuple[float, float]:
    """Classical and optimisation variance: members of one simulation share its data alone."""
    optimisation = float(np.var(case.before[size], axis=1, ddof=1).mean())
    return true_variances(case, size)[1] - optimisation / MANY, optimisation


def estimated_split(case: Case, size: int) -> tuple[float, float]:
    """The two as the method estimates them, on average over simulations."""
    classical = float(((case.after[size] - case.before[size]) ** 2).mean())
    return classical, float(np.var(case.before[size], axis=1, ddof=1).mean())


def forecast(split: tuple[float, float], members: int, times: int, decay: Decay) -> float:
    """The variance of the mean, by Eq. (2) and the decay."""
    classical, optimisation = split
    return classical * times**-decay.classical + optimisation * times**-decay.optimisation / members


def statistics(case: Case) -> dict[str, float]:
    """All numbers of the tables from one set of simulations."""
    decay = Decay()
    few, _ = true_variances(case, 0)
    true, estimated = ([split(case, size) for size in (0, 1)] for split in (
        true_split, estimated_split
    ))  # fmt: skip
    now = forecast(estimated[0], FEW, 1, decay)
    numbers = {
        "level": np.sqrt(now / few),
        "members_true": np.sqrt(true_variances(case, 0)[1] / few),
        "members_forecast": np.sqrt(forecast(estimated[0], MANY, 1, decay) / now),
        "rows_true": np.sqrt(true_variances(case, 1)[0] / few),
        "rows_forecast": np.sqrt(forecast(estimated[0], FEW, 2, decay) / now),
        "classical": np.log2(true[0][0] / true[1][0]),
        "classical_estimated": np.log2(estimated[0][0] / estimated[1][0]),
        "optimisation": np.log2(true[0][1] / true[1][1]),
    }
    return {name: float(number) for name, number in numbers.items()}


def measured(name: str, n_simulations: int) -> dict[str, object]:
    """All numbers of one case with their standard errors, by the jackknife over simulations."""
    case = simulated(name, n_simulations)
    left_out = pd.DataFrame([statistics(case.without(i)) for i in range(n_simulations)])
    errors = np.sqrt((n_simulations - 1) * left_out.var(ddof=0))
    return {
        "set": name,
        "rows": case.n_rows,
        **statistics(case),
        **{f"{key}_se": error for key, error in errors.items()},
    }


def tables(frame: pd.DataFrame) -> list[Table]:
    """What is printed."""

    def column(name: str, title: str) -> Column:
        return Column(name, title, ".2f", error=f"{name}_se")

    first = [Column("set"), Column("rows", "rows N", ",")]
    return [
        Table(
            "factors",
            f"Factor of the prediction's standard error: {MANY} members instead of {FEW}, and 2N "
            "rows instead of N. True: over simulated data sets. Forecast: from the estimates at "
            f"N rows and {FEW} members, by Eq. (2) and the exponents {Decay().classical} and "
            f"{Decay().optimisation}.",
            frame,
            [
                *first,
                column("members_true", "members, true"),
                column("members_forecast", "members, forecast"),
                column("rows_true", "rows, true"),
                column("rows_forecast", "rows, forecast"),
                column("level", "standard error now, estimated / true"),
            ],
        ),
        Table(
            "exponents",
            "Exponents a of variances that fall as N^-a from N rows to 2N. Estimated: from the "
            "method's own classical variances at N and 2N.",
            frame,
            [
                *first,
                column("classical", "finite data, true"),
                column("classical_estimated", "finite data, estimated"),
                column("optimisation", "random training"),
            ],
        ),
    ]


def main() -> None:
    """Measures all cases and writes the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="+", choices=CASES, default=CASES[:3])
    parser.add_argument("--simulations", type=int, default=40)
    parser.add_argument("-o", "--output", type=Path, required=True, help="a Markdown file")
    arguments = parser.parse_args()
    made = provenance()
    how = (
        f"Made by `benchmarks/levers.py`, {arguments.simulations} simulated data sets a set, "
        f"commit {made['commit']}, JAX {made['jax']}. ± is one standard error (jackknife over the "
        "simulations).\n"
    )
    rows = []
    for name in arguments.cases:  # written after each: a run that is stopped leaves the others
        rows.append(measured(name, arguments.simulations))
        title = "# What more members and more rows do, forecast and true\n"
        printed = [to_markdown(table) for table in tables(pd.DataFrame(rows))]
        arguments.output.write_text("\n".join([title, how, *printed]))


if __name__ == "__main__":
    main()
