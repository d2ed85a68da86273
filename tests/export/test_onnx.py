"""A file of ONNX gives the model's numbers, or is not written."""

import json
import warnings
from datetime import time, timedelta

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import confide
from confide.errors import NoPlainFormError, NoSuchIntervalError, WouldOverwriteError
from confide.estimators import IntervalRegressor
from confide.export import onnx_inputs, relative_difference, to_onnx
from confide.export.onnx.check import expected_answers
from confide.export.onnx.graph import Graph
from confide.export.onnx.networks import tree_sum
from confide.export.onnx.rows import random_rows
from confide.trees import Trees

onnx = pytest.importorskip("onnx", reason="files of ONNX need the extra confide[onnx]")
runtime = pytest.importorskip("onnxruntime", reason="they are compared by onnxruntime")
pytestmark = pytest.mark.filterwarnings("ignore::confide.errors.UnseenValueWarning")

N = 90


def table(seed=0):
    """Columns of every kind: holes, rare and many categories, dates and times, free text."""
    generator = np.random.default_rng(seed)
    size, job = generator.gamma(5, 20, N), generator.integers(0, 35, N)
    colour = generator.choice(["red", "green", "blue"], N).astype(object)
    colour[:3], colour[3:15] = "rare", None
    sold = pd.Timestamp("2019-01-01", tz="Europe/Berlin") + pd.to_timedelta(13 * np.arange(N), "D")
    told = np.random.default_rng(seed + 1).choice(3, N, p=[0.2, 0.4, 0.4])
    frame = pd.DataFrame(
        {
            "size": np.where(generator.random(N) < 0.2, np.nan, size),
            "colour": colour,
            "job": [f"job {i}" for i in job],
            "garage": generator.random(N) < 0.5,
            "sold": sold,
            "opened": [time(int(hour), 30) for hour in generator.integers(0, 24, N)],
            "stay": [timedelta(minutes=int(m)) for m in generator.integers(5, 500, N)],
            "remarks": [[None, f"lot {i}", f"lot {i}, new"][kind] for i, kind in enumerate(told)],
            "of no use": ["the same"] * N,
        }
    )
    y = 1 + size / 100 + job / 10 + (colour == "red") + 3 * (told == 2)
    return frame, y + generator.normal(0, 0.1, N)


SMALL = {"hidden_layer_sizes": (4,), "max_epochs": 3, "random_state": 0}
TABULAR = {"dropout": 0.0, "smooth": False, "calibration": None, "n_members": 3, **SMALL}
PAPER = {"recipe": "paper", "n_members": 3, **SMALL}
MODELS = {
    "bootstrapped, paper": confide.BootstrappedDeepEnsembleRegressor(n_retrains=2, **PAPER),
    "bootstrapped, tabular": confide.BootstrappedDeepEnsembleRegressor(**TABULAR),
    "deep ensemble, paper": confide.DeepEnsembleRegressor(**PAPER),
    "one network, tabular": confide.DeepEnsembleRegressor(**{**TABULAR, "n_members": 1}),
    "naive bootstrap, paper": confide.NaiveBootstrapRegressor(spread="population", **PAPER),
    "concrete dropout": confide.ConcreteDropoutRegressor(n_passes=5, **SMALL),
    "quality driven": confide.QualityDrivenEnsembleRegressor(n_members=3, **SMALL),
}


@pytest.fixture(scope="module")
def fitted():
    """Each model, fitted once."""
    models = {}

    def fit(name):
        if name not in models:
            frame, y = table()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                models[name] = MODELS[name].fit(frame, y)
        return models[name]

    return fit


def answers(path, model, rows):
    session = runtime.InferenceSession(path)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, onnx_inputs(model, rows)), strict=True))


def assert_same(model, path, rows=None, levels=(0.95,), most=1e-5):
    """The file's answers are the model's, under the names of `summary_frame`."""
    rows = random_rows(model, 300, seed=1) if rows is None else rows
    own, expected = answers(path, model, rows), expected_answers(model, rows, levels)
    left_out = {name for name in expected if "_uncalibrated" in name} | {"novelty"}
    assert own.keys() == expected.keys() - left_out
    assert all(numbers.shape == (len(rows), 1) for numbers in own.values())
    assert relative_difference(model, own, expected) <= most


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_every_method_has_its_own_numbers(fitted, tmp_path, name):
    model, path = fitted(name), tmp_path / "model.onnx"
    assert to_onnx(model, path) < 1e-5
    assert_same(model, path)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("symmetric", [True, False])
