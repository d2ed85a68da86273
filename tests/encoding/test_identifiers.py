"""Whole numbers that only name or count the rows are left out, and measurements are not."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from confide import DeepEnsembleRegressor
from confide.encoding import Encoder
from confide.errors import LeftOutColumnWarning

N = 60
SHUFFLED = np.random.default_rng(0).permutation(N) + 1
FAR_APART = np.random.default_rng(0).choice(10**9, N, replace=False)


def left_out(name, values, library=pd.DataFrame):
    return (
        name in Encoder.fit(library({name: values, "x": np.linspace(0, 1, len(values))})).left_out
    )


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("rownames", np.arange(1, N + 1)),
        ("Unnamed: 0", np.arange(N)),
        ("Order", np.arange(1, N + 1)),
        ("house", np.arange(N)),
        ("house", np.arange(N)[np.arange(N) % 3 != 1]),  # some rows were held out
        ("id", SHUFFLED),
        ("PassengerId", FAR_APART),
        ("customer_id", FAR_APART + 2**60),
        ("X", np.arange(1, N + 1)),  # the first column, as R's read.csv names it
        ("V1", np.arange(N)),
    ],
)
def test_identifiers_and_row_numbers_are_left_out(library, name, values):
    assert left_out(name, values, library)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("day", np.arange(N)),
        ("t", np.arange(N)),
        ("year", np.arange(1900, 1900 + N)),
        ("income", FAR_APART),
        ("rank", SHUFFLED),
        ("temperature", np.arange(20, 20 + N)),
        ("mileage", np.arange(0, 10 * N, 10)),
        ("rooms", np.arange(N) // 2),
        ("house", np.arange(float(N))),  # floats are meant as numbers
        ("id", np.arange(N) // 2),  # not of a row
        ("paid", SHUFFLED * 100),
        ("grid", np.arange(N)[::-1]),
        ("house", np.arange(19)),
        ("x", np.arange(1, N + 1)),
        ("X", np.arange(N) + 2),
        ("X", np.arange(N) + np.arange(N) // 50),  # with a gap
    ],
)
def test_measurements_are_kept(name, values):
    assert not left_out(name, values)


def test_a_letter_further_right_is_no_row_number():
    columns = {"x": np.linspace(0, 1, N), "X": np.arange(1, N + 1)}
    assert not Encoder.fit(pd.DataFrame(columns)).left_out


def with_holes(values, n_holes=1):
    """So many of the first values are missing."""
    return [None if i < n_holes else int(value) for i, value in enumerate(values)]


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, lambda of: pa.table(dict(of))])
def test_an_identifier_may_have_holes(library):
    assert left_out("id", with_holes(SHUFFLED), library)
    assert left_out("id", with_holes(SHUFFLED, N // 2), library)
    assert not left_out("id", with_holes(SHUFFLED, N // 2 + 1), library)
    assert not left_out("id", with_holes(SHUFFLED // 2), library)
    assert not left_out("house", with_holes(range(N)), library)


def test_floats_with_holes_that_are_no_identifier():
    assert not left_out("id", [None, *(SHUFFLED[1:] + 0.5)])
    assert not left_out("id", pd.Series([None, *SHUFFLED[1:]], dtype="Float64"))
    assert not left_out("id", pa.array([None, *SHUFFLED[1:]], pa.float64()), pa.table)


def test_reasons_say_what_the_numbers_are():
    table = {"id": SHUFFLED, "house": range(N), "no": with_holes(SHUFFLED), "x": SHUFFLED / 7}
    reasons = Encoder.fit(pd.DataFrame(table)).left_out
    to_use = "to use it, pass it as {}, or name it in --numeric"
    names = "its values are all different, like the names of rows; " + to_use
    assert reasons["id"] == names.format("floats")
    assert reasons["no"] == names.format("Float64")
    assert reasons["house"] == "it only numbers the rows; " + to_use.format("floats")


def test_the_only_column_is_kept():
    assert Encoder.fit(pd.DataFrame({"house": range(N)})).feature_names == ("house",)


def test_a_row_number_is_said_and_may_be_missing_in_other_tables(small):
    generator = np.random.default_rng(1)
    table = pd.DataFrame({"house": range(N), "x": generator.normal(size=N)})
    with pytest.warns(
        LeftOutColumnWarning, match=r"house \(it only numbers the rows; to use it, pa"
    ):
        model = DeepEnsembleRegressor(**small).fit(table, generator.normal(size=N))
    other = table.assign(house=None)
    np.testing.assert_array_equal(model.predict(other), model.predict(table))


def test_arrays_are_taken_as_they_are(small):
    X = np.column_stack([np.arange(N), np.linspace(0, 1, N) ** 2])
    model = DeepEnsembleRegressor(**small).fit(X, X[:, 0])
    assert model.encoder_ is None
    assert model.n_features_in_ == 2
