"""From a model and a table, block by block, to a table of predictions."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from confide.encoding import EncodedTable
from confide.errors import KeptColumnError, RowError, TableMismatchError, listed, nearest
from confide.estimators import IntervalRegressor
from confide.tables import CSV, TableFile
from confide.workflow.notes import Notes

if TYPE_CHECKING:
    import pyarrow as pa


def features_of(model: IntervalRegressor, table: "pa.Table") -> "pa.Table":
    """The columns that the model was trained on, by name and in its order; others are left out.

    Raises:
        TableMismatchError: columns are missing that the model needs.
    """
    import pyarrow as pa

    refuse_missing_columns(model, table.column_names)
    names = feature_names(model)
    for name in names:  # those that are missing now are not used
        if name not in table.column_names:
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
    return EncodedTable(features, encoder, *encoder.encode_and_report(features))


def refuse_missing_columns(model: IntervalRegressor, there: Sequence[str]) -> None:
    """Refuses a table without the columns that the model needs.

    Raises:
        TableMismatchError: with all that are missing.
    """
    unused = () if model.encoder_ is None else model.encoder_.left_out
    needed = [name for name in feature_names(model) if name not in unused]
    if missing := [name for name in needed if name not in there]:
        near = [hint for name in missing if (hint := nearest(name, there))]
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

    kinds = {"category": pa.string(), "number": pa.float64()}
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

    notes, start = Notes() if notes is None else notes, 0
    for block in blocks:
        if start == block.num_rows == 0:
            raise TableMismatchError(
                "The table has a header but no rows, so there is nothing to predict."
            )
        try:
            with notes.of_warnings():
                features = encoded(model, block)
                prediction = model.get_prediction(features)
                frame = prediction.summary_frame(confidence_level)
        except RowError as error:  # numbered from 1 in the whole table
            raise RowError(error.message, start + error.row + 1) from error
        if prediction.novelty is not None:
            frame["is_novel"] = prediction.is_novel
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


def kept_columns(asked: str, there: Sequence[str]) -> list[str]:
    """The columns that an option such as id,street or all asks to repeat.

    Raises:
        KeptColumnError: one of them is not there.
    """
    kept = list(there) if asked == "all" else [name for name in asked.split(",") if name]
    for name in kept:
        if name not in there:
            raise KeptColumnError.of_missing(name, there, "keep")
    return kept


def one_ahead(blocks: "Iterable[pa.Table]") -> "Iterator[pa.Table]":
    """The same blocks, the next one made in a thread while this one is being written."""
    with ThreadPoolExecutor(1) as thread:
        rest = iter(blocks)
        coming = thread.submit(next, rest, None)
        while (block := coming.result()) is not None:
            coming = thread.submit(next, rest, None)
            yield block
