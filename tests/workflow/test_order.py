"""The future is not a random split: rows held out by time, or by group."""

import re
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.signal import lfilter

from confide import BootstrappedDeepEnsembleRegressor, DeepEnsembleRegressor
from confide.errors import TargetError
from confide.workflow import TrainingTable, fit_table
from confide.workflow.order import blocks_of_time, groups_in, last_rows, order_of, sorted_by
from confide.workflow.training_table import set_aside, split

DAYS = 900


def hotel(n=900, seed=0):
    """Bookings by date: the price drifts for weeks (sd 7.5), which only the date tells of."""
    generator = np.random.default_rng(seed)
    day = np.sort(generator.integers(0, DAYS, n))
    drift = 60 + lfilter([1.5], [1, -0.98], generator.normal(size=DAYS))
    guests = generator.integers(1, 5, n)
    dates = pd.Timestamp("2022-01-01") + pd.to_timedelta(day, "D")
    price = drift[day] + 4 * guests + generator.normal(0, 2, n)
    return pa.table({"date": dates, "guests": guests, "price": price})


def rmse(model, table):
    error = model.predict(table.drop_columns(["price"]).to_pandas()) - table["price"].to_numpy()
    return float(np.sqrt(np.mean(error**2)))


@pytest.mark.slow
def test_rows_held_out_by_date_tell_what_the_next_months_will_bring():
    """Rows drawn at random promise an error that later rows do not keep."""
    promised = {"date": [], None: []}
    kept = []
    for seed in range(3):
        table = hotel(seed=seed)
        before, after = table.slice(0, 720), table.slice(720)
        for by, errors in promised.items():
            model = DeepEnsembleRegressor(recipe="paper", n_members=2, random_state=0)
            fitted = fit_table(before, "price", model, hold_out_by=by)
            errors.append(TrainingTable.of(fitted.model).judged["rmse"])
        kept.append(rmse(fitted.model, after))
    # Each is the mean over three stretches of a few weeks' drifts: known to a factor of 2.
    ratio = {by: np.mean(kept) / np.mean(errors) for by, errors in promised.items()}
    assert ratio[None] > 2
    assert 0.5 < ratio["date"] < 2


class Told(BootstrappedDeepEnsembleRegressor):
    """Remembers what it was given."""

    def fit(self, X, y, sample_weight=None, groups=None):
        self.told = SimpleNamespace(table=X.table, groups=groups)
        return super().fit(X, y, sample_weight, groups)


def told(table, small, **how):
    fitted = fit_table(table, "price", Told(**small), **how)
    return fitted, fitted.model.told


@pytest.mark.slow
def test_the_last_rows_are_held_out_and_blocks_of_time_left_out_in_turn(small):
    table = hotel()
    shuffled = table.take(np.random.default_rng(0).permutation(len(table)))
    fitted, given = told(shuffled, small, hold_out_by="date")
    dates = given.table["date"].to_numpy()
    n_trained = len(dates)
    assert abs(n_trained - 720) <= 2
    assert dates.max() < np.sort(table["date"].to_numpy())[n_trained]
    ends = [(dates[given.groups == k].min(), dates[given.groups == k].max()) for k in range(5)]
    assert all(end < start for (_, end), (start, _) in pairwise(ends))
    assert np.ptp(np.bincount(given.groups)) < 10
    assert re.match(
        r"The last 1\d\d rows by 'date' are held out, from 2024-01-\d\d", fitted.notes[0]
    )


@pytest.mark.slow
def test_a_column_to_hold_out_by_need_not_be_used_to_predict(small):
    fitted, given = told(hotel(), small, hold_out_by="date", exclude=["date"])
    assert given.table.column_names == ["guests"]
    assert fitted.notes[0].startswith("The last ")


@pytest.mark.slow
def test_groups_are_held_out_whole_and_left_out_whole(small):
    table = hotel()
    rooms = np.random.default_rng(1).integers(0, 60, len(table))
    table = table.append_column("room", pa.array([f"room {i}" for i in rooms]))
    fitted, given = told(table, small, group="room")
    assert given.table.column_names == ["date", "guests"]
    note = fitted.notes[0]
    n_held = int(note.split()[0])
    said = "of 60 groups of 'room' are held out whole. 'room' itself is not used to predict."
    assert note == f"{n_held} {said}"
    assert len(np.unique(given.groups)) == 60 - n_held
    rows = fitted.model.training_table_
    assert 0.15 < rows.n_set_aside / len(table) <= 0.2


def test_groups_larger_than_the_share_are_held_out_all_the_same():
    X = np.random.default_rng(0).normal(size=(100, 1))
    groups = np.repeat([0, 1, 2], [40, 25, 35])
    aside = set_aside(X, X[:, 0], 0.2, 0, groups)
    assert np.array_equal(aside, groups == 1)
    assert not set_aside(X, X[:, 0], 0.2, 0, 0 * groups).any()


