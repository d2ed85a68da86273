"""Files that are whole at every moment, and the arrays that model files keep."""

from confide.persistence.arrays import Arrays, checked_array, part
from confide.persistence.atomic import atomic_file, check_target, said_if_full, write_atomically
from confide.persistence.container import Container
from confide.persistence.schema import checked_fields, checked_json

__all__ = [
    "Arrays",
    "Container",
    "atomic_file",
    "check_target",
    "checked_array",
    "checked_fields",
    "checked_json",
    "part",
    "said_if_full",
    "write_atomically",
]
