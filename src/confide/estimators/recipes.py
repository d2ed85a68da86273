"""Recipes: which networks, and how they are trained, under one name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from confide.checks import require_choice
from confide.learners import PAPER, TABULAR

# Of a training whose length is left to the recipe: a long table then takes fewer passes.
MOST_STEPS = 12_000
# Each at a tenth of the rate before.
MOST_RESTARTS = 3
RECIPES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "tabular": MappingProxyType({**TABULAR, "max_epochs": 128, "retrain_fraction": 0.5}),
        "paper": MappingProxyType({**PAPER, "max_epochs": 80, "retrain_fraction": 0.3}),
    }
)
"""What arguments of the estimators are where they are left at None.

"paper" has all of the paper's settings (Section 4.2), bit for bit.
"""


def with_recipe(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of an estimator, with its recipe's values in place of None.

    A network of the user's own is trained as the paper's, unless arguments say otherwise.
    """
    if "recipe" not in arguments:
        return dict(arguments)
    require_choice("recipe", arguments["recipe"], tuple(RECIPES))
    recipe, network = arguments["recipe"], arguments["network"]
    if isinstance(network, str) and network in RECIPES:  # a recipe's network, by name
        recipe = network
    elif network is not None:
        recipe = "paper"
    given = {name: value for name, value in arguments.items() if value is not None}
    of_recipe = {name: value for name, value in RECIPES[recipe].items() if name in arguments}
    return {**arguments, **of_recipe, **given}
