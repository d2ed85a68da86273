"""The comparison with other libraries: its scores, its store, and what its tables say."""

import ast
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from comparison import data as tables_of_numbers
from comparison import run as running
from comparison import tables
from comparison.answers import (
    CENTRAL_LEVELS,
    MIDPOINTS,
    PROBABILITIES,
    Answers,
    between_bounds,
    conformal_shift,
    normal_intervals,
    normal_quantiles,
)
from comparison.choice import choice
from comparison.contenders import CONTENDERS
from comparison.data import DATA, Split
from comparison.encoding import prepared
from comparison.picture import crps_ratios, ratio_chart
from comparison.run import Plan
from comparison.scores import crps_of_quantiles, prediction_scores, truth_scores
from comparison.store import Cell, Store
from comparison.summary import (
    best_overall,
    difference,
    frame_of,
    means,
    pointwise,
    ratios_to_best,
)
from comparison.tables import document_of, markdown_of
from peers import write_markdown
from scipy.stats import norm
from speed.measure import Outcome

from confide.metrics import crps_of_normal_mixture

ADAPTERS = Path(running.__file__).parent / "adapters"


# Scores.


def test_crps_of_quantiles_is_that_of_the_discrete_law_on_them():
    generator = np.random.default_rng(0)
    quantiles = np.sort(generator.normal(size=(50, 20)), axis=1)
    y = generator.normal(size=50)
    found = crps_of_quantiles(y, quantiles, np.array(MIDPOINTS))
    spread = np.abs(quantiles[:, :, None] - quantiles[:, None, :]).mean(axis=(1, 2))
    np.testing.assert_allclose(found, np.abs(quantiles - y[:, None]).mean(axis=1) - spread / 2)


def test_crps_of_twenty_quantiles_is_near_the_closed_form_of_a_normal_law():
    # Targets at quantiles of the law itself stand for its expectation; 0.2 % is measured with
    # 4,000 of them, and what is asserted leaves no room for another formula.
    y = norm.ppf((np.arange(4000) + 0.5) / 4000)
    quantiles = np.tile(norm.ppf(MIDPOINTS), (4000, 1))
    one = np.ones((4000, 1))
    exact = crps_of_normal_mixture(y, 0 * one, one, np.ones(1)).mean()
    found = crps_of_quantiles(y, quantiles, np.array(MIDPOINTS)).mean()
    assert found / exact == pytest.approx(1.0019, abs=2e-4)


def test_quantiles_from_central_intervals_are_those_of_the_law():
    mean, std = np.array([1.0, -2.0]), np.array([0.5, 3.0])
    half = std[:, None] * norm.ppf((1 + np.array(CENTRAL_LEVELS)) / 2)
    intervals = np.stack([mean[:, None] - half, mean[:, None] + half], axis=1)
    np.testing.assert_allclose(between_bounds(intervals), normal_quantiles(mean, std))
    np.testing.assert_allclose(normal_quantiles(mean, std)[0], norm.ppf(PROBABILITIES, 1.0, 0.5))


def test_normal_intervals_hold_what_they_say():
    bounds = normal_intervals(np.array([1.0]), np.array([2.0]))
    assert bounds.shape == (1, 2, 2)
    np.testing.assert_allclose(norm.cdf(bounds[0], 1.0, 2.0), [[0.1, 0.025], [0.9, 0.975]])


def test_conformal_shift_counts_one_more_row_than_there_are():
    # 19 residuals: the 5 % and 95 % quantiles are the outermost, and so is what lies beyond.
    residuals = np.arange(1.0, 20.0)[:, None]
    shift = dict(zip(PROBABILITIES, conformal_shift(residuals), strict=True))
    assert shift[0.1] == pytest.approx(2)
    assert shift[0.9] == pytest.approx(18)
    assert (shift[0.025], shift[0.975]) == (1, 19)


def test_conformal_shift_of_quantiles_is_their_own():
    generator = np.random.default_rng(0)
    quantiles = np.tile(norm.ppf(PROBABILITIES) + 3, (99, 1))
    y = generator.normal(size=(99, 1))
    shifted = quantiles[0] + conformal_shift(y - quantiles)
    np.testing.assert_allclose(shifted, np.quantile(y, PROBABILITIES, method="weibull"))


