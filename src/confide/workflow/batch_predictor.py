"""A model that predicts batches in any process: of Ray Data, Spark or Dask."""

import functools
import io
import os
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confide.checks import checked_level
from confide.estimators import IntervalRegressor, load
from confide.workflow.predict import feature_names, predicted_block

if TYPE_CHECKING:
    import pyarrow as pa


class BatchPredictor:
    """Predicts batches of a table, with the columns of `confide predict`.

    It carries the model's file with it, so workers need no common disk. Each process loads the
    model once. Rows are predicted as they come, and batches may have any number of rows.

    Args:
        model: path of a model, or a fitted model.
        confidence_level: of both kinds of intervals.
        keep: columns to repeat before the predictions.
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
        self.keep, self.network = tuple(keep), network
        if isinstance(model, IntervalRegressor):
            file = io.BytesIO()
            model.save(file)
            self.name, self._content = "model.confide", file.getvalue()
        else:
            self.name, self._content = Path(model).name, Path(model).read_bytes()
        feature_names(self.model)  # what cannot be loaded or asked is refused here

    @property
    def model(self) -> IntervalRegressor:
        """The model, loaded in this process if it is not yet."""
        return _loaded(self._content, self.name, self.network)

    def __call__(self, batch: Any) -> Any:
        """The predictions of a batch, as a table of the same kind.

        Args:
            batch: a table of pandas or pyarrow, or a dictionary of arrays.

        Raises:
            TableMismatchError: columns are missing that the model needs.
        """
        import pandas as pd
        import pyarrow as pa

        if isinstance(batch, pa.Table):
            return self._predicted(batch)
        if isinstance(batch, pd.DataFrame):
            predicted = self._predicted(pa.Table.from_pandas(batch, preserve_index=False))
            return predicted.to_pandas().set_axis(batch.index)
        if isinstance(batch, Mapping):
            predicted = self._predicted(pa.table(dict(batch)))
            return {name: predicted[name].to_numpy() for name in predicted.column_names}
        raise TypeError(
            "A batch must be a table of pandas or pyarrow, or a dictionary of arrays, got a "
            f"{type(batch).__name__}. Ray Data: pass batch_format='pyarrow'."
        )

    def _predicted(self, batch: "pa.Table") -> "pa.Table":
        # A part of a table may be empty, and must have the columns of the others.
        rows = batch if batch.num_rows else _typical_row(batch.schema)
        how = (self.model, self.confidence_level, self.keep)
        with warnings.catch_warnings():
            if rows is not batch:
                warnings.simplefilter("ignore")
            return predicted_block((0, rows), *how).table.slice(0, batch.num_rows)


def _typical_row(schema: "pa.Schema") -> "pa.Table":
    """A row in which all values are missing, which predictions take for typical ones."""
    import pyarrow as pa

    return pa.table({field.name: pa.nulls(1, field.type) for field in schema})


@functools.lru_cache(maxsize=4)
def _loaded(content: bytes, name: str, network: Callable[..., Any] | None) -> IntervalRegressor:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name  # so that messages name the file
        path.write_bytes(content)
        return load(path, network=network)
