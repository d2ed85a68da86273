"""Twins of a data set: functions kept as arrays, and the choice among them."""

import time

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor

from confide.cores import with_blas_threads
from confide.errors import TwinError
from confide.randomness import key_from
from confide.simulate import (
    CANDIDATES,
    GradientBoostingTruth,
    Residuals,
    fitted_twins,
    n_steps,
    twin_choice,
)
from confide.simulate.smooth import MOST_LANDMARKS, smooth, spanned
from confide.simulate.twin_choice import judged
from confide.trees import Trees


def step(X):
    return 3.0 * (X[:, 0] > 0.2) - 2.0 * (X[:, 1] > -0.3)


def wave(X):
    return np.sin(2 * X[:, 0]) + 0.5 * X[:, 1]


def sample(function, n=200, noise=0.2, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.uniform(-1, 1, size=(n, 3))
    return X, function(X) + noise * generator.normal(size=n)


# Functions.


def test_a_smooth_function_is_the_same_with_any_number_of_threads():
    X, y = sample(wave, n=1000)
    values = []
    for n_threads in (1, 2):
        with with_blas_threads(n_threads):
            values.append(smooth(X, y, 0)(X, y)(X))
    assert np.array_equal(*values)


def test_a_forest_as_arrays_is_the_forest():
    X, y = sample(wave)
    forest = RandomForestRegressor(7, min_samples_leaf=2, random_state=0).fit(X, y)
    new = np.random.default_rng(1).uniform(-2, 2, size=(500, 3))
    trees = Trees.from_sklearn(forest.estimators_, weight=1 / 7)
    assert trees(new) == pytest.approx(forest.predict(new), rel=1e-12)


def test_a_forest_as_arrays_compares_as_the_forest_does():
    # Thresholds lie half-way between float32 values: in double precision some rows go elsewhere.
    X = np.nextafter(np.float32(0.1), 1, dtype=np.float32) * np.arange(1, 41)[:, None] / 3
    X = X.astype(np.float64) + 1e-12
    forest = RandomForestRegressor(5, random_state=0).fit(X, np.arange(40.0))
    trees = Trees.from_sklearn(forest.estimators_, weight=0.2)
    assert trees(X) == pytest.approx(forest.predict(X), rel=1e-12)


def test_boosted_trees_as_arrays_are_the_boosted_trees():
    X, y = sample(step)
    boosted = GradientBoostingRegressor(n_estimators=9, random_state=0).fit(X, y)
    trees = Trees.from_sklearn(
        list(boosted.estimators_[:, 0]), weight=0.1, constant=float(y.mean())
    )
    assert trees(X) == pytest.approx(boosted.predict(X), rel=1e-12)


def test_blocks_of_rows_change_nothing():
    X, y = sample(wave)
    fitted = CANDIDATES["smooth"](X, y, 0)(X, y)
    # Weights of kernels are large and cancel; sums of blocks are rounded otherwise.
    assert fitted(X, cells_per_block=1000) == pytest.approx(fitted(X), rel=1e-9)
    assert fitted(X[:0]).shape == (0,)


@pytest.mark.parametrize("kind", ["forest", "boosting"])
def test_a_row_in_trees_does_not_depend_on_the_others(kind):
    X, y = sample(wave)
    X[:2, 0] = np.nan, np.inf
    fitted = CANDIDATES[kind](X[2:], y[2:], 0)(X[2:], y[2:])
    many = fitted(X, few_rows=0)
    assert many.tolist() == fitted(X, few_rows=len(X) + 1).tolist()
    assert many[:1].tolist() == fitted(X[:1]).tolist()
    assert fitted(X[:0]).shape == (0,)


def test_trees_refuse_rows_without_their_features():
    X, y = sample(step)
    with pytest.raises(ValueError, match="more than 0 features"):
        CANDIDATES["forest"](X, y, 0)(X, y)(X[:, :0])


@pytest.mark.parametrize("kind", ["forest", "boosting"])
def test_trees_are_the_same_from_a_file(kind):
    X, y = sample(wave)
    fitted = CANDIDATES[kind](X, y, 0)(X, y)
    again = type(fitted).from_arrays(fitted.to_arrays(), 3)
    assert again(X).tolist() == fitted(X).tolist()


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("left", np.zeros_like, "out of order"),  # back to the root, for ever
        # From the second node on.
        (
            "left",
            lambda a: a * ((a == np.arange(len(a))) | (np.arange(len(a)) == 0)).astype("i4"),
            "out of order",
        ),
        ("right", lambda a: a + np.int32(9999) * (a != np.arange(len(a))), "point outside"),
        ("feature", lambda a: a + 3, "point outside"),
        ("roots", lambda a: a - 1, "point outside"),
        ("roots", lambda a: a[::-1], "trees are out of order"),
        ("roots", lambda a: np.append(a, a[-1] + np.int32(1)), "children are in another tree"),
        ("value", lambda a: np.full_like(a, np.nan), "not finite"),
        ("threshold", lambda a: a[1:], "must be float64 of shape"),
    ],
)
def test_trees_of_a_file_are_checked(name, change, message):
    X, y = sample(step)
    arrays = CANDIDATES["forest"](X, y, 0)(X, y).to_arrays()
    arrays[name] = change(arrays[name])
    with pytest.raises(ValueError, match=message):
        Trees.from_arrays(arrays, 3)


