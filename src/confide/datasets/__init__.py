"""The nine benchmark sets, and ten more, by name; not part of confide: their licences differ."""

from confide.datasets.benchmark import MORE_NAMES as MORE_NAMES
from confide.datasets.benchmark import NAMES as NAMES
from confide.datasets.benchmark import Dataset as Dataset
from confide.datasets.benchmark import load as load