def made_up_split(**more):
    X = np.zeros((2, 1))
    return Split(X, np.zeros(2), X, np.array([0.0, 30.0]), scale=10.0, **more)


def made_up_answers(**more):
    # Quantile p of both rows is 20 p - 10: from -9.5 to 9.5 at 95 %, from -8 to 8 at 80 %.
    quantiles = np.tile(20 * np.array(PROBABILITIES) - 10, (2, 1))
    return Answers(np.array([3.0, 26.0]), quantiles, **more)


def test_prediction_scores_by_hand():
    found = prediction_scores(made_up_split(), made_up_answers())
    assert found["rmse"] == pytest.approx(np.sqrt((9 + 16) / 2) / 10)
    assert found["picp_80"] == found["picp_95"] == 0.5
    assert found["width_80"] == pytest.approx(1.6)
    assert found["width_95"] == pytest.approx(1.9)
    # The second target lies 22 and 20.5 above: (16 + 16 + 22 * 2 / 0.2) / 2 and so on.
    assert found["interval_score_80"] == pytest.approx((16 + 22 * 10 / 2) / 10)
    assert found["interval_score_95"] == pytest.approx((19 + 20.5 * 40 / 2) / 10)


def test_truth_scores_by_hand():
    confidence = np.array([[[-1.0, -2.0], [1.0, 2.0]], [[0.0, -9.0], [4.0, 9.0]]])
    split = made_up_split(true_mean=np.array([0.0, 6.0]))
    found = truth_scores(split, made_up_answers(confidence=confidence))
    assert found["rmse_true"] == pytest.approx(np.sqrt((9 + 400) / 2) / 10)
    assert (found["held_80"], found["held_95"]) == ("10", "11")
    assert found["confidence_width_80"] == pytest.approx(0.3)
    assert found["confidence_width_95"] == pytest.approx(1.1)


def test_without_a_truth_or_a_confidence_interval_nothing_is_said_of_them():
    assert truth_scores(made_up_split(), made_up_answers()) == {}
    split = made_up_split(true_mean=np.zeros(2))
    assert list(truth_scores(split, made_up_answers())) == ["rmse_true"]


# Categories and holes.


def given(X, categories, *, reads_frames, X_test=None):
    """What a contender gets to fit and to predict."""
    got = []

    def fit(X, y, *, seed):
        del y, seed
        got.append(X)
        return got.append

    fitted = prepared(fit, categories, reads_frames=reads_frames)(X, np.zeros(len(X)), seed=0)
    fitted(X if X_test is None else X_test)
    return got


@pytest.mark.parametrize("reads_frames", [True, False])
def test_a_table_of_numbers_stays_as_it_is(reads_frames):
    X = np.arange(6.0).reshape(3, 2)
    for got in given(X, (), reads_frames=reads_frames):
        assert got is X


def test_categories_become_columns_and_holes_the_median_with_a_flag():
    X = np.array([[7.0, 1.0], [np.nan, 2.0], [5.0, np.nan], [7.0, 6.0]])
    X_test = np.array([[9.0, np.nan], [5.0, 0.0]])  # a category that training had not
    fitted, predicted = given(X, (0,), reads_frames=False, X_test=X_test)
    # Columns for 5, 7 and a hole, then the number and whether it was missing.
    assert fitted.tolist() == [
        [0, 1, 0, 1, 0],
        [0, 0, 1, 2, 0],
        [1, 0, 0, 2, 1],
        [0, 1, 0, 6, 0],
    ]
    assert predicted.tolist() == [[0, 0, 0, 2, 1], [1, 0, 0, 0, 0]]


def test_who_reads_frames_gets_categories_as_text_and_holes_as_holes():
    X = np.array([[7.0, 1.0], [np.nan, np.nan], [-0.5, 2.0]])
    for got in given(X, (0,), reads_frames=True):
        assert got["x0"].tolist()[::2] == ["value 7", "value -0.5"]
        assert got["x0"].dtype == "category"
        assert got.isna().to_numpy().tolist() == np.isnan(X).tolist()
        assert got["x1"].tolist()[::2] == [1.0, 2.0]


