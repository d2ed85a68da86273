"""The nine benchmark sets by name. They are not part of confide: their licences differ."""

from confide.datasets.benchmark import NAMES as NAMES
from confide.datasets.benchmark import Dataset as Dataset
from confide.datasets.benchmark import load as load
