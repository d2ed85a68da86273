"""Learners by name."""

from collections.abc import Mapping
from typing import Any

from confide.errors import nearest
from confide.learners.networks import n_threads
from confide.learners.protocol import Learner, require_learner

LEARNERS = ("xgboost", "lightgbm")


def named_learner(
    learner: str | Learner[Any], parameters: Mapping[str, Any] | None, n_jobs: int | None
) -> Learner[Any]:
    """The learner of that name, or the learner itself.

    Args:
        learner: a name, or a learner.
        parameters: those of the named library, under the names that it gives them.
        n_jobs: number of threads, or None for one per core.

    Returns:
        The learner.
    """
    if not isinstance(learner, str):
        if parameters is not None:
            raise ValueError(
                "`learner_parameters` needs a learner by name, but `learner` is your own. Set its "
                "parameters when you make it."
            )
        return require_learner(learner)
    if learner not in LEARNERS:
        raise ValueError(
            f"`learner` must be one of {LEARNERS} or a confide.learners.Learner, got {learner!r}. "
            f"{nearest(learner, LEARNERS)}".rstrip()
        )
    if not isinstance(parameters, Mapping | None):
        raise TypeError(
            f"`learner_parameters` must be a dictionary such as {{'max_depth': 3}}, got "
            f"{parameters!r}."
        )
    from confide.learners import boosted_trees

    return boosted_trees.LEARNERS[learner](dict(parameters or {}), n_threads(n_jobs))
