"""The nine benchmark sets by name. They are not part of confide: their licences differ."""

from confide.datasets.benchmark import NAMES, Dataset, load

__all__ = ["NAMES", "Dataset", "load"]
