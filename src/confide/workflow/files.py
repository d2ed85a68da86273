"""Several tables at once: the files that a pattern names, and where their predictions go."""

import glob
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from confide.errors import KeptColumnError, TableFileError, TableMismatchError
from confide.estimators import IntervalRegressor
from confide.tables import (
    TableFile,
    file_name,
    is_address,
    is_pattern,
    parquet_files,
    public,
)
from confide.workflow.predict import feature_names, kept_columns, refuse_missing_columns

if TYPE_CHECKING:
    import pyarrow as pa


def matching_files(pattern: str) -> list[str]:
    """The files of a pattern such as folder/*.parquet, in the order of their names.

    Without a wildcard it is the one file of that name, or "-" for standard input.

    Raises:
        TableFileError: no file matches.
    """
    is_away = is_address(pattern)
    if Path(pattern).exists() or not (is_pattern if is_away else glob.has_magic)(pattern):
        return [pattern]
    if is_away:
        found = parquet_files(pattern)
    else:
        found = sorted(path for path in glob.glob(pattern) if Path(path).is_file())  # noqa: PTH207
    if found:
        return found
    raise TableFileError(f"No file matches {public(pattern)!r}. Look at its folder and its ending.")


def outputs_of(files: Sequence[str], folder: Path) -> list[Path]:
    """Where the predictions of each file go: under its own name in a folder.

    Raises:
        FileNotFoundError: there is no such folder.
        TableFileError: it is the files' own folder, or two files have the same name.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {folder}. Create it first.")
    outputs = [folder / file_name(file) for file in files]
    if len(set(outputs)) < len(outputs):
        raise TableFileError("Two of the files have the same name. Predict their folders in turn.")
    for file, output in zip(files, outputs, strict=True):
        if not is_address(file) and output.exists() and output.samefile(file):
            raise TableFileError(
                f"{file} would be replaced by its own predictions. Choose another folder."
            )
    return outputs


def refuse_different(
    model: IntervalRegressor, sources: Sequence[TableFile], keep: str = ""
) -> None:
    """Refuses files that lack columns, or have numbers where others have words or dates.

    Args:
        model: what predicts.
        sources: the files.
        keep: columns to repeat, see `kept_columns`.

    Raises:
        TableMismatchError: a column that the model needs; with the name of the file.
        KeptColumnError: a column to repeat, likewise.
    """
    seen: dict[str, tuple[str, TableFile]] = {}
    for source in sources:
        try:
            refuse_missing_columns(model, source.schema.names)
            kept_columns(keep, source.schema.names)
        except (TableMismatchError, KeptColumnError) as error:
            raise type(error)(f"{source.name}: {error}") from None
        for name in {*feature_names(model)} & {*source.schema.names}:
            if (kind := _kind(source.schema.field(name).type)) is None:
                continue
            expected, where = seen.setdefault(name, (kind, source))
            if kind != expected:
                raise TableMismatchError(
                    f"All files must have the same kinds of columns, but {name!r} has {kind} in "
                    f"{source.name} and {expected} in {where.name}. Convert the column, or predict "
                    "the files one by one."
                )


def _kind(type_: "pa.DataType") -> str | None:
    """What a column holds, roughly; None for one that is empty."""
    import pyarrow as pa

    if pa.types.is_null(type_):
        return None
    if pa.types.is_temporal(type_):
        return "dates or times"
    is_number = pa.types.is_integer(type_) or pa.types.is_floating(type_)
    return "numbers" if is_number or pa.types.is_decimal(type_) else "words"
