"""Tables of many files: a folder or a pattern of Parquet files, or a dataset of pyarrow."""

import glob
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from confide.errors import TableFileError
from confide.extras import require
from confide.tables.addresses import (
    file_name,
    files_at,
    is_address,
    is_pattern,
    open_at,
    public,
)
from confide.tables.binary import BinaryTable
from confide.tables.recognise import PARQUET

# Of a folder; others beside them are not read.
ENDING = ".parquet"
# Differences between two files that are named.
MOST_NAMED = 3


def is_of_many_files(source: str | Path) -> bool:
    """Whether it is a folder, a pattern such as folder/*.parquet, or an address of such."""
    if is_address(source):
        return True
    return Path(source).is_dir() or (glob.has_magic(str(source)) and not Path(source).exists())


def is_folder(source: str | Path) -> bool:
    """Whether it is a folder of files that are one table, or an address that looks like one."""
    if is_address(source):
        return not is_pattern(str(source)) and not file_name(source).endswith(ENDING)
    return Path(source).is_dir()


class ParquetFiles:
    """Parquet files with the same columns as one table, in the order of their names.

    Attributes:
        schema: names and types of the columns, the same in all files.
        about_rows: how many rows they have.
        note: what there is to say about their folders, or None.
    """

    def __init__(self, source: str | Path) -> None:
        """Reads the description of each file, and refuses files that do not fit together."""
        self._paths = _paths_of(source)
        first, self.about_rows = self._paths[0], 0
        self.schema = self._opened(first).schema
        for path in self._paths:
            table = self._opened(path)
            refuse_other_schema(table.schema, public(path), self.schema, public(first))
            self.about_rows += table.about_rows or 0
        self.note = self._note(source)

    def blocks(
        self, rows: int, columns: Sequence[str] | None, types: Mapping[str, Any]
    ) -> Iterator[Any]:
        """Tables in the order of the files, each column of the type that was asked for."""
        names = self.schema.names if columns is None else columns
        for path in self._paths:
            yield from self._opened(path).blocks(rows, names, types)

    def _note(self, source: str | Path) -> str | None:
        """That folders such as year=2020 are not columns, where there are any."""
        folders = [part for path in self._paths for part in _below(path, source)[:-1]]
        named = [part for part in folders if part.partition("=")[0] not in ("", *self.schema.names)]
        example = next((part for part in named if "=" in part), None)
        return example and (
            f"{public(source)}: folders named such as {example} are not columns here, so the table "
            f"has no {example.partition('=')[0]!r}. To have it, pass a dataset in Python: "
            'model.fit(pyarrow.dataset.dataset(folder, partitioning="hive"), target).'
        )

    def _opened(self, path: str) -> BinaryTable:
        arrow = require("pyarrow", "tables")
        try:
            file = open_at(path) if is_address(path) else arrow.OSFile(path)
            return BinaryTable(file, PARQUET, public(path))
        except OSError as error:
            raise TableFileError(f"{path} cannot be opened: {error.strerror or error}.") from error


