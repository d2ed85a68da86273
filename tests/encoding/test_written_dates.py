"""Text that is dates or times of the day: the same model, whoever read the file."""

import datetime as dt
import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.encoding_tables import mixed, refused

from confide import DeepEnsembleRegressor, load
from confide.encoding import Encoder
from confide.errors import RowError
from confide.tables import read_table

pytestmark = pytest.mark.usefixtures("without_type_checker")


def as_text(values):
    return [None if value is None else str(value) for value in values]


def tables_of_text(columns):
    """A table as the readers of the libraries leave it; pandas 2 and 3 have two types of text."""
    frame = pd.DataFrame(columns)
    return [
        frame.astype("str"),
        frame.astype(object).where(frame.notna(), np.nan),
        frame.astype("string"),
        pl.DataFrame(columns),
        pa.table(columns),
    ]


def test_dates_and_times_are_the_same_as_text():
    days = {
        "day": mixed()["day"],
        "at": mixed()["at"],
        "hour": [None if t is None else t.replace(microsecond=0) for t in mixed()["hour"]],
    }
    expected = Encoder.fit(pl.DataFrame(days))
    assert [column.kind for column in expected.columns] == ["date", "date", "time"]
    matrix = expected.encode(pl.DataFrame(days))
    for table in tables_of_text({name: as_text(values) for name, values in days.items()}):
        encoder = Encoder.fit(table)
        assert encoder == expected
        np.testing.assert_array_equal(encoder.encode(table), matrix)
        np.testing.assert_array_equal(expected.encode(table[40:]), matrix[40:])
        np.testing.assert_array_equal(encoder.encode(pl.DataFrame(days)), matrix)


def test_text_with_a_zone_is_dates_in_utc():
    texts = ["2020-01-01T12:00:00+02:00", "2020-07-01 12:00Z", None] * 3
    for table in tables_of_text({"a": texts}):
        encoder = Encoder.fit(table)
        assert encoder.columns[0].time_zone == "UTC"
        hours = 24 * (encoder.encode(table)[:2, 0] % 1)
        np.testing.assert_allclose(hours, [10, 12], rtol=1e-10)
        with refused("a needs dates with a time zone, got"):
            encoder.encode(pd.DataFrame({"a": ["2020-01-01"]}))


def test_text_that_is_called_categories_stays_so():
    texts = ["2020-01-01", "2020-02-01"] * 10
    for table in (
        pd.DataFrame({"a": texts}, dtype="category"),
        pl.DataFrame({"a": texts}, schema={"a": pl.Categorical}),
        pl.DataFrame({"a": texts}, schema={"a": pl.Enum(texts[:2])}),
        pa.table({"a": pa.array(texts).dictionary_encode()}),
    ):
        encoder = Encoder.fit(table)
        assert encoder.columns[0].categories == ("2020-01-01", "2020-02-01")
        # As of a model that was fitted before text was read as dates.
        for new in tables_of_text({"a": texts}):
            np.testing.assert_array_equal(encoder.encode(new), encoder.encode(table))


def test_a_block_in_which_all_dates_are_missing_is_taken():
    encoder = Encoder.fit(pd.DataFrame({"a": ["2020-01-01", "2020-03-01", None] * 5}))
    for table in tables_of_text({"a": [None, None]}):
        assert encoder.unseen(table) == {}


TWO_DIGITS = st.integers(0, 70).map("{:02}".format)
WRITTEN_DATES = st.builds(
    "{}-{}-{}{}{}".format,
    st.sampled_from(["2020", "1969", "020", "20200"]) | st.integers(1700, 2200).map(str),
    st.sampled_from(["01", "02", "2", "12", "13"]),
    st.sampled_from(["01", "28", "29", "30", "31", "1", "00"]),
    st.just("")
    | st.builds(
        "{}{}{}".format,
        st.sampled_from(" Tt"),
        st.sampled_from(["08", "23", "24", "8"]),
        st.just("")
        | TWO_DIGITS.map(":{}".format)
        | st.builds(
            ":{}:{}{}".format,
            TWO_DIGITS,
            TWO_DIGITS,
            st.sampled_from(["", ".5", ".123456", ".123456789", ".1234567890", ",5"]),
        ),
    ),
    st.sampled_from(["", "", "", "Z", "z", "+01", "-0130", "+05:30", " Z", " ", "+0160"]),
)
WRITTEN_TIMES = st.builds(
    "{}:{}{}".format,
    st.sampled_from(["08", "23", "24", "8"]),
    TWO_DIGITS,
    st.sampled_from(["", ":05", ":60", ":05.5", " "]),
)


