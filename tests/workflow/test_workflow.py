"""From a table to a model to predictions: nothing is judged on rows that it was trained on."""

import copy
import dataclasses
import json
import re
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.ensemble import HistGradientBoostingRegressor

import confide
from confide import (
    BootstrappedDeepEnsembleRegressor,
    DeepEnsembleRegressor,
    OverfittingCheck,
)
from confide.calibration import CalibrationSummary, Resemblance
from confide.calibration.twins import FEWEST_UNSEEN
from confide.document import render_page
from confide.encoding import Encoder
from confide.errors import (
    KeptColumnError,
    ModelFileError,
    TableMismatchError,
    TargetError,
    TwinError,
)
from confide.estimators import ESTIMATORS
from confide.fingerprints import are_copies, fingerprints, groups, identities
from confide.tables import TableFile, write_blocks
from confide.workflow import (
    Notes,
    TrainingTable,
    arrow_types,
    as_meant,
    check_table,
    described,
    features_of,
    fit_table,
    kept_columns,
    one_ahead,
    page_document,
    page_inputs,
    prediction_blocks,
)
from confide.workflow.baseline import as_trees_like_it
from confide.workflow.check import OURS
from confide.workflow.describe import sentences
from confide.workflow.fit import _behind, _overfitting
from confide.workflow.predict import encoded
from confide.workflow.target import known_rows, take_target
from confide.workflow.training_table import known_again, set_aside
from confide.workflow.verdict import verdict_lines, worthless

FINITE = st.floats(-1e6, 1e6, width=64)
MATRICES = hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2), elements=FINITE)


@pytest.fixture(scope="module")
def rows():
    """A table with a category, holes, an identifier and a target that is missing in two rows."""
    generator = np.random.default_rng(5)
    n = 120
    x = generator.normal(size=n)
    colour = generator.choice(["red", "green"], n)
    y = 2 * x + (colour == "red") + generator.normal(0, 0.3, n)
    y[[3, 7]] = np.nan
    return pa.table(
        {
            "id": [f"row {i}" for i in range(n)],
            "x": pa.array(x, mask=np.arange(n) % 10 == 0),
            "colour": colour,
            "y": pa.array(y, from_pandas=True),
            "z": generator.normal(size=n),
        }
    )


@pytest.fixture(scope="module")
def fitted(rows, small):
    return fit_table(rows, "y", BootstrappedDeepEnsembleRegressor(**small), file="rows.csv", seed=1)


@pytest.fixture(scope="module")
def honest(rows, small):
    """The same with confidence intervals calibrated on as few twins as there may be."""
    estimator = BootstrappedDeepEnsembleRegressor(**small)
    return fit_table(
        rows, "y", estimator, file="rows.csv", seed=1, calibrate_confidence=True, n_simulations=10
    )


# Rows, known again


@given(MATRICES)
def test_equal_rows_have_equal_fingerprints_whatever_stands_beside_them(X):
    y = X[:, 0]
    whole = fingerprints(X, y)
    assert np.array_equal(fingerprints(X[::-1], y[::-1]), whole[::-1])
    assert np.array_equal(fingerprints(X[:1], y[:1]), whole[:1])
    assert np.array_equal(fingerprints(-0.0 * X, 0 * y), fingerprints(0.0 * X, 0 * y))


def test_rows_that_differ_have_different_fingerprints():
    X = np.random.default_rng(0).normal(size=(1000, 3))
    rows = [fingerprints(X, X[:, 0]), fingerprints(1e-30 * X, X[:, 0]), fingerprints(X, X[:, 1])]
    assert len(np.unique(np.concatenate(rows))) == 3000


@given(
    hnp.arrays(np.float32, (20, 2), elements=st.floats(-1e6, 1e6, width=32, allow_subnormal=False))
)
def test_a_float32_and_its_decimals_are_one_number(X):
    decimals = np.array([[float(str(value)) for value in row] for row in X])
    assert np.array_equal(
        fingerprints(X.astype(np.float64), X[:, 0].astype(np.float64)),
        fingerprints(decimals, decimals[:, 0]),
    )


def repeated(n_designs, n_repeats, targets, seed=0):
    """Rows of some designs, each repeated, and their targets."""
    generator = np.random.default_rng(seed)
    X = np.repeat(generator.normal(size=(n_designs, 2)), n_repeats, axis=0)
    y = generator.normal(size=len(X))
    if targets == "copied":
        y = np.repeat(y[::n_repeats], n_repeats)
    elif targets == "ratings":
        y = generator.integers(1, 6, len(X)).astype(float)
    return X, y


def test_copies_and_repeated_measurements_belong_together_and_rows_of_few_values_do_not():
    for n_designs, n_repeats, targets, n_groups in [
        (14, 10, "copied", 14),
        (50, 3, "measured", 50),
        (6, 100, "ratings", 600),
        (6, 100, "measured", 600),
        (100, 1, "measured", 100),
    ]:
        X, y = repeated(n_designs, n_repeats, targets)
        assert len(np.unique(groups(X, y))) == n_groups, (n_designs, n_repeats, targets)
        assert are_copies(X, y) == (targets == "copied")


@given(st.integers(0, 3), st.integers(20, 200))
def test_rows_set_aside_do_not_depend_on_the_order_of_the_rows(seed, n):
    X, y = np.arange(n, dtype=float)[:, None], np.zeros(n)
    aside = set_aside(X, y, 0.2, seed)
    order = np.random.default_rng(seed).permutation(n)
    assert aside.sum() == round(0.2 * n)
    assert np.array_equal(set_aside(X[order], y[order], 0.2, seed), aside[order])


def test_rows_that_belong_together_are_set_aside_together():
    X, y = repeated(50, 3, "measured")
    aside = set_aside(X, y, 0.2, 0).reshape(50, 3)
    assert np.array_equal(aside.all(axis=1), aside.any(axis=1))
    assert aside[:, 0].sum() == 10


