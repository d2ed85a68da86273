"""A model that predicts batches in any process: of Ray Data, Spark or Dask."""

import functools
import io
import os
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confide.checks import checked_level
from confide.errors import KeptColumnError, TableMismatchError, listed
from confide.estimators import IntervalRegressor, load_content
from confide.persistence import refuse_other_than_file
from confide.workflow.predict import (
    feature_names,
    needed_names,
    predicted_block,
    refuse_missing_columns,
    refuse_names_of_results,
)

if TYPE_CHECKING:
    import pyarrow as pa


class BatchPredictor:
    """Predicts batches of a table, with the columns of `confide predict`.

    It carries the model's file with it, so workers need no common disk. Each process loads the
    model once. Rows are predicted as they come, and batches may have any number of rows.

    Args:
        model: path of a model, or a fitted model.
        confidence_level: of both kinds of intervals.
        keep: columns to repeat before the predictions, as they are. No other columns than these and
            those that the model needs are read.
        network: the function that made the model's network, where it was your own.

    Example:
        >>> import pandas as pd
        >>> from confide import DeepEnsembleRegressor
        >>> table = pd.DataFrame({"area": range(40, 100)})
        >>> model = DeepEnsembleRegressor(2, recipe="paper", max_epochs=2, random_state=0)
        >>> predictor = BatchPredictor(model.fit(table, 3.0 * table["area"]), keep=["area"])
        >>> list(predictor(table.head(3)).columns[:3])
        ['area', 'mean', 'mean_se']
    """

    def __init__(
        self,
        model: str | os.PathLike[str] | IntervalRegressor,
        *,
        confidence_level: float = 0.95,
        keep: Sequence[str] = (),
        network: Callable[..., Any] | None = None,
    ) -> None:
        self.confidence_level = checked_level(confidence_level)
        if isinstance(keep, str):
            raise TypeError(
                f"`keep` must be a list of columns, got the text {keep!r}. Pass keep=[{keep!r}]."
            )
        self.keep, self.network = tuple(dict.fromkeys(keep)), network
        if isinstance(model, IntervalRegressor):
            file = io.BytesIO()
            model.save(file)
            self._path, self._content = Path("model.confide"), file.getvalue()
        else:
            self._path = Path(model)
            refuse_other_than_file(self._path)
            self._content = self._path.read_bytes()
        self.name = self._path.name
        feature_names(self.model)  # what cannot be loaded or asked is refused here

    @property
    def model(self) -> IntervalRegressor:
        """The model, loaded in this process if it is not yet."""
        return _loaded(self._content, str(self._path), self.network)

    def __call__(self, batch: Any) -> Any:
        """The predictions of a batch, as a table of the same kind.

        Args:
            batch: a table of pandas or pyarrow, or a dictionary of arrays.

        Raises:
            TableMismatchError: columns that the model needs are missing, or cannot be read.
            KeptColumnError: a column to keep is not there, or has the name of a result.
        """
        import pandas as pd
        import pyarrow as pa

        if isinstance(batch, pa.Table):
            columns = list(zip(batch.column_names, batch.columns, strict=True))
        elif isinstance(batch, pd.DataFrame | Mapping):
            columns = [(str(name), column) for name, column in batch.items()]
        else:
            raise TypeError(
                "A batch must be a table of pandas or pyarrow, or a dictionary of arrays, got a "
                f"{type(batch).__name__}. Ray Data: pass batch_format='pyarrow'."
            )
        used, kept = self._used_and_kept(columns)
        answers = self._predicted(pa.table({name: _read(name, used[name]) for name in used}))
        refuse_names_of_results(self.keep, answers.column_names)
        if isinstance(batch, pa.Table):
            return pa.table({**kept, **_columns_of(answers)})
        if isinstance(batch, pd.DataFrame):
            frame = answers.to_pandas().set_axis(batch.index)
            return pd.concat([*(kept[name].rename(name) for name in kept), frame], axis=1)
        return kept | {name: column.to_numpy() for name, column in _columns_of(answers).items()}

    def _used_and_kept(
        self, columns: Sequence[tuple[str, Any]]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The columns that the model needs and those to keep, untouched; others may be anything."""
        counts, by_name = Counter(name for name, _ in columns), dict(columns)
        refuse_missing_columns(self.model, list(by_name))
        for name in self.keep:
            if name not in by_name:
                raise KeptColumnError.of_missing(name, list(by_name), "keep")
        used = needed_names(self.model)
        if twice := [name for name in dict.fromkeys([*used, *self.keep]) if counts[name] > 1]:
            raise TableMismatchError(
                f"Each column needs a name of its own, but the batch has several of {listed(twice)}"
                ". Rename or drop all but one."
            )
        return {name: by_name[name] for name in used}, {name: by_name[name] for name in self.keep}

    def _predicted(self, batch: "pa.Table") -> "pa.Table":
        # A part of a table may be empty, and must have the columns of the others.
        rows = batch if batch.num_rows else _typical_row(batch.schema)
        with warnings.catch_warnings():
            if rows is not batch:
                warnings.simplefilter("ignore")
            answers = predicted_block((0, rows), self.model, self.confidence_level, ()).table
        return answers.slice(0, batch.num_rows)


def _read(name: str, values: Any) -> Any:
    """A column of any kind of batch as pyarrow has it; None and not-a-number are missing values."""
    import pyarrow as pa

    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, OverflowError) as error:
        raise TableMismatchError(
            f"The values of a column must be of one type, but those of {name!r} cannot be read "
            f"({error}). Convert the column to the type that it had in training."
        ) from error


def _columns_of(table: "pa.Table") -> dict[str, Any]:
    return dict(zip(table.column_names, table.columns, strict=True))


def _typical_row(schema: "pa.Schema") -> "pa.Table":
    """A row in which all values are missing, which predictions take for typical ones."""
    import pyarrow as pa

    return pa.table({field.name: pa.nulls(1, field.type) for field in schema})


@functools.lru_cache(maxsize=4)
def _loaded(content: bytes, path: str, network: Callable[..., Any] | None) -> IntervalRegressor:
    return load_content(content, path, network=network)
