"""Files that are whole at every moment, temporary folders, and the arrays that model files keep."""

from confide.persistence.arrays import Arrays as Arrays
from confide.persistence.arrays import checked_array as checked_array
from confide.persistence.arrays import part as part
from confide.persistence.atomic import atomic_file as atomic_file
from confide.persistence.atomic import check_target as check_target
from confide.persistence.atomic import said_if_full as said_if_full
from confide.persistence.atomic import write_atomically as write_atomically
from confide.persistence.container import Container as Container
from confide.persistence.container import refuse_other_than_file as refuse_other_than_file
from confide.persistence.schema import checked_fields as checked_fields
from confide.persistence.schema import checked_json as checked_json
from confide.persistence.temporary import temporary_folder as temporary_folder
