"""Boosted trees as learners: stretches, members, weights, parameters, files, and a fit."""

import json
import pickle
import re
import subprocess
import sys
from contextlib import nullcontext

import jax
import numpy as np
import pytest
from sklearn.base import clone

import confide
from confide.estimators import BootstrappedEnsembleRegressor
from confide.learners import Plan, TrainingData, named_learner
from confide.learners.boosted_trees import LEARNERS
from confide.learners.boosting import DEEPEST, ROUNDS_PER_REPORT, check_children
from confide.randomness import member_keys

REASON = "needs the extra confide[boosting]"
KEYS = member_keys(jax.random.key(7), 3)
N_ROWS, N_FEATURES = 90, 4
# Every kind of chance that a library has.
SAMPLING = {
    "xgboost": {"subsample": 0.7, "colsample_bytree": 0.7, "colsample_bynode": 0.7},
    "lightgbm": {
        "bagging_fraction": 0.7,
        "feature_fraction": 0.7,
        "feature_fraction_bynode": 0.7,
        "extra_trees": True,
    },
}
ROWS_ONLY = {"xgboost": {"subsample": 0.7}, "lightgbm": {"bagging_fraction": 0.4}}


@pytest.fixture(params=["xgboost", "lightgbm"])
def name(request):
    pytest.importorskip(request.param, reason=REASON)
    return request.param


@pytest.fixture
def trees(name):
    """A learner with all its chance, on two threads."""
    return LEARNERS[name](SAMPLING[name], 2)


def rows() -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(N_ROWS, N_FEATURES)).astype(np.float32)
    return X, (np.sin(2 * X[:, 0]) + 0.3 * generator.normal(size=N_ROWS)).astype(np.float32)


def trained(learner, *epochs, keys=KEYS, data=None, targets=None, state=None):
    """Members trained in stretches of so many epochs."""
    X, y = rows()
    data = TrainingData.from_rows(X) if data is None else data
    targets = np.broadcast_to(y, (len(keys), len(y))) if targets is None else targets
    state, done = learner.init(keys, data) if state is None else state, 0
    for each in epochs:
        plan = Plan(sum(epochs), done, each)
        state, done = learner.train(keys, state, data, targets, plan), done + each
    return state


def predicted(learner, state) -> np.ndarray:
    return learner.predict(state, rows()[0])


def assert_same(learner, left, right):
    """The same trees to the last bit, and the same predictions."""
    for a, b in zip(
        learner.to_arrays(left).values(), learner.to_arrays(right).values(), strict=True
    ):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(predicted(learner, left), predicted(learner, right))


@pytest.mark.parametrize("sampling", [{"xgboost": {}, "lightgbm": {}}, SAMPLING, ROWS_ONLY])
@pytest.mark.parametrize("stretches", [(7, 8), (1, 1, 13)])
def test_training_in_one_go_equals_training_in_stretches(name, sampling, stretches):
    learner = LEARNERS[name](sampling[name], 1)
    assert_same(learner, trained(learner, 15), trained(learner, *stretches))


def test_training_leaves_the_state_as_it_was(trees):
    X, y = rows()
    snapshot = trained(trees, 10)
    before = trees.to_arrays(snapshot)
    targets = np.broadcast_to(y + 3, (3, N_ROWS))
    trees.train(KEYS, snapshot, TrainingData.from_rows(X), targets, Plan(15, 10, 5))
    for name, array in trees.to_arrays(snapshot).items():
        np.testing.assert_array_equal(array, before[name])


def test_no_epochs_change_nothing(trees):
    assert predicted(trees, trained(trees, 0)).tolist() == np.zeros((3, N_ROWS, 1)).tolist()
    assert_same(trees, trained(trees, 5, 0), trained(trees, 5))


def test_members_are_taken_in_any_order_and_repeatedly(trees):
    state = trained(trees, 5)
    taken = trees.take(state, np.array([2, 0, 0]))
    np.testing.assert_array_equal(predicted(trees, taken), predicted(trees, state)[[2, 0, 0]])


