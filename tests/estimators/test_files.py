"""Model files: the same bits back, nothing executed, every damage refused, no half-written file."""

import errno
import json
import os
import pickle
import re
import signal
import struct
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import safetensors
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load as arrays_of
from safetensors.numpy import save as to_bytes
from support.aliens import Fake

import confide
from confide import BootstrappedDeepEnsembleRegressor, DeepEnsembleRegressor, ModelFileError
from confide.errors import WouldOverwriteError
from confide.estimators import ESTIMATORS
from confide.persistence import Container

pytestmark = pytest.mark.usefixtures("without_type_checker")


@pytest.fixture(scope="module")
def saved(tmp_path_factory, bootstrapped):
    path = tmp_path_factory.mktemp("saved") / "model"
    bootstrapped.save(path)
    return path


@pytest.fixture(scope="module")
def header(saved):
    with safetensors.safe_open(saved, framework="np") as file:
        return json.loads(file.metadata()["header"])


@pytest.fixture
def rewritten(saved, header, tmp_path):
    """Writes the saved model with another header, arguments or arrays (None leaves one out)."""

    def write(arguments=(), arrays=(), raw_header=None, **changes):
        parameters = {**header["parameters"], **dict(arguments)}
        contents = {**header, "parameters": parameters, **changes}
        kept = {**arrays_of(saved.read_bytes()), **dict(arrays)}
        kept = {name: array for name, array in kept.items() if array is not None}
        text = json.dumps(contents) if raw_header is None else raw_header
        path = tmp_path / "rewritten"
        path.write_bytes(to_bytes(kept, {"header": text}))
        return path

    return write


def assert_same_answers(again, original, X):
    for kind in ("confidence", "prediction"):
        ours, theirs = (m.predict_interval(X, [0.5, 0.9], kind) for m in (again, original))
        np.testing.assert_array_equal(ours[0], theirs[0])
        np.testing.assert_array_equal(ours[1], theirs[1])
    np.testing.assert_array_equal(*(m.predict(X, return_std=True)[1] for m in (again, original)))


def assert_refused(path, match):
    """The file is refused with these words, in less than a second and a few megabytes."""
    tracemalloc.start()
    start = time.process_time()
    with pytest.raises(ModelFileError) as caught:
        confide.load(path)
    seconds, peak = time.process_time() - start, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(caught.value, ValueError)
    before, after = str(caught.value).split(str(path))
    assert re.search(match, before + after)
    assert seconds < 1
    assert peak < 10e6


# There and back


def test_a_loaded_model_gives_the_same_bits(model, data, tmp_path):
    model.save(tmp_path / "model")
    again = confide.load(tmp_path / "model")
    assert type(again) is type(model)
    assert_same_answers(again, model, data[0])


def test_a_loaded_model_has_the_same_arguments(model, tmp_path):
    model.save(str(tmp_path / "model"))
    again = confide.load(str(tmp_path / "model"))
    assert again.get_params() == model.get_params()
    assert again.n_features_in_ == 3
    assert not hasattr(again, "feature_names_in_")


@pytest.mark.parametrize("n_retrains", [1, 3])
@pytest.mark.parametrize("variant", [{}, BootstrappedDeepEnsembleRegressor.method.AS_PUBLISHED])
def test_every_form_of_retraining_is_kept(data, small, tmp_path, variant, n_retrains):
    model = BootstrappedDeepEnsembleRegressor(**small, **variant, n_retrains=n_retrains).fit(*data)
    model.save(tmp_path / "model")
    assert_same_answers(confide.load(tmp_path / "model"), model, data[0])


def test_a_single_network_is_kept(data, small, tmp_path):
    model = DeepEnsembleRegressor(**{**small, "n_members": 1}).fit(*data)
    model.save(tmp_path / "model")
    again = confide.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(data[0]), model.predict(data[0]))


