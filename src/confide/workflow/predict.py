"""From a model and a table, block by block, to a table of predictions."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from confide.errors import TableMismatchError, listed, nearest
from confide.estimators import EnsembleRegressor
from confide.prediction import Prediction

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass
class Notes:
    """What is said once about a table that is read in many blocks."""

    said: dict[str, int] = field(default_factory=dict)

    def __iter__(self) -> Iterator[str]:
        """Each note, with the number of blocks that it is about where they are several."""
        for note, n_blocks in self.said.items():
            yield note if n_blocks == 1 else f"{note} (and likewise further on)"

    def add(self, note: str) -> None:
        """Counts a note; the numbers in it may differ from block to block."""
        self.said[note] = self.said.get(note, 0) + 1


def features_of(model: EnsembleRegressor, table: "pa.Table") -> "pa.Table":
    """The columns that the model was trained on, by name and in its order; others are left out.

    Raises:
        TableMismatchError: columns are missing.
    """
    needed = feature_names(model)
    there = table.column_names
    missing = [name for name in needed if name not in there]
    if missing:
        near = [hint for name in missing if (hint := nearest(name, there))]
        raise TableMismatchError(
            f"The model needs columns that the table does not have: {listed(missing)}; the table "
            f"has {listed(there)}. {' '.join(dict.fromkeys(near))}".rstrip()
        )
    return table.select(needed)


def feature_names(model: EnsembleRegressor) -> list[str]:
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


def predicted(
    model: EnsembleRegressor, table: "pa.Table", notes: Notes
) -> Prediction:
    """The prediction for a table's rows; warnings become notes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        prediction = model.get_prediction(features_of(model, table))
    for warning in caught:
        notes.add(str(warning.message))
    return prediction


def prediction_blocks(
    model: EnsembleRegressor,
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
        notes: what is to be said about the table is added here.
    """
    import pyarrow as pa

    notes = Notes() if notes is None else notes
    for block in blocks:
        prediction = predicted(model, block, notes)
        frame = prediction.summary_frame(confidence_level)
        if prediction.novelty is not None:
            frame["is_novel"] = prediction.is_novel
        answers = pa.Table.from_pandas(frame, preserve_index=False)
        kept = {name: block.column(name) for name in keep}
        yield pa.table({**kept, **dict(zip(answers.column_names, answers.columns, strict=True))})

