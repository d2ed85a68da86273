"""Values that no training row had: p-values by hand, honest on fresh rows, columns named."""

import warnings

import numpy as np
import pandas as pd
import pytest

import confide
from confide.diagnostics.novelty import Novelty, Unseen
from confide.diagnostics.surprise import NOVEL, SHARE, Ranges, steady_columns
from confide.standardise import Standardiser


def thousand(generator, n=1000):
    return generator.normal(size=(n, 5))


def test_ranges_and_gaps_by_hand():
    ranges = Ranges.of_training(np.array([[0.0, 1, 5], [1, 1, 6], [4, 1, 6], [4, 1, 5]]))
    assert ranges.low.tolist() == [0, 1, 5]
    assert ranges.high.tolist() == [4, 1, 6]
    assert ranges.gap.tolist() == [3, 0, 1]  # 4 - 1; a constant; a column of two values
    assert ranges.n_counted == 1
    endless = Ranges.of_training(np.arange(6.0).reshape(3, 2), [1])
    assert endless.outside(np.array([[9.0, 1e9]])).tolist() == [[True, False]]
    assert endless.n_counted == 1


def test_p_values_of_surprise_by_hand():
    n = 999
    ranges = Ranges(n, np.array([0.0, 0.0]), np.array([10.0, 1.0]), np.array([0.5, 1.0]))
    X = np.array([[12.0, 0], [11, 1], [5, 3], [5, 1], [10.1, 0]])
    # One feature counts. 4, 2 and 2 gaps beyond; inside; a fifth of a gap, which counts as half.
    own = [1.25, 1.5, 1.5, None, 3]
    q = 3 / 1000
    p = ranges.combined(np.full(5, 0.5), X, np.zeros(5, bool), 0)
    expected = [0.5 + q / 2 if factor is None else factor / 1000 for factor in own]
    assert p.tolist() == pytest.approx(expected, rel=1e-12)
    # Unseen categories come first; three training rows were alone in theirs.
    p = ranges.combined(np.full(5, 0.5), X, np.array([True, False, False, True, False]), 3)
    assert p[[0, 3]].tolist() == pytest.approx([0.004, 0.004], rel=1e-12)
    assert p[1] == pytest.approx(0.0045, rel=1e-12)
    assert p[4] == pytest.approx(0.5 + SHARE / 2, rel=1e-12)  # 0.006: left to the distance


def test_few_rows_leave_all_to_the_distance():
    ranges = Ranges.of_training(np.arange(60.0)[:, None])
    p = np.array([0.3])
    assert ranges.combined(p, np.array([[1e6]]), np.array([True]), 0) is p


def test_categories_that_keep_coming_are_no_surprise():
    assert steady_columns({"a": 0, "title": 800, "town": 3, "b": 1}, 1000) == {
        "a": 0,
        "b": 1,
        "town": 3,
    }
    assert steady_columns({"a": 0, "b": 1}, 120) == {"a": 0}


@pytest.mark.parametrize("law", ["normal", "exponential", "standard_cauchy", "poisson"])
def test_fresh_rows_are_novel_as_often_as_they_should(law):
    generator, flagged = np.random.default_rng(0), []
    draw = {"poisson": lambda size: generator.poisson(3, size).astype(float)}.get(
        law, lambda size: getattr(generator, law)(size=size)
    )
    for _ in range(20):
        X = draw((1000, 5))
        standardiser = Standardiser.for_each(X, np.arange(1000.0)[None])[0]
        p = Novelty.of_training(X, standardiser).p_values(draw((500, 5)), standardiser)
        flagged.append(np.mean(p < NOVEL))
    # Cauchy columns have up to 1.8 % by their distance.
    error = np.std(flagged, ddof=1) / np.sqrt(20)
    assert np.mean(flagged) < (0.018 if law == "standard_cauchy" else NOVEL) + 4 * error


def test_a_value_beyond_the_range_of_many_columns_is_novel():
    generator = np.random.default_rng(0)
    X = generator.uniform(size=(3000, 20))
    standardiser = Standardiser.for_each(X, np.arange(3000.0)[None])[0]
    novelty = Novelty.of_training(X, standardiser)
    new = generator.uniform(size=(300, 20))
    new[:, 7] = 1.2  # as a date after the training period
    distance_alone = Novelty(novelty.reference, novelty.weights, novelty.sorted_distances)
    assert np.mean(distance_alone.p_values(new, standardiser) < NOVEL) < 0.2
    assert np.all(novelty.p_values(new, standardiser) < NOVEL)
    names = [f"x{i}" for i in range(20)]
    assert novelty.responsible(new[:2], standardiser, Unseen(), names) == [("x7",)] * 2


