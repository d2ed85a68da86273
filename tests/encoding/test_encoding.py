"""Tables of pandas, polars and pyarrow: what becomes of their columns, and what is refused."""

import datetime as dt
import json
import pickle
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import check_array
from support.encoding_tables import START, mixed, refused

from confide import BootstrappedDeepEnsembleRegressor, DeepEnsembleRegressor, load
from confide.encoding import EncodedTable, Encoder, is_table
from confide.errors import LeftOutColumnWarning, ModelFileError, UnseenValueWarning
from confide.workflow import Notes, prediction_blocks

pytestmark = pytest.mark.usefixtures("without_type_checker")

LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
each_library = pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)


def encoded(table):
    """The matrix of a table by the encoder fitted to it, as a dictionary of lists."""
    encoder = Encoder.fit(table)
    return dict(zip(encoder.feature_names, encoder.encode(table).T.tolist(), strict=True))


@pytest.fixture(scope="module")
def targets():
    return np.random.default_rng(2).normal(size=60)


# What becomes of each kind


@each_library
def test_numbers_without_holes_stay_as_they_are(library):
    table = library({"a": [1, 2, 3], "b": [0.5, -1.0, 1e300]})
    assert encoded(table) == {"a": [1, 2, 3], "b": [0.5, -1.0, 1e300]}


@each_library
def test_missing_numbers_become_the_median_and_an_indicator(library):
    table = library({"a": [1.0, 2.0, 9.0, None] * 5})
    expected = {"a": [1, 2, 9, 2] * 5, "a is missing": [0, 0, 0, 1] * 5}
    assert encoded(table) == expected


@each_library
def test_too_few_missing_numbers_have_no_indicator(library):
    table = library({"a": [1.0, 2.0, 9.0] * 10 + [None] * 4})
    assert encoded(table) == {"a": [1, 2, 9] * 10 + [2] * 4}


def test_the_law_of_missing_numbers_is_that_of_scikit_learn():
    values = np.random.default_rng(0).normal(size=(50, 1))
    values[::7] = np.nan
    ours = Encoder.fit(pd.DataFrame(values)).encode(pd.DataFrame(values))
    theirs = SimpleImputer(strategy="median", add_indicator=True).fit_transform(values)
    np.testing.assert_array_equal(ours, theirs)


@each_library
def test_categories_become_an_indicator_each_and_missing_is_one_of_them(library):
    table = library({"town": ["Rome", "Oslo", None] * 5})
    expected = {
        "town=Oslo": [0, 1, 0] * 5,
        "town=Rome": [1, 0, 0] * 5,
        "town is missing": [0, 0, 1] * 5,
    }
    assert encoded(table) == expected


@each_library
def test_rare_categories_share_an_indicator(library):
    table = library({"town": ["Rome"] * 6 + ["Oslo"] * 5 + ["Bonn"] * 4 + ["Bern"]})
    expected = {
        "town=Oslo": [0] * 6 + [1] * 5 + [0] * 5,
        "town=Rome": [1] * 6 + [0] * 10,
        "town: other": [0] * 11 + [1] * 5,
    }
    assert encoded(table) == expected


