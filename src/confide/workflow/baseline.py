"""What a model must beat on the held-out rows: gradient boosting, and guessing the mean."""

import numpy as np
from jaxtyping import Float64

from confide.encoding import (
    CategoryColumn,
    EncodedTable,
    Encoder,
    ManyCategoriesColumn,
    NumericColumn,
)

Row = Float64[np.ndarray, " row"]
Matrix = Float64[np.ndarray, "row feature"]


def boosted_means(train: EncodedTable, y_train: Row, held: EncodedTable) -> Row:
    """What scikit-learn's gradient boosting predicts for the held-out rows, with its defaults."""
    from sklearn.ensemble import HistGradientBoostingRegressor  # here: it takes long to load

    X, categorical = as_trees_like_it(train.matrix, train.encoder)
    trees = HistGradientBoostingRegressor(categorical_features=categorical, random_state=0)
    means = trees.fit(X, y_train).predict(as_trees_like_it(held.matrix, train.encoder)[0])
    return np.asarray(means, np.float64)


def as_trees_like_it(matrix: Matrix, encoder: Encoder) -> tuple[Matrix, list[bool]]:
    """An encoded table with one column for all indicators of a category, and its holes again.

    Args:
        matrix: the table as its encoder makes it.
        encoder: what made it.

    Returns:
        The matrix, not a number where a value is missing; and which of its columns are categories.
    """
    columns, categorical, start = [], [], 0
    for column in encoder.columns:
        stop = start + len(column.feature_names)
        own = matrix[:, start:stop]
        n_others = 1 if isinstance(column, ManyCategoriesColumn) else 0
        # None of very many categories may be common enough for an indicator.
        is_category = isinstance(column, CategoryColumn) and own.shape[1] > n_others
        if is_category:
            indicators, means = own[:, : own.shape[1] - n_others], own[:, own.shape[1] - n_others :]
            codes = np.where(indicators.any(axis=1), indicators.argmax(axis=1), np.nan)
            own = np.column_stack([codes, means])
        elif isinstance(column, NumericColumn) and column.has_indicator:
            own = np.where(own[:, -1:] > 0, np.nan, own[:, :-1])
        columns.append(own)
        categorical += [is_category and i == 0 for i in range(own.shape[1])]
        start = stop
    return np.hstack(columns), categorical