def test_a_member_does_not_depend_on_those_beside_it_nor_on_threads(name):
    of_three = LEARNERS[name](SAMPLING[name], 3)
    alone = LEARNERS[name](SAMPLING[name], 1)
    state = of_three.take(trained(of_three, 10), np.array([1]))
    assert_same(alone, state, trained(alone, 10, keys=KEYS[1:2]))


def test_same_key_same_trees_and_other_keys_other_trees(trees):
    twice = trained(trees, 5, keys=KEYS[[0, 0, 1]])
    first, second, other = predicted(trees, twice)
    np.testing.assert_array_equal(first, second)
    assert np.abs(first - other).max() > 0.01


def test_every_round_samples_anew(name):
    """Trees of rounds on targets that are all noise, from the same start, differ."""
    learner = LEARNERS[name](SAMPLING[name] | {"learning_rate": 1e-6}, 1)
    state = trained(learner, 6, keys=KEYS[:1])
    text = learner.to_arrays(state)["0"].tobytes().decode()
    pattern = {"xgboost": r'"split_indices":\[[^]]*\]', "lightgbm": "split_feature=.*"}[name]
    assert len(set(re.findall(pattern, text))) == 6


def test_members_have_targets_of_their_own(trees):
    _, y = rows()
    state = trained(trees, 30, targets=np.stack([y, y + 5, y]))
    means = predicted(trees, state).mean(axis=(1, 2))
    assert means[1] - means[0] > 4
    assert abs(means[2] - means[0]) < 0.5


def test_retraining_on_other_targets_moves_the_predictions(trees):
    X, y = rows()
    data, snapshot = TrainingData.from_rows(X), trained(trees, 20)
    targets = np.broadcast_to(y, (3, N_ROWS))
    same, moved = (
        trees.train(KEYS, snapshot, data, targets + shift, Plan(30, 20, 10)) for shift in (0, 2)
    )
    difference = (predicted(trees, moved) - predicted(trees, same)).mean()
    # Ten rounds at a rate of 0.1 go 1 - 0.9^10 of the way of 2, less what regularisation holds.
    assert 0.8 < difference < 2 * (1 - 0.9**10) + 0.01


def test_more_rounds_fit_better(name):
    learner = LEARNERS[name]({}, 1)
    few, many = (
        np.mean((predicted(learner, trained(learner, n))[0, :, 0] - rows()[1]) ** 2)
        for n in (5, 100)
    )
    assert many < 0.3 * few


def test_weights_reach_the_loss(name):
    """Rows of weight nearly nothing are as good as left out."""
    learner = LEARNERS[name]({"learning_rate": 0.3}, 1)
    X, y = rows()
    low = np.arange(N_ROWS) % 2 == 0
    weight = np.where(low, 1e-6, 1.0)
    targets = np.where(low, y + 10, y)[None]
    data = TrainingData.from_rows(X, weight)
    state = trained(learner, 30, keys=KEYS[:1], data=data, targets=targets)
    assert predicted(learner, state).mean() < 1


def test_a_member_sees_its_own_rows_as_often_as_they_are_drawn(name):
    """A bootstrap sample is the table with the counts as weights."""
    learner = LEARNERS[name](SAMPLING[name], 1)
    X, _ = rows()
    drawn = np.random.default_rng(3).integers(N_ROWS, size=(3, N_ROWS))
    counts = np.bincount(drawn[0], minlength=N_ROWS).astype(np.float32)
    resampled = trained(learner, 10, data=TrainingData.from_rows(X, None, drawn))
    weighted = trained(learner, 10, data=TrainingData.from_rows(X, counts))
    first = np.array([0])
    assert_same(learner, learner.take(resampled, first), learner.take(weighted, first))


def test_rows_beyond_the_table_are_not_seen(trees):
    """As in the folds of the noise, whose targets come for all rows."""
    X, y = rows()
    whole = TrainingData.from_rows(X[:60])
    padded = TrainingData(TrainingData.from_rows(X).X, TrainingData.from_rows(X).weight, 60)
    targets = np.broadcast_to(y, (3, N_ROWS))
    assert_same(
        trees,
        trained(trees, 8, data=whole, targets=targets[:, :60]),
        trained(trees, 8, data=padded, targets=targets),
    )


