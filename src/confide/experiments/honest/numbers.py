r"""The nested experiment in numbers, and the oracle that widths are held against.

The oracle knows how a method errs at each row, over data sets: by $b(x)$ on average, with standard
deviation $s(x)$. Its interval, too, is symmetric about the prediction and has one half-width for
all data sets, $P(|b + sZ| \le h) = \text{level}$ with Z standard normal; so
$(h / s)^2$ is a quantile of the non-central chi-squared law with one degree of freedom.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float64
from scipy import stats

from confide.experiments.coverage.comparison import in_numbers
from confide.experiments.coverage.study import Judged
from confide.experiments.honest.contenders import RAW, SAID
from confide.experiments.honest.entries import Entry, twins_chosen
from confide.metrics import pointwise_bias
from confide.prediction import Kind

if TYPE_CHECKING:
    import pandas as pd

Row = Float64[np.ndarray, " row"]
KEYS = ["set", "condition", "kind", "confidence_level"]


def in_nested_numbers(entries: Sequence[Entry]) -> "pd.DataFrame":
    """A row for each problem, contender, kind and level.

    Beside the columns of `in_numbers`: `oracle_width`, `to_oracle` (mean width over it),
    `to_raw_bde` (mean width over that of raw BDE on the same problem), and `centre_rmse` (how far
    the intervals' centres lie from the true function).
    """
    numbers = in_numbers([entry.judged for entry in entries])
    asked = [
        (entry.judged, coverage.kind, coverage.confidence_level)
        for entry in entries
        for coverage in entry.judged.coverages
    ]
    numbers["oracle_width"] = [oracle_width(*each) for each in asked]
    numbers["centre_rmse"] = [_centre_rmse(*each) for each in asked]
    numbers["to_oracle"] = numbers["width"] / numbers["oracle_width"]
    raw = numbers[(numbers["method"] == "BDE") & (numbers["variant"] == SAID[RAW])]
    width = raw.set_index(KEYS)["width"].rename("raw_bde_width")
    numbers = numbers.join(width, on=KEYS)
    numbers["to_raw_bde"] = numbers["width"] / numbers["raw_bde_width"]
    return numbers.drop(columns="raw_bde_width")


def oracle_width(judged: Judged, kind: Kind, level: float) -> float:
    """Mean width over test rows of the oracle's intervals; not a number from one data set."""
    if judged.n_simulations < 2:
        return float("nan")
    bias = pointwise_bias(judged.true_mean, judged.answers.means)
    spread = bias.standard_error * np.sqrt(judged.n_simulations)
    if kind == "prediction":  # the noise is normal in all problems
        spread = np.hypot(spread, judged.true_std)
    return float(2 * half_width(bias.bias, spread, level).mean())


def _centre_rmse(judged: Judged, kind: Kind, level: float) -> float:
    centres = judged.answers.intervals[kind, level].mean(axis=-1)
    return float(np.sqrt(np.mean((centres - judged.true_mean) ** 2)))


def half_width(bias: Row, spread: Row, level: float) -> Row:
    """How far a normal law reaches to both sides of zero, with the level's probability.

    Example:
        >>> half_width(np.array([0.0, 3.0]), np.array([1.0, 0.0]), 0.95).round(2).tolist()
        [1.96, 3.0]
    """
    known = np.where(spread > 0, spread, 1.0)
    squared = stats.ncx2.ppf(level, 1, (bias / known) ** 2)
    return np.where(spread > 0, known * np.sqrt(squared), np.abs(bias))


def costs(entries: Sequence[Entry]) -> "pd.DataFrame":
    """A row for each calibrated contender: its twins, and processor time in raw fits.

    Medians over data sets: the first one of a process is compiled first.
    """
    import pandas as pd

    rows = []
    for entry in entries:
        told = entry.calibrations
        if told.empty:
            continue
        ratios = (told["calibration_cpu_seconds"] / told["fit_cpu_seconds"]).to_numpy()
        rows.append(
            {
                "set": entry.problem.set,
                "condition": entry.problem.truth,
                "method": entry.method,
                "variant": SAID[entry.variant],
                "cost": float(np.median(ratios)),
                "fit_cpu_seconds": float(told["fit_cpu_seconds"].median()),
                "calibration_cpu_seconds": float(told["calibration_cpu_seconds"].median()),
                "twins": ", ".join(
                    f"{kind.replace('_', ' ')} {share:.0%}"
                    for kind, share in twins_chosen(entry).items()
                ),
                "biased_share": float(told["biased_share"].mean()),
                "simulations": len(told),
            }
        )
    return pd.DataFrame(rows)
