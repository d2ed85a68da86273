"""A coverage study in numbers, each with its standard error, beside the paper's."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd

from confide.experiments.coverage.judged import Judged
from confide.experiments.coverage.study import CONTENDERS, DESCRIBED, PUBLISHED
from confide.experiments.printed import printed_numbers

# A number differs from print when it is farther from it than this share, rounding allowed for.
FAR = 0.2
MARK_IN_WORDS = (
    "In our columns: more than 20 % from print, beyond what its rounding explains. In print: the "
    "number cannot be what its column says, so it is not compared."
)


def in_numbers(entries: Sequence[Judged]) -> pd.DataFrame:
    """A row for each set, condition, contender, kind and level."""
    rows = []
    for entry in entries:
        squared = entry.squared_errors()
        rmse = float(np.sqrt(squared.mean()))
        for coverage in entry.coverages:
            intervals = entry.answers.intervals[coverage.kind, coverage.confidence_level]
            widths = (intervals[..., 1] - intervals[..., 0]).mean(axis=1)
            rows.append(
                {
                    **entry.who,
                    "kind": coverage.kind,
                    "confidence_level": coverage.confidence_level,
                    "simulations": entry.n_simulations,
                    "coverage": coverage.mean,
                    "coverage_se": coverage.mean_se,
                    "brier": coverage.brier,
                    "brier_se": coverage.brier_se,
                    "brier_attainable": coverage.brier_attainable,
                    "width": float(widths.mean()),
                    "width_se": standard_error(widths),
                    "rmse": rmse,
                    "rmse_se": standard_error(squared) / (2 * rmse),
                }
            )
    return pd.DataFrame(rows)


def beside_print(
    numbers: pd.DataFrame, table: str, quantities: Sequence[str], *, keys: Sequence[str]
) -> pd.DataFrame:
    """One row for each set, condition and method: print, ours as published, ours as described.

    Args:
        numbers: of one kind and level, as `in_numbers` gives them.
        table: label of the paper's table.
        quantities: "brier", "width" or "rmse".
        keys: what tells rows apart: "set", "condition", "method", or some of them.

    Returns:
        For each quantity q: `q_print`, `q_slip` where print cannot be what its column says,
        `q_published` and `q_described` with their `_se`, `q_ratio` of what was published to print,
        and `q_far` where that is far from 1. A slip is not compared with. A method whose two
        variants are the same has its numbers in both places.
    """
    kind, level = numbers["kind"].iloc[0], numbers["confidence_level"].iloc[0]
    rows = numbers[list(keys)].drop_duplicates().reset_index(drop=True)
    print_ = printed_numbers(table).rename(columns={"variant": "condition"})
    matching = [key for key in keys if key != "condition" or (print_["condition"] != "").any()]
    for q in quantities:
        printed = print_[print_["quantity"] == q]
        if q != "rmse":
            printed = of(printed, kind, level)
        printed = printed.assign(slip=printed["slip"] != "")
        printed = printed.rename(columns={"value": f"{q}_print", "slip": f"{q}_slip"})
        printed = printed[[*matching, f"{q}_print", "last_digit", f"{q}_slip"]]
        rows = rows.merge(printed, on=matching, how="left")
        for variant, name in ((PUBLISHED, "published"), (DESCRIBED, "described")):
            ours = of_variant(numbers, variant)[[*keys, q, f"{q}_se"]]
            ours = ours.rename(columns={q: f"{q}_{name}", f"{q}_se": f"{q}_{name}_se"})
            rows = rows.merge(ours, on=list(keys), how="left")
        slip = rows[f"{q}_slip"].eq(other=True)  # False also where nothing is printed
        rows[f"{q}_slip"] = slip
        published, value = rows[f"{q}_published"], rows[f"{q}_print"].mask(slip)
        rows[f"{q}_ratio"] = published / value
        distance = (published - value).abs() - rows.pop("last_digit") / 2
        rows[f"{q}_far"] = (distance > FAR * value).fillna(value=False)
    return rows


def standard_error(values: np.ndarray) -> float:
    """Of their mean; not a number where there is one value."""
    if len(values) < 2:
        return float("nan")
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def of(numbers: pd.DataFrame, kind: str, level: float) -> pd.DataFrame:
    """The rows of one kind and level."""
    return numbers[(numbers["kind"] == kind) & (numbers["confidence_level"] == level)]


def of_variant(numbers: pd.DataFrame, variant: str) -> pd.DataFrame:
    """Rows of a variant; a method that has only one is the same in both."""
    n_variants = Counter(contender.method for contender in CONTENDERS)
    alone = [method for method, n in n_variants.items() if n == 1]
    return numbers[(numbers["variant"] == variant) | numbers["method"].isin(alone)]
