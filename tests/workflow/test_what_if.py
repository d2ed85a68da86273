"""What the page computes for a changed row is what the model predicts for it."""

import copy
import json
import random
import warnings
from datetime import date, time, timedelta

import numpy as np
import pyarrow as pa
import pytest
from support.browsing import outside_requests

import confide
from confide.document import number_text, render_page
from confide.errors import NoPlainFormError
from confide.export import model_parts
from confide.workflow import fit_table, page_document, page_inputs
from confide.workflow.page import what_if as panel
from confide.workflow.page.rows import Rows

N, LEVEL = 300, 0.9
COLOURS = ["red", "green", "</script><script>window.hacked=1</script>", '"><img src=x onerror=1>']
NAME = "colour <img src=x onerror=window.hacked=1>"


def rows(n=N, seed=0):
    """Columns of every kind: holes, rare and many categories, dates and times, free text."""
    generator = np.random.default_rng(seed)
    size, jobs = generator.gamma(5, 20, n), [f"job {i}" for i in range(60)]
    rare = np.where(generator.random(n) < 0.03, "rare", generator.choice(COLOURS, n))
    days = [date(2019, 1, 1) + timedelta(days=int(d)) for d in generator.integers(0, 900, n)]
    hours = [time(int(h), 30) for h in generator.integers(0, 24, n)]
    stays = [timedelta(minutes=int(m)) for m in generator.integers(5, 500, n)]
    job = generator.integers(0, len(jobs), n)
    new = np.random.default_rng(seed + 1).random(n) < 0.4
    y = (
        300 * size
        + 40_000 * new
        + 5000 * (rare == "red")
        + 2000 * job
        + generator.normal(0, 3000, n)
        + 100_000
    )
    return pa.table(
        {
            "size": pa.array(size, mask=generator.random(n) < 0.1),
            "rooms": generator.integers(1, 9, n),
            NAME: pa.array(rare, mask=generator.random(n) < 0.1),
            "job": [jobs[i] for i in job],
            "garage": generator.random(n) < 0.5,
            "sold": pa.array(days),
            "opened": pa.array(hours, pa.time64("us")),
            "stay": pa.array(stays, pa.duration("s")),
            "remarks": [f"lot {i}, new" if is_new else f"lot {i}" for i, is_new in enumerate(new)],
            "price": y,
        }
    )


SMALL = {"n_members": 3, "hidden_layer_sizes": (8, 6), "max_epochs": 4, "random_state": 0}
RECIPES = {
    "paper": {"n_retrains": 2},
    "tabular": {"dropout": 0.0, "smooth": True, "calibration": None},
}


@pytest.fixture(scope="module")
def models():
    """Each recipe, calibrated on held-out rows and not; and one calibrated on twins."""
    found = {}
    for recipe, settings in RECIPES.items():
        estimator = confide.BootstrappedDeepEnsembleRegressor(recipe=recipe, **settings, **SMALL)
        found[recipe, "calibrated"] = fit_table(rows(), "price", estimator).model
        found[recipe, "own"] = own = copy.copy(found[recipe, "calibrated"])
        own.calibration_ = None
    estimator = confide.BootstrappedDeepEnsembleRegressor(recipe="paper", **SMALL)
    table = rows(120)
    features, y = table.drop_columns(["price"]), table.column("price").to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(features, y).calibrate_confidence(features, y, n_simulations=10)
    found["paper", "twins"] = estimator
    return found


def page_of(model, table, tmp_path):
    path = tmp_path / "page.html"
    inputs = page_inputs(model, table, confidence_level=LEVEL)
    path.write_text(render_page(page_document(inputs)), encoding="utf-8")
    return path


# For each column, values that a reader may choose, as the page writes them and as the table has.
CHOICES = {
    "size": [("12.5", 12.5), ("480", 480.0), (None, None)],
    "rooms": [("3", 3), ("11", 11)],
    NAME: [*((c, c) for c in COLOURS), ("(another value)", "new"), (None, None)],
    "job": [("job 3", "job 3"), ("job 59", "job 59"), ("(another value)", "never seen")],
    "garage": [("yes", True), ("no", False)],
    "sold": [("2020-02-29", date(2020, 2, 29)), ("1969-07-20", date(1969, 7, 20))],
    "opened": [("23:30:00", time(23, 30)), ("00:00:00", time(0, 0))],
    "stay": [("600", timedelta(seconds=600))],
    "remarks": [("yes", "A NEW lot"), ("no", "newer")],
}
DRIVE = """changes => {
  const panel = document.getElementById('panel-what-if');
  const picker = panel.querySelector('.picker select');
  const send = (element, type) => element.dispatchEvent(new Event(type, {bubbles: true}));
  return changes.map(([row, changed]) => {
    picker.value = String(row);
    send(picker, 'change');
    for (const [column, text] of changed) {
      const control = panel.querySelector(`[data-column="${column}"]`);
      const hole = control.querySelector('.hole input');
      const isHole = text === null;
      if (hole && hole.checked !== isHole) {
        hole.checked = isHole;
        send(hole, 'change');
      }
      if (text === null) continue;
      const element = control.querySelector('select, input:not([type=range], [type=checkbox])');
      const option = [...(element.options ?? [])].find(each => each.textContent === text);
      element.value = option ? option.value : text;
      send(element, 'change');
    }
    return panel.querySelector('.stage').dataset.answer;
  });
}"""


