"""A column that gives the target away, and a target far from all others, are pointed out."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from confide import DeepEnsembleRegressor
from confide.cli.check import _shown
from confide.encoding import EncodedTable
from confide.workflow import fit_table
from confide.workflow.check import check_table
from confide.workflow.fit import _beyond, _what_is_held_out
from confide.workflow.suspicions import below_zero, giveaways, names_as_numbers, wild_targets


def wages(n=400):
    generator = np.random.default_rng(0)
    school = generator.integers(8, 19, n)
    wage = np.exp(1 + 0.08 * school + generator.normal(0, 0.4, n))
    return pd.DataFrame({"school": school, "age": generator.integers(20, 65, n)}), wage


def suspected(table, y, n_train=300):
    train = EncodedTable.for_training(table[:n_train])
    held = train.encoder.encode(table[n_train:])
    return giveaways(train.encoder, train.matrix, y[:n_train], held, y[n_train:])


@pytest.mark.parametrize("n_train", [300, 395])  # with few held-out rows, training rows are split
@pytest.mark.parametrize(
    "made", [np.log, lambda y: 3 - 2 * y, lambda y: y + 1e-3 * np.sin(1e6 * y), lambda y: y * 1e290]
)
def test_a_column_made_of_the_target_is_found(made, n_train):
    table, y = wages()
    (sentence,) = suspected(table.assign(made=made(y)), y, n_train)
    assert "'made' gives the target away" in sentence
    assert "--exclude made" in sentence


def test_columns_that_merely_help_are_not_suspected():
    table, y = wages()
    near = y + np.random.default_rng(1).normal(0, 0.1 * y.std(), len(y))  # R2 = 0.99
    assert suspected(table.assign(near=near, same=1.0), y) == []
    assert suspected(table[:30], y[:30], 20) == []


def test_a_wild_target_is_found_with_its_row():
    _, y = wages()
    rows = np.arange(len(y)) + 5
    assert wild_targets(y, rows) == []
    y[17] = 9.9e9
    (sentence,) = wild_targets(y, rows)
    assert "9,900,000,000 in row 23, at least " in sentence
    assert "correct it, or leave it empty" in sentence
    y[18] = -8e9
    assert "9,900,000,000 in row 23 and -8,000,000,000 in row 24" in wild_targets(y, rows)[0]


@pytest.mark.parametrize("law", ["normal", "exponential", "lognormal"])
def test_heavy_tails_are_not_wild(law):
    generator = np.random.default_rng(2)
    y = getattr(generator, law)(size=(200, 300))
    assert not any(wild_targets(targets, range(300)) for targets in y)
    assert wild_targets(np.array([0.0] * 50 + [7.0]), range(51)) == []


@pytest.mark.slow
def test_a_fit_warns_of_both(small):
    table, y = wages(150)
    y[11] = 9.9e9
    rows = pa.Table.from_pandas(table.assign(log_wage=np.log(y), wage=y), preserve_index=False)
    warned = fit_table(rows, "wage", DeepEnsembleRegressor(**small)).warnings
    assert any("9,900,000,000 in row 12" in warning for warning in warned)
    y[11] = 3
    rows = pa.Table.from_pandas(table.assign(log_wage=np.log(y), wage=y), preserve_index=False)
    warned = fit_table(rows, "wage", DeepEnsembleRegressor(**small)).warnings
    assert any("'log_wage' gives the target away" in warning for warning in warned)


def visits(**more):
    patients = np.random.default_rng(0).permutation(60)
    return pa.table({"patient_id": np.repeat(patients, 5), "x": np.linspace(0, 1, 300), **more})


def test_names_that_are_learnt_from_as_numbers_are_pointed_out():
    said = names_as_numbers(visits(), may_group=True)
    assert said == (
        "'patient_id' looks like the name of a patient, not a quantity: if so, add --categorical "
        "patient_id, or --group patient_id if the model is to predict others than those in the "
        "table."
    )
    assert "--group" not in names_as_numbers(visits(), may_group=False)
    several = visits(**{"Our Id": np.arange(300) // 30})
    said = names_as_numbers(several, may_group=True)
    assert said.startswith("'patient_id', 'Our Id' look like names, not quantities: if so, add ")
    assert "--categorical 'patient_id,Our Id', or --group patient_id if" in said


@pytest.mark.parametrize(
    ("name", "values", "told"),
    [
        ("id", np.arange(300) // 2, True),
        ("siteID", np.arange(300) // 50, True),
        ("id", pa.array([None, *np.arange(299) // 5]), True),
        ("id", np.arange(300), False),  # each names a row
        ("id", np.arange(300) // 75, False),  # few of them
        ("id", np.arange(300) / 5, False),
        ("paid", np.arange(300) // 5, False),
        ("ids_sold", np.arange(300) // 5, False),
        ("id", pa.array((np.arange(300) // 5).astype(str)), False),
        ("id", (np.arange(300) // 5).astype(float), False),  # as --numeric has it
    ],
)
def test_what_looks_like_names(name, values, told):
    table = pa.table({name: values, "x": np.linspace(0, 1, 300)})
    assert bool(names_as_numbers(table, may_group=True)) == told


@pytest.mark.slow
def test_a_fit_points_out_names_that_it_learns_from(small):
    table, model = visits(y=np.linspace(0, 1, 300) ** 2), DeepEnsembleRegressor(**small)
    looks = "'patient_id' looks like the name of a patient"
    assert any(note.startswith(looks) for note in fit_table(table, "y", model).notes)
    for how in ({"group": "patient_id"}, {"exclude": ["patient_id"]}):
        assert not any("looks like" in note for note in fit_table(table, "y", model, **how).notes)


@pytest.mark.slow
def test_names_are_pointed_out_in_python_too(small):
    table = visits().to_pandas()
    y, model = table.pop("x"), DeepEnsembleRegressor(**small)
    with pytest.warns(UserWarning, match="like quantities: 'patient_id'.*or drop them and pass"):
        model.fit(table, y)
    with pytest.warns(UserWarning, match=r"'patient_id'. If so, turn .*astype\(.category.\)\.$"):
        model.fit(table, y, groups=table["patient_id"])


def test_intervals_below_zero_are_pointed_out_where_no_target_is_there():
    y, some, few = np.array([0.0, 2.0]), np.repeat([-1.0, 1.0], [2, 18]), np.repeat([-1.0, 1.0], 1)
    (sentence,) = below_zero(some, y)
    assert sentence.startswith("2 of 20 90 % prediction intervals of held-out rows reach below 0")
    assert sentence.endswith("fit again with `--bounds 0,`")
    assert below_zero(some, y - 1) == []  # targets are negative too
    assert below_zero(np.repeat([-1.0, 1.0], [1, 19]), y) == []  # at most one in twenty
    assert len(below_zero(few, y)) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("bounds", "told"), [(None, True), ((0, None), False)])
def test_a_fit_names_the_option_that_ends_intervals_at_zero(bounds, told):
    generator = np.random.default_rng(0)
    x = generator.uniform(size=200)
    table = pa.table({"x": x, "y": generator.exponential(1 + x)})
    how = {"recipe": "paper", "max_epochs": 2, "n_members": 2, "random_state": 0}
    found = fit_table(table, "y", DeepEnsembleRegressor(**how, bounds=bounds))
    assert any("--bounds 0," in warning for warning in found.warnings) == told


def test_a_check_warns_as_a_fit_does_and_one_simulation_has_no_error(monkeypatch):
    table, y = wages(150)
    y[11] = 9.9e9
    rows = pa.Table.from_pandas(table.assign(euros=0.92 * y, wage=y), preserve_index=False)
    monkeypatch.setattr("confide.workflow.check.coverage_check", lambda *_, **__: None)
    warned = check_table(rows, "wage").warnings
    assert any("9,900,000,000 in row 12" in warning for warning in warned)
    assert any("'euros' gives the target away" in warning for warning in warned)
    frame = pd.DataFrame(
        {
            "estimator": ["ours"] * 2,
            "kind": ["confidence"] * 2,
            "confidence_level": [0.9] * 2,
            "coverage": [0.92, 0.9],
            "coverage_se": [np.nan, 0.012],
            "brier": [0.01] * 2,
            "width": [2.19e8, 3571.0],
        }
    )
    shown = _shown(frame)
    assert " 92 % " in shown
    assert "nan" not in shown
    assert "90 ± 1.2 %" in shown
    assert "219,000,000" in shown
    assert "3570" in shown


def test_rows_held_out_by_a_column_that_makes_them_novel_are_told_of_once():
    held = SimpleNamespace(
        is_novel=np.array([True, True, True, False]),
        novel_columns=(("day",), ("day",), ("size",), ()),
    )
    held = type("Held", (), {**vars(held), "__len__": lambda _: 4})()
    (sentence,) = _beyond(held, "day")
    assert sentence.startswith("2 of 4 held-out rows are unlike the training data by 'day' alone")
    assert sentence.endswith("leave it out (--exclude day).")
    assert _beyond(held, "size") == []
    assert _beyond(held, None) == []


def test_groups_of_one_row_each_are_said_to_group_nothing():
    features = pa.table({"day": [f"d{i}" for i in range(30)]})
    sentence = _what_is_held_out(features, np.arange(30) > 20, None, "day")
    assert sentence.startswith(
        "Nothing is grouped: each of 30 rows has a value of 'day' of its own"
    )
