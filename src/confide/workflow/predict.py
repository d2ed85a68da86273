"""From a model and a table, block by block, to a table of predictions."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from confide.budget import of_predicting, of_predicting_elsewhere, refuse_beyond_memory
from confide.encoding import EncodedTable
from confide.engines import Engine, named_engine
from confide.errors import KeptColumnError, TableMismatchError, listed, nearest
from confide.estimators import IntervalRegressor, models_of, prefixed
from confide.tables import CSV, ROWS_PER_BLOCK, TableFile
from confide.terminal import for_spreadsheet
from confide.workflow.notes import Notes, counted_in_file

if TYPE_CHECKING:
    import pandas as pd
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
    names = set(there)  # of a wide table, a list would take minutes
    if missing := [name for name in needed_names(model) if name not in names]:
        near = [hint for name in missing[:10] if (hint := nearest(name, there))]
        raise TableMismatchError(
            f"The model needs columns that the table does not have: {listed(missing)}; the table "
            f"has {listed(there)}. {' '.join(dict.fromkeys(near[:3]))}".rstrip()
        )


def needed_names(model: IntervalRegressor) -> list[str]:
    """Names of the columns that a table must have: those that no target uses may be missing."""
    encoders = [own.encoder_ for own in models_of(model)]
    unused = [() if encoder is None else encoder.left_out for encoder in encoders]
    return [name for name in feature_names(model) if not all(name in some for some in unused)]


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

    Other files say themselves of what type their columns are.

    Args:
        model: fitted.
        source: the file.
        kept: columns that are copied to the output; whole numbers stay whole there.

    Returns:
        Arrow types by the name of the column.
    """
    import pyarrow as pa

    if source.format != CSV:
        return {}

    kinds = {
        "written number": pa.string(),
        "category": pa.string(),
        "many categories": pa.string(),
        "words": pa.string(),
        "number": pa.float64(),
    }
    encoders = [own.encoder_ for own in models_of(model) if own.encoder_ is not None]
    columns = [column for encoder in reversed(encoders) for column in encoder.columns]
    types = {column.name: kinds[column.kind] for column in columns if column.kind in kinds}
    return {n: kind for n, kind in types.items() if n not in kept or kind == pa.string()}


class PredictedBlock(NamedTuple):
    """The predictions of a block's rows.

    Attributes:
        table: a row for each.
        notes: what happened on the way.
        n_novel: how many rows are unlike the training data.
    """

    table: "pa.Table"
    notes: Notes
    n_novel: int


def prediction_blocks(
    model: IntervalRegressor,
    blocks: "Iterable[pa.Table]",
    *,
    confidence_level: float = 0.95,
    keep: Sequence[str] = (),
    notes: Notes | None = None,
    engine: Engine | None = None,
) -> "Iterator[pa.Table]":
    """For each block of a table its rows' predictions, in the same order and in bounded memory.

    Args:
        model: what predicts.
        blocks: of a table that has the columns of the training data, in any order.
        confidence_level: of both kinds of intervals.
        keep: columns of the table to repeat before the predictions.
        notes: notes about the table are added here.
        engine: where to predict; None for this process.

    Yields:
        A table of predictions for each block.
    """
    notes, n_rows, n_novel = Notes() if notes is None else notes, 0, 0
    common = (model, confidence_level, tuple(keep))
    memory, numbered = memory_of_worker(model), _counted(blocks)
    for block in named_engine(engine).map(predicted_block, numbered, common, memory=memory):
        notes.merge(block.notes)
        yield block.table
        n_rows, n_novel = n_rows + block.table.num_rows, n_novel + block.n_novel
    if any(own.novelty_ is not None for own in models_of(model)):
        notes.add(novel_words(n_novel, n_rows))


def _counted(blocks: "Iterable[pa.Table]") -> "Iterator[tuple[int, pa.Table]]":
    """The blocks, each with the number of its first row."""
    start = 0
    for block in blocks:
        if start == block.num_rows == 0:
            raise TableMismatchError(
                "The table has a header but no rows, so there is nothing to predict."
            )
        yield start, block
        start += block.num_rows


