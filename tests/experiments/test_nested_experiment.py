"""The nested experiment: its cells, its oracle, its numbers and its verdict."""

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

pytest.importorskip("pyarrow", reason="experiments need confide[experiments]")

from support.experiment_cells import nested_cells as made_up_cells
from support.experiment_cells import run_with

from confide import BootstrappedDeepEnsembleRegressor
from confide.coverage import Answers
from confide.experiments import EXPERIMENTS, Options, Saved
from confide.experiments.cell import as_parquet
from confide.experiments.coverage.judged import Judged
from confide.experiments.honest import cells as cells_module
from confide.experiments.honest.cells import n_data_sets, nested, nested_cells
from confide.experiments.honest.numbers import (
    costs,
    entries_of,
    half_width,
    in_nested_numbers,
    nested_headline,
    oracle_width,
    twins_chosen,
)
from confide.experiments.honest.problems import (
    AUTO,
    FORMULA,
    IN_WORDS,
    ORACLE,
    PROBLEMS,
    RAW,
    SETS,
    SHOWN_SHIFTS,
    SHOWN_TWINS,
    SMALL,
    UNSHIFTED,
    Problem,
)
from confide.experiments.honest.report import figures_of, tables_of
from confide.experiments.honest.verdict import Check, Demand, demands
from confide.experiments.simulated import Twin, seeds_of, twin_of
from confide.experiments.store import RunFolderError
from confide.simulate import ANALYTIC_TRUTHS, SYNTHETIC_TRUTHS, Sine

needs_data = pytest.mark.skipif(
    not (Path(os.environ.get("CONFIDE_DATA", "nowhere")) / "yacht.csv.gz").is_file(),
    reason="CONFIDE_DATA names no folder with yacht.csv.gz",
)
EXPERIMENT = EXPERIMENTS["honest-confidence"]
# A cell of a second: two data sets, short training, few simulations.
QUICK = {
    "set": "sine", "truth": FORMULA, "method": "BDE",
    "estimator": "BootstrappedDeepEnsembleRegressor",
    "parameters": {"max_epochs": 2, "n_members": 2, "hidden_layer_sizes": [4]},
    "variants": [RAW, AUTO], "n_simulations": 10, "levels": [0.8], "simulations": [0, 2], "seed": 0,
}  # fmt: skip


@pytest.fixture(scope="module")
def short_sine():
    """The sine with few rows in place of every problem."""
    truth = Sine()
    X = np.linspace(-1, 1, 50)[:, None]
    twin = Twin(X[::2], X[1:12:2], truth.mean(X[::2]), truth)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Problem, "twin", property(lambda _: twin))
        yield twin


@pytest.fixture(scope="module")
def computed(short_sine):
    """The quick cell's table, and what it told of its progress."""
    heard = []
    return nested(QUICK, heard.append), heard


@pytest.fixture(scope="module")
def made_up(tmp_path_factory):
    """Finished cells of all contenders on one truth, covering at random."""
    folder = run_with(
        tmp_path_factory.mktemp("runs") / "honest-confidence",
        "honest-confidence",
        *made_up_cells(["boston"], [0.8, 0.9]),
    )
    return folder.all_saved()


def without_time(frame):
    return frame.drop(columns=[name for name in frame if name.endswith("cpu_seconds")])


def saved(folder, frame, **changes):
    settings = {**QUICK, **changes}
    path = folder / f"{len(list(folder.iterdir()))}.parquet"
    path.write_bytes(as_parquet(frame, settings, {"cpu_seconds": 2.5}))
    return Saved.from_file(path)


# What there is to run.


def test_the_truths_are_those_that_were_asked_for():
    of = {truth: [p.set for p in PROBLEMS if p.truth == truth] for truth in
          ("random_forest", "network", "gradient_boosting", FORMULA, "larger_boosting",
           "larger_network")}  # fmt: skip
    eight = [*SMALL, "kin8nm-1000", "naval-1000", "power-1000"]
    assert of["random_forest"] == eight
    assert of["network"] == of["gradient_boosting"] == list(SMALL)
    noise = ["friedman1-t3", "friedman1-gamma"]
    assert of[FORMULA] == [*ANALYTIC_TRUTHS, *SYNTHETIC_TRUTHS, *noise]
    # Of other families than the twins'.
    assert of["larger_boosting"] == ["boston", "concrete"]
    assert of["larger_network"] == ["boston", "yacht"]
    assert {p.set for p in PROBLEMS} == set(SETS)


