"""Calibration on twins: exact where the error is known, kept, repeated, and refused."""

import copy
import pickle
import warnings
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeRegressor

import confide
from confide.calibration import ConfidenceCalibration, MethodRefit
from confide.calibration import twins as on_twins
from confide.errors import CalibrationWarning, NoSuchIntervalError, TwinError
from confide.estimators import ESTIMATORS
from confide.methods import mean_of
from confide.persistence import Container
from confide.prediction import Prediction
from confide.randomness import key_from, split_on_host
from confide.simulate import Truth
from confide.trees import Trees
from confide.uncertainty import TPlusNormalLaw

# Four units round off a good deal, and the tests below are not about that.
pytestmark = pytest.mark.filterwarnings("ignore::confide.errors.CalibrationWarning")
SLOPES, NOISE = np.array([1.0, -2.0, 0.5]), 0.7
# Each corner of a cube ten times: trees can tell all different rows apart, and need not smooth.
CORNERS = np.array(list(product([-1.0, 1.0], repeat=3)))
CUBE = np.repeat(CORNERS, 10, axis=0)


@dataclass(frozen=True)
class LinearTruth(Truth):
    """Known slopes and noise."""

    def mean(self, X):
        return X @ SLOPES

    def std(self, X):
        return np.full(len(X), NOISE)


@dataclass(frozen=True)
class LeastSquares:
    """A procedure with the doors of `Refit`: linear, but for what it adds to every prediction.

    Attributes:
        bias: what it adds.
        claims: the share of the true standard error that it claims.
        seen: the rows of every call of `fit`.
    """

    bias: float = 0.0
    claims: float = 1.0
    seen: list = field(default_factory=list)

    def fit(self, _key, rows, targets, _progress=None):
        self.seen.append(rows)
        return [np.linalg.lstsq(CUBE[rows], y, rcond=None)[0] for y in targets]

    def mean(self, slopes, rows):
        return self.at(slopes, CUBE[rows])

    def at(self, slopes, X):
        return X @ slopes + self.bias

    def work(self, n_sets):
        return n_sets

    def predict(self, slopes, X):
        mean, claimed = self.at(slopes, X), (self.claims * true_error(X)) ** 2
        noise = np.full(len(X), NOISE**2)
        return Prediction(
            mean=mean,
            aleatoric_variance=noise,
            epistemic_variance=claimed,
            prediction_law=TPlusNormalLaw.normal(mean, np.sqrt(noise + claimed)),
            confidence_law=TPlusNormalLaw.normal(mean, np.sqrt(claimed)),
            classical_variance=None,
            optimisation_variance=None,
            n_members=2,
        )


def true_error(X, rows=None):
    """The standard error of least squares on some rows of the cube."""
    design = CUBE if rows is None else CUBE[rows]
    inverse = np.linalg.inv(design.T @ design)
    return NOISE * np.sqrt(np.einsum("ij,jk,ik->i", X, inverse, X))


def one_tree(_X, _y, _seed):
    """In place of boosted trees: the mean residual of each corner, and fast."""
    return lambda X, y: Trees.from_sklearn([DecisionTreeRegressor().fit(X, y)], weight=1)


def on_the_cube(procedure, seed=0, n_simulations=20, **how):
    """A calibration with the truth itself as twin, and what is predicted at the corners."""
    y = LinearTruth().draw(key_from(seed), CUBE)
    (slopes,) = procedure.fit(None, np.arange(len(CUBE)), y[None])
    how = {"twin": LinearTruth(), "n_simulations": n_simulations} | how
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(on_twins, "boosting", one_tree)
        patch.setattr(on_twins, "N_TREES", 10)  # there are but eight rows to tell apart
        calibration = ConfidenceCalibration.on_twins(
            key_from(seed + 10_000),
            procedure,
            lambda rows: procedure.predict(slopes, CUBE[rows]),
            CUBE,
            y,
            **how,
        )
    echoed = procedure.at(calibration.correction.echo, CORNERS)
    return calibration, calibration.calibrated(echoed, procedure.predict(slopes, CORNERS), CORNERS)


@pytest.fixture(scope="module")
def honest(data, bootstrapped):
    """A copy, because fitted models are shared between tests."""
    return copy.copy(bootstrapped).calibrate_confidence(*data, n_simulations=10)


# Where the right answer is known.


@pytest.mark.slow
@pytest.mark.parametrize("claims", [0.0, 0.3, 1.0, 5.0])
def test_a_known_error_is_recovered_whatever_was_claimed(claims):
    procedure, n = LeastSquares(claims=claims), 400
    _, prediction = on_the_cube(procedure, n_simulations=n, shift=0)
    expected = true_error(CORNERS, procedure.seen[-1])
    if claims == 0:  # then that part of the size which is in proportion to the claim is none
        expected = expected * np.sqrt(on_twins.BY_SIMULATIONS)
    # The relative error of a root mean square of n normal numbers is 1 / sqrt(2 n).
    assert prediction.twin_errors.error == pytest.approx(expected, rel=4 / np.sqrt(2 * n))


