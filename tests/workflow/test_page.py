"""The page of a report says what its numbers bear out, and shows text from files as text."""

import json
import re
from dataclasses import replace
from importlib import resources

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import r2_score
from support.browsing import WIDTHS, column, drawn, outside_requests, until
from support.documents import EVIL

from confide import Prediction
from confide.calibration import SYSTEMATIC, CalibrationSummary, ConformalLaw, Resemblance
from confide.diagnostics import Lever
from confide.document import render_page
from confide.document.tables import cells, is_numeric, to_csv
from confide.drawing import COLOURS
from confide.inspection import Effects
from confide.simulate import Candidate
from confide.uncertainty import (
    BoundedLaw,
    ContainingLaw,
    LevelLaw,
    PivotLaw,
    TPlusNormalLaw,
    TwinErrors,
)
from confide.workflow.page import judgement as page_judgement
from confide.workflow.page.content import page_document
from confide.workflow.page.features import read_feature, strips, telling_features
from confide.workflow.page.inputs import PageInputs
from confide.workflow.page.rows import MOST_DRAWN
from confide.workflow.page.text import literal
from confide.workflow.verdict import worthless

INF = np.inf


def predicted(mean, scale=1.0, **changes):
    """Normal laws of that scale: 64 % noise, 27 % finite data, 9 % random training."""
    mean = np.asarray(mean, float)
    scale = np.broadcast_to(np.asarray(scale, float), mean.shape).copy()
    parts = {
        "mean": mean,
        "aleatoric_variance": 0.64 * scale**2,
        "epistemic_variance": 0.36 * scale**2,
        "prediction_law": TPlusNormalLaw.normal(mean, scale),
        "confidence_law": TPlusNormalLaw.normal(mean, 0.6 * scale),
        "classical_variance": 0.27 * scale**2,
        "optimisation_variance": 5 * 0.09 * scale**2,
        "n_members": 5,
    }
    return Prediction(**{**parts, **changes})


def level_only(mean, half_width, level=0.9):
    """A method that bounds a new observation at one level and says no more."""
    mean = np.asarray(mean, float)
    none = dict.fromkeys(
        ("aleatoric_variance", "epistemic_variance", "confidence_law", "classical_variance")
    )
    law = LevelLaw(mean, np.full(len(mean), float(half_width)), level)
    return predicted(mean, **none, optimisation_variance=None, prediction_law=law)


def inputs(prediction=None, **changes):
    """Four new rows, one of them far off."""
    prediction = predicted([1, 2, 3, 4]) if prediction is None else prediction
    n = len(prediction)
    settings = {
        "title": "price: cars.csv",
        "target": "price",
        "frame": pd.DataFrame({"age": np.arange(n) % 7}),
        "prediction": prediction,
        "status": ["new"] * n,
    }
    return PageInputs(**{**settings, **changes})


Y = np.array([1.0, 2.0, 3.0, 8.0])


def table(document, name):
    return next(each for each in document.tables if each.name == name)


def shown(document, name):
    """The texts of a table, row by row."""
    return [[cell.text for cell in row] for row in cells(table(document, name))]


def said(document):
    """All that the page says, but for captions, tables and figures."""

    def words(parts):
        for part in parts:
            if isinstance(part, str):
                yield part
            elif hasattr(part, "parts"):
                yield from words(part.parts)

    numbers = [" ".join([h.value, h.label, *h.beside]) for h in document.headlines]
    return "\n".join([*numbers, document.summary, *words(document.sections)])


def specifications(document):
    """All figures as the page would hold them: JSON, without NaN or infinity."""
    return {
        figure.name: json.loads(json.dumps(figure.specification, allow_nan=False))
        for figure in document.figures
    }


def drawn_rows(specification):
    return [row for rows in specification["datasets"].values() for row in rows if "key" in row]


def test_the_page_answers_with_three_numbers_and_one_line():
    prediction = predicted([1, 2, 3, 4], novelty=np.array([0.5, 0.002, 0.9, 0.3]))
    document = page_document(inputs(prediction, y=Y))
    assert document.title == "Predictions of price: cars.csv"
    # Errors are 0, 0, 0 and -4; the targets have a variance of 29 / 4. 95 % of 4 rows have a
    # standard error of 0.109.
    assert [(h.value, h.label, h.beside, h.good) for h in document.headlines] == [
        (
            "2.00",
            "typical error (RMSE) on 4 rows, which the model had not seen",
            ["2.69 by guessing the mean", "no better than predicting the mean"],
            None,
        ),
        (
            "75 %",
            "of 4 rows inside their 95 % prediction intervals",
            ["exact ones would contain 74 to 100 %", "they hold"],
            True,
        ),
        ("1", "of 4 rows unlike the training data", ["about 1 in 100 would be by chance"], True),
    ]
    purposes, look_at = document.summary.split("\n\n")
    assert purposes.endswith(
        "**Confidence intervals** are not calibrated: they are too narrow where the true function "
        "is rough."
    )
    assert look_at.startswith("**Look at:** On rows it has not seen\\, the model is no better than")


UNSEEN = ", which the model had not seen"
JUDGED = {
    "rows": 200.0,
    "rmse": 24160.4,
    "rmse_se": 900.0,
    "boosting_rmse": 25039.2,
    "mean_rmse": 79912.0,
    "target_sd": 79000.0,
    "coverage_95": 0.85,
    "coverage_95_se": 0.0154,
    "aleatoric_share": 0.51,
}


@pytest.mark.parametrize("y", [None, Y])
def test_without_new_rows_the_page_gives_the_numbers_of_the_fit(y):
    held_out = np.ones(4, bool)
    document = page_document(inputs(calibrated(), y=y, judged=JUDGED, held_out=held_out))
    accuracy, coverage, _ = document.headlines
    assert (accuracy.value, accuracy.label) == (
        "24,200",
        f"typical error (RMSE) on 200 rows held out{UNSEEN}",
    )
    beside = ["25,000 by gradient boosting", "79,900 by guessing the mean"]
    assert accuracy.beside == [*beside, "good: better than both"]
    assert (coverage.value, coverage.beside[1]) == (
        "85 %",
        (
            "they did not hold (too narrow); then they were calibrated on these rows, which cannot "
            "test them again"
        ),
    )
    assert "\n\n**Look at:** 51 % of the uncertainty is scatter" in document.summary


@pytest.mark.parametrize(
    ("rmse", "worth", "good"),
    [
        (25039.0, "good: better than both", True),
        (25900.0, "about as good as gradient boosting", None),
        (25940.0, "worse than gradient boosting", False),
        (81000.0, "worse than gradient boosting and guessing the mean", False),
        (
            79800.0,
            "worse than gradient boosting and no better than predicting the mean",
            False,
        ),
    ],
)
def test_an_error_is_worse_than_another_by_more_than_its_standard_error(rmse, worth, good):
    judged = {**JUDGED, "rmse": rmse}
    accuracy, *_ = page_document(inputs(judged=judged, held_out=np.ones(4, bool))).headlines
    assert (accuracy.beside[-1], accuracy.good) == (worth, good)


def test_a_model_as_good_as_the_mean_is_not_good_though_boosting_is_no_better():
    judged = {**JUDGED, "rmse": 12.0, "rmse_se": 1.0, "boosting_rmse": 11.8, "mean_rmse": 12.0}
    document = page_document(inputs(judged=judged, held_out=np.ones(4, bool)))
    accuracy, *_ = document.headlines
    assert (accuracy.beside[-1], accuracy.good) == ("no better than predicting the mean", None)
    assert "**Look at:** On rows it has not seen\\, the model is no better than" in document.summary


