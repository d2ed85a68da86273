"""From a table to a model: hold rows out, train, judge, calibrate."""

import contextlib
import shlex
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float64

from confide.calibration import smallest_calibration_set
from confide.diagnostics import mean_shares, overfitting_check
from confide.errors import (
    CalibrationWarning,
    NoSuchIntervalError,
    TargetError,
    TwinError,
    enumerated,
)
from confide.estimators import (
    ESTIMATORS,
    NOT_CALIBRATED,
    IntervalRegressor,
    check_transform_and_bounds,
    in_some_row,
    neglected_words,
)
from confide.extras import require
from confide.fingerprints import groups
from confide.moved import warn_renamed
from confide.prediction import Prediction
from confide.simulate import FEWEST_ROWS as FEWEST_FOR_A_TWIN
from confide.workflow.accuracy import TOO_FAR, accuracy_scores, mean_score
from confide.workflow.baseline import boosted_means
from confide.workflow.columns import as_meant
from confide.workflow.describe import described_target
from confide.workflow.long_tables import FurtherKnownRows, as_long
from confide.workflow.notes import Notes, counted_in_file
from confide.workflow.order import groups_in, n_novel_by, order_of, sorted_by
from confide.workflow.suspicions import below_zero, giveaways, names_as_numbers, wild_targets
from confide.workflow.target import known_rows
from confide.workflow.training_table import Split, TrainingTable, split
from confide.workflow.verdict import LEVEL, worthless

if TYPE_CHECKING:
    import pyarrow as pa

    from confide.encoding import LongTable

Row = Float64[np.ndarray, " row"]
# The fewest rows from which a 95 % prediction interval can be calibrated.
FEWEST_TO_CALIBRATE = smallest_calibration_set(0.95)
# With fewer rows to train on, the reader is warned.
FEW_ROWS = 50
# Beyond this share of them, novel rows are not chance.
MANY_NOVEL = 0.03
# Levels that the prediction intervals are judged at.
LEVELS = (0.8, 0.9, 0.95)
BETTER_BOOSTED = "Gradient boosting predicts the held-out rows better, by more than chance. "
TRY_TREES = "Try --learner xgboost or lightgbm{}, which give boosted trees both kinds of intervals."
TRY_ROUNDS = "Try more rounds: --epochs 1000."


@dataclass(frozen=True)
class FittedTable:
    """A model made from a table, with what is to be said of it.

    Attributes:
        model: fitted, calibrated where enough rows could be held out, with its `training_table_`.
        notes: what happened on the way: rows dropped, columns left out.
        warnings: what the reader should worry about.
    """

    model: IntervalRegressor
    notes: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def target(self) -> str | None:
        """The name of what it predicts."""
        return described_target(self.model).target

    @property
    def verdict(self) -> list[str]:
        """Whether the model is any good, in three lines."""
        return described_target(self.model).verdict

    def to_json(self) -> dict[str, Any]:
        """The model's description, as plain values."""
        return described_target(self.model).to_json()