@pytest.mark.parametrize("sizes", [4, np.int64(4), [4], np.array([4])], ids=repr)
def test_any_spelling_of_the_hidden_layers_is_kept(data, small, tmp_path, sizes):
    model = DeepEnsembleRegressor(**{**small, "hidden_layer_sizes": sizes}).fit(*data)
    model.save(tmp_path / "model")
    again = confide.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(data[0]), model.predict(data[0]))


def test_arguments_of_numpy_are_kept_as_numbers(data, small, tmp_path):
    changes = {"learning_rate": np.float64(0.05), "max_epochs": np.int64(2), "verbose": np.False_}
    DeepEnsembleRegressor(**{**small, **changes}).fit(*data).save(tmp_path / "model")
    again = confide.load(tmp_path / "model")
    assert (again.learning_rate, again.max_epochs, again.verbose) == (0.05, 2, False)


def test_a_generator_of_random_numbers_is_not_kept(data, small, tmp_path):
    generator = np.random.RandomState(0)
    model = DeepEnsembleRegressor(**{**small, "random_state": generator}).fit(*data)
    model.save(tmp_path / "model")
    assert confide.load(tmp_path / "model").random_state is None


def test_names_of_features_are_kept_and_held_to(data, table, small, tmp_path):
    DeepEnsembleRegressor(**small).fit(table, data[1]).save(tmp_path / "model")
    again = confide.load(tmp_path / "model")
    assert again.feature_names_in_.tolist() == ["age", "bmi", "dose"]
    with pytest.raises(ValueError, match="names should match those that were passed during fit"):
        again.predict(table.rename(columns={"bmi": "weight"}))


def test_a_loaded_model_can_be_fitted_again(saved, bootstrapped, data):
    again = confide.load(saved).fit(*data)
    np.testing.assert_array_equal(again.predict(data[0]), bootstrapped.predict(data[0]))


def test_a_loaded_model_can_be_saved_again_to_the_same_bytes(saved, tmp_path):
    confide.load(saved).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == saved.read_bytes()


# What is no model


def test_a_missing_file_is_a_missing_file(tmp_path):
    (tmp_path / "the-model").touch()
    with pytest.raises(FileNotFoundError, match=r"no file .*Did you mean 'the-model'\?.*`save`"):
        confide.load(tmp_path / "a-model")


def test_an_existing_file_is_replaced_only_if_asked(bootstrapped, plain, tmp_path):
    path = tmp_path / "model"
    bootstrapped.save(path)
    before = path.read_bytes()
    with pytest.raises(WouldOverwriteError, match=r"model already exists. Pass overwrite=True"):
        plain.save(str(path))
    assert path.read_bytes() == before
    plain.save(path, overwrite=True)
    assert isinstance(confide.load(path), DeepEnsembleRegressor)
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"price,area\n1,2\n", "text, such as a table in CSV"),
        (b"PAR1\x15\x04", "a table in Parquet"),
        (b"ARROW1\0\0", "a table in Arrow"),
        (b"PK\3\4\x14\0", "a zip archive"),
        (bytes(1000), "filled with zeros"),
    ],
)
def test_what_is_no_model_is_named(tmp_path, content, what):
    path = tmp_path / "houses"
    path.write_bytes(content)
    assert_refused(path, f"is {what}.*not a confide model. Pass a file.*model first")


@pytest.mark.parametrize("length", [0x80, 0x0480])
def test_a_header_whose_length_looks_like_a_pickle_is_read_on(tmp_path, length):
    path = tmp_path / "model"
    path.write_bytes(length.to_bytes(8, "little") + b"{}".ljust(length))
    assert_refused(path, "its header does not say so")


def test_a_folder_is_refused_as_a_folder(tmp_path):
    assert_refused(tmp_path, "is a folder.*pass a file that `save` wrote")


