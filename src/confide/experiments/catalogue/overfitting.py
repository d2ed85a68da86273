"""Appendix: an example that overfits, and what the confidence intervals say of it."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from confide.document import Column, Figure, Part, Table, bands
from confide.experiments.coverage.comparison import standard_error
from confide.experiments.coverage.study import CONTENDERS
from confide.experiments.experiment import Cell, Experiment, Findings, Options, Saved, tables_by
from confide.experiments.recipe import paper_estimator
from confide.experiments.simulated import blocks_of, seeds_of
from confide.progress import Progress

X_TRAIN = np.linspace(0.1, 0.9, 7)
X_TEST = np.linspace(0, 1, 200)
NOISE_STD, LEVEL = 0.2, 0.9
NETWORK = {"hidden_layer_sizes": (400, 200, 100), "l2_penalty": 0.0}
SIMULATIONS_PER_CELL = 25
ENTRIES = [contender for contender in CONTENDERS if contender.method in {"BDE", "DE"}]


class Overfitting(Experiment):
    """Seven points of pure noise, and networks that can learn them by heart."""

    name = "overfitting"
    title = "Seven points of pure noise: do the confidence intervals give the overfitting away?"
    place = 9
    paper = "Appendix, Detecting overfitting, which draws one data set"
    whole: ClassVar = Options(simulations=100, sets=("noise",), methods=("BDE", "DE"))
    quick: ClassVar = Options(simulations=4, sets=("noise",), methods=("BDE", "DE"))

    def cells(self, options: Options) -> list[Cell]:
        """A cell is one contender and 25 data sets."""
        return [
            Cell(
                f"{name}/{entry.name}/{first:03d}-{stop - 1:03d}",
                curves,
                {
                    "set": name,
                    "method": entry.method,
                    "variant": entry.variant,
                    "estimator": entry.estimator,
                    "parameters": {**entry.parameters, **NETWORK},
                    "simulations": [first, stop],
                    "seed": options.seed,
                },
                steps=stop - first,
                work=float(stop - first),
            )
            for name in options.sets
            for entry in ENTRIES
            if entry.method in options.methods
            for first, stop in blocks_of(options.simulations, SIMULATIONS_PER_CELL)
        ]

    def headline(self, saved: Saved) -> str:
        """The mean width of the confidence intervals at the training points."""
        frame = saved.frame
        width = (frame["upper"] - frame["lower"])[frame["target"].notna()].mean()
        return f"{100 * LEVEL:g} % confidence intervals at the points: width {width:.3g}"

    def findings(self, finished: Sequence[Saved]) -> Findings:
        """Widths at the points and between them, and the paper's figure."""
        tables = tables_by(finished, "method", "variant")
        frames = [
            tables[key].assign(entry=" ".join(key) if entry.method == "BDE" else entry.method)
            for entry in ENTRIES
            if (key := (entry.method, entry.variant)) in tables
        ]
        summary = pd.DataFrame([_at_and_between(frame) for frame in frames])
        parts: list[Part] = [_curves_figure(pd.concat(frames, ignore_index=True)), _table(summary)]
        return Findings(_words(summary), parts)


def curves(settings: Mapping[str, Any], progress: Progress | None) -> pd.DataFrame:
    """Predictions and confidence intervals over the line and at the training points."""
    draws = [
        np.random.default_rng(seed).normal(0, NOISE_STD, len(X_TRAIN))
        for seed in seeds_of(settings, "targets")
    ]
    estimator = paper_estimator(settings["estimator"], **settings["parameters"])
    fits = estimator.fit_many(X_TRAIN[:, None], draws, seeds_of(settings, "fits"))
    x = np.concatenate([X_TEST, X_TRAIN])
    frames = []
    for simulation, y, fitted in zip(range(*settings["simulations"]), draws, fits, strict=True):
        prediction = fitted.get_prediction(x[:, None])
        lower, upper = prediction.confidence_interval(LEVEL).T
        columns = {
            "simulation": simulation,
            "x": x,
            "target": np.concatenate([np.full(len(X_TEST), np.nan), y]),
            "mean": prediction.mean,
            "lower": lower,
            "upper": upper,
            "aleatoric_variance": prediction.aleatoric_variance,
        }
        if prediction.classical_variance is not None:
            columns["classical_variance"] = prediction.classical_variance
        frames.append(pd.DataFrame(columns))
        if progress is not None:
            progress(1)
    return pd.concat(frames, ignore_index=True)


