"""Calibration on twins: exact where the factor is known, kept, repeated, and refused."""

import copy
import pickle
import warnings
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import confide
from confide.calibration import ConfidenceCalibration
from confide.errors import CalibrationWarning, NoSuchIntervalError, TwinError
from confide.estimators import ESTIMATORS
from confide.learners import Learner
from confide.prediction import Prediction
from confide.randomness import key_from
from confide.simulate import Truth
from confide.uncertainty import TPlusNormalLaw

# Four units round off a good deal, and the tests below are not about that.
pytestmark = pytest.mark.filterwarnings("ignore::confide.errors.CalibrationWarning")
SLOPES, NOISE = np.array([1.0, -2.0, 0.5]), 0.7


@dataclass(frozen=True)
class LinearTruth(Truth):
    """Known slopes and noise."""

    def mean(self, X):
        return X @ SLOPES

    def std(self, X):
        return np.full(len(X), NOISE)


class NoLearner(Learner):
    """Least squares need none."""

    def init(self, keys, data):
        raise NotImplementedError

    def train(self, keys, state, data, targets, plan, *, progress=None):
        raise NotImplementedError

    def predict(self, state, X):
        raise NotImplementedError


@dataclass(frozen=True)
class LeastSquaresFit:
    settings: object
    learner: object
    slopes: np.ndarray
    inverse: np.ndarray


def least_squares(*, claims=1.0, bias=0.0):
    """A method with the doors of the others: its standard error is exact, but for a factor.

    Args:
        claims: the share of the true standard error that it claims.
        bias: what it adds to every prediction, in true standard errors.
    """

    def fit(_keys, X, targets, settings, learner, **_):
        inverse = np.linalg.inv(X.T @ X)
        return [LeastSquaresFit(settings, learner, inverse @ X.T @ y, inverse) for y in targets]

    def predict(fitted, X):
        error = NOISE * np.sqrt(np.einsum("ij,jk,ik->i", X, fitted.inverse, X))
        mean = X @ fitted.slopes + bias * error
        noise = np.full(len(X), NOISE**2)
        return Prediction(
            mean=mean,
            aleatoric_variance=noise,
            epistemic_variance=(claims * error) ** 2,
            prediction_law=TPlusNormalLaw.normal(mean, np.sqrt(noise + (claims * error) ** 2)),
            confidence_law=TPlusNormalLaw.normal(mean, claims * error),
            classical_variance=None,
            optimisation_variance=None,
            n_members=2,
        )

    return SimpleNamespace(fit=fit, predict=predict, member_epochs=lambda *_: 1)


def on_linear_data(method, seed=0, n_simulations=100, **how):
    """A calibration with the truth itself, and the fit that it calibrates."""
    X = np.random.default_rng(99).normal(size=(30, 3))
    y = LinearTruth().draw(key_from(seed), X)
    (fitted,) = method.fit([None], X, y[None], SimpleNamespace(n_members=1), NoLearner())
    calibration = ConfidenceCalibration.on_twins(
        key_from(seed + 10_000),
        method,
        fitted,
        X,
        y,
        twin=LinearTruth(),
        n_simulations=n_simulations,
        **how,
    )
    return calibration, fitted


@pytest.fixture(scope="module")
def honest(data, bootstrapped):
    """A copy, because fitted models are shared between tests."""
    return copy.copy(bootstrapped).calibrate_confidence(*data, n_simulations=10)


# Where the right factor is known.


@pytest.mark.parametrize(
    ("claims", "bias", "exact"),
    [(1.0, 0.0, 1.0), (0.5, 0.0, 2.0), (2.0, 0.0, 0.5), (1.0, 2.0, np.sqrt(5))],
)
def test_a_known_factor_is_recovered_within_its_standard_error(claims, bias, exact):
    method = least_squares(claims=claims, bias=bias)
    calibration, fitted = on_linear_data(method, n_simulations=400)
    X = np.random.default_rng(5).normal(size=(50, 3))
    errors = calibration.calibrated(method, method.predict(fitted, X), X).twin_errors
    # Rows share three slopes: 50 rows are hardly more than a few independent looks.
    assert np.all(np.abs(errors.factor - exact) < 4 * errors.factor_error * errors.factor)
    # The relative error of a root mean square of 400 standard normal numbers.
    if bias == 0:
        assert errors.factor_error == pytest.approx(1 / np.sqrt(800), rel=0.4)
    assert np.all(errors.is_biased == (bias > 0))