@pytest.mark.parametrize("n_rare", [4, 5, 9, 10])
def test_a_category_needs_half_a_per_cent_of_the_rows(n_rare):
    # Of 2000 rows, ten are half a per cent; of 1000, five.
    for n_rows, fewest in ((1000, 5), (2000, 10)):
        values = ["c"] * n_rare + ["a", "b"] * ((n_rows - n_rare) // 2)
        names = Encoder.fit(pd.DataFrame({"x": values})).feature_names
        assert ("x=c" in names) == (n_rare >= fewest)


def test_categories_are_at_most_thirty_the_most_common():
    values = [f"{i:02d}" for i in range(40) for _ in range(10 + i)]
    encoder = Encoder.fit(pl.DataFrame({"x": values}))
    assert encoder.feature_names == (*(f"x={i}" for i in range(10, 40)), "x: other")


@pytest.mark.parametrize("n_rows", [100, 400])
def test_the_law_of_categories_is_that_of_scikit_learn(n_rows):
    # Some fifty categories, from common to rare; up to a thousand rows, five are common.
    powers = np.random.default_rng(0).geometric(0.06, n_rows)
    table = pd.DataFrame({"x": [f"{power:02d}" for power in powers]})
    theirs = OneHotEncoder(
        min_frequency=5,
        max_categories=31,
        handle_unknown="infrequent_if_exist",
        sparse_output=False,
    ).fit(table.to_numpy(object))
    new = pd.DataFrame({"x": [*table["x"], "unheard of"]})
    ours = Encoder.fit(table)
    np.testing.assert_array_equal(ours.encode(new), theirs.transform(new.to_numpy(object)))
    assert ours.unseen(new) == {"x": {"unheard of": 1}}


@each_library
def test_truths_become_zero_and_one(library):
    assert encoded(library({"a": [True, False, True]})) == {"a": [1, 0, 1]}


@each_library
def test_durations_become_seconds(library):
    table = library({"a": [dt.timedelta(seconds=1.5), dt.timedelta(days=-1), dt.timedelta(0)]})
    assert encoded(table) == {"a: seconds": [1.5, -86_400, 0]}


@each_library
def test_times_become_points_on_the_day(library):
    table = library({"a": [dt.time(0), dt.time(6), dt.time(12), dt.time(18)]})
    found = encoded(table)
    assert list(found) == ["a: day (sine)", "a: day (cosine)"]
    np.testing.assert_allclose(list(found.values()), [[0, 1, 0, -1], [1, 0, -1, 0]], atol=1e-15)


@each_library
def test_dates_become_days_and_points_on_the_cycles_that_they_span(library):
    # They span a year, but all lie near its start.
    days = [dt.date(1970, 1, 1), dt.date(1970, 1, 4), dt.date(1971, 1, 2)]
    found = encoded(library({"a": days}))
    assert list(found) == ["a: days", "a: week (sine)", "a: week (cosine)"]
    assert found["a: days"] == [0, 3, 366]
    angle = 2 * np.pi * np.array([0, 3, 2]) / 7
    np.testing.assert_allclose(found["a: week (sine)"], np.sin(angle), atol=1e-14)
    np.testing.assert_allclose(found["a: week (cosine)"], np.cos(angle), atol=1e-14)


@pytest.mark.parametrize(
    ("step", "n_rows", "cycles"),
    [
        (dt.timedelta(hours=1), 20, ()),  # less than a day
        (dt.timedelta(hours=5), 20, ("day",)),
        (dt.timedelta(days=1), 20, ("week",)),
        (dt.timedelta(days=1), 400, ("year", "week")),
        (dt.timedelta(days=30), 12, ("week",)),  # less than a year
        (dt.timedelta(hours=31), 400, ("year", "week", "day")),
        (dt.timedelta(days=7), 60, ("year",)),  # always the same day of the week
        (dt.timedelta(0), 20, ()),
    ],
)
def test_cycles_are_kept_that_training_goes_round_and_moves_on(step, n_rows, cycles):
    table = pl.DataFrame({"a": [START + i * step for i in range(n_rows)]})
    (column,) = Encoder.fit(table).columns
    assert column.cycles == cycles


def test_first_days_of_years_have_no_time_of_the_year():
    table = pl.DataFrame({"a": [dt.date(y, 1, 1) for y in range(1990, 2020)]})
    assert Encoder.fit(table).columns[0].cycles == ("week",)


@each_library
def test_dates_with_a_zone_are_read_on_its_clock(library):
    noon = [dt.datetime(2020, m, 1, 12, tzinfo=dt.UTC) for m in (1, 7)]
    table = pl.DataFrame({"a": noon}).with_columns(
        pl.col("a").dt.convert_time_zone("Europe/Amsterdam")
    )
    table = {pd.DataFrame: table.to_pandas, pl.DataFrame: lambda: table, pa.table: table.to_arrow}[
        library
    ]()
    encoder = Encoder.fit(table)
    assert encoder.columns[0].time_zone == "Europe/Amsterdam"
    days = encoder.encode(table)[:, 0]
    # One hour ahead of UTC in winter, two in summer.
    np.testing.assert_allclose(24 * (days % 1), [13, 14], rtol=1e-10)
    in_utc = pl.DataFrame({"a": noon})
    np.testing.assert_array_equal(encoder.encode(in_utc)[:, 0], days)


@pytest.mark.parametrize(
    ("zone", "hours"),
    [("America/New_York", [7, 8]), ("Etc/GMT+5", [7, 7]), ("Etc/GMT-5", [17, 17])],
)
@pytest.mark.parametrize("as_objects", [False, True])
def test_zones_of_any_name_are_read_on_their_clock(zone, hours, as_objects):
    dates = pd.to_datetime(["2020-01-01 12:00", "2020-07-01 12:00"], utc=True).tz_convert(zone)
    table = pd.DataFrame({"a": pd.Series(dates, dtype=object if as_objects else None)})
    encoder = Encoder.fit(table)
    assert encoder.columns[0].time_zone == zone
    np.testing.assert_allclose(24 * (encoder.encode(table)[:, 0] % 1), hours, rtol=1e-10)


def test_an_offset_is_read_on_the_clock_of_utc():
    zone = dt.timezone(dt.timedelta(hours=2))
    table = pd.DataFrame({"a": pd.to_datetime([dt.datetime(2020, 1, 1, 12, tzinfo=zone)] * 2)})
    encoder = Encoder.fit(table)
    assert encoder.columns[0].time_zone == "UTC"
    np.testing.assert_allclose(24 * (encoder.encode(table)[:, 0] % 1), [10, 10], rtol=1e-10)


# Types of the libraries


@pytest.mark.parametrize(
    "column",
    [
        pd.array([1, None, 3], dtype="Int64"),
        pd.array([1, None, 3], dtype="Float64"),
        pd.Series([1, None, 3], dtype=object),
        pd.Series([1.0, np.nan, 3], dtype=object),
        pd.Series([Decimal(1), None, Decimal(3)], dtype=object),
        pd.Series([True, None, 3], dtype=object),
        pd.Series([1, None, 3], dtype=pd.ArrowDtype(pa.int8())),
        pl.Series([1, None, 3], dtype=pl.UInt8),
        pl.Series([1.0, float("nan"), 3.0]),
        pl.Series([1, None, 3]).cast(pl.Decimal(10, 2)),
        pl.Series([1, None, 3], dtype=pl.Int128),
        pa.array([1, None, 3], pa.int16()),
        pa.array([1, None, 3], pa.float16()),
        pa.array([Decimal(1), None, Decimal(3)]),
    ],
    ids=lambda column: (
        f"{type(column).__module__.split('.')[0]} {getattr(column, 'type', None) or column.dtype}"
    ),
)
def test_every_type_of_number_is_one(column):
    table = (
        pl.DataFrame({"a": column})
        if isinstance(column, pl.Series)
        else pa.table({"a": column})
        if isinstance(column, pa.Array)
        else pd.DataFrame({"a": column})
    )
    assert encoded(table) == {"a": [1, 2, 3]}
    assert Encoder.fit(table).columns[0].kind == "number"


@each_library
def test_whole_numbers_with_more_digits_than_floats_are_rounded(library):
    many = 2**60 + 1
    assert encoded(library({"a": [many, -many, 1]})) == {"a": [2.0**60, -(2.0**60), 1]}


@each_library
def test_dates_may_be_as_far_as_dates_go(library):
    days = [dt.date(1, 1, 1), dt.date(1970, 1, 1), dt.date(9999, 12, 31)]
    assert encoded(library({"a": days}))["a: days"] == [-719_162, 0, 2_932_896]


TEXT = ["x", None, "y"] * 5


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": pd.Series(TEXT, dtype=dtype)})
        for dtype in ("str", object, "category", "string[python]", "string[pyarrow]")
    ]
    + [
        pl.DataFrame({"a": pl.Series(TEXT, dtype=dtype)})
        for dtype in (pl.String, pl.Categorical, pl.Enum(["y", "x"]))
    ]
    + [
        pa.table({"a": pa.array(TEXT, dtype)})
        for dtype in (
            pa.string(),
            pa.large_string(),
            pa.string_view(),
            pa.dictionary(pa.int32(), pa.string()),
        )
    ],
)
def test_every_type_of_text_is_a_category(table):
    expected = {"a=x": [1, 0, 0] * 5, "a=y": [0, 0, 1] * 5, "a is missing": [0, 1, 0] * 5}
    assert encoded(table) == expected