def test_a_table_with_holes_has_the_rows_of_the_table(monkeypatch):
    X = np.random.default_rng(0).normal(size=(50, 13))
    monkeypatch.setattr(tables_of_numbers, "_table", lambda name: (X, X[:, 0]))
    plain, holed = (DATA[name].split(1) for name in ("boston", "boston-holes"))
    np.testing.assert_array_equal(plain.y_test, holed.y_test)
    holes = np.isnan(holed.X)
    assert 0.05 < holes.mean() < 0.15  # a tenth, within three standard deviations of 520 cells
    np.testing.assert_array_equal(plain.X[~holes], holed.X[~holes])
    assert (plain.categories, holed.categories) == ((), (3, 8))


# The store.


def cell(contender="tabular", data="yacht", repeat=0):
    return Cell(contender, data, repeat, CONTENDERS[contender].settings, 246)


def test_a_store_gives_back_what_was_added_and_the_later_line_counts(tmp_path):
    store = Store(tmp_path / "folder" / "cells.jsonl")
    assert store.read() == {}
    store.add(cell(), {"crps": 1.0})
    store.add(cell(repeat=1), {"crps": 2.0})
    store.add(cell(), {"crps": 3.0})
    assert [line["crps"] for line in store.read().values()] == [3.0, 2.0]
    assert list(store.read()) == [cell(), cell(repeat=1)]


def test_half_a_line_that_a_killed_run_left_is_replaced(tmp_path):
    store = Store(tmp_path / "cells.jsonl")
    store.add(cell(), {"crps": 1.0})
    with store.path.open("a") as file:
        file.write('{"cell": {"contender": "de"')
    assert list(store.read()) == [cell()]
    store.add(cell(repeat=1), {"crps": 2.0})
    assert list(store.read()) == [cell(), cell(repeat=1)]


def test_a_line_that_is_no_cell_is_named(tmp_path):
    store = Store(tmp_path / "cells.jsonl")
    store.add(cell(), {})
    store.path.write_text('{"crps": 1.0}\n' + store.path.read_text())
    with pytest.raises(ValueError, match=r"cells.jsonl, line 1: a finished cell was needed"):
        store.read()


# Runs.


@pytest.fixture
def ran(monkeypatch):
    """The cells that are run; NGBoost is not installed and the Gaussian process fails."""
    cells = []

    def run_cell(cell, split, timeout_seconds):
        del split, timeout_seconds
        cells.append((cell.contender, cell.repeat))
        if cell.contender == "ngboost":
            return Outcome(problem="not installed"), {"problem": "not installed"}
        if cell.contender == "gp":
            return Outcome(problem="failed: so", failed=True), {"problem": "failed: so"}
        return Outcome(), {"crps": 0.5, "measured": {"fit": 1.0}}

    monkeypatch.setattr(running, "run_cell", run_cell)
    return cells


def test_a_run_goes_on_where_it_was(tmp_path, ran):
    store = Store(tmp_path / "cells.jsonl")
    running.run(Plan(["de", "bde"], ["friedman1"], repeats=1), store)
    assert ran == [("de", 0), ("bde", 0)]
    del ran[:]
    running.run(Plan(["de", "bde"], ["friedman1"], repeats=2), store)
    assert ran == [("de", 1), ("bde", 1)]
    running.run(Plan(["de", "bde"], ["friedman1"], repeats=2), store)
    assert len(ran) == 2


def test_failed_cells_are_kept_and_run_anew_on_demand(tmp_path, ran):
    store = Store(tmp_path / "cells.jsonl")
    running.run(Plan(["gp"], ["friedman1"], repeats=1), store)
    assert [line["problem"] for line in store.read().values()] == ["failed: so"]
    running.run(Plan(["gp"], ["friedman1"], repeats=1), store)
    assert len(ran) == 1
    running.run(Plan(["de"], ["friedman1"], repeats=1), store)
    del ran[:]
    running.run(Plan(["gp", "de"], ["friedman1"], repeats=1, retry=True), store)
    assert ran == [("gp", 0)]


def test_a_missing_library_is_tried_once_and_not_kept(tmp_path, ran):
    store = Store(tmp_path / "cells.jsonl")
    missing = running.run(Plan(["ngboost", "de"], ["friedman1"], repeats=2), store)
    assert missing == ["NGBoost: not installed"]
    assert ran == [("ngboost", 0), ("de", 0), ("de", 1)]
    assert {cell.contender for cell in store.read()} == {"de"}