@needs_data
def test_what_matters_most_is_run_first_and_has_twice_as_many_data_sets():
    cells = nested_cells(EXPERIMENT.whole)
    assert len({c.name for c in cells}) == len(cells)
    everywhere = [c for c in cells if RAW in c.settings["variants"]]
    problems = dict.fromkeys((c.settings["set"], c.settings["truth"]) for c in everywhere)
    assert list(problems) == [(p.set, p.truth) for p in PROBLEMS]
    main = [(name, "random_forest") for name in SMALL]
    first = cells[: 5 * 3]  # sets, contenders
    assert {(c.settings["set"], c.settings["truth"]) for c in first} == set(main)
    assert all(c in everywhere for c in first)
    assert all(c.settings["simulations"] == [0, 5] for c in cells[: 3 * len(PROBLEMS)])
    last = {}
    for c in everywhere:
        problem, (_, stop) = (c.settings["set"], c.settings["truth"]), c.settings["simulations"]
        last[problem] = max(stop, last.get(problem, 0))
    assert last == {problem: 40 if problem in main else 20 for problem in problems}
    assert n_data_sets(Problem("naval-1000", "random_forest"), 5) == 3


@pytest.mark.slow
@needs_data
def test_a_large_set_has_a_thousand_of_its_own_rows_and_the_whole_sets_truth():
    short = Problem("power-1000", "random_forest").twin
    whole = twin_of("power")
    assert (len(short.X_train), len(short.X_test)) == (800, 200)
    assert Problem("power-1000", "random_forest").n_train == 800
    rows = np.concatenate([whole.X_train, whole.X_test])
    known = {row.tobytes() for row in rows}
    assert all(row.tobytes() in known for row in np.concatenate([short.X_train, short.X_test]))
    assert short.truth.mean(rows[:5]).tolist() == whole.truth.mean(rows[:5]).tolist()


def test_rows_of_a_formula_are_the_same_each_time_and_new_ones_for_tests():
    twin = Problem("friedman1", FORMULA).twin
    assert twin.X_train.shape == (400, 10)
    assert twin.X_test.shape == (100, 10)
    assert not set(twin.X_train[:, 0]) & set(twin.X_test[:, 0])
    assert Problem("friedman1", FORMULA).n_train == 400


def test_methods_and_sets_can_be_left_out():
    methods = ("BDE of the paper", "NB")
    options = Options(simulations=15, sets=("sine",), methods=methods, levels=(0.8,))
    assert [cell.name for cell in nested_cells(options)] == [
        f"sine/formula/{name}-raw/{block}" for block in ("000-004", "005-007") for name in methods
    ]


def test_formulas_may_have_other_noise():
    usual, skewed = (Problem(name, FORMULA).twin for name in ("friedman1", "friedman1-gamma"))
    assert usual.X_train.tolist() == skewed.X_train.tolist()
    assert (usual.truth.noise.name, skewed.truth.noise.name) == ("gaussian", "gamma")


# What a cell computes.