def test_intervals_do_not_depend_on_the_size_of_the_claims():
    half_widths = [
        on_the_cube(LeastSquares(claims=claims))[1].confidence_law.half_width(0.9)
        for claims in (0.5, 1.0, 3.0)
    ]
    assert half_widths[1] == pytest.approx(half_widths[0])
    assert half_widths[2] == pytest.approx(half_widths[0])


def test_without_a_shift_a_constant_bias_makes_intervals_wider():
    bias, n = 1.5, 400
    procedure = LeastSquares(bias=bias)
    _, prediction = on_the_cube(procedure, n_simulations=n, shift=0)
    expected = np.sqrt(true_error(CORNERS, procedure.seen[-1]) ** 2 + bias**2)
    assert prediction.twin_errors.error == pytest.approx(expected, rel=4 / np.sqrt(2 * n))
    assert prediction.confidence_law.location.tolist() == prediction.mean.tolist()


def test_errors_on_a_twin_that_shows_more_bias_than_the_data_count_in_proportion():
    own, once = np.array([-1.0, 1.0, 3.0]), np.array([[0.0, 1.0, 2.0]])
    # A constant does not count, and sizes of one twin in five may be smaller by chance.
    simulated = np.concatenate([once, *[100 + 4 * once] * 5, 1000 * once])
    assert on_twins._in_proportion(own, simulated, 1.0) == pytest.approx(2 / 4)
    assert on_twins._in_proportion(own, 2 * once + 7, 1.0) == pytest.approx(1)
    assert on_twins._in_proportion(own, once, 1.0) == 1  # never larger
    assert on_twins._in_proportion(own, 0 * once, 1.0) == 1


def test_a_rougher_twin_does_not_widen_in_proportion_to_its_noise():
    """Ten times the noise: errors on the twin are ten times as large, and so is its bias."""
    widths = [
        on_the_cube(LeastSquares(), twin=twin, n_simulations=40, shift=1.0)[1]
        .confidence_law.half_width(0.8)
        .mean()
        for twin in (LinearTruth(), LinearTruthWithMuchNoise())
    ]
    assert widths[1] < 2 * widths[0]


def test_a_full_shift_takes_off_a_constant_bias():
    """The echo of a linear procedure has the same constant, whatever the pilot is."""
    _, unbiased = on_the_cube(LeastSquares(), shift=1.0)
    _, prediction = on_the_cube(LeastSquares(bias=1.5), shift=1.0)
    centre = prediction.confidence_law.location
    assert centre == pytest.approx(unbiased.confidence_law.location)
    assert prediction.confidence_law.half_width(0.8) == pytest.approx(
        unbiased.confidence_law.half_width(0.8)
    )
    assert prediction.twin_errors.bias == pytest.approx(unbiased.twin_errors.bias + 1.5)
    # The pilot is the mean of ten observations at each corner, whatever was predicted there.
    y = LinearTruth().draw(key_from(0), CUBE)
    assert centre == pytest.approx(y.reshape(8, 10).mean(axis=1))
    assert centre == pytest.approx(CORNERS @ SLOPES, abs=4 * NOISE / np.sqrt(10))
    # The prediction stays where it was.
    assert prediction.mean == pytest.approx(unbiased.mean + 1.5)


def test_half_a_shift_takes_off_half_of_the_bias():
    (_, whole), (_, half) = (
        on_the_cube(LeastSquares(bias=1.5), shift=shift) for shift in (1.0, 0.5)
    )
    assert half.twin_errors.bias == pytest.approx(0.5 * whole.twin_errors.bias)
    for prediction in (whole, half):
        moved = prediction.mean - prediction.confidence_law.location
        assert moved == pytest.approx(prediction.twin_errors.bias)


def test_the_share_is_the_largest_that_hardly_makes_errors_larger():
    """A pilot that knows no more than least squares adds noise; a large bias outweighs it."""
    (none, _), (biased, _) = (on_the_cube(LeastSquares(bias=bias)) for bias in (0.0, 3.0))
    assert none.shift < biased.shift == 1


@pytest.mark.slow
@pytest.mark.parametrize(("bias", "shift"), [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)])
def test_coverage_is_nominal_when_the_twin_is_the_truth(bias, shift):
    procedure, n_sets = LeastSquares(bias=bias, claims=0.4), 60
    held = {0.5: [], 0.8: [], 0.95: []}
    for seed in range(n_sets):
        _, prediction = on_the_cube(procedure, seed, shift=shift)
        for level, shares in held.items():
            lower, upper = prediction.confidence_interval(level).T
            truth = CORNERS @ SLOPES
            shares.append(np.mean((lower <= truth) & (truth <= upper)))
    for level, shares in held.items():
        error = np.std(shares, ddof=1) / np.sqrt(n_sets)
        # Simulated fits see fewer rows, and err the more: intervals are at most so much too wide.
        wider = stats.norm.ppf((1 + level) / 2) / np.sqrt(1 - on_twins.FEWEST_UNSEEN / 80)
        most = 2 * stats.norm.cdf(wider) - 1
        assert level - 4 * error - 0.005 < np.mean(shares) < most + 4 * error + 0.005