def fit_table(
    table: "pa.Table | LongTable",
    target: str,
    estimator: IntervalRegressor,
    *,
    file: str = "",
    hold_out: float = 0.2,
    hold_out_by: str | None = None,
    group: str | None = None,
    exclude: Sequence[str] = (),
    seed: int = 0,
    ids: Sequence[str] = (),
    calibrate_confidence: bool = False,
    n_simulations: int | None = None,
    honest: bool | None = None,
) -> FittedTable:
    """Fits an estimator to a table as it is.

    A share of the rows is held out. The reported accuracy is that on these rows, which the model
    has not seen, and the prediction intervals are then calibrated on them. Confidence intervals
    are calibrated by the estimator, on simulated twins of the rows that it is fitted to.

    Args:
        table: columns of any kind; rows without a target are left out. One that is larger than
            memory is trained on from disk; rows are held out of its sample.
        target: name of the column to predict.
        estimator: what to fit, in place.
        file: name of the table's file, remembered.
        hold_out: share of the rows to hold out, at most 10,000 of them; 0 for none.
        hold_out_by: name of a column of dates or numbers. The last rows by it are held out, instead
            of random ones, and the fit leaves out blocks of it in turn: for a model that is to
            predict later rows.
        group: name of a column, such as the patient, whose rows are held out and left out together:
            for a model that is to predict other groups. It is not used to predict.
        exclude: names of columns that are not used to predict.
        seed: of the choice of rows.
        ids: columns that name the rows; the model remembers them, but does not learn from them.
        calibrate_confidence: whether to calibrate confidence intervals of an estimator that does
            not do so by itself, see `IntervalRegressor.calibrate_confidence`.
        n_simulations: simulated data sets to calibrate them on; None for the usual number.
        honest: the old name of `calibrate_confidence`.

    Returns:
        The fitted model, with notes and warnings.

    Raises:
        TargetError: the target cannot be predicted.
        TwinError: confidence intervals cannot be calibrated on these rows.
        ValueError: the table cannot be learnt from.
    """
    if honest is not None:
        warn_renamed("`honest` of fit_table", "`calibrate_confidence`")
        calibrate_confidence = honest
    notes = Notes()
    _refuse_two_ways(hold_out_by, group)
    long = as_long(table, hold_out_by, group, calibrate_confidence=calibrate_confidence)
    # How many rows on disk have no target is known, and said, after they were read.
    features, y, rows = known_rows(long.sample, target, Notes() if long.n_further else notes)
    order = None if hold_out_by is None else order_of(features, hold_out_by)
    of_rows = None if group is None else groups_in(features, group)
    unused = {*exclude, *ids, *([] if group is None else [group])}
    used = as_meant(features, exclude=sorted(unused))
    with notes.of_warnings():
        with in_some_row() if long.n_further else counted_in_file(rows):
            check_transform_and_bounds(estimator, y)  # here, because rows have other numbers below
            parts = split(used, y, hold_out=hold_out, seed=seed, order=order, groups=of_rows)
        if len(parts.y_held):
            notes.add(_what_is_held_out(features, parts.aside, hold_out_by, group))
        if calibrate_confidence:
            _refuse_without_twin(parts)
        further = FurtherKnownRows(long, target, sorted(unused))
        model = estimator.fit(further.beside(parts.train), parts.y_train, groups=parts.groups)
    for sentence in (
        names_as_numbers(used, may_group=not (hold_out_by or group or long.n_further)),
        further.left_out(len(y)),
        _what_is_in_memory(len(y), further.n_known),
        _how_many_differ(len(parts.y_held), parts.rows.n_set_aside),
    ):
        notes.add(sentence)
    with notes.of_warnings():
        at_train = model.get_prediction(parts.train)
        at_held = model.get_prediction(parts.held) if len(parts.y_held) else None
        _say_not_calibrated(notes, long.n_further, at_train)
        if calibrate_confidence:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CalibrationWarning)  # the summary has them
                model.calibrate_confidence(parts.train, parts.y_train, n_simulations=n_simulations)
        if len(parts.y_held) >= FEWEST_TO_CALIBRATE:
            model.calibrate(parts.held, parts.y_held)
        else:
            notes.add(_why_not_calibrated(len(parts.y_held)))
    judged: dict[str, float] = {}
    worries = [
        *giveaways(
            parts.train.encoder,
            *(parts.train.matrix, parts.y_train, parts.held.matrix, parts.y_held),
        ),
        *wild_targets(y, rows),
    ]
    if at_held is not None:
        judged = judged_on(at_held, parts.y_held)
        worries += _behind(model, at_held, parts, judged)
        if getattr(model, "bounds", None) is None:
            with contextlib.suppress(NoSuchIntervalError):  # a method of other levels
                worries += below_zero(at_held.prediction_interval(LEVEL)[:, 0], y)
    worries += [
        *_worries(model, at_train, parts.y_train, at_held, parts.y_held),
        *_beyond(at_held, hold_out_by),
        *neglected_words(parts.train.encoder),
    ]
    said = tuple(note for note in notes if note not in worries)
    origin = TrainingTable(target, file, said, tuple(worries), judged, tuple(ids), hold_out_by)
    model.training_table_ = replace(
        parts.rows, origin=asdict(origin), n_trained=parts.rows.n_trained + further.n_known
    )
    description = described_target(model)
    return FittedTable(model, tuple(description.notes), tuple(description.warnings))


