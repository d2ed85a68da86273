"""From a model and a table, block by block, to a table of predictions."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from confide.budget import of_predicting, refuse_beyond_memory
from confide.encoding import EncodedTable
from confide.errors import KeptColumnError, TableMismatchError, listed, nearest
from confide.estimators import IntervalRegressor
from confide.tables import CSV, ROWS_PER_BLOCK, TableFile
from confide.terminal import for_spreadsheet
from confide.workflow.notes import Notes, counted_in_file

if TYPE_CHECKING:
    import pyarrow as pa

# Of a table that is predicted, at once.
CELLS_PER_BLOCK = 128 * ROWS_PER_BLOCK


def features_of(model: IntervalRegressor, table: "pa.Table") -> "pa.Table":
    """The columns that the model was trained on, by name and in its order; others are left out.

    Raises:
        TableMismatchError: columns are missing that the model needs.
    """
    import pyarrow as pa

    refuse_missing_columns(model, table.column_names)
    names, there = feature_names(model), set(table.column_names)
    for name in names:  # those that are missing now are not used
        if name not in there:
            table = table.append_column(name, pa.nulls(table.num_rows))
    return table.select(names)


def encoded(model: IntervalRegressor, table: "pa.Table") -> EncodedTable:
    """The columns that the model was trained on, with their numbers.

    Raises:
        TableMismatchError: columns are missing that the model needs.
    """
    features, encoder = features_of(model, table), model.encoder_
    if encoder is None:
        raise TypeError("A model that was fitted to an array does not know the columns of a table.")
    n_rows, n_features = features.num_rows, len(encoder.feature_names)
    refuse_beyond_memory(
        of_predicting(n_rows, n_features, 1).bytes,
        f"Predicting {n_rows:,} rows of {n_features:,} columns of numbers at once",
    )
    return EncodedTable(features, encoder, *encoder.encode_and_report(features))


def refuse_missing_columns(model: IntervalRegressor, there: Sequence[str]) -> None:
    """Refuses a table without the columns that the model needs.

    Raises:
        TableMismatchError: with all that are missing.
    """
    unused = () if model.encoder_ is None else model.encoder_.left_out
    needed = [name for name in feature_names(model) if name not in unused]
    names = set(there)  # of a wide table, a list would take minutes
    if missing := [name for name in needed if name not in names]:
        near = [hint for name in missing[:10] if (hint := nearest(name, there))]
        raise TableMismatchError(
            f"The model needs columns that the table does not have: {listed(missing)}; the table "
            f"has {listed(there)}. {' '.join(dict.fromkeys(near[:3]))}".rstrip()
        )


def feature_names(model: IntervalRegressor) -> list[str]:
    """Names of the columns that the model was trained on.

    Raises:
        TableMismatchError: it was trained on an array without names.
    """
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise TableMismatchError(
            f"This model was trained on an array of {model.n_features_in_} columns without names, "
            "so columns of a file cannot be told apart. Fit it to a table with names, or call "
            "predict in Python."
        )
    return [str(name) for name in names]


def arrow_types(
    model: IntervalRegressor, source: TableFile, kept: Sequence[str] = ()
) -> "dict[str, pa.DataType]":
    """The types to read a text file with, so that a category that looks like numbers stays text.

    Other files say themselves of what type their columns are. Whole numbers that are kept stay so.
    """
    import pyarrow as pa

    if source.format != CSV:
        return {}

    kinds = {"category": pa.string(), "many categories": pa.string(), "number": pa.float64()}
    columns = () if model.encoder_ is None else model.encoder_.columns
    types = {column.name: kinds[column.kind] for column in columns if column.kind in kinds}
    return {n: kind for n, kind in types.items() if n not in kept or kind == pa.string()}


def prediction_blocks(
    model: IntervalRegressor,
    blocks: "Iterable[pa.Table]",
    *,
    confidence_level: float = 0.95,
    keep: Sequence[str] = (),
    notes: Notes | None = None,
) -> "Iterator[pa.Table]":
    """For each block of a table its rows' predictions, in the same order and in bounded memory.

    Args:
        model: what predicts.
        blocks: of a table that has the columns of the training data, in any order.
        confidence_level: of both kinds of intervals.
        keep: columns of the table to repeat before the predictions.
        notes: notes about the table are added here.

    Yields:
        A table of predictions for each block.
    """
    import pyarrow as pa

    notes, start, n_novel = Notes() if notes is None else notes, 0, 0
    for block in blocks:
        if start == block.num_rows == 0:
            raise TableMismatchError(
                "The table has a header but no rows, so there is nothing to predict."
            )
        with counted_in_file(range(start, start + block.num_rows)), notes.of_warnings():
            features = encoded(model, block)
            prediction = model.get_prediction(features)
            frame = prediction.summary_frame(confidence_level)
        if prediction.is_novel is not None and prediction.novel_columns is not None:
            frame["is_novel"] = prediction.is_novel
            frame["novel_columns"] = ["; ".join(names) for names in prediction.novel_columns]
            n_novel += int(prediction.is_novel.sum())
        frame["unseen_values"] = features.encoder.count_new_categories(features.table)
        if both := [name for name in keep if name in frame.columns]:
            raise KeptColumnError(
                f"Columns to keep have the names of result columns: {listed(both)}. Rename them "
                "in the table, or keep others."
            )
        answers = pa.Table.from_pandas(frame, preserve_index=False)
        kept = {name: block.column(name) for name in keep}
        yield pa.table({**kept, **dict(zip(answers.column_names, answers.columns, strict=True))})
        start += block.num_rows
    if model.novelty_ is not None:
        notes.add(novel_words(n_novel, start))


def novel_words(n_novel: int, n_rows: int) -> str:
    """How many rows are unlike the training data, and what that means."""
    if n_novel == 0:
        return "No row is unlike the training data."
    return (
        f"{n_novel:,} of {n_rows:,} rows ({n_novel / n_rows:.1%}) are unlike the training data: do "
        "not trust their intervals. By chance it would be about 1 %. See the columns is_novel and "
        "novel_columns."
    )


def rows_per_block(n_columns: int) -> int:
    """Rows to predict at once: fewer of a wide table, so that the memory does not depend on it."""
    return max(1, min(ROWS_PER_BLOCK, CELLS_PER_BLOCK // max(n_columns, 1)))


def n_fits(model: IntervalRegressor) -> int:
    """How many fits are asked about each row: the model's own, and that to its pilot."""
    return 1 + (model.confidence_calibration_ is not None)