def test_simulated_fits_are_judged_at_rows_that_they_have_not_seen():
    procedure = LeastSquares()
    calibration, _ = on_the_cube(procedure, n_simulations=10)
    data, of_data, fits, echoes = procedure.seen
    assert data.tolist() == of_data.tolist() == list(range(80))
    assert echoes.tolist() == fits.tolist()
    n_unseen = 80 - len(fits)
    assert len(np.unique(fits)) == len(fits) == 80 - on_twins.FEWEST_UNSEEN
    assert len(calibration.scores) == 10 * n_unseen
    assert calibration.summary.n_rows == len(fits)


def test_scores_are_errors_at_unseen_rows_in_units_of_their_size(monkeypatch):
    """By hand: the errors of the simulated fits, computed again from their own targets."""
    procedure, drawn = LeastSquares(), []
    simulate = on_twins._simulate
    monkeypatch.setattr(
        on_twins, "_simulate", lambda *them: drawn.append(simulate(*them)) or drawn[-1]
    )
    calibration, _ = on_the_cube(procedure, n_simulations=10, shift=0)
    seen = procedure.seen[-1]
    unseen = CUBE[np.setdiff1d(np.arange(80), seen)]
    slopes = np.array(procedure.fit(None, seen, drawn[0]))
    errors = slopes @ unseen.T - unseen @ SLOPES
    size = calibration.scale(true_error(unseen) ** 2, unseen)
    assert calibration.scores == pytest.approx(np.sort((np.abs(errors) / size).ravel()))


def test_of_a_long_table_some_rows_are_enough(monkeypatch):
    monkeypatch.setattr(on_twins, "MOST_UNSEEN", 5)
    monkeypatch.setattr(on_twins, "MOST_ROWS", 30)
    procedure = LeastSquares()
    calibration, _ = on_the_cube(procedure, n_simulations=10)
    assert len(procedure.seen[-1]) == 75
    assert len(calibration.scores) == 50
    assert calibration.summary.n_rows == 30
    (twin,) = calibration.summary.resemblances
    # Residuals are of the same rows as the targets: at others they would be several times as large.
    assert 0.5 < twin.ratio < 2


@pytest.mark.parametrize(("longest", "n_simulations"), [(0, 20), (-1, 10)])
def test_a_long_table_has_half_as_many_simulations(monkeypatch, longest, n_simulations):
    monkeypatch.setattr(on_twins, "LONG", len(CUBE) + longest)
    calibration, _ = on_the_cube(LeastSquares(), n_simulations=None)
    (twin,) = calibration.summary.resemblances
    assert twin.n_simulations == n_simulations


def test_far_rows_whose_error_is_no_number_are_unbounded():
    calibration, _ = on_the_cube(LeastSquares(), n_simulations=10)
    own = LeastSquares().predict(SLOPES, CORNERS)
    own = replace(own, epistemic_variance=np.full(8, np.inf))
    found = calibration.calibrated(np.full(8, np.nan), own, CORNERS)
    assert found.confidence_law.location.tolist() == own.mean.tolist()
    assert np.all(np.abs(found.confidence_interval(0.5)) == np.inf)


# Predictions.


def test_confidence_intervals_are_calibrated_and_prediction_intervals_contain_them(
    data, bootstrapped, honest
):
    raw, prediction = bootstrapped.get_prediction(data[0]), honest.get_prediction(data[0])
    assert prediction.confidence_law.origin == "twins"
    assert prediction.prediction_law.origin == raw.prediction_law.origin == "model"
    assert prediction.is_calibrated("confidence")
    assert not prediction.is_calibrated("prediction")
    assert not raw.is_calibrated("confidence")
    assert prediction.mean.tolist() == raw.mean.tolist()
    assert prediction.total_variance.tolist() == raw.total_variance.tolist()
    for kind in ("confidence", "prediction"):
        own = prediction.uncalibrated.interval(kind, 0.9)
        assert own.tolist() == raw.interval(kind, 0.9).tolist()
    confidence = prediction.confidence_interval(0.9)
    assert not np.allclose(confidence, raw.confidence_interval(0.9))
    own = raw.prediction_interval(0.9)
    lower, upper = prediction.prediction_interval(0.9).T
    assert lower.tolist() == np.minimum(own, confidence)[:, 0].tolist()
    assert upper.tolist() == np.maximum(own, confidence)[:, 1].tolist()
    frame = prediction.summary_frame(0.9)
    assert frame["mean_ci_lower"].tolist() == confidence[:, 0].tolist()
    assert frame["mean_ci_lower_uncalibrated"].tolist() == (
        raw.confidence_interval(0.9)[:, 0].tolist()
    )


