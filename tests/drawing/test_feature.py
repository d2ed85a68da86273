"""Columns of every library are numbers, dates or categories, which an axis can show."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from confide.drawing.feature import MISSING, MOST_CATEGORIES, OTHERS, as_values, feature_of
from confide.drawing.places import MOST_ROWS, places_of

DAYS = pd.date_range("2026-01-01", periods=8)


def test_rows_up_to_the_most_are_all_drawn():
    places = places_of(np.arange(float(MOST_ROWS)))
    assert (len(places.rows), places.notes) == (MOST_ROWS, ())


def test_columns_may_share_a_name():
    X = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    assert list(feature_of(X, 1)[1]) == [2, 4]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, None, 3], dtype="Int64"),
        pd.Series([1, None, 3], dtype=object),
        pl.Series([1, None, 3]),
        pd.Series([1, None, 3], dtype="float32"),
        pd.array([1, None, 3], dtype="Float64"),
    ],
    ids=["Int64", "objects", "polars", "float32", "Float64"],
)
def test_numbers_of_every_kind(column):
    np.testing.assert_array_equal(as_values(column).entries, [1, np.nan, 3])


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(DAYS).dt.date,
        pd.Series(DAYS).dt.tz_localize("Europe/Amsterdam"),
        pl.Series(DAYS.date),
        DAYS.to_numpy("M8[D]"),
        list(DAYS),
        DAYS.strftime("%Y-%m-%d"),
    ],
    ids=["date objects", "with a time zone", "polars dates", "numpy days", "list", "text"],
)
def test_dates_of_every_kind(column):
    np.testing.assert_array_equal(as_values(column).entries, DAYS.to_numpy())


@pytest.mark.parametrize(
    ("column", "codes", "names"),
    [
        (["b", "a", None, "b"], [1, 0, 2, 1], ("a", "b", MISSING)),
        (pl.Series(["b", None, "a"]), [1, 2, 0], ("a", "b", MISSING)),
        (pl.Series(["b", "a"], dtype=pl.Categorical), [1, 0], ("a", "b")),
        (pd.Categorical(["low", "high"], ["low", "mid", "high"]), [0, 1], ("low", "high")),
        (["1", "a", 2], [0, 2, 1], ("1", "2", "a")),
    ],
    ids=["text", "polars", "polars categories", "in their own order", "mixed"],
)
def test_categories_of_every_kind(column, codes, names):
    values = as_values(column)
    assert (values.entries.tolist(), values.categories) == (codes, names)


def test_rare_categories_are_put_together():
    words = [letter for k, letter in enumerate("abcdefghijklmnop") for _ in range(30 - k)]
    values = as_values([*words, None])
    assert values.categories == (*"abcdefghijk", OTHERS, MISSING)
    assert len(values.categories) == MOST_CATEGORIES + 1
    sizes = np.bincount(values.entries)
    assert sizes[:11].tolist() == list(range(30, 19, -1))
    assert sizes[11:].tolist() == [19 + 18 + 17 + 16 + 15, 1]