def test_cells_of_other_settings_or_rows_are_run_anew(tmp_path, ran):
    store = Store(tmp_path / "cells.jsonl")
    n_rows = len(DATA["friedman1"].split(0).y)
    store.add(Cell("de", "friedman1", 0, "Other settings.", n_rows), {})
    store.add(Cell("de", "friedman1", 0, CONTENDERS["de"].settings, n_rows + 1), {})
    running.run(Plan(["de"], ["friedman1"], repeats=1), store)
    assert ran == [("de", 0)]


def test_every_data_set_has_its_first_repeat_before_any_its_second():
    plan = Plan(data=["boston", "kin8nm"])
    assert list(plan.splits())[:3] == [("boston", 0), ("kin8nm", 0), ("boston", 1)]
    assert list(plan.splits())[-1] == ("boston", 4)


def test_repeats_of_a_truth_share_inputs_and_the_function_but_no_targets():
    first, second = (DATA["ishigami"].split(repeat) for repeat in (0, 1))
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.true_mean, second.true_mean)
    assert first.scale == second.scale
    assert not np.any(first.y == second.y)
    assert not np.any(first.y_test == second.y_test)


def test_every_contender_has_its_adapter():
    for contender in CONTENDERS.values():
        module, _, function = contender.fit.partition(":")
        tree = ast.parse((ADAPTERS / f"{module}.py").read_text())
        assert function in [each.name for each in tree.body if isinstance(each, ast.FunctionDef)]


def test_a_cell_is_a_process_with_answers_times_and_memory(monkeypatch):
    split = DATA["friedman1"].split(0)
    small = Split(
        split.X[:60], split.y[:60], split.X_test, split.y_test, split.scale, split.true_mean
    )
    # The settings of this session's shell are not the child's affair.
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    outcome, found = running.run_cell(cell("gp", "friedman1"), small)
    assert outcome.problem is None
    assert 0.3 < found["rmse"] < 1  # between the noise's share and knowing nothing
    assert len(found["held_80"]) == len(split.y_test)
    assert found["measured"]["fit"] > 0
    assert found["measured"]["memory"] >= 0
    assert json.loads(json.dumps(found)) == found


# Tables.


def line(crps, *, held=None, fit=1.0, picp=0.95, memory=5e6):
    scores = dict.fromkeys(("rmse", "interval_score_80", "interval_score_95"), crps)
    scores |= dict.fromkeys(("picp_80", "picp_95", "width_80", "width_95"), picp)
    measured = {"imports": 1.0, "fit": fit, "predict": 0.1, "memory": memory}
    made = {"commit": "abc", "date": "2030-01-31T00:00", "cpu": "x", "cores": 2, "python": "3"}
    more = {} if held is None else {"held_80": held, "held_95": held, "rmse_true": 0.1}
    if held is not None:
        more |= {"confidence_width_80": 0.2, "confidence_width_95": 0.3}
    return {
        "crps": crps,
        **scores,
        **more,
        "measured": measured,
        "versions": {"confide": "0.1.0"},
        "made": made,
    }


@pytest.fixture
def known():
    """Three repeats: NGBoost twice as good on yacht, half as good on boston, without a function."""
    cells = {}
    for repeat in range(3):
        cells[cell("tabular", "yacht", repeat)] = line(0.2 + 0.01 * repeat)
        cells[cell("tabular", "boston", repeat)] = line(0.2 + 0.01 * repeat)
        cells[cell("ngboost", "yacht", repeat)] = line(0.1 + 0.011 * repeat, fit=0.25)
        cells[cell("ngboost", "boston", repeat)] = line(0.4 + 0.011 * repeat, fit=0.25)
        cells[cell("tabular", "friedman1", repeat)] = line(0.2, held="1110" if repeat else "1100")
        cells[cell("ngboost", "friedman1", repeat)] = line(0.2)
    return cells


def test_means_have_standard_errors_over_repeats(known):
    every = means(frame_of(known), ["crps"]).set_index(["data", "contender"])
    assert every.loc[("yacht", "tabular"), "crps"] == pytest.approx(0.21)
    assert every.loc[("yacht", "tabular"), "crps_se"] == pytest.approx(0.01 / np.sqrt(3))
    assert every.loc[("yacht", "tabular"), "repeats"] == 3
    assert np.isnan(every.loc[("friedman1", "tabular"), "crps_se"])  # all the same: no "± 0"


