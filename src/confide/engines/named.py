"""Engines by name."""

from typing import Any

from confide.engines.in_process import InProcess
from confide.engines.joblib_jobs import Joblib
from confide.engines.protocol import Engine
from confide.engines.ray_cluster import RayCluster
from confide.errors import nearest

ENGINES = ("in-process", "joblib", "ray")


def named_engine(engine: "str | Engine | None", address: str | None = None) -> Engine:
    """The engine of that name, or the engine itself; None is this process.

    Args:
        engine: "in-process", "joblib", "ray", or an engine.
        address: of a Ray cluster.

    Example:
        >>> named_engine("joblib")
        Joblib(n_jobs=-1)
    """
    if isinstance(engine, type):  # it has the methods of an engine, but is none
        raise TypeError(
            f"`engine` must be an engine, got the class {engine.__name__}. Pass "
            f"{engine.__name__}(), or one of {ENGINES}."
        )
    if isinstance(engine, Engine):
        return engine
    made: dict[Any, Any] = {
        None: InProcess,
        "in-process": InProcess,
        "joblib": lambda: Joblib(-1),
        "ray": lambda: RayCluster(address),
    }
    if not isinstance(engine, str | None) or engine not in made:
        raise ValueError(
            f"`engine` must be one of {ENGINES} or a confide.engines.Engine, got {engine!r}. "
            f"{nearest(str(engine), ENGINES)}".rstrip()
        )
    return made[engine]()
