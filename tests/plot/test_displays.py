"""Displays: the numbers drawn are those computed, on the axis that was given, in clear words."""

import ast
import dataclasses
import inspect
import io
import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from matplotlib import pyplot as plt
from matplotlib.dates import date2num
from matplotlib.figure import Figure
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.artists import band, bars, lines, named, words

import confide.plot
from confide import NoSuchIntervalError, Prediction
from confide.calibration import Calibration
from confide.drawing.places import MOST_ROWS, MOST_ROWS_APART, places_of
from confide.metrics import ObservedCoverage
from confide.plot import (
    ConfidenceCalibrationDisplay,
    IntervalsDisplay,
    NoveltyDisplay,
    PredictionCoverageDisplay,
    SplitDisplay,
    plot_confidence_calibration,
    plot_intervals,
    plot_novelty,
    plot_observed_coverage,
    plot_split,
    plot_widening,
)
from confide.uncertainty import ContainingLaw, LevelLaw, PivotLaw, TPlusNormalLaw, TwinErrors

N_ROWS = 8
Y = np.array([0.5, -1.0, 3.0, 9.0, 4.5, -2.0, 6.0, 6.5])
DAYS = pd.date_range("2026-01-01", periods=N_ROWS)


def predicted(mean, **changes):
    """A prediction with everything: variances of noise 4, finite data 1 and training 1 (of 2)."""
    mean = np.asarray(mean, np.float64)
    one = np.ones(len(mean))
    return dataclasses.replace(
        Prediction(
            mean=mean,
            aleatoric_variance=4 * one,
            epistemic_variance=2 * one,
            prediction_law=TPlusNormalLaw(mean, np.sqrt(2) * one, 2 * one, 1),
            confidence_law=TPlusNormalLaw.t(mean, np.sqrt(2) * one, 1),
            classical_variance=one,
            optimisation_variance=2 * one,
            n_members=2,
            novelty=(np.arange(len(mean)) + 1) / (len(mean) + 1),
        ),
        **changes,
    )


SCORES = np.arange(1, 40) / 20


def honest(prediction, times=3.0):
    """Confidence intervals of that many standard errors at a score of one, as of twins."""
    one = np.ones(len(prediction))
    times = times * one
    law = PivotLaw(prediction.mean, times * np.sqrt(2), SCORES)
    return dataclasses.replace(
        prediction,
        confidence_law=law,
        prediction_law=ContainingLaw(prediction.prediction_law, law),
        uncalibrated=prediction,
        twin_errors=TwinErrors(bias=99.0 * (times > 3), error=times, claimed=one),
    )


@pytest.fixture
def prediction():
    return predicted([3.0, 1, 4, 0, 5, -9, 2, 6])


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "age": [30.0, 10, 40, 15, 50, 90, 20, 60],
            "town": ["b", "a", "b", "c", "a", "b", "b", "b"],
            "day": DAYS[::-1],
            "rooms": [1, 2, 1, 2, 1, 2, 1, 1],
            "garden": [True, False] * 4,
        }
    )


@pytest.fixture
def ax():
    return Figure().subplots()


def note(ax):
    return ax.get_legend().get_title().get_text()


def ticks(ax):
    return [text.get_text() for text in ax.get_xticklabels()]


# --- scikit-learn's habit, of each Display

DISPLAYS = [IntervalsDisplay, SplitDisplay, PredictionCoverageDisplay, NoveltyDisplay]


def drawn(display, prediction, **how):
    """Some Displays need targets, the others do without."""
    targets = {"y": Y} if display is PredictionCoverageDisplay else {}
    return display.from_prediction(prediction, **targets, **how)


@pytest.mark.parametrize("display", DISPLAYS)
def test_the_axis_that_was_given_is_drawn_on_and_kept(prediction, ax, display):
    made = drawn(display, prediction, ax=ax)
    assert type(made) is display
    assert made.ax_ is ax
    assert made.figure_ is ax.figure
    assert ax.has_data()


@pytest.mark.parametrize("display", DISPLAYS)
def test_nothing_global_is_touched_where_an_axis_is_given(prediction, ax, display):
    before, settings = plt.get_fignums(), dict(mpl.rcParams)
    drawn(display, prediction, ax=ax)
    assert plt.get_fignums() == before
    assert dict(mpl.rcParams) == settings