def test_pointwise_coverage_is_counted_over_repeats(known):
    frame = frame_of(known)
    # Rows held in all, all, two of three and no repeat; chance's share c (1 - c) / 2 taken off.
    squares = [0.2**2, 0.2**2, (2 / 3 - 0.8) ** 2 - (2 / 9) / 2, 0.8**2]
    assert pointwise(frame, "friedman1", "tabular", 0.8).brier == pytest.approx(np.mean(squares))
    assert pointwise(frame, "friedman1", "ngboost", 0.8) is None
    assert pointwise(frame, "yacht", "tabular", 0.8) is None


def test_a_difference_is_paired_and_matters_if_chance_would_not_show_it(known):
    frame = frame_of(known)
    found = difference(frame, "yacht", "ngboost", "tabular", "crps")
    assert found.mean == pytest.approx(-0.099)
    assert found.matters
    known[cell("ngboost", "yacht", 2)] = line(0.5)
    assert not difference(frame_of(known), "yacht", "ngboost", "tabular", "crps").matters
    assert difference(frame, "yacht", "gp", "tabular", "crps") is None


@pytest.mark.parametrize(("data", "matters"), [("yacht", False), ("friedman1", True)])
def test_repeats_of_a_table_share_rows_and_those_of_a_simulation_do_not(known, data, matters):
    # Differences 2, 3 and 4: t is 3 / sqrt(1 / 3) = 5.2 if they are independent, and
    # 3 / sqrt(1 / 3 + 1 / 4) = 3.9 with a quarter as many test rows as training rows; 4.3 counts.
    for repeat in range(3):
        known[cell("tabular", data, repeat)] = line(1.0, held="1110")
        known[cell("ngboost", data, repeat)] = line(3.0 + repeat)
    assert difference(frame_of(known), data, "ngboost", "tabular", "crps").matters is matters


def test_the_report_shows_ratios_marks_and_what_is_not_there(known):
    text = markdown_of(document_of(known, ["quantile-forest: not installed"]))
    # 0.21 against 0.111 on yacht and 0.411 against 0.21 on boston, both clear of chance.
    assert "| NGBoost | 1.96 † | 1.00 |" in text
    assert "| confide, recipe tabular | 1.00 | 1.89 † |" in text
    assert "| NGBoost | 0.1000 | has none | has none |" not in text  # no RMSE to the truth either
    assert "has none | has none | has none" in text
    assert "- quantile-forest: not installed" in text
    assert "yacht: 246 training rows, repeats: 3." in text
    assert "commit: abc" in text
    assert "confide: 0.1.0" in text


def overview_of(known):
    (overview,) = [
        part
        for section in document_of(known, []).sections
        for part in section.parts
        if getattr(part, "name", "") == "overview"
    ]
    return overview.frame.set_index("contender")


def test_the_overview_measures_against_the_best_of_each_table_and_overall(known):
    overview = overview_of(known)
    ours, theirs = np.sqrt(0.21 / 0.111), np.sqrt(0.411 / 0.21)
    assert list(overview.index) == ["confide, recipe tabular", "NGBoost"]  # the best first
    assert overview["crps"].tolist() == pytest.approx([ours, theirs])
    assert overview["crps_overall"].tolist() == pytest.approx([1, theirs / ours])
    assert overview["crps_near"].tolist() == [1, 1]
    assert overview["rmse"].tolist() == pytest.approx([ours, theirs])
    assert overview["tables"].tolist() == [2, 2]


def test_a_score_is_near_the_best_up_to_a_tenth_above_it():
    assert tables._near_best(pd.Series([1.0, 1.1, 1.11, np.nan])) == 2


@pytest.mark.parametrize(("picp", "near"), [(0.859, [2, 0]), (0.891, [0, 2]), (0.861, [0, 0])])
def test_the_overview_counts_tables_whose_coverage_is_near_its_level(known, picp, near):
    for repeat in range(3):
        for data in ("yacht", "boston"):
            known[cell("tabular", data, repeat)] = line(0.2, picp=picp)
    ours = overview_of(known).loc["confide, recipe tabular"]
    assert [ours["held_80"], ours["held_95"]] == near


