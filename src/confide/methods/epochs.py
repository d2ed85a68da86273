"""How long to train, chosen on held-out rows: `max_epochs="auto"`.

Part of the rows is held out, the ensemble is trained on the others in stretches, and after each
stretch the held-out rows are scored by the ensemble's negative log-likelihood: it falls while the
mean is being learnt, and rises again once the predicted variance fits the noise of the training
rows. Measured against the paper's 80 epochs in `results/epochs.md`.
"""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Float32, Float64, Int, PRNGKeyArray

from confide.bootstrap import Keys
from confide.fingerprints import Groups
from confide.fingerprints import groups as groups_of
from confide.learners import Learner, Plan, TrainingData, TrainingDivergedError, slices
from confide.methods.members import EnsembleSettings
from confide.methods.predictor import ROWS_PER_BLOCK
from confide.persistence import Arrays, checked_fields
from confide.progress import Progress
from confide.randomness import generator_from, split_on_host
from confide.standardise import Standardiser

FALLBACK = 80  # the paper's (Section 4.2)
# Two steps to each doubling, through the paper's 80.
CANDIDATES = (2, 3, 5, 7, 10, 14, 20, 28, 40, 57, 80, 113, 160, 226, 320, 453, 640)
# So many candidates without a better score end the search: at twice the epochs of the best one.
PATIENCE = 2
# Steps before which nothing is given up: of a short table, the first epochs are a step or two each.
FEWEST_STEPS = 200
# The most of the log-likelihood, in nats a row, that is given up for longer training. It bounds the
# standard error, which a few rows that are far off can make as large as the damage they show.
TOLERANCE = 0.05
# Steps of a member: on a long table a few epochs are many steps, and 640 of them would take hours.
MOST_STEPS = 400_000
HELD_OUT_SHARE = 0.2
# Of a short table every row is held out once, in one of five folds; a thousand rows are enough.
MOST_FOLDS, ROWS_TO_SCORE = 5, 1000
FEWEST_ROWS = 20


@dataclass(frozen=True)
class EpochChoice:
    """The number of epochs that was chosen, and why.

    Attributes:
        epochs: the number.
        candidates: the numbers that were tried, or none where there were too few rows to hold out.
        scores: for each, the held-out rows' mean negative log-likelihood, of the standardised
            target; smaller is better.
        standard_errors: for each, that of its score's distance from the best one.
        n_held_out: how many rows were scored.
        reason: why this number, as a sentence.
    """

    epochs: int
    candidates: tuple[int, ...]
    scores: tuple[float, ...]
    standard_errors: tuple[float, ...]
    n_held_out: int
    reason: str

    def to_file(self) -> tuple[dict[str, Any], Arrays]:
        """What a model file keeps."""
        return dataclasses.asdict(self), {}

    @classmethod
    def from_file(cls, payload: Any, arrays: Arrays) -> "EpochChoice":
        """From a model file, checked."""
        choice = cls(**checked_fields(cls, payload))
        lengths = {len(choice.candidates), len(choice.scores), len(choice.standard_errors)}
        if arrays or len(lengths) != 1:
            raise ValueError("scores and candidates do not fit together")
        return choice


class Fold(NamedTuple):
    """Rows to train on, and rows held out.

    The held-out rows come last in `data`, beyond the `n_rows` that are trained on: the table has
    the shape of the whole one, so the program that trains the final fit serves the search too.
    """

    data: TrainingData
    targets: Float32[np.ndarray, "member row"]
    X_held_out: Float32[np.ndarray, "held_out feature"]
    y_held_out: Float64[np.ndarray, " held_out"]
    weight: Float64[np.ndarray, " held_out"]


def refuse_auto_epochs_without_law(estimator: str, method: Any) -> None:
    """Refuses methods that have no law to score held-out rows by."""
    if not hasattr(method, "validation_law"):
        raise ValueError(
            f"`max_epochs` of {estimator} must be a number, got 'auto', which needs networks that "
            "predict a mean and a variance. Pass 240, as in the paper."
        )


def _refuse_learner(learner: Learner[Any]) -> None:
    """Refuses a learner that predicts no noise, or must know from the start how long it trains."""
    if not learner.likelihood.has_variance:
        raise ValueError(
            "`max_epochs='auto'` needs a network that predicts a mean and a log standard "
            "deviation, and yours predicts a mean alone. Give it a second output, or pass a number "
            "of epochs."
        )
    if learner.needs_total:
        raise ValueError(
            "`max_epochs='auto'` finds the number of epochs while it trains, and a scheduler in "
            "`learning_rate` must know it from the start. Pass a number of epochs, or a number as "
            "`learning_rate`."
        )