@pytest.mark.parametrize("content", [b"", b"\0\1", b"\xff" * 64, bytes(range(256)) * 8])
def test_foreign_bytes_are_refused(tmp_path, content):
    path = tmp_path / "foreign"
    path.write_bytes(content)
    assert_refused(path, "not a whole confide model.*pass a file that `save` wrote")


@given(seed=st.integers(0, 2**32 - 1), length=st.integers(0, 4096))
@settings(max_examples=30)
def test_random_bytes_are_refused(tmp_path_factory, seed, length):
    path = tmp_path_factory.getbasetemp() / "random"
    path.write_bytes(np.random.default_rng(seed).bytes(length))
    with pytest.raises(ModelFileError):
        confide.load(path)


class Malicious:
    """Its pickle creates a file when it is read."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return Path.touch, (self.marker,)


def test_a_pickle_is_refused_and_not_executed(tmp_path):
    path, marker = tmp_path / "pickle", tmp_path / "executed"
    path.write_bytes(pickle.dumps(Malicious(marker)))
    assert_refused(path, "is a Python pickle, not a confide model")
    assert not marker.exists()
    pickle.loads(path.read_bytes())  # noqa: S301
    assert marker.exists()  # so reading it as a pickle would have shown


def test_a_file_of_another_program_is_refused(tmp_path):
    path = tmp_path / "foreign"
    path.write_bytes(to_bytes({"weight": np.ones(3)}, {"format": "pt"}))
    assert_refused(path, "not a confide model: its header does not say so")


def sparse_file(path, metadata, dtype, shape, n_bytes):
    """A safetensors file of one array of zeros that takes no room on the disk."""
    array = {"dtype": dtype, "shape": shape, "data_offsets": [0, n_bytes]}
    text = json.dumps({"__metadata__": metadata, "weight": array}).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + n_bytes)
    return path


def test_a_large_file_of_another_program_is_refused_unread(tmp_path):
    path = tmp_path / "large"
    sparse_file(path, {"format": "pt"}, "F32", [25_000_000], 100_000_000)
    assert_refused(path, "not a confide model: its header does not say so")


@pytest.mark.parametrize("dtype", ["F8_E4M3", "F8_E5M2", "BF16"])
def test_a_type_of_number_that_numpy_does_not_know_is_refused(tmp_path, header, dtype):
    n_bytes = 8 if dtype == "BF16" else 4
    metadata = {"header": json.dumps(header)}
    path = sparse_file(tmp_path / "model", metadata, dtype, [4], n_bytes)
    assert_refused(path, "confide model|do not fit together")


# Damage


@pytest.mark.parametrize("share", [0.001, 0.3, 0.7, 0.999])
def test_a_truncated_file_is_refused(saved, tmp_path, share):
    content = saved.read_bytes()
    path = tmp_path / "truncated"
    path.write_bytes(content[: int(share * len(content))])
    assert_refused(path, "not a whole confide model.*may be truncated")


@given(data=st.data())
@settings(max_examples=100)
def test_a_file_truncated_anywhere_is_refused(saved, tmp_path_factory, data):
    content = saved.read_bytes()
    path = tmp_path_factory.getbasetemp() / "truncated-anywhere"
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    with pytest.raises(ModelFileError):
        confide.load(path)


def test_a_file_with_bytes_appended_is_refused(saved, tmp_path):
    path = tmp_path / "longer"
    path.write_bytes(saved.read_bytes() + b"\0")
    assert_refused(path, "not a whole confide model")


def loaded_or_refused(path):
    try:
        return confide.load(path)
    except ModelFileError:
        return None


@pytest.mark.slow
@given(draw=st.data(), byte=st.integers(0, 255))
@settings(max_examples=300)
def test_one_changed_byte_of_the_header_is_refused_or_harmless(
    saved, bootstrapped, data, tmp_path_factory, draw, byte
):
    content = bytearray(saved.read_bytes())
    end_of_header = 8 + struct.unpack("<Q", content[:8])[0]
    content[draw.draw(st.integers(0, end_of_header - 1))] = byte
    path = tmp_path_factory.getbasetemp() / "changed"
    path.write_bytes(content)
    again = loaded_or_refused(path)
    # A digit of an argument may change (its seed, say); what the model answers may not.
    if again is not None:
        assert_same_answers(again, bootstrapped, data[0][:4])


# Headers


def test_a_newer_format_is_refused_with_the_version_that_wrote_it(rewritten):
    path = rewritten(format_version=5, confide_version="9.9")
    reads = "this confide reads version 3 and 4"
    assert_refused(path, f"format version 5, and {reads}.*confide 9.9: install")


@pytest.mark.parametrize("text", ["{not json", "", "[1, 2]", "null", '"confide model"', "{}"])
def test_a_header_that_is_no_object_of_ours_is_refused(rewritten, text):
    assert_refused(rewritten(raw_header=text), "is not a (whole )?confide model")


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 100_000, '{"format": ' + 100_000 * "1" + "}"],
    ids=["lists", "objects", "digits"],
)  # fmt: skip
def test_a_header_made_to_exhaust_the_reader_is_refused(rewritten, text):
    assert_refused(rewritten(raw_header=text), "is not a whole confide model")


@pytest.mark.parametrize("name", ["Ridge", "os.system", "IntervalRegressor", ["a"], None])
def test_an_unknown_estimator_is_refused_by_its_name(rewritten, name):
    assert_refused(rewritten(estimator=name), f"estimator.*{name!s}".replace("[", r"\["))


@pytest.mark.parametrize("name", ["bogus", "self", "__class__"])
def test_an_unknown_argument_is_refused_by_its_name(rewritten, name):
    assert_refused(rewritten(arguments={name: 1}), f"do not fit together.*{name}")


@pytest.mark.parametrize("parameters", [None, [1], "n_members", {}])
def test_arguments_that_are_no_table_are_refused(rewritten, parameters):
    assert_refused(rewritten(parameters=parameters), "do not fit together")


@pytest.mark.parametrize(
    "arguments",
    [
        {"n_members": 10**12},
        {"n_members": -1},
        {"n_members": 2.0},
        {"n_members": 3},
        {"n_retrains": 10**12},
        {"hidden_layer_sizes": [10**9]},
        {"hidden_layer_sizes": [10**30]},
        {"hidden_layer_sizes": [2**31] * 3},
        {"hidden_layer_sizes": [-4]},
        {"hidden_layer_sizes": [5]},
        {"hidden_layer_sizes": []},
        {"hidden_layer_sizes": None},
        {"hidden_layer_sizes": [1] * 1000},
        {"hidden_layer_sizes": {"4": 4}},
        {"max_epochs": 10**400},
        {"learning_rate": "fast"},
        {"learning_rate": float("nan")},
        {"retrain_fraction": "all"},
        {"retrain_optimiser": "sgd"},
    ],
    ids=lambda arguments: str(arguments)[:40],
)
def test_hostile_arguments_are_refused_at_once(rewritten, arguments):
    assert_refused(rewritten(arguments=arguments), "do not fit together")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "arguments", "n_weights", "message"),
    [
        ("DeepEnsembleRegressor", {"hidden_layer_sizes": [1] * 4000}, 8006, "at most 32 layers"),
        ("ConcreteDropoutRegressor", {"n_passes": 100_000}, 33, "between 2 and 2000"),
        (
            "ConcreteDropoutRegressor",
            {"hidden_layer_sizes": [200, 200], "n_passes": 500},
            41_405,
            "`n_passes` times the 41000 weights must be at most 10000000",
        ),
    ],
    ids=["layers", "passes", "weights"],
)
def test_a_small_file_that_asks_for_endless_work_is_refused_at_once(
    data, small, tmp_path, estimator, arguments, n_weights, message
):
    known = ESTIMATORS[estimator]().get_params().keys() - {"n_members"}
    model = ESTIMATORS[estimator](**{name: small[name] for name in small.keys() & known}).fit(*data)
    model.save(tmp_path / "honest")
    file = Container.read(tmp_path / "honest", format="confide model", versions=[3])
    parameters = {**file.header["parameters"], **arguments}
    name = "members.weights"
    weights = np.zeros((len(file.arrays[name]), n_weights), np.float32)
    Container({**file.header, "parameters": parameters}, {**file.arrays, name: weights}).write(
        tmp_path / "hostile"
    )
    assert_refused(tmp_path / "hostile", message)


@pytest.mark.parametrize("n_features", [10**12, 10**30, 0, -3, 2, 3.0, "3", None, [3]])
def test_a_wrong_number_of_features_is_refused_at_once(rewritten, n_features):
    assert_refused(rewritten(n_features=n_features), "do not fit together")


@pytest.mark.parametrize("names", [["a", "b"], "abc", [1, 2, 3], {"a": 1, "b": 2, "c": 3}])
def test_wrong_names_of_features_are_refused(rewritten, names):
    assert_refused(rewritten(feature_names=names), "feature names do not match")


def test_names_of_features_are_words_and_nothing_more(data, small, tmp_path, table):
    names = ["../../evil", "/etc/passwd\0", "__import__('os').system('touch evil')"]
    odd = table.set_axis(names, axis=1)
    DeepEnsembleRegressor(**small).fit(odd, data[1]).save(tmp_path / "model")
    again = confide.load(tmp_path / "model")
    assert again.feature_names_in_.tolist() == names
    assert again.predict(odd).shape == (64,)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


# Arrays


WEIGHTS = ["members.weights", "retrained.weights"]


def said_of(name):
    """How a message names an array: that of a learner by whose it is, and the learner's name."""
    owner, _, own = name.partition(".")
    return f"of the {owner}, array '{own}'" if own else f"array '{name}'"