def kept_columns(asked: str, there: Sequence[str], ids: Sequence[str] = ()) -> list[str]:
    """The columns to repeat: those that name the rows, and those that are asked for.

    Args:
        asked: names such as id,street; or all.
        there: the columns of the table.
        ids: those that name the rows, if they are there.

    Returns:
        Their names.

    Raises:
        KeptColumnError: one of them is not there.
    """
    if asked == "all":
        return list(there)
    kept = [name for name in asked.split(",") if name]
    for name in kept:
        if name not in there:
            raise KeptColumnError.of_missing(name, there, "keep")
    return list(dict.fromkeys([*(name for name in ids if name in there), *kept]))


def without_formulas(block: "pa.Table", notes: Notes, *, escape: bool) -> "pa.Table":
    """A table whose text no spreadsheet takes for formulas, or a note that it may.

    Args:
        block: a table.
        notes: where the note goes.
        escape: whether to put an apostrophe before such text.

    Returns:
        The table, as it was if nothing is escaped.
    """
    import pyarrow as pa

    columns, found = {}, []
    for name, column in zip(block.column_names, block.columns, strict=True):
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        texts = column.cast(pa.string()).to_pylist() if "string" in str(kind) else []
        inert = [text if text is None else for_spreadsheet(text) for text in texts]
        columns[for_spreadsheet(name)] = pa.array(inert, pa.string()) if texts else column
        found += [name] * (inert != texts)
    if escape:
        return pa.table(columns)
    if found:
        notes.add(
            f"Text that a spreadsheet would run as formulas is in {listed(found)}. Before you open "
            "the result in one, write it with --escape-formulas."
        )
    return block


def one_ahead(blocks: "Iterable[pa.Table]") -> "Iterator[pa.Table]":
    """The same blocks, the next one made in a thread while this one is being written."""
    with ThreadPoolExecutor(1) as thread:
        rest = iter(blocks)
        coming = thread.submit(next, rest, None)
        while (block := coming.result()) is not None:
            coming = thread.submit(next, rest, None)
            yield block