def test_one_group_left_to_train_on_is_no_groups():
    table = pa.table({"x": np.random.default_rng(0).normal(size=100)})
    groups = np.repeat([0, 1], 50)
    parts = split(table, np.arange(100.0), hold_out=0.2, seed=0, groups=groups)
    assert parts.aside.sum() == 50
    assert parts.groups is None


@pytest.mark.slow
def test_the_option_to_paste_is_named_where_dates_are_sorted(small):
    table = hotel().rename_columns(["day of stay", "guests", "price"])
    (note, *_) = told(table, small)[0].notes
    assert note.startswith("The rows are in the order of 'day of stay', and 180 of them, drawn")
    assert note.endswith("add --hold-out-by 'day of stay'")
    shuffled = table.take(np.random.default_rng(0).permutation(len(table)))
    assert not any("--hold-out-by" in note for note in told(shuffled, small)[0].notes)
    assert not any("--hold-out-by" in note for note in told(table, small, hold_out=0)[0].notes)


def test_dates_as_text_newest_first_and_nearly_sorted_are_an_order():
    dates = hotel()["date"].to_pandas().dt.strftime("%Y-%m-%d").to_numpy()
    assert sorted_by(pa.table({"n": np.arange(900), "at": dates[::-1]})) == "at"
    nearly = np.argsort(np.arange(900) + np.random.default_rng(0).normal(0, 20, 900))
    assert sorted_by(pa.table({"at": dates[nearly]})) == "at"
    assert sorted_by(pa.table({"at": np.where(np.arange(900) < 450, *dates[[0, -1]])})) is None


@pytest.mark.parametrize("name", ["year", "Yr", "sale_year", "saleYear"])
def test_whole_years_are_an_order(name):
    years = 2000 + np.arange(60) // 15
    assert sorted_by(pa.table({name: years})) == name
    assert sorted_by(pa.table({name: years[::-1]})) == name


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("rooms", 2000 + np.arange(60) // 15),
        ("year", 2000.0 + np.arange(60) // 15),  # as --numeric has it
        ("year", 1 + np.arange(60) // 15),
        ("year", 2000 + np.arange(60)),  # each row is a year
        ("year", 2000 + np.arange(60) // 30),
        ("year", 2000 + np.arange(60) % 15),
        ("year", pa.array([None, *(2000 + np.arange(59) // 15)])),
        ("year", 2000 + np.arange(16) // 4),
    ],
)
def test_other_numbers_are_no_order(name, values):
    assert sorted_by(pa.table({name: values})) is None


@pytest.mark.parametrize(
    ("values", "share", "held"),
    [
        ([3.0, 1, 2, 5, 4], 0.2, [3]),
        ([1.0, 1, 1, 2, 2, 2, 2, 2], 0.2, [3, 4, 5, 6, 7]),  # never all rows
        ([1.0, 2, 2, 3, 3, 3, 4, 4], 0.3, [6, 7]),
        ([-np.inf, 2, 3, 4], 0.25, [3]),
    ],
)
def test_the_last_rows_by_value(values, share, held):
    assert np.flatnonzero(last_rows(np.array(values), share)).tolist() == held


def test_blocks_of_few_values():
    assert blocks_of_time(np.repeat([1.0, 2.0], [9, 1])).tolist() == [0] * 9 + [1]
    assert np.bincount(blocks_of_time(np.arange(100.0))).tolist() == [20] * 5


def test_rows_without_a_date_come_first_and_without_a_group_are_alone():
    table = pa.table({"at": [2.0, None, 1.0], "who": ["a", None, "a"]})
    assert order_of(table, "at").tolist() == [2.0, -np.inf, 1.0]
    assert groups_in(table, "who").tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"hold_out_by": "dat"}, r"There is no column 'dat' to hold out by.*Did you mean 'date'\?"),
        ({"group": "rooms"}, "There is no column 'rooms' to group by"),
        ({"hold_out_by": "kind"}, "dates or numbers, but 'kind' is category. Write dates as 2020"),
        ({"hold_out_by": "same"}, "all of 'same' are the same or missing. Choose another column"),
        ({"group": "same"}, "Groups need a column with different values.*Choose another column"),
    ],
)
def test_columns_without_an_order_or_groups_are_refused(how, message, small):
    table = hotel(50).append_column("kind", pa.array(["a", "b"] * 25))
    table = table.append_column("same", pa.array([1.0] * 50))
    with pytest.raises(TargetError, match=message):
        fit_table(table, "price", Told(**small), **how)


def test_time_and_groups_exclude_each_other(small):
    with pytest.raises(ValueError, match="`hold_out_by` and `group` were both given"):
        fit_table(hotel(50), "price", Told(**small), hold_out_by="date", group="guests")