def test_calibrated_intervals_are_the_right_ones_whatever_was_claimed():
    half_widths = []
    for claims in (0.5, 1.0, 3.0):
        method = least_squares(claims=claims)
        calibration, fitted = on_linear_data(method)
        X = np.random.default_rng(5).normal(size=(4, 3))
        prediction = calibration.calibrated(method, method.predict(fitted, X), X)
        half_widths.append(prediction.confidence_law.half_width(0.9))
    assert half_widths[1] == pytest.approx(half_widths[0])
    assert half_widths[2] == pytest.approx(half_widths[0])


@pytest.mark.parametrize(("bias", "shift"), [(0.0, 0.0), (2.0, 0.0), (2.0, 1.0)])
def test_coverage_is_nominal_when_the_twin_is_the_truth(bias, shift):
    method, n_sets = least_squares(claims=0.4, bias=bias), 300
    X = np.random.default_rng(5).normal(size=(20, 3))
    new = np.random.default_rng(6).normal(size=(n_sets, 20))
    levels = (0.5, 0.8, 0.95)
    held, observed = ({level: [] for level in levels} for _ in range(2))
    for seed in range(n_sets):
        calibration, fitted = on_linear_data(method, seed, n_simulations=20, shift=shift)
        prediction = calibration.calibrated(method, method.predict(fitted, X), X)
        truth = X @ SLOPES
        for level in levels:
            lower, upper = prediction.confidence_interval(level).T
            held[level].append(np.mean((lower <= truth) & (truth <= upper)))
            lower, upper = prediction.prediction_interval(level).T
            y = truth + NOISE * new[seed]
            observed[level].append(np.mean((lower <= y) & (y <= upper)))
    for found in (held, observed):
        for level, shares in found.items():
            error = np.std(shares, ddof=1) / np.sqrt(n_sets)
            # Twenty simulations instead of nineteen in the factor: hardly to be seen.
            assert np.mean(shares) == pytest.approx(level, abs=4 * error + 0.005)


def test_a_full_shift_moves_the_centre_onto_the_truth():
    method = least_squares(bias=2.0)
    calibration, fitted = on_linear_data(method, n_simulations=400, shift=1.0)
    X = np.random.default_rng(5).normal(size=(4, 3))
    raw = method.predict(fitted, X)
    prediction = calibration.calibrated(method, raw, X)
    unbiased = X @ fitted.slopes
    error = np.sqrt(raw.epistemic_variance)
    # The bias is two standard errors, known to a twentieth of one; the prediction stays.
    assert prediction.confidence_law.location == pytest.approx(unbiased, abs=0.25 * error.max())
    assert np.all(np.abs(prediction.confidence_law.location - unbiased) < 0.25 * error)
    assert prediction.mean.tolist() == raw.mean.tolist()
    assert prediction.prediction_law.location.tolist() == (
        prediction.confidence_law.location.tolist()
    )


def test_a_fit_that_claims_certainty_somewhere_gets_the_error_that_simulations_show():
    method = least_squares()
    calibration, fitted = on_linear_data(method, n_simulations=400)
    X = np.random.default_rng(5).normal(size=(4, 3))
    right = calibration.calibrated(method, method.predict(fitted, X), X).confidence_law.half_width(
        0.8
    )
    certain = least_squares(claims=0.0)
    calibration, fitted = on_linear_data(certain, n_simulations=400)
    found = calibration.calibrated(
        certain, certain.predict(fitted, X), X
    ).confidence_law.half_width(0.8)
    assert found == pytest.approx(right, rel=1e-6)