def test_rows_of_few_values_are_set_aside_one_by_one():
    X, y = repeated(6, 100, "ratings")
    aside = set_aside(X, y, 0.2, 0)
    assert aside.sum() == 120
    kinds = fingerprints(X, y)
    # Some 20 rows of each of 30 kinds: hardly one is wholly here or there.
    split = [0 < aside[kinds == kind].mean() < 1 for kind in np.unique(kinds)]
    assert np.mean(split) > 0.8


def test_another_seed_sets_other_rows_aside():
    X, y = repeated(50, 1, "measured")
    assert not np.array_equal(set_aside(X, y, 0.2, 0), set_aside(X, y, 0.2, 1))


def table_of(X, y):
    return pa.table({"a": X[:, 0], "b": X[:, 1], "y": y})


@pytest.mark.slow
def test_copies_count_once_where_a_model_is_judged(small):
    X, y = repeated(100, 4, "copied")
    found = fit_table(table_of(X, y), "y", BootstrappedDeepEnsembleRegressor(**small))
    table = found.model.training_table_
    assert (table.n_trained, table.n_set_aside) == (320, 80)
    assert (len(table.trained_on), len(table.set_aside)) == (80, 20)
    assert TrainingTable.of(found.model).judged["rows"] == 20
    assert found.model.calibration_.n_rows == 20
    assert "Of 80 held-out rows, 20 are different; the others are copies." in found.notes
    assert described(found.model).rows == {"trained on": 320, "set aside": 80}
    # One more copy of a row is still that row.
    counted = page_inputs(found.model, pa.concat_tables([table_of(X, y)] * 2)).status
    assert (counted.count("trained on"), counted.count("calibrated on")) == (640, 160)


def test_too_few_different_rows_are_not_calibrated_on(small):
    X, y = repeated(14, 10, "copied")
    found = fit_table(table_of(X, y), "y", BootstrappedDeepEnsembleRegressor(**small))
    assert found.model.calibration_ is None
    assert any("but there are 2." in note for note in found.notes)


def test_equal_rows_of_few_values_are_told_apart_by_their_place(small):
    X, y = repeated(6, 100, "ratings")
    found = fit_table(table_of(X, y), "y", BootstrappedDeepEnsembleRegressor(**small))
    counted = page_inputs(found.model, table_of(X, y)).status
    assert (counted.count("trained on"), counted.count("calibrated on")) == (480, 120)


@pytest.mark.slow
def test_rows_of_another_calibration_are_known_again(small):
    X, y = repeated(100, 1, "measured")
    model = fit_table(table_of(X, y), "y", BootstrappedDeepEnsembleRegressor(**small)).model
    other = table_of(*repeated(30, 1, "measured", seed=1))
    model.calibrate(other.drop_columns(["y"]), other["y"].to_numpy())
    assert set(page_inputs(model, other).status) == {"calibrated on"}
    assert page_inputs(model, table_of(X, y)).status.count("calibrated on") == 0


# The target


def test_target_is_taken_out_and_missing_values_are_not_numbers(rows):
    features, y = take_target(rows, "y")
    assert features.column_names == ["id", "x", "colour", "z"]
    assert np.flatnonzero(np.isnan(y)).tolist() == [3, 7]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 2, None], pa.int32()),
        pa.array([1.0, 2.0, np.nan]),
        pa.array(["1.00", "2.00", None]).cast(pa.decimal128(5, 2)),
        pa.array(["001", "2.0", None]),
    ],
    ids=["whole", "float", "decimal", "text"],
)
def test_targets_of_any_type_of_number(column):
    y = take_target(pa.table({"x": [1, 2, 3], "y": column}), "y").y
    assert np.array_equal(y, [1, 2, np.nan], equal_nan=True)


