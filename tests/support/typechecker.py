"""The run-time type checker of the tests: shapes and types are checked on every inner call."""

from beartype import BeartypeConf, beartype

# An int is a float here, as for static checkers.
check = beartype(conf=BeartypeConf(is_pep484_tower=True))