def test_the_calibrated_interval_is_error_times_score_about_the_corrected_centre(data, honest):
    prediction, calibration = honest.get_prediction(data[0]), honest.confidence_calibration_
    errors, scores = prediction.twin_errors, calibration.scores
    score = scores[int(np.ceil(0.9 * (len(scores) + 1))) - 1]
    assert prediction.confidence_law.half_width(0.9) == pytest.approx(errors.error * score)
    assert prediction.confidence_law.location == pytest.approx(prediction.mean - errors.bias)
    assert errors.claimed == pytest.approx(np.sqrt(prediction.epistemic_variance))
    # So much of the size by the simulations, the rest by the claim.
    units = calibration.correction.units
    rows = (data[0] - units.x_mean) / units.x_scale
    by_simulations = units.y_scale**2 * calibration.squares(rows)
    by_claim = calibration.claim * prediction.epistemic_variance
    share = on_twins.BY_SIMULATIONS
    expected = np.sqrt(share * by_simulations + (1 - share) * by_claim)
    assert errors.error == pytest.approx(expected)


def test_the_bias_is_what_the_echo_misses_of_the_pilot(data, honest):
    correction = honest.confidence_calibration_.correction
    units = correction.units
    missed = correction.missed((data[0] - units.x_mean) / units.x_scale)
    known = honest.predict(data[0]) + units.y_scale * missed
    bias = mean_of(honest.method, correction.echo, data[0]) - known
    bias *= honest.confidence_calibration_.shift
    assert honest.get_prediction(data[0]).twin_errors.bias == pytest.approx(bias)


def test_higher_levels_contain_lower_ones(data, honest):
    prediction = honest.get_prediction(data[0])
    for kind in ("confidence", "prediction"):
        bounds = [prediction.interval(kind, level) for level in np.arange(0.05, 0.99, 0.05)]
        lower, upper = np.stack(bounds)[..., 0], np.stack(bounds)[..., 1]
        assert np.all(np.diff(lower, axis=0) <= 0)
        assert np.all(np.diff(upper, axis=0) >= 0)


def test_rows_are_calibrated_one_by_one_seen_or_not(honest):
    X = np.random.default_rng(3).normal(size=(7, 3))
    together = honest.get_prediction(X).confidence_interval(0.8)
    alone = np.concatenate([honest.get_prediction(x[None]).confidence_interval(0.8) for x in X])
    assert together == pytest.approx(alone, rel=1e-4)  # the networks answer in float32


def test_predicting_changes_nothing_in_the_calibration(data, honest):
    before = copy.deepcopy(honest.confidence_calibration_.scores)
    first = honest.get_prediction(data[0]).confidence_interval(0.8)
    honest.get_prediction(np.full((5, 3), 9.0))
    assert honest.confidence_calibration_.scores.tolist() == before.tolist()
    assert honest.get_prediction(data[0]).confidence_interval(0.8).tolist() == first.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0.0, 1.0])
@pytest.mark.parametrize("on_held_out_rows", [False, True])
def test_a_prediction_interval_contains_its_confidence_interval(
    data, bootstrapped, shift, on_held_out_rows
):
    """Though each is made by itself."""
    how = {"n_simulations": 10, "shift": shift, "twin": LinearTruth()}
    model = copy.copy(bootstrapped).calibrate_confidence(*data, **how)
    calibration = model.confidence_calibration_
    # As of a rough function: confidence intervals are the wider ones by themselves.
    wide = replace(calibration, scores=9 * calibration.scores)
    model.confidence_calibration_ = wide
    if on_held_out_rows:
        model.calibrate(data[0] + 0.001, data[1])  # rows of the fit are refused
    prediction = model.get_prediction(data[0])
    for level in (0.05, 0.5, 0.8, 0.95):
        inner, outer = (prediction.interval(kind, level) for kind in ("confidence", "prediction"))
        assert np.all(outer[:, 0] <= inner[:, 0])
        assert np.all(inner[:, 1] <= outer[:, 1])
    by_itself = prediction.prediction_law.law
    assert np.any(by_itself.interval(0.8)[:, 0] > prediction.confidence_interval(0.8)[:, 0])