@pytest.mark.parametrize(
    ("table", "target", "message"),
    [
        ({"x": [1], "price": [1]}, "prise", "no column 'prise' to predict.*mean 'price'"),
        ({"x": [1]}, "x", "'x' is the only column"),
        ({"x": [1, 2], "y": ["a", "b"]}, "y", "must be numbers.*'a', 'b'.*classifier"),
        (
            {"x": [1] * 4, "y": ["1", "2", "3", "oops"]},
            "y",
            "most values are numbers, but not 'oop",
        ),
        ({"x": [1, 2], "y": [True, False]}, "y", r"bool\. A yes-or-no target needs a classifier"),
        ({"x": [1, 2], "y": np.array([1, 2], "M8[s]")}, "y", "days since a fixed date"),
        ({"x": [1, 2], "y": [1.0, np.inf]}, "y", "'y' is infinite in row 2"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)
def test_a_target_that_cannot_be_predicted_is_refused(table, target, message):
    with pytest.raises(TargetError, match=re.compile(message, re.DOTALL)):
        take_target(pa.table(table), target)


@pytest.mark.parametrize(
    ("y", "message"), [([], "a header but no rows"), ([np.nan, np.nan], "missing in all 2 rows")]
)
def test_a_target_that_is_nowhere_known_is_refused(y, message):
    table = pa.table({"x": pa.array(np.zeros(len(y))), "y": pa.array(y, pa.float64())})
    with pytest.raises(TargetError, match=message):
        known_rows(table, "y", Notes())


# Fitting


def test_rows_without_a_target_are_left_out_and_told(fitted):
    assert fitted.notes[0] == "2 rows of 120 left out: the target 'y' is missing there."
    table = fitted.model.training_table_
    assert len(table.trained_on) + len(table.set_aside) == 118
    assert len(table.set_aside) == round(0.2 * 118)


def test_a_column_of_no_use_is_told(fitted):
    assert any(note.startswith("Left out of the fit: id") for note in fitted.notes)


def test_the_model_is_that_of_a_plain_fit_to_the_rows_that_were_not_set_aside(fitted, rows, small):
    known = rows.filter(np.isfinite(take_target(rows, "y").y))
    features, y = take_target(known, "y")
    # The same rows by the model's own account of them.
    here = np.array(known_again(fitted.model, encoded(fitted.model, features).matrix, y).status)
    assert (here == "trained on").sum() == 94
    assert (here == "calibrated on").sum() == 24
    trained, aside = features.filter(here == "trained on"), features.filter(here != "trained on")
    with pytest.warns(UserWarning, match="Left out"):
        plain = BootstrappedDeepEnsembleRegressor(**small).fit(trained, y[here == "trained on"])
    assert np.array_equal(plain.predict(features), fitted.model.predict(features))
    plain.calibrate(aside, y[here != "trained on"])
    assert np.array_equal(
        plain.predict_interval(features)[1], fitted.model.predict_interval(features)[1]
    )


def test_the_judgement_is_that_of_the_rows_set_aside_before_calibration(fitted, rows):
    model = fitted.model
    features, y = take_target(rows, "y")
    inputs = page_inputs(model, rows)
    aside, trained = (np.array(inputs.status) == s for s in ("calibrated on", "trained on"))
    raw = model.get_prediction(features).uncalibrated
    judged = TrainingTable.of(model).judged
    assert judged["rows"] == 24
    errors = (raw.mean - y)[aside]
    assert judged["rmse"] == pytest.approx(np.sqrt(np.mean(errors**2)))
    lower, upper = raw.prediction_interval(0.8)[aside].T
    assert judged["coverage_80"] == np.mean((lower <= y[aside]) & (y[aside] <= upper))
    assert judged["coverage_80_se"] == pytest.approx(0.4 / np.sqrt(24))
    lower, upper = raw.prediction_interval(0.95)[aside].T
    assert judged["coverage_95"] == np.mean((lower <= y[aside]) & (y[aside] <= upper))
    assert judged["coverage_95_se"] == pytest.approx(np.sqrt(0.95 * 0.05 / 24))
    assert judged["target_sd"] == np.std(y[aside])
    without = [np.sqrt(np.mean(np.delete(errors, i) ** 2)) for i in range(24)]
    assert judged["rmse_se"] == pytest.approx(np.sqrt(23 * np.var(without)))
    assert judged["mean_rmse"] == pytest.approx(
        np.sqrt(np.mean((y[aside] - y[trained].mean()) ** 2))
    )
    shares = [np.mean(share[aside]) for share in raw.shares.values()]
    assert [judged[f"{name}_share"] for name in raw.shares] == pytest.approx(shares)


def test_the_page_shows_columns_that_the_model_uses(fitted, rows):
    assert set(page_inputs(fitted.model, rows).frame) == {"x", "colour", "z"}


def test_gradient_boosting_is_given_the_same_rows_with_categories_and_holes(rows, fitted):
    features, y = take_target(rows, "y")
    here = np.array(page_inputs(fitted.model, rows).status)
    aside, trained = here == "calibrated on", here == "trained on"
    encoder = fitted.model.encoder_
    X, categorical = as_trees_like_it(encoder.encode(features), encoder)
    assert np.isnan(X).any()
    assert sum(categorical) == sum(column.kind == "category" for column in encoder.columns) > 0
    trees = HistGradientBoostingRegressor(categorical_features=categorical, random_state=0)
    means = trees.fit(X[trained], y[trained]).predict(X[aside])
    rmse = TrainingTable.of(fitted.model).judged["boosting_rmse"]
    assert rmse == pytest.approx(np.sqrt(np.mean((means - y[aside]) ** 2)))


@pytest.mark.slow
def test_many_categories_of_which_none_is_common_are_fitted_judged_and_shown():
    rng, n_rows = np.random.default_rng(0), 600
    x = rng.normal(size=n_rows)
    tails = [f"N{i % 200}" for i in range(n_rows)]
    y = x + np.arange(n_rows) % 200 % 7 + 0.1 * rng.normal(size=n_rows)
    table = pa.table({"x": x, "tail": tails, "y": y})
    how = {"recipe": "paper", "n_members": 2, "max_epochs": 2, "random_state": 0}
    fitted = fit_table(table, "y", BootstrappedDeepEnsembleRegressor(**how))
    tail = fitted.model.encoder_.columns[1]
    assert tail.feature_names == ("tail: mean target",)  # no indicator
    assert TrainingTable.of(fitted.model).judged["boosting_rmse"] > 0
    assert confide.workflow.page_of(fitted.model, table, file="table.csv")


JUDGED = {
    "rows": 200.0,
    "rmse": 24160.4,
    "boosting_rmse": 25039.2,
    "mean_rmse": 79912.0,
    "target_sd": 79000.0,
    "coverage_90": 0.91,
    "coverage_90_se": 0.0212,
    "coverage_95": 0.5,
    "coverage_95_se": 0.0154,
    "aleatoric_share": 0.2,
    "classical_share": 0.7,
    "optimisation_share": 0.1,
}


def test_the_verdict_is_three_lines():
    assert verdict_lines(JUDGED, [], calibrated=True) == [
        "RMSE 24,200 on 200 held-out rows; gradient boosting 25,000; guessing the mean 79,900.",
        (
            "90 % prediction intervals contained 91 % of 200 held-out rows; exact ones would "
            "contain 86 to 94 %. They held; then they were calibrated on these rows, which cannot "
            "test them again."
        ),
        (
            "Look at: 70 % of the uncertainty comes from the small number of rows. More rows would "
            "help most."
        ),
    ]
    assert verdict_lines(JUDGED, ["First.", "Second."], calibrated=True)[2] == "Look at: First."


@pytest.mark.parametrize(
    ("share", "calibrated", "words"),
    [
        (
            0.85,
            True,
            (
                "They were slightly off (too narrow); then they were calibrated on these rows, "
                "which cannot test them again."
            ),
        ),
        (0.85, False, "They are slightly off (too narrow)."),
        (0.8, False, "They do not hold (too narrow)."),
        (0.95, False, "They are slightly off (wider than needed)."),
        (0.87, False, "exact ones would contain 86 to 94 %. They hold."),
    ],
)
def test_the_verdict_says_whether_intervals_hold(share, calibrated, words):
    line = verdict_lines({**JUDGED, "coverage_90": share}, [], calibrated=calibrated)[1]
    assert line.endswith(words)


@pytest.mark.parametrize(
    ("p_value", "words"),
    [
        (0.5, " hold on simulated data, on which the model errs as it does on yours; real"),
        (0.011, ": they are slightly off (the model's residuals are about as large on simulated"),
    ],
)
def test_the_verdict_speaks_of_calibrated_confidence_intervals(p_value, words):
    resemblance = Resemblance("smooth", 20, 1.0, 0.1, p_value)
    on_twins = CalibrationSummary((), (resemblance,), 100, {}, 0.0)
    line = verdict_lines(JUDGED, [], calibrated=True, on_twins=on_twins)[1]
    assert f" test them again. Confidence intervals{words}" in line


def test_a_model_of_an_earlier_version_has_a_verdict_too():
    names = ("rows", "rmse", "target_sd", "coverage_95", "coverage_95_se")
    assert verdict_lines({name: JUDGED[name] for name in names}, [], calibrated=False) == [
        "RMSE 24,200 on 200 held-out rows; guessing the mean 79,000.",
        (
            "95 % prediction intervals contained 50 % of 200 held-out rows; exact ones would "
            "contain 92 to 98 %. They do not hold (too narrow)."
        ),
    ]


@pytest.mark.slow
def test_a_model_that_boosting_beats_says_so(small):
    generator = np.random.default_rng(0)
    X = generator.uniform(-1, 1, (300, 2))
    table = table_of(X, 3 * X[:, 1] + np.sign(X[:, 0]) * np.sign(X[:, 1]))
    found = fit_table(table, "y", BootstrappedDeepEnsembleRegressor(**small))
    assert found.warnings[0].startswith("Gradient boosting predicts the held-out rows better")
    assert found.verdict[2] == f"Look at: {found.warnings[0]}"


def test_without_rows_set_aside_nothing_is_judged_or_calibrated(rows, small):
    found = fit_table(rows, "y", BootstrappedDeepEnsembleRegressor(**small), hold_out=0)
    assert found.model.calibration_ is None
    assert TrainingTable.of(found.model).judged == {}
    assert "not known how good the model is" in found.verdict[0]
    assert "not known whether the prediction intervals hold" in found.verdict[1]
    assert any("needs 19 different rows, but there are 0" in n for n in found.notes)


def test_a_refit_forgets_the_table(rows, small):
    model = fit_table(rows, "y", BootstrappedDeepEnsembleRegressor(**small)).model
    model.fit(np.arange(20.0)[:, None], np.arange(20.0))
    assert model.training_table_ is None
    assert model.encoder_ is None
    assert model.calibration_ is None


def test_a_saved_model_remembers_the_table(fitted, tmp_path):
    fitted.model.save(tmp_path / "model.confide")
    loaded = confide.load(tmp_path / "model.confide")
    assert described(loaded) == described(fitted.model)
    for name in ("trained_on", "set_aside"):
        kept = getattr(loaded.training_table_, name)
        assert np.array_equal(kept, getattr(fitted.model.training_table_, name))


@pytest.mark.parametrize(
    "change", [{"target": 3}, {"notes": None}, {"judged": {"rmse": "1"}}, {"judged": []}]
)
def test_a_model_that_says_nonsense_of_its_table_is_refused(fitted, change):
    model, rows = copy.copy(fitted.model), fitted.model.training_table_
    model.training_table_ = dataclasses.replace(rows, origin={**rows.origin, **change})
    with pytest.raises(ModelFileError, match="training table does not fit together"):
        TrainingTable.of(model)


def test_columns_can_be_left_out_by_name(rows):
    assert as_meant(rows, exclude=["id"]).column_names == ["x", "colour", "y", "z"]
    with pytest.raises(TargetError, match=r"no column 'idd' to leave out.*mean 'id'"):
        as_meant(rows, exclude=["idd"])


def test_columns_are_categories_or_numbers_where_that_is_meant():
    table = pa.table({"district": [3, 1, None], "count": [1, 2, 3], "size": [1.5, 2.0, 3.0]})
    meant = as_meant(table, categorical=["district"], numeric=["count"])
    assert meant.column("district").to_pylist() == ["3", "1", None]
    assert pa.types.is_dictionary(meant.column("district").type)
    assert meant.column("count").type == pa.float64()
    with pytest.raises(TargetError, match=r"no column 'site' to use as categories"):
        as_meant(table, categorical=["site"])
    with pytest.raises(TargetError, match=r"'size' cannot be categories.*text or whole numbers"):
        as_meant(table, categorical=["size"])
    with pytest.raises(TargetError, match=r"'town' cannot be numbers.*Correct its values"):
        as_meant(pa.table({"town": ["Rome"]}), numeric=["town"])


def test_identifiers_are_shown_beside_predictions_and_not_learnt_from(rows, small, tmp_path):
    model = fit_table(rows, "y", DeepEnsembleRegressor(**small), ids=["id"]).model
    assert "id" not in model.feature_names_in_
    model.save(tmp_path / "model.confide")
    ids = TrainingTable.of(confide.load(tmp_path / "model.confide")).ids
    assert ids == ("id",)
    assert kept_columns("colour", rows.column_names, ids) == ["id", "colour"]
    assert kept_columns("", ["x"], ids) == []  # a table need not have it
    document = page_document(page_inputs(model, rows))
    listed = next(table for table in document.tables if table.name == "rows")
    numbers = listed.frame["row"].to_numpy() - 1
    assert listed.frame["id"].tolist() == [f"row {i}" for i in numbers]


@pytest.mark.slow
def test_held_out_rows_decide_whether_it_overfits(rows, small, monkeypatch):
    given = []

    def check(training, y_train, held_out, y_held_out):
        given.append((len(training), len(y_train), len(held_out), len(y_held_out)))
        return OverfittingCheck(0.1, 94, inflation=9.0, inflation_se=0.1)

    monkeypatch.setattr("confide.workflow.fit.overfitting_check", check)
    found = fit_table(rows, "y", BootstrappedDeepEnsembleRegressor(**small))
    assert given == [(94, 94, 24, 24)]
    assert found.warnings[0].startswith("The members fit their training rows much better than")
    assert TrainingTable.of(found.model).warnings == found.warnings
    # Where the noise is learnt from rows left out, members may fit the others as well as they like.
    learnt = small | {"recipe": "tabular", "calibration": None}
    fit_table(rows, "y", BootstrappedDeepEnsembleRegressor(**learnt))
    assert len(given) == 1


ADVISED = [
    ("BootstrappedDeepEnsemble", {"recipe": "paper"}, "--recipe tabular, fewer", "--recipe"),
    ("DeepEnsemble", {"recipe": "paper"}, "--recipe tabular, fewer", "--method and --recipe"),
    ("BootstrappedDeepEnsemble", {"network": print}, "Fewer", "--network"),
    ("ConcreteDropout", {}, "Fewer", "--method"),
    ("BootstrappedDeepEnsemble", {}, "Fewer", None),
]


@pytest.mark.parametrize(("method", "settings", "less", "without"), ADVISED)
def test_no_option_is_advised_that_the_fit_does_not_take(
    method, settings, less, without, monkeypatch
):
    model, y = ESTIMATORS[f"{method}Regressor"](**settings), np.arange(50.0)
    found = OverfittingCheck(0.1, 94, inflation=9.0, inflation_se=0.1)
    monkeypatch.setattr("confide.workflow.fit.overfitting_check", lambda *_: found)
    (words,) = _overfitting(model)
    assert words.endswith(f"noise. {less} --epochs or more rows would help.")
    monkeypatch.setattr("confide.workflow.fit.boosted_means", lambda *_: y + np.arange(50) % 2)
    judged = {"rmse": 6.1, "rmse_se": 0.1, "target_sd": 14.4}
    parts = SimpleNamespace(train=None, y_train=y, held=None, y_held=y)
    (words,) = _behind(model, SimpleNamespace(mean=y + 5 + np.arange(50) % 3), parts, judged)
    trees = "Try --learner xgboost or lightgbm" + (f" without {without}" if without else "")
    assert f"{trees}, which" in words


def test_a_model_that_is_no_better_than_the_mean_is_warned_of(small):
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(150, 2)), generator.normal(size=150)
    y[7] = 1e6
    found = fit_table(table_of(X, y), "y", BootstrappedDeepEnsembleRegressor(**small), seed=2)
    cause, judgement, *_ = found.warnings
    assert cause.startswith("The target is 1,000,000 in row 8, ")
    assert judgement == NO_USE.format("median")
    assert "guessing the median " in found.verdict[0]


NO_USE = (
    "The model is worse than predicting the {} of the target on rows it has not seen: do not use "
    "it."
)
NO_GAIN = "On rows it has not seen, the model is no better than predicting the mean of the target"


@pytest.mark.parametrize(
    ("rmse", "said"),
    [(8.0, []), (10.2, [NO_GAIN]), (12.0, [NO_GAIN]), (13.5, [NO_USE.format("mean")])],
)
def test_a_model_is_good_if_it_beats_the_mean_by_more_than_its_standard_error(rmse, said):
    judged = {"rmse": rmse, "rmse_se": 0.9, "mean_rmse": 10.8, "target_sd": 10.8}
    judged |= {"mean_rmse": 12.0} if rmse > 11 else {}
    assert [text[: len(of)] for text, of in zip(worthless(judged), said, strict=True)] == said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hold_out", "fitted_to", "encoded_rows"),
    # All rows, to choose those to set aside; then those trained on, and those set aside.
    [(0.2, [118, 94], [118, 94, 24]), (0, [118], [118])],
)
def test_every_table_is_encoded_once(rows, small, monkeypatch, hold_out, fitted_to, encoded_rows):
    fits, encodings = [], []
    fit, encode = Encoder.fit.__func__, Encoder.encode_and_report

    def counted_fit(cls, table, y=None):
        fits.append(len(table))
        return fit(cls, table, y)

    def counted_encode(self, table):
        encodings.append(len(table))
        return encode(self, table)

    monkeypatch.setattr(Encoder, "fit", classmethod(counted_fit))
    monkeypatch.setattr(Encoder, "encode_and_report", counted_encode)
    estimator = BootstrappedDeepEnsembleRegressor(**small)
    fit_table(rows, "y", estimator, hold_out=hold_out, calibrate_confidence=True, n_simulations=10)
    assert (fits, encodings) == (fitted_to, encoded_rows)