def test_intervals_that_are_calibrated_on_held_out_rows(fitted, tmp_path, name, symmetric):
    frame, y = table(seed=1)
    model, path = fitted(name), tmp_path / "model.onnx"
    try:
        model.calibrate(frame, y, symmetric=symmetric)
        to_onnx(model, path)
        assert_same(model, path)
    finally:
        model.calibration_ = None


def test_levels_that_the_rows_do_not_support_are_infinite(fitted, tmp_path):
    frame, y = table(seed=1)
    model, path = fitted("bootstrapped, paper"), tmp_path / "model.onnx"
    try:
        model.calibrate(frame[:10], y[:10])
        to_onnx(model, path, [0.99])
        assert np.isneginf(answers(path, model, frame)["obs_ci_lower"]).all()
        with pytest.warns(UserWarning, match="infinite"):
            assert_same(model, path, levels=[0.99])
    finally:
        model.calibration_ = None


@pytest.mark.slow
@pytest.mark.parametrize("recipe", [PAPER, TABULAR], ids=["paper", "tabular"])
def test_intervals_that_are_calibrated_on_twins(tmp_path, recipe):
    frame, y = table()
    model, path = confide.BootstrappedDeepEnsembleRegressor(**recipe), tmp_path / "model.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(frame, y).calibrate_confidence(frame, y, n_simulations=10)
    to_onnx(model, path, [0.5, 0.9])
    assert_same(model, path, levels=[0.5, 0.9])


# Of rows far from the data; the file has the same answers for them.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* too far from the training data:UserWarning")
@pytest.mark.parametrize(
    "how",
    [
        {"target_transform": "log"},
        {"target_transform": "sqrt", "bounds": (None, 3.0)},
        {"target_transform": "yeo-johnson"},
        {"bounds": (1.0, 3.0)},
    ],
    ids=lambda how: " ".join(map(str, how.values())),
)
def test_targets_that_are_transformed_or_bounded(data, tmp_path, how):
    X, y = data
    model = confide.BootstrappedDeepEnsembleRegressor(**PAPER, **how)
    model.fit(X, 2 + np.tanh(y / 4))
    to_onnx(model, tmp_path / "model.onnx")
    assert_same(model, tmp_path / "model.onnx", X)
    assert_same(model, tmp_path / "model.onnx", most=1e-3)  # far from the data


