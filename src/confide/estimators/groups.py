"""Groups of rows, by a column of the table: each has prediction intervals calibrated for itself."""

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from confide.calibration import Calibration, smallest_calibration_set
from confide.encoding import EncodedTable, column_names, is_table, labels_of
from confide.errors import CalibrationWarning, nearest

# Groups that have no finite prediction interval at this level are worth a warning.
USUAL_LEVEL = 0.95


def groups_of(X: Any, column: str | int, names: Sequence[str] | None) -> list[str]:
    """The group of each row: the value in a column, as text.

    Args:
        X: rows as the user passed them.
        column: its name, or its number where columns have no names.
        names: of the columns of the fit, where they had some.

    Raises:
        ValueError: there is no such column.
    """
    import pandas as pd

    table = X.table if isinstance(X, EncodedTable) else X
    if not is_table(table):
        table = pd.DataFrame(np.asarray(table))
        table.columns = range(table.shape[1]) if names is None else list(names)
    known = column_names(table)
    if not isinstance(column, str | int) or column not in known:
        advice = nearest(str(column), [str(name) for name in known]) if len(known) < 1000 else ""
        raise ValueError(
            "`groups` must be the name of a column of X, or its number where columns have no "
            f"names, so that the group of a new row is known too; got {column!r:.80}. "
            f"{advice}".rstrip()
        )
    return labels_of(table, column)


def warn_of_small_groups(calibration: Calibration) -> None:
    """Warns of groups with too few rows for the usual level."""
    needed = smallest_calibration_set(USUAL_LEVEL, symmetric=calibration.symmetric)
    few = {name: len(own) for name, own in calibration.of_groups.items() if len(own) < needed}
    if few:
        _warn(
            f"Some groups of {calibration.column!r} have fewer than {needed} rows to calibrate "
            f"with: {_listed(few)}. Their {100 * USUAL_LEVEL:g} % prediction intervals are "
            "infinite. Calibrate with more rows, or merge groups."
        )


def warn_of_unseen_groups(calibration: Calibration, groups: Sequence[str]) -> None:
    """Warns of groups that the calibration had no rows of."""
    unseen = Counter(group for group in groups if group not in calibration.of_groups)
    if unseen:
        _warn(
            f"The calibration had no rows of these groups of {calibration.column!r}: "
            f"{_listed(unseen)}. Their prediction intervals are calibrated on all groups together, "
            "and may cover less often than they say. Calibrate with rows of these groups."
        )


def _listed(counts: dict[str, int]) -> str:
    some = [f"{name!r:.40} ({count})" for name, count in list(counts.items())[:5]]
    return ", ".join(some) + f" and {len(counts) - 5} more" * (len(counts) > 5)


def _warn(message: str) -> None:
    warnings.warn(message, CalibrationWarning, stacklevel=5)
