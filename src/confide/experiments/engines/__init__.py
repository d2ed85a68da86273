"""Engines: what runs an experiment's cells."""

from confide.experiments.engines.in_process import InProcess
from confide.experiments.engines.protocol import Engine, Observer
from confide.experiments.engines.ray_cluster import LostCellError, RayCluster

__all__ = ["Engine", "InProcess", "LostCellError", "Observer", "RayCluster"]
