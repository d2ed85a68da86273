"""Truths fitted to a data set, by name."""

from typing import Any

from confide.named import Named
from confide.simulate.gradient_boosting import GradientBoostingTruth
from confide.simulate.network import NetworkTruth
from confide.simulate.random_forest import RandomForestTruth

TWINS: Named[Any] = Named(
    "twin",
    {
        "random_forest": RandomForestTruth.from_data,
        "gradient_boosting": GradientBoostingTruth.from_data,
        "network": lambda X, y, **how: NetworkTruth.from_data(X, y, random_state=0, **how),
    },
)