def _at_and_between(frame: pd.DataFrame) -> dict[str, Any]:
    """Mean widths at the training points and half-way between them, over the data sets."""
    frame = frame.assign(
        width=frame["upper"] - frame["lower"],
        held=(frame["lower"] < 0) & (frame["upper"] > 0),
    )
    half_way = (X_TRAIN[1:] + X_TRAIN[:-1]) / 2
    nearest = X_TEST[np.abs(X_TEST[:, None] - half_way).argmin(axis=0)]
    at_points = frame[frame["target"].notna()].groupby("simulation")
    between = frame[frame["target"].isna() & frame["x"].isin(nearest)].groupby("simulation")
    means = {
        "at_points": at_points["width"].mean().to_numpy(),
        "between": between["width"].mean().to_numpy(),
        "coverage": at_points["held"].mean().to_numpy(),
    }
    row = {
        "entry": frame["entry"].iloc[0],
        **{name: values.mean() for name, values in means.items()},
        **{f"{name}_se": standard_error(values) for name, values in means.items()},
        "wider_at_points": float(np.mean(means["at_points"] > means["between"])),
        "ratio": np.nan,
        "simulations": len(means["at_points"]),
    }
    if "classical_variance" in frame and frame["classical_variance"].notna().any():
        sums = at_points[["classical_variance", "aleatoric_variance"]].sum()
        row["ratio"] = float((sums["classical_variance"] / sums["aleatoric_variance"]).median())
    return row


def _table(summary: pd.DataFrame) -> Table:
    columns = [
        Column("entry", "method"),
        Column("at_points", "width at the points", ".3g", error="at_points_se"),
        Column("between", "width half-way between", ".3g", error="between_se"),
        Column("wider_at_points", "wider at the points", ".0%", help="share of the data sets"),
        Column("coverage", "coverage at the points", ".2f", error="coverage_se"),
        Column(
            "ratio",
            "finite data / noise",
            ".2g",
            help="classical over aleatoric variance at the points, median over data sets: far "
            "below 1 where rows are many and networks small",
        ),
        Column("simulations", "data sets", "d"),
    ]
    caption = (
        f"{100 * LEVEL:g} % confidence intervals at seven points of pure noise (standard deviation "
        f"{NOISE_STD}), and half-way between them. The true function is zero."
    )
    return Table("overfitting", caption, summary, columns)


def _curves_figure(frame: pd.DataFrame) -> Figure:
    first = frame[frame["simulation"] == frame["simulation"].min()]
    curve, points = first[first["target"].isna()], first[first["target"].notna()]
    observed = points.drop_duplicates("x")[["x", "target"]].rename(columns={"target": "y"})
    return Figure(
        "overfitting",
        f"Seven points of pure noise, and {100 * LEVEL:g} % confidence intervals of networks that "
        "learn them by heart (the first of the data sets).",
        bands(
            curve.rename(columns={"mean": "y"}),
            x="x",
            y="y",
            lower="lower",
            upper="upper",
            category="entry",
            points=observed,
        ),
    )


def _words(summary: pd.DataFrame) -> str:
    return "\n".join(
        f"- {row['entry']}: {row['at_points']:.2g} wide at the points, {row['between']:.2g} "
        f"between them; wider at the points in {100 * row['wider_at_points']:.0f} % of data sets."
        for _, row in summary.iterrows()
    )