@pytest.mark.parametrize("display", DISPLAYS)
def test_without_an_axis_each_drawing_has_a_new_figure(prediction, display):
    made = drawn(display, prediction)
    first = made.figure_
    assert made.plot() is made
    assert made.figure_ is not first
    assert made.ax_.figure is made.figure_
    plt.close(first)
    plt.close(made.figure_)


@pytest.mark.parametrize("display", DISPLAYS)
def test_an_estimator_is_asked_for_its_prediction(bootstrapped, data, display):
    model = Answering(bootstrapped)
    made = display.from_estimator(model, *data, ax=Figure().subplots())
    again = display.from_prediction(
        model.get_prediction(data[0]),
        **({"y": data[1]} if display in {IntervalsDisplay, PredictionCoverageDisplay} else {}),
        ax=Figure().subplots(),
    )
    assert pixels(made) == pixels(again)


class Answering:
    """A model whose predictions have novelty p-values."""

    def __init__(self, model):
        self.model = model

    def get_prediction(self, X):
        prediction = self.model.get_prediction(X)
        return dataclasses.replace(prediction, novelty=np.linspace(0, 1, len(prediction)))


def pixels(display):
    display.figure_.savefig(file := io.BytesIO(), format="rgba")
    return file.getvalue()


def test_a_pipeline_is_asked_at_its_end(bootstrapped, data):
    model = make_pipeline(StandardScaler(with_mean=False).fit(2 * data[0]), bootstrapped)
    made = IntervalsDisplay.from_estimator(model, data[0], ax=Figure().subplots())
    expected = bootstrapped.get_prediction(data[0] / np.std(2 * data[0], axis=0))
    np.testing.assert_array_equal(made.prediction.mean, expected.mean)


@pytest.mark.parametrize(
    "model", [LinearRegression(), make_pipeline(StandardScaler(), LinearRegression())]
)
def test_an_estimator_without_intervals_is_refused(model, data):
    with pytest.raises(TypeError, match=r"estimator of confide .* got (Lin|Pipe).*\. Pass such"):
        SplitDisplay.from_estimator(model, data[0])


def test_slow_modules_are_imported_only_when_something_is_drawn():
    for path in Path(confide.plot.__file__).parent.glob("*.py"):
        for node in ast.parse(path.read_text()).body:  # what runs on import
            if isinstance(node, ast.Import | ast.ImportFrom):
                assert not re.search("matplotlib|pandas", ast.unparse(node)), path


# What editors and `help` show, although one function serves all Displays.
SIGNATURES = {
    IntervalsDisplay: {"feature", "confidence_level", "kind", "ax"},
    SplitDisplay: {"feature", "ax"},
    PredictionCoverageDisplay: {"confidence_levels", "ax"},
    ConfidenceCalibrationDisplay: {"feature", "confidence_level", "axes"},
    NoveltyDisplay: {"threshold", "ax"},
}


@pytest.mark.parametrize("display", SIGNATURES)
def test_signatures_list_the_options_of_each_display(display):
    for method, rows in (
        (display.from_estimator, ["estimator", "X", "y"]),
        (display.from_prediction, ["prediction"]),
    ):
        parameters = inspect.signature(method).parameters.values()
        options = {p.name: p for p in parameters if p.kind is p.KEYWORD_ONLY}
        assert set(options) == SIGNATURES[display]
        assert not any(p.default is p.empty for p in options.values())
        assert [p.name for p in parameters][: len(rows)] == rows
        assert "The Display, drawn" in method.__doc__ or "options of `plot`" in method.__doc__


def test_an_option_that_a_display_has_not_is_refused(prediction):
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        SplitDisplay.from_prediction(prediction, colour="red")


# --- intervals


def test_intervals_are_sorted_by_prediction_at_the_level_asked_for(prediction, ax):
    display = IntervalsDisplay.from_prediction(prediction, y=Y, confidence_level=0.8, ax=ax)
    order = np.argsort(prediction.mean)
    for kind in ("confidence", "prediction"):
        expected = prediction.interval(kind, 0.8)[order]
        np.testing.assert_array_equal(bars(ax, f"80 % {kind} interval"), expected)
    np.testing.assert_array_equal(named(ax.collections, "observed").get_offsets()[:, 1], Y[order])
    assert ax.get_xlabel() == "rows, sorted by prediction"
    again = display.plot(Figure().subplots(), confidence_level=0.5)
    assert "50 % prediction interval" in words(again.ax_)


