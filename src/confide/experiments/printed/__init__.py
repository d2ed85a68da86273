"""The numbers in the paper's tables, each with its precision and, where it is wrong, the reason."""

from importlib.resources import files

import pandas as pd

__all__ = ["printed_numbers"]


def printed_numbers(table: str | None = None) -> pd.DataFrame:
    """Every number of the paper's seven tables of results, or of one of them, one a row.

    Sluijterman, Cator and Heskes, "Confident Neural Network Regression with Bootstrapped Deep
    Ensembles" (arXiv 2202.10903; Neurocomputing 656 (2025) 131500). Table 1 is `benchresults`,
    Table 2 `experiment3table`; those of the appendix are known by their label only.

    Two tables are entered as boston although print does not say so: `bench-different-noise` says
    Concrete, but its Gaussian row is Boston's, and `bench-retrainingfractions` names no set.
    Where print has one RMSE for BDE and DE, which share their predictor, each has a row.

    Returns:
        A table with these columns.

        - `table`: the label in the paper's LaTeX source.
        - `set`: the data set that was simulated, as in `confide.datasets.NAMES`.
        - `variant`: the noise (gaussian, t3, gamma) in `bench-different-noise`, the retrain
          fraction in `bench-retrainingfractions`, else empty.
        - `method`: BDE, DE, NB, CD or QDE.
        - `quantity`: brier, width or rmse; in Table 2 the variances optimisation and classical,
          their estimated_sum, and true_sum, what that sum should be.
        - `kind`: confidence or prediction, empty for what is no interval.
        - `confidence_level`: of the interval, NaN for what is none.
        - `value`: in plain units, print's powers of ten multiplied out.
        - `last_digit`: one unit of the last printed digit, in the units of `value`.
        - `slip`: empty, or why the number cannot be what its column says. A slip is kept as
          printed and should not be compared with.

    Example:
        >>> numbers = printed_numbers().query("table == 'RMSEvalues' and set == 'boston'")
        >>> dict(zip(numbers["method"], numbers["value"]))
        {'BDE': 3.92, 'DE': 3.92, 'NB': 4.03, 'CD': 3.95}
    """
    texts = ["table", "set", "variant", "method", "quantity", "kind", "slip"]
    numbers = ["confidence_level", "value", "last_digit"]
    with (files(__name__) / "numbers.csv").open(encoding="utf-8") as file:
        every = pd.read_csv(
            file,
            dtype=dict.fromkeys(texts, str) | dict.fromkeys(numbers, float),
            # An empty text is a text; only a missing level is a missing number.
            keep_default_na=False,
            na_values={"confidence_level": [""]},
            float_precision="round_trip",
        )
    return every if table is None else every[every["table"] == table]