def test_progress_counts_the_epochs_of_all_members(trees):
    X, y = rows()
    calls: list[int] = []
    data, targets = TrainingData.from_rows(X), np.broadcast_to(y, (3, N_ROWS))
    plan = Plan(60, 10, ROUNDS_PER_REPORT + 5)
    trees.train(KEYS, trained(trees, 10), data, targets, plan, progress=calls.append)
    assert sorted(calls) == [5] * 3 + [ROUNDS_PER_REPORT] * 3


def test_an_error_in_one_thread_ends_the_others(trees):
    X, y = rows()
    calls: list[int] = []

    def fail_at_first(epochs: int) -> None:
        calls.append(epochs)
        if len(calls) == 1:
            raise InterruptedError

    data, targets = TrainingData.from_rows(X), np.broadcast_to(y, (3, N_ROWS))
    plan = Plan(2000, 0, 2000)
    with pytest.raises(InterruptedError):
        trees.train(KEYS, trees.init(KEYS, data), data, targets, plan, progress=fail_at_first)
    assert len(calls) < 20  # of the hundred that a whole member is


def test_targets_that_do_not_vary_are_predicted_as_they_are(trees):
    """Nothing is worth a split; LightGBM then leaves trees out, and would say so in other ways."""
    state = trained(trees, 3, 2, targets=np.zeros((3, N_ROWS), np.float32))
    assert not predicted(trees, state).any()
    assert_same(trees, trees.from_arrays(trees.to_arrays(state), 3, N_FEATURES), state)


def test_a_table_that_cannot_be_split_is_predicted_as_zero(name):
    learner = LEARNERS[name]({}, 1)
    data = TrainingData.from_rows(np.zeros((5, 2), np.float32))
    targets = np.array([[-1.0, 1.0, 0.0, 0.5, -0.5]], np.float32)
    state = trained(learner, 3, 2, keys=KEYS[:1], data=data, targets=targets)
    outputs = learner.predict(state, np.ones((4, 2), np.float32))
    assert outputs.shape == (1, 4, 1)
    assert np.abs(outputs).max() < 0.2
    again = learner.from_arrays(learner.to_arrays(state), 1, 2)
    np.testing.assert_array_equal(learner.predict(again, np.ones((4, 2), np.float32)), outputs)


def test_far_rows_are_predicted_like_the_outermost(trees):
    state = trained(trees, 10)
    far = np.array([[np.inf] * N_FEATURES, [1e30] * N_FEATURES], np.float32)
    outputs = trees.predict(state, far)
    np.testing.assert_array_equal(outputs[:, 0], outputs[:, 1])


def test_missing_inputs_are_refused(trees):
    with pytest.raises(ValueError, match="some inputs are NaN"):
        trees.predict(trained(trees, 2), np.full((1, N_FEATURES), np.nan, np.float32))


def test_no_rows_have_no_predictions(trees):
    assert trees.predict(trained(trees, 2), rows()[0][:0]).shape == (3, 0, 1)


def test_a_state_travels_between_processes(trees):
    learner, state = pickle.loads(pickle.dumps((trees, trained(trees, 5))))  # noqa: S301
    assert_same(learner, state, trained(trees, 5))


# Parameters.


@pytest.mark.parametrize(
    ("parameter", "instead"),
    [
        ("seed", "random_state"),
        ("n_estimators", "max_epochs"),
        ("num_boost_round", "max_epochs"),
        ("num_threads", "n_jobs"),
        ("nthread", "n_jobs"),
        ("objective", "squared error"),
        ("base_score", "standardised"),
        ("sample_weight", "to `fit`"),
        ("tree_method", "histograms"),
    ],
)
def test_parameters_that_confide_controls_are_refused(name, parameter, instead):
    with pytest.raises(ValueError, match=f"cannot set '{parameter}' of {name}.*{instead}"):
        LEARNERS[name]({parameter: 3})