def test_the_page_says_what_the_fit_said_of_a_wild_target_in_its_order():
    # The mean of the training rows is far off: it is no guess to be measured by.
    judged = {**JUDGED, "rmse": 30.6e6, "rmse_se": 1e6, "boosting_rmse": 99.2e6}
    judged |= {"mean_rmse": 41.2e6, "median_rmse": 17_400.0, "target_sd": 17_300.0}
    (no_use,) = worthless(judged)
    of_fit = ["The target is 9,900,000,000 in row 8.", no_use]
    document = page_document(inputs(y=Y, judged=judged, held_out=np.ones(4, bool), warnings=of_fit))
    accuracy, *_ = document.headlines
    assert (accuracy.beside[-1], accuracy.good) == ("worse than guessing the median", False)
    assert "**Look at:** The target is 9\\,900\\,000\\,000 in row 8" in document.summary
    (further,) = [s for s in document.sections if s.title == "Further warnings"]
    assert "do not use it" in further.parts[0]
    assert further.parts[0].count("\n") == 0


def test_with_new_rows_the_page_judges_on_them_and_recalls_the_fit():
    held_out = np.array([True, False, False, False])
    document = page_document(inputs(y=Y, judged=JUDGED, held_out=held_out))
    accuracy, coverage, _ = document.headlines
    assert accuracy.label == "typical error (RMSE) on 4 rows, which the model had not seen"
    assert accuracy.beside == [
        "2.69 by guessing the mean",
        "held out at the fit 24,160.40",
        "no better than predicting the mean",
    ]
    assert coverage.value == "75 %"


def test_an_observation_keeps_three_digits_beside_wide_intervals():
    prediction = predicted([41e6, 42e6, 43e6, 41e6], 1e14)
    y = np.array([64_212.0, 58_110.4, 71_005.0, 9.9e9])
    document = page_document(inputs(prediction, y=y))
    rows = shown(document, "rows")
    assert {row[2] for row in rows} == {"64,200", "58,100", "71,000", "9,900,000,000"}
    assert "58,100" in json.dumps(specifications(document)["predictions"])


def test_why_writes_numbers_as_the_column_beside_it_does():
    given = inputs(
        frame=pd.DataFrame({"area": [1234567.8, 2.25, 31.0, 40.0]}), wide_because={0: ["area"]}
    )
    rows = shown(page_document(given), "rows")
    (of_first,) = [row for row in rows if row[0] == "1"]
    assert "1,234,568" in of_first
    assert "wide: area = 1,234,568" in of_first


def test_rows_that_are_novel_by_what_was_held_out_by_are_not_mistrusted():
    columns = (("day",), ("day",), ("day", "size"), ())
    prediction = predicted(
        [1, 2, 3, 4], novelty=np.array([0.001, 0.002, 0.003, 0.3]), novel_columns=columns
    )
    mistrusted = page_document(inputs(prediction))
    assert "trust neither interval" in said(mistrusted)
    document = page_document(inputs(prediction, held_out_by="day"))
    assert document.headlines[2].beside == [
        "2 by day alone; the intervals were tested on just such rows"
    ]
    assert "rust neither" not in said(document)
    assert "Do not trust" not in said(document)


def test_a_copy_of_a_row_does_not_count_again():
    repeats = np.array([False, False, True, False])
    document = page_document(inputs(y=Y, repeats=repeats))
    assert document.headlines[0].label == f"typical error (RMSE) on 3 rows{UNSEEN}"


def test_one_outlier_does_not_flatten_the_figures():
    n = 100
    x = np.r_[np.arange(n - 1.0), 1e9]
    y = np.r_[np.arange(n - 1.0), 9.9e9]
    given = inputs(predicted(np.arange(n)), y=y, frame=pd.DataFrame({"x": x}))
    document = page_document(given)
    drawn = specifications(document)
    domain = drawn["predictions"]["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert -20 < domain[0] < 0
    assert 99 < domain[1] < 120
    assert "1 observed or predicted value lies outside of it." in caption_of(document)
    across = drawn["by-feature"]["concat"][0]["layer"][0]["encoding"]["x"]
    assert across["scale"]["domain"] == [0, n - 2]
    assert across["title"].endswith(" (1 outside)")


def test_numbers_are_written_as_people_write_them():
    frame = pd.DataFrame({"built": [1960, 1999, 2000, 2001], "rent": [9000, 11000, 32000, 500]})
    prediction = predicted([154_321, 24_161, 99_999, 120_000], 9000.0)
    rows = shown(page_document(inputs(prediction, frame=frame)), "rows")
    assert rows[0][1] == "154,300"
    assert {"1960", "1999", "2000", "2001"} <= {cell for row in rows for cell in row}
    assert {"9,000", "11,000", "32,000", "500"} <= {cell for row in rows for cell in row}


def test_a_deep_ensemble_is_not_advised_to_have_more_members():
    # Eq. (1): its spread, here 9 of 10 parts, is not divided by the number of members.
    prediction = predicted(
        [1, 2],
        aleatoric_variance=np.full(2, 0.1),
        epistemic_variance=np.full(2, 0.9),
        classical_variance=None,
        optimisation_variance=np.full(2, 0.9 * 5 / 4),
    )
    look = page_document(inputs(prediction)).summary
    assert "90 % of the uncertainty comes from random training, which no option shrinks." in look


def test_accuracy_has_the_jackknifes_standard_errors():
    generator = np.random.default_rng(0)
    y, mean = generator.normal(size=30), generator.normal(size=30)
    prediction = predicted(mean, 1.5)
    scores = {s.name: s for s in page_judgement.accuracy(inputs(prediction, y=y))}
    of = {
        "RMSE": lambda rows: np.sqrt(np.mean((mean - y)[rows] ** 2)),
        "MAE": lambda rows: np.mean(np.abs(mean - y)[rows]),
        "mean error": lambda rows: np.mean((mean - y)[rows]),
        "R²": lambda rows: r2_score(y[rows], mean[rows]),
    }
    assert list(scores) == list(of)
    for name, score in of.items():
        without = [score(np.delete(np.arange(30), i)) for i in range(30)]
        assert scores[name].value == pytest.approx(score(np.arange(30)), rel=1e-12)
        expected = np.sqrt(29 * np.var(without))
        assert scores[name].standard_error == pytest.approx(expected, rel=1e-9), name


NO_USE = "**Look at:** The model is worse than predicting the mean of the target on rows it has "
EVEN = np.tile([-1.0, 1.0], 50)  # mean 0, variance 1: R squared is 1 minus the mean squared error


@pytest.mark.parametrize(
    ("off", "warned"),
    [
        (0.5, False),  # R squared is 0.75, without an error
        (2.0, True),  # -3, without an error
        (EVEN * np.r_[np.full(50, 0.9), np.full(50, 1.1)], False),
        (np.r_[np.zeros(99), 1e5], True),
        (np.r_[np.zeros(40), np.full(60, 1.2)], False),
    ],
    ids=["good", "bad", "even", "one row is far off", "hardly better"],
)
def test_a_model_worse_than_the_mean_is_said_to_be_of_no_use(off, warned):
    document = page_document(inputs(predicted(EVEN + off), y=EVEN))
    assert (NO_USE in document.summary) == warned
    assert not (warned and document.headlines[0].good)


def test_rows_the_model_was_trained_on_do_not_count():
    status = ["trained on", "new", "trained on", "new"]
    document = page_document(inputs(y=Y, status=status))
    # Errors of the two new rows are 0 and -4; without one of them the RMSE is 0 or 4.
    assert shown(document, "accuracy")[:2] == [
        ["RMSE", "3 ± 2", "root mean squared error: the typical error, in the target's unit"],
        ["MAE", "2 ± 2", "mean absolute error, which large errors affect less"],
    ]
    assert document.headlines[0].label == f"typical error (RMSE) on 2 rows{UNSEEN}"
    assert [row[-1] for row in shown(document, "coverage")] == ["2"] * 4


@pytest.mark.slow
def test_the_page_needs_no_statistics_to_be_read():
    prediction = predicted([1, 2, 3, 4])
    advice = str(prediction.explain())
    page = render_page(page_document(inputs(prediction, y=Y, advice=advice, levers=LEVERS)))
    words = re.sub("<script.*?</script>", "", page[page.index("<main") :], flags=re.DOTALL)
    assert "The true function: the prediction" in words
    for stumble in (" law", "power -", "to the power", "knowing their own spread"):
        assert stumble not in words, stumble


def test_a_missing_target_does_not_count():
    document = page_document(inputs(y=np.array([1.0, np.nan, np.nan, np.nan])))
    assert document.headlines[0].label == f"typical error (RMSE) on 1 row{UNSEEN}"
    assert shown(document, "accuracy")[0][:2] == ["RMSE", "0"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, "the file does not have the target"),
        ({"y": np.full(4, np.nan)}, "the target is missing in every row"),
        ({"y": Y, "status": ["trained on"] * 4}, "the model was trained on every row whose"),
        (
            {"y": np.array([1, np.nan, np.nan, np.nan]), "status": ["trained on", *["new"] * 3]},
            "the model was trained on every row whose",
        ),
    ],
)
def test_without_unseen_targets_accuracy_is_not_judged_and_why(changes, reason):
    document = page_document(inputs(**changes))
    assert f"It cannot be judged here: {reason}" in said(document)
    assert [h.value for h in document.headlines] == ["?", "?", "?"]
    assert {each.name for each in document.tables} == {"split", "rows"}
    assert "calibration" not in specifications(document)