def test_a_mean_that_overflows_lies_on_the_bound(data, tmp_path):
    X, y = data
    how = {"target_transform": "log", "bounds": (0, 100.0)}
    model = confide.BootstrappedDeepEnsembleRegressor(**PAPER, **how).fit(X, np.exp(y / 4))
    to_onnx(model, tmp_path / "model.onnx")
    far = X[:6] * np.array([1, 1e2, 1e4, 1e8, 1e60, 1e300])[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert (model.predict(far) == 100).any()
        assert_same(model, tmp_path / "model.onnx", far, most=1e-3)


def test_a_method_of_bounds_with_a_transformed_target(data, tmp_path):
    X, y = data
    model = confide.QualityDrivenEnsembleRegressor(n_members=3, target_transform="log", **SMALL)
    to_onnx(model.fit(X, np.exp(y / 4)), tmp_path / "model.onnx")
    assert_same(model, tmp_path / "model.onnx")


@pytest.mark.parametrize("name", ["bootstrapped, paper", "bootstrapped, tabular"])
def test_rows_that_are_too_far_have_infinite_bounds(fitted, tmp_path, name):
    model, path = fitted(name), tmp_path / "model.onnx"
    to_onnx(model, path)
    rows = table()[0][:4]
    rows["size"] = [1e300, -1e60, np.nan, 10.0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same(model, path, rows)
        assert np.isinf(answers(path, model, rows)["obs_ci_upper"].ravel()).tolist() == [
            *(True, True, False, False)
        ]


def test_rows_in_which_everything_is_missing_or_new(fitted, tmp_path):
    model, path = fitted("bootstrapped, paper"), tmp_path / "model.onnx"
    to_onnx(model, path)
    rows = table()[0][:3].astype({"garage": object})
    rows.loc[0, ["size", "colour", "job", "garage", "sold", "opened", "stay"]] = None
    rows.loc[1, ["colour", "job"]] = ["mauve", "job 99"]
    rows.loc[2, "colour"] = "rare"
    assert_same(model, path, rows)


def test_a_model_of_an_array_has_numbered_columns(data, small, tmp_path):
    X, y = data
    model = confide.BootstrappedDeepEnsembleRegressor(**small).fit(X, y)
    to_onnx(model, tmp_path / "model.onnx")
    rows = X.copy()
    rows[0, 1] = np.nan
    assert list(onnx_inputs(model, rows)) == ["x0", "x1", "x2"]
    assert_same(model, tmp_path / "model.onnx", rows)


def test_columns_may_have_the_names_of_what_is_computed(data, small, tmp_path):
    # Here, the first column is asked for holes before the others have come in.
    names = ["age", "IsNaN_0_0", "constant_1_0"]
    X = pd.DataFrame(data[0], columns=names)
    X.loc[::5, "age"] = np.nan
    model = confide.DeepEnsembleRegressor(**small).fit(X, data[1])
    to_onnx(model, tmp_path / "model.onnx")
    assert_same(model, tmp_path / "model.onnx", X)


def test_a_model_of_an_array_with_holes_takes_arrays(data, small, tmp_path):
    X, y = data
    rows = X.copy()
    rows[::7, 1] = np.nan
    model = confide.BootstrappedDeepEnsembleRegressor(**small).fit(rows, y)
    to_onnx(model, tmp_path / "model.onnx")
    inputs = onnx_inputs(model, rows)
    np.testing.assert_array_equal(np.hstack([inputs[f"x{i}"] for i in range(3)]), rows)
    assert_same(model, tmp_path / "model.onnx", rows)


def test_a_level_is_in_the_name_where_there_are_several(bootstrapped, tmp_path):
    to_onnx(bootstrapped, tmp_path / "model.onnx", [0.5, 0.995])
    session = runtime.InferenceSession(tmp_path / "model.onnx")
    assert [output.name for output in session.get_outputs()] == [
        *("mean", "mean_se"),
        *("mean_ci_lower_50", "mean_ci_upper_50", "obs_ci_lower_50", "obs_ci_upper_50"),
        *("mean_ci_lower_99.5", "mean_ci_upper_99.5", "obs_ci_lower_99.5", "obs_ci_upper_99.5"),
        *("aleatoric_variance", "classical_variance", "optimisation_variance"),
    ]
    assert_same(bootstrapped, tmp_path / "model.onnx", levels=[0.5, 0.995])


def test_the_file_says_what_it_is(fitted, tmp_path):
    to_onnx(fitted("bootstrapped, paper"), tmp_path / "model.onnx")
    session = runtime.InferenceSession(tmp_path / "model.onnx")
    inputs = {each.name: (each.type, each.shape) for each in session.get_inputs()}
    assert inputs["size"] == ("tensor(double)", ["row", 1])
    assert inputs["colour"] == ("tensor(string)", ["row", 1])
    assert "of no use" not in inputs
    metadata = session.get_modelmeta().custom_metadata_map
    assert metadata["confide_version"] == confide.__version__
    assert json.loads(metadata["confidence_levels"]) == [0.95]
    assert "novelty" in json.loads(metadata["not_exported"])[0]
    columns = json.loads(metadata["columns"])
    assert columns["colour"] == "text; empty where it is missing"
    assert columns["sold"] == (
        "days since 1970-01-01 on the clock of Europe/Berlin; NaN where it is missing"
    )


def test_trees_are_the_same_to_the_last_bit():
    # Of two trees: one of two leaves, and one that is a leaf alone.
    of_nodes = {"feature": [1, 0, 0, 0], "left": [1, 1, 2, 3], "right": [2, 1, 2, 3]}
    integers = {name: np.array(each, np.int32) for name, each in of_nodes.items()}
    trees = Trees(
        roots=np.array([0, 3], np.int32),
        threshold=np.array([0.1, 0.0, 0.0, 0.0]),
        value=np.array([0.0, 1.5, -2.25, 100.0]),
        constant=0.125,
        **integers,
    )
    graph = Graph("trees")
    columns = [graph.input(name, np.float32, "") for name in ("a", "b")]
    graph.output("sum", tree_sum(graph, trees, graph.concatenate(columns)))
    session = runtime.InferenceSession(graph.to_model("", {}).SerializeToString())
    near = np.float32(0.1)  # which is above 0.1
    rows = np.array([[0, 0], [0, near], [0, np.nextafter(near, np.float32(0))], [0, np.nan]])
    rows = rows.astype(np.float32)
    (own,) = session.run(None, {"a": rows[:, :1], "b": rows[:, 1:]})
    assert own.ravel().tolist() == [101.625, 97.875, 101.625, 97.875]
    assert own.ravel().tolist() == trees(rows).tolist()


# What cannot be exported.


def refused(kind, message, model, path, *arguments, **how):
    with pytest.raises(kind, match=message):
        to_onnx(model, path, *arguments, **how)
    assert not path.exists()


@pytest.mark.slow
def test_other_learners_are_refused(data, tmp_path):
    X, y = data
    path = tmp_path / "model.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = confide.ConfidenceRegressor(LinearRegression(), n_simulations=10).fit(X, y)
    refused(NoPlainFormError, "got ConfidenceRegressor. Export the regressor inside", model, path)
    make = pytest.importorskip("equinox").nn.MLP
    own = confide.DeepEnsembleRegressor(
        n_members=2, max_epochs=2, network=lambda key, n: make(n, 2, 4, 1, key=key)
    )
    refused(NoPlainFormError, "or networks of your own: NetworkEnsemble", own.fit(X, y), path)


def test_methods_of_the_users_own_are_refused(bootstrapped, tmp_path):
    class Own(IntervalRegressor):
        method = object()

    model = Own()
    model.fitted_ = bootstrapped.fitted_
    message = "The method of Own is not one of confide's"
    refused(NoPlainFormError, message, model, tmp_path / "model.onnx")


def test_groups_are_refused(fitted, tmp_path):
    frame, y = table(seed=1)
    model = fitted("bootstrapped, paper")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.calibrate(frame, y, groups="garage")
        refused(NoPlainFormError, "`calibrate` without `groups`", model, tmp_path / "model.onnx")
    finally:
        model.calibration_ = None


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            {"mean_se": np.arange(64.0) / 3},
            "names that no output has, but these are not: 'mean_se'",
        ),
        ({"kind": ["", "b"] * 32}, "The column 'kind' has the empty text as a value"),
    ],
)
def test_columns_that_the_file_could_not_tell_apart_are_refused(small, tmp_path, frame, message):
    model = confide.BootstrappedDeepEnsembleRegressor(**small)
    model.fit(pd.DataFrame(frame), np.arange(64.0) % 7)
    refused(NoPlainFormError, message, model, tmp_path / "model.onnx")