@pytest.mark.slow
@pytest.mark.usefixtures("short_sine")
def test_all_contenders_see_the_same_data(monkeypatch):
    seen = []
    drawn = Twin.targets

    def watched(twin, seeds):
        seen.append(drawn(twin, seeds))
        return seen[-1]

    monkeypatch.setattr(Twin, "targets", watched)
    quick = {"estimator": "DeepEnsembleRegressor", "method": "DE", "variants": [RAW]}
    nested({**QUICK, **quick}, None)
    nested({**QUICK, "variants": [RAW, ORACLE]}, None)
    nested({**QUICK, "variants": [ORACLE], "simulations": [1, 2]}, None)
    assert seen[0].tolist() == seen[1].tolist()
    assert seen[0][1:].tolist() == seen[2].tolist()
    assert len(seen[0]) == 2
    assert seen[0][0].tolist() != seen[0][1].tolist()


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore::confide.errors.CalibrationWarning"
)  # a cell says nothing of it
def test_raw_and_calibrated_intervals_are_those_of_one_users_fit(short_sine, computed):
    frame, _ = computed
    y = short_sine.targets(seeds_of(QUICK, "targets"))[1]
    model = BootstrappedDeepEnsembleRegressor(
        recipe="paper", **QUICK["parameters"], random_state=seeds_of(QUICK, "fits")[1]
    ).fit(short_sine.X_train, y)
    model.calibrate_confidence(short_sine.X_train, y, n_simulations=10)
    prediction = model.get_prediction(short_sine.X_test)
    for variant, expected in ((RAW, prediction.uncalibrated), (AUTO, prediction)):
        rows = frame[(frame["variant"] == variant) & (frame["simulation"] == 1)]
        assert rows["mean"].tolist() == expected.mean.tolist()
        for kind in ("confidence", "prediction"):
            bounds = expected.interval(kind, 0.8).astype(np.float32)
            stem = f"{kind}_0.8"
            assert rows[[f"{stem}_lower", f"{stem}_upper"]].to_numpy().tolist() == bounds.tolist()
    calibrated = frame[(frame["variant"] == AUTO) & (frame["simulation"] == 1)]
    assert calibrated["factor"].tolist() == prediction.twin_errors.factor.astype("f4").tolist()
    kinds = "+".join(e.kind for e in model.confidence_calibration_.summary.resemblances)
    assert set(calibrated["twins"]) == {kinds}
    assert (calibrated[["fit_cpu_seconds", "calibration_cpu_seconds"]] > 0).all(axis=None)
    assert frame.loc[frame["variant"] == RAW, "twins"].isna().all()


@pytest.mark.slow
def test_a_cell_split_in_blocks_has_the_same_numbers_and_tells_of_its_steps(computed):
    whole, heard = computed
    blocks = [nested({**QUICK, "simulations": [i, i + 1]}, None) for i in range(2)]
    order = ["variant", "simulation", "row"]
    together = pd.concat(blocks).sort_values(order, ignore_index=True)
    whole = whole.sort_values(order, ignore_index=True)
    pd.testing.assert_frame_equal(without_time(together), without_time(whole), check_exact=True)
    assert heard == [1, 1]


@pytest.mark.slow
def test_nothing_of_the_test_rows_is_used_in_calibration(short_sine, computed, monkeypatch):
    """Of six test rows, three are asked about alone: their intervals stay what they were."""
    frame, _ = computed
    fewer = Twin(short_sine.X_train, short_sine.X_test[:3], np.zeros(1), short_sine.truth)
    monkeypatch.setattr(Problem, "twin", property(lambda _: fewer))
    alone = nested(QUICK, None)
    pd.testing.assert_frame_equal(
        without_time(frame[frame["row"] < 3].reset_index(drop=True)),
        without_time(alone),
        rtol=1e-5,  # rows are predicted in blocks, which single precision sums otherwise
    )


@pytest.mark.slow
def test_each_variant_is_calibrated_on_what_it_says(short_sine, computed, monkeypatch):
    asked = []

    def calibrate_confidence(model, X, y, **how):
        asked.append(how)
        return original(model, X, y, **how)

    kind = BootstrappedDeepEnsembleRegressor
    original = kind.calibrate_confidence
    monkeypatch.setattr(kind, "calibrate_confidence", calibrate_confidence)
    variants = ["random_forest", ORACLE, UNSHIFTED, RAW]
    frame = nested({**QUICK, "variants": variants, "simulations": [0, 1]}, None)
    assert [how["twin"] for how in asked] == ["forest", short_sine.truth, AUTO]
    assert [how["shift"] for how in asked] == ["auto", "auto", 0]
    assert all(how["n_simulations"] == 10 for how in asked)
    first = frame.groupby("variant")["twins"].first()
    assert (first["random_forest"], first[ORACLE]) == ("random_forest", "Sine")
    # Raw is raw, also after the others.
    raw, expected = (
        each.loc[(each["variant"] == RAW) & (each["simulation"] == 0), "confidence_0.8_lower"]
        for each in (frame, computed[0])
    )
    assert raw.tolist() == expected.tolist()


