"""Files that are whole at every moment, and the arrays that model files keep."""

from confide.persistence.arrays import Arrays, checked_array, part
from confide.persistence.atomic import atomic_file, check_target, said_if_full, write_atomically

__all__ = [
    "Arrays",
    "atomic_file",
    "check_target",
    "checked_array",
    "part",
    "said_if_full",
    "write_atomically",
]