@pytest.mark.parametrize("series", [pd.Series, pl.Series])
def test_the_vertical_axis_has_the_name_of_the_targets(prediction, ax, series):
    IntervalsDisplay.from_prediction(prediction, y=pd.Series(Y), ax=ax)
    assert ax.get_ylabel() == ""
    y = pd.Series(Y, name="price") if series is pd.Series else pl.Series("price", Y)
    IntervalsDisplay.from_prediction(prediction, y=y, ax=ax)
    assert ax.get_ylabel() == "price"


@pytest.mark.parametrize("kind", ["confidence", "prediction"])
def test_one_kind_alone(prediction, ax, kind):
    IntervalsDisplay.from_prediction(prediction, kind=kind, ax=ax)
    assert words(ax) == {f"95 % {kind} interval", "prediction"}


@pytest.mark.parametrize("form", ["pandas", "polars", "numpy", "list"])
def test_against_a_number_each_row_stands_at_its_own(prediction, frame, ax, form):
    numbers = frame[["rooms", "age"]]
    X = {
        "pandas": numbers.set_index(numbers.index[::-1]),
        "polars": pl.from_pandas(numbers),
        "numpy": numbers.to_numpy(),
        "list": numbers.to_numpy().tolist(),
    }[form]
    feature = "age" if hasattr(X, "columns") else 1
    IntervalsDisplay.from_prediction(prediction, X, Y, feature=feature, ax=ax)
    order = np.argsort(frame["age"].to_numpy())
    for kind in ("confidence", "prediction"):
        position, ends = lines(ax, f"95 % {kind} interval")
        np.testing.assert_array_equal(position, frame["age"].to_numpy()[order])
        np.testing.assert_array_equal(ends, prediction.interval(kind, 0.95)[order])
    (means,) = ax.get_lines()
    np.testing.assert_array_equal(
        means.get_xydata(), np.column_stack([frame["age"], prediction.mean])[order]
    )
    assert means.get_linestyle() == "None"  # neighbours differ in more than this
    assert ax.get_xlabel() == ("age" if hasattr(X, "columns") else "feature 1")


def test_against_the_only_feature_intervals_are_bands(prediction, frame, ax):
    IntervalsDisplay.from_prediction(prediction, frame[["age"]], feature="age", ax=ax)
    order = np.argsort(frame["age"].to_numpy())
    position, drawn_band = band(ax, "95 % confidence interval")
    np.testing.assert_array_equal(position, frame["age"].to_numpy()[order])
    np.testing.assert_array_equal(drawn_band, prediction.interval("confidence", 0.95)[order])


