"""What a model remembers of the table that it was made from."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Self

from confide.errors import ModelFileError
from confide.estimators import IntervalRegressor


@dataclass(frozen=True)
class TrainingTable:
    """Which file and column a model was fitted to, and what there was to say.

    Attributes:
        target: name of the column to predict, or None where the model was made in Python.
        file: name of the file, without its folder, or None likewise.
        notes: what happened at the fit: rows dropped, columns left out.
        warnings: what the reader should worry about.
        judged: accuracy on the rows that were set aside, by name.
    """

    target: str | None = None
    file: str | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    judged: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, model: IntervalRegressor) -> Self:
        """What a model remembers; nothing where it was not fitted to a table of a file.

        Raises:
            ModelFileError: it was read from a file that says something else.
        """
        if (rows := model.training_table_) is None:
            return cls()
        try:
            target, file, notes, warnings, judged = (rows.origin[f.name] for f in fields(cls))
            words = [target, file, *notes, *warnings, *judged]
            numbers = list(judged.values())
            is_right = {type(word) for word in words} == {str} and {*map(type, numbers)} <= {float}
        except (LookupError, TypeError, AttributeError):
            is_right = False
        if not is_right:
            raise ModelFileError(
                "What the model says of its training table is of the wrong type: its file is "
                "damaged or was tampered with. Save the model again."
            )
        return cls(target, file, tuple(notes), tuple(warnings), judged)
