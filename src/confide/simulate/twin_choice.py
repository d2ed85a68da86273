"""Which function a twin has: of several kinds, those that predict held-out rows about as well."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.model_selection import GroupKFold

from confide.errors import TwinError
from confide.fingerprints import groups
from confide.named import Named
from confide.progress import Progress
from confide.simulate.fitted_twin import FittedTwin, Function, standardised_inputs
from confide.simulate.noise import NoiseLaw, Residuals
from confide.simulate.smooth import smooth
from confide.standardise import Standardiser
from confide.trees import Row, Table, Trees, variance_of_residuals

Fit: TypeAlias = Callable[[Table, Row], Function]
# What is tuned on all rows is then fitted to any part of them; the number is a seed.
Tune: TypeAlias = Callable[[Table, Row, int], Fit]
# Trees of a forest, and steps of boosting.
N_TREES, N_STEPS = 50, 100
# Trees of long or wide tables would take longer than all else: so many rows and columns are enough.
MOST_ROWS, MOST_COLUMNS = 5_000, 64
N_FOLDS = 4
TINY = np.finfo(np.float64).tiny
# The fewest different rows that folds, and a forest of their squared residuals, make sense for.
FEWEST_ROWS = 20


def forest(X: Table, _: Row, seed: int) -> Fit:
    """A mean of deep trees, each on half of the features at a split."""
    unfitted = RandomForestRegressor(
        N_TREES, min_samples_leaf=3, max_features=_at_a_split(X, 0.5), random_state=seed
    )

    def fit(X: Table, y: Row) -> Trees:
        return Trees.from_sklearn(clone(unfitted).fit(*_some(X, y)).estimators_, weight=1 / N_TREES)

    return fit


def boosting(X: Table, _: Row, seed: int) -> Fit:
    """A sum of small trees, each on half of the rows.

    Args:
        X: the rows that it will be fitted to; their number of columns matters.
        _: their targets, which some kinds of twins need; this one does not.
        seed: of all chance.

    Returns:
        A function that fits such trees to inputs and targets.
    """
    unfitted = GradientBoostingRegressor(
        n_estimators=N_STEPS,
        max_depth=3,
        subsample=0.5,
        max_features=_at_a_split(X, 1.0),
        random_state=seed,
    )

    def fit(X: Table, y: Row) -> Trees:
        fitted = clone(unfitted).fit(*_some(X, y))
        return Trees.from_sklearn(
            list(fitted.estimators_[:, 0]),
            weight=fitted.learning_rate,
            constant=float(fitted.init_.constant_[0, 0]),
        )

    return fit


def _at_a_split(X: Table, share: float) -> float | int:
    """How many features a tree looks at for a split."""
    n_features = X.shape[1]
    share = share if n_features > 2 else 1.0
    return MOST_COLUMNS if share * n_features > MOST_COLUMNS else share


def _some(X: Table, y: Row) -> tuple[np.ndarray, np.ndarray]:
    """As many rows as trees are fitted to, evenly spread over the table."""
    step = -(-len(y) // MOST_ROWS)
    return X[::step], y[::step]


CANDIDATES: Named[Tune] = Named("twin", {"forest": forest, "boosting": boosting, "smooth": smooth})


@dataclass(frozen=True)
class Candidate:
    """How well one kind of function predicts rows that it was not fitted to.

    Attributes:
        kind: its name.
        rmse: root mean squared error on held-out rows, each row held out once.
        behind: how far its mean squared error lies behind the least one, in standard errors of
            that difference; zero for the best.
        kept: whether it is a twin: at most one standard error behind.
    """

    kind: str
    rmse: float
    behind: float
    kept: bool


def n_steps(kinds: Sequence[str]) -> int:
    """How many steps `fitted_twins` reports in all."""
    return len(kinds) * (1 + N_FOLDS)


def fitted_twins(
    X: Table,
    y: Row,
    seed: int,
    kinds: Sequence[str] = tuple(CANDIDATES),
    *,
    progress: Progress | None = None,
) -> tuple[list[FittedTwin], list[Candidate]]:
    """Twins of a data set, chosen by cross-validation, the best first; and how all did.

    Rough and smooth candidates are fitted to three quarters of the rows in turn. Those whose
    squared errors on the others are at most one standard error above the least are kept, and fitted
    to all rows. The noise of each is that of its held-out residuals, net of what the
    candidate itself is off: the same folds of data simulated from it tell how much that is.

    Args:
        X: the rows.
        y: the target of each row.
        seed: of the folds and of the candidates.
        kinds: the candidates, by their names in `CANDIDATES`.
        progress: called after each of `n_steps(kinds)` steps.

    Returns:
        The twins that were kept, and how well every candidate predicted.

    Raises:
        TwinError: the data are too few, or no candidate can be fitted to them.
    """
    (units,) = Standardiser.for_each(X, y[None])
    Z, t = standardised_inputs(units, X), (y - units.y_mean) / units.y_scale
    copies = groups(Z, t)  # rows far from zero are told apart as well
    if (n_different := int(copies.max()) + 1) < FEWEST_ROWS:
        raise TwinError(
            f"A twin needs at least {FEWEST_ROWS} different rows, got {n_different}. Use more "
            "rows, or pass a `twin` of your own."
        )
    # One after the other: trees are so small here that threads would wait for each other.
    folds = list(GroupKFold(N_FOLDS, shuffle=True, random_state=seed).split(Z, t, copies))
    advance = progress or (lambda _: None)
    fits: dict[str, Fit] = {}
    residuals: dict[str, Row] = {}
    for kind in kinds:
        with _blaming(kind):
            fits[kind] = CANDIDATES[kind](Z, t, seed)
            advance(1)
            residuals[kind] = _left_out(fits[kind], Z, t, t, folds, advance)
    candidates = judged({kind: units.y_scale * residuals[kind] for kind in kinds})
    twins = []
    for kind in (candidate.kind for candidate in candidates if candidate.kept):
        with _blaming(kind):
            function = fits[kind](Z, t)
            variance, noise = _noise(Z, residuals[kind], seed)
            mean, std = function(Z), np.sqrt(np.maximum(variance(Z), 0.0))
            simulated = mean + std * noise.sample(np.random.default_rng(seed), len(t))
            off = _left_out(fits[kind], Z, simulated, mean, folds)
        # Were the noise smaller, the candidate would be off by as much less.
        net = 1 / (1 + np.mean(off**2) / max(np.mean(std**2), TINY))
        twins.append(FittedTwin(kind, units, function, variance.scaled(net), noise=noise))
    return twins, candidates


def _left_out(
    fit: Fit,
    Z: Table,
    t: Row,
    wanted: Row,
    folds: Sequence[tuple[np.ndarray, np.ndarray]],
    advance: Progress = lambda _: None,
) -> Row:
    """What is wanted at each row, less what a fit to the other folds' targets predicts there."""
    residuals = np.empty(len(t))
    for train, test in folds:
        residuals[test] = wanted[test] - fit(Z[train], t[train])(Z[test])
        advance(1)
    return residuals


