"""Random rows like those that a model was fitted to, and unlike them."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import time
from itertools import compress
from typing import Any

import numpy as np

from confide.encoding import WordsColumn
from confide.estimators import IntervalRegressor
from confide.export.parts import plain_columns

# Shares of values that are missing, and that lie far from the others.
MISSING, FAR = 0.1, 0.05
NEW = "a value that training did not have"
SECONDS_A_DAY = 86_400


def random_rows(model: IntervalRegressor, n_rows: int, seed: int) -> Any:
    """Rows with every category and others, with holes, and far beyond the training data.

    Args:
        model: fitted.
        n_rows: how many.
        seed: of the draws.

    Returns:
        A table of pandas; an array where the model was fitted to one.
    """
    import pandas as pd

    generator, standardiser = np.random.default_rng(seed), model.fitted_.standardiser
    drawn = {}
    for column in plain_columns(model):
        place = column["start"]
        typical = standardiser.x_mean[place], standardiser.x_scale[place]
        drawn[column["name"]] = _Draws(generator, n_rows, *typical).of(column)
    if model.encoder_ is None:
        return np.stack([*drawn.values()], axis=1)
    unused = np.zeros(n_rows)
    return pd.DataFrame(
        {
            c.name: _texts_of(c, drawn) if isinstance(c, WordsColumn) else drawn.get(c.name, unused)
            for c in model.encoder_.columns
        }
    )


def _texts_of(column: WordsColumn, drawn: dict[str, Any]) -> list[str | None]:
    """Texts with the words that were drawn."""
    has = np.stack([drawn[name] == 1 for name in column.feature_names], axis=1)
    texts: list[str | None] = [" ".join(compress(column.words, row)) for row in has]
    if not column.has_indicator:
        return texts
    return [None if row[-1] else text for text, row in zip(texts, has, strict=True)]


@dataclass(frozen=True)
class _Draws:
    """Values of one column.

    Attributes:
        generator: of the draws.
        n_rows: how many.
        centre: of the column's first feature.
        scale: of the same.
    """

    generator: np.random.Generator
    n_rows: int
    centre: float
    scale: float

    def of(self, column: dict[str, Any]) -> Any:
        """Those of a column of any kind."""
        of_kind: dict[str, Callable[[dict[str, Any]], Any]] = {
            "category": self._texts,
            "boolean": self._booleans,
            "time": self._times,
            "duration": self._durations,
            "date": self._dates,
        }
        return of_kind.get(column["kind"], self._numbers)(column)

    def _numbers(self, _: dict[str, Any], far: float = 10.0) -> np.ndarray:
        is_far = self.generator.random(self.n_rows) < FAR
        spread = self.scale * np.where(is_far, far, 2.0)
        return self._with_holes(self.centre + spread * self.generator.normal(size=self.n_rows))

    def _booleans(self, _: dict[str, Any]) -> np.ndarray:
        return self._with_holes(self.generator.integers(0, 2, self.n_rows).astype(np.float64))

    def _texts(self, column: dict[str, Any]) -> np.ndarray:
        texts = np.array([*column["options"], NEW], object)
        return self._with_holes(self.generator.choice(texts, self.n_rows), None)

    def _times(self, _: dict[str, Any]) -> np.ndarray:
        seconds = self.generator.integers(0, SECONDS_A_DAY, self.n_rows).tolist()
        times = [time(s // 3600, s // 60 % 60, s % 60) for s in seconds]
        return self._with_holes(np.array(times, object), None)

    def _durations(self, column: dict[str, Any]) -> Any:
        import pandas as pd

        return pd.to_timedelta(np.round(self._numbers(column)), unit="s")

    def _dates(self, column: dict[str, Any]) -> Any:
        import pandas as pd

        seconds = np.round(SECONDS_A_DAY * self._numbers(column, far=2.0))  # dates end somewhere
        dates = pd.to_datetime(seconds, unit="s")
        zone = column["zone"]
        return dates if zone is None else dates.tz_localize("UTC").tz_convert(zone)

    def _with_holes(self, values: np.ndarray, hole: Any = np.nan) -> np.ndarray:
        values[self.generator.random(self.n_rows) < MISSING] = hole
        return values