@pytest.mark.slow
@given(
    st.lists(WRITTEN_DATES, min_size=1, max_size=3)
    | st.lists(WRITTEN_TIMES | WRITTEN_DATES, min_size=1, max_size=2)
)
@example([" 2020-01-02 "])
@example(["08:30 "])
@example(["2020-01-02T24:00"])
@example(["24:00"])
def test_text_is_dates_where_the_reader_of_files_says_so(texts):
    texts = texts * 10  # as categories they would be common
    content = "a,b\n" + "".join(f'"{text}",{i}\n' for i, text in enumerate(texts))
    by_reader = pyarrow.csv.read_csv(io.BytesIO(content.encode()))
    table = pd.DataFrame({"a": texts, "b": range(len(texts))})
    encoder, expected = Encoder.fit(table), Encoder.fit(by_reader)
    assert encoder == expected
    np.testing.assert_array_equal(encoder.encode(table), expected.encode(by_reader))


@pytest.mark.slow
@pytest.mark.parametrize("form", ["str", "object", "polars"])
def test_a_file_gives_the_same_model_whoever_reads_it(small, tmp_path, form):
    generator = np.random.default_rng(3)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(generator.integers(0, 900, 60), "D")
    # Eighths: of longer numbers, pandas reads the last digit in a way of its own.
    frame = pd.DataFrame({"sold_on": days, "size": generator.integers(0, 80, 60) / 8})
    frame.loc[::7, "sold_on"] = None
    y = generator.normal(size=60) + frame["size"]
    frame.to_csv(tmp_path / "homes.csv", index=False)
    read = {
        "str": lambda path: pd.read_csv(path).astype({"sold_on": "str"}),
        "object": lambda path: pd.read_csv(path, dtype={"sold_on": object}),
        "polars": pl.read_csv,
    }[form](tmp_path / "homes.csv")
    by_reader = read_table(tmp_path / "homes.csv")
    models = [DeepEnsembleRegressor(**small).fit(table, y) for table in (read, by_reader)]
    assert models[0].encoder_ == models[1].encoder_
    assert models[0].encoder_.columns[0].kind == "date"
    models[1].save(tmp_path / "model.confide")
    expected = models[1].get_prediction(by_reader).summary_frame()
    for model in (models[0], load(tmp_path / "model.confide")):
        pd.testing.assert_frame_equal(model.get_prediction(read).summary_frame(), expected)


ORDERS = [
    ("month first", ["12/31/2020", "1/5/2021"]),
    ("month first", ["12/31/20", "01/05/21"]),
    ("month first", ["12/31/2020 12:00 AM", "1/5/2021 12:00:00 am"]),
    ("month first", ["12-31-2020", "01-05-2021"]),
    ("day first", ["31.12.2020", "5.1.2021"]),
    ("day first", ["31.12.20", "05.01.21"]),
    ("day first", ["31/12/2020", "5/1/2021"]),
    ("day first", ["31-12-2020 00:00", "05-01-2021 00:00"]),
    ("year first", ["2020/12/31", "2021/1/5"]),
    ("year first", ["Dec 31, 2020", "Jan. 5 2021"]),
    ("year first", ["December 31, 2020 0:00", "January 5, 2021 12:00 AM"]),
    ("year first", ["31 December 2020", "5 January 2021"]),
    ("year first", ["31-Dec-2020", "05-JAN-2021"]),
    ("year first", ["31-Dec-20", "5-Jan-21"]),
]


