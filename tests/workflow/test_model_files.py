"""Model files from strangers: every field of every JSON part, with values of every other type."""

import copy
import dataclasses
import itertools

import numpy as np
import pyarrow as pa
import pytest

from confide import BootstrappedDeepEnsembleRegressor, ModelFileError, load
from confide.estimators.files import FORMAT, FORMAT_VERSION
from confide.persistence import Container
from confide.workflow import described, fit_table

# One of each type, and those that convert to numbers with an error of their own.
HOSTILE = [None, True, -1, 10**400, 0.5, float("nan"), "x", [], [[]], {}, {"a": 1}]
# The parts that this file is about; the constructor's arguments have tests of their own.
PARTS = ("attachments", "n_features", "feature_names", "estimator")


@pytest.fixture(scope="module")
def container(tmp_path_factory):
    """A model with all that a file can hold: columns, both calibrations, its table."""
    generator = np.random.default_rng(0)
    x = generator.normal(size=120)
    table = pa.table(
        {
            "x": pa.array(x, mask=np.arange(120) % 10 == 0),
            "colour": generator.choice(["red", "green"], 120),
            "day": pa.array(np.arange(120).astype("datetime64[D]")),
            "id": [f"row {i}" for i in range(120)],
            "y": 2 * x + generator.normal(0, 0.3, 120),
        }
    )
    how = {
        "recipe": "paper",
        "n_members": 2,
        "hidden_layer_sizes": (4,),
        "max_epochs": 3,
        "random_state": 0,
    }
    fitted = fit_table(
        table,
        "y",
        BootstrappedDeepEnsembleRegressor(**how),
        file="t.csv",
        calibrate_confidence=True,
        n_simulations=10,
    )
    path = tmp_path_factory.mktemp("model") / "model.confide"
    fitted.model.save(path)
    return Container.read(path, format=FORMAT, versions=[FORMAT_VERSION])


def places(value, path=()):
    """The ways to every value of a JSON document; of a long list only to its first entries."""
    yield path
    if isinstance(value, dict):
        for name in value:
            yield from places(value[name], (*path, name))
    elif isinstance(value, list):
        for i in range(min(len(value), 2)):
            yield from places(value[i], (*path, i))


def changed(header, path, value):
    header = copy.deepcopy(header)
    inside = header
    for name in path[:-1]:
        inside = inside[name]
    inside[path[-1]] = value
    return header


@pytest.mark.slow
def test_a_field_of_another_type_is_refused_or_harmless(container, tmp_path, without_type_checker):
    parts = {name: container.header[name] for name in PARTS}
    paths = [path for path in places(parts) if path]
    assert len(paths) > 50
    refused = 0
    for path, value in zip(paths, itertools.cycle(HOSTILE)):  # each in turn: a load takes a while
        header = changed(container.header, path, value)
        dataclasses.replace(container, header=header).write(tmp_path / "model.confide")
        try:
            description = described(load(tmp_path / "model.confide"))
            assert str(description), path
            assert description.to_json(), path
        except ModelFileError:
            refused += 1
        except Exception as error:
            raise AssertionError(f"{path} = {value!r:.20}: {error!r}") from error
    assert refused > 0.8 * len(paths)


@pytest.mark.slow
def test_a_kind_of_twin_that_is_no_text_is_refused(container, tmp_path):
    path = ("attachments", "confidence_calibration", "summary", "resemblances", 0, "kind")
    header = changed(container.header, path, 3)
    dataclasses.replace(container, header=header).write(tmp_path / "model.confide")
    with pytest.raises(ModelFileError, match="kind is of the wrong type: 3"):
        load(tmp_path / "model.confide")


def with_judged(container, path, change):
    """A model whose file has other numbers of the held-out rows."""
    header = copy.deepcopy(container.header)
    change(header["attachments"]["training_table"]["judged"])
    dataclasses.replace(container, header=header).write(path)
    return load(path)


@pytest.mark.parametrize("name", ["rows", "rmse", "coverage_90_se"])
def test_numbers_that_lack_what_they_are_told_with_are_refused(container, tmp_path, name):
    model = with_judged(container, tmp_path / "model.confide", lambda judged: judged.pop(name))
    with pytest.raises(ModelFileError, match=f"does not fit together.*{name}"):
        described(model)


@pytest.mark.parametrize("number", [{"coverage_x": 0.5}, {"rows": float("inf")}])
def test_numbers_that_cannot_be_told_are_refused(container, tmp_path, number):
    model = with_judged(container, tmp_path / "model.confide", lambda judged: judged.update(number))
    with pytest.raises(ModelFileError, match="does not fit together"):
        described(model)