def choose_epochs(
    key: PRNGKeyArray,
    X: Float[np.ndarray, "row feature"],
    y: Float64[np.ndarray, " row"],
    method: Any,
    settings: EnsembleSettings,
    learner: Learner[Any],
    *,
    sample_weight: Float64[np.ndarray, " row"] | None = None,
    groups: Groups | None = None,
    progress: Progress | None = None,
) -> EpochChoice:
    """The number of epochs for a fit with this key, data and settings.

    Of the candidates that score as well as the best, the largest: the final fit has more rows to
    learn from, and longer training mostly betters the mean where the likelihood cannot tell.

    Args:
        key: of the fit.
        X: the inputs.
        y: the targets.
        method: whose law of held-out rows is scored.
        settings: of the method.
        learner: what is trained.
        sample_weight: of the rows.
        groups: number of each row's group: rows of a group are held out together.
        progress: called with the number of member-epochs just finished.

    Returns:
        The number, with the scores that led to it.
    """
    _refuse_learner(learner)
    of_rows = groups_of(X, y, groups)
    n_groups = int(of_rows.max()) + 1
    if n_groups < (FEWEST_ROWS if groups is None else 2) or len(y) < FEWEST_ROWS:
        what = "different rows" if groups is None else f"groups in {len(y)} rows"
        reason = (
            f"{n_groups} {what} are too few to hold some out: these are the paper's "
            f"{FALLBACK} epochs."
        )
        return EpochChoice(FALLBACK, (), (), (), 0, reason)
    # The fit itself takes the first four: its numbers are those of a fit with that `max_epochs`.
    *_, of_folds, of_training = split_on_host(key, 6)
    folds = _folds(generator_from(of_folds), X, y, of_rows, settings.n_members, sample_weight)
    candidates = candidates_for(settings, learner, folds[0].data.n_rows)
    weight = np.concatenate([fold.weight for fold in folds])
    steps_per_epoch = learner.steps_per_epoch(folds[0].data.n_rows)
    losses: list[np.ndarray] = []
    for loss in _losses(of_training, folds, candidates, method, settings, learner, progress):
        losses.append(loss)
        means = np.average(losses, axis=1, weights=weight)
        in_vain = len(means) - 1 - np.argmin(means)
        n_steps = candidates[len(means) - 1] * steps_per_epoch
        if in_vain >= PATIENCE and n_steps >= FEWEST_STEPS:
            break
    if progress is not None:  # a search that ends early has done all that there was to do
        left = candidates[-1] - candidates[len(losses) - 1]
        progress(settings.n_members * len(folds) * left)
    chosen, errors = longest_as_good(np.array(losses), weight)
    best = int(np.argmin(means))
    return EpochChoice(
        epochs=candidates[chosen],
        candidates=tuple(candidates[: len(means)]),
        scores=tuple(means.tolist()),
        standard_errors=tuple(errors.tolist()),
        n_held_out=len(weight),
        reason=(
            f"{candidates[best]} epochs had the best likelihood on {len(weight)} held-out rows, "
            f"and {candidates[chosen]} is the largest number that was as good."
        ),
    )


def search_epochs(settings: EnsembleSettings, learner: Learner[Any], n_rows: int) -> int:
    """How many epochs of one member the search takes at most: the scale of its progress."""
    if n_rows < FEWEST_ROWS:
        return 0
    most = candidates_for(settings, learner, n_rows - int(HELD_OUT_SHARE * n_rows))[-1]
    return settings.n_members * n_folds(n_rows) * most


def candidates_for(settings: EnsembleSettings, learner: Learner[Any], n_rows: int) -> list[int]:
    """The candidates that the settings allow, and that a table of so many rows has time for."""
    steps_per_epoch = learner.steps_per_epoch(n_rows)
    allowed = [epochs for epochs in CANDIDATES if _allowed(settings, epochs)]
    return [e for e in allowed if e * steps_per_epoch <= MOST_STEPS] or allowed[:1]


def epochs_within(settings: EnsembleSettings, epochs: int) -> int:
    """So many epochs, or the next number that the settings allow."""
    return next(enough for enough in count(max(1, epochs)) if _allowed(settings, enough))