def _noise(Z: Table, residuals: Row, seed: int) -> tuple[Trees, NoiseLaw]:
    """Noise like the residuals of rows that a fit had not seen: its variance, and its law."""
    variance, _ = variance_of_residuals(Z, residuals, seed)
    std = np.sqrt(variance(Z))
    standardised = np.divide(residuals, std, out=np.zeros_like(residuals), where=std > 0)
    return variance, Residuals.of(standardised)


def judged(residuals: dict[str, Row]) -> list[Candidate]:
    """Candidates from the best to the worst, by their held-out residuals.

    Example:
        >>> candidates = judged({"far": np.array([2.0, -2, 2]), "near": np.array([1.0, -1, 1])})
        >>> [(candidate.kind, candidate.rmse, candidate.kept) for candidate in candidates]
        [('near', 1.0, True), ('far', 2.0, False)]
    """
    squares = {kind: errors**2 for kind, errors in residuals.items()}
    order = sorted(squares, key=lambda kind: squares[kind].mean())
    best = squares[order[0]]
    candidates = []
    for kind in order:
        behind = _in_standard_errors(squares[kind] - best)
        rmse = float(np.sqrt(squares[kind].mean()))
        candidates.append(Candidate(kind, rmse, behind, kept=behind <= 1))
    return candidates


def _in_standard_errors(differences: Row) -> float:
    mean, spread = differences.mean(), differences.std(ddof=1)
    if mean == 0:
        return 0.0
    # Where all rows differ by as much there is no doubt; a number that files can hold says so.
    return float(mean / max(spread, 1e-9 * mean) * np.sqrt(len(differences)))


@contextmanager
def _blaming(kind: str) -> Iterator[None]:
    """Says which candidate cannot be fitted, and why."""
    try:
        with np.errstate(over="ignore"):  # trees refuse numbers that are too large for them
            yield
    except (ValueError, np.linalg.LinAlgError, OverflowError) as error:
        raise TwinError(
            f"The twin {kind!r} cannot be fitted to these data: {error}. Pass another `twin`."
        ) from error