def test_levels_are_checked(bootstrapped, fitted, tmp_path):
    path = tmp_path / "model.onnx"
    refused(ValueError, "at least one level, got none", bootstrapped, path, [])
    refused(ValueError, "differ in percent", bootstrapped, path, [0.9, 0.9 + 1e-9])
    refused(ValueError, r"must lie in \(0, 1\), got 95", bootstrapped, path, [95])
    quality_driven = fitted("quality driven")
    refused(NoSuchIntervalError, "trained for 95 % intervals", quality_driven, path, [0.9])


def test_a_file_is_replaced_only_when_asked(bootstrapped, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_text("precious")
    with pytest.raises(WouldOverwriteError, match="Pass overwrite=True to replace it"):
        to_onnx(bootstrapped, path)
    assert path.read_text() == "precious"
    to_onnx(bootstrapped, path, overwrite=True)
    assert_same(bootstrapped, path)
    refused(FileNotFoundError, "There is no folder", bootstrapped, tmp_path / "no" / "m.onnx")


def test_a_file_with_other_numbers_is_not_written(bootstrapped, tmp_path, monkeypatch):
    right = expected_answers

    def wrong(*arguments):
        numbers = right(*arguments)
        return {**numbers, "mean_se": 1.001 * numbers["mean_se"]}

    monkeypatch.setattr("confide.export.onnx.check.expected_answers", wrong)
    message = r"differs from the model by 1.0e-03 .* was not written"
    refused(RuntimeError, message, bootstrapped, tmp_path / "model.onnx")


def test_without_the_runtime_the_file_is_not_compared(bootstrapped, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    assert to_onnx(bootstrapped, tmp_path / "model.onnx") is None
    assert (tmp_path / "model.onnx").stat().st_size > 1000


def test_what_to_install_is_said(bootstrapped, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    message = r"pip install 'confide\[onnx\]'"
    refused(ModuleNotFoundError, message, bootstrapped, tmp_path / "model.onnx")