@pytest.mark.parametrize(("order", "texts"), ORDERS)
def test_dates_as_people_write_them_are_dates(order, texts):
    days = [dt.date(2020, 12, 31), dt.date(2021, 1, 5), None]
    expected = Encoder.fit(pl.DataFrame({"a": days * 5}))
    for table in tables_of_text({"a": [*texts, None] * 5}):
        encoder = Encoder.fit(table)
        column = encoder.columns[0]
        assert (column.kind, column.order, column.order_is_guess) == ("date", order, False)
        values = expected.encode(pl.DataFrame({"a": days * 5}))
        np.testing.assert_array_equal(encoder.encode(table), values)
        # Dates of another table, in the same order, of ISO's or as they are, mean the same.
        np.testing.assert_array_equal(encoder.encode(table[1:2]), values[1:2])
        for same in (["2021-01-05"], days[1:2]):
            other = encoder.encode(pl.DataFrame({"a": same}))
            np.testing.assert_array_equal(other, values[1:2])


def test_an_order_is_kept_where_a_block_would_not_tell(tmp_path):
    encoder = Encoder.fit(pd.DataFrame({"a": ["31/12/2020", "05/01/2021"] * 5}))
    block = pd.DataFrame({"a": ["02/01/2021"]})
    second_of_january = (dt.date(2021, 1, 2) - dt.date(1970, 1, 1)).days
    assert encoder.encode(block)[0, 0] == second_of_january
    assert Encoder.from_file(*encoder.to_file()).encode(block)[0, 0] == second_of_january
    with refused("in the order day/month/year, as in training, but is '12/31/2020' at row 1"):
        encoder.encode(pd.DataFrame({"a": ["02/01/2021", "12/31/2020"]}))


@pytest.mark.parametrize(
    ("texts", "order", "is_guess"),
    [
        (["01/02/2020", "03/04/2020"], "month first", True),
        (["01-02-2020", "03-04-2020"], "day first", True),
        (["01.02.2020", "03.04.2020"], "day first", False),
        (["01/05/2020", "02/01/2020", "03/07/2020"], "month first", False),  # they are sorted
        (["05/01/2020", "01/02/2020", "07/03/2020"], "day first", False),
    ],
)
def test_two_orders_are_told_apart_by_sorted_rows_or_guessed(texts, order, is_guess):
    column = Encoder.fit(pd.DataFrame({"a": texts})).columns[0]
    assert (column.order, column.order_is_guess) == (order, is_guess)


def test_a_guessed_order_is_said(small):
    table = pd.DataFrame({"sold": ["01/02/2020", "03/04/2020"] * 20})
    words = r"order of day and month .* is not certain.*sold \(month first\).*write them as 2020-"
    with pytest.warns(UserWarning, match=words):
        DeepEnsembleRegressor(**small).fit(table, np.arange(40.0))


@pytest.mark.parametrize(
    "texts",
    [
        *(["1.2.20", "3.4.12"], ["31/12/2020", "12/31/2020"], ["10-12-14"]),
        *(
            ["31 Dek 2020"],
            ["30-Feb-2020"],
            ["Dec 31, 20"],
            ["May 2020"],
            ["12 May 2020", "3/4/2020"],
        ),
    ],
)
def test_text_in_no_order_is_no_date(texts):
    assert Encoder.fit(pd.DataFrame({"a": texts * 10, "b": 1.5})).columns[0].kind != "date"


def test_a_file_of_an_earlier_version_has_no_order():
    encoder = Encoder.fit(pd.DataFrame({"a": ["2020-01-01", "2020-03-01"] * 5}))
    described, arrays = encoder.to_file()
    for name in ("order", "order_is_guess"):
        del described["columns"][0][name]
    assert Encoder.from_file(described, arrays) == encoder
    described["columns"][0]["order"] = "week first"
    with pytest.raises(ValueError, match="order of year, month and day is not known"):
        Encoder.from_file(described, arrays)


def test_one_text_that_is_no_date_is_refused_by_its_row():
    days = pd.date_range("2021-01-01", periods=40)
    encoder = Encoder.fit(pd.DataFrame({"sold": days.strftime("%d/%m/%Y")}))
    new = pd.DataFrame({"sold": ["01/12/2025", None, "31/02/2021"]})
    with pytest.raises(RowError) as raised:
        encoder.encode(new)
    assert str(raised.value) == (
        "Column sold needs dates in the order day/month/year, as in training, but is '31/02/2021' "
        "at row 2. Correct it, or leave it empty."
    )
