"""Text that is dates or times of the day: the same model, whoever read the file."""

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