# Predictions.


def test_both_intervals_are_kept_and_labelled(data, bootstrapped, honest):
    raw, prediction = bootstrapped.get_prediction(data[0]), honest.get_prediction(data[0])
    assert prediction.confidence_law.origin == "twins"
    assert prediction.prediction_law.origin == "twins"
    assert prediction.is_calibrated("confidence")
    assert prediction.is_calibrated("prediction")
    assert not raw.is_calibrated("confidence")
    assert prediction.mean.tolist() == raw.mean.tolist()
    assert prediction.total_variance.tolist() == raw.total_variance.tolist()
    for kind in ("confidence", "prediction"):
        own = prediction.uncalibrated.interval(kind, 0.9)
        assert own.tolist() == raw.interval(kind, 0.9).tolist()
        assert not np.allclose(own, prediction.interval(kind, 0.9))
    frame = prediction.summary_frame(0.9)
    assert frame["mean_ci_lower"].tolist() == prediction.confidence_interval(0.9)[:, 0].tolist()
    assert frame["mean_ci_lower_uncalibrated"].tolist() == (
        raw.confidence_interval(0.9)[:, 0].tolist()
    )
    assert frame["obs_ci_upper_uncalibrated"].tolist() == (
        raw.prediction_interval(0.9)[:, 1].tolist()
    )


def test_the_calibrated_interval_is_factor_times_claim_times_score(data, honest):
    prediction = honest.get_prediction(data[0])
    scores = honest.confidence_calibration_.confidence_scores
    score = scores[int(np.ceil(0.9 * (len(scores) + 1))) - 1]
    expected = prediction.twin_errors.factor * np.sqrt(prediction.epistemic_variance) * score
    assert prediction.confidence_law.half_width(0.9) == pytest.approx(expected)


def test_higher_levels_contain_lower_ones(data, honest):
    prediction = honest.get_prediction(data[0])
    for kind in ("confidence", "prediction"):
        bounds = [prediction.interval(kind, level) for level in np.arange(0.05, 0.99, 0.05)]
        lower, upper = np.stack(bounds)[..., 0], np.stack(bounds)[..., 1]
        assert np.all(np.diff(lower, axis=0) <= 0)
        assert np.all(np.diff(upper, axis=0) >= 0)


def test_rows_are_calibrated_one_by_one_seen_or_not(honest, bootstrapped):
    X = np.random.default_rng(3).normal(size=(7, 3))
    together = honest.get_prediction(X).confidence_interval(0.8)
    alone = np.concatenate([honest.get_prediction(x[None]).confidence_interval(0.8) for x in X])
    assert together == pytest.approx(alone, rel=1e-4)  # the networks answer in float32
    in_blocks = honest.confidence_calibration_.calibrated(
        honest.method, bootstrapped.get_prediction(X), X, answers_per_block=30
    )
    assert in_blocks.confidence_interval(0.8) == pytest.approx(together, rel=1e-4)


def test_predicting_changes_nothing_in_the_calibration(data, honest):
    before = copy.deepcopy(honest.confidence_calibration_.confidence_scores)
    first = honest.get_prediction(data[0]).confidence_interval(0.8)
    honest.get_prediction(np.full((5, 3), 9.0))
    assert honest.confidence_calibration_.confidence_scores.tolist() == before.tolist()
    assert honest.get_prediction(data[0]).confidence_interval(0.8).tolist() == first.tolist()