def n_folds(n_rows: int) -> int:
    """How many folds are held out in turn, one where one has rows enough.

    Example:
        >>> [n_folds(n) for n in (20, 1000, 2000, 5000, 10**6)]
        [5, 5, 3, 1, 1]
    """
    return max(1, min(MOST_FOLDS, -(-ROWS_TO_SCORE // int(HELD_OUT_SHARE * n_rows))))


def longest_as_good(
    losses: Float64[np.ndarray, "candidate row"], weight: Float64[np.ndarray, " row"]
) -> tuple[int, Float64[np.ndarray, " candidate"]]:
    """The last candidate that is as good as the best, and all standard errors.

    As good is within the tolerance and within a standard error, that of the rows' (weighted) mean
    difference from the best candidate.

    Example:
        >>> losses = np.array([[3.0, 3.0], [1.0, 1.0], [0.96, 1.06], [2.0, 2.1]])
        >>> longest_as_good(losses, np.ones(2))[0]
        2
    """
    share = weight / weight.sum()
    means = losses @ share
    best = int(np.argmin(means))
    difference = losses - losses[best]
    distance = means - means[best]
    errors = np.sqrt((difference - distance[:, None]) ** 2 @ share**2)
    return int(np.flatnonzero(distance <= np.minimum(errors, TOLERANCE))[-1]), errors


def _allowed(settings: EnsembleSettings, epochs: int) -> bool:
    """A bootstrap must have an epoch to repeat."""
    try:
        dataclasses.replace(settings, max_epochs=epochs)
    except ValueError:
        return False
    return True


def _folds(
    generator: np.random.Generator,
    X: Float[np.ndarray, "row feature"],
    y: Float64[np.ndarray, " row"],
    of_rows: Int[np.ndarray, " row"],
    n_members: int,
    sample_weight: Float64[np.ndarray, " row"] | None,
) -> list[Fold]:
    """Folds of groups of rows: what belongs to a held-out row is not trained on."""
    # Mean and scale of all rows: two numbers a column, which no choice of epochs can profit from.
    (standardiser,) = Standardiser.for_each(X, y[None], sample_weight)
    n_rows, n_groups = len(y), int(of_rows.max()) + 1
    n_left_out = max(1, int(HELD_OUT_SHARE * n_groups))
    order = generator.permutation(n_groups)
    weight = np.ones(n_rows) if sample_weight is None else sample_weight
    folds = []
    for k in range(min(n_folds(n_rows), n_groups)):
        in_turn = np.roll(order, -k * n_left_out)
        place = np.argsort(in_turn)[of_rows]
        rows = np.argsort(place, kind="stable")
        n_held_out = int(np.sum(place >= n_groups - n_left_out))
        held_out = rows[-n_held_out:]
        blocks = (standardiser.inputs(X[rows[block]]) for block in slices(n_rows, ROWS_PER_BLOCK))
        data = TrainingData.from_blocks(blocks, X.shape, weight[rows])
        targets = standardiser.targets(y[rows])
        n_kept = n_rows - n_held_out
        folds.append(
            Fold(
                dataclasses.replace(data, n_rows=n_kept),
                np.broadcast_to(targets[:n_kept], (n_members, n_kept)),
                standardiser.inputs(X[held_out]),
                targets[-n_held_out:].astype(np.float64),
                weight[held_out],
            )
        )
    return folds


def _losses(
    key: PRNGKeyArray,
    folds: list[Fold],
    candidates: list[int],
    method: Any,
    settings: EnsembleSettings,
    learner: Learner[Any],
    progress: Progress | None,
) -> Iterator[Float64[np.ndarray, " held_out"]]:
    """The negative log-likelihood of every held-out row after each candidate's epochs."""
    n_members = settings.n_members
    keys = [Keys.from_key(of_fold, n_members) for of_fold in split_on_host(key, len(folds))]
    states = [learner.init(k.initialisation, f.data) for k, f in zip(keys, folds, strict=True)]
    for before, epochs in zip([0, *candidates], candidates, strict=False):
        plan = Plan(total=epochs, done=before, epochs=epochs - before)
        try:
            states = [
                learner.train(
                    of_fold.training, state, fold.data, fold.targets, plan, progress=progress
                )
                for of_fold, state, fold in zip(keys, states, folds, strict=True)
            ]
        except TrainingDivergedError:
            if before == 0:
                raise
            return  # what is too long is no candidate
        losses = []
        for state, fold in zip(states, folds, strict=True):
            outputs, likelihood = learner.predict(state, fold.X_held_out), learner.likelihood
            law = method.validation_law(likelihood.mean(outputs), likelihood.variance(outputs))
            losses.append(-law.log_density(fold.y_held_out))
        yield np.concatenate(losses)