def test_the_old_name_of_the_calibration_on_twins_still_works(rows):
    few = rows.slice(10, 20)
    with (
        pytest.warns(DeprecationWarning, match="is now `calibrate_confidence`"),
        pytest.raises(TwinError, match="at least 20 different rows"),
    ):
        fit_table(few, "y", BootstrappedDeepEnsembleRegressor(), honest=True)


def test_few_rows_are_warned_of(small):
    generator = np.random.default_rng(0)
    table = table_of(generator.normal(size=(12, 2)), generator.normal(size=12))
    found = fit_table(table, "y", BootstrappedDeepEnsembleRegressor(**small))
    assert found.warnings[0] == "Only 12 rows were trained on: do not expect much of the model."


@pytest.mark.slow
@pytest.mark.parametrize("hold_out", [0, 0.2])
def test_every_estimator_can_be_fitted_to_a_table(small, hold_out):
    generator = np.random.default_rng(0)
    table = table_of(generator.normal(size=(100, 2)), generator.normal(size=100))
    plain = {name: small[name] for name in ("hidden_layer_sizes", "max_epochs", "random_state")}
    for estimator in (
        confide.DeepEnsembleRegressor(n_members=2, calibration=None, **plain),
        confide.QualityDrivenEnsembleRegressor(n_members=2, confidence_level=0.9, **plain),
    ):
        found = fit_table(table, "y", estimator, hold_out=hold_out)
        assert found.verdict[0].startswith("RMSE ") == (hold_out > 0)