def test_a_mistyped_parameter_is_answered_with_the_nearest(name):
    with pytest.raises(ValueError, match=r"got 'max_detph'\. Did you mean 'max_depth'"):
        LEARNERS[name]({"max_detph": 3})


def test_a_parameter_given_by_two_names_is_refused(name):
    with pytest.raises(ValueError, match=f"sets 'learning_rate' of {name} twice"):
        LEARNERS[name]({"learning_rate": 0.1, "eta": 0.2})


@pytest.mark.parametrize("share", [0, 1.5, "half"])
def test_shares_are_checked(name, share):
    parameter = {"xgboost": "subsample", "lightgbm": "bagging_fraction"}[name]
    with pytest.raises(ValueError, match=rf"`{parameter}` must lie in \(0, 1\], got {share!r}"):
        LEARNERS[name]({parameter: share})


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("monotone_constraints", (1, 0, 0)),
        ("monotone_constraints", "(1, 0, 0, 0, 0)"),
        ("monotone_constraints", 1),
        ("monotone_constraints", "increasing"),
        ("monotone_constraints", (2, 0, 0, 0)),
        ("interaction_constraints", [[0, 1], [2]]),
        ("interaction_constraints", [[0, 1], [2, 3, 4]]),
        ("interaction_constraints", [0, 1, 2, 3]),
    ],
)
def test_constraints_that_could_fall_on_other_columns_are_refused(name, parameter, value):
    """As on a table with categories, whose columns the trees see encoded."""
    learner = LEARNERS[name]({parameter: value}, 1)
    with pytest.raises(ValueError, match=f"`{parameter}` must .*the 4 columns .*categories"):
        trained(learner, 2)


def test_constraints_may_be_text_as_the_libraries_read_it(name):
    as_text, as_tuples = (
        LEARNERS[name]({"monotone_constraints": signs, "interaction_constraints": groups}, 1)
        for signs, groups in (
            ("(1, 0, -1, 0)", "[[0, 1], [2, 3]]"),
            (np.array([1, 0, -1, 0]), ((0, 1), (2, 3))),
        )
    )
    assert_same(as_text, trained(as_text, 3), trained(as_tuples, 3))


@pytest.mark.parametrize("parameters", [{"max_bin": 1}, {"max_depth": "deep"}])
def test_what_a_library_refuses_is_said_in_plain_words(name, parameters):
    with pytest.raises(ValueError, match=f"{name} refused to train with") as caught:
        trained(LEARNERS[name](parameters, 1), 2)
    message = str(caught.value)
    assert f"learner_parameters={parameters}. It says: " in message
    assert not re.search(r"Stack trace|\.cpp|\.cc|\n", message)


def test_a_sample_without_rows_is_refused_by_lightgbm():
    pytest.importorskip("lightgbm", reason=REASON)
    learner = LEARNERS["lightgbm"]({"subsample": 0.001}, 1)
    with pytest.raises(ValueError, match=r"`bagging_fraction` 0\.001 of 90 rows is none"):
        trained(learner, 2)


def test_parameters_override_the_defaults_by_any_of_their_names(name):
    by_name, by_alias = (LEARNERS[name]({word: 0.4}) for word in ("learning_rate", "eta"))
    assert_same(by_name, trained(by_name, 3), trained(by_alias, 3))
    default = LEARNERS[name]()
    assert not np.array_equal(
        predicted(default, trained(default, 3)), predicted(by_name, trained(by_name, 3))
    )


def test_every_name_is_known_to_the_library(name, capfd):
    """A name that a library does not read would be a setting without effect."""
    values = {
        "grow_policy": "lossguide",
        "monotone_constraints_method": "advanced",
        "interaction_constraints": [[0, 1], [2, 3]],
        "monotone_constraints": (1, 0, 0, 0),
        "max_leaves": 5,
        "num_leaves": 5,
        "max_bin": 16,
        "extra_trees": True,
    }
    parameters = {word: values.get(word, 1) for word in LEARNERS[name].names}
    learner = LEARNERS[name](parameters, 1)
    trained(learner, 2, keys=KEYS[:1])
    # From other threads than the first, XGBoost warns there.
    assert capfd.readouterr() == ("", "")
    if name == "lightgbm":
        from lightgbm.basic import _ConfigAliases

        for word, aliases in learner.names.items():
            assert {word, *aliases} <= _ConfigAliases.get(word)


