"""Why predictions are what they are: of a model whose answers are known exactly."""

import warnings
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import confide
from confide.encoding import EncodedTable, Encoder
from confide.inspection import Effects
from confide.workflow import why


def encoded(n=60):
    size = np.arange(n, dtype=float)
    kind = np.where(np.arange(n) % 3 == 0, "rare", "common")
    table = pa.table({"size": size, "kind": kind, "noise": size[::-1].copy()})
    encoder = Encoder.fit(table)
    return EncodedTable(table, encoder, encoder.encode(table))


class Widths:
    """Prediction intervals as wide as the size, 20 more for the rare kind."""

    def __init__(self, features):
        of = features.encoder.feature_columns
        self.size, rare = of.index("size"), np.array([name == "kind" for name in of])
        self.rare = features.matrix[0, rare]
        self.kind = rare
        self.asked = 0

    def predict_interval(self, X, confidence_level):
        self.asked += len(X.matrix)
        is_rare = (X.matrix[:, self.kind] == self.rare).all(axis=1)
        width = 10 + X.matrix[:, self.size] + 20 * is_rare
        return np.zeros(len(width)), np.stack([-width / 2, width / 2], axis=1)


def test_wide_intervals_name_the_columns_that_make_them_so():
    features = encoded()
    model = Widths(features)
    found = why.wide_because(model, features, np.array([59, 57, 30, 0]), 0.9)
    # A size above the median widens, and so does the rare kind; the noise changes nothing.
    assert found == {59: ("size",), 57: ("size", "kind"), 30: ("kind",), 0: ("kind",)}
    assert model.asked == 4 * 4  # each column of each row, and the row itself


def test_an_infinite_interval_has_no_column_behind_it():
    def predict_interval(X, _):
        warnings.warn("bounds are infinite", UserWarning, stacklevel=2)  # the page says so itself
        return None, np.full((len(X.matrix), 2), [-np.inf, np.inf])

    model = SimpleNamespace(predict_interval=predict_interval)
    assert why.wide_because(model, encoded(), np.array([3]), 0.9) == {3: ()}


@pytest.fixture(scope="module")
def fitted():
    features = encoded()
    y = np.arange(60.0)
    model = confide.BootstrappedDeepEnsembleRegressor(
        recipe="paper", n_members=2, max_epochs=2, random_state=0
    )
    return model.fit(features.table, y), features, y


def test_effects_are_of_unseen_rows_where_these_are_enough(fitted):
    model, features, y = fitted
    found = why.effects_of(model, features, y, np.arange(60), np.arange(25), 0.9)
    assert isinstance(found, Effects)
    assert (found.n_rows, found.has_targets, found.confidence_level) == (25, True, 0.9)
    found = why.effects_of(model, features, y, np.arange(60), np.arange(5), 0.9)
    assert (found.n_rows, found.has_targets) == (60, False)


def test_without_effects_the_reason_is_given(fitted, monkeypatch):
    model, features, y = fitted
    few = EncodedTable(features.table.slice(0, 5), features.encoder, features.matrix[:5])
    assert "fewer than 20 are too few" in why.effects_of(
        model, few, None, np.arange(5), np.arange(0), 0.9
    )
    monkeypatch.setattr(model, "target_", object())
    assert "target_transform" in why.effects_of(
        model, features, y, np.arange(60), np.arange(60), 0.9
    )