# Predicting


def test_blocks_give_the_same_predictions_as_the_whole_table(fitted, rows):
    whole = pa.concat_tables(prediction_blocks(fitted.model, [rows], confidence_level=0.9))
    blocks = [rows.slice(start, 50) for start in (0, 50, 100)]
    in_blocks = pa.concat_tables(prediction_blocks(fitted.model, blocks, confidence_level=0.9))
    assert in_blocks.num_rows == 120
    # XLA rounds differently for other numbers of rows.
    assert in_blocks["novel_columns"].to_pylist() == whole["novel_columns"].to_pylist()
    for name in set(whole.column_names) - {"novel_columns"}:
        np.testing.assert_allclose(
            in_blocks[name].to_numpy(), whole[name].to_numpy(), rtol=1e-5, err_msg=name
        )
    frame = fitted.model.get_prediction(features_of(fitted.model, rows)).summary_frame(0.9)
    np.testing.assert_array_equal(whole["obs_ci_upper"].to_numpy(), frame["obs_ci_upper"])


# Honest confidence intervals


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::confide.errors.CalibrationWarning")
def test_an_honest_fit_is_the_same_fit_calibrated_on_the_rows_trained_on(honest, fitted, rows):
    features, y = take_target(rows, "y")
    model = honest.model
    assert np.array_equal(model.predict(features), fitted.model.predict(features))
    assert TrainingTable.of(model).judged == TrainingTable.of(fitted.model).judged
    own, now = (each.get_prediction(features) for each in (fitted.model, model))
    assert np.array_equal(now.uncalibrated.confidence_interval(), own.confidence_interval())
    # Of rows held out; as wide as it takes to contain the calibrated confidence interval.
    before, inner = own.prediction_law.law.interval(0.95), now.confidence_interval(0.95)
    lower, upper = np.minimum(before, inner)[:, 0], np.maximum(before, inner)[:, 1]
    expected = np.stack([lower, upper], axis=1)
    np.testing.assert_allclose(now.prediction_interval(0.95), expected, rtol=1e-9)
    known = known_again(model, encoded(model, features).matrix, y)
    trained = np.array(known.status) == "trained on"
    by_hand = fitted.model.calibrate_confidence(
        features.filter(trained), y[trained], n_simulations=10
    )
    try:
        again = by_hand.get_prediction(features).confidence_interval(0.9)
        assert np.array_equal(now.confidence_interval(0.9), again)
    finally:
        fitted.model.confidence_calibration_ = None
    assert trained.sum() == 94
    # Rows that simulated fits see: a tenth of 94 would be fewer unseen ones than the fewest.
    assert model.confidence_calibration_.summary.n_rows == 94 - FEWEST_UNSEEN