# A thousandth of a normal law each: quantiles at levels in thousandths are the law's.
NORMAL_SCORES = stats.norm.ppf((1 + np.arange(1, 1000) / 1000) / 2)


def calibrated(scale=2.0, raw=None, **changes):
    """Prediction intervals as of rows kept back, normal with that scale."""
    raw = predicted([1, 2, 3, 4]) if raw is None else raw
    law = ConformalLaw(raw.mean, np.broadcast_to(scale, len(raw)), NORMAL_SCORES)
    return replace(raw, prediction_law=law, uncalibrated=raw.uncalibrated or raw, **changes)


def on_twins(times=3.0, raw=None, biased=False, above=False):
    """Confidence intervals so many times as wide as their own, within the prediction intervals.

    Some predictions may be above theirs.
    """
    raw = predicted([1, 2, 3, 4]) if raw is None else raw
    one = np.ones(len(raw))
    own = np.sqrt(raw.epistemic_variance)
    law = PivotLaw(raw.mean - np.where(above, 9 * times * own, 0.0), times * own, NORMAL_SCORES)
    bias = np.where(biased, 99.0, 0.0) * one
    return replace(
        raw,
        confidence_law=law,
        prediction_law=ContainingLaw(raw.prediction_law, law),
        uncalibrated=raw,
        twin_errors=TwinErrors(bias=bias, error=times * one, claimed=one),
    )


CALIBRATION = CalibrationSummary(
    candidates=(
        Candidate("forest", 1.5, 0.0, kept=True),
        Candidate("smooth", 1.6, 0.5, kept=True),
        Candidate("boosting", 2.5, 4.0, kept=False),
    ),
    resemblances=(
        Resemblance("forest", 10, 1.1, 0.05, 0.4),
        Resemblance("smooth", 10, 0.9, 0.05, 0.3),
    ),
    n_rows=300,
    widening={0.8: (0.9, 1.5, 3.0), 0.95: (0.8, 1.4, 2.8)},
    biased=0.04,
)


def test_calibrated_intervals_are_judged_on_new_rows_alone():
    status = ["calibrated on", "new", "trained on", "new"]
    y = np.array([1.0, 2.0, 3.0, 7.0])
    document = page_document(inputs(calibrated(), y=y, status=status, n_calibration_rows=10))
    rows = table(document, "coverage").frame
    rows = rows[rows["level"] == 0.95].set_index("intervals")
    # 7 is 3 above its prediction: inside 1.96 * 2, outside 1.96 * 1.
    assert rows["rows"].to_dict() == {"calibrated": 2, "before calibration": 3}
    assert rows["held"].to_dict() == {"calibrated": 2, "before calibration": 2}
    # The calibration rows were drawn by chance too.
    errors = np.sqrt(0.95 * 0.05 * np.array([1 / 2 + 1 / 12, 1 / 3]))
    assert rows["standard_error"].to_numpy() == pytest.approx(errors, rel=1e-12)
    assert document.headlines[1].value == "100 %"
    assert document.headlines[1].label == "of 2 rows inside their 95 % prediction intervals"
    kinds = {row["category"] for row in curve(document)}
    assert kinds == {"calibrated", "before calibration"}


@pytest.mark.parametrize(("narrow", "warned"), [(0, None), (5, None), (6, "6.0 %"), (100, "100 %")])
def test_calibrated_intervals_narrower_than_the_confidence_interval_are_warned_of(narrow, warned):
    raw = predicted(np.zeros(100))  # confidence intervals have a scale of 0.6
    scale = np.r_[np.full(narrow, 0.59), np.full(100 - narrow, 0.61)]
    prediction = calibrated(scale, raw)
    look = page_document(inputs(prediction)).summary
    warning = f"**Look at:** In {warned} of rows the calibrated prediction interval is narrower"
    assert (warning in look) == (warned is not None)
    assert ("narrower than the confidence interval" in look) == (warned is not None)
    assert ("confidence intervals are not calibrated" in look) == (warned is not None)
    assert ("use the wider one, the confidence interval" in look) == (warned is not None)
    # Only calibration is at fault for it.
    own = replace(raw, prediction_law=TPlusNormalLaw.normal(raw.mean, scale))
    assert "narrower" not in page_document(inputs(own)).summary


def test_prediction_intervals_narrower_than_calibrated_confidence_intervals_say_why():
    look = page_document(inputs(calibrated(0.5, raw=on_twins()))).summary
    assert "In 100 % of rows the calibrated prediction interval is narrower" in look
    assert (
        "There, use the confidence interval for both purposes: it is calibrated row by row" in look
    )
    assert "confidence intervals are not calibrated" not in look


# The four combinations: not calibrated, on rows kept back, on twins, on both.
COMBINATIONS = {
    "none": predicted([1, 2, 3, 4]),
    "kept back": calibrated(),
    "twins": on_twins(),
    "both": calibrated(raw=on_twins()),
}


@pytest.mark.parametrize(
    ("combination", "kinds"),
    [
        ("none", {"prediction intervals": 3}),
        ("kept back", {"calibrated": 2, "before calibration": 3}),
        ("twins", {"prediction intervals": 3}),
        ("both", {"calibrated": 2, "before calibration": 3}),
    ],
)
def test_what_was_not_calibrated_on_rows_is_judged_on_every_unseen_row(combination, kinds):
    status = ["calibrated on", "new", "trained on", "new"]
    y = np.array([1.0, 2.0, 3.0, 7.0])
    given = inputs(COMBINATIONS[combination], y=y, status=status, n_calibration_rows=10)
    document = page_document(given)
    rows = table(document, "coverage").frame
    rows = rows[rows["level"] == 0.95].set_index("intervals")
    assert rows["rows"].to_dict() == kinds
    # Rows kept back are a draw of their own.
    drawn = 1 / 12 if "calibrated" in kinds else 0
    first = rows.iloc[0]
    assert first["standard_error"] ** 2 == pytest.approx(0.95 * 0.05 * (1 / first["rows"] + drawn))
    assert {row["category"] for row in curve(document)} == set(kinds)
    shows_which = any(column.name == "intervals" for column in table(document, "coverage").columns)
    assert shows_which == (combination in {"kept back", "both"})


@pytest.mark.parametrize("combination", COMBINATIONS)
def test_rows_that_prediction_intervals_were_calibrated_on_cannot_judge_them(combination):
    given = inputs(COMBINATIONS[combination], y=Y, status=["calibrated on"] * 4)
    document = page_document(given)
    coverage = table(document, "coverage")
    assert all(
        is_numeric(coverage, c) for c in coverage.columns if c.name in {"rows", "mean_width"}
    )
    told = "so these rows cannot judge them" in said(document)
    assert told == (combination in {"kept back", "both"})