@pytest.mark.parametrize("shift", [0.0, 0.5])
@pytest.mark.parametrize("on_held_out_rows", [False, True])
def test_a_prediction_interval_contains_its_confidence_interval(
    data, bootstrapped, shift, on_held_out_rows
):
    """Wherever both are calibrated, though each is calibrated by itself."""
    how = {"n_simulations": 10, "shift": shift, "twin": LinearTruth()}
    model = copy.copy(bootstrapped).calibrate_confidence(*data, **how)
    calibration = model.confidence_calibration_
    # As where twins are biased: confidence intervals are the wider ones by themselves.
    wide = replace(calibration, confidence_scores=9 * calibration.confidence_scores)
    model.confidence_calibration_ = wide
    if on_held_out_rows:
        model.calibrate(*data)
    prediction = model.get_prediction(data[0])
    for level in (0.05, 0.5, 0.8, 0.95):
        inner, outer = (prediction.interval(kind, level) for kind in ("confidence", "prediction"))
        assert np.all(outer[:, 0] <= inner[:, 0])
        assert np.all(inner[:, 1] <= outer[:, 1])
    by_itself = prediction.prediction_law.law
    assert np.any(by_itself.interval(0.8)[:, 0] > prediction.confidence_interval(0.8)[:, 0])


def test_held_out_rows_are_better_evidence_for_prediction_intervals(data, bootstrapped, honest):
    rows = data[0][:30], data[1][:30]
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


def test_the_same_seed_gives_the_same_numbers(data, bootstrapped, honest):
    same = copy.copy(bootstrapped).calibrate_confidence(*data, n_simulations=10)
    seeded = copy.copy(bootstrapped).calibrate_confidence(*data, n_simulations=10, random_state=1)
    again, other = (
        each.get_prediction(data[0]).confidence_interval(0.8) for each in (same, seeded)
    )
    assert again.tolist() == honest.get_prediction(data[0]).confidence_interval(0.8).tolist()
    assert not np.allclose(other, again)