def test_the_best_overall_has_all_tables(known):
    known[cell("gp", "yacht", 0)] = line(0.01)  # the best, on one table
    ratios = ratios_to_best(frame_of(known), "crps")
    # On both tables, 10 and 1.96 times the lowest are less than 20 and 1 times.
    assert best_overall(ratios[["yacht", "boston"]]) == "ngboost"
    assert np.isnan(ratios.loc["gp", "boston"])


def test_contenders_are_compared_on_the_repeats_that_all_have(known):
    known[cell("gp", "yacht", 0)] = line(0.1)
    ratios = ratios_to_best(frame_of(known), "crps")
    assert ratios["yacht"].to_dict() == pytest.approx({"tabular": 2, "ngboost": 1, "gp": 1})
    known[cell("skpro", "yacht", 4)] = line(0.1)  # none in common: all of them count
    ratios = ratios_to_best(frame_of(known), "crps")
    assert ratios.loc["ngboost", "yacht"] == pytest.approx(1.11)


def test_the_picture_shows_each_ratio_and_their_geometric_mean(known, tmp_path):
    frame = frame_of(known)
    tables = frame[frame["data"] != "friedman1"]
    ratios = crps_ratios(tables).set_index(["contender", "data"])
    assert ratios.loc["ngboost", "ratio"].to_dict() == pytest.approx(
        {"yacht": 1, "boston": 0.411 / 0.21}
    )
    assert ratios.loc["ngboost", "mean"].unique() == pytest.approx((0.411 / 0.21) ** 0.5)
    drawn = ratio_chart(tables).to_dict()
    labels = drawn["layer"][1]["encoding"]["y"]["sort"]
    assert labels == ["confide, recipe tabular", "NGBoost"]  # 1.38 and 1.40: the best on top
    write_markdown(document_of(known, []), tmp_path / "peers.md")
    assert "](peers-crps.svg)" in (tmp_path / "peers.md").read_text()
    assert "NGBoost" in (tmp_path / "peers-crps.svg").read_text()


def test_one_contender_alone_has_no_picture(known):
    alone = {each: line for each, line in known.items() if each.contender == "ngboost"}
    assert document_of(alone, []).figures == ()


def test_tables_with_holes_have_a_section_of_their_own(known):
    before = overview_of(known)
    for repeat in range(3):
        known[cell("tabular", "boston-holes", repeat)] = line(0.3)
        known[cell("ngboost", "boston-holes", repeat)] = line(0.6)
    assert overview_of(known).equals(before)
    text = markdown_of(document_of(known, []))
    assert "## Tables with categories and holes" in text
    assert "| contender | boston with holes |" in text
    assert "boston with holes" not in "".join(choice(frame_of(known)))


def test_a_failed_cell_is_shown_with_its_reason_and_counts_nowhere(known):
    known[cell("ngboost", "yacht", 0)] = {**line(9.0), "problem": "failed: out of memory"}
    text = markdown_of(document_of(known, []))
    assert "- NGBoost on yacht, repeat 0: failed: out of memory" in text
    assert len(frame_of(known)) == len(known) - 1


def test_cells_of_other_settings_are_not_reported(known):
    stale = cell("ngboost", "yacht", 3)._replace(settings="Others.")
    known[stale] = line(9.0)
    known[stale._replace(repeat=4)] = {**line(9.0), "problem": "failed"}
    assert set(frame_of(known)["repeat"]) == {0, 1, 2}
    assert "What was not measured" not in markdown_of(document_of(known, []))


def test_nothing_finished_is_an_error():
    with pytest.raises(ValueError, match="No cell is finished yet"):
        document_of({}, [])


def test_the_choice_follows_the_numbers(known):
    ours, theirs = choice(frame_of(known))
    assert (
        "row by row confide, recipe tabular is nearest to the level: Brier score and mean coverage"
        in ours
    )
    assert "at 80 %, over the truths, are confide, recipe tabular 0.157 and 67 %" in ours
    assert (
        "your data are like boston, where confide, recipe tabular has a lower CRPS than every peer"
        in ours
    )
    assert "on yacht some peer has a lower CRPS than confide, recipe tabular" in ours
    assert "your data are like yacht, where its CRPS is lower than confide's" in theirs
    assert "on boston confide's CRPS is lower" in theirs
    assert "it has no confidence interval" in theirs
    assert "or when time of a first fit counts (0.25 times confide's)" in theirs
    assert "memory" not in theirs