@pytest.mark.slow
def test_a_missing_library_is_an_error_that_says_how_to_install_it(name):
    script = (
        f"import sys; sys.modules[{name!r}] = None\n"
        "from confide.learners import named_learner\n"
        f"named_learner({name!r}, None, None)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=False, text=True
    )
    assert f"This needs {name}" in done.stderr
    assert "pip install 'confide[boosting]'" in done.stderr


@pytest.mark.slow
def test_neither_library_is_loaded_before_it_is_needed(name):
    other = {"xgboost": "lightgbm", "lightgbm": "xgboost"}[name]
    script = (
        "import sys, confide.learners, confide.learners.boosted_trees\n"
        f"loaded = [m for m in ({name!r}, {other!r}) if m in sys.modules]\n"
        f"confide.learners.named_learner({name!r}, None, None)\n"
        f"print(loaded, {other!r} in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True
    )
    assert done.stdout.strip() == "[] False"


# Files.


def saved(name: str) -> tuple:
    learner = named_learner(name, SAMPLING[name], 1)
    state = trained(learner, 4, keys=KEYS[:1])
    return learner, state, learner.to_arrays(state)["0"].tobytes().decode()


def loaded(learner, text: str):
    return learner.from_arrays({"0": np.frombuffer(text.encode(), np.uint8)}, 1, N_FEATURES)


def test_arrays_round_trip_bit_for_bit(trees):
    state = trained(trees, 10)
    arrays = trees.to_arrays(state)
    assert {array.dtype.name for array in arrays.values()} == {"uint8"}
    assert_same(trees, trees.from_arrays(arrays, 3, N_FEATURES), state)


def test_the_text_is_the_librarys_own(name):
    learner, state, text = saved(name)
    X, _ = rows()
    if name == "xgboost":
        import xgboost

        means = xgboost.Booster(model_file=bytearray(text, "ascii")).inplace_predict(X)
    else:
        import lightgbm

        means = lightgbm.Booster(model_str=text).predict(X)
    np.testing.assert_array_equal(means, predicted(learner, state)[0, :, 0])


