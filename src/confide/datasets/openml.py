"""Benchmark sets from OpenML. Called only when a user asks for a download."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float64

from confide.datasets.sets import BenchmarkSet

if TYPE_CHECKING:
    import pandas as pd


def fetch(benchmark_set: BenchmarkSet) -> Float64[np.ndarray, "row column"]:
    """The set's features and, last, its target, as OpenML has them.

    Nobody has seen these downloads work: they were written on a machine without a network. What
    they bring is therefore worth what its checksum says, which the caller compares.
    """
    from sklearn.datasets import fetch_openml

    X: pd.DataFrame
    y: pd.Series
    X, y = fetch_openml(
        data_id=benchmark_set.openml_id,
        as_frame=True,  # as an array, categories would be numbered instead of read
        parser="liac-arff",  # reads decimals as Python does; pandas' may be off by the last bit
        cache=False,  # confide keeps the values itself
        return_X_y=True,
    )
    # A second target, where there is one, comes after the features.
    features = X.iloc[:, : len(benchmark_set.feature_names)]
    # Boston's categories are numbers written as text.
    target = y.astype(object).to_numpy(np.float64)
    if benchmark_set.target_decimals is not None:
        target = np.round(target, benchmark_set.target_decimals)
    return np.column_stack([features.astype(object).to_numpy(np.float64), target])
