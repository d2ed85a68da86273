"""Would these intervals cover on data like mine? The check on a simulated twin."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from confide.checks import checked_level, require_whole
from confide.coverage.adapters import adapted
from confide.coverage.result import Coverage, CoverageCheck
from confide.coverage.simulations import Answers, Table, simulated_answers, work
from confide.encoding import EncodedTable, Encoder
from confide.errors import NoSuchIntervalError
from confide.estimators import DeepEnsembleRegressor, IntervalRegressor, checked_training_data
from confide.metrics import covered, pointwise_mean_width
from confide.progress import progress_bar
from confide.randomness import key_from

if TYPE_CHECKING:
    from confide.engines import Engine
    from confide.simulate import Truth


def coverage_check(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    n_simulations: int = 20,
    confidence_levels: float | Sequence[float] = (0.8, 0.95),
    truth: "str | Truth" = "random_forest",
    test_size: float = 0.2,
    random_state: int | np.random.RandomState | None = None,
    verbose: bool = False,
    engine: "str | Engine | None" = None,
) -> CoverageCheck:
    """How often an estimator's intervals cover on simulated data like yours.

    Nobody sees the true function behind real data, so no confidence interval can be checked on
    them. This builds a twin: a model fitted to your data is taken as the truth, new targets are
    drawn from it again and again, the estimator is fitted to each, and its intervals are compared
    with the truth, row by row (Section 4 of the paper). The whole procedure is judged, calibration
    of the confidence intervals included; how to train is chosen once, on the first data set.

    Args:
        estimator: one of confide's, or any with `fit` and `predict_interval(X, confidence_level,
            kind)`; a list of some, or a dictionary from names to estimators. Regressors of skpro
            and MAPIE are taken as they are.
        X: your table, as for `fit`. A column of text or dates appears in the result as the numbers
            that it is encoded by.
        y: your targets.
        n_simulations: data sets to simulate; with 20 a mean coverage is known to about 2 points;
            the paper has 100.
        confidence_levels: levels to check.
        truth: what to fit to your data and simulate from: "random_forest" (Algorithm 3 of the
            paper), "network" (its Algorithm 4) or "gradient_boosting"; or a truth of your own.
        test_size: share of the rows at which coverage is measured; the estimator is fitted to the
            others.
        random_state: seed of the split and of all simulations.
        verbose: show progress.
        engine: where to fit: "joblib", "ray" or an engine of `confide.engines`; None for that of
            the estimator, which is this process by default. Results do not depend on it.

    Returns:
        The coverage of each estimator, kind and level: print it, or see `verdict`, `to_frame()` and
        `plot()`.
    """
    # Here, because importing scikit-learn's trees and splits takes a while.
    from sklearn.model_selection import train_test_split

    from confide.simulate import TWINS, Truth

    estimators = _named(estimator)
    levels = [checked_level(level) for level in np.atleast_1d(confidence_levels).tolist()]
    if not levels:
        raise ValueError(
            "`confidence_levels` must contain at least one level, got none. Pass [0.8]."
        )
    require_whole(
        "n_simulations", n_simulations, "Pass 20 for a first look, 100 for the paper's precision."
    )
    if not isinstance(truth, (str, Truth)):
        raise TypeError(
            f"`truth` must be one of {tuple(TWINS)} or a confide.simulate.Truth, got {truth!r}."
        )
    # Any estimator of ours checks a table, with advice, and encodes it; a twin needs both too.
    checked = DeepEnsembleRegressor()
    table, observed, *_ = checked_training_data(checked, X, y)
    generator = check_random_state(random_state)
    X_train, X_test = train_test_split(table, test_size=test_size, random_state=generator)
    twin = truth if isinstance(truth, Truth) else TWINS[truth](table, observed)
    of_draws, of_fits = generator.randint(np.iinfo(np.int32).max, size=(2, n_simulations)).tolist()
    targets = np.array([twin.draw(key_from(seed), X_train) for seed in of_draws])
    coverages: list[Coverage] = []
    for name, named in estimators.items():
        title = f"{name}, {n_simulations} simulations"
        total = work(named, n_simulations, table.shape[1])
        with progress_bar(title, total, shown=verbose) as progress:
            how: dict[str, Any] = {"progress": progress, "engine": engine}
            seen = _as_in_fit(named, checked.encoder_, X_train, X_test)
            answers = simulated_answers(named, seen[0], targets, seen[1], levels, of_fits, **how)
        if not answers.intervals:
            raise NoSuchIntervalError(
                f"{name} has intervals at none of the levels {levels}. Pass `confidence_levels` "
                "that it has."
            )
        coverages += coverages_of(name, answers, twin, X_test)
    encoder = checked.encoder_
    numbered = tuple(f"x{i}" for i in range(table.shape[1]))
    return CoverageCheck(
        coverages=tuple(coverages),
        X_test=X_test,
        feature_names=numbered if encoder is None else encoder.feature_names,
        n_train=len(X_train),
        truth=type(twin).__name__,
        dates={} if encoder is None else encoder.days,
        waves=() if encoder is None else encoder.waves,
    )


def coverages_of(name: str, answers: Answers, truth: "Truth", X_test: Table) -> list[Coverage]:
    """How often an estimator's intervals cover.

    Args:
        name: the estimator's.
        answers: its intervals in each simulation.
        truth: what the data were simulated from.
        X_test: the rows of the intervals.

    Returns:
        One coverage for each kind and level.
    """
    true_mean = truth.mean(X_test)
    coverages = []
    for (kind, level), intervals in answers.intervals.items():
        width, own = pointwise_mean_width(intervals), None
        if kind == "confidence":
            held = covered(true_mean, intervals)
            with np.errstate(invalid="ignore"):  # infinite bounds have no centre
                own = covered(intervals.mean(axis=(0, 2)), intervals)
        else:
            held = truth.interval_probability(X_test, intervals[..., 0], intervals[..., 1])
        coverages.append(Coverage(name, kind, level, held, width, own))
    return coverages


def _as_in_fit(estimator: Any, encoder: Encoder | None, *parts: Table) -> list[Any]:
    """The rows as an estimator has them in `fit`: ours know which numbers are categories."""
    if encoder is None or not isinstance(estimator, IntervalRegressor):
        return list(parts)
    return [EncodedTable.of_numbers(encoder, part) for part in parts]


def _named(estimator: Any) -> dict[str, Any]:
    if not isinstance(estimator, Mapping):
        several = estimator if isinstance(estimator, (list, tuple)) else [estimator]
        names = [type(one).__name__ for one in several]
        if len(set(names)) < len(names):
            raise ValueError(
                f"Two estimators have the same name: {names}. Pass a dictionary from names of your "
                "choice to estimators."
            )
        estimator = dict(zip(names, several, strict=True))
    if not estimator:
        raise ValueError("Pass at least one estimator, got none.")
    return {str(name): adapted(one) for name, one in estimator.items()}
