"""Engines: what runs an experiment's cells."""

from confide.experiments.engines.in_process import InProcess
from confide.experiments.engines.protocol import Engine, Observer

__all__ = ["Engine", "InProcess", "Observer"]
