"""`groups=`: rows that belong together are left out together, wherever a fit leaves rows out."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import GroupKFold, cross_val_score

from confide import BootstrappedDeepEnsembleRegressor, DeepEnsembleRegressor
from confide.estimators import ESTIMATORS
from confide.fingerprints import groups as groups_of
from confide.methods.held_out import folds

N_PATIENTS, VISITS = 20, 6
PATIENT = np.repeat(np.arange(N_PATIENTS), VISITS)


@pytest.fixture(scope="module")
def visits():
    """Each patient has a level of their own, which a fit can only know of other visits."""
    generator = np.random.default_rng(0)
    body = generator.normal(size=(N_PATIENTS, 2))[PATIENT]
    X = np.column_stack([body + 0.01 * generator.normal(size=body.shape), np.arange(len(PATIENT))])
    level = 2.0 * generator.normal(size=N_PATIENTS)[PATIENT]
    return X, level + 0.1 * generator.normal(size=len(PATIENT))


def quick(**how):
    few = {"n_members": 2, "max_epochs": 60, "dropout": 0.0, "calibration": None}
    return DeepEnsembleRegressor(**few, random_state=0, **how)


def noise(model, X):
    return float(model.get_prediction(X).aleatoric_variance.mean())


def test_rows_of_a_group_are_left_out_together_and_folds_are_of_equal_size(visits):
    X, _ = visits
    fold_of = folds(X.astype(np.float32), PATIENT)
    assert all(len(set(fold_of[one == PATIENT])) == 1 for one in range(N_PATIENTS))
    assert np.bincount(fold_of).tolist() == [24] * 5
    unequal = np.minimum(PATIENT, 8)  # one group of 12 patients
    assert sorted(np.bincount(folds(X.astype(np.float32), unequal))) == [12] * 4 + [72]


def test_a_group_and_the_rows_that_equal_one_of_it_stay_together():
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[1] = X[0]
    given = np.arange(60) // 2
    given[1] = 5
    joined = groups_of(X, X[:, 0], given)
    assert len({joined[0], joined[1], joined[10], joined[11]}) == 1
    assert joined.max() + 1 == 29


def test_groups_decide_where_equal_rows_would_chain_most_of_them_together():
    X = np.random.default_rng(0).integers(0, 30, (100, 1)).astype(float)
    given = np.arange(100) // 5
    assert groups_of(X, X[:, 0]).max() < 30
    assert np.array_equal(groups_of(X, X[:, 0], given), given)


@pytest.mark.slow
def test_noise_of_patients_unknown_is_larger_than_that_of_visits_unknown(visits):
    """Visits of the same patient tell the level (sd 2), which is noise for any other patient."""
    X, y = visits
    alone, together = quick().fit(X, y), quick().fit(X, y, groups=PATIENT)
    assert 2 * noise(alone, X) < 2 < noise(together, X)


@pytest.mark.slow
def test_noise_does_not_depend_on_whether_the_strength_was_chosen(visits):
    """The fit leaves out the same groups as the choice did."""
    X, y = visits
    how = {"n_members": 2, "max_epochs": 3, "calibration": None, "random_state": 0}
    chosen = BootstrappedDeepEnsembleRegressor(**how).fit(X, y, groups=PATIENT)
    strength = {name: chosen.parameters_[name] for name in ("dropout", "smooth")}
    given = BootstrappedDeepEnsembleRegressor(**how, **strength).fit(X, y, groups=PATIENT)
    assert np.array_equal(*(m.predict_interval(X)[1] for m in (chosen, given)))


@pytest.mark.slow
@pytest.mark.parametrize("n_groups", [2, 20])
def test_epochs_are_chosen_on_groups_held_out(visits, n_groups):
    X, y = visits
    model = DeepEnsembleRegressor(recipe="paper", n_members=2, max_epochs="auto", random_state=0)
    at_random, by_group = (
        model.fit(X, y, groups=given).epochs_.scores for given in (None, PATIENT % n_groups)
    )
    # Visits are foretold from other visits; a patient from other patients is not.
    assert min(at_random) + 0.5 < min(by_group)


@pytest.mark.slow
def test_too_few_rows_to_hold_out_groups_of_them():
    X = np.arange(12.0)[:, None]
    model = DeepEnsembleRegressor(recipe="paper", n_members=2, max_epochs="auto")
    model.fit(X, X[:, 0], groups=np.arange(12) % 3)
    assert model.epochs_.reason.startswith("3 groups in 12 rows are too few to hold some out")


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        [f"patient {i}" for i in PATIENT],
        pd.Series(pd.Timestamp("2024-01-01") + pd.to_timedelta(31 * PATIENT, "D")).dt.to_period(
            "M"
        ),
        pd.Categorical(PATIENT),
    ],
)
def test_groups_of_any_kind_are_the_same_groups(visits, names):
    X, y = visits
    how = {"n_members": 2, "max_epochs": 2, "dropout": 0.0, "smooth": True, "random_state": 0}
    one, other = (DeepEnsembleRegressor(**how).fit(X, y, groups=g) for g in (PATIENT, names))
    assert noise(one, X) == noise(other, X)


@pytest.mark.slow
def test_a_row_without_a_group_is_one_of_its_own_and_weight_zero_leaves_groups_out(visits):
    X, y = visits
    how = {"n_members": 2, "max_epochs": 2, "dropout": 0.0, "smooth": True, "random_state": 0}
    missing, own = PATIENT.astype(float), PATIENT.copy()
    missing[:3], own[:3] = np.nan, [100, 101, 102]
    one, other = (DeepEnsembleRegressor(**how).fit(X, y, groups=g) for g in (missing, own))
    assert noise(one, X) == noise(other, X)
    weight = (PATIENT > 3).astype(float)
    weighted = DeepEnsembleRegressor(**how).fit(X, y, weight, groups=PATIENT)
    part = DeepEnsembleRegressor(**how).fit(X[24:], y[24:], groups=PATIENT[24:])
    assert noise(weighted, X) == pytest.approx(noise(part, X))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (PATIENT[:5], r"`groups` must have one entry for each of the 120 rows, got shape \(5,\)"),
        (np.ones((120, 2)), r"got shape \(120, 2\). Pass a column such as"),
        (["a"] * 120, "at least two different values, got .*'a'.* for all rows.*Pass a column"),
    ],
)
def test_groups_that_make_no_sense_are_refused(visits, groups, message):
    with pytest.raises(ValueError, match=message):
        quick().fit(*visits, groups=groups)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_can_be_asked_to_take_groups(name):
    with sklearn.config_context(enable_metadata_routing=True):
        asked = ESTIMATORS[name]().set_fit_request(groups=True)
        assert asked.get_metadata_routing().fit.requests["groups"] is True


@pytest.mark.slow
def test_scikit_learn_routes_groups_to_the_fit(visits):
    class Told(DeepEnsembleRegressor):
        def fit(self, X, y, sample_weight=None, groups=None):
            told.append(len(set(groups)))
            return super().fit(X, y, sample_weight, groups)

    told = []
    X, y = visits
    how = {"recipe": "paper", "n_members": 2, "max_epochs": 2}
    with sklearn.config_context(enable_metadata_routing=True):
        model = Told(**how).set_fit_request(groups=True)
        cross_val_score(model, X, y, cv=GroupKFold(4), params={"groups": PATIENT})
    assert told == [15] * 4