# The oracle.


@given(
    bias=st.floats(-5, 5), spread=st.floats(0.01, 10), level=st.sampled_from([0.7, 0.8, 0.9, 0.95])
)
def test_the_oracles_half_width_is_a_quantile_of_the_folded_normal(bias, spread, level):
    (found,) = half_width(np.array([bias]), np.array([spread]), level)
    expected = stats.foldnorm.ppf(level, abs(bias) / spread, scale=spread)
    assert found == pytest.approx(expected, rel=1e-6)


def test_the_oracles_interval_covers_as_it_says():
    """Drawn, not computed: four standard errors of a share of 200,000 draws."""
    bias, spread = np.array([0.0, 1.0, -3.0]), np.array([1.0, 2.0, 0.5])
    errors = np.random.default_rng(0).normal(bias, spread, (200_000, 3))
    held = np.abs(errors) <= half_width(bias, spread, 0.9)
    assert np.abs(held.mean(axis=0) - 0.9).max() < 4 * np.sqrt(0.09 / 200_000)


def test_the_oracles_width_by_hand():
    means = np.array([[1.0, 5.0], [3.0, 5.0]])  # errors of row 0: 1 and 3; of row 1: 4, 4
    judged = Judged({}, Answers(means, {}), (), np.array([0.0, 1.0]), np.array([0.0, 1.5]))
    spread = np.sqrt(2)
    first = 2 * stats.foldnorm.ppf(0.8, 2 / spread, scale=spread)
    assert oracle_width(judged, "confidence", 0.8) == pytest.approx((first + 2 * 4) / 2)
    second = 2 * stats.foldnorm.ppf(0.8, 4 / 1.5, scale=1.5)
    assert oracle_width(judged, "prediction", 0.8) == pytest.approx((first + second) / 2)
    one = Judged({}, Answers(means[:1], {}), (), np.zeros(2), np.zeros(2))
    assert np.isnan(oracle_width(one, "confidence", 0.8))


# What finished cells say.


def by_hand(variant, half, **more):
    """Two data sets and one row with truth 0: errors 1 and 3, intervals of that half-width."""
    mean = np.array([1.0, 3.0])
    columns = {"simulation": [0, 1], "row": 0, "true_mean": 0.0, "true_std": 2.0, "mean": mean}
    columns |= {"confidence_0.8_lower": (mean - half).astype(np.float32)}
    columns |= {"confidence_0.8_upper": (mean + half).astype(np.float32)}
    columns |= {"confidence_0.8_held": mean < half, "variant": variant, **more}
    return pd.DataFrame(columns)


TOLD = {
    "twins": ["smooth", "random_forest+smooth"], "fit_cpu_seconds": [0.5, 0.25],
    "calibration_cpu_seconds": [10.0, 6.0], "biased_share": [0.0, 0.5],
}  # fmt: skip


def test_numbers_by_hand(tmp_path):
    both = pd.concat([by_hand(RAW, 2.0), by_hand(AUTO, 4.0, **TOLD)])
    # Another order than the problems' and the variants': it is put right.
    entries = entries_of([saved(tmp_path, by_hand(RAW, 1.5), method="NB"), saved(tmp_path, both)])
    assert [(e.settings["method"], e.settings["variant"]) for e in entries] == [
        ("BDE", IN_WORDS[RAW]),
        ("BDE", IN_WORDS[AUTO]),
        ("NB", IN_WORDS[RAW]),
    ]
    raw, calibrated, nb = in_nested_numbers(entries).to_dict("records")
    assert [row["coverage"] for row in (raw, calibrated, nb)] == [0.5, 1, 0.5]
    assert raw["brier"] == pytest.approx(0.09)
    assert calibrated["brier"] == pytest.approx(0.04)
    assert calibrated["brier_attainable"] == pytest.approx(0.08)
    assert [row["to_raw_bde"] for row in (raw, calibrated, nb)] == [1, 2, 0.75]
    oracle = 2 * stats.foldnorm.ppf(0.8, 2 / np.sqrt(2), scale=np.sqrt(2))
    assert calibrated["to_oracle"] == pytest.approx(8 / oracle)
    assert calibrated["centre_rmse"] == pytest.approx(np.sqrt(5))
    (cost,) = costs(entries).to_dict("records")
    assert cost["cost"] == 22  # between 20 and 24
    assert cost["fit_cpu_seconds"] == 0.375
    assert cost["twins"] == "random forest 50%, smooth 100%"
    assert cost["biased_share"] == 0.25
    assert twins_chosen(entries[1]) == {"random_forest": 0.5, "smooth": 1.0}