def test_what_the_twins_found_is_told_once_and_kept(honest, fitted, tmp_path):
    account = honest.model.confidence_calibration_.summary
    told = [note for note in honest.notes if note not in fitted.notes]
    assert told == sentences(account)
    kinds = [each.kind.replace("_", " ") for each in account.resemblances]
    assert all(kind in told[0] for kind in kinds)
    assert told[0].startswith("Confidence intervals are calibrated on simulated twins of the train")
    low, middle, high = account.widening[0.95]
    assert told[2] == (
        f"At 95 % they are {middle:.2g} times as wide as before calibration in the typical row, "
        f"and {low:.2g} to {high:.2g} times in nine rows of ten."
    )
    few, many = (sentences(dataclasses.replace(account, biased=b)) for b in (0.1, 0.11))
    assert [note for note in few if note not in many] == [
        "At 10 % of the rows there is bias beyond chance."
    ]
    assert [w for w in honest.warnings if w not in fitted.warnings] == list(account.warnings)
    assert len(set(honest.warnings)) == len(honest.warnings)
    assert not set(account.warnings) & set(honest.notes)
    path = tmp_path / "model"
    honest.model.save(path)
    description = described(confide.load(path))
    assert (description.notes, description.warnings) == (list(honest.notes), list(honest.warnings))
    assert description.confidence_calibration == account.to_json()
    assert description.to_json() == honest.to_json()
    json.dumps(description.to_json(), allow_nan=False)


@pytest.mark.parametrize(
    ("rows_kept_back", "twins"), [(False, False), (True, False), (False, True), (True, True)]
)
def test_a_description_says_what_was_calibrated_on_what(fitted, honest, rows_kept_back, twins):
    model = copy.copy((honest if twins else fitted).model)
    if not rows_kept_back:
        model.calibration_ = None
    facts = described(model).facts
    on_twins = "calibrated on 10 simulated data sets ("
    own = "calibrated on 24 rows" if rows_kept_back else "not calibrated"
    assert facts["prediction intervals"].startswith(own)
    assert facts["confidence intervals"].startswith(on_twins if twins else "not calibrated")
    assert (described(model).to_json()["honesty"] is None) == (not twins)


def test_honest_blocks_give_the_same_predictions_as_the_whole_table(honest, rows):
    (whole,) = prediction_blocks(honest.model, [rows], confidence_level=0.9)
    blocks = [rows.slice(start, 50) for start in (0, 50, 100)]
    in_blocks = pa.concat_tables(prediction_blocks(honest.model, blocks, confidence_level=0.9))
    # XLA rounds differently for other numbers of rows.
    assert in_blocks["novel_columns"].to_pylist() == whole["novel_columns"].to_pylist()
    for name in set(whole.column_names) - {"novel_columns"}:
        np.testing.assert_allclose(
            in_blocks[name].to_numpy(), whole[name].to_numpy(), rtol=1e-5, err_msg=name
        )
    last = [f"{of}_ci_{end}_uncalibrated" for of in ("mean", "obs") for end in ("lower", "upper")]
    assert [name for name in whole.column_names if "uncalibrated" in name] == last
    widths = [
        whole[f"mean_ci_upper{which}"].to_numpy() - whole[f"mean_ci_lower{which}"].to_numpy()
        for which in ("", "_uncalibrated")
    ]
    assert not np.allclose(*widths)