@pytest.mark.slow
@pytest.mark.parametrize("combination", COMBINATIONS)
def test_the_page_says_whose_confidence_intervals_they_are(combination):
    document = page_document(inputs(COMBINATIONS[combination], y=Y, summary=CALIBRATION))
    honest = combination in {"twins", "both"}
    calibrates = "`confide fit --calibrate-confidence` calibrates them." in said(document)
    twins = "Here they are calibrated on simulated twins of the training data" in said(document)
    assert (calibrates, twins) == (not honest, honest)
    titles = [section.title for section in document.sections]
    assert ("Calibration of the confidence intervals" in titles) == honest
    whose = "calibrated on simulated twins of the training data" if honest else "not calibrated"
    assert f"confidence intervals (for the true function; {whose})" in caption_of(document)
    helps = {column.name: column.help for column in table(document, "rows").columns}
    assert helps["confidence_lower"].endswith(f"for the true function; {whose}")
    assert ("widening" in to_csv(table(document, "rows"))) == honest
    legend = "95 % confidence interval, calibrated"
    assert (legend in json.dumps(specifications(document)["predictions"])) == honest


@pytest.mark.parametrize(
    ("combination", "kinds"),
    [
        ("none", None),
        ("kept back", "Prediction intervals"),
        ("twins", "Confidence intervals"),
        ("both", "Confidence and prediction intervals"),
    ],
)
def test_levers_say_which_intervals_are_those_before_calibration(combination, kinds):
    caption = table(
        page_document(inputs(COMBINATIONS[combination], levers=LEVERS)), "levers"
    ).caption
    if kinds is None:
        assert "before calibration" not in caption
    else:
        assert caption.endswith(f" {kinds} are those before calibration.")


def test_the_section_on_calibration_tells_twins_widths_and_bias():
    prediction = on_twins(times=np.array([0.6, 2.0, 3.0, 4.5]), biased=[False, False, False, True])
    document = page_document(inputs(prediction, summary=CALIBRATION))
    assert shown(document, "twins") == [
        ["forest", "1.5", "0", "10 simulations", "1.1", "0.4"],
        ["smooth", "1.6", "0.5", "10 simulations", "0.9", "0.3"],
        ["boosting", "2.5", "4", "no", "–", "–"],
    ]
    # 0.05 * 3 of the way from 0.6 to 2, the middle of 2 and 3, 0.85 of the way from 3 to 4.5.
    assert shown(document, "widening") == [
        ["training rows", "80 %", "0.9", "1.5", "3"],
        ["training rows", "95 %", "0.8", "1.4", "2.8"],
        ["rows of this page", "95 %", "0.81", "2.5", "4.3"],
    ]
    section = next(s for s in document.sections if s.title.startswith("Calibration of the conf"))
    words = " ".join(part for part in section.parts if isinstance(part, str))
    assert f"At 25 % of the rows of this page (4.0 % of training rows) {SYSTEMATIC}" in words
    drawn = drawn_rows(specifications(document)["widening"])
    assert [row["times"] for row in drawn] == [0.6, 2.0, 3.0, 4.5]
    assert [row["category"] for row in drawn] == [
        *["no bias beyond chance"] * 3,
        "bias beyond chance",
    ]
    by_feature = drawn_rows(specifications(document)["widening-by-feature"])
    assert [(row["f0"], row["times"]) for row in by_feature] == [
        (0.0, 0.6), (1.0, 2.0), (2.0, 3.0), (3.0, 4.5),
    ]  # fmt: skip


@pytest.mark.parametrize("biased", [0.04, 0.2])
def test_the_section_on_calibration_begins_with_its_verdict_and_warnings(biased):
    summary = replace(CALIBRATION, biased=biased)
    document = page_document(inputs(calibrated(0.5, raw=on_twins()), summary=summary))
    section = next(s for s in document.sections if s.title.startswith("Calibration of the conf"))
    verdict, warnings, idea, *_ = section.parts
    assert verdict.startswith(f"**{summary.grade.now.capitalize()}:** ")
    assert literal(summary.verdict.split(":", 1)[1], 4000) in verdict
    assert idea.startswith("Models err systematically where")
    # Those of the calibration come first, then that the two kinds of intervals disagree.
    lines = warnings.splitlines()
    assert all(line.startswith("- **Warning.** ") for line in lines)
    assert len(lines) == 1 + len(summary.warnings) == (2 if biased > 0.1 else 1)
    assert "In 100 % of rows the calibrated prediction interval is narrower" in lines[-1]


def test_the_first_warning_is_what_to_look_at_and_the_others_follow():
    document = page_document(inputs(calibrated(0.5), warnings=["*Beware*.", "Of this."]))
    assert "\n\n**Look at:** In 100 % of rows the calibrated" in document.summary
    section = next(each for each in document.sections if each.title == "Further warnings")
    assert list(section.parts) == ["- \\*Beware\\*\\.\n- Of this\\."]


def test_biased_rows_are_drawn_upon_the_others():
    prediction = on_twins(times=np.array([4.5, 2.0, 3.0, 0.6]), biased=[True, False, True, False])
    document = page_document(inputs(prediction, summary=CALIBRATION))
    for figure in ("widening", "widening-by-feature"):
        drawn = drawn_rows(specifications(document)[figure])
        assert [row["key"] for row in drawn] == [2, 4, 1, 3]


LAWS = ("confidence_law", "prediction_law")


def test_the_first_figure_marks_predictions_beside_their_interval_and_tells_of_wider_ones():
    # The confidence interval of the last row is wider than its prediction interval.
    prediction = on_twins(times=np.array([1.0, 1, 1, 9]), above=[False, True, False, False])
    document = page_document(inputs(prediction, summary=CALIBRATION))
    first = specifications(document)["predictions"]
    drawn = drawn_rows(first)
    assert [row["key"] for row in drawn if row["beside"]] == [2]
    assert "prediction outside of its confidence interval" in json.dumps(first)
    assert "the prediction interval was widened" in document.figures[0].caption
    # Bounds that end at what a target can be are equal, but not wider.
    ended = on_twins(times=1.0)
    laws = {kind: BoundedLaw(getattr(ended, kind), 0.5, INF) for kind in LAWS}
    assert "widened" not in page_document(inputs(replace(ended, **laws))).figures[0].caption
    neither = page_document(inputs(predicted([1, 2, 3, 4])))
    assert "outside" not in json.dumps(specifications(neither)["predictions"]["layer"])
    assert "widened" not in neither.figures[0].caption


@pytest.mark.parametrize(
    ("names", "angle"),
    # 8 pixels for each character, of 120 in all.
    [(["no", "yes"], 0), (["no", "eightchr"], -35), (list("abcdefgh"), 0), (["x" * 15], 0)],
)
def test_names_of_strips_are_turned_only_where_they_need_it(names, angle):
    frame = pd.DataFrame({"c": [names[i % len(names)] for i in range(8)]})
    prediction = predicted(np.arange(8.0) % len(names))
    document = page_document(inputs(prediction, frame=frame))
    found = re.findall(r'"labelAngle": (-?\d+)', json.dumps(specifications(document)["by-feature"]))
    assert set(found) == {str(angle)}


def test_the_section_on_calibration_does_without_a_summary_and_without_widths():
    raw = predicted([1, 2, 3, 4], epistemic_variance=np.array([0.0, 1, 1, 1]))
    raw = replace(
        raw, confidence_law=TPlusNormalLaw.normal(raw.mean, np.sqrt(raw.epistemic_variance))
    )
    document = page_document(inputs(on_twins(raw=raw)))
    assert not any(each.name == "twins" for each in document.tables)
    assert shown(document, "widening") == [["rows of this page", "95 %", "3", "3", "3"]]
    assert len(drawn_rows(specifications(document)["widening"])) == 3
    assert shown(document, "rows")[-1]


LEVERS = pd.DataFrame(
    [
        Lever("rows", "2 times as many rows", 0.842, 0.031, 0.953, 0.0124),
        Lever("floor", "noise alone", 0.0, 0.0, 0.714, 0.0),
    ]
)