@pytest.mark.parametrize(
    "name", [*WEIGHTS, "retrained_scale", "x_mean", "x_scale", "y_mean_and_scale"]
)
def test_a_missing_array_is_named(rewritten, name):
    assert_refused(rewritten(arrays={name: None}), f"{said_of(name)} is missing")


@pytest.mark.parametrize("name", [*WEIGHTS, "retrained_location", "x_mean"])
def test_an_array_of_another_shape_is_named(rewritten, saved, name):
    array = arrays_of(saved.read_bytes())[name]
    path = rewritten(arrays={name: array[..., :-1]})
    assert_refused(path, f"{said_of(name)} must be .* of shape .*, but is .* of shape")


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.float16])
def test_an_array_of_another_type_is_named(rewritten, saved, dtype):
    array = arrays_of(saved.read_bytes())["members.weights"].astype(dtype)
    path, came = rewritten(arrays={"members.weights": array}), np.dtype(dtype).name
    assert_refused(path, f"of the members, array 'weights' must be float32.*is {came}")


@pytest.mark.parametrize("name", [*WEIGHTS, "retrained_scale", "x_mean", "x_scale"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_an_array_that_is_not_finite_is_named(rewritten, saved, name, value):
    array = arrays_of(saved.read_bytes())[name].copy()
    array[-1] = value
    assert_refused(rewritten(arrays={name: array}), f"{said_of(name)} holds values that are not")


@pytest.mark.parametrize("name", ["x_scale", "y_mean_and_scale", "retrained_scale"])
@pytest.mark.parametrize("value", [0.0, -1.0])
def test_a_scale_that_is_not_positive_is_refused(rewritten, saved, name, value):
    array = arrays_of(saved.read_bytes())[name].copy()
    array[-1] = value
    assert_refused(rewritten(arrays={name: array}), "scales must be positive")


@pytest.mark.parametrize("value", [1e200, 1e-200])
def test_a_scale_of_the_target_that_cannot_be_squared_is_refused(rewritten, value):
    array = np.array([0.0, value])
    assert_refused(rewritten(arrays={"y_mean_and_scale": array}), "a square that floats can hold")


def test_an_array_too_many_is_refused(rewritten):
    assert_refused(rewritten(arrays={"extra": np.ones(3)}), "not what was saved")


@pytest.mark.slow
@pytest.mark.parametrize("model", ESTIMATORS.values(), ids=ESTIMATORS)
def test_one_changed_weight_is_refused(model, data, tmp_path):
    path = tmp_path / "model"
    small = {"max_epochs": 4, "random_state": 0}
    how = {"learner": Fake()} if "learner" in model().get_params() else {"hidden_layer_sizes": (4,)}
    model(**small, **how).fit(*data).save(path)
    content = bytearray(path.read_bytes())
    content[-5] ^= 1  # the last array's last numbers
    path.write_bytes(content)
    own = {"learner": Fake()} if "learner" in how else {}
    with pytest.raises(ModelFileError, match="is damaged or was tampered with"):
        confide.load(path, **own)


def test_the_file_keeps_what_was_fitted_whatever_was_set_since(data, small, tmp_path):
    model = DeepEnsembleRegressor(**small).fit(*data)
    fitted = model.predict(data[0])
    model.set_params(n_members=7, max_epochs=1, verbose=True).save(tmp_path / "model")
    again = confide.load(tmp_path / "model")
    assert (again.n_members, again.max_epochs, again.verbose) == (2, 20, False)
    np.testing.assert_array_equal(again.predict(data[0]), fitted)


def test_a_header_with_another_estimator_is_refused(rewritten):
    assert_refused(rewritten(estimator="NaiveBootstrapRegressor"), "do not fit together")


def test_a_changed_header_is_refused(rewritten):
    assert_refused(rewritten(confide_version="0.0.1"), "not what was saved")


def test_a_header_without_checksum_is_refused(rewritten):
    assert_refused(rewritten(sha256=None), "not what was saved")


# Writing

SAVE_SLOWLY = """
import os, sys, time
import confide

def fsync(_):
    print("writing", flush=True)
    time.sleep(60)

model = confide.load(sys.argv[1]).set_params(random_state=1)
os.fsync = fsync
model.save(sys.argv[1], overwrite=True)
"""


@pytest.mark.slow
def test_a_save_killed_half_way_leaves_the_old_file_whole(bootstrapped, data, tmp_path):
    path = tmp_path / "model"
    bootstrapped.save(path)
    before = path.read_bytes()
    child = subprocess.Popen(
        [sys.executable, "-c", SAVE_SLOWLY, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "writing\n"
    child.kill()
    child.communicate()
    assert child.returncode == -signal.SIGKILL
    assert path.read_bytes() == before
    assert_same_answers(confide.load(path), bootstrapped, data[0])


def disk_full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(("owner", "step"), [(os, "fsync"), (Path, "replace")])
def test_a_save_that_fails_leaves_the_old_file_alone(
    bootstrapped, plain, data, tmp_path, monkeypatch, owner, step
):
    path = tmp_path / "model"
    bootstrapped.save(path)
    with monkeypatch.context() as patched:
        patched.setattr(owner, step, disk_full)
        with pytest.raises(OSError, match="No space left"):
            plain.save(path, overwrite=True)
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
    assert_same_answers(confide.load(path), bootstrapped, data[0])


def test_a_save_into_a_missing_folder_names_the_folder(plain, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no-such-folder'?$|folder .*no-such-folder"):
        plain.save(tmp_path / "no-such-folder" / "model")


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600)])
def test_a_model_gets_the_rights_of_an_ordinary_new_file(plain, tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        plain.save(tmp_path / "model")
        after = os.umask(umask)
    finally:
        os.umask(before)
    assert (tmp_path / "model").stat().st_mode & 0o777 == mode
    assert after == umask
