"""Numbers by which rows are recognised."""

import numpy as np
import pandas as pd
import pytest

from confide.fingerprints import _row_hashes, fingerprints


@pytest.mark.parametrize("n_columns", [1, 2, 40])
def test_hashes_are_those_of_pandas_which_model_files_hold(n_columns):
    generator = np.random.default_rng(n_columns)
    X = generator.normal(size=(200, n_columns)) * 10.0 ** generator.integers(-9, 9, n_columns)
    X[::7] = 0.0
    expected = pd.util.hash_pandas_object(pd.DataFrame(X), index=False)
    assert _row_hashes(X).tolist() == expected.tolist()


def test_equal_rows_share_a_number_and_others_do_not():
    X, y = np.array([[1.0, 2.0], [1.0, 2.0], [2.0, 1.0]]), np.array([3.0, 3.0, 3.0])
    one, same, other = fingerprints(X, y)
    assert one == same != other
    assert fingerprints(-0.0 * X, y).tolist() == fingerprints(0.0 * X, y).tolist()
