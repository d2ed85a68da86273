"""Recipes: which networks, and how they are trained, under one name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from confide.checks import require_choice
from confide.learners import PAPER, TABULAR

# Of a training whose length is left to the recipe: a long table then takes fewer passes.
MOST_STEPS = 12_000
# What leaves an argument to the recipe, where None has a meaning of its own.
LEFT = {"calibration": "recipe"}
# Each at a tenth of the rate before.
MOST_RESTARTS = 3
RECIPES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "tabular": MappingProxyType(
            {**TABULAR, "max_epochs": 128, "retrain_fraction": 0.75, "calibration": "twins"}
        ),
        "paper": MappingProxyType(
            {**PAPER, "max_epochs": 80, "retrain_fraction": 0.3, "calibration": None}
        ),
    }
)
"""What arguments of the estimators are where they are left at None, or at "recipe".

"paper" has all of the paper's settings (Section 4.2), bit for bit.
"""


def with_recipe(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of an estimator, with its recipe's values for what is left to it."""
    left = left_to_recipe(arguments)
    return {**arguments, **{name: RECIPES[_recipe(arguments)][name] for name in left}}


def left_to_recipe(arguments: Mapping[str, Any]) -> list[str]:
    """Names of arguments that are the recipe's: those at None, and a calibration at "recipe".

    The recipe "tabular" chooses epochs by itself: "auto" means the same there.
    """
    if "recipe" not in arguments:
        return []
    recipe = _recipe(arguments)
    names = [name for name in RECIPES[recipe] if name in arguments and name != "calibration"]
    left = [name for name in names if arguments[name] is None]
    if "calibration" in arguments:
        choices = (LEFT["calibration"], "twins", None)
        require_choice("calibration", arguments["calibration"], choices)
        left += ["calibration"] * (arguments["calibration"] == LEFT["calibration"])
    if recipe == "tabular" and str(arguments["max_epochs"]) == "auto":
        left.append("max_epochs")
    return left


def _recipe(arguments: Mapping[str, Any]) -> str:
    """A network of the user's own is trained as the paper's, unless arguments say otherwise."""
    recipe, network = arguments["recipe"], arguments["network"]
    require_choice("recipe", recipe, tuple(RECIPES))
    if network is None:
        return str(recipe)
    return network if isinstance(network, str) and network in RECIPES else "paper"