@pytest.mark.parametrize("feature", [-4, 1, "town"])
@pytest.mark.parametrize("form", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_against_text_rows_stand_in_their_category_by_prediction(
    prediction, frame, ax, form, feature
):
    X = form(frame)
    IntervalsDisplay.from_prediction(prediction, X, feature=feature, ax=ax)
    assert ticks(ax) == ["a", "b", "c"]
    position, ends = lines(ax, "95 % prediction interval")
    # a: rows 1, 4; b: 5, 6, 0, 2, 7 by prediction; c: row 3. A slot is 0.8 wide.
    rows = [1, 4, 5, 6, 0, 2, 7, 3]
    expected = [-0.2, 0.2, 0.68, 0.84, 1.0, 1.16, 1.32, 2.0]
    np.testing.assert_allclose(position, expected, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(ends, prediction.interval("prediction", 0.95)[rows])
    assert ax.get_xlabel() == "town"


@pytest.mark.parametrize("form", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_against_dates_the_axis_is_of_dates(prediction, frame, ax, form):
    IntervalsDisplay.from_prediction(prediction, form(frame), feature="day", ax=ax)
    position, ends = lines(ax, "95 % prediction interval")
    np.testing.assert_array_equal(position, date2num(DAYS))
    np.testing.assert_array_equal(ends, prediction.interval("prediction", 0.95)[::-1])
    ax.figure.canvas.draw()
    assert "Jan" in " ".join(ticks(ax)) + ax.xaxis.get_major_formatter().get_offset()


@pytest.mark.parametrize(
    ("feature", "names"), [("rooms", ["1", "2"]), ("garden", ["False", "True"])]
)
def test_a_few_numbers_and_truth_values_are_categories(prediction, frame, ax, feature, names):
    IntervalsDisplay.from_prediction(prediction, frame, feature=feature, ax=ax)
    assert ticks(ax) == names


def test_rows_without_a_number_are_counted_and_not_drawn(prediction, frame, ax):
    frame.loc[[0, 3], "age"] = np.nan
    IntervalsDisplay.from_prediction(prediction, frame, Y, feature="age", ax=ax)
    assert note(ax) == "not drawn: 2 rows without a value"
    position, ends = lines(ax, "95 % prediction interval")
    rows = [1, 6, 2, 4, 7, 5]
    np.testing.assert_array_equal(position, frame["age"][rows])
    np.testing.assert_array_equal(ends, prediction.interval("prediction", 0.95)[rows])
    np.testing.assert_array_equal(named(ax.collections, "observed").get_offsets()[:, 1], Y[rows])


def infinite_in(rows, law):
    scale = law.normal_scale.copy()
    scale[rows] = np.inf
    return TPlusNormalLaw.normal(law.location, scale)


@pytest.mark.parametrize("feature", [None, "age"])
def test_infinite_bounds_reach_the_edges_and_are_counted(prediction, frame, ax, feature):
    law = infinite_in([2, 5], prediction.prediction_law)
    IntervalsDisplay.from_prediction(
        dataclasses.replace(prediction, prediction_law=law), frame, Y, feature=feature, ax=ax
    )
    label = "95 % prediction interval (infinite in 2 of 8 rows)"
    assert label in words(ax)
    order = np.argsort(prediction.mean if feature is None else frame["age"].to_numpy())
    ends = bars(ax, label) if feature is None else lines(ax, label)[1]
    bottom, top = ax.get_ylim()
    infinite = np.isin(order, [2, 5])
    np.testing.assert_array_equal(ends[infinite], [[bottom, top]] * 2)
    expected = np.column_stack(
        [law.location - law.half_width(0.95), law.location + law.half_width(0.95)]
    )
    np.testing.assert_array_equal(ends[~infinite], expected[order][~infinite])
    confidence = prediction.confidence_interval()
    assert bottom < confidence.min() < confidence.max() < top  # nothing finite is cut off


def test_a_picture_of_nothing_but_infinite_bounds(ax):
    mean = np.array([1.0])
    law = TPlusNormalLaw.normal(mean, np.array([np.inf]))
    plot_intervals(predicted(mean, prediction_law=law, confidence_law=None), ax=ax)
    bottom, top = ax.get_ylim()
    assert bottom < 1 < top
    np.testing.assert_array_equal(
        bars(ax, "95 % prediction interval (infinite in 1 of 1 rows)"), [[bottom, top]]
    )


def test_finite_bounds_leave_the_axis_to_later_artists(prediction, ax):
    plot_intervals(prediction, ax=ax)
    ax.plot([0], [1e6])
    assert ax.get_ylim()[1] > 1e6


def test_a_method_without_a_confidence_interval_says_so(prediction, ax):
    single = dataclasses.replace(prediction, confidence_law=None)
    plot_intervals(single, ax=ax)
    assert note(ax) == "this method has no confidence interval"
    with pytest.raises(NoSuchIntervalError, match="needs at least two members"):
        plot_intervals(single, kind="confidence", ax=ax)


@pytest.mark.parametrize(("x", "most"), [(None, MOST_ROWS), ("apart", MOST_ROWS_APART)])
def test_of_too_many_rows_the_same_sample_is_drawn_and_the_legend_says_so(ax, x, most):
    n_rows = MOST_ROWS + 1
    mean = np.arange(n_rows, dtype=float)
    prediction = predicted(mean)
    plot_intervals(prediction, mean if x else None, mean, joined=False, ax=ax)
    assert note(ax) == f"a random {most} of {n_rows} rows"
    shown = named(ax.collections, "observed").get_offsets()[:, 1].astype(int)
    assert len(set(shown)) == most
    places = places_of(mean, mean if x else None)
    np.testing.assert_array_equal(shown, places.rows)


def test_many_rows_are_a_staircase_of_the_same_numbers(ax):
    mean = np.arange(300.0)
    prediction = predicted(mean)
    plot_intervals(prediction, ax=ax)
    vertices = named(ax.collections, "95 % prediction interval").get_paths()[0].vertices
    expected = prediction.prediction_interval()
    heights = set(vertices[:, 1])
    assert heights == set(expected.ravel())
    # Row 7 reaches from 6.5 to 7.5.
    for bound in expected[7]:
        assert sorted(set(vertices[vertices[:, 1] == bound, 0])) == [6.5, 7.5]


# --- features


@pytest.mark.parametrize(
    ("form", "feature", "message"),
    [
        (pd.DataFrame, "aeg", r"one of the columns age, town, .* got 'aeg'\. Did you mean 'age'\?"),
        (pl.from_pandas, "zzz", r"from 0 to 4, got 'zzz'\. Pass one of those\."),
        (pd.DataFrame, 5, r"from 0 to 4, got 5\. Pass one of those\."),
        (pd.DataFrame.to_numpy, "age", r"no column names.* from 0 to 4, got 'age'\. Pass a pos"),
        (pd.DataFrame.to_numpy, -6, r"from 0 to 4, got -6\. Pass a position, or X as a frame"),
    ],
)
def test_a_feature_that_is_none_is_refused(prediction, frame, form, feature, message):
    with pytest.raises(ValueError, match=message):
        IntervalsDisplay.from_prediction(prediction, form(frame), feature=feature)


def test_a_feature_of_a_list_of_numbers_is_refused(prediction):
    with pytest.raises(ValueError, match=r"rows and features, got shape \(8,\)\. Pass the rows"):
        IntervalsDisplay.from_prediction(prediction, Y, feature=0)


def test_a_feature_needs_the_rows(prediction):
    with pytest.raises(ValueError, match=r"feature 'age' needs the rows .* got X=None\. Pass them"):
        SplitDisplay.from_prediction(prediction, feature="age")


def test_a_feature_of_other_rows_is_refused(prediction, frame, ax):
    with pytest.raises(ValueError, match=r"each of the 8 predicted rows, got 7\. Pass the column"):
        plot_intervals(prediction, frame["age"][1:], ax=ax)


def test_a_feature_without_any_value_is_refused(prediction, ax):
    with pytest.raises(ValueError, match=r"for at least one row, got none\. Pick another feature"):
        plot_intervals(prediction, np.full(8, np.nan), ax=ax)


def test_targets_of_other_rows_are_refused_before_anything_is_drawn(prediction):
    before = plt.get_fignums()
    with pytest.raises(ValueError, match=r"each of the 8 predicted rows, got shape \(7,\)"):
        plot_intervals(prediction, y=Y[1:])
    assert plt.get_fignums() == before


def test_many_long_names_are_turned(prediction, ax):
    plot_intervals(prediction, [f"a category called {k}" for k in range(8)], ax=ax)
    assert {text.get_rotation() for text in ax.get_xticklabels()} == {30}


# --- split


def stacked(ax):
    """Lower ends, in order, of what is drawn for each source."""
    return {c.get_label(): bars(ax, c.get_label()) for c in ax.collections}


def test_the_split_is_of_the_sources_in_percent(ax):
    prediction = predicted([2.0, 1.0], aleatoric_variance=np.array([2.0, 6.0]))
    display = SplitDisplay.from_prediction(prediction, ax=ax)
    # Epistemic 2 in both rows, half of it classical; the second row has the smaller prediction.
    assert stacked(ax)["noise (aleatoric)"].tolist() == [[0, 75], [0, 50]]
    assert stacked(ax)["finite data (classical)"].tolist() == [[75, 87.5], [50, 75]]
    assert stacked(ax)["random training (optimisation)"].tolist() == [[87.5, 100], [75, 100]]
    assert display.shares["aleatoric"].tolist() == [0.5, 0.75]
    assert ax.get_xlabel() == "rows, sorted by prediction"


def test_a_method_that_does_not_tell_the_sources_apart_has_one_share_for_both(prediction, ax):
    one = dataclasses.replace(prediction, classical_variance=None, optimisation_variance=None)
    SplitDisplay.from_prediction(one, ax=ax)
    assert words(ax) == {"noise (aleatoric)", "finite data and random training (epistemic)"}


@pytest.mark.parametrize(
    ("feature", "names", "order"),
    [
        ("age", ["10", "15", "20", "40", "50", "90"], [1, 3, 6, 0, 2, 4, 7, 5]),
        ("town", ["a", "b", "c"], [1, 4, 5, 6, 0, 2, 7, 3]),
        ("day", [f"2026-01-0{k}" for k in (1, 2, 3, 5, 6, 8)], range(7, -1, -1)),
    ],
)
def test_the_split_sorted_by_a_feature(frame, ax, feature, names, order):
    noise = np.arange(8.0)
    prediction = predicted([3.0, 1, 4, 0, 5, -9, 2, 6], aleatoric_variance=noise)
    SplitDisplay.from_prediction(prediction, frame, feature=feature, ax=ax)
    expected = 100 * (noise / (noise + 2))[list(order)]
    np.testing.assert_array_equal(stacked(ax)["noise (aleatoric)"][:, 1], expected)
    assert ticks(ax) == names
    assert ax.get_xlabel() == f"rows, sorted by {feature}"
    if feature == "town":  # in the middle of rows 0-1, 2-6 and 7
        assert ax.get_xticks().tolist() == [0.5, 4, 7]


def test_the_split_along_the_only_feature_is_joined(prediction, frame, ax):
    SplitDisplay.from_prediction(prediction, frame[["age"]], feature="age", ax=ax)
    position, edges = band(ax, "noise (aleatoric)")
    np.testing.assert_array_equal(position, np.sort(frame["age"]))
    np.testing.assert_allclose(edges, [[0, 100 * 4 / 6]] * 8, rtol=1e-14)
    assert ax.get_xlabel() == "age"


def test_a_method_without_variances_has_no_split(prediction, ax):
    bare = dataclasses.replace(prediction, aleatoric_variance=None)
    with pytest.raises(NoSuchIntervalError, match=r"but no variance\. Ask for its predic"):
        SplitDisplay.from_prediction(bare, ax=ax)
    with pytest.raises(NoSuchIntervalError, match="but no variance"):
        plot_split(bare, ax=ax)


# --- coverage of prediction intervals


def curve(ax, label):
    """Points, and lower and upper ends of the bars, of the curve of that name."""
    line, _, (bars_of_line,) = named(ax.containers, label)
    segments = np.array(bars_of_line.get_segments())
    np.testing.assert_array_equal(segments[:, 0, 0], line.get_xdata())
    return line.get_xydata(), segments[:, :, 1]


def assert_curve_is(ax, label, expected):
    points, ends = curve(ax, label)
    np.testing.assert_array_equal(points, np.column_stack(expected[:2]))
    # The picture keeps distances from the point: two roundings of numbers up to one.
    bounds = np.column_stack([expected.lower, expected.upper])
    np.testing.assert_allclose(ends, bounds, rtol=0, atol=4e-16)


def test_coverage_is_drawn_with_wilsons_bars(prediction, ax):
    display = PredictionCoverageDisplay.from_prediction(prediction, Y, ax=ax)
    assert_curve_is(ax, "prediction intervals", prediction.observed_coverage(Y))
    assert list(display.coverages) == ["prediction intervals"]
    assert words(ax) == {"perfect", "prediction intervals"}
    assert ax.get_xlabel() == "nominal coverage of prediction intervals"
    assert ax.get_ylabel() == "observed coverage (bars: Wilson, 95 %)"
    assert named(ax.get_lines(), "perfect").get_xydata().tolist() == [[0, 0], [1, 1]]


def test_a_calibrated_prediction_is_drawn_beside_itself_before(prediction, ax):
    levels = [0.5, 0.9]
    calibrated = Calibration(SCORES).calibrated(prediction)
    PredictionCoverageDisplay.from_prediction(calibrated, Y, confidence_levels=levels, ax=ax)
    now, before = (one.observed_coverage(Y, levels) for one in (calibrated, prediction))
    assert now.shares.tolist() != before.shares.tolist()
    assert_curve_is(ax, "calibrated prediction intervals", now)
    assert_curve_is(ax, "before calibration", before)


@pytest.mark.parametrize("kept_back", [False, True])
def test_what_prediction_intervals_were_calibrated_on_is_said(prediction, ax, kept_back):
    shown = honest(prediction)
    shown = Calibration(SCORES).calibrated(shown) if kept_back else shown
    display = PredictionCoverageDisplay.from_prediction(
        shown, Y, confidence_levels=[0.5, 0.9], ax=ax
    )
    # Twins leave them as they are, but for containing the confidence intervals.
    now = "calibrated prediction intervals" if kept_back else "prediction intervals"
    assert list(display.coverages) == [now, *["before calibration"] * kept_back]
    if kept_back:
        assert_curve_is(ax, "before calibration", prediction.observed_coverage(Y, [0.5, 0.9]))
    assert_curve_is(ax, now, shown.observed_coverage(Y, [0.5, 0.9]))


@pytest.mark.parametrize(
    ("calibrate", "calibrated"),
    [
        (lambda p: p, set()),
        (lambda p: Calibration(SCORES).calibrated(p), {"prediction"}),
        (honest, {"confidence"}),
        (lambda p: Calibration(SCORES).calibrated(honest(p)), {"confidence", "prediction"}),
    ],
)
def test_the_legend_says_which_intervals_are_calibrated(prediction, ax, calibrate, calibrated):
    plot_intervals(calibrate(prediction), confidence_level=0.9, ax=ax)
    expected = {
        f"90 % {kind} interval" + ", calibrated" * (kind in calibrated)
        for kind in ("confidence", "prediction")
    }
    assert expected == words(ax) - {"prediction"}


# --- honesty

TIMES = np.array([3.0, 1, 2, 4, 5, 6, 7, 8]) / 2
CALIBRATED, OWN = (
    f"90 % confidence interval, {whose}" for whose in ("calibrated on twins", "the method's own")
)


def half_widths(prediction, level=0.9):
    return np.diff(prediction.confidence_interval(level))[:, 0] / 2


def test_honest_confidence_intervals_are_drawn_around_the_methods_own(prediction, ax):
    shown = honest(prediction, TIMES)
    plot_confidence_calibration(shown, confidence_level=0.9, ax=ax)
    order = np.argsort(prediction.mean)
    lower, upper = bars(ax, CALIBRATED).T
    # Nine tenths of 40 is the 36th score, 1.8; a standard error is the root of 2.
    expected = 1.8 * TIMES * np.sqrt(2)
    assert upper == pytest.approx((prediction.mean + expected)[order])
    assert lower == pytest.approx((prediction.mean - expected)[order])
    place, own = lines(ax, OWN)
    assert place.tolist() == list(range(N_ROWS))
    assert own[:, 1] == pytest.approx((prediction.mean + half_widths(prediction))[order])
    assert own[:, 0] == pytest.approx((prediction.mean - half_widths(prediction))[order])
    assert ax.get_xlabel() == "rows, sorted by prediction"


def test_along_the_only_feature_honest_confidence_intervals_are_bands(prediction, ax):
    shown = honest(prediction, TIMES)
    x = np.arange(N_ROWS) / 2
    plot_confidence_calibration(shown, x, confidence_level=0.9, ax=ax)
    for label, expected in ((CALIBRATED, half_widths(shown)), (OWN, half_widths(prediction))):
        position, edges = band(ax, label)
        assert position == pytest.approx(x)
        assert np.diff(edges)[:, 0] == pytest.approx(2 * expected)


@pytest.mark.parametrize("joined", [False, True])
def test_the_widening_is_drawn_with_its_bias(prediction, ax, joined):
    shown = honest(prediction, TIMES)
    x = 10.0 + np.arange(N_ROWS)
    plot_widening(shown, x, confidence_level=0.9, joined=joined, ax=ax)
    times = half_widths(shown) / half_widths(prediction)
    biased = named(ax.get_lines(), "bias beyond chance").get_xydata()
    # A bias of 99, where the factor is above 3.
    assert biased[:, 0].tolist() == x.tolist()
    assert biased[:, 1] == pytest.approx(np.where(TIMES > 3, times, np.nan), nan_ok=True)
    (drawn,) = (line for line in ax.get_lines() if line.get_label().startswith("_child"))
    assert drawn.get_xydata() == pytest.approx(np.column_stack([x, times]))
    assert ax.get_yscale() == "log"


def test_the_honesty_display_draws_both_one_above_the_other(prediction, frame):
    shown = honest(prediction, TIMES)
    display = ConfidenceCalibrationDisplay.from_prediction(
        shown, frame, feature="age", confidence_level=0.9
    )
    assert display.figure_.axes == [display.ax_, display.widening_ax_]
    assert display.widening_ax_.get_xlabel() == "age"
    assert display.ax_.get_xlabel() == ""
    assert display.twin_errors is shown.twin_errors
    expected = half_widths(shown) / half_widths(prediction)
    assert display.widening(0.9) == pytest.approx(expected)
    above, below = Figure().subplots(2, 1)
    again = display.plot([above, below])
    assert (again.ax_, again.widening_ax_) == (above, below)
    assert above.get_xlabel() == "age"
    plt.close("all")


@pytest.mark.parametrize(
    "draw",
    [plot_confidence_calibration, plot_widening, ConfidenceCalibrationDisplay.from_prediction],
)
def test_what_was_not_calibrated_on_twins_has_no_honesty_to_show(prediction, draw):
    for shown in (prediction, Calibration(SCORES).calibrated(prediction)):
        with pytest.raises(ValueError, match=r"these are not calibrated\. Call `calibrate_conf"):
            draw(shown)


def test_a_calibrated_estimator_is_asked_for_its_honesty(bootstrapped, data):
    class Calibrated:
        def get_prediction(self, X):
            return honest(bootstrapped.get_prediction(X))

    display = ConfidenceCalibrationDisplay.from_estimator(Calibrated(), data[0])
    assert len(display.widening()) == len(data[0])
    plt.close("all")


def test_curves_are_told_apart_without_colour(prediction, ax):
    coverage = prediction.observed_coverage(Y)
    plot_observed_coverage(dict.fromkeys("abcd", coverage), ax=ax)
    looks = {(c[0].get_marker(), c[0].get_linestyle()) for c in ax.containers}
    assert len(looks) == 4


def test_a_share_of_one_has_no_bar_above_it(ax):
    # Wilson's upper end may round to just below one.
    coverage = ObservedCoverage(*(np.array([x]) for x in (0.9, 1.0, 0.1, 0.7, 1 - 1e-16)))
    plot_observed_coverage({"all held": coverage}, ax=ax)
    assert curve(ax, "all held")[1].tolist() == [[0.7, 1.0]]


def test_coverage_of_a_method_of_one_level_is_one_point(prediction, ax):
    law = LevelLaw(prediction.mean, np.full(N_ROWS, 3.0), 0.9)
    one = dataclasses.replace(prediction, prediction_law=law)
    PredictionCoverageDisplay.from_prediction(one, Y, ax=ax)
    # |y - mean| is 2.5, 2, 1, 9, 0.5, 7, 4, 0.5.
    assert curve(ax, "prediction intervals")[0].tolist() == [[0.9, 5 / 8]]


def test_coverage_of_nothing_is_refused(ax):
    with pytest.raises(ValueError, match=r"at least one curve, got none\. Pass for example"):
        plot_observed_coverage({}, ax=ax)


# --- novelty


def test_novelty_is_counted_in_twenty_bins_and_against_the_threshold(ax):
    p_values = np.concatenate([np.full(30, 0.01), [0.07, 0.1], np.linspace(0.11, 1, 68)])
    display = NoveltyDisplay.from_prediction(
        predicted(np.zeros(100), novelty=p_values), threshold=0.1, ax=ax
    )
    assert display.p_values is p_values
    novel, others = ax.containers
    heights = np.array([[bar.get_height() for bar in c] for c in (novel, others)])
    assert (
        ax.get_legend().get_texts()[0].get_text() == "novel, p < 0.1: 31 of 100 rows (10 expected)"
    )
    assert heights[0].tolist() == [30, 1] + 18 * [0]
    np.testing.assert_array_equal(heights.sum(axis=0), np.histogram(p_values, 20, (0, 1))[0])
    # Stacked: the others stand on the novel ones.
    assert [bar.get_y() for bar in others] == heights[0].tolist()
    assert named(ax.get_lines(), "if none were novel").get_ydata() == [5, 5]
    assert ax.get_xlabel() == "novelty p-value of a row"


def test_rows_are_marked_as_novel_that_a_prediction_flags(ax):
    prediction = predicted(np.zeros(4), novelty=np.array([0.002, 0.01, 0.02, 0.5]))
    NoveltyDisplay.from_prediction(prediction, ax=ax)
    assert sum(bar.get_height() for bar in ax.containers[0]) == prediction.is_novel.sum() == 1


def test_a_prediction_without_novelty_is_refused(prediction, ax):
    without = dataclasses.replace(prediction, novelty=None)
    for draw in (plot_novelty, NoveltyDisplay.from_prediction):
        with pytest.raises(ValueError, match=r"a p-value for each row, but this .* has none\. "):
            draw(without, ax=ax)


@pytest.mark.parametrize("threshold", [0, 1, 5, "0.05", float("nan")])
def test_a_threshold_that_is_none_is_refused(prediction, ax, threshold):
    with pytest.raises(ValueError, match=r"`threshold` must lie in \(0, 1\), got .*\. It is a p-"):
        plot_novelty(prediction, threshold=threshold, ax=ax)