class ArrowDataset:
    """A dataset of pyarrow as one table.

    Attributes:
        name: what messages call it.
        schema: names and types of the columns, the same in all of its files.
        note: None; its folders are columns where they stand for values.
    """

    name = "The dataset"
    note = None

    def __init__(self, dataset: Any) -> None:
        """Refuses files that do not fit together, and a dataset of only some of their rows."""
        self._dataset, self.schema = dataset, dataset.schema
        partitions = getattr(getattr(dataset, "partitioning", None), "schema", None) or ()
        of_folders = {field.name for field in partitions}
        fields = [field for field in self.schema if field.name not in of_folders]
        for fragment in _fragments(dataset):
            own = [field for field in fragment.physical_schema if field.name not in of_folders]
            refuse_other_schema(own, getattr(fragment, "path", "A part"), fields, "the dataset")

    def blocks(self, rows_per_block: int, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """The rows in order, as Arrow tables in bounded memory."""
        arrow = require("pyarrow", "tables")
        ahead = {"batch_readahead": 1, "fragment_readahead": 1, "use_threads": False}
        names = None if columns is None else list(columns)
        for batch in self._dataset.to_batches(columns=names, batch_size=rows_per_block, **ahead):
            yield arrow.Table.from_batches([batch])


def _fragments(dataset: Any) -> Iterator[Any]:
    try:
        return iter(dataset.get_fragments())
    except ValueError as error:
        raise TableFileError(
            "The dataset must have all rows of its files, but it is filtered, and pyarrow does not "
            "tell the files of such a dataset. Write the filtered rows to files of their own and "
            "pass these, or pass dataset.to_table() if memory holds them."
        ) from error


def is_arrow_dataset(source: Any) -> bool:
    """Whether it is a dataset of pyarrow; pyarrow is not loaded to tell."""
    import sys

    loaded = sys.modules.get("pyarrow.dataset")
    return loaded is not None and isinstance(source, loaded.Dataset)


def refuse_other_schema(fields: Any, name: Any, needed: Any, first: Any) -> None:
    """Refuses a file whose columns are not those of the first, with what to do.

    Args:
        fields: of the file.
        name: of the file.
        needed: fields of the first one.
        first: its name.
    """
    own, wanted = ({field.name: field.type for field in some} for some in (fields, needed))
    wrong = [f"it has no column {column!r}" for column in wanted if column not in own]
    wrong += [f"its column {column!r} is not there" for column in own if column not in wanted]
    wrong += [
        f"its column {column!r} is {own[column]} instead of {of_type}"
        for column, of_type in wanted.items()
        if own.get(column, of_type) != of_type
    ]
    if wrong:
        more = f", and {len(wrong) - MOST_NAMED} more" * (len(wrong) > MOST_NAMED)
        raise TableFileError(
            f"All files of a table must have the same columns, but {name} differs from {first}: "
            f"{'; '.join(wrong[:MOST_NAMED])}{more}. Write that file again with the same columns, "
            "or move it out of the folder; nothing was read or changed."
        )


def parquet_files(source: str | Path) -> list[str]:
    """The files of a folder, of a pattern or of an address, in the order of their names."""
    if is_address(source):
        return [path for path in files_at(str(source), ENDING) if not _is_hidden(path, source)]
    if Path(source).is_dir():
        found = [str(path) for path in Path(source).rglob(f"*{ENDING}") if path.is_file()]
    else:
        found = [path for path in glob.glob(str(source)) if Path(path).is_file()]  # noqa: PTH207
    return sorted((path for path in found if not _is_hidden(path, source)), key=Path)


def _is_hidden(path: str, source: str | Path) -> bool:
    """Whether it is one of those that other programs keep beside theirs: with . or _ in front."""
    return any(part[0] in "._" for part in _below(path, source))


def _below(path: str, source: str | Path) -> tuple[str, ...]:
    """The folders and the name of a file, from the folder or from the first part of a pattern."""
    parts, is_away = Path(public(source)).parts, is_address(source)
    if is_away or not Path(source).is_dir():
        has_magic = is_pattern if is_away else glob.has_magic
        parts = tuple(takewhile(lambda part: not has_magic(part), parts))
    return Path(public(path)).parts[len(parts) :]


def _paths_of(source: str | Path) -> list[str]:
    paths, what = parquet_files(source), "a folder" if Path(source).is_dir() else "a pattern"
    if is_address(source):
        what = "an address"
        for path in paths:
            if not file_name(path).endswith(ENDING):
                raise TableFileError(
                    f"{public(path)} is not a Parquet file (*{ENDING}), and only these are read "
                    "from an address. Copy it to this machine first."
                )
    if paths:
        return paths
    raise TableFileError(
        f"{public(source)} is {what} without a Parquet file (*{ENDING}). Name a file, or a folder "
        "of Parquet files."
    )
