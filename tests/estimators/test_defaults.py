"""Defaults that stand in two places are the same, and every argument is described."""

import inspect
from dataclasses import fields

import pytest

from confide.estimators import ESTIMATORS, RECIPES
from confide.learners import PAPER, networks

DEPARTURES = {
    # Rounds of boosting are shorter than passes over the data.
    ("BootstrappedEnsembleRegressor", "max_epochs"): 200,
}
estimators = pytest.mark.parametrize("name", ESTIMATORS)


def defaults(function):
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


@estimators
def test_defaults_are_those_of_the_settings(name):
    ours = defaults(ESTIMATORS[name])
    settings = {field.name: field.default for field in fields(ESTIMATORS[name].method.Settings)}
    shared = ours.keys() & settings.keys()
    assert {"max_epochs"} <= shared
    for argument in shared:
        expected = DEPARTURES.get((name, argument), settings[argument])
        if "recipe" in ours and argument in RECIPES["paper"]:
            assert RECIPES["paper"][argument] == expected
            expected = None  # the recipe's
        assert (argument, ours[argument]) == (argument, expected)


@estimators
def test_defaults_are_those_of_the_networks(name):
    ours, theirs = defaults(ESTIMATORS[name]), {**defaults(networks), **PAPER}
    for argument in ours.keys() & theirs.keys():
        expected = None if "recipe" in ours else theirs[argument]
        if argument not in RECIPES["paper"]:
            expected = theirs[argument]
        assert (argument, ours[argument]) == (argument, expected)


@estimators
def test_every_argument_is_one_of_the_settings_the_learner_or_all_estimators(name):
    ours = set(defaults(ESTIMATORS[name]))
    settings = {field.name for field in fields(ESTIMATORS[name].method.Settings)}
    known = {*settings, *defaults(networks), "learner", "learner_parameters"}
    known |= {
        "recipe",
        "calibration",
        "target_transform",
        "bounds",
        "engine",
        "verbose",
        "random_state",
    }
    assert ours <= known


@estimators
def test_every_argument_is_described_in_its_order(name):
    text = inspect.getdoc(ESTIMATORS[name])
    places = [text.index(f"\n    {argument}: ") for argument in defaults(ESTIMATORS[name])]
    assert places == sorted(places)
    assert text.index("\nArgs:\n") < places[0] < places[-1] < text.index("\nAttributes:\n")
    assert max(map(len, text.splitlines())) <= 100