def test_levers_are_shares_of_todays_widths_and_exact_ones_have_no_error():
    document = page_document(inputs(levers=LEVERS))
    assert shown(document, "levers") == [
        ["2 times as many rows", "84 ± 3%", "95.3 ± 1.2%"],
        ["noise alone", "0%", "71%"],
    ]
    rows = table(document, "levers")
    assert rows.columns[1].title == "confidence intervals' width, as a share of today's"
    assert to_csv(rows).splitlines()[2] == "noise alone,0.0,,0.714,"
    assert "before calibration" not in rows.caption


def test_levers_of_calibrated_intervals_are_said_to_be_before_it():
    rows = table(page_document(inputs(calibrated(), levers=LEVERS)), "levers")
    assert rows.caption.endswith("Prediction intervals are those before calibration.")


def curve(document):
    sets = specifications(document)["calibration"]["datasets"].values()
    return [row for rows in sets for row in rows if "category" in row]


def test_calibrated_intervals_are_not_judged_on_calibration_rows():
    document = page_document(inputs(calibrated(), y=Y, status=["calibrated on"] * 4))
    assert "so these rows cannot judge them" in said(document)
    assert set(table(document, "coverage").frame["intervals"]) == {"before calibration"}
    assert [h.value for h in document.headlines] == ["2.00", "?", "?"]


@pytest.mark.parametrize(
    ("held", "words", "good"),
    [
        (380, "they hold", True),
        (371, "they are slightly off (too narrow)", None),
        (368, "they do not hold (too narrow)", False),
        (390, "they are slightly off (wider than needed)", None),
    ],
)
def test_the_page_grades_its_prediction_intervals(held, words, good):
    # Of 400, 380 are expected, with a standard error of 4.36. With 29.2 outside, the odds are 1.5
    # times those promised.
    y = np.where(np.arange(400) < held, 0.0, 9.0)
    document = page_document(inputs(predicted(np.zeros(400)), y=y))
    assert (document.headlines[1].beside[1], document.headlines[1].good) == (words, good)
    at_95 = table(document, "coverage").frame.query("level == 0.95")
    assert at_95["verdict"].tolist() == [words]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "**Confidence intervals** are not calibrated: they are too narrow where"),
        ({"summary": True}, "**Confidence intervals** hold on simulated data, on which the model"),
        (
            {"summary": None},
            "**Confidence intervals**: it is not known how well the simulated twins",
        ),
    ],
)
def test_the_first_screen_says_whether_confidence_intervals_hold(given, words):
    prediction = on_twins() if given else predicted([1, 2, 3, 4])
    summary = CALIBRATION if given.get("summary") else None
    assert words in page_document(inputs(prediction, summary=summary)).summary
    without = page_document(inputs(level_only([1, 2], 1)))
    assert "Confidence intervals" not in without.summary


def test_the_calibration_curve_counts_each_level():
    n = 200
    mean = np.zeros(n)
    # Evenly spaced quantiles: a level of L holds the middle share L of them.
    quantile = TPlusNormalLaw.normal(np.zeros(1), np.ones(1)).quantile
    y = np.array([quantile((i + 0.5) / n)[0] for i in range(n)])
    rows = curve(page_document(inputs(predicted(mean), y=y)))
    assert [row["x"] for row in rows] == pytest.approx(np.arange(1, 20) / 20)
    assert [row["y"] for row in rows] == pytest.approx(np.arange(1, 20) / 20, abs=1 / n)


def test_the_widest_prediction_intervals_come_first():
    novelty = np.array([0.5, 0.6, 0.001, 0.009, 0.01])
    prediction = predicted([1, 2, 3, 4, 5], [1, 3, 1, 2, 5], novelty=novelty)
    document = page_document(inputs(prediction, row_numbers=np.array([10, 20, 30, 40, 50])))
    assert [row[0] for row in shown(document, "rows")] == ["50", "20", "40", "10", "30"]
    assert "A wide interval is not a mistake" in said(document)
    whole = " ".join([said(document), *(s.title for s in document.sections)])
    assert "risk" not in whole.lower()
    # The least like the training data first.
    assert [row[0] for row in shown(document, "novel")] == ["30", "40"]
    assert "2 of 5 rows (40 %) are unlike" in said(document)
    assert (document.headlines[2].value, document.headlines[2].good) == ("2", False)


def test_a_row_shows_both_intervals_shares_and_features():
    frame = pd.DataFrame({"age": [7, 8, 9, 10], "prediction": ["a", "b", None, "d"]})
    document = page_document(inputs(y=Y, frame=frame, confidence_level=0.5))
    rows = table(document, "rows")
    assert [each.title for each in rows.columns] == [
        *("row", "prediction", "observed", "50 % prediction interval"),
        *("50 % confidence interval", "mainly from", "age", "prediction"),
    ]
    # The middle half of a normal law reaches 0.6745 scales to each side.
    expected = ["4", "4.00", "8.00", "3.33 to 4.67", "3.60 to 4.40", "noise 64\u00a0%"]
    assert shown(document, "rows")[3] == [*expected, "10", "d"]
    assert shown(document, "rows")[2][-1] == "–"
    names = to_csv(rows).splitlines()[0].split(",")
    bounds = {
        f"{kind}_{end}" for kind in ("prediction", "confidence") for end in ("lower", "upper")
    }
    shares = {f"{source}_share" for source in ("aleatoric", "classical", "optimisation")}
    assert {*bounds, *shares, "status", "age", "prediction (2)"} <= {*names}


def test_the_page_says_which_interval_answers_which_question():
    document = page_document(inputs(predicted([1, 2, 3, 4], [1, 10, 10, 90])))
    # The width is 3.92 times the scale, and for the true function 0.6 of that.
    words = "**one new observation**, use the prediction interval (typically 39 wide)"
    assert words in document.summary
    assert "use the confidence interval (typically 24 wide)" in document.summary
    assert "new observation" not in page_document(inputs(level_only([1, 2], 1))).summary


def test_rows_to_look_at_say_why():
    novelty = np.array([0.5, 0.001, 0.6, 0.7])
    columns = ((), ("kind",), (), ())
    prediction = predicted([1, 2, 3, 4], novelty=novelty, novel_columns=columns)
    frame = pd.DataFrame({"size": [900.0, 2, 3, np.nan], "kind": list("abab")})
    because = {0: ("size", "kind"), 1: ("size",), 2: (), 3: ("size",)}
    document = page_document(inputs(prediction, frame=frame, wide_because=because))
    rows = table(document, "rows").frame.set_index("row")
    assert rows["why"].to_dict() == {
        1: "wide: size = 900, kind = a",
        2: "unlike training data: kind = b",
        3: "",
        4: "wide: size missing",
    }
    assert rows.loc[2, "wide_because_of"] == "size = 2"
    # A prediction beside its confidence interval is one too, as many as words and figures count.
    biased = on_twins(times=1.0, raw=prediction, above=[False, True, True, True])
    biased = page_document(inputs(biased, frame=frame, wide_because=because))
    assert table(biased, "rows").frame.set_index("row")["why"].to_dict() == {
        1: "wide: size = 900, kind = a",
        2: "unlike training data: kind = b",
        3: "prediction probably too high; widened",
        4: "wide: size missing; prediction probably too high; widened",
    }
    assert "**Be careful** with 3 of 4 rows: the prediction lies outside" in biased.summary
    assert "careful" not in document.summary
    # No row of this table is known to be wide for some reason.
    assert "why" not in page_document(inputs()).tables[0].frame


def test_each_number_of_rows_is_said_where_it_comes_from():
    n, n_trained, n_held = 600, 500, 70
    status = ["trained on"] * n_trained + ["new"] * (n - n_trained)
    held_out = np.arange(n) // 10 * 10 >= n_trained
    held_out[n_trained + n_held :] = False
    given = inputs(predicted(np.arange(n) % 50), y=np.zeros(n), status=status, held_out=held_out)
    document = page_document(given)
    told = said(document)
    assert (
        "This page is about 600 rows: 500 trained on, 70 held out to judge the model and 30 new "
        "to the model. Figures draw 500 of them at most, those that judge the model first."
    ) in told
    assert told.count("600") == 1
    captions = [part.caption for part in (*document.tables, *document.figures)]
    assert not any("600" in caption or "500" in caption for caption in captions)