def test_categories_of_whole_numbers_are_their_digits():
    table = pd.DataFrame({"a": pd.Categorical([1, None, 20] * 5)})
    assert list(encoded(table)) == ["a=1", "a=20", "a is missing"]


def test_text_among_numbers_makes_a_category():
    table = pd.DataFrame({"a": pd.Series([1, "A", None] * 50 + [2.5] * 5, dtype=object)})
    encoder = Encoder.fit(table)
    assert encoder.feature_names == ("a=1", "a=2.5", "a=A", "a is missing")
    # A stretch of the table in which all are numbers, or whole, is read as the whole table is.
    np.testing.assert_array_equal(encoder.encode(table[150:]), encoder.encode(table)[150:])
    np.testing.assert_array_equal(encoder.encode(table[:1]), encoder.encode(table)[:1])


def test_text_that_comes_late_is_seen():
    table = pd.DataFrame({"a": pd.Series(["x"] * 200 + [7] * 200, dtype=object)})
    assert Encoder.fit(table).feature_names == ("a=7", "a=x")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([dt.date(2020, 1, 1), None], "date"),
        ([dt.datetime(2020, 1, 1, tzinfo=dt.UTC), pd.NaT], "date"),
        ([dt.timedelta(1), None], "duration"),
        ([dt.time(5), None], "time"),
        ([True, None], "boolean"),
    ],
)
def test_objects_of_pandas_are_what_they_are(values, kind):
    table = pd.DataFrame({"a": pd.Series(values * 5, dtype=object)})
    assert Encoder.fit(table).columns[0].kind == kind


def test_whole_numbers_are_taken_for_categories_of_the_same_digits():
    encoder = Encoder.fit(pl.DataFrame({"a": ["1", "2"] * 5}))
    for library in LIBRARIES.values():
        matrix, unseen = encoder.encode_and_report(library({"a": [2, 1, 3]}))
        np.testing.assert_array_equal(matrix, [[0, 1], [1, 0], [0, 0]])
        assert unseen == {"a": {"3": 1}}


# Laws


def test_the_libraries_agree_on_the_same_data():
    matrices, encoders = [], []
    for library in LIBRARIES.values():
        table = library(mixed())
        encoders.append(Encoder.fit(table))
        matrices.append(encoders[-1].encode(table))
    assert encoders[0] == encoders[1] == encoders[2]
    np.testing.assert_array_equal(matrices[0], matrices[1])
    np.testing.assert_array_equal(matrices[0], matrices[2])
    # And an encoder fitted to a table of one library reads those of the others.
    for library in LIBRARIES.values():
        np.testing.assert_array_equal(encoders[0].encode(library(mixed())), matrices[0])


@pytest.mark.slow
@each_library
@given(rows=st.lists(st.integers(0, 59), min_size=1, max_size=70))
def test_rows_are_encoded_one_by_one(library, rows):
    columns = mixed()
    table = library(columns)
    some = pl.DataFrame(columns)[rows]
    some = {
        pd.DataFrame: lambda: table.iloc[rows],
        pl.DataFrame: lambda: some,
        pa.table: lambda: table.take(rows),
    }[library]()
    encoder = Encoder.fit(table)
    np.testing.assert_array_equal(encoder.encode(some), encoder.encode(table)[rows])


@given(
    st.lists(st.one_of(st.none(), st.sampled_from("abcdef"), st.text(max_size=3)), min_size=12),
    st.lists(st.one_of(st.none(), st.text(max_size=2)), min_size=1),
)
def test_each_row_of_a_category_has_at_most_one_indicator(values, new):
    try:
        encoder = Encoder.fit(pl.DataFrame({"a": values}, schema={"a": pl.String}))
    except ValueError:
        return
    matrix = encoder.encode(pl.DataFrame({"a": new}, schema={"a": pl.String}))
    assert set(matrix.sum(axis=1)) <= {0.0, 1.0}
    assert set(np.unique(matrix)) <= {0.0, 1.0}


def test_what_is_kept_as_json_encodes_the_same():
    table = pl.DataFrame(mixed())
    encoder = Encoder.fit(table)
    said, arrays = encoder.to_file()
    again = Encoder.from_file(json.loads(json.dumps(said)), arrays)
    assert again == encoder
    np.testing.assert_array_equal(again.encode(table), encoder.encode(table))