@pytest.mark.slow
def test_held_out_rows_are_better_evidence_for_prediction_intervals(data, bootstrapped, honest):
    rows = data[0][:30] + 1e-3, data[1][:30]  # others than those of the fit
    conformal = copy.copy(bootstrapped).calibrate(*rows)
    for both in (
        copy.copy(honest).calibrate(*rows),
        copy.copy(conformal).calibrate_confidence(*data, n_simulations=10),
    ):
        prediction = both.get_prediction(data[0])
        assert prediction.prediction_law.origin == "held_out"
        by_itself = prediction.prediction_law.law
        alone = conformal.get_prediction(data[0]).prediction_law.law
        assert by_itself.interval(0.8).tolist() == alone.interval(0.8).tolist()
        assert prediction.confidence_interval(0.8).tolist() == (
            honest.get_prediction(data[0]).confidence_interval(0.8).tolist()
        )
        own = prediction.uncalibrated
        assert own.prediction_interval(0.8).tolist() == (
            bootstrapped.get_prediction(data[0]).prediction_interval(0.8).tolist()
        )


# One has no confidence interval; tests/learners/test_aliens.py has the learners of the other.
NOT_HERE = {"QualityDrivenEnsembleRegressor", "BootstrappedEnsembleRegressor"}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(ESTIMATORS) - NOT_HERE))
def test_any_method_with_a_confidence_interval_can_be_calibrated(name, data, small, tmp_path):
    known = ESTIMATORS[name]().get_params()
    parameters = {k: v for k, v in small.items() if k in known} | {"max_epochs": 6}
    model = ESTIMATORS[name](**parameters).fit(*data).calibrate_confidence(*data, n_simulations=10)
    prediction = model.get_prediction(data[0])
    assert prediction.is_calibrated("confidence")
    model.save(tmp_path / "model.confide")
    again = confide.load(tmp_path / "model.confide").get_prediction(data[0])
    for kind in ("confidence", "prediction"):
        assert again.interval(kind, 0.9).tolist() == prediction.interval(kind, 0.9).tolist()


# Seeds and files.


@pytest.mark.slow
def test_the_same_seed_gives_the_same_numbers(data, bootstrapped, honest):
    same = copy.copy(bootstrapped).calibrate_confidence(*data, n_simulations=10)
    seeded = copy.copy(bootstrapped).calibrate_confidence(*data, n_simulations=10, random_state=1)
    again, other = (
        each.get_prediction(data[0]).confidence_interval(0.8) for each in (same, seeded)
    )
    assert again.tolist() == honest.get_prediction(data[0]).confidence_interval(0.8).tolist()
    assert not np.allclose(other, again)


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_saved_is_live(data, bootstrapped, tmp_path, shift):
    live = copy.copy(bootstrapped).calibrate_confidence(*data, n_simulations=10, shift=shift)
    live.save(tmp_path / "model.confide")
    saved = confide.load(tmp_path / "model.confide")
    X = np.random.default_rng(3).normal(size=(9, 3))
    for kind in ("confidence", "prediction"):
        assert saved.get_prediction(X).interval(kind, 0.9).tolist() == (
            live.get_prediction(X).interval(kind, 0.9).tolist()
        )
    assert saved.confidence_calibration_.summary == live.confidence_calibration_.summary
    saved.save(tmp_path / "again.confide")
    assert (tmp_path / "again.confide").read_bytes() == (tmp_path / "model.confide").read_bytes()


@pytest.mark.slow
def test_a_table_with_categories_is_calibrated_as_it_is(table, data, small, tmp_path):
    frame = table.assign(town=np.where(data[0][:, 0] > 0, "north", "south"))
    model = confide.BootstrappedDeepEnsembleRegressor(**small).fit(frame, data[1])
    model.calibrate_confidence(frame, data[1], n_simulations=10)
    prediction = model.get_prediction(frame)
    model.save(tmp_path / "model.confide")
    again = confide.load(tmp_path / "model.confide").get_prediction(frame)
    assert again.confidence_interval(0.9).tolist() == prediction.confidence_interval(0.9).tolist()


def test_fitting_again_drops_the_calibration(data, honest):
    again = copy.copy(honest).fit(*data)
    assert again.confidence_calibration_ is None
    assert again.get_prediction(data[0]).twin_errors is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda payload, _: payload.pop("summary"), "lacks parts"),
        (lambda payload, _: payload.update(more=1), "lacks parts"),
        (lambda payload, _: payload.update(shift=7), "a shift of 7"),
        (lambda payload, _: payload.update(shift="half"), "shift"),
        (lambda payload, _: payload.update(claim=-1.0), "a claim of -1"),
        (lambda payload, _: payload.update(claim=float("inf")), "a claim of inf"),
        (lambda payload, _: payload["summary"].pop("biased"), "CalibrationSummary lacks parts"),
        (lambda _, arrays: arrays.update(scores=arrays["scores"][::-1]), "in order"),
        (lambda _, arrays: arrays.pop("scores"), "is missing"),
        (lambda _, arrays: arrays.pop("units.x_mean"), "is missing"),
        (lambda _, arrays: arrays.update({"units.x_scale": np.zeros(3)}), "positive"),
        (
            lambda _, arrays: arrays.update({"missed.left": 0 * arrays["missed.left"]}),
            "out of order",
        ),
        (
            lambda _, arrays: arrays.update({"squares.value": np.nan * arrays["squares.value"]}),
            "not finite",
        ),
        (lambda _, arrays: arrays.pop("echo.members.weights"), "is missing"),
        (
            lambda _, arrays: arrays.update(
                {"echo.members.weights": arrays["echo.members.weights"][:1]}
            ),
            "must be float32 of shape",
        ),
    ],
)
def test_what_a_file_says_is_checked(honest, change, message):
    payload, arrays = honest.confidence_calibration_.to_file(honest.method)
    change(payload, arrays)
    with pytest.raises(ValueError, match=message):
        ConfidenceCalibration.from_file(payload, arrays, honest.method, honest.fitted_, 3)