def test_rows_that_are_far_off_without_an_unseen_value_name_their_columns():
    reference = np.array([[0.0, 0, 0], [1, 1, 1]], np.float32)
    novelty = Novelty(reference, np.ones(3, np.float32), np.array([1.0, 1.0]))
    as_they_are = Standardiser(np.zeros(3), np.ones(3), 0.0, 1.0)
    rows = np.array([[0.0, 9, 1], [-5, 5, -5]])
    # Of the first row's squares, 81 of 82; of the second, 25 of 75 each: two make a half.
    named = novelty.responsible(rows, as_they_are, Unseen(), ["a", "b", "c"])
    assert named == [("b",), ("a", "b")]
    # Two features of one column are one.
    assert novelty.responsible(rows, as_they_are, Unseen(), ["a", "b", "a"])[1] == ("a",)


@pytest.fixture(scope="module")
def penguins():
    """Two species, of which a third is kept from training; sizes overlap."""
    generator = np.random.default_rng(1)
    species = np.repeat(["adelie", "chinstrap", "gentoo"], [150, 90, 60])
    table = pd.DataFrame({f"size{i}": generator.normal(size=300) for i in range(6)})
    table.insert(0, "species", species)
    return table, table["size0"] + generator.normal(size=300)


@pytest.fixture(scope="module")
def fitted(penguins):
    table, y = penguins
    model = confide.DeepEnsembleRegressor(recipe="paper", max_epochs=2, random_state=0)
    return model.fit(table[:240], y[:240])


def asked(model, table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.get_prediction(table)


def test_rows_of_an_unknown_species_are_novel_and_say_so(fitted, penguins):
    prediction = asked(fitted, penguins[0][240:])
    assert prediction.is_novel.all()
    assert all("species" in names for names in prediction.novel_columns)
    known = asked(fitted, penguins[0][:240])
    assert not known.is_novel.any()
    assert set(known.novel_columns) == {()}


def test_a_missing_value_where_none_was_is_novel(fitted, penguins):
    table = penguins[0][:3].copy()
    table.loc[1, "size3"] = np.nan
    table.loc[2, "species"] = None
    prediction = asked(fitted, table)
    assert prediction.is_novel.tolist() == [False, True, True]
    assert prediction.novel_columns == ((), ("size3",), ("species",))


def test_a_loaded_model_and_an_older_file_know_novel_rows(fitted, penguins, tmp_path):
    fitted.save(tmp_path / "model")
    again = confide.load(tmp_path / "model")
    ours, theirs = (asked(m, penguins[0] * 1) for m in (again, fitted))
    assert ours.novelty.tolist() == theirs.novelty.tolist()
    assert ours.novel_columns == theirs.novel_columns
    n = again.novelty_
    again.novelty_ = Novelty(n.reference, n.weights, n.sorted_distances)  # as it was before
    again.save(tmp_path / "old")
    old = asked(confide.load(tmp_path / "old"), penguins[0][240:])
    assert old.is_novel.all()


@pytest.mark.slow
def test_mean_targets_of_known_categories_are_no_surprise():
    generator = np.random.default_rng(0)
    titles = generator.choice(80, 600, p=np.arange(1, 81) / 3240)
    table = pd.DataFrame({"title": [f"job {t}" for t in titles], "x": generator.normal(size=600)})
    y = titles + generator.normal(size=600)
    model = confide.DeepEnsembleRegressor(recipe="paper", max_epochs=2, random_state=0)
    model.fit(table, y)
    assert model.encoder_.mean_targets  # else there is nothing to see
    assert np.mean(asked(model, table).is_novel) < 0.03


@pytest.mark.parametrize(
    ("name", "value"), [("low", 9.0), ("gap", -1.0), ("gap", 100.0), ("high", np.nan)]
)
def test_hostile_ranges_are_refused(name, value):
    X = np.random.default_rng(0).uniform(size=(50, 2))
    payload, arrays = Novelty.of_training(X, Standardiser(np.zeros(2), np.ones(2), 0, 1)).to_file()
    Novelty.from_file(payload, arrays)
    with pytest.raises(ValueError, match=r"ranges of columns do not fit|not finite"):
        Novelty.from_file(payload, arrays | {name: np.full(2, value)})
    with pytest.raises(ValueError, match="unknown parts"):
        Novelty.from_file({}, arrays)