def test_blocks_of_a_contender_are_put_together_and_double_ones_refused(tmp_path):
    blocks = [by_hand(RAW, 2.0).iloc[[i]] for i in (1, 0)]
    cells = [saved(tmp_path, each, simulations=[i, i + 1]) for i, each in enumerate(blocks)]
    (entry,) = entries_of(cells)
    assert entry.answers.means.tolist() == [[1], [3]]
    with pytest.raises(RunFolderError, match=r"same simulations of BDE raw on sine\. Delete one"):
        entries_of([*cells, cells[0]])


def test_the_headline_tells_of_raw_and_calibrated_intervals(tmp_path):
    both = pd.concat([by_hand(RAW, 2.0), by_hand(AUTO, 4.0, **TOLD)])
    assert nested_headline(saved(tmp_path, both)) == (
        "raw: 80 % confidence intervals cover 50 %, width 4; "
        "calibrated: 80 % confidence intervals cover 100 %, width 8"
    )


# The verdict.


def row_of(variant=IN_WORDS[AUTO], **changes):
    row = {
        "set": "boston", "condition": "random_forest", "method": "BDE", "variant": variant,
        "kind": "confidence", "confidence_level": 0.8, "brier": 0.015, "brier_se": 0.001,
        "coverage": 0.83, "coverage_se": 0.01, "to_raw_bde": 1.1, "simulations": 40,
    }  # fmt: skip
    return {**row, **changes}


RAW_ROW = row_of(IN_WORDS[RAW], brier=0.02, coverage=0.78)
NB_ROW = row_of(IN_WORDS[RAW], method="NB", brier=0.02)
COST = {"set": "boston", "condition": "random_forest", "method": "BDE", "variant": IN_WORDS[AUTO]}


def judged_by(*rows, cost=8.0):
    return demands(pd.DataFrame(rows), pd.DataFrame([{**COST, "cost": cost}]))


def test_demands_hold_at_their_very_bounds():
    found = judged_by(row_of(), RAW_ROW, NB_ROW)
    assert len(found) == 6
    assert [each.verdict for each in found] == ["holds, 1 of 1 comparisons are as asked"] * 6
    assert all(each.exceptions == "" for each in found)


@pytest.mark.parametrize(
    ("place", "rows", "cost", "exceptions"),
    [
        (0, [row_of(brier=0.0151)], 8, "boston, random forest: 0.0151 ± 0.0010"),
        (1, [row_of(coverage=0.8301)], 8, "boston, random forest at 80%: 0.830 ± 0.010"),
        (1, [row_of(coverage=0.7699)], 8, "boston, random forest at 80%: 0.770 ± 0.010"),
        (
            1,
            [row_of(), row_of(confidence_level=0.95, coverage=0.91)],
            8,
            "boston, random forest at 95%: 0.910 ± 0.010",
        ),
        (
            2,
            [row_of(brier=0.02), RAW_ROW],
            8,
            "boston, random forest: 0.0200 ± 0.0010 against 0.0200 ± 0.0010",
        ),
        (
            3,
            [row_of(), {**NB_ROW, "brier": 0.014}],
            8,
            "boston, random forest: 0.0150 ± 0.0010 against 0.0140 ± 0.0010",
        ),
        (4, [row_of(to_raw_bde=1.11), RAW_ROW], 8, "boston, random forest: 1.11 times as wide"),
        (5, [row_of()], 8.1, "boston, random forest: 8.1"),
    ],
)
def test_a_demand_fails_beyond_its_bound_and_says_where(place, rows, cost, exceptions):
    found = judged_by(*rows, cost=cost)[place]
    n = len(found.checks)
    assert found.verdict == f"fails, {n - 1} of {n} comparisons are as asked"
    assert found.exceptions == exceptions