def test_a_calibration_that_is_no_object_is_refused(honest):
    with pytest.raises(ValueError, match="is not an object"):
        ConfidenceCalibration.from_file([], {}, honest.method, honest.fitted_, 3)


@pytest.mark.parametrize(
    ("payload", "arrays"),
    [
        ({"truths": [], "shift": 0.0, "floor": 1e-6, "account": {}}, {}),
        ({"summary": {}, "shift": 1.0, "claim": 1.0}, {"pilot.left": np.zeros(1)}),
    ],
)
def test_a_calibration_of_an_older_version_is_dropped_and_said_to_be(honest, payload, arrays):
    with pytest.warns(CalibrationWarning, match="uncalibrated now: call `calibrate_confidence"):
        found = ConfidenceCalibration.from_file(payload, arrays, honest.method, honest.fitted_, 3)
    assert found is None


def test_a_file_of_an_older_version_loads_without_its_calibration(
    data, bootstrapped, honest, tmp_path
):
    honest.save(tmp_path / "new")
    file = Container.read(tmp_path / "new", format="confide model", versions=[3])
    old = {"truths": [], "shift": 0.0, "floor": 1e-6, "account": {}}
    parts = {**file.header["attachments"], "confidence_calibration": old}
    Container({**file.header, "attachments": parts}, file.arrays).write(tmp_path / "old")
    with pytest.warns(CalibrationWarning, match="An older version calibrated the confidence"):
        again = confide.load(tmp_path / "old")
    assert again.confidence_calibration_ is None
    for kind in ("confidence", "prediction"):
        expected = bootstrapped.get_prediction(data[0]).interval(kind, 0.9)
        assert again.get_prediction(data[0]).interval(kind, 0.9).tolist() == expected.tolist()


def test_a_file_holds_neither_twins_nor_simulated_fits(honest):
    _, arrays = honest.confidence_calibration_.to_file(honest.method)
    assert {name.split(".")[0] for name in arrays} == {
        "units",
        "missed",
        "echo",
        "squares",
        "scores",
    }
    members = [a for name, a in arrays.items() if name.startswith("echo.members")]
    assert all(len(array) == 2 for array in members)  # those of one fit


@pytest.mark.slow
def test_old_names_of_the_argument_and_its_values_warn(data, bootstrapped):
    model, calibrated = copy.copy(bootstrapped), []
    for how, message in (
        ({"twin": "forest"}, None),
        ({"truth": "forest"}, "`truth` is now `twin`"),
        ({"truth": "random_forest"}, "`truth` is now `twin`"),
        ({"twin": "random_forest"}, "'random_forest' is now 'forest'"),
    ):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always", DeprecationWarning)
            model.calibrate_confidence(*data, n_simulations=10, **how)
        old = [warning for warning in heard if warning.category is DeprecationWarning]
        assert all(warning.filename == __file__ for warning in old)
        assert bool(old) == (message is not None)
        assert message is None or message in str(old[0].message)
        calibrated.append(model.get_prediction(data[0]).confidence_interval(0.8).tolist())
    assert all(interval == calibrated[0] for interval in calibrated)


# What it tells of itself.


def test_the_account_says_what_was_chosen_and_what_changed(data, honest):
    account = honest.confidence_calibration_.summary
    # It was measured at the rows that simulated fits saw.
    (*_, of_rows) = split_on_host(split_on_host(key_from(8), 16)[-1], 4)
    seen, _ = on_twins._parts(of_rows, 64)
    assert account.n_rows == len(seen)
    prediction = honest.get_prediction(data[0][seen])
    ratio = prediction.confidence_law.half_width(0.8) / (
        prediction.uncalibrated.confidence_law.half_width(0.8)
    )
    assert account.widening[0.8] == pytest.approx(np.quantile(ratio, [0.05, 0.5, 0.95]))
    assert account.biased == pytest.approx(prediction.twin_errors.is_biased.mean())
    assert {each.kind for each in account.candidates} == {
        "forest",
        "boosting",
        "smooth",
    }
    assert sum(each.n_simulations for each in account.resemblances) == 10
    kept = [each.kind for each in account.candidates if each.kept]
    assert [each.kind for each in account.resemblances] == kept
    text = str(account)
    assert kept[0].replace("_", " ") in text
    assert "80 % confidence intervals are" in text
    frame = account.to_frame()
    assert frame["kind"].tolist() == [each.kind for each in account.candidates]
    assert frame["n_simulations"].sum() == 10


