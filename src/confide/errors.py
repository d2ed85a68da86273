"""Errors of the public edge. Each is also a standard one, so foreign code can catch it."""

import difflib
from collections.abc import Iterable


class NoSuchIntervalError(AttributeError, ValueError):
    """The method has no interval of the kind that was asked for."""


class ModelFileError(ValueError):
    """A file that is not a model this version of confide can read."""


def nearest(got: object, valid: Iterable[str]) -> str:
    """'Did you mean ...?', or nothing where no valid name is near."""
    close = difflib.get_close_matches(str(got), list(valid), n=1)
    return f"Did you mean {close[0]!r}?" if close else ""