def test_a_colour_means_one_thing_in_all_figures_and_in_the_panel():
    shades = {"own": "confidence", "biased": "confidence", "prediction, thin": "prediction"}
    meanings = {}
    for name, colour in COLOURS.items():
        meanings.setdefault(colour.lower(), set()).add(shades.get(name, name))
    assert all(len(of_colour) == 1 for of_colour in meanings.values())
    css = resources.files("confide.document").joinpath("page.css").read_text("utf-8")
    painted = dict(re.findall(r"\.what-if \.(\w+) \{[^}]*background: (#\w{6})", css))
    names = ("prediction", "confidence", "observed", "aleatoric", "classical", "optimisation")
    assert painted == {name: COLOURS[name].lower() for name in names}


def test_figures_have_no_colour_without_a_meaning():
    status = ["trained on", *["new"] * 3]
    prediction = calibrated(0.5, raw=on_twins())
    novel = replace(prediction, novelty=np.array([0.5, 0.002, 0.9, 0.3]))
    given = inputs(novel, y=Y, status=status, summary=CALIBRATION, effects=found_effects())
    text = json.dumps(specifications(page_document(given)))
    found = set(re.findall(r'"(#[0-9A-Fa-f]{6})"', text))
    assert found <= set(COLOURS.values())
    assert {COLOURS[name] for name in ("prediction", "confidence", "observed", "novel")} <= found


DAYS = pd.to_datetime(["2024-01-01", "2024-07-01"])


def found_effects(**changes):
    importance = pd.DataFrame(
        {"importance": [3.0, 1.0, -0.1], "importance_se": 0.1},
        index=pd.Index([EVIL, "when", "kind"], name="feature"),
    )
    bands = {"mean_ci_lower": [1.0, 3.0], "mean_ci_upper": [2.0, 5.0]}
    curve = {"mean": [1.5, 4.0], **bands, "aleatoric_sd": [0.5, 0.7], "classical_sd": [0.1, 0.2]}
    values = {EVIL: [1.0, 2.0], "when": DAYS, "kind": ["a.b[0]", EVIL]}
    curves = {name: pd.DataFrame({"value": of, **curve}) for name, of in values.items()}
    return Effects(**{
        "importance": importance, "curves": curves, "n_rows": 80, "confidence_level": 0.9,
        "has_targets": True, **changes,
    })  # fmt: skip


def test_the_page_shows_what_moves_the_prediction():
    document = page_document(inputs(effects=found_effects()))
    assert [row[1] for row in shown(document, "importance")] == [
        *("3.00 ± 0.10", "1.00 ± 0.10", "-0.10 ± 0.10")
    ]
    caption = table(document, "importance").caption
    assert "typical error (RMSE) grows on 80 rows that the model was not trained on" in caption
    specification = specifications(document)["effects"]
    panels = [specification["datasets"][each["data"]["name"]] for each in panels_of(specification)]
    assert len(panels) == 6  # two of each feature
    assert [(row["y"], row["low"], row["high"]) for row in panels[0]] == [(1.5, 1, 2), (4, 3, 5)]
    assert [(row["mark"], row["x"], row["y"]) for row in panels[1]] == [
        *(("noise", 1, 0.5), ("noise", 2, 0.7)),
        *(("finite data", 1, 0.1), ("finite data", 2, 0.2)),
    ]
    assert [row["x"] for row in panels[2]] == [1704067200000, 1719792000000]
    assert [row["text"] for row in panels[4]] == ["a.b[0]", EVIL]
    names = panels_of(specification)[0]["layer"][0]["encoding"]["color"]["scale"]
    assert names["domain"] == ["mean prediction", "90 % confidence band", "noise", "finite data"]
    assert names["range"][1] == COLOURS["confidence"]


def panels_of(specification):
    return [layers["layer"][0] if "data" in layers["layer"][0] else layers
            for layers in specification["concat"]]  # fmt: skip


def test_effects_do_without_targets_bands_and_curves():
    curves = {
        "age": pd.DataFrame({"value": [1.0, 2.0], "mean": [1.0, 2.0]}),
        "none": pd.DataFrame(),
    }
    document = page_document(inputs(effects=found_effects(has_targets=False, curves=curves)))
    assert "How far predictions move" in table(document, "importance").caption
    assert len(specifications(document)["effects"]["concat"]) == 1
    assert "band" not in json.dumps(specifications(document)["effects"])
    document = page_document(inputs(effects="Fit it without `bounds`."))
    assert "This is not known here. Fit it without \\`bounds\\`\\." in said(document)
    titles = [section.title for section in page_document(inputs()).sections]
    assert "What moves the prediction" not in titles


def test_a_long_file_is_drawn_by_chance_and_its_widest_intervals_are_listed():
    n = 3000
    scale = np.ones(n)
    scale[[17, 2900]] = 9.0, 8.0
    document = page_document(inputs(predicted(np.arange(n) % 50, scale)))
    assert [row[0] for row in shown(document, "widest")][:2] == ["18", "2901"]
    assert len(table(document, "widest").frame) == 10
    listed = {int(row[0]) for row in shown(document, "rows")}
    for name in ("predictions", "by-feature", "split"):
        rows = drawn_rows(specifications(document)[name])
        assert {row["key"] for row in rows} == listed
    assert len(listed) == MOST_DRAWN
    assert "Predictions of rows drawn at random" in caption_of(document)
    assert (
        f"This page is about 3,000 rows: all new to the model. Figures draw {MOST_DRAWN} of them "
        "at most, those that judge the model first."
    ) in said(document)


def test_predictions_are_drawn_in_their_order():
    document = page_document(inputs(predicted([3, 1, 2]), y=np.array([3.5, np.nan, 2.5])))
    rows = drawn_rows(specifications(document)["predictions"])
    assert [(row["key"], row["x"], row["mean"]) for row in rows] == [
        (1, 3, 3),
        (2, 1, 1),
        (3, 2, 2),
    ]
    assert [row["observed"] for row in rows] == [3.5, None, 2.5]
    assert rows[0]["prediction_text"] == "1.04 to 4.96"
    assert caption_of(document).startswith(
        "Predictions with their 95 % prediction intervals (for a new observation) and confidence "
        "intervals (for the true function; not calibrated), sorted and with observed values."
    )
    document = page_document(ODD["no confidence"])
    assert caption_of(document).startswith(
        "Predictions with their 95 % prediction intervals, sorted."
    )


def caption_of(document, name="predictions"):
    return next(each for each in document.figures if each.name == name).caption


def test_shares_are_stacked_in_the_order_of_noise():
    prediction = predicted([1, 2], [1, 1])
    noise = np.array([0.2, 0.8])
    prediction = replace(
        prediction,
        aleatoric_variance=noise,
        epistemic_variance=1 - noise,
        classical_variance=np.array([0.5, 0.1]),
    )
    rows = drawn_rows(specifications(page_document(inputs(prediction)))["split"])
    stacked = {(r["key"], r["category"]): (r["x"], r["start"], r["end"]) for r in rows}
    assert stacked == {
        (1, "noise"): (1.5, 0, 0.2),
        (1, "finite data"): (1.5, 0.2, 0.7),
        (1, "random training"): (1.5, 0.7, 1),
        (2, "noise"): (0.5, 0, 0.8),
        (2, "finite data"): (0.5, 0.8, 0.9),
        (2, "random training"): (0.5, 0.9, 1),
    }


def test_infinite_bounds_end_at_the_edge_and_are_told():
    prediction = calibrated()
    law = replace(prediction.prediction_law, sorted_scores=np.array([INF]))
    prediction = replace(prediction, prediction_law=law)
    document = page_document(inputs(prediction, y=Y))
    specification = specifications(document)["predictions"]
    assert drawn_rows(specification)[0]["prediction_text"] == "-∞ to ∞"
    assert "without a bound ends at the edge of the figure" in caption_of(document)
    assert shown(document, "rows")[0][3] == "-∞ to ∞"
    assert next(r for r in shown(document, "coverage") if r[1] == "calibrated")[4] == "∞"


