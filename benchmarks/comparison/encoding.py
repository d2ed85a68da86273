"""Tables with categories and holes, for contenders that take them and for those that do not.

Such a table comes as numbers: a category is its code and a hole is nan. Contenders that can read
frames get one, with text for categories; all others get the same encoding, so that none of them is
judged by the care that its adapter took.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .answers import Answers, Fit, Predict

MOST_CATEGORIES = 20
"""Columns that the encoding makes of a category; rarer values share the last of them."""


def prepared(fit: Fit, categories: Sequence[int], *, reads_frames: bool) -> Fit:
    """A contender that takes rows of numbers with codes and holes.

    Args:
        fit: the contender.
        categories: which columns are codes of categories.
        reads_frames: whether it takes frames with text and holes; numbers without either if not.
    """

    def fit_prepared(X: np.ndarray, y: np.ndarray, *, seed: int) -> Predict:
        if not len(categories) and not np.isnan(X).any():
            return fit(X, y, seed=seed)
        change = _as_frame(categories) if reads_frames else _encoder(X, categories).transform
        predict = fit(change(X), y, seed=seed)

        def predict_prepared(X: np.ndarray, /) -> Answers:
            return predict(change(X))

        return predict_prepared

    return fit_prepared


def _as_frame(categories: Sequence[int]) -> Callable[[np.ndarray], pd.DataFrame]:
    """Codes become categories with text for names; holes stay holes."""

    def change(X: np.ndarray) -> pd.DataFrame:
        frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
        for name in frame.columns[list(categories)]:
            codes = frame[name]
            frame[name] = codes.map("value {:g}".format).mask(codes.isna()).astype("category")
        return frame

    return change


def _encoder(X: np.ndarray, categories: Sequence[int]) -> Any:
    """One column for each category, a hole being one; the median, and a flag, for other holes."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import OneHotEncoder

    one_hot = OneHotEncoder(
        max_categories=MOST_CATEGORIES, handle_unknown="infrequent_if_exist", sparse_output=False
    )
    numbers = [i for i in range(X.shape[1]) if i not in categories]
    return ColumnTransformer(
        [
            ("categories", one_hot, list(categories)),
            ("numbers", SimpleImputer(strategy="median", add_indicator=True), numbers),
        ]
    ).fit(X)