def test_a_peer_for_which_nothing_speaks_is_said_to_be_so(known):
    for repeat in range(3):
        for data in ("yacht", "boston"):
            known[cell("ngboost", data, repeat)] = line(0.4 + 0.011 * repeat, fit=2.0, picp=0.5)
    ours, theirs = choice(frame_of(known))
    assert theirs.startswith(
        "**NGBoost**: no measure here speaks for it. But on boston, yacht conf"
    )
    assert "not when time of a first fit counts (2 times confide's)" in theirs
    assert "confide, recipe tabular are off by 0.0 points" in ours
    assert "NGBoost by 45.0" in ours
    assert "some peer" not in ours


def test_what_chance_may_do_and_small_differences_are_no_reason(known):
    for repeat in range(3):
        for data in ("yacht", "boston"):  # 0.2, 0.21 and 0.22 are the reference's
            crps = (0.15, 0.25, 0.2)[repeat]
            known[cell("ngboost", data, repeat)] = line(crps, fit=0.8, memory=4e6)
    ours, theirs = choice(frame_of(known))
    assert "your data are like" not in ours + theirs
    assert "lower CRPS" not in ours + theirs
    assert "counts" not in theirs


def test_a_peer_whose_confidence_intervals_are_nearer_is_said_to_be_so(known):
    for repeat in range(3):
        known[cell("gp", "friedman1", repeat)] = line(0.2, held="1111" if repeat else "0111")
        known[cell("gp", "yacht", repeat)] = line(0.3 + 0.011 * repeat)
    ours, _, of_gp = choice(frame_of(known))
    assert "pointwise coverage is nearer to its level than confide's" in of_gp
    for_it, against_it = ours.split(" But ")
    assert "confidence interval" not in for_it
    assert "Gaussian process is nearest" in against_it
    assert (
        "are Gaussian process 0.007 and 92 %, confide, recipe tabular 0.157 and 67 %" in against_it
    )


def test_confidence_intervals_that_are_nearer_by_chance_are_no_reason(known):
    for repeat, held in enumerate(("1110", "1100", "1111")):  # a row that is held once
        known[cell("gp", "friedman1", repeat)] = line(0.2, held=held)
        known[cell("gp", "yacht", repeat)] = line(0.3 + 0.011 * repeat)
    frame = frame_of(known)
    scores = [pointwise(frame, "friedman1", name, 0.8).brier for name in ("gp", "tabular")]
    assert scores[0] < scores[1]
    *_, of_gp = choice(frame)
    assert "pointwise coverage" not in of_gp


def test_no_peer_is_measured_against_the_best_of_our_variants(known):
    for repeat in range(3):
        for data in ("yacht", "boston"):
            known[cell("bde-auto", data, repeat)] = line(0.05 + 0.01 * repeat, fit=4.0)
    ours, of_auto, theirs = choice(frame_of(known))
    assert "your data are like boston, where confide, recipe tabular" in ours
    assert "on yacht some peer has a lower CRPS than confide, recipe tabular" in ours
    assert of_auto.startswith(
        "**Choose confide, recipe paper, auto epochs when** your data are like boston, yacht,"
    )
    assert "not when time of a first fit counts (4 times confide's)" in of_auto
    assert "your data are like yacht, where its CRPS is lower than confide's" in theirs


def test_a_second_fit_that_was_not_timed_is_not_made_up(known):
    known[cell("contrib-bde", "yacht", 0)] = line(0.2, fit=20.0)
    frame = frame_of(known).set_index(["contender", "data", "repeat"])
    assert np.isnan(frame.loc[("contrib-bde", "yacht", 0), "fit_again"])
    assert frame.loc[("ngboost", "yacht", 0), "fit_again"] == 0.25
    *_, of_bde = choice(frame_of(known))
    assert "time of a first fit counts (20 times confide's)" in of_bde
    assert "running process" not in of_bde
    assert "| sklearn-contrib-bde | 20.00 | – | 0.100 | – | 5 |" in markdown_of(
        document_of(known, [])
    )


def test_without_confide_nothing_is_chosen(known):
    alone = {cell: line for cell, line in known.items() if cell.contender == "ngboost"}
    (said,) = choice(frame_of(alone))
    assert said == "Nothing can be said without confide, recipe tabular on one of the tables."