XGBOOST_DAMAGE = {
    "cut": lambda text: text[: len(text) // 2],
    "empty": lambda _: "",
    "no object": lambda _: "[]",
    "deeply nested": lambda _: "[" * 100_000,
    "other features": lambda text: text.replace('"num_feature":"4"', '"num_feature":"5"'),
    "another booster": lambda text: text.replace("gbtree", "gblinear"),
    "another objective": lambda text: text.replace("reg:squarederror", "reg:logistic"),
    "a key twice": lambda text: text.replace('"attributes":{}', '"attributes":{},"attributes":{}'),
    "an unknown key": lambda text: text.replace('"attributes":{}', '"attributes":{"a":"b"}'),
    "a blank": lambda text: text + " ",
    "categories": lambda text: text.replace('"categories":[]', '"categories":[1]', 1),
    "more trees": lambda text: text.replace('"num_trees":"4"', '"num_trees":"999999999"'),
}
LIGHTGBM_DAMAGE = {
    "cut": lambda text: text[: len(text) // 2],
    "empty": lambda _: "",
    "other features": lambda text: text.replace("max_feature_idx=3", "max_feature_idx=9"),
    "another objective": lambda text: text.replace("objective=regression", "objective=binary"),
    "categories": lambda text: text.replace("num_cat=0", "num_cat=1", 1),
    "linear trees": lambda text: text.replace("is_linear=0", "is_linear=1", 1),
    "more leaves": lambda text: text.replace("num_leaves=", "num_leaves=9", 1),
    "sizes": lambda text: text.replace("tree_sizes=", "tree_sizes=9", 1),
    "a line more": lambda text: text.replace("num_cat=0\n", "num_cat=0\ncat_threshold=1\n", 1),
    "a line twice": lambda text: text.replace("num_cat=0\n", "num_cat=0\nnum_cat=0\n", 1),
    "parameters": lambda text: text + "\nparameters:\n[boosting: gbdt]\nend of parameters\n",
    "not ascii": lambda text: text + "é",
    "infinite leaf": lambda text: re.sub(r"leaf_value=\S+", "leaf_value=inf", text, count=1),
    "huge leaf": lambda text: re.sub(r"leaf_value=\S+", "leaf_value=1e999", text, count=1),
    "long leaf": lambda t: re.sub("leaf_value=", f"leaf_value={'0' * 999}", t, count=1),
    "feature": lambda text: re.sub(r"split_feature=\S+", "split_feature=4", text, count=1),
    "negative feature": lambda text: re.sub("split_feature=", "split_feature=-", text, count=1),
    "a cycle": lambda text: re.sub(r"left_child=\S+", "left_child=0", text, count=1),
    "a child out of range": lambda text: re.sub(r"left_child=\S+", "left_child=99", text, count=1),
    "a leaf out of range": lambda t: re.sub(r"(left_child=.*?)-\d+", r"\1-99", t, count=1),
    "a leaf twice": lambda t: re.sub(r"(right_child=.*-)(\d+)(.*)-\d+", r"\1\2\3-\2", t, count=1),
    "a node less": lambda text: re.sub(r"threshold=\S+ ", "threshold=", text, count=1),
}


@pytest.mark.parametrize("damage", XGBOOST_DAMAGE.values(), ids=XGBOOST_DAMAGE)
def test_damaged_text_of_xgboost_is_refused(damage):
    pytest.importorskip("xgboost", reason=REASON)
    learner, _, text = saved("xgboost")
    assert damage(text) != text
    with pytest.raises(ValueError, match=r"."):
        loaded(learner, damage(text))


@pytest.mark.parametrize("damage", LIGHTGBM_DAMAGE.values(), ids=LIGHTGBM_DAMAGE)
def test_damaged_text_of_lightgbm_is_refused(damage):
    pytest.importorskip("lightgbm", reason=REASON)
    learner, _, text = saved("lightgbm")
    assert damage(text) != text
    with pytest.raises(ValueError, match=r"."):
        loaded(learner, damage(text))


@pytest.mark.parametrize(
    ("part", "node", "value", "reason"),
    [
        ("left_children", 0, 0, "out of order"),
        ("left_children", 0, 99_999, "out of order"),
        ("left_children", 1, 1, "out of order"),
        ("right_children", 0, 1, "out of order"),
        ("left_children", 0, -1, "one child"),
        ("left_children", 0, 1.0, "not whole numbers"),
        ("left_children", 0, True, "not whole numbers"),
        ("left_children", 0, 10**30, "not whole numbers"),
        ("split_indices", 0, N_FEATURES, "does not have"),
        ("split_indices", 0, -1, "does not have"),
        ("split_conditions", 0, 1e39, "not finite"),
        ("split_conditions", 0, float("nan"), "not finite"),
        ("split_conditions", 0, "1", "not numbers"),
        ("split_conditions", 0, 1, "not numbers"),
        ("parents", 1, 7, "more than trees"),
        ("split_type", 0, 1, "more than trees"),
        ("default_left", 0, 1, "more than trees"),
    ],
)
def test_damaged_trees_of_xgboost_are_refused(part, node, value, reason):
    pytest.importorskip("xgboost", reason=REASON)
    learner, _, text = saved("xgboost")
    model = json.loads(text)
    model["learner"]["gradient_booster"]["model"]["trees"][1][part][node] = value
    with pytest.raises(ValueError, match=reason):
        loaded(learner, json.dumps(model, separators=(",", ":")))


def test_another_number_of_models_or_another_type_is_refused(trees):
    arrays = trees.to_arrays(trained(trees, 2))
    with pytest.raises(ValueError, match="3 models for 2 members"):
        trees.from_arrays(arrays, 2, N_FEATURES)
    with pytest.raises(ValueError, match="array '0' is missing"):
        trees.from_arrays({**dict(list(arrays.items())[1:]), "x": arrays["0"]}, 3, N_FEATURES)
    with pytest.raises(ValueError, match="must be uint8"):
        trees.from_arrays(arrays | {"1": np.zeros(4)}, 3, N_FEATURES)


@pytest.mark.parametrize("too_deep", [False, True])
def test_a_tree_that_is_too_deep_is_refused(too_deep):
    n_splits = DEEPEST + 1 + too_deep
    left = np.arange(1, n_splits + 1)
    left[-1] = -1
    children = np.stack([left, np.full(n_splits, -2)])
    with pytest.raises(ValueError, match="deeper than") if too_deep else nullcontext():
        check_children(children, children < 0, n_splits)


def test_nodes_in_a_circle_beside_the_root_are_refused():
    children = np.array([[-1, 2, 1], [-2, -3, -4]])
    with pytest.raises(ValueError, match="out of order"):
        check_children(children, children < 0, 3)


# From end to end.


@pytest.fixture(scope="module")
def fitted(data):
    """A fitted estimator of each library that is there, made once."""
    made: dict[str, BootstrappedEnsembleRegressor] = {}

    def of(name: str) -> BootstrappedEnsembleRegressor:
        if name not in made:
            made[name] = BootstrappedEnsembleRegressor(
                name, {"learning_rate": 0.2}, n_members=3, max_epochs=20, random_state=1
            ).fit(*data)
        return made[name]

    return of


def test_both_intervals_and_the_split_of_uncertainty(name, fitted, data):
    X, y = data
    prediction = fitted(name).get_prediction(X)
    assert np.corrcoef(prediction.mean, y)[0, 1] > 0.9
    widths = [
        np.ptp(prediction.interval(kind, 0.9), axis=1) for kind in ("confidence", "prediction")
    ]
    assert np.all((widths[0] > 0) & (widths[0] <= widths[1]))
    for variance in (prediction.classical_variance, prediction.optimisation_variance):
        assert np.all(variance >= 0)
        assert variance.mean() > 0
    assert np.all(prediction.aleatoric_variance > 0)


def test_a_fit_repeats_itself_and_a_clone_is_not_fitted(name, fitted, data):
    again = clone(fitted(name))
    assert not hasattr(again, "fitted_")
    again.set_params(n_jobs=1).fit(*data)
    np.testing.assert_array_equal(again.predict(data[0]), fitted(name).predict(data[0]))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::confide.errors.CalibrationWarning")
def test_a_model_is_calibrated_both_ways_saved_and_loaded(name, data, tmp_path):
    X, y = data
    model = BootstrappedEnsembleRegressor(name, n_members=2, max_epochs=10, random_state=3)
    model.fit(X[:44], y[:44]).calibrate(X[44:], y[44:])
    model.calibrate_confidence(X[:44], y[:44], twin="forest", n_simulations=10)
    model.save(tmp_path / "model")
    again = confide.load(tmp_path / "model")
    for kind in ("confidence", "prediction"):
        np.testing.assert_array_equal(
            model.predict_interval(X, 0.8, kind)[1], again.predict_interval(X, 0.8, kind)[1]
        )
    assert again.get_params() == model.get_params()


def test_many_fits_equal_fits_alone(name, fitted, data):
    X, y = data
    model = fitted(name)
    first, _ = model.fit_many(X, np.stack([y, y[::-1]]), [1, 2])
    np.testing.assert_array_equal(first.predict(X), model.predict(X))


@pytest.mark.slow
def test_coverage_check_runs_on_boosted_trees(name, data):
    model = BootstrappedEnsembleRegressor(name, n_members=2, max_epochs=10)
    report = confide.coverage_check(model, *data, n_simulations=3, random_state=0)
    assert str(report)
