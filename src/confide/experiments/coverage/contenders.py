"""The methods as rows of the paper's tables: as published, and as their inventors describe them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from confide.estimators import ESTIMATORS
from confide.methods import REGISTRY

DESCRIBED, PUBLISHED = "as described", "as published"


@dataclass(frozen=True)
class Contender:
    """A method in one of its variants.

    Attributes:
        method: the paper's short name.
        variant: "as published": with the settings of the code that the paper's tables were made
            with; "as described": the method as its inventors describe it and confide's default.
        estimator: its name in `ESTIMATORS`.
        parameters: arguments of the estimator that differ from the paper's recipe.
        targets: what it is trained on. Only the published naive bootstrap saw the "real" ones.
        per_level: whether it is trained for one level at a time.
        cost: seconds for a row and epoch of one network, relative to the plain ones.
    """

    method: str
    variant: str
    estimator: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    targets: Literal["simulated", "real"] = "simulated"
    per_level: bool = False
    cost: float = 1.0

    @property
    def name(self) -> str:
        """For files."""
        return f"{self.method}-{self.variant}".replace(" ", "-")


def _both(
    method: str,
    estimator: str,
    *,
    published_targets: Literal["simulated", "real"] = "simulated",
    **how: Any,
) -> tuple[Contender, Contender]:
    published = dict(REGISTRY[ESTIMATORS[estimator].method.NAME].AS_PUBLISHED)
    return (
        Contender(method, PUBLISHED, estimator, published, published_targets, **how),
        Contender(method, DESCRIBED, estimator, **how),
    )


# Costs are our own measurement on two cores, for the time that is left.
CONTENDERS = (
    *_both("BDE", "BootstrappedDeepEnsembleRegressor"),
    Contender("DE", DESCRIBED, "DeepEnsembleRegressor"),
    *_both("NB", "NaiveBootstrapRegressor", published_targets="real"),
    *_both("CD", "ConcreteDropoutRegressor", cost=8.0),
    *_both("QDE", "QualityDrivenEnsembleRegressor", per_level=True, cost=1.3),
)