def chains(n_trees, depth):
    """Arrays of single leaves, and after them one tree that is a chain."""
    splits = n_trees - 1 + 2 * np.arange(depth)  # each with a leaf behind it, then the next
    n_nodes = n_trees + 2 * depth
    own = np.arange(n_nodes, dtype=np.int32)
    left, right = own.copy(), own.copy()
    left[splits], right[splits] = splits + 1, splits + 2
    return {
        "roots": own[:n_trees],
        "feature": np.zeros(n_nodes, np.int32),
        "threshold": np.full(n_nodes, -1e9),  # every row goes on to the end
        "left": left,
        "right": right,
        "value": np.ones(n_nodes),
        "constant": np.zeros(1),
    }


def test_trees_that_are_deep_in_reason_are_taken():
    trees = Trees.from_arrays(chains(n_trees=200, depth=1000), 3)
    assert trees(np.zeros((1, 3))) == [200]


@pytest.mark.parametrize(
    ("n_trees", "depth", "message"),
    [
        (20_000, 20_000, "20000 trees, and 1000 are the most"),
        (1000, 5_000, "takes too many steps"),
        (1, 20_000, "takes too many steps"),
    ],
)
def test_trees_of_a_file_that_would_take_long_are_refused_at_once(n_trees, depth, message):
    start = time.process_time()
    with pytest.raises(ValueError, match=message):
        Trees.from_arrays(chains(n_trees, depth), 3)
    assert time.process_time() - start < 1


def test_trees_of_a_file_that_share_nodes_are_refused():
    arrays = chains(n_trees=1, depth=500)
    arrays["left"] = arrays["right"]  # two ways to every node: twice as many with each step
    with pytest.raises(ValueError, match="shared"):
        Trees.from_arrays(arrays, 3)