@pytest.mark.slow
def test_simulations_are_shared_among_the_twins_the_best_first(data, bootstrapped, monkeypatch):
    import confide.calibration.twins as module

    twins, candidates = module.fitted_twins(*data, 0, ["smooth", "forest"])
    while len(twins) < 3:
        twins.append(twins[0])
    monkeypatch.setattr(module, "fitted_twins", lambda *_, **__: (twins, candidates))
    model = copy.copy(bootstrapped).calibrate_confidence(*data, n_simulations=11)
    counts = [each.n_simulations for each in model.confidence_calibration_.summary.resemblances]
    assert counts == [4, 4, 3]


class Higher(LinearTruth):
    def mean(self, X):
        return super().mean(X) + 100


def test_each_simulation_is_held_against_its_own_twin(monkeypatch):
    twins = [LinearTruth(), Higher()]
    monkeypatch.setattr(on_twins, "_truths", lambda *_, **__: (twins, []))
    calibration, prediction = on_the_cube(LevelSquares())
    # Data sets of one twin held against the other would be off by 100.
    assert prediction.twin_errors.error.max() < 10
    assert [each.kind for each in calibration.summary.resemblances] == ["LinearTruth", "Higher"]


class LevelSquares(LeastSquares):
    """Least squares with a constant."""

    def fit(self, _key, rows, targets, _progress=None):
        fits = super().fit(_key, rows, targets - targets.mean(axis=1, keepdims=True))
        return [np.append(fit, y.mean()) for fit, y in zip(fits, targets, strict=True)]

    def at(self, slopes, X):
        return X @ slopes[:3] + slopes[3]


def test_a_calibrated_model_can_be_pickled_and_copied(data, honest):
    expected = honest.get_prediction(data[0]).confidence_interval(0.8).tolist()
    for again in (pickle.loads(pickle.dumps(honest)), copy.deepcopy(honest)):  # noqa: S301
        assert again.get_prediction(data[0]).confidence_interval(0.8).tolist() == expected
    assert clone(honest).confidence_calibration_ is None


@pytest.mark.slow
def test_a_user_hears_the_warnings(data, bootstrapped):
    stiff = copy.copy(bootstrapped)
    with pytest.warns(CalibrationWarning, match="does not resemble the data"):
        stiff.calibrate_confidence(*data, twin=LinearTruthWithMuchNoise(), n_simulations=10)


class LinearTruthWithMuchNoise(LinearTruth):
    def std(self, X):
        return np.full(len(X), 10 * NOISE)


@pytest.mark.slow
def test_other_rows_than_those_of_the_fit_are_noticed(data, bootstrapped):
    X, y = data
    for rows in ((X, y + 1), (X + np.array([0, 0.1, 0]), y)):
        with pytest.warns(CalibrationWarning, match="not those of `fit`"):
            copy.copy(bootstrapped).calibrate_confidence(*rows, n_simulations=10)


# Refusals.


def test_an_unfitted_model_cannot_be_calibrated(data):
    with pytest.raises(NotFittedError):
        confide.DeepEnsembleRegressor().calibrate_confidence(*data)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"n_simulations": 9}, r"`n_simulations` must be at least 10, got 9.*Pass 20"),
        ({"n_simulations": 20.5}, r"`n_simulations` must be"),
        ({"twin": "forrest"}, r"`twin` must be one of .*Did you mean 'forest'"),
        ({"twin": 3}, r"`twin` must be one of"),
        ({"shift": 1.5}, r"`shift` must lie in \[0, 1\] or be 'auto', got 1.5"),
        ({"shift": "half"}, r"`shift` must lie in \[0, 1\] or be 'auto', got 'half'"),
    ],
)
def test_odd_arguments_are_refused(data, bootstrapped, how, message):
    model = copy.copy(bootstrapped)
    with pytest.raises(ValueError, match=message):
        model.calibrate_confidence(*data, **how)
    assert model.confidence_calibration_ is None


def test_targets_must_fit_the_rows(data, bootstrapped):
    with pytest.raises(ValueError, match="one target for each of the 64"):
        copy.copy(bootstrapped).calibrate_confidence(data[0], data[1][:5])


def test_too_few_rows_for_a_twin_are_refused(data, small):
    few = data[0][:15], data[1][:15]
    model = confide.BootstrappedDeepEnsembleRegressor(**small).fit(*few)
    with pytest.raises(TwinError, match="at least 20 different rows, got 15"):
        model.calibrate_confidence(*few)