HOSTILE = {
    EVIL: [1.5, 2.5, 3.5, 4.5],
    "a.b[0]": ["x" * 10_000, 'say "hi"', "it's", "\u202eevil\u202c"],
    "image": ["https://example.org/a.png", "🚲", "שלום", "<img src=x>"],
    "constructor": ["toString", "valueOf", "hasOwnProperty", "__proto__"],
    "title\n# head": pd.to_datetime(["2024-01-01", None, "2024-03-01", "2024-04-01"]),
    "row": [True, False, None, True],
}


def hostile():
    frame = pd.DataFrame(HOSTILE)
    return inputs(
        frame=frame,
        y=Y,
        target=f"*{EVIL}*",
        title=f"{EVIL}: {EVIL}",
        warnings=[f"[link](https://example.org) {EVIL}"],
        settings={EVIL: f"{EVIL}\n" * 3},
        levers=pd.DataFrame([Lever(EVIL, EVIL, 0.5, 0.0, 0.71, 0.04)]),
        advice=f"Some *advice* {EVIL}",
    )


def names_of_objects():
    """What every object of JavaScript has, as columns and target."""
    names = ["constructor", "hasOwnProperty", "toString", "valueOf", "__proto__"]
    numbers, letters = [1.5, 2.5, 3.5, 4.5], [*"abba"]
    frame = pd.DataFrame({n: numbers if n != "toString" else letters for n in names})
    return inputs(frame=frame, y=Y, target="constructor", title="toString")


def test_text_from_files_is_text():
    page = render_page(page_document(hostile()))
    assert EVIL not in page
    assert 'href="https:' not in page
    assert "x" * 41 not in page
    assert "\u202e" not in page
    assert "<em>advice</em>" in page


def test_no_name_from_a_file_is_a_field():
    for specification in specifications(page_document(hostile())).values():
        text = json.dumps({k: v for k, v in specification.items() if k != "datasets"})
        fields = [part.split('"')[0] for part in text.split('"field": "')[1:]]
        assert all(field.isidentifier() for field in fields), fields
        titles = [part.split('"')[0] for part in text.split('"title": "')[1:]]
        assert "image" in titles or specification["description"]
        for tooltip in text.split('"tooltip": [')[1:]:
            assert '"title": "image"' not in tooltip.split("]")[0]


ODD = {
    "one row": inputs(predicted([2.0]), y=np.array([3.0])),
    "all alike": inputs(predicted([2.0] * 5), y=np.full(5, 2.0)),
    "no width": inputs(predicted([1, 2, 3], 0.0), y=np.array([1.0, 2.0, 4.0])),
    "all novel": inputs(predicted([1, 2, 3], novelty=np.zeros(3))),
    "one level": inputs(level_only([1, 2, 3], 1.0), y=np.array([1.0, 2.0, 9.0])),
    "no feature": inputs(frame=pd.DataFrame(index=range(4)), y=Y),
    "many features": inputs(frame=pd.DataFrame({f"c{i}": range(4) for i in range(300)}), y=Y),
    "same name twice": inputs(frame=pd.DataFrame([[1, 2]] * 4, columns=["a", "a"]), y=Y),
    "empty column": inputs(frame=pd.DataFrame({"a": [np.nan] * 4, "b": [None] * 4}), y=Y),
    "infinite feature": inputs(frame=pd.DataFrame({"a": [1.0, INF, -INF, 2.0]}), y=Y),
    "huge numbers": inputs(predicted([1e300, -1e300, 0, 1], 1e150)),
    "no confidence": inputs(predicted([1, 2], confidence_law=None, classical_variance=None)),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_files_have_a_page(name):
    document = page_document(ODD[name])
    assert specifications(document)
    assert "nan" not in document.summary
    assert len(shown(document, "rows")) == ODD[name].n_rows


@pytest.mark.slow
def test_odd_pages_say_so():
    told = {name: said(page_document(odd)) for name, odd in ODD.items()}
    assert "3 of 3 rows are unlike the training data" in told["all novel"]
    assert "67 % of 3 rows inside their 90 % prediction intervals" in told["one level"]
    assert "does not split its uncertainty" in told["one level"]
    assert "How far away these rows are was not computed" in told["one row"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"status": ["new"]},
            "`status` must have an entry for each of the 4 predicted rows, got 1",
        ),
        ({"frame": pd.DataFrame()}, "`frame` must have an entry for each of the 4 .* got 0"),
        ({"y": np.zeros(3)}, "`y` must have an entry for each of the 4 .* got 3"),
        ({"status": ["nwe"] * 4}, r"one of \['trained on', 'calibrated on', 'new'\], got 'nwe'"),
        ({"confidence_level": 95}, "must lie in"),
        ({"prediction": predicted([])}, "at least one predicted row, got none"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        inputs(**changes)


def test_columns_are_read_as_numbers_dates_or_categories():
    moments = pd.to_datetime(["2024-01-01", "2024-01-02 03:04:05"], format="ISO8601")
    read = {
        "number": [pd.Series([1, 2]), pd.Series([1.5, None]), pd.Series([1, None], dtype="Int64")],
        "date": [
            pd.Series(moments),
            pd.Series(moments.tz_localize("CET")),
            pd.Series(moments.date),
        ],
        "category": [pd.Series(["a", None]), pd.Series([True, None]), pd.Series([[1], {2: 3}])],
    }
    for kind, columns in read.items():
        assert [read_feature("x", each).kind for each in columns] == [kind] * 3
    assert read_feature("x", read["date"][0]).texts() == [
        "2024-01-01 00:00:00",
        "2024-01-02 03:04:05",
    ]
    assert read_feature("x", read["date"][2]).texts() == ["2024-01-01", "2024-01-02"]
    text = read_feature("x", pd.Series(["2024-01-01", None, "2024-01-02"]))
    assert (text.kind, text.texts()) == ("date", ["2024-01-01", None, "2024-01-02"])
    assert read_feature("x", pd.Series(["2024-01-01"], dtype="category")).kind == "category"
    assert read_feature("x", read["category"][2]).texts() == ["[1]", "{2: 3}"]
    assert read_feature("x", read["number"][2]).texts() == ["1", None]


def test_frequent_categories_have_strips_of_their_own():
    letters = pd.Series([*"aabbccddeeffgghhij", None])
    position, names = strips(read_feature("x", letters))
    assert names == [*"abcdefgh", "(others)", "(missing)"]
    assert position.tolist() == [*np.repeat(np.arange(8), 2), 8, 8, 9]


def test_telling_features_are_found_whatever_their_form():
    generator = np.random.default_rng(0)
    n = 400
    x = generator.normal(size=n)
    frame = pd.DataFrame(
        {
            "noise": generator.normal(size=n),
            "constant": 1.0,
            "identity": [f"id {i}" for i in range(n)],
            "square root": np.abs(x) ** 0.5 * generator.choice([-1, 1], n),
            "kind": np.where(x > 0, "high", "low"),
            "hole": np.where(x > 1, np.nan, 1.0),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.round(100 * x), "D"),
        }
    )
    found = telling_features(frame, x, x**2, most=7)
    assert {each.name for each in found[:4]} == {"day", "square root", "kind", "hole"}
    assert found[0].name == "day"
    assert found[-1].name == "constant"