def test_width_is_judged_only_where_raw_intervals_were_honest():
    wide = row_of(to_raw_bde=3.0)
    assert judged_by(wide, {**RAW_ROW, "coverage": 0.779})[4].verdict == "nothing to judge yet"
    assert judged_by(wide, {**RAW_ROW, "coverage": 0.99})[4].exceptions


def test_contenders_with_other_numbers_of_data_sets_are_not_compared():
    found = judged_by(row_of(), {**RAW_ROW, "simulations": 30}, NB_ROW)
    assert [len(each.checks) for each in found] == [1, 1, 0, 1, 0, 1]


def test_demands_are_of_the_default_alone_and_small_sets_have_their_own():
    others = [
        row_of("calibrated on smooth", brier=0.5, coverage=0.1),
        row_of(method="DE", brier=0.5, coverage=0.1),
        row_of(kind="prediction", brier=0.5, coverage=0.1),
        row_of(set="sine", condition="formula", brier=0.5, coverage=0.8),
    ]
    found = judged_by(row_of(), *others)
    assert [len(each.checks) for each in found] == [1, 2, 0, 0, 0, 1]
    assert all(check.holds for each in found for check in each.checks)


def test_a_demand_in_words():
    demand = Demand("low", [Check("a", "1", holds=True), Check("b", "2", holds=False)])
    assert str(demand) == "- low: **fails, 1 of 2 comparisons are as asked** (b: 2)."
    many = Demand("low", [Check(name, "2", holds=False) for name in "abcdef"])
    assert str(many).endswith(" (a: 2; b: 2; c: 2; d: 2; and 2 more in the table).")
    assert many.exceptions.endswith("e: 2; f: 2")
    assert str(Demand("low", [])) == "- low: **nothing to judge yet**."


# The report.


def test_every_question_has_its_table_and_the_truths_their_figure(made_up):
    entries = entries_of(made_up)
    numbers, cost = in_nested_numbers(entries), costs(entries)
    tables = {table.name: table for table in tables_of(numbers, cost, demands(numbers, cost))}
    assert list(tables) == [
        f"honest-confidence-{name}"
        for name in ("verdict", "80", "levels", "twins", "prediction-80", "costs", "every-level")
    ]
    said = tables["honest-confidence-80"].frame[["method", "variant"]].to_numpy().tolist()
    assert said == [
        ["BDE", "raw"],
        ["BDE", "calibrated"],
        ["BDE of the paper", "raw"],
        ["NB", "raw"],
    ]
    levels = tables["honest-confidence-levels"].frame
    assert levels["coverage_0.9"].tolist() == [entry.coverages[1].mean for entry in entries[:2]]
    # Raw and calibrated BDE, calibrated DE, four twins and no correction for bias.
    assert len(tables["honest-confidence-twins"].frame) == 8
    assert (tables["honest-confidence-costs"].frame["cost"] == 20).all()  # not of the first alone
    assert [figure.name for figure in figures_of(entries, numbers)] == [
        "honest-cicf-80-random-forest",
        "honest-brier-against-brier",
    ]


def test_the_words_have_the_verdict(made_up):
    words = EXPERIMENT.findings(made_up).words
    assert "- 80 % confidence intervals cover, from truth to truth: raw BDE" in words
    assert "- cost at most 8 raw fits: **fails, 0 of 1 comparisons are as asked**" in words


def test_settings_are_json_and_name_the_default_number_of_simulations():
    options = Options(simulations=1, sets=("sine",), methods=("BDE",), levels=(0.8,))
    for cell in nested_cells(options):
        assert json.loads(json.dumps(cell.settings)) == cell.settings
        assert cell.settings["n_simulations"] == cells_module.N_SIMULATIONS == 20


def test_problems_that_are_shown_are_problems():
    assert set(SHOWN_TWINS) <= set(SHOWN_SHIFTS) <= set(PROBLEMS)