def test_an_honest_page_has_its_account_and_its_warnings_once(honest, rows):
    inputs = page_inputs(honest.model, rows)
    account = honest.model.confidence_calibration_.summary
    assert inputs.summary is account
    assert [w for w in inputs.warnings if w in account.warnings] == list(account.warnings)
    assert "simulated twins" not in inputs.settings.get("notes from the fit", "")
    assert "95 % confidence intervals before calibration" in inputs.advice
    assert page_inputs(honest.model, rows.slice(0, 5)).summary is account


@pytest.mark.slow
def test_with_few_rows_set_aside_the_methods_prediction_intervals_are_judged(rows, small):
    estimator = BootstrappedDeepEnsembleRegressor(**small)
    found = fit_table(
        rows, "y", estimator, hold_out=0.1, calibrate_confidence=True, n_simulations=10
    )
    model = found.model
    assert model.calibration_ is None
    assert (
        "Prediction intervals are not calibrated: calibrating them on held-out rows needs 19 "
        "different rows, but there are 12."
    ) in found.notes
    features, y = take_target(rows, "y")
    rows_known = identities(fingerprints(encoded(model, features).matrix, y), copies=False)
    aside = np.isin(rows_known, model.training_table_.set_aside)
    own = model.get_prediction(features).uncalibrated
    lower, upper = own.prediction_interval(0.8)[aside].T
    judged = TrainingTable.of(model).judged
    assert judged["coverage_80"] == np.mean((lower <= y[aside]) & (y[aside] <= upper))
    assert "calibrated on these rows" not in found.verdict[1]


def test_a_table_too_short_for_a_twin_is_refused_before_anything_is_trained(rows):
    class Untouched(BootstrappedDeepEnsembleRegressor):
        def fit(self, *_):
            raise AssertionError

    few = rows.slice(10, 20)
    message = (
        "at least 20 different rows to train on, but there are 16. Use more rows, hold out fewer"
    )
    with pytest.raises(TwinError, match=f"{message} than 4 rows, or fit without it"):
        fit_table(few, "y", Untouched(), calibrate_confidence=True)
    copies = pa.concat_tables([rows.slice(10, 15)] * 10)
    with pytest.raises(TwinError, match=r"there are 15\. Use more rows, or fit without it"):
        fit_table(copies, "y", Untouched(), hold_out=0, calibrate_confidence=True)


def test_columns_are_found_by_name_in_any_order_and_others_are_ignored(fitted, rows):
    (plain,) = prediction_blocks(fitted.model, [rows])
    mixed = rows.select(["y", "colour", "z", "id", "x"]).append_column("more", rows["id"])
    (found,) = prediction_blocks(fitted.model, [mixed], keep=["more"])
    assert found.column_names == ["more", *plain.column_names]
    assert found.drop_columns(["more"]).equals(plain)


def test_a_column_that_the_networks_do_not_see_may_be_missing(fitted, rows):
    (with_id,) = prediction_blocks(fitted.model, [rows])
    (without,) = prediction_blocks(fitted.model, [rows.drop_columns(["id"])])
    assert without.equals(with_id)


def test_kept_columns_must_be_there_and_must_not_hide_results(fitted, rows):
    assert kept_columns("all", ["a", "b"]) == ["a", "b"]
    with pytest.raises(KeptColumnError, match=r"no column 'idd' to keep.*mean 'id'"):
        kept_columns("idd", rows.column_names)
    both = rows.append_column("mean", rows["x"])
    with pytest.raises(KeptColumnError, match="names of result columns: 'mean'"):
        list(prediction_blocks(fitted.model, [both], keep=["mean"]))


def test_a_row_that_cannot_be_predicted_leaves_the_others_answered(fitted, rows):
    far = rows.set_column(1, "x", pa.array(np.where(np.arange(120) == 70, 1e300, 0.0)))
    notes = Notes()
    blocks = [far.slice(0, 50), far.slice(50)]
    frame = pa.concat_tables(prediction_blocks(fitted.model, blocks, notes=notes)).to_pandas()
    assert np.flatnonzero(np.isinf(frame["obs_ci_upper"])).tolist() == [70]
    assert frame["is_novel"][70]
    assert np.isfinite(frame["mean"]).all()
    assert any("too far from the training data" in note for note in notes)


@pytest.mark.slow
def test_a_row_whose_variance_overflows_leaves_the_others_answered(fitted, rows):
    far = rows.set_column(1, "x", pa.array(np.where(np.arange(120) == 70, 1e6, 0.0)))
    model = copy.copy(fitted.model)  # one that is sure to be unsure there
    model.method = SimpleNamespace(**vars(model.method))
    predict = model.method.predict

    def overflowing(fit, X):
        prediction = predict(fit, X)
        wild = X.max(axis=1) > 1e5
        variance = np.where(wild, np.inf, prediction.aleatoric_variance)
        return dataclasses.replace(prediction, aleatoric_variance=variance)

    model.method.predict = overflowing
    (answers,) = prediction_blocks(model, [far])
    frame = answers.to_pandas()
    assert np.flatnonzero(np.isinf(frame["obs_ci_upper"])).tolist() == [70]
    assert frame["is_novel"][70]
    page = render_page(page_document(page_inputs(model, far, file="far.csv")))
    assert "far.csv" in page


def test_a_table_without_rows_has_nothing_to_predict(fitted, rows):
    with pytest.raises(TableMismatchError, match="no rows, so there is nothing to predict"):
        list(prediction_blocks(fitted.model, [rows.slice(0, 0)]))