@pytest.mark.parametrize("as_table", [lambda X: X, pl.from_pandas], ids=["pandas", "polars"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_a_frame_of_numbers_gives_the_bits_that_it_gave_as_scikit_learn_reads_it(
    small, targets, as_table, dtype
):
    values = (100 * np.random.default_rng(0).normal(size=(60, 3))).astype(dtype)
    frame = as_table(pd.DataFrame(values, columns=["a", "b", "c"]))
    array = check_array(frame, dtype=(np.float64, np.float32))
    encoder = Encoder.fit(frame)
    matrix = encoder.encode(frame)
    assert (matrix.dtype, matrix.flags.c_contiguous) == (array.dtype, array.flags.c_contiguous)
    fitted = (DeepEnsembleRegressor(**small).fit(X, targets) for X in (frame, array))
    of_frame, of_array = (model.fitted_.standardiser for model in fitted)
    np.testing.assert_array_equal(of_frame.x_mean, of_array.x_mean)
    np.testing.assert_array_equal(of_frame.x_scale, of_array.x_scale)


# What training did not have


@each_library
def test_unseen_values_are_counted(library):
    encoder = Encoder.fit(library({"town": ["Rome", "Oslo"] * 5, "size": list(range(10))}))
    new = library({"town": ["Bonn", "Rome", None, "Bonn"], "size": [None, 1, None, 2]})
    matrix, unseen = encoder.encode_and_report(new)
    assert unseen == {"town": {"Bonn": 2, None: 1}, "size": {None: 2}}
    assert encoder.unseen(new) == unseen
    expected = [[0, 0, 4.5], [0, 1, 1], [0, 0, 4.5], [0, 0, 2]]
    np.testing.assert_array_equal(matrix, expected)


def test_what_was_seldom_in_training_is_not_unseen():
    encoder = Encoder.fit(pl.DataFrame({"x": ["a"] * 6 + ["b"] * 6 + ["c", "d", "e", "f", "g"]}))
    matrix, unseen = encoder.encode_and_report(pl.DataFrame({"x": ["c", "z"]}))
    assert unseen == {"x": {"z": 1}}
    np.testing.assert_array_equal(matrix, [[0, 0, 1], [0, 0, 1]])


def test_a_column_with_too_many_texts_to_remember_reports_none():
    values = ["a", "b"] * 600 + [f"id {i}" for i in range(1001)]
    encoder = Encoder.fit(pl.DataFrame({"x": values}))
    assert encoder.columns[0].rare == ()
    assert encoder.unseen(pl.DataFrame({"x": ["id 5", "z"]})) == {}


def test_nothing_at_all_is_taken_for_any_kind():
    table = pl.DataFrame(mixed())
    encoder = Encoder.fit(table)
    of_type = encoder.encode(table.clear(60))
    np.testing.assert_array_equal(
        encoder.encode(pl.DataFrame({n: [None] * 60 for n in table.columns})), of_type
    )
    np.testing.assert_array_equal(
        encoder.encode(pd.DataFrame({n: [None] * 60 for n in table.columns})), of_type
    )


# What is refused or left out


@each_library
def test_columns_that_are_no_scalars_are_refused_with_their_types(library):
    table = library({"a": [1, 2], "b": [[1], [2]], "c": [b"x", b"y"]})
    with refused("Columns must contain numbers, text", "b (", "c (", "Drop or convert"):
        Encoder.fit(table)


@pytest.mark.parametrize(
    "column",
    [
        pd.period_range("2020-01", periods=2, freq="M"),
        pd.interval_range(0, 2),
        np.array([1j, 2]),
        pd.Series([{"k": 1}, {}], dtype=object),
    ],
    ids=["period", "interval", "complex", "dictionary"],
)
def test_types_of_pandas_that_are_not_taken_are_refused(column):
    with refused("Columns must contain numbers", "odd (", "Drop or convert"):
        Encoder.fit(pd.DataFrame({"a": [1, 2], "odd": column}))


def test_structs_are_refused():
    with refused("odd (Struct"):
        Encoder.fit(pl.DataFrame({"odd": [{"a": 1}, {"a": 2}]}))


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@each_library
def test_infinity_is_refused_with_its_column_and_row(library, value):
    table = library({"a": [1.0, 2.0, 3.0], "b": [1.0, value, None]})
    with refused("X must be finite", "column b", f"{value} at row 1", "Drop or correct"):
        Encoder.fit(table)
    encoder = Encoder.fit(library({"a": [1.0, 2.0], "b": [1.0, 2.0]}))
    with refused("X must be finite", "column b", "at row 1"):
        encoder.encode(table)


def test_columns_of_one_name_are_refused():
    table = pd.DataFrame([[1, 2, 3]] * 2, columns=["a", "b", "a"])
    with refused("different names", "more than once: a.", "Rename or drop"):
        Encoder.fit(table)


@pytest.mark.slow
def test_columns_of_one_name_are_refused_by_estimators(small, targets):
    twice = pd.DataFrame(np.column_stack([targets, targets]), columns=["a", "a"])
    model = DeepEnsembleRegressor(**small)
    with refused("different names", "more than once: a.", "Rename or drop"):
        model.fit(twice, targets)
    for X in (pd.DataFrame({"a": targets, "b": -targets}), np.column_stack([targets, -targets])):
        model.fit(X, targets)
        with refused("different names", "more than once: a.", "Rename or drop"):
            model.predict(twice)


def test_a_lazy_frame_is_to_be_collected(small, targets):
    table, model = (
        pl.DataFrame({"a": targets, "b": ["u", "v"] * 30}),
        DeepEnsembleRegressor(**small),
    )
    with refused("LazyFrame of polars", "Call collect() first"):
        model.fit(table.lazy(), targets)
    model.fit(table, targets)
    with refused("LazyFrame of polars", "Call collect() first"):
        model.predict(table.lazy())
    with refused("LazyFrame of polars", "Call collect() first"):
        Encoder.fit(table.lazy())


def test_types_that_do_not_fit_are_refused_all_at_once():
    encoder = Encoder.fit(pl.DataFrame(mixed()))
    other = pl.DataFrame(
        {
            "size": ["big"],
            "town": [1.5],
            "rainy": ["yes"],
            "day": ["soon"],
            "at": [dt.datetime(2020, 1, 1, tzinfo=dt.UTC)],
            "hour": [5],
            "span": [1.5],
        }
    )
    parts = (
        "size needs numbers, got String",
        "town needs text or categories, got Float64",
        "rainy needs booleans or numbers, got String",
        "day needs dates without a time zone, got String such as 'soon'",
        "at needs dates without a time zone, got Datetime",
        "hour needs times of the day, got Int64",
        "span needs durations, got Float64",
    )
    with refused(
        "must contain the same kind of values as in training", *parts, "Convert them, or fit"
    ):
        encoder.encode(other)


def test_dates_without_a_zone_are_refused_where_training_had_one():
    encoder = Encoder.fit(pd.DataFrame({"a": pd.date_range("2020", periods=9, tz="Asia/Tokyo")}))
    with refused("a needs dates with a time zone, got datetime64"):
        encoder.encode(pd.DataFrame({"a": pd.date_range("2020", periods=9)}))


@each_library
def test_other_columns_are_refused(library):
    encoder = Encoder.fit(library({"a": [1, 2], "b": [1, 2]}))
    with refused("must have the columns a, b", "but has b, a", "in their order"):
        encoder.encode(library({"b": [1, 2], "a": [1, 2]}))


def left_out_reason(values):
    return Encoder.fit(pl.DataFrame({"x": values, "a": list(range(len(values)))})).left_out["x"]


def test_columns_of_no_use_are_left_out_with_the_reason():
    identifiers = [f"id {i}" for i in range(20)]
    assert left_out_reason(identifiers) == (
        "it is text with 20 different values, none of them common; to use it, turn it into "
        "numbers, or into categories with common values"
    )
    assert left_out_reason(["yes"] * 19 + ["no"]) == "all but 1 of its values are 'yes'"
    assert left_out_reason(["yes"] * 20) == "all of its values are 'yes'"
    assert left_out_reason([None] * 20) == "all its values are missing"
    assert left_out_reason([float("nan")] * 20) == "all its values are missing"
    points = [f"{i}.123 €" for i in range(10, 30)]  # or thousands
    assert "look like numbers: pass them as numbers" in left_out_reason(points)


def test_only_what_may_tell_something_is_warned_of():
    rows = range(20)
    table = {
        "size": rows,
        "street": ["paved"] * 19 + ["gravel"],
        "area": ["north"] * 20,
        "shop": [f"shop {row // 2}" for row in rows],
        "name": [f"house {row}" for row in rows],
        "price": [*map(str, range(18)), "?", "-"],
    }
    encoder = Encoder.fit(pd.DataFrame(table))
    assert list(encoder.left_out) == ["street", "area", "shop", "name", "price"]
    assert list(encoder.neglected) == ["shop", "price"]


NUMBERS = [str(i) for i in range(40)]
HINTS = [
    ([*NUMBERS, "?"], "most values look like numbers, but not '?': write those as empty"),
    (
        [*(f"{i}%" for i in range(40)), "-", "n/a"],
        "most values look like numbers, but not '-', 'n/a': write those as empty, and the num",
    ),
    ([f"$ {i},234.50" for i in range(40)], "they look like numbers: pass them as numbers"),
    ([f"{i},234,567" for i in range(40)], "they look like numbers: pass them as numbers"),
    ([f"{i}.234,5 €" for i in range(40)], "they look like numbers: pass them as numbers"),
    (
        [*(f"03/{i}/2020" for i in range(13, 29)), *(f"{i}/3/2020" for i in range(13, 29))],
        "it looks like dates: write them as 2020-03-25",
    ),
    (
        [*(f"{i}.03.2020 8:15" for i in range(1, 29)), "soon"],
        "most values look like dates, but not 'soon': write those as empty",
    ),
    (
        [*(f"2020-03-{i}" for i in range(10, 31)), "2020-02-30", "soon"],
        "most values look like dates, but not '2020-02-30', 'soon': write those as empty",
    ),
    (
        [*(f"2020-03-{i}" for i in range(10, 31)), "2020-03-31T08:30Z"],
        "it looks like dates: pass them as dates",
    ),
]
NO_HINTS = [
    [*NUMBERS, *"abcde"],  # 40 of 45 are less than nine in ten
    [f"{i:05}" for i in range(40)],
    [f"1.2.{i}" for i in range(40)],
    [f"192.168.0.{i}" for i in range(40)],
    [f"A{i}" for i in range(40)],
]


@pytest.mark.parametrize(("texts", "words"), HINTS)
def test_text_that_looks_like_numbers_or_dates_is_left_out_with_a_hint(texts, words):
    assert f"none of them common; {words}" in left_out_reason(texts)


@pytest.mark.parametrize("texts", NO_HINTS)
def test_other_text_is_left_out_without_a_hint(texts):
    reason = left_out_reason(texts)
    assert "none of them common; to use it, turn it into numbers" in reason
    assert reason.endswith("; no word in it tells enough about the target")


def hints(texts):
    return Encoder.fit(pl.DataFrame({"x": texts * 6})).hints


@pytest.mark.parametrize(("texts", "words"), HINTS)
def test_categories_that_look_like_numbers_or_dates_have_a_hint(texts, words):
    assert hints(texts)["x"].startswith(words)
    assert hints(texts[-20:]) == {}  # few are likely to be meant


@pytest.mark.parametrize("texts", [*NO_HINTS, NUMBERS])
def test_categories_that_may_be_names_have_no_hint(texts):
    assert hints(texts) == {}


def test_odd_categories_are_warned_of(small):
    table = pd.DataFrame({"power": [*NUMBERS, "?"] * 6})
    words = r"Read as categories.*: power \(most values look like numbers, but not '\?'"
    with pytest.warns(UserWarning, match=words):
        DeepEnsembleRegressor(**small).fit(table, np.arange(246.0))


def test_a_table_without_a_column_of_use_is_refused():
    with refused("must have a column to learn from", "x: all its values are missing"):
        Encoder.fit(pl.DataFrame({"x": [None, None]}))


# Hostile files


def kept():
    return json.loads(json.dumps(Encoder.fit(pl.DataFrame(mixed())).to_file()[0]))


def changed(index, **facts):
    said = kept()
    said["columns"][index] |= facts
    return said


HOSTILE = {
    "no dictionary": [],
    "no columns": {},
    "no list": {"columns": {"a": 1}},
    "no column": {"columns": []},
    "odd column": {"columns": [5]},
    "only what is left out": {"columns": [{"kind": "left out", "name": "a", "reason": "b"}]},
    "unknown kind": changed(0, kind="__import__"),
    "kind is a list": changed(0, kind=["number"]),
    "name is a number": changed(0, name=5),
    "median is text": changed(0, median="1"),
    "median is whole": changed(0, median=1),
    "median is infinite": changed(0, median=float("inf")),
    "median is nan": changed(0, median=float("nan")),
    "flag is a number": changed(0, has_indicator=1),
    "extra fact": changed(0, extra=1),
    "no categories": changed(1, categories=[]),
    "categories twice": changed(1, categories=["a", "a"]),
    "category is rare too": changed(1, rare=["Rome"]),
    "categories are numbers": changed(1, categories=[1, 2]),
    "categories are one text": changed(1, categories="ab"),
    "unknown cycle": changed(3, cycles=["month"]),
    "cycles twice": changed(3, cycles=["week", "week"]),
    "cycles are a number": changed(3, cycles=7),
    "zone is a path": changed(3, time_zone="../../etc/passwd"),
    "zone is unknown": changed(3, time_zone="Mars/Olympus"),
    "zone is a number": changed(3, time_zone=5),
}


@pytest.mark.parametrize("said", HOSTILE.values(), ids=HOSTILE)
def test_hostile_encoders_are_refused(said):
    with pytest.raises(ValueError, match=r"encoder|column"):
        Encoder.from_file(said, {})


def test_an_encoder_with_arrays_is_refused():
    with refused("the encoder is no list of columns"):
        Encoder.from_file(kept(), {"a": np.zeros(1)})


# In the estimators


@pytest.fixture(scope="module", params=LIBRARIES)
def fitted(request, small, targets):
    table = LIBRARIES[request.param](mixed())
    return BootstrappedDeepEnsembleRegressor(**small).fit(table, targets), table


def test_an_estimator_takes_a_table_as_it_is(fitted):
    model, table = fitted
    assert model.n_features_in_ == 7
    assert model.feature_names_in_.tolist() == list(mixed())
    prediction = model.get_prediction(table)
    as_numbers = model.method.predict(model.fitted_, model.encoder_.encode(table))
    np.testing.assert_array_equal(prediction.mean, as_numbers.mean)
    assert model.predict_interval(table)[1].shape == (60, 2)


def test_a_saved_model_says_the_same_of_a_table(fitted, tmp_path):
    model, table = fitted
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.encoder_ == model.encoder_
    assert again.n_features_in_ == 7
    assert again.feature_names_in_.tolist() == list(mixed())
    np.testing.assert_array_equal(again.predict(table), model.predict(table))
    # And of a table of another library.
    np.testing.assert_array_equal(again.predict(pl.DataFrame(mixed())), model.predict(table))


def test_a_model_of_arrays_has_no_encoder(bootstrapped, tmp_path):
    bootstrapped.save(tmp_path / "model")
    assert load(tmp_path / "model").encoder_ is bootstrapped.encoder_ is None


def test_an_encoder_of_other_columns_is_refused(small, targets, tmp_path):
    model = DeepEnsembleRegressor(**small).fit(pl.DataFrame(mixed()), targets)
    other = {**mixed(), "length": mixed()["size"]}
    del other["size"]
    model.encoder_ = Encoder.fit(pl.DataFrame(other))
    model.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="encoder's columns are not those of the model"):
        load(tmp_path / "model")


@pytest.mark.slow
def test_many_fits_share_the_encoder(small, targets):
    table = pl.DataFrame(mixed())
    model = DeepEnsembleRegressor(**small)
    first, second = model.fit_many(table, np.stack([targets, -targets]), [8, 9])
    assert first.encoder_ is second.encoder_
    alone = DeepEnsembleRegressor(**small).fit(table, targets)
    np.testing.assert_allclose(first.predict(table), alone.predict(table), rtol=1e-4, atol=1e-4)


def test_a_refit_to_an_array_forgets_the_encoder(small, targets):
    model = DeepEnsembleRegressor(**small).fit(pl.DataFrame(mixed()), targets)
    model.fit(np.arange(180.0).reshape(60, 3) ** 1.5, targets)
    assert model.encoder_ is None
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.slow
def test_rows_of_weight_zero_do_not_count_for_the_encoding(small, targets):
    table = pl.DataFrame(mixed())
    weight = (np.arange(60) < 40).astype(float)
    by_weight = DeepEnsembleRegressor(**small).fit(table, targets, sample_weight=weight)
    assert by_weight.encoder_ == Encoder.fit(table[:40])


def test_unseen_values_are_warned_of_once_with_their_counts(small, targets):
    model = DeepEnsembleRegressor(**small).fit(
        pd.DataFrame({"town": ["Rome", "Oslo"] * 30, "size": np.arange(60.0)}), targets
    )
    new = pd.DataFrame({"town": ["Bonn", "Rome", "Bonn"], "size": [1, 2, None]})
    with pytest.warns(UnseenValueWarning) as caught:
        model.predict(new)
    (warning,) = caught
    assert warning.filename == __file__
    assert warning.message.unseen == {"town": {"Bonn": 2}, "size": {None: 1}}
    for part in ("town: 'Bonn' (2 rows)", "size: missing (1 row)", "none of the known"):
        assert part in str(warning.message)
    again = pickle.loads(pickle.dumps(warning.message))  # noqa: S301
    assert (str(again), again.unseen) == (str(warning.message), warning.message.unseen)


def test_of_unseen_values_only_what_applies_is_said():
    trust = ": trust the intervals of these rows less."
    numbers, town = {"size": {None: 1}}, {"town": {"Bonn": 2, None: 1}}
    said = str(UnseenValueWarning(numbers, {"town": False}))
    assert said.endswith(
        "size: missing (1 row). Missing values are treated as typical ones" + trust
    )
    said = str(UnseenValueWarning(town, {"town": False}))
    assert said.endswith("(1 row). Such categories are treated as none of the known ones" + trust)
    said = str(UnseenValueWarning({**numbers, **town}, {"town": True, "job": True}))
    known = "treated as none of the known ones, and missing values as typical ones" + trust
    usual = " Rare values are usual in 'town': a new one alone makes no row novel."
    assert said.endswith(known + usual)


@pytest.mark.slow
@pytest.mark.parametrize(("n_towns", "usual"), [(2, False), (300, True)])
def test_where_rare_values_are_usual_a_new_one_is_said_to_be_usual(small, n_towns, usual):
    generator = np.random.default_rng(0)
    towns = [f"town {i * (i % 2) % n_towns}" for i in range(600)]
    table = pd.DataFrame({"town": towns, "size": generator.normal(size=600)})
    model = DeepEnsembleRegressor(**small).fit(table, generator.normal(size=600))
    new = pa.table({"town": [f"new {i}" for i in range(50)], "size": np.zeros(50)})
    notes = Notes()
    (block,) = prediction_blocks(model, [new], notes=notes)
    assert any("Rare values are usual in 'town'" in note for note in notes) == usual
    assert block["is_novel"].to_pylist() == [not usual] * 50


@each_library
def test_new_categories_are_counted_row_by_row(library):
    rare = ["red", "blue"] * 20 + ["grey"]
    training = {"colour": rare, "town": ["Rome", "Oslo", None] * 13 + ["Rome"] * 2, "a": [1.5] * 41}
    encoder = Encoder.fit(library(training))
    new = {
        "colour": ["red", "pink", None, "grey", "pink"],
        "town": ["Oslo", "Bonn", None, "Bonn", None],
        "a": [1.0, 2.0, None, 1.0, 1.0],
    }
    assert encoder.count_new_categories(library(new)).tolist() == [0, 2, 0, 1, 1]
    nothing = library({**new, "colour": [None] * 5})
    assert encoder.count_new_categories(nothing).tolist() == [0, 1, 0, 1, 0]


def test_new_categories_are_not_counted_where_training_had_too_many_to_remember():
    texts = [f"id {i}" for i in range(1100)] + ["common"] * 100
    encoder = Encoder.fit(pl.DataFrame({"x": texts}))
    assert encoder.count_new_categories(pl.DataFrame({"x": ["id 5", "z"]})).tolist() == [0, 0]


def test_a_long_list_of_unseen_values_is_cut(small, targets):
    model = DeepEnsembleRegressor(**small).fit(
        pd.DataFrame({"town": ["Rome", "Oslo"] * 30, "size": np.arange(60.0)}), targets
    )
    new = pd.DataFrame({"town": list("abcdefgh"), "size": range(8)})
    with pytest.warns(UnseenValueWarning, match=r"'e' \(1 row\), 3 more"):
        model.predict(new)


@pytest.mark.slow
def test_columns_left_out_are_warned_of_by_name(small, targets):
    table = pd.DataFrame(
        {"id": [f"n{i}" for i in range(60)], "size": range(60), "nothing": [None] * 60}
    )
    with pytest.warns(LeftOutColumnWarning) as caught:
        model = DeepEnsembleRegressor(**small).fit(table, targets)
    (warning,) = caught
    assert warning.filename == __file__
    message = str(warning.message)
    assert "id (it is text with 60 different values" in message
    assert "nothing (all its values are missing)" in message
    assert message.endswith("). You need not do anything.")
    # It must be there, but it may hold anything.
    np.testing.assert_array_equal(model.predict(table), model.predict(table.assign(id=5)))


@pytest.mark.slow
@each_library
def test_a_constant_with_holes_is_of_use_for_its_holes(library, small, targets):
    holes = [i % 3 == 0 for i in range(60)]
    table = library(
        {
            "yes": [None if hole else True for hole in holes],
            "day": [None if hole else dt.date(2020, 1, 1) for hole in holes],
            "full": [True] * 60,
            "size": targets,
        }
    )
    used, of_no_use = " (but whether it is missing is used)", "of no use to the model: "
    words = f"{of_no_use}yes{used}, day: days{used}, full. Predictions"
    with pytest.warns(UserWarning, match=re.escape(words)):
        model = DeepEnsembleRegressor(**small).fit(table, targets)
    matrix = model.encoder_.encode(table)
    assert model.encoder_.feature_names[:2] == ("yes", "yes is missing")
    np.testing.assert_array_equal(matrix[:, 1], holes)


def test_text_where_numbers_were_is_refused_at_prediction(small, data, table):
    model = DeepEnsembleRegressor(**small).fit(table, data[1])
    with refused("bmi needs numbers, got str", "Convert them"):
        model.predict(table.assign(bmi="high"))


def test_an_array_is_taken_where_all_columns_were_numbers(small, data, table):
    model = DeepEnsembleRegressor(**small).fit(table, data[1])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        np.testing.assert_array_equal(model.predict(table.to_numpy()), model.predict(table))
    with (
        pytest.warns(UserWarning, match="valid feature"),
        refused("Input X contains infinity", "Drop or correct those rows"),
    ):
        model.predict(np.full((2, 3), np.inf))


def test_an_array_is_refused_where_columns_were_not_numbers(fitted):
    with refused("X must be a table as in `fit`", "(town, day, at, hour, span)", "got ndarray"):
        fitted[0].predict(np.zeros((2, 7)))


@each_library
def test_numbers_of_a_table_are_taken_by_a_model_of_arrays(bootstrapped, data, library):
    table = library(dict(zip("abc", data[0].T, strict=True)))
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        np.testing.assert_array_equal(bootstrapped.predict(table), bootstrapped.predict(data[0]))


@each_library
def test_tables_of_no_rows_are_refused(library, small, targets):
    model = DeepEnsembleRegressor(**small)
    with refused("0 sample(s)", "minimum of 2 is required", "filtered down to nothing?"):
        model.fit(library({"a": pa.array([], pa.float64())}), [])
    model.fit(library({"a": targets}), targets)
    with refused("0 sample(s)", "minimum of 1 is required", "filtered down to nothing?"):
        model.predict(library({"a": np.zeros(0)}))


@each_library
def test_names_of_columns_follow_the_rules_of_scikit_learn(library, small, targets):
    model = DeepEnsembleRegressor(**small).fit(library({"a": targets, "b": -targets}), targets)
    with refused("feature names should match", "- c", "missing", "- b", "Pass the columns that"):
        model.predict(library({"a": targets, "c": targets}))
    with refused("feature names should match", "in the same order"):
        model.predict(library({"b": targets, "a": targets}))


def test_a_table_without_columns_is_refused(small, targets):
    with refused("0 feature(s)", "filtered down to nothing?"):
        DeepEnsembleRegressor(**small).fit(pd.DataFrame(index=range(60)), targets)


def test_columns_numbered_by_pandas_have_no_names(small, targets):
    table = pd.DataFrame({0: targets, 1: ["a", "b"] * 30})
    model = DeepEnsembleRegressor(**small).fit(table, targets)
    assert not hasattr(model, "feature_names_in_")
    assert model.encoder_.feature_names == ("0", "1=a", "1=b")
    model.predict(table)


def test_targets_are_checked_beside_a_table_too(small, targets):
    table, model = pl.DataFrame(mixed()), DeepEnsembleRegressor(**small)
    with refused("inconsistent numbers of samples: [60, 59]", "were rows of only one of them"):
        model.fit(table, targets[1:])
    with refused("Input y contains NaN", "Drop those rows"):
        model.fit(table, np.where(targets > 1, np.nan, targets))
    with refused("requires y to be passed, but the target y is None"):
        model.fit(table, None)


def test_a_fit_that_fails_leaves_the_old_encoder(small, targets):
    table = pl.DataFrame(mixed())
    model = DeepEnsembleRegressor(**small).fit(table, targets)
    before = model.encoder_
    with refused("y must vary"):
        model.fit(table.drop("town"), np.zeros(60))
    assert model.encoder_ is before


def test_a_table_with_its_numbers_stands_for_the_table(small, targets):
    table, other = pl.DataFrame(mixed()), pl.DataFrame(mixed(40))
    encoded = EncodedTable.for_training(table)
    assert np.array_equal(np.asarray(encoded), encoded.encoder.encode(table))
    plain = DeepEnsembleRegressor(**small).fit(table, targets)
    model = DeepEnsembleRegressor(**small).fit(encoded, targets)
    assert model.encoder_ is encoded.encoder
    assert list(model.feature_names_in_) == table.columns
    assert np.array_equal(model.predict(encoded), plain.predict(table))
    # Numbers of another encoder are made anew, and so are those of fewer rows.
    foreign = EncodedTable.for_training(other)
    assert np.array_equal(model.predict(foreign), plain.predict(other))
    weight = np.arange(60) % 3
    weighted, alike = (clone(model).fit(X, targets, weight) for X in (encoded, table))
    assert weighted.encoder_ == alike.encoder_ != encoded.encoder
    assert np.array_equal(weighted.predict(other), alike.predict(other))


def test_a_table_with_its_numbers_warns_of_what_training_did_not_have(small, targets):
    table = pl.DataFrame({"a": targets, "b": ["x", "y"] * 30})
    model = DeepEnsembleRegressor(**small).fit(table, targets)
    new = table.with_columns(b=pl.lit("z"))
    encoded = EncodedTable(new, model.encoder_, *model.encoder_.encode_and_report(new))
    with pytest.warns(UnseenValueWarning, match=r"b: 'z' \(60 rows\)"):
        model.predict(encoded)


def test_what_is_a_table():
    assert all(is_table(library({"a": [1]})) for library in LIBRARIES.values())
    for other in (np.zeros((2, 2)), [[1]], pd.Series([1]), pl.DataFrame({"a": [1]}).lazy(), None):
        assert not is_table(other)
