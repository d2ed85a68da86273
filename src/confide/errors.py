"""Errors and warnings that users meet. Each is also a standard one, for foreign code to catch."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self


class NoSuchIntervalError(AttributeError, ValueError):
    """The method has no interval of the kind that was asked for."""


class ModelFileError(ValueError):
    """A file that is not a model this version of confide can read."""


class NoPlainFormError(ValueError):
    """A model that cannot be written as plain layers and trees; the message says why."""


class ClusterError(ConnectionError):
    """A cluster that is not there, was lost, or whose workers cannot do the work."""


class LostPieceError(ClusterError):
    """A piece of work whose process was lost again and again."""


class TwinError(ValueError):
    """A twin of the data that cannot be fitted, simulated or kept."""


class ColumnError(ValueError):
    """A column that is not there."""

    @classmethod
    def of_missing(cls, column: str, names: Sequence[str], purpose: str = "predict") -> Self:
        """The error for a table that has no such column to predict, or for another purpose."""
        return cls(
            f"There is no column {column!r} to {purpose}; the columns are {listed(names)}. "
            f"{nearest(column, names)}".rstrip()
        )


class TargetError(ColumnError):
    """A column that is not there, or that cannot be predicted."""

    @classmethod
    def check(cls, targets: Sequence[str], names: Sequence[str]) -> None:
        """Refuses targets that a table with these columns does not have, or that come twice."""
        for target in targets:
            if target not in names:
                raise cls.of_missing(target, names)
            if list(targets).count(target) > 1:
                raise cls(f"The target {target!r} is named twice. Name each target once.")

    @classmethod
    def of_missing_values(cls, target: str, n_rows: int) -> Self:
        """The error for a table in which no row has the target."""
        return cls(
            f"The target {target!r} is missing in all {n_rows:,} rows: there is nothing to learn "
            "from. Choose another column."
        )


class KeptColumnError(ColumnError):
    """A column that cannot be repeated beside the predictions."""


class RowError(ValueError):
    """A row that cannot be predicted.

    Attributes:
        message: with {row} where the row's number stands.
        row: its number, from 0.
    """

    def __init__(self, message: str, row: int) -> None:
        # Not by `format`: the name of a column may have braces.
        super().__init__(message.replace("{row}", str(row)))
        self.message, self.row = message, row

    def __reduce__(self) -> tuple[type, tuple[object, ...], dict[str, object]]:
        return type(self), (self.message, self.row), self.__dict__


class TableMismatchError(ValueError):
    """A table that does not have the columns a model was trained on."""


class TableFileError(ValueError):
    """A file of a table that cannot be read, or a name that is no table's."""


class TooLargeError(ValueError):
    """A table that needs more memory than the machine has."""


class WouldOverwriteError(FileExistsError):
    """The file exists already, and nobody asked to overwrite it."""


class NoRoomError(OSError):
    """The disk is full."""


class CalibrationWarning(UserWarning):
    """A calibration has a weakness that you should know of."""


class SlowerTrainingWarning(UserWarning):
    """Training diverged, and was begun anew at a lower rate."""


class LeftOutColumnWarning(UserWarning):
    """Columns of the training table that the networks do not see."""


class UnseenValueWarning(UserWarning):
    """Rows with values that training did not have.

    Attributes:
        unseen: for each column that has some, how often each value came; None counts missing ones.
        categories: for each column of categories, whether rare ones are usual in it.
    """

    def __init__(
        self,
        unseen: Mapping[str, Mapping[str | None, int]],
        categories: Mapping[str, bool] | None = None,
    ) -> None:
        categories = categories or {}
        super().__init__(_unseen_in_words(unseen, categories))
        self.unseen, self.categories = unseen, categories

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.unseen, self.categories)


def nearest(got: object, valid: Iterable[str]) -> str:
    """'Did you mean ...?' with the nearest valid name, or nothing; PRICE is near to price."""
    names = {name.casefold(): name for name in valid}
    close = difflib.get_close_matches(str(got).casefold(), names, n=1)
    return f"Did you mean {names[close[0]]!r}?" if close else ""


def no_such_file(path: Path) -> str:
    """Says that there is no such file, and names the most similar one in its folder."""
    folder = path.absolute().parent
    hint = f"There is no folder {folder} either."
    if folder.is_dir():
        hint = nearest(path.name, (file.name for file in folder.iterdir()))
    return f"There is no file {path}. {hint}".rstrip()


def rows_without_target(n_missing: int, n_rows: int, target: str) -> str:
    """Says how many of a table's rows are left out; nothing if all have a target."""
    if n_missing == 0:
        return ""
    rows = "1 row" if n_missing == 1 else f"{n_missing:,} rows"
    return f"{rows} of {n_rows:,} left out: the target {target!r} is missing there."


def listed(names: Sequence[str], most: int = 15) -> str:
    """Names for a message, not all of a long list."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(repr(name) for name in names[:most]) + more


def enumerated(items: Sequence[str]) -> str:
    """Several things in a sentence.

    Example:
        >>> enumerated(["a"]), enumerated(["a", "b", "c"])
        ('a', 'a, b and c')
    """
    *most, last = items
    return f"{', '.join(most)} and {last}" if most else last


def _unseen_in_words(
    unseen: Mapping[str, Mapping[str | None, int]], categories: Mapping[str, bool], most: int = 5
) -> str:
    columns = []
    for column, counts in unseen.items():
        sorted_ = sorted(counts.items(), key=lambda item: -item[1])
        words = [
            f"{'missing' if value is None else repr(value)} ({n:,} row{'s' * (n > 1)})"
            for value, n in sorted_[:most]
        ]
        rest = [f"{len(sorted_) - most} more"] if len(sorted_) > most else []
        columns.append(f"{column}: {', '.join(words + rest)}")
    # Of other columns, only what is missing is unseen.
    are_numbers = [name not in categories for name in unseen]
    treated = "Missing values are treated as typical ones"
    if not all(are_numbers):
        treated = "Such categories are treated as none of the known ones"
        treated += ", and missing values as typical ones" * any(are_numbers)
    usual = [name for name in unseen if categories.get(name)]
    also = f" Rare values are usual in {listed(usual)}: a new one alone makes no row novel."
    return (
        f"Values that the training data did not have. {'; '.join(columns)}. {treated}: trust the "
        f"intervals of these rows less.{also * bool(usual)}"
    )