def test_a_level_that_was_not_calibrated_for_is_noted_once(fitted, rows):
    notes = Notes()
    blocks = [rows.slice(0, 60), rows.slice(60)]
    found = pa.concat_tables(
        prediction_blocks(fitted.model, blocks, confidence_level=0.99, notes=notes)
    )
    assert np.isinf(found["obs_ci_upper"].to_numpy()).all()
    assert sum("are infinite" in note for note in notes) == 1


def test_missing_columns_are_all_named(fitted, rows):
    table = rows.rename_columns(["id", "xx", "color", "y", "z"])
    with pytest.raises(TableMismatchError, match=r"'x', 'colour'; the table has .*'color'\?"):
        features_of(fitted.model, table)


def test_a_model_of_an_array_has_no_columns_to_find(bootstrapped, rows):
    with pytest.raises(TableMismatchError, match="array of 3 columns without names"):
        features_of(bootstrapped, rows)


@pytest.mark.parametrize("bad", range(0, 30, 7))
def test_a_target_beyond_bounds_is_named_by_its_row_of_the_file(small, bad):
    y = np.arange(1.0, 31.0)
    y[bad], y[1] = -1.0, np.nan  # whether it is held out or not
    table = pa.table({"x": np.arange(30.0), "y": y})
    model = confide.DeepEnsembleRegressor(**small, bounds=(0, None))
    with pytest.raises(ValueError, match=rf"got -1 in row {bad + 1}\. Correct the targets"):
        fit_table(table, "y", model)


def test_values_that_training_did_not_have_are_counted_over_all_blocks(fitted, rows):
    blue = rows.set_column(2, "colour", pa.array(["blue"] * 120))
    notes = Notes()
    list(prediction_blocks(fitted.model, [blue.slice(0, 60), blue.slice(60)], notes=notes))
    assert sum("colour: 'blue' (120 rows)" in note for note in notes) == 1
    assert sum("unlike the training data" in note for note in notes) == 1


def test_values_that_training_did_not_have_are_counted_in_their_row(fitted, rows):
    colours = pa.array(["blue", *rows["colour"].to_pylist()[1:119], "pink"])
    some = rows.set_column(2, "colour", colours)
    table = pa.concat_tables(prediction_blocks(fitted.model, [some.slice(0, 60), some.slice(60)]))
    assert table["unseen_values"].to_pylist() == [1, *[0] * 118, 1]


def test_text_files_are_read_as_training_read_them_and_others_as_they_say(fitted, rows, tmp_path):
    csv, parquet = tmp_path / "rows.csv", tmp_path / "rows.parquet"
    write_blocks([rows], csv)
    write_blocks([rows], parquet)
    types = {"x": pa.float64(), "colour": pa.string(), "z": pa.float64()}
    assert arrow_types(fitted.model, TableFile(csv)) == types
    assert arrow_types(fitted.model, TableFile(csv), ["x", "z", "colour"]) == {
        "colour": pa.string()
    }
    assert arrow_types(fitted.model, TableFile(parquet)) == {}


def test_blocks_come_in_order_and_one_ahead_of_what_is_taken():
    made = []
    source = (made.append(i) or i for i in range(1, 5))
    blocks = one_ahead(source)
    assert next(blocks) == 1
    assert list(blocks) == [2, 3, 4]
    assert made == [1, 2, 3, 4]


def test_an_error_in_a_block_reaches_whom_it_is_made_for():
    blocks = one_ahead(1 / i for i in (1, 0))
    assert next(blocks) == 1
    with pytest.raises(ZeroDivisionError):
        next(blocks)


# The page's inputs


def test_rows_trained_on_are_known_again_and_new_ones_are_new(fitted, rows):
    inputs = page_inputs(fitted.model, rows, file="rows.csv")
    counts = {name: inputs.status.count(name) for name in set(inputs.status)}
    assert counts == {"trained on": 94, "calibrated on": 24, "new": 2}  # two without a target
    moved = rows.set_column(3, "y", pa.array(take_target(rows, "y").y + 1, from_pandas=True))
    assert set(page_inputs(fitted.model, moved).status) == {"new"}


def test_a_table_without_the_target_has_a_page(fitted, rows):
    inputs = page_inputs(fitted.model, rows.drop_columns(["y"]))
    assert inputs.y is None
    assert set(inputs.status) == {"new"}


def test_a_long_table_is_sampled_and_rows_keep_their_numbers(fitted, rows):
    inputs = page_inputs(fitted.model, rows, most_rows=30)
    assert inputs.n_rows == 30
    expected = rows["z"].take(inputs.row_numbers - 1).to_pylist()
    assert inputs.frame["z"].tolist() == expected
    assert any("Of 120 rows, 30 drawn" in warning for warning in inputs.warnings)


def test_a_method_without_the_split_has_a_page(rows, small):
    features, y = take_target(rows, "y")
    known = np.isfinite(y)
    with pytest.warns(UserWarning, match="Left out"):
        model = DeepEnsembleRegressor(**{**small, "n_members": 1}).fit(
            features.filter(known), y[known]
        )
    inputs = page_inputs(model, rows)
    assert inputs.advice is None
    assert inputs.levers is None


# The check


@pytest.mark.slow
def test_a_check_compares_the_default_with_and_without_calibration_on_a_twin(rows):
    found = check_table(rows, "y", n_simulations=2, most_rows=60, seed=3, verbose=False)
    names = {coverage.estimator for coverage in found.report.coverages}
    assert names == {OURS, f"{OURS}, not calibrated"}
    assert found.report.n_train + len(found.report.X_test) == 60
    assert "2 rows of 120 left out: the target 'y' is missing there." in found.notes
    assert any(note.startswith("Of 118 rows, 60 are used") for note in found.notes)
    again = check_table(rows, "y", n_simulations=2, most_rows=60, seed=3, verbose=False)
    assert again.report.to_frame().equals(found.report.to_frame())