@pytest.mark.parametrize("values", [np.nan, 0.0])
def test_a_truth_that_simulates_nothing_is_refused(data, bootstrapped, values):
    class Broken(LinearTruth):
        def mean(self, X):
            return np.full(len(X), values)

        def std(self, X):
            return np.zeros(len(X))

    with pytest.raises(
        TwinError, match="Broken must simulate 54 finite targets that are not all equal"
    ):
        copy.copy(bootstrapped).calibrate_confidence(*data, twin=Broken())


def test_methods_without_a_confidence_interval_say_so(data, small):
    alone = confide.DeepEnsembleRegressor(**small | {"n_members": 1}).fit(*data)
    assert not alone.get_prediction(data[0]).is_calibrated("confidence")
    with pytest.raises(NoSuchIntervalError, match="at least two members"):
        alone.calibrate_confidence(*data)
    network = {name: value for name, value in small.items() if name != "recipe"}
    bounds = confide.QualityDrivenEnsembleRegressor(**network).fit(*data)
    with pytest.raises(NoSuchIntervalError, match="no confidence interval"):
        bounds.calibrate_confidence(*data)


def test_a_truth_of_ones_own_calibrates_and_can_be_saved(data, bootstrapped, tmp_path):
    model = copy.copy(bootstrapped)
    model.calibrate_confidence(*data, twin=LinearTruth(), n_simulations=10)
    assert [e.kind for e in model.confidence_calibration_.summary.resemblances] == ["LinearTruth"]
    model.save(tmp_path / "model.confide")
    again = confide.load(tmp_path / "model.confide").get_prediction(data[0])
    assert again.confidence_interval(0.8).tolist() == (
        model.get_prediction(data[0]).confidence_interval(0.8).tolist()
    )


# As a part of `fit`.


TABULAR = {
    "recipe": "tabular",
    "n_members": 2,
    "hidden_layer_sizes": (4,),
    "max_epochs": 3,
    "random_state": 8,
}


@pytest.mark.slow
def test_the_default_fit_is_calibrated_as_if_it_were_done_afterwards(data):
    fitted = confide.DeepEnsembleRegressor(**TABULAR).fit(*data)
    own = confide.DeepEnsembleRegressor(**TABULAR, calibration=None).fit(*data)
    assert own.confidence_calibration_ is None
    assert not own.get_prediction(data[0]).is_calibrated("confidence")
    assert fitted.predict(data[0]).tolist() == own.predict(data[0]).tolist()
    later = own.calibrate_confidence(*data)
    for kind in ("confidence", "prediction"):
        assert later.get_prediction(data[0]).interval(kind, 0.9).tolist() == (
            fitted.get_prediction(data[0]).interval(kind, 0.9).tolist()
        )
    assert later.confidence_calibration_.summary == fitted.confidence_calibration_.summary


@pytest.mark.slow
def test_a_default_fit_to_too_few_rows_warns_and_goes_on(data):
    few = data[0][:15], data[1][:15]
    message = r"The confidence intervals are not calibrated\. A twin needs at least 20 different"
    with pytest.warns(CalibrationWarning, match=message):
        model = confide.DeepEnsembleRegressor(**TABULAR).fit(*few)
    assert model.confidence_calibration_ is None
    assert np.isfinite(model.get_prediction(few[0]).confidence_interval(0.9)).all()


def test_a_single_member_is_fitted_without_a_word(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error", CalibrationWarning)
        model = confide.DeepEnsembleRegressor(**TABULAR | {"n_members": 1}).fit(*data)
    assert model.confidence_calibration_ is None


def test_weights_of_the_rows_reach_the_fits_to_simulated_data(data, bootstrapped):
    X, y = data
    weight = np.where(np.arange(64) < 32, 1e-6, 1.0)
    rows, key = np.arange(8, 64), key_from(0)
    fits = [
        MethodRefit(bootstrapped.method, bootstrapped.fitted_, X, own).fit(key, rows, y[None, rows])
        for own in (None, weight, np.ones(64))
    ]
    without, weighted, alike = (mean_of(bootstrapped.method, fit[0], X) for fit in fits)
    assert alike == pytest.approx(without, rel=1e-4)
    assert not np.allclose(weighted, without, rtol=0.01)


@pytest.mark.slow
def test_a_fit_with_weights_calibrates_with_them(data, monkeypatch):
    heard, fit = [], MethodRefit.fit
    monkeypatch.setattr(
        MethodRefit, "fit", lambda own, *how: heard.append(own.sample_weight) or fit(own, *how)
    )
    weight = np.linspace(0.5, 1.5, 64)
    confide.DeepEnsembleRegressor(**TABULAR).fit(*data, sample_weight=weight)
    assert len(heard) == 3
    assert all(np.allclose(own / own.sum(), weight / weight.sum()) for own in heard)
