"""Which functions a twin may have: those that predict held-out rows about as well as the best."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from sklearn.model_selection import GroupKFold

from confide.errors import TwinError
from confide.fingerprints import groups
from confide.progress import Progress
from confide.simulate.candidates import CANDIDATES, Fit
from confide.simulate.fitted_twin import FittedTwin, standardised_inputs
from confide.standardise import Standardiser
from confide.trees import Row, Table

T = TypeVar("T")
N_FOLDS = 4
# The fewest different rows that folds, and a forest of their squared residuals, make sense for.
FEWEST_ROWS = 20


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
    """How often the progress of choosing among so many kinds is told."""
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
    to all rows. The noise of each is that of its held-out residuals.

    Raises:
        TwinError: the data are too few, or no candidate can be fitted to them.
    """
    (units,) = Standardiser.for_each(X, y[None])
    Z, t = standardised_inputs(units, X), (y - units.y_mean) / units.y_scale
    of_rows = groups(Z, t)  # rows far from zero are told apart as well
    if (n_different := int(of_rows.max()) + 1) < FEWEST_ROWS:
        raise TwinError(
            f"A twin needs at least {FEWEST_ROWS} different rows, got {n_different}. Gather more, "
            "or pass a `truth` of your own."
        )
    # One after the other: trees are so small here that threads would wait for each other.
    folds = list(GroupKFold(N_FOLDS, shuffle=True, random_state=seed).split(Z, t, of_rows))
    advance = progress or (lambda _: None)
    tuned, residuals = {}, {}
    for kind in kinds:
        tuned[kind], residuals[kind] = _tuned(kind, Z, t, seed), np.empty(len(y))
        advance(1)
        for train, test in folds:
            residuals[kind][test] = t[test] - tuned[kind](Z[train], t[train])(Z[test])
            advance(1)
    candidates = judged({kind: units.y_scale * found for kind, found in residuals.items()})
    twins = [
        FittedTwin.from_residuals(kind, units, tuned[kind](Z, t), Z, residuals[kind], seed)
        for kind in (each.kind for each in candidates if each.kept)
    ]
    return twins, candidates


def judged(residuals: dict[str, Row]) -> list[Candidate]:
    """Candidates from the best to the worst, by their held-out residuals.

    Example:
        >>> found = judged({"far": np.array([2.0, -2, 2]), "near": np.array([1.0, -1, 1])})
        >>> [(each.kind, each.rmse, each.kept) for each in found]
        [('near', 1.0, True), ('far', 2.0, False)]
    """
    squares = {kind: of_kind**2 for kind, of_kind in residuals.items()}
    order = sorted(squares, key=lambda kind: squares[kind].mean())
    best = squares[order[0]]
    found = []
    for kind in order:
        behind = _in_standard_errors(squares[kind] - best)
        rmse = float(np.sqrt(squares[kind].mean()))
        found.append(Candidate(kind, rmse, behind, kept=behind <= 1))
    return found


def _in_standard_errors(differences: Row) -> float:
    mean, spread = differences.mean(), differences.std(ddof=1)
    if mean == 0:
        return 0.0
    # Where all rows differ by as much there is no doubt; a number that files can hold says so.
    return float(mean / max(spread, 1e-9 * mean) * np.sqrt(len(differences)))


def _tuned(kind: str, X: Table, y: Row, seed: int) -> Fit:
    """A candidate's fit, which says what is wrong with the data where it fails."""
    tune = CANDIDATES[kind]

    def said(work: Callable[[], T]) -> T:
        try:
            with np.errstate(over="ignore"):  # numbers too large for trees are refused by them
                return work()
        except (ValueError, np.linalg.LinAlgError, OverflowError) as error:
            raise TwinError(
                f"The twin {kind!r} cannot be fitted to these data: {error}. Pass another `truth`."
            ) from error

    fit = said(lambda: tune(X, y, seed))
    return lambda X, y: said(lambda: fit(X, y))