def test_the_smooth_function_is_kernel_ridge_regression():
    X, y = sample(wave, n=60)
    fitted = smooth(X, y, 0)(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    gram = np.exp(-fitted.gamma * ((Z[:, None] - Z[None]) ** 2).sum(axis=-1))
    # All rows are landmarks: the residuals of ridge regression are the ridge times the weights.
    residuals = y - fitted(X)
    weights = np.linalg.lstsq(gram, fitted(X) - y.mean(), rcond=None)[0]
    ridge = (residuals @ weights) / (weights @ weights)
    assert residuals == pytest.approx(ridge * weights, abs=1e-3 * np.abs(residuals).max())


def test_length_and_ridge_have_the_least_leave_one_out_error():
    X, y = sample(wave, n=40, noise=0.5)

    def left_out(length, ridge):
        """Rows left out one by one, with the features of all of them."""
        _, _, features = spanned(X, length, 0)
        penalty = ridge * np.linalg.eigvalsh(features.T @ features)[-1]
        errors = []
        for i in range(len(y)):
            kept = np.arange(len(y)) != i
            gram = features[kept].T @ features[kept] + penalty * np.eye(features.shape[1])
            centred = y - y.mean()
            coefficients = np.linalg.solve(gram, features[kept].T @ centred[kept])
            errors.append(centred[i] - features[i] @ coefficients)
        return np.mean(np.square(errors))

    lengths, ridges = (0.3, 3.0), (1e-4, 1e-1)
    best = min((left_out(a, b), a, b) for a in lengths for b in ridges)
    chosen = smooth(X, y, 0, lengths, ridges)(X, y)
    assert chosen(X).tolist() == smooth(X, y, 0, best[1:2], best[2:])(X, y)(X).tolist()


def test_a_long_table_is_spanned_by_some_of_its_rows():
    X, y = sample(wave, n=MOST_LANDMARKS + 50)
    fitted = smooth(X, y, 0)(X, y)
    assert len(fitted.landmarks) == MOST_LANDMARKS
    # The noise is 0.2, and 350 rows average most of it away.
    assert np.sqrt(np.mean((fitted(X) - wave(X)) ** 2)) < 0.1


# The choice.


@pytest.mark.parametrize(("function", "best"), [(step, "boosting"), (wave, "smooth")])
def test_rough_data_have_a_rough_twin_and_smooth_data_a_smooth_one(function, best):
    twins, candidates = fitted_twins(*sample(function), 0)
    assert candidates[0].kind == twins[0].kind == best
    assert any(c.kind == "smooth" and c.kept for c in candidates) == (best == "smooth")


def test_candidates_within_one_standard_error_of_the_best_are_kept():
    best, one_row, half = np.zeros(100), np.zeros(100), np.tile([1.0, 0.0], 50)
    one_row[0] = 3.0
    found = {each.kind: each for each in judged({"half": half, "one": one_row, "best": best})}
    assert list(found) == ["best", "one", "half"]
    assert (found["best"].behind, found["best"].kept) == (0, True)
    # One square of 9 in a hundred rows: mean 0.09, standard error 0.9 / 10.
    assert found["one"].behind == pytest.approx(1)
    # Squares 1, 0, 1, 0 ...: mean 1/2, standard deviation sqrt(25/99).
    assert found["half"].behind == pytest.approx(0.5 / np.sqrt(25 / 99) * 10)
    assert not found["half"].kept
    one_row[1] = 1.0  # a second square that is alike makes the difference surer
    assert not judged({"best": best, "one": one_row})[1].kept
    assert judged({"best": best + 1, "same": best + 1})[1].kept
    # Behind by as much at every row, beyond doubt: a finite number, which JSON can hold.
    (_, beyond) = judged({"best": best, "far": best + 1})
    assert 1e6 < beyond.behind < np.inf


def test_noise_is_that_of_rows_which_were_held_out():
    X, y = sample(step, n=400, noise=0.5)
    (twin, *_), _ = fitted_twins(X, y, 0, ["forest"])
    in_sample = np.sqrt(np.mean((y - twin.mean(X)) ** 2))
    # A forest's own residuals are far too small.
    assert in_sample < 0.9 * 0.5
    assert 0.9 * 0.5 < np.sqrt(np.mean(twin.std(X) ** 2)) < 1.2 * 0.5


def linear(_X, _y, _seed):
    """Least squares: how far off it is at rows held out is known."""

    def fit(X, y):
        slopes = np.linalg.lstsq(X, y, rcond=None)[0]
        return lambda Z: Z @ slopes

    return fit


@pytest.mark.slow
@pytest.mark.usefixtures("without_type_checker")  # it knows trees and kernels
def test_noise_is_net_of_what_the_twin_itself_is_off(monkeypatch):
    monkeypatch.setitem(CANDIDATES, "linear", linear)
    noise, held_out = [], []
    for seed in range(12):
        generator = np.random.default_rng(seed)
        X = generator.normal(size=(40, 10))
        y = X.sum(axis=1) + generator.normal(size=40)
        (twin,), (candidate,) = fitted_twins(X, y, seed, ["linear"])
        noise.append(np.mean(twin.std(X) ** 2))
        held_out.append(candidate.rmse**2)
    # With n = 30 rows of p = 10 normal features, slopes err by p / (n - p - 1) of the noise's
    # variance at a new row. It is 1, and of 12 x 40 squares of the residuals known to a tenth.
    assert np.mean(held_out) == pytest.approx(1 + 10 / 19, abs=4 * np.std(held_out) / np.sqrt(11))
    assert np.mean(noise) == pytest.approx(1, abs=4 * np.std(noise) / np.sqrt(11))
    assert np.mean(noise) < 0.8 * np.mean(held_out)


@pytest.mark.parametrize("kind", ["forest", "boosting"])
def test_trees_of_a_long_table_are_fitted_to_some_of_its_rows(kind, monkeypatch):
    monkeypatch.setattr(twin_choice, "MOST_ROWS", 40)
    X, y = sample(wave, n=100)
    # Every third row: every second would be 50.
    some, alone = CANDIDATES[kind](X, y, 0)(X, y), CANDIDATES[kind](X, y, 0)(X[::3], y[::3])
    assert some(X).tolist() == alone(X).tolist()
    monkeypatch.undo()
    assert some(X).tolist() != CANDIDATES[kind](X, y, 0)(X, y)(X).tolist()


@pytest.mark.parametrize(
    ("n_features", "share", "expected"),
    [(2, 0.5, 1.0), (3, 0.5, 0.5), (128, 0.5, 0.5), (130, 0.5, 64), (64, 1.0, 1.0), (65, 1.0, 64)],
)
def test_trees_of_a_wide_table_look_at_some_columns_for_a_split(n_features, share, expected):
    asked = twin_choice._at_a_split(np.zeros((5, n_features)), share)
    assert (asked, type(asked)) == (expected, type(expected))  # 1 is one column, 1.0 all of them


@pytest.mark.slow
@pytest.mark.parametrize("exponent", [-40, -13, 30])
def test_a_twin_does_not_depend_on_units(exponent):
    X, y = sample(step, n=100)
    y = y * (1 + (X[:, 2] > 0))  # noise of two sizes
    unit = 2.0**exponent  # so that every number keeps its digits
    (twin, *_), candidates = fitted_twins(X, y, 0)
    (other, *_), judged_so = fitted_twins(unit * X, unit * y, 0)
    assert [each.behind for each in judged_so] == [each.behind for each in candidates]
    assert (other.mean(unit * X) / unit).tolist() == twin.mean(X).tolist()
    assert (other.std(unit * X) / unit).tolist() == twin.std(X).tolist()
    assert len(np.unique(other.std(unit * X))) > 10  # the noise has not lost its sizes


@pytest.mark.slow
def test_a_twin_sees_columns_and_targets_far_from_zero():
    X, y = (np.round(2**20 * each) / 2**20 for each in sample(step, n=100))
    _, (near, *_) = fitted_twins(X, y, 0, ["boosting"])
    # Trees cut in single precision, in which a hundred million and one is a hundred million.
    _, (far, *_) = fitted_twins(X + 2.0**27, y + 2.0**27, 0, ["boosting"])
    assert far.rmse == pytest.approx(near.rmse, rel=0.05)
    assert far.rmse < 0.5 * y.std()


@pytest.mark.slow
def test_copies_of_rows_do_not_make_a_twin_look_better():
    X, y = sample(step, n=100, noise=0.5)
    _, (alone, *_) = fitted_twins(X, y, 0, ["forest"])
    _, (copied, *_) = fitted_twins(np.repeat(X, 4, axis=0), np.repeat(y, 4), 0, ["forest"])
    # Were copies split between folds, held-out rows would be known by heart: a fifth of the error.
    assert copied.rmse > 0.8 * alone.rmse


@pytest.mark.slow
def test_a_twin_is_the_same_for_the_same_seed():
    X, y = sample(wave)
    (twin, *_), _ = fitted_twins(X, y, 3)
    (same, *_), _ = fitted_twins(X, y, 3)
    assert same.kind == twin.kind
    assert same.draw(key_from(1), X).tolist() == twin.draw(key_from(1), X).tolist()


def test_progress_tells_of_every_step():
    heard = []
    fitted_twins(*sample(wave, n=40), 0, ["smooth"], progress=heard.append)
    assert sum(heard) == n_steps(["smooth"]) == 5


def test_too_few_rows_for_a_twin():
    X, y = sample(wave, n=19)
    with pytest.raises(TwinError, match="at least 20 different rows, got 19"):
        fitted_twins(X, y, 0)


def test_a_twin_that_cannot_be_fitted_says_which_and_why(monkeypatch):
    def broken(_X, _y, _seed):
        raise ValueError("the matrix is singular")

    monkeypatch.setitem(CANDIDATES, "smooth", broken)
    message = r"'smooth' cannot be fitted.*matrix is singular\. Pass another `twin`"
    with pytest.raises(TwinError, match=message):
        fitted_twins(*sample(wave, n=30), 0)


# Noise and truths.


def test_residuals_are_drawn_as_they_are():
    law = Residuals.of(np.array([-1.0, 0.0, 0.0, 5.0]))
    assert law.sorted_values.mean() == pytest.approx(0)
    assert law.sorted_values.std() == pytest.approx(1)
    drawn = law.sample(np.random.default_rng(0), 1000)
    assert set(drawn.tolist()) == set(law.sorted_values.tolist())
    assert law.cdf(np.array([-9.0, 0.0, 9.0])).tolist() == [0, 0.75, 1]
    assert law.survival(np.array([-9.0, 0.0, 9.0])).tolist() == [1, 0.25, 0]


def test_residuals_that_are_all_zero_have_no_shape():
    assert Residuals.of(np.zeros(4)).name == "gaussian"


def test_boosted_truth_is_boosting_with_a_forests_noise():
    X, y = sample(step)
    truth = GradientBoostingTruth.from_data(X, y)
    boosted = GradientBoostingRegressor(random_state=2).fit(X, y)
    squares = (y - boosted.predict(X)) ** 2
    forest = RandomForestRegressor(100, max_depth=3, random_state=2).fit(X, squares)
    assert truth.mean(X).tolist() == boosted.predict(X).tolist()
    assert truth.std(X).tolist() == np.sqrt(forest.predict(X)).tolist()
