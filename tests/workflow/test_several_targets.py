"""Several targets of one table: models, predictions, descriptions and a page."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from support.workers import Workers

import confide
from confide import BootstrappedDeepEnsembleRegressor
from confide.document import render_page
from confide.errors import TargetError
from confide.workflow import (
    Notes,
    TargetDescriptions,
    described,
    fit_table,
    fit_targets,
    page_of,
    prediction_blocks,
    refuse_missing_columns,
)

TARGETS = ["price", "rent per month"]


@pytest.fixture(scope="module")
def rows():
    """A table with a category, an identifier, and targets that are missing in other rows."""
    generator = np.random.default_rng(5)
    n = 120
    x = generator.normal(size=n)
    colour = generator.choice(["red", "green"], n)
    price = 2 * x + (colour == "red") + generator.normal(0, 0.3, n)
    rent = 10 - x + generator.normal(0, 0.3, n)
    return pa.table(
        {
            "id": [f"row {i}" for i in range(n)],
            "x": x,
            "colour": colour,
            "price": pa.array(price, mask=np.arange(n) == 3),
            "rent per month": pa.array(rent, mask=np.arange(n) < 2),
            "z": generator.normal(size=n),
        }
    )


@pytest.fixture(scope="module")
def estimator(small):
    return BootstrappedDeepEnsembleRegressor(**small)


@pytest.fixture(scope="module")
def fitted(rows, estimator):
    return fit_targets(rows, TARGETS, clone(estimator), file="rows.csv", seed=1)


@pytest.fixture(scope="module")
def model(fitted, tmp_path_factory):
    """From a file."""
    path = tmp_path_factory.mktemp("models") / "model.confide"
    fitted.model.save(path)
    return confide.load(path)


def predicted(model, rows, **how):
    return pa.concat_tables(prediction_blocks(model, [rows], **how)).to_pandas()


def test_each_target_is_fitted_as_if_the_others_were_not_there(rows, estimator, fitted, model):
    together = predicted(model, rows)
    for target, other in (TARGETS, TARGETS[::-1]):
        without = rows.drop_columns([other])
        alone = fit_table(without, target, clone(estimator), file="rows.csv", seed=1)
        expected = predicted(alone.model, without).add_prefix(f"{target}_")
        pd.testing.assert_frame_equal(together[expected.columns], expected, check_exact=True)
        assert fitted.targets[target].to_json() == alone.to_json()


def test_workers_fit_and_judge_a_target_each(rows, estimator, fitted, tmp_path):
    engine = Workers(2)
    away = fit_targets(
        rows, TARGETS, clone(estimator).set_params(engine=engine), file="rows.csv", seed=1
    )
    assert engine.names == ["_fitted_here"] * 2
    assert away.to_json() == fitted.to_json()
    assert away.targets["price"].notes == fitted.targets["price"].notes
    for name, each in {"home": fitted, "away": away}.items():
        each.model.save(tmp_path / name)
    assert (tmp_path / "home").read_bytes() == (tmp_path / "away").read_bytes()


def test_blocks_of_rows_and_kept_columns_are_predicted_alike(model, rows):
    whole, notes = predicted(model, rows, keep=["id"]), Notes()
    blocks = [rows.slice(0, 50), rows.slice(50)]
    parts = pa.concat_tables(prediction_blocks(model, blocks, keep=["id"], notes=notes))
    # A block of another length may round the last bit otherwise.
    pd.testing.assert_frame_equal(parts.to_pandas(), whole, rtol=1e-12)
    assert list(whole)[:2] == ["id", "price_mean"]
    assert sum("unlike the training data" in note for note in notes) == 1


def test_columns_that_no_target_uses_need_not_be_there(model, rows):
    assert "id" not in model.targets_["price"].encoder_.feature_columns
    refuse_missing_columns(model, rows.drop_columns(["id", *TARGETS]).column_names)


def test_a_description_has_what_is_each_targets_own_and_what_is_common(model, fitted):
    description = described(model)
    assert isinstance(description, TargetDescriptions)
    assert description.to_json() == fitted.to_json()
    lines = description.lines
    assert lines[0] == "2 targets: price, rent per month"
    assert [lines.count(name) for name in TARGETS] == [1, 1]
    assert any(re.match(r"  rows: +95 trained on, 24 held out", line) for line in lines)
    assert sum("method:" in line for line in lines) == 1
    assert lines.count("4 columns:") == 1
    assert any("2 rows of 120 left out" in line for line in lines)


@pytest.mark.slow
def test_a_page_has_a_part_for_each_target_and_every_name_once(model, rows):
    document = page_of(model, rows, file="rows.csv")
    assert [section.title for section in document.sections] == TARGETS
    assert document.title == "Predictions of price, rent per month: rows.csv"
    assert document.provenance["table"] == "rows.csv"
    assert document.provenance["price: predicts"] == "price"
    page = render_page(document)
    anchors = re.findall(r' id="([^"]+)"', page)
    assert len(anchors) == len(set(anchors))
    assert {"table-rows-1", "table-rows-2", "section-predictions-2"} <= set(anchors)
    assert page.count("computed in this page") == 2
    assert page.count("The panel &quot;What if&quot;") + page.count('The panel "What if"') == 1


def test_a_page_of_one_target_is_as_it_was(fitted, rows):
    document = page_of(fitted.targets["price"].model, rows, file="rows.csv")
    assert document.title == "Predictions of price: rows.csv"
    assert "rows" in [table.name for table in document.tables]


@pytest.mark.slow
def test_the_page_answers_for_both_targets(open_page, model, rows, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(render_page(page_of(model, rows)), encoding="utf-8")
    seen = open_page(path.as_uri(), 1440)
    assert seen.complaints == []
    for number, target in enumerate(TARGETS, start=1):
        panel = seen.page.locator(f"#panel-what-if-{number}")
        assert f"predicted {target}" in panel.inner_text()


@pytest.mark.parametrize(
    ("targets", "problem"),
    [
        (["price", "prices"], "no column 'prices' to predict.*Did you mean 'price'"),
        (["price", ""], "no column '' to predict"),
        (["price", "price"], "'price' is named twice"),
        (["price", "colour"], "'colour' must be numbers"),
        (["price", "same"], "'same' cannot be predicted: y must vary"),
        (["price", "empty"], "'empty' is missing in all 120 rows"),
    ],
)
def test_a_wrong_target_is_told_before_any_is_trained(
    rows, estimator, targets, problem, monkeypatch
):
    table = rows.append_column("same", pa.array([1.0] * 120))
    table = table.append_column("empty", pa.nulls(120, pa.float64()))
    monkeypatch.setattr(BootstrappedDeepEnsembleRegressor, "fit", None)
    with pytest.raises(TargetError, match=f"(?s){problem}"):
        fit_targets(table, targets, clone(estimator))
