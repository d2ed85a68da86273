"""Experiment 3: the two separate estimates of variance, against the truth."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from confide.document import Column, Table
from confide.estimators import IntervalRegressor
from confide.experiments.coverage.comparison import standard_error
from confide.experiments.coverage.report import SET, VARIANT
from confide.experiments.experiment import Cell, Experiment, Findings, Options, Saved
from confide.experiments.printed import printed_numbers
from confide.experiments.recipe import paper_estimator
from confide.experiments.simulated import n_rows_of, seeds_of, twin_of
from confide.methods import bootstrapped_deep_ensemble
from confide.progress import Progress

N_MEMBERS = 50
# The text says 80 epochs, the published code 40.
VARIANTS: dict[str, dict[str, Any]] = {
    "as published": {"max_epochs": 40, **bootstrapped_deep_ensemble.AS_PUBLISHED},
    "as described": {"max_epochs": 80},
}

PRINTED = {
    "true_sum": "true variance",
    "optimisation": "random training",
    "classical": "finite data",
    "estimated_sum": "estimated sum",
}


class Experiment3(Experiment):
    """Estimates from one data set, against networks that each had new targets."""

    name = "experiment-3"
    title = "Separate estimates of the variances due to finite data and to random training"
    place = 3
    paper = "Experiment 3, Table 2 (experiment3table), which has one repetition"
    whole: ClassVar = Options(simulations=10, sets=("boston", "concrete", "energy", "kin8nm"))
    quick: ClassVar = Options(simulations=2, sets=("boston",))

    def cells(self, options: Options) -> list[Cell]:
        """A cell is one set, variant and repetition."""
        return [
            Cell(
                f"{name}/{variant.replace(' ', '-')}/{repetition:03d}",
                separate_variances,
                {
                    "set": name,
                    "variant": variant,
                    "parameters": parameters,
                    "simulations": [repetition, repetition + 1],
                    "seed": options.seed,
                },
                steps=(steps := _epochs(parameters)),
                work=float(steps * n_rows_of(name)[0]),
            )
            for name in options.sets
            for variant, parameters in VARIANTS.items()
            for repetition in range(options.simulations)
        ]

    def headline(self, saved: Saved) -> str:
        """Both sums."""
        means = _means(saved.frame)
        return f"estimated {means['estimated_sum']:.3g}, true {means['true_sum']:.3g}"

    def findings(self, finished: Sequence[Saved]) -> Findings:
        """Table 2 beside print."""
        numbers = _table_2(finished)
        words = []
        for variant, of_variant in numbers.groupby("variant", sort=False):
            ratios = ", ".join(
                f"{row['ratio']:.2f} ± {row['ratio_se']:.2f} on {row['set']}"
                for _, row in of_variant.iterrows()
            )
            words.append(f"- {variant.capitalize()}: estimated sum over true variance {ratios}.")
        columns = [SET, VARIANT]
        for quantity, heading in PRINTED.items():
            columns += [
                Column(f"{quantity}_print", f"{heading}: print", ".3g"),
                Column(quantity, f"{heading}: ours", ".3g", error=f"{quantity}_se"),
            ]
        columns += [
            Column("ratio", "estimated / true", ".2f", error="ratio_se"),
            Column("repetitions", "repetitions", "d"),
        ]
        caption = (
            "Table 2 (experiment3table): variances averaged over test rows. True: networks that "
            f"each had new targets. Estimated: from one data set, {N_MEMBERS} members. Print is "
            "one repetition."
        )
        return Findings("\n".join(words), [Table("table-2", caption, numbers, columns)])


def separate_variances(settings: Mapping[str, Any], progress: Progress | None) -> pd.DataFrame:
    """Both estimates and the true variance of one network, at each test row."""
    twin, parameters = twin_of(settings["set"]), settings["parameters"]
    (fitted,) = _ensemble(parameters).fit_many(
        twin.X_train,
        twin.targets(seeds_of(settings, "targets")),
        seeds_of(settings, "fits"),
        progress=progress,
    )
    estimated = fitted.get_prediction(twin.X_test)
    generator = np.random.default_rng(seeds_of(settings, "networks of the truth"))
    new_data, new_fits = generator.integers(2**31, size=(2, N_MEMBERS)).tolist()
    epochs = parameters["max_epochs"]
    network = paper_estimator("DeepEnsembleRegressor", n_members=1, max_epochs=epochs)
    networks = network.fit_many(twin.X_train, twin.targets(new_data), new_fits, progress=progress)
    means = np.array([fitted.predict(twin.X_test) for fitted in networks])
    return pd.DataFrame(
        {
            "row": np.arange(len(twin.X_test), dtype=np.int32),
            "optimisation_variance": estimated.optimisation_variance,
            "classical_variance": estimated.classical_variance,
            "true_variance": means.var(axis=0, ddof=1),
        }
    )


def _epochs(parameters: Mapping[str, Any]) -> int:
    return _ensemble(parameters).member_epochs(1) + N_MEMBERS * int(parameters["max_epochs"])


def _ensemble(parameters: Mapping[str, Any]) -> IntervalRegressor:
    return paper_estimator(
        "BootstrappedDeepEnsembleRegressor", **{"n_members": N_MEMBERS, **parameters}
    )


def _table_2(finished: Sequence[Saved]) -> pd.DataFrame:
    """A row for each set and variant: means over repetitions with their standard errors."""
    repetitions: dict[tuple[str, str], list[dict[str, float]]] = {
        (name, variant): [] for name in Experiment3.whole.sets for variant in VARIANTS
    }
    for saved in finished:
        key = saved.settings["set"], saved.settings["variant"]
        repetitions[key].append(_means(saved.frame))
    rows = [_table_2_row(*key, pd.DataFrame(means)) for key, means in repetitions.items() if means]
    return pd.DataFrame(rows)


def _table_2_row(name: str, variant: str, repetitions: pd.DataFrame) -> dict[str, Any]:
    row: dict[str, Any] = {"set": name, "variant": variant, "repetitions": len(repetitions)}
    for quantity in repetitions:
        row[quantity] = repetitions[quantity].mean()
        row[f"{quantity}_se"] = standard_error(repetitions[quantity].to_numpy())
    # Of a ratio of means: by the spread of what is left of the numerator.
    row["ratio"] = row["estimated_sum"] / row["true_sum"]
    rest = repetitions["estimated_sum"] - row["ratio"] * repetitions["true_sum"]
    row["ratio_se"] = standard_error(rest.to_numpy()) / row["true_sum"]
    print_ = printed_numbers("experiment3table")
    of_set = print_[(print_["set"] == name) & (variant == "as published")]
    printed = of_set.set_index("quantity")["value"]
    return row | {f"{quantity}_print": printed.get(quantity, np.nan) for quantity in PRINTED}


def _means(frame: pd.DataFrame) -> dict[str, float]:
    means = frame.mean()
    optimisation, classical = means["optimisation_variance"], means["classical_variance"]
    return {
        "true_sum": means["true_variance"],
        "optimisation": optimisation,
        "classical": classical,
        "estimated_sum": optimisation + classical,
    }
