r"""The nested experiment in numbers, and the oracle that widths are held against.

The oracle knows how a method errs at each row, over data sets: by $b(x)$ on average, with standard
deviation $s(x)$. Its interval, too, is symmetric about the prediction and has one half-width for
all data sets, $P(|b + sZ| \le h) = \text{level}$ with Z standard normal; so
$(h / s)^2$ is a quantile of the non-central chi-squared law with one degree of freedom.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from jaxtyping import Float64
from scipy import stats

from confide.experiments.coverage.comparison import in_numbers
from confide.experiments.coverage.judged import Judged, judged
from confide.experiments.honest.problems import IN_WORDS, ORACLE, PROBLEMS, RAW, Problem
from confide.experiments.store import Saved
from confide.metrics import pointwise_bias
from confide.prediction import Kind

Row = Float64[np.ndarray, " row"]
KEYS = ["set", "condition", "kind", "confidence_level"]
METHODS = ("BDE", "BDE of the paper", "DE", "NB", "XGB", "LGBM")


def entries_of(finished: Sequence[Saved]) -> list[Judged]:
    """An entry for each problem, method and variant in words, in the order of the problems."""
    entries = [
        replace(entry, settings={**entry.settings, "variant": IN_WORDS[entry.settings["variant"]]})
        for entry in judged(finished)
    ]
    return sorted(entries, key=_place)


def _place(entry: Judged) -> tuple[int, int, int]:
    name, truth, method, variant = entry.who.values()
    variants = list(IN_WORDS.values())
    return PROBLEMS.index(Problem(name, truth)), METHODS.index(method), variants.index(variant)


def nested_headline(saved: Saved) -> str:
    """Mean coverage and width of each variant."""
    return "; ".join(f"{e.settings['variant']}: {e.headline}" for e in entries_of([saved]))


def in_nested_numbers(entries: Sequence[Judged]) -> pd.DataFrame:
    """A row for each problem, contender, kind and level.

    Beside the columns of `in_numbers`: `oracle_width`, `to_oracle` (mean width over it),
    `to_raw_bde` (mean width over that of raw BDE on the same problem), and `centre_rmse` (how far
    the intervals' centres lie from the true function).
    """
    numbers = in_numbers(entries)
    asked = [(entry, c.kind, c.confidence_level) for entry in entries for c in entry.coverages]
    numbers["oracle_width"] = [oracle_width(*one) for one in asked]
    numbers["centre_rmse"] = [_centre_rmse(*one) for one in asked]
    numbers["to_oracle"] = numbers["width"] / numbers["oracle_width"]
    raw = numbers[(numbers["method"] == "BDE") & (numbers["variant"] == IN_WORDS[RAW])]
    width = raw.set_index(KEYS)["width"].rename("raw_bde_width")
    numbers["to_raw_bde"] = numbers["width"] / numbers.join(width, on=KEYS)["raw_bde_width"]
    return numbers


def oracle_width(entry: Judged, kind: Kind, level: float) -> float:
    """Mean width over test rows of the oracle's intervals; not a number from one data set."""
    if entry.n_simulations < 2:
        return float("nan")
    bias = pointwise_bias(entry.true_mean, entry.answers.means)
    spread = bias.standard_error * np.sqrt(entry.n_simulations)
    if kind == "prediction":  # the noise is normal in all problems
        spread = np.hypot(spread, entry.true_std)
    return float(2 * half_width(bias.bias, spread, level).mean())


def _centre_rmse(entry: Judged, kind: Kind, level: float) -> float:
    centres = entry.answers.intervals[kind, level].mean(axis=-1)
    return float(np.sqrt(np.mean((centres - entry.true_mean) ** 2)))


def half_width(bias: Row, spread: Row, level: float) -> Row:
    """How far a normal law reaches to both sides of zero, with the level's probability.

    Example:
        >>> half_width(np.array([0.0, 3.0]), np.array([1.0, 0.0]), 0.95).round(2).tolist()
        [1.96, 3.0]
    """
    known = np.where(spread > 0, spread, 1.0)
    squared = stats.ncx2.ppf(level, 1, (bias / known) ** 2)
    return np.where(spread > 0, known * np.sqrt(squared), np.abs(bias))


def costs(entries: Sequence[Judged]) -> pd.DataFrame:
    """A row for each calibrated contender: its twins, and processor time in raw fits.

    Medians over data sets: the first one of a process is compiled first.
    """
    rows = []
    for entry in entries:
        calibrations = entry.calibrations
        if calibrations.empty:
            continue
        fit, calibration = (
            calibrations[f"{name}_cpu_seconds"].to_numpy() for name in ("fit", "calibration")
        )
        rows.append(
            {
                **entry.who,
                "cost": float(np.median(calibration / fit)),
                "fit_cpu_seconds": float(np.median(fit)),
                "calibration_cpu_seconds": float(np.median(calibration)),
                "twins": ", ".join(
                    f"{kind.replace('_', ' ')} {share:.0%}"
                    for kind, share in twins_chosen(entry).items()
                ),
                "biased_share": float(calibrations["biased_share"].mean()),
                "simulations": len(calibrations),
            }
        )
    return pd.DataFrame(rows)


def twins_chosen(entry: Judged) -> dict[str, float]:
    """The share of data sets that each kind of twin was chosen for."""
    if entry.settings["variant"] == IN_WORDS[ORACLE]:
        return {"the truth itself": 1.0}
    chosen = entry.calibrations["twins"].astype(str).str.split("+", regex=False)
    kinds = sorted(set(chosen.explode()))
    return {kind: float(np.mean([kind in twins for twins in chosen])) for kind in kinds}
