"""One algorithm, any learner: strangers go through every door."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from support.aliens import ALIENS

import confide
from confide.document import render_page
from confide.learners import Plan, TrainingData
from confide.randomness import key_from, member_keys
from confide.workflow import fit_table, page_document, page_inputs

pytestmark = [
    pytest.mark.slow,  # every learner is fitted and calibrated both ways
    pytest.mark.filterwarnings("ignore::confide.errors.CalibrationWarning"),
]


@pytest.fixture(scope="module", params=ALIENS)
def alien(request):
    found = ALIENS[request.param]
    if not found.is_here:
        pytest.skip(f"needs {found.needs}: pip install 'confide[{found.extra}]'")
    return found


@pytest.fixture(scope="module")
def model(alien, data):
    """Fitted, and calibrated both ways on rows of its own."""
    X, y = data
    fitted = alien.make().fit(X, y)
    fitted.calibrate_confidence(X, y, twin="smooth", n_simulations=10)
    fitted.calibrate(X[::2] + 0.01, y[::2])
    return fitted


@pytest.fixture(scope="module")
def prediction(model, data):
    return model.get_prediction(data[0])


def test_both_intervals_hold_the_prediction(prediction):
    for kind in ("confidence", "prediction"):
        lower, upper = prediction.uncalibrated.interval(kind, 0.8).T
        assert np.all(lower < prediction.mean)
        assert np.all(prediction.mean < upper)


def test_the_split_has_three_sources_that_add_up(prediction):
    sources = prediction.sources
    assert set(sources) == {"aleatoric", "classical", "optimisation"}
    assert all(np.all(part > 0) for part in sources.values())
    np.testing.assert_allclose(sum(sources.values()), prediction.total_variance)


def test_calibrated_intervals_come_from_held_out_rows_and_twins(prediction):
    assert prediction.prediction_law.origin == "held_out"
    assert prediction.confidence_law.origin == "twins"
    assert "random training" in str(prediction.explain(0.8))


def test_saved_equals_live(model, alien, prediction, data, tmp_path):
    model.save(tmp_path / "model")
    again = confide.load(tmp_path / "model", **alien.load).get_prediction(data[0])
    np.testing.assert_array_equal(again.mean, prediction.mean)
    for kind in ("confidence", "prediction"):
        np.testing.assert_array_equal(again.interval(kind, 0.8), prediction.interval(kind, 0.8))
    for name, part in prediction.sources.items():
        np.testing.assert_array_equal(again.sources[name], part)


def test_a_clone_fits_the_same_model(model, alien, data):
    again = clone(model)
    assert again.get_params().keys() == alien.make().get_params().keys()
    np.testing.assert_array_equal(again.fit(*data).predict(data[0]), model.predict(data[0]))


def test_coverage_can_be_checked(alien, data):
    report = confide.coverage_check(
        alien.make(), *data, n_simulations=2, confidence_levels=0.8, random_state=0
    )
    assert {(c.kind, c.confidence_level) for c in report.coverages} == {
        ("confidence", 0.8), ("prediction", 0.8)
    }  # fmt: skip
    assert all(np.all(np.isfinite(c.width)) for c in report.coverages)


def test_grids_can_be_searched(alien, data):
    search = GridSearchCV(alien.make(), {"max_epochs": [5, 10]}, cv=2, error_score="raise")
    assert search.fit(*data).best_params_["max_epochs"] in {5, 10}


def test_a_table_becomes_a_page(alien, data):
    frame = pd.DataFrame(data[0], columns=["age", "bmi", "dose"]).assign(y=data[1])
    table = pa.Table.from_pandas(frame, preserve_index=False)
    fitted = fit_table(table, "y", alien.make(), file="patients.csv")
    page = render_page(page_document(page_inputs(fitted.model, table, file="patients.csv")))
    assert "confidence" in page


def test_weights_reach_the_learner(alien, data):
    weight = np.linspace(0.05, 3, len(data[1]))
    plain, weighted = (
        alien.make().fit(*data, sample_weight=w).predict(data[0]) for w in (None, weight)
    )
    if alien is not ALIENS["fake"]:  # it ignores them
        assert np.abs(plain - weighted).max() > 1e-3


def test_progress_ends_at_what_was_told(alien, data):
    model, told = alien.make(), []
    list(model.fit_many(data[0], data[1][None], [1], progress=told.append))
    assert sum(told) == model.member_epochs(3)


# The learner by itself ---------------------------------------------------------------------------


def trained(alien, data, keys, *stretches):
    """The outputs of members that were trained in these stretches."""
    learner, X = alien.make().make_learner(3), data[0].astype(np.float32)
    rows, targets = TrainingData.from_rows(X), np.tile(data[1].astype(np.float32), (len(keys), 1))
    state, done = learner.init(keys, rows), 0
    for epochs in stretches:
        plan = Plan(total=sum(stretches), done=done, epochs=epochs)
        state, done = learner.train(keys, state, rows, targets, plan), done + epochs
    return learner.predict(state, X)


KEYS = member_keys(key_from(5), 3)


def test_snapshot_and_continue_equals_one_go(alien, data):
    np.testing.assert_allclose(
        trained(alien, data, KEYS, 6, 4), trained(alien, data, KEYS, 10), rtol=0, atol=1e-6
    )


def test_together_equals_one_after_the_other(alien, data):
    together = trained(alien, data, KEYS, 10)
    alone = [trained(alien, data, KEYS[i : i + 1], 10)[0] for i in range(3)]
    # Blocks of other shapes round otherwise, and ten short epochs amplify it little.
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-4)


def test_members_differ_and_the_same_keys_give_the_same_numbers(alien, data):
    outputs = trained(alien, data, KEYS, 10)
    assert np.abs(outputs[0] - outputs[1]).max() > 1e-4
    np.testing.assert_array_equal(outputs, trained(alien, data, KEYS, 10))