def refuse_before_fit(
    table: "pa.Table | LongTable",
    targets: Sequence[str],
    *,
    hold_out_by: str | None = None,
    group: str | None = None,
    library: str | None = None,
) -> None:
    """Refuses at once what a fit would refuse, where that is cheap to see.

    Args:
        table: what is learnt from.
        targets: the columns to predict.
        hold_out_by: as for `fit_table`.
        group: likewise.
        library: of boosted trees, if these are trained.

    Raises:
        TargetError: a target or a column cannot be used so.
        ImportError: the library is not installed.
    """
    sample = table if hasattr(table, "column_names") else table.sample
    _refuse_two_ways(hold_out_by, group)
    for target in targets:
        known_rows(sample, target, Notes())
    if hold_out_by is not None:
        order_of(sample, hold_out_by)
    if group is not None:
        groups_in(sample, group)
    if library is not None:
        require(library, "boosting")


def judged_on(prediction: Prediction, y: Row) -> dict[str, float]:
    """Accuracy, and coverage of the prediction intervals, on rows that were not trained on."""
    rmse, *_ = accuracy_scores(y, prediction.mean)
    numbers = {"rows": len(y), "rmse": rmse.value, "rmse_se": rmse.standard_error}
    numbers["target_sd"] = np.std(y)
    with contextlib.suppress(NoSuchIntervalError):  # a method without variances
        shares = mean_shares(prediction.sources)
        numbers |= {f"{name}_share": share for name, share in shares.items()}
    for level in prediction.prediction_law.levels or LEVELS:
        coverage = prediction.observed_coverage(y, [level])
        numbers[f"coverage_{100 * level:g}"] = coverage.shares[0]
        numbers[f"coverage_{100 * level:g}_se"] = coverage.standard_error[0]
    return {name: float(value) for name, value in numbers.items()}


def _refuse_two_ways(hold_out_by: str | None, group: str | None) -> None:
    if hold_out_by is not None and group is not None:
        raise TargetError(
            "Rows can be held out by time or by group, but `hold_out_by` and `group` were both "
            "given. Pass one of them."
        )


def _how_many_differ(n_different: int, n_set_aside: int) -> str:
    """How many of the rows that were set aside judge the model; nothing if all do."""
    if n_different == n_set_aside:
        return ""
    return (
        f"Of {n_set_aside:,} held-out rows, {n_different:,} are different; the others are copies."
    )


def _what_is_in_memory(n_in_memory: int, n_further: int) -> str:
    """What a long table was used for; nothing of one in memory."""
    if n_further == 0:
        return ""
    return (
        f"The members were trained on all of {n_in_memory + n_further:,} rows but those held out. "
        f"All else was chosen, learnt and judged on {n_in_memory:,} of them, drawn at random."
    )


def _say_not_calibrated(notes: Notes, n_further: int, prediction: Prediction) -> None:
    """Says that the confidence intervals of a long table are not, unless the fit has said so."""
    has_them = prediction.confidence_law is not None
    if n_further and has_them and not any(NOT_CALIBRATED in note for note in notes):
        notes.add(NOT_CALIBRATED)


def _what_is_held_out(
    features: "pa.Table", aside: Bool[np.ndarray, " row"], by: str | None, group: str | None
) -> str:
    """Which rows are held out where they are not drawn, or should perhaps not be; else nothing."""
    n = int(aside.sum())
    if by is not None:
        order = np.where(aside, order_of(features, by), np.inf)
        first = str(features.column(by)[int(np.argmin(order))]).removesuffix(" 00:00:00")
        return f"The last {n:,} rows by {by!r} are held out, from {first} on."
    if group is not None:
        groups = groups_in(features, group)
        n_groups = len(np.unique(groups[aside]))
        if groups.max() + 1 == len(groups):
            return (
                f"Nothing is grouped: each of {len(groups):,} rows has a value of {group!r} of its "
                f"own. {group!r} itself is not used to predict."
            )
        return (
            f"{n_groups:,} of {groups.max() + 1:,} groups of {group!r} are held out whole. "
            f"{group!r} itself is not used to predict."
        )
    if (dates := sorted_by(features)) is None:
        return ""
    return (
        f"The rows are in the order of {dates!r}, and {n:,} of them, drawn at random, are held "
        "out. If the model is to predict later rows, hold out the last ones instead: add "
        f"--hold-out-by {shlex.quote(dates)}"
    )