@pytest.mark.parametrize("shift", [0.0, 0.5])
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
        (lambda payload, _: payload.update(shift=7), "a shift of 7"),
        (lambda payload, _: payload.update(floor=0), "a floor of 0"),
        (lambda _, arrays: arrays.update({"truths.0.noise": np.array([1.0, 0])}), "in order"),
        (lambda _, arrays: arrays.update({"fits.x_mean": np.array(1.0)}), "are missing"),
        (lambda payload, _: payload["truths"][0].update(function="eval"), "no function 'eval'"),
        (
            lambda _, arrays: arrays.update(confidence_scores=arrays["confidence_scores"][::-1]),
            "in order",
        ),
        (lambda _, arrays: arrays.pop("prediction_scores"), "is missing"),
        (
            lambda _, arrays: [arrays.pop(k) for k in list(arrays) if k.startswith("fits.")],
            "fits to simulated data are missing",
        ),
        (
            lambda _, arrays: arrays.update(
                {"fits.members.weights": arrays["fits.members.weights"][:, :1]}
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


def test_files_with_old_names_are_read(honest):
    calibration = honest.confidence_calibration_
    payload, arrays = calibration.to_file(honest.method)
    old = {"forest": "random_forest", "boosting": "gradient_boosting"}
    payload["account"] = payload.pop("summary")
    account = payload["account"]
    for entry in (*payload["truths"], *account["candidates"], *account["resemblances"]):
        entry["kind"] = old.get(entry["kind"], entry["kind"])
    again = ConfidenceCalibration.from_file(payload, arrays, honest.method, honest.fitted_, 3)
    assert again.summary == calibration.summary
    assert [twin.kind for twin in again.truths] == [twin.kind for twin in calibration.truths]


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
    prediction = honest.get_prediction(data[0])
    ratio = prediction.confidence_law.half_width(0.8) / (
        prediction.uncalibrated.confidence_law.half_width(0.8)
    )
    assert account.widening[0.8] == pytest.approx(np.quantile(ratio, [0.05, 0.5, 0.95]))
    assert account.biased == pytest.approx(prediction.twin_errors.is_biased.mean())
    assert account.factor_error == pytest.approx(np.median(prediction.twin_errors.factor_error))
    assert account.n_rows == 64
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


def test_data_are_simulated_from_each_twin_in_turn(data, bootstrapped, monkeypatch):
    twins = [LinearTruth(), Higher()]
    monkeypatch.setattr("confide.calibration.twins._truths", lambda *_, **__: (twins, []))
    model = copy.copy(bootstrapped).calibrate_confidence(*data, n_simulations=10)
    # Data sets of one twin held against the other would be off by 100.
    assert model.get_prediction(data[0]).twin_errors.systematic.max() < 10


def test_each_simulation_is_held_against_its_own_twin(data, bootstrapped):
    model = copy.copy(bootstrapped).calibrate_confidence(
        *data, twin=LinearTruth(), n_simulations=10
    )
    calibration = model.confidence_calibration_
    two = replace(calibration, truths=[LinearTruth(), Higher()])
    raw = bootstrapped.get_prediction(data[0])
    errors = two.calibrated(model.method, raw, data[0]).twin_errors
    # All fits are of the lower truth: half of them now seem to be off by 100.
    one = calibration.calibrated(model.method, raw, data[0]).twin_errors
    assert errors.bias == pytest.approx(one.bias - 50)
    assert errors.systematic == pytest.approx(np.sqrt(100**2 / 2), rel=0.02)
    # Within each twin there is no more chance than before, give or take five simulations.
    assert np.median(errors.spread / one.spread) == pytest.approx(1, abs=0.3)


def test_a_calibrated_model_can_be_pickled_and_copied(data, honest):
    expected = honest.get_prediction(data[0]).confidence_interval(0.8).tolist()
    for again in (pickle.loads(pickle.dumps(honest)), copy.deepcopy(honest)):  # noqa: S301
        assert again.get_prediction(data[0]).confidence_interval(0.8).tolist() == expected
    assert clone(honest).confidence_calibration_ is None


def test_a_user_hears_the_warnings(data, bootstrapped):
    stiff = copy.copy(bootstrapped)
    with pytest.warns(CalibrationWarning, match="does not resemble the data"):
        stiff.calibrate_confidence(*data, twin=LinearTruthWithMuchNoise(), n_simulations=10)


class LinearTruthWithMuchNoise(LinearTruth):
    def std(self, X):
        return np.full(len(X), 10 * NOISE)


def test_other_rows_than_those_of_the_fit_are_noticed(data, bootstrapped):
    X, y = data
    for rows in ((X, y + 1), (X + np.array([0, 0.1, 0]), y)):
        with pytest.warns(CalibrationWarning, match="not those of `fit`"):
            copy.copy(bootstrapped).calibrate_confidence(*rows, n_simulations=10)


def test_the_shape_is_learnt_at_some_rows_of_a_long_table(data, bootstrapped, honest):
    calibration = ConfidenceCalibration.on_twins(
        key_from(0), honest.method, bootstrapped.fitted_, *data, n_simulations=10, most_rows=20
    )
    assert calibration.summary.n_rows == 20
    assert len(calibration.confidence_scores) == len(calibration.prediction_scores) == 200
    # Residuals are of the same rows as the targets: at others they would be several times as large.
    few, all_rows = calibration.summary.resemblances, honest.confidence_calibration_.summary
    for each, other in zip(few, all_rows.resemblances, strict=True):
        assert 0.5 < each.ratio / other.ratio < 2


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
        ({"shift": 1.5}, r"`shift` must lie in \[0, 1\], got 1.5"),
        ({"shift": "half"}, r"`shift` must lie in \[0, 1\], got 'half'"),
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
        TwinError, match="Broken must simulate 64 finite targets that are not all equal"
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


def test_a_truth_of_ones_own_calibrates_but_cannot_be_saved(data, bootstrapped, tmp_path):
    model = copy.copy(bootstrapped)
    model.calibrate_confidence(*data, twin=LinearTruth(), n_simulations=10)
    assert [e.kind for e in model.confidence_calibration_.summary.resemblances] == ["LinearTruth"]
    with pytest.raises(TwinError, match="LinearTruth, cannot be saved"):
        model.save(tmp_path / "model.confide")
    model.confidence_calibration_ = None
    model.save(tmp_path / "model.confide")
