"""A column that gives the target away, and a target far from all others, are pointed out."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from confide import DeepEnsembleRegressor
from confide.encoding import EncodedTable
from confide.workflow import fit_table
from confide.workflow.suspicions import below_zero, giveaways, wild_targets


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
    assert "9.9e+09 in row 23, at least " in sentence
    assert "correct it, or leave it empty" in sentence
    y[18] = -8e9
    assert "9.9e+09 in row 23 and -8e+09 in row 24" in wild_targets(y, rows)[0]


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
    assert any("9.9e+09 in row 12" in warning for warning in warned)
    y[11] = 3
    rows = pa.Table.from_pandas(table.assign(log_wage=np.log(y), wage=y), preserve_index=False)
    warned = fit_table(rows, "wage", DeepEnsembleRegressor(**small)).warnings
    assert any("'log_wage' gives the target away" in warning for warning in warned)


def test_intervals_below_zero_are_pointed_out_where_no_target_is_there():
    y, some, few = np.array([0.0, 2.0]), np.repeat([-1.0, 1.0], [2, 18]), np.repeat([-1.0, 1.0], 1)
    (sentence,) = below_zero(some, y)
    assert sentence.startswith("2 of 20 90 % prediction intervals of held-out rows reach below 0")
    assert "--bounds 0," in sentence
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
