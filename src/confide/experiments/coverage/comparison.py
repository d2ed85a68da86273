"""A coverage study in numbers, each with its standard error, beside the paper's."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from confide.experiments.coverage.contenders import CONTENDERS, DESCRIBED, PUBLISHED
from confide.experiments.coverage.study import Judged
from confide.experiments.printed import printed_numbers

if TYPE_CHECKING:
    import pandas as pd

# A number differs from print when it is farther from it than this share, rounding allowed for.
FAR = 0.2
MARK_IN_WORDS = (
    "of ours: more than 20 % from print, beyond what its rounding explains; of print: cannot be "
    "what its column says, so it is not compared with"
)


def in_numbers(entries: Sequence[Judged]) -> "pd.DataFrame":
    """A row for each set, condition, contender, kind and level."""
    import pandas as pd

    rows = []
    for entry in entries:
        squared = entry.squared_errors()
        rmse = float(np.sqrt(squared.mean()))
        for coverage in entry.coverages:
            intervals = entry.answers.intervals[coverage.kind, coverage.confidence_level]
            widths = (intervals[..., 1] - intervals[..., 0]).mean(axis=1)
            n = entry.n_simulations
            rows.append(
                {
                    "set": entry.settings["set"],
                    "condition": entry.settings["condition"],
                    "method": entry.settings["method"],
                    "variant": entry.settings["variant"],
                    "kind": coverage.kind,
                    "confidence_level": coverage.confidence_level,
                    "simulations": n,
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
    numbers: "pd.DataFrame", table: str, quantities: Sequence[str], *, keys: Sequence[str]
) -> "pd.DataFrame":
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
    print_ = printed_numbers()
    print_ = print_[print_["table"] == table]
    print_ = print_.rename(columns={"variant": "condition"})
    matching = [key for key in keys if key != "condition" or (print_["condition"] != "").any()]
    for quantity in quantities:
        found = print_[print_["quantity"] == quantity]
        if quantity != "rmse":
            found = found[(found["kind"] == kind) & (found["confidence_level"] == level)]
        found = found.assign(**{f"{quantity}_slip": found["slip"] != ""})
        found = found.rename(columns={"value": f"{quantity}_print"})
        found = found[[*matching, f"{quantity}_print", "last_digit", f"{quantity}_slip"]]
        rows = rows.merge(found, on=matching, how="left")
        for variant, name in ((PUBLISHED, "published"), (DESCRIBED, "described")):
            ours = of_variant(numbers, variant)
            ours = ours[[*keys, quantity, f"{quantity}_se"]].rename(
                columns={quantity: f"{quantity}_{name}", f"{quantity}_se": f"{quantity}_{name}_se"}
            )
            rows = rows.merge(ours, on=list(keys), how="left")
        slip = rows[f"{quantity}_slip"].eq(other=True)  # False also where nothing is printed
        rows[f"{quantity}_slip"] = slip
        ours, value = rows[f"{quantity}_published"], rows[f"{quantity}_print"].mask(slip)
        rows[f"{quantity}_ratio"] = ours / value
        distance = (ours - value).abs() - rows.pop("last_digit") / 2
        rows[f"{quantity}_far"] = (distance > FAR * value).fillna(value=False)
    return rows


def standard_error(values: np.ndarray) -> float:
    """Of their mean; not a number where there is one value."""
    if len(values) < 2:
        return float("nan")
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def of_variant(numbers: "pd.DataFrame", variant: str) -> "pd.DataFrame":
    """Rows of a variant; a method that has only one is the same in both."""
    n_variants = Counter(contender.method for contender in CONTENDERS)
    alone = [method for method, n in n_variants.items() if n == 1]
    return numbers[(numbers["variant"] == variant) | numbers["method"].isin(alone)]