def predicted_block(
    numbered: "tuple[int, pa.Table]",
    model: IntervalRegressor,
    confidence_level: float,
    keep: Sequence[str],
) -> PredictedBlock:
    """The predictions of one block's rows.

    Args:
        numbered: the number of its first row, and the block.
        model: what predicts.
        confidence_level: of both kinds of intervals.
        keep: columns of the block to repeat before the predictions.

    Returns:
        A table with a row for each, and what is to be said about them.
    """
    import pyarrow as pa

    notes = Notes()
    start, block = numbered
    with counted_in_file(range(start, start + block.num_rows)), notes.of_warnings():
        frame, n_novel = _answers(model, block, confidence_level)
    refuse_names_of_results(keep, list(frame.columns))
    answers = pa.Table.from_pandas(frame, preserve_index=False)
    kept = {name: block.column(name) for name in keep}
    table = pa.table({**kept, **dict(zip(answers.column_names, answers.columns, strict=True))})
    return PredictedBlock(table, notes, n_novel)


def refuse_names_of_results(keep: Sequence[str], results: Sequence[str]) -> None:
    """Refuses columns to keep that could not be told from those of the predictions."""
    if both := [name for name in keep if name in results]:
        raise KeptColumnError(
            f"Columns to keep have the names of result columns: {listed(both)}. Rename them "
            "in the table, or keep others."
        )


def _answers(
    model: IntervalRegressor, block: "pa.Table", level: float
) -> "tuple[pd.DataFrame, int]":
    """The predictions of a block, and how many of its rows are novel (to any target)."""
    import pandas as pd

    features: dict[int, EncodedTable] = {}  # targets of one encoder share its numbers
    frames = []
    for own in models_of(model):
        if id(own.encoder_) not in features:
            features[id(own.encoder_)] = encoded(own, block)
        frames.append(_answers_of(own, features[id(own.encoder_)], level))
    novel = [frame["is_novel"] for frame in frames if "is_novel" in frame]
    n_novel = int(np.any(novel, axis=0).sum()) if novel else 0
    if model.targets_ is None:
        return frames[0], n_novel
    named = zip(model.targets_, frames, strict=True)
    return pd.concat([f.rename(columns=partial(prefixed, t)) for t, f in named], axis=1), n_novel


def _answers_of(model: IntervalRegressor, features: EncodedTable, level: float) -> "pd.DataFrame":
    """The predictions of one target."""
    prediction = model.get_prediction(features)
    frame = prediction.summary_frame(level)
    if prediction.is_novel is not None and prediction.novel_columns is not None:
        frame["is_novel"] = prediction.is_novel
        frame["novel_columns"] = ["; ".join(names) for names in prediction.novel_columns]
    frame["unseen_values"] = features.encoder.count_new_categories(features.table)
    return frame


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


def memory_of_worker(model: IntervalRegressor) -> float:
    """Bytes that another process needs to predict a block of rows."""
    encoders = [own.encoder_ for own in models_of(model)]
    n_numbers = max(
        model.n_features_in_ if encoder is None else len(encoder.feature_names)
        for encoder in encoders
    )
    return of_predicting_elsewhere(rows_per_block(len(feature_names(model))), n_numbers)


def n_fits(model: IntervalRegressor) -> int:
    """How many fits are asked about each row: the model's own, and that to its pilot."""
    return sum(1 + (own.confidence_calibration_ is not None) for own in models_of(model))


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

    names, columns, found = [], [], []
    for name, column in zip(block.column_names, block.columns, strict=True):
        texts = _texts(column)
        inert = [text if text is None else for_spreadsheet(text) for text in texts]
        names.append(for_spreadsheet(name))
        columns.append(pa.array(inert, pa.string()) if texts else column)
        found += [name] * ([names[-1], *inert] != [name, *texts])
    if escape:
        return pa.table(columns, names)
    if found:
        notes.add(
            f"Text that a spreadsheet would run as formulas is in {listed(found)}. Before you open "
            "the result in one, write it with --escape-formulas."
        )
    return block


def _texts(column: "pa.ChunkedArray") -> list[str | None]:
    """The values of a column that a CSV file has as text; none of another column."""
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not str(kind).removeprefix("large_").startswith(("string", "binary", "fixed_size_binary")):
        return []
    return [v.decode(errors="replace") if isinstance(v, bytes) else v for v in column.to_pylist()]


def one_ahead(blocks: "Iterable[pa.Table]") -> "Iterator[pa.Table]":
    """The same blocks, the next one made in a thread while this one is being written."""
    with ThreadPoolExecutor(1) as thread:
        rest = iter(blocks)
        coming = thread.submit(next, rest, None)
        while (block := coming.result()) is not None:
            coming = thread.submit(next, rest, None)
            yield block