def changed_rows(table, numbers, n=200):
    """Random changes: what the page is told, and the same rows as a table."""
    generator, names = random.Random(1), list(CHOICES)  # noqa: S311
    told, lines = [], []
    for _ in range(n):
        row = generator.randrange(len(numbers))
        line = table.slice(numbers[row] - 1, 1).to_pylist()[0]
        changed = []
        for name in generator.sample(names, generator.randint(1, 4)):
            text, value = generator.choice(CHOICES[name])
            line[name] = value
            changed.append([names.index(name), text])
        told.append([row, changed])
        lines.append(line)
    return told, pa.Table.from_pylist(lines, schema=table.schema)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("recipe", "calibrated"),
    [*((recipe, how) for recipe in RECIPES for how in ("calibrated", "own")), ("paper", "twins")],
)
@pytest.mark.filterwarnings("ignore::confide.errors.UnseenValueWarning")
def test_the_pages_numbers_are_the_models(open_page, models, recipe, calibrated, tmp_path):
    model, table = models[recipe, calibrated], rows()
    seen = open_page(page_of(model, table, tmp_path).as_uri())
    stage = seen.page.locator("#panel-what-if .stage")
    numbers = seen.page.locator("#panel-what-if .picker option").all_text_contents()
    told, lines = changed_rows(table, [int(n.split(":")[0].removeprefix("row ")) for n in numbers])
    answers = [json.loads(text) for text in seen.page.evaluate(DRIVE, told)]
    expected = model.get_prediction(lines.drop_columns(["price"]))
    assert [a["mean"] for a in answers] == pytest.approx(expected.mean, rel=1e-5)
    for kind in ("prediction", "confidence"):
        bounds, wanted = np.array([a[kind] for a in answers]), expected.interval(kind, LEVEL)
        # Of the bound, or of the interval's width where a bound lies near zero.
        allowed = 1e-5 * np.maximum(np.abs(wanted), np.ptp(wanted, axis=1)[:, None])
        assert np.all(np.abs(bounds - wanted) <= allowed), kind
    for source, share in expected.shares.items():
        assert [a["shares"][source] for a in answers] == pytest.approx(share, rel=1e-5, abs=1e-5)
    assert len(set(expected.mean)) > 150
    number_format = Rows(page_inputs(model, table, confidence_level=LEVEL)).number_format
    assert stage.locator(".value").inner_text() == number_text(answers[-1]["mean"], number_format)
    assert "left out" not in stage.inner_text()
    assert seen.complaints == []
    assert outside_requests(seen) == []
    # Names and categories from the table are text.
    assert not seen.page.evaluate("'hacked' in window")
    assert stage.locator("img, script").count() == 0
    assert NAME[:20] in stage.inner_text()


@pytest.mark.slow
def test_a_page_of_many_rows_is_small_and_opens(open_page, models, tmp_path):
    path = page_of(models["paper", "calibrated"], rows(100_000, seed=3), tmp_path)
    assert path.stat().st_size < 10_000_000
    seen = open_page(path.as_uri(), 1440)
    assert seen.complaints == []
    assert seen.page.locator("#panel-what-if .value").inner_text()
    # Nothing can be tried out on paper.
    heading = seen.page.locator("#section-what-if")
    assert heading.is_visible()
    seen.page.emulate_media(media="print")
    assert heading.is_hidden()


@pytest.mark.slow
def test_what_the_page_cannot_evaluate_is_left_out_and_says_why(models, monkeypatch):
    estimator = confide.DeepEnsembleRegressor(n_members=2, max_epochs=1)
    other = estimator.fit(np.arange(40.0)[:, None], np.arange(40.0))
    with pytest.raises(NoPlainFormError, match="this model is a DeepEnsembleRegressor"):
        model_parts(other)
    inputs = page_inputs(models["paper", "own"], rows(20))
    monkeypatch.setattr(panel, "MOST_BYTES", 10)
    section = next(s for s in page_document(inputs).sections if s.title == "What if")
    assert "the model is too large for a page" in section.parts[0]