def _refuse_without_twin(parts: Split) -> None:
    """What is too short for a twin is refused before anything is trained."""
    n_different = int(groups(parts.train.matrix, parts.y_train).max()) + 1
    if n_different < FEWEST_FOR_A_TWIN:
        n_aside = parts.rows.n_set_aside
        fewer = f", hold out fewer than {n_aside} rows" * (n_aside > 0)
        raise TwinError(
            "Calibrating confidence intervals on simulated twins needs at least "
            f"{FEWEST_FOR_A_TWIN} different rows to train on, but there are {n_different}. Use "
            f"more rows{fewer}, or fit without it."
        )


def _why_not_calibrated(n_rows: int) -> str:
    return (
        "Prediction intervals are not calibrated: calibrating them on held-out rows needs "
        f"{FEWEST_TO_CALIBRATE} different rows, but there are {n_rows}."
    )


def _beyond(held: Prediction | None, by: str | None) -> list[str]:
    """A warning where held-out rows are novel by the very column that they are held out by."""
    if by is None or held is None or held.is_novel is None or held.novel_columns is None:
        return []
    novel = [held.novel_columns[row] for row in np.flatnonzero(held.is_novel)]
    if (n := n_novel_by(novel, by)) <= MANY_NOVEL * len(held):
        return []
    sentence = (
        f"{n:,} of {len(held):,} held-out rows are unlike the training data by {by!r} alone, whose "
        "values lie beyond it. The intervals were tested on just such rows. If the target does not "
        f"follow {by!r} itself, leave it out (--exclude {shlex.quote(by)})."
    )
    return [sentence]


def _overfitting(model: IntervalRegressor, *predictions: Any) -> list[str]:
    try:
        check = overfitting_check(*predictions)
    except NoSuchIntervalError:  # nothing held out, and no classical variance
        return []
    if not check.fires:
        return []
    # What the command takes with the options of this model: its network has no recipe.
    has_recipe = "--recipe" in _networks_options(model) and getattr(model, "network", None) is None
    what = "--recipe tabular, fewer" if has_recipe else "Fewer"
    return [check.in_words(f"{what} --epochs or more rows would help.")]


def _behind(
    model: IntervalRegressor, held: Prediction, parts: Split, judged: dict[str, float]
) -> list[str]:
    """What predicts the held-out rows better, if something does; its errors go into `judged`."""
    y = parts.y_held
    squares = {
        "mean": (y - parts.y_train.mean()) ** 2,
        "median": (y - np.median(parts.y_train)) ** 2,
        "boosting": (y - boosted_means(parts.train, parts.y_train, parts.held)) ** 2,
    }
    judged |= {f"{name}_rmse": float(np.sqrt(of.mean())) for name, of in squares.items()}
    own = (y - held.mean) ** 2
    found = worthless(judged) if len(y) > 1 else []
    gain = mean_score("gain", own - squares["boosting"], "")
    if gain.value > TOO_FAR * gain.standard_error:
        if not hasattr(model, "hidden_layer_sizes"):
            return [*found, BETTER_BOOSTED + TRY_ROUNDS]
        given = _networks_options(model)
        without = f" without {enumerated(given)}" if given else ""
        return [*found, BETTER_BOOSTED + TRY_TREES.format(without)]
    return found


def _networks_options(model: IntervalRegressor) -> list[str]:
    """Options of the command that such a model was fitted with, and that trees do not have."""
    given = {
        "--method": not isinstance(model, ESTIMATORS["BootstrappedDeepEnsembleRegressor"]),
        "--recipe": getattr(model, "recipe", "tabular") != "tabular",
        "--network": getattr(model, "network", None) is not None,
    }
    return [option for option, is_given in given.items() if is_given]


def _worries(
    model: IntervalRegressor,
    train: Prediction,
    y_train: Row,
    held: Prediction | None,
    y_held: Row,
) -> list[str]:
    worries = []
    if len(y_train) < FEW_ROWS:
        worries.append(
            f"Only {len(y_train)} rows were trained on: do not expect much of the model."
        )
    can_compare = held is not None and len(held) > 1
    # Noise that was learnt from rows left out is not too small, however well others are fitted.
    if getattr(model.fitted_, "noise", None) is None:
        worries += _overfitting(model, train, *((y_train, held, y_held) if can_compare else ()))
    return worries