def wide_rows():
    """As many columns as a table of rows can have, with long names and texts."""
    n = 30
    frame = pd.DataFrame(
        {
            "flipper_length_mm": np.arange(n) + 0.25,
            "Neighborhood": ["College_Creek", "Bloomington_Heights"] * (n // 2),
            "First_Flr_SF": 1000.0 + np.arange(n),
            "Overall_Cond": ["Above_Average", "Very_Excellent", "Poor"] * (n // 3),
        }
    )
    unlike = [("flipper_length_mm", "Neighborhood")] + [()] * (n - 1)
    novelty = np.where(np.arange(n) == 0, 0.001, 0.5)
    prediction = predicted(np.linspace(10_000, 400_000, n), 30_000.0, novelty=novelty)
    return inputs(
        replace(prediction, novel_columns=tuple(unlike)),
        frame=frame,
        y=np.linspace(9_000, 500_000, n),
        ids=pd.DataFrame({"PID": np.arange(n) + 526_301_100}),
        status=["calibrated on", *["new"] * (n - 1)],
        wide_because=dict.fromkeys(range(10), ("Neighborhood", "Overall_Cond")),
    )


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    novelty = np.array([0.5, 0.2, 0.001, 0.9, 0.4, 0.7])
    frame = pd.DataFrame({"age": [1, 2, 3, 4, 5, 6], "kind": list("aabbcc")})
    normal = inputs(
        predicted([30, 10, 20, 60, 50, 40], 10.0, novelty=novelty),
        y=np.array([31.0, 9, 21, 200, np.nan, 41]),
        frame=frame,
        status=["new", "new", "new", "new", "new", "trained on"],
        effects=found_effects(),
    )
    made = {
        "wide": wide_rows(),
        "normal": normal,
        "hostile": hostile(),
        "names of objects": names_of_objects(),
        "one row": ODD["one row"],
        "honest": inputs(on_twins(), y=Y, status=["trained on", *["new"] * 3], summary=CALIBRATION),
    }
    found = {}
    for name, each in made.items():
        path = folder / f"{name}.html"
        path.write_text(render_page(page_document(each)), encoding="utf-8")
        found[name] = path.as_uri()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["normal", "hostile", "names of objects", "one row", "honest"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (375, "dark")])
def test_the_page_is_drawn_without_complaint_and_fits(open_page, addresses, name, width, scheme):
    seen = open_page(addresses[name], width, scheme)
    assert seen.complaints == []
    assert outside_requests(seen) == []
    assert all(drawn(seen.page).values()), drawn(seen.page)
    assert seen.page.evaluate(WIDTHS) == [width, width]
    # Legends are not cut off either.
    ends = seen.page.evaluate(
        """[...document.querySelectorAll('.drawing .role-legend-label text')].map(text =>
        text.closest('svg').getBoundingClientRect().right - text.getBoundingClientRect().right)"""
    )
    assert all(end >= 0 for end in ends), ends


SIDEWAYS = """[...document.querySelectorAll('.scroll')].filter(box => box.scrollWidth >
    box.clientWidth).map(box => box.parentElement.id)"""
CUT = """[...document.querySelectorAll('tbody :is(th, td)')].filter(cell => cell.offsetParent &&
    cell.getBoundingClientRect().right > document.documentElement.clientWidth).length"""


@pytest.mark.slow
def test_tables_of_rows_need_no_scrolling_sideways(open_page, addresses):
    page = open_page(addresses["wide"], 1440).page
    assert page.evaluate(SIDEWAYS) == []
    page = open_page(addresses["wide"], 390).page
    assert (page.evaluate(SIDEWAYS), page.evaluate(CUT)) == ([], 0)
    # A phone shows each row as a card, in which every value has its heading.
    first = page.locator("#table-widest tbody tr").first
    assert "Neighborhood" in [
        cell.get_attribute("data-heading") for cell in first.locator("th, td").all()
    ]
    assert page.locator("#table-widest thead").is_hidden()


@pytest.mark.slow
def test_text_from_files_is_text_in_tooltips(open_page, addresses):
    seen = open_page(addresses["hostile"])
    tooltips = set()
    for panel in range(len(HOSTILE)):
        layer = f"#figure-by-feature .concat_{panel}_group .mark-symbol.role-mark path"
        tooltip = seen.page.locator("#vg-tooltip-element.visible")
        for mark in reversed(seen.page.locator(layer).all()):  # some lie outside of the axes
            mark.hover(force=True)
            seen.page.wait_for_timeout(100)
            if tooltip.count():
                break
        tooltip.wait_for(timeout=1000)
        assert tooltip.locator("img, h2, script").count() == 0
        tooltips.add(tooltip.inner_text().splitlines()[0].split("\t")[0].strip())
    for name in (EVIL, "image"):
        assert any(text.startswith(f"feature: {name}") for text in tooltips)
    assert seen.complaints == []
    assert outside_requests(seen) == []


def plot(page, figure):
    """The box of a figure's plot, without its axes."""
    page.evaluate("document.documentElement.style.scrollBehavior = 'auto'")
    chart = page.locator(f"#figure-{figure}")
    chart.scroll_into_view_if_needed()
    box = chart.locator(".mark-group.role-frame .background").first.bounding_box()
    # The browser counts room for the frame's mitres, 5 pixels on each side.
    return {
        "x": box["x"] + 5,
        "width": box["width"] - 10,
        "y": box["y"] + 5,
        "height": box["height"] - 10,
    }


def drag(page, figure, start, end):
    box = plot(page, figure)
    height = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + start * box["width"], height)
    page.mouse.down()
    page.mouse.move(box["x"] + (start + end) / 2 * box["width"], height)
    page.mouse.move(box["x"] + end * box["width"], height)
    page.mouse.up()


def until_rows(page, n):
    until(page, f"document.querySelectorAll('#table-rows tbody tr:not([hidden])').length === {n}")


def test_a_brush_leaves_its_rows_and_clearing_brings_all_back(open_page, addresses):
    page = open_page(addresses["normal"]).page
    everything = column(page, "rows", 1)
    assert sorted(everything) == list("123456")
    note = page.locator("#table-rows .brushed")
    assert note.is_hidden()
    drag(page, "predictions", 0.01, 0.49)  # three of six, sorted by prediction
    until_rows(page, 3)
    assert sorted(column(page, "rows", 1)) == list("123")
    assert "Brushed: 3 of 6 rows." in note.inner_text()
    drag(page, "split", 0.3, 0.99)  # equal shares: in the file's order, the last four
    until_rows(page, 1)
    assert column(page, "rows", 1) == ["3"]
    page.locator("#table-rows th button", has_text="row").click()
    assert column(page, "rows", 1) == ["3"]
    note.locator("button").click()
    until_rows(page, 6)
    assert column(page, "rows", 1) == list("123456")
    assert note.is_hidden()


def test_a_double_click_clears_one_brush(open_page, addresses):
    page = open_page(addresses["normal"]).page
    drag(page, "predictions", 0.51, 0.99)
    until_rows(page, 3)
    box = plot(page, "predictions")
    page.mouse.dblclick(box["x"] + 0.75 * box["width"], box["y"] + box["height"] / 2)
    until_rows(page, 6)


def test_a_figure_drawn_anew_has_lost_its_brush(open_page, addresses):
    page = open_page(addresses["normal"]).page
    drag(page, "predictions", 0.51, 0.99)
    until_rows(page, 3)
    page.set_viewport_size({"width": 700, "height": 800})
    until_rows(page, 6)


def test_a_finger_brushes_sideways(open_page, addresses):
    page = open_page(addresses["normal"], 375, has_touch=True).page
    box = plot(page, "predictions")
    height = box["y"] + box["height"] / 2
    finger = page.context.new_cdp_session(page)

    def touch(kind, at):
        points = [] if at is None else [{"x": box["x"] + at * box["width"], "y": height}]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", 0.01)
    for at in np.linspace(0.05, 0.49, 8):
        touch("touchMove", float(at))
    touch("touchEnd", None)
    until_rows(page, 3)
    assert sorted(column(page, "rows", 1)) == list("123")


def test_without_script_the_table_is_whole(addresses, browser):
    page = browser.new_page(java_script_enabled=False)
    page.goto(addresses["normal"])
    assert len(page.locator("#table-rows tbody tr:visible").all()) == 6
    assert page.locator("#table-rows .brushed").is_hidden()
    page.close()


def test_novel_rows_are_counted_among_those_not_trained_on():
    prediction = predicted([1, 2, 3, 4], novelty=np.array([0.001, 0.001, 0.5, 0.5]))
    document = page_document(inputs(prediction, status=["trained on", "new", "new", "new"]))
    assert "1 of 3 rows that the model was not trained on (33 %) is unlike" in said(document)
    document = page_document(inputs(prediction, status=["trained on"] * 4))
    assert "trained on every row, so none of them is new to it" in said(document)
