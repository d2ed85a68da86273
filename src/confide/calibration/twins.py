"""Confidence intervals calibrated on twins of the data: simulate, fit each, compare, row by row."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Float64, PRNGKeyArray

from confide.calibration.held_out import checked_scores
from confide.calibration.summary import CalibrationSummary, Resemblance
from confide.checks import is_number, require_whole
from confide.errors import NoSuchIntervalError, TwinError, nearest
from confide.methods import fit_batches
from confide.moved import renamed_attribute
from confide.persistence import Arrays, checked_json, part
from confide.prediction import Prediction
from confide.progress import progress_bar
from confide.randomness import generator_from, split_on_host
from confide.simulate import (
    CANDIDATES,
    OLD_KINDS,
    Candidate,
    FittedTwin,
    Truth,
    fitted_twins,
    n_steps,
)
from confide.uncertainty import ContainingLaw, PivotLaw, Row, Scores, Simulated, TwinErrors

Table = Float[np.ndarray, "row feature"]
PerSimulation = Float64[np.ndarray, "simulation row"]

AUTO = "auto"
# With fewer, a row's factor is known to no better than a quarter of itself.
FEWEST_SIMULATIONS = 10
# Rows at which the shape of the errors is learnt; more of them tell it no better.
MOST_ROWS = 500
# Simulated fits x rows that are answered at once: some tens of megabytes.
ANSWERS_PER_BLOCK = 1_000_000
SCORES = ("confidence_scores", "prediction_scores")


@dataclass(frozen=True)
class ConfidenceCalibration:
    """The whole procedure's fits to simulated data, whose truth is known.

    Attributes:
        fits: one for each simulated data set.
        truths: what the data sets were simulated from, in turn: fit i has truth i modulo their
            number.
        shift: share of the bias that the fits show by which the intervals' centres are moved.
        floor: the smallest standard error that a fit may claim; smaller claims count as this.
        confidence_scores: of the confidence intervals, see `confide.uncertainty.pivots`.
        prediction_scores: of the prediction intervals.
        summary: what changed, and how sure that is.
    """

    fits: Sequence[Any]
    truths: Sequence[Truth]
    shift: float
    floor: float
    confidence_scores: Scores
    prediction_scores: Scores
    summary: CalibrationSummary

    account = renamed_attribute("account", "summary")

    @classmethod
    def on_twins(
        cls,
        key: PRNGKeyArray,
        method: Any,
        fitted: Any,
        X: Table,
        y: Row,
        *,
        twin: str | Truth = AUTO,
        n_simulations: int = 20,
        shift: float = 0.0,
        most_rows: int = MOST_ROWS,
        verbose: bool = False,
    ) -> "ConfidenceCalibration":
        """Calibrates a fit with the data that it was fitted to, and nothing else.

        Args:
            key: of all that is random here.
            method: that was fitted.
            fitted: its fit to the data.
            X: the rows of the data.
            y: their targets.
            twin: what to simulate from: "auto", the name of one kind of twin, or a truth.
            n_simulations: data sets to simulate.
            shift: share of the bias by which the intervals' centres are moved.
            most_rows: rows at which the shape of the errors is learnt, at most.
            verbose: show progress.

        Returns:
            The calibration.

        Raises:
            NoSuchIntervalError: the method has no confidence interval.
            TwinError: a twin cannot be fitted, or does not simulate numbers.
        """
        _check(n_simulations, shift)
        _standard_error(method.predict(fitted, X[:1]))  # or it has no confidence interval
        of_twins, of_draws, of_fits, of_rows = split_on_host(key, 4)
        truths, candidates = _truths(of_twins, twin, X, y, verbose=verbose)
        in_turn = [truths[i % len(truths)] for i in range(n_simulations)]
        targets = _simulate(of_draws, in_turn, X)
        fits = _refit(of_fits, method, fitted, X, targets, verbose=verbose)
        rows = generator_from(of_rows).permutation(len(X))[:most_rows]
        own = method.predict(fitted, X[rows])
        floor = _floor(_standard_error(own), y)
        means, simulated = _compare(method, fits, truths, floor, X[rows])
        generator = generator_from(of_rows, 1)
        noise = np.stack([truth.noise.sample(generator, len(rows)) for truth in in_turn])
        calibration = cls(
            fits,
            truths,
            shift,
            floor,
            simulated.confidence_scores(shift),
            simulated.prediction_scores(noise, shift),
            CalibrationSummary.empty(),
        )
        at_rows = calibration._applied(own, simulated.summary(shift))
        resemblances = _resemblances(truths, y[rows] - at_rows.mean, targets[:, rows] - means)
        summary = CalibrationSummary.of(at_rows, candidates, resemblances)
        return replace(calibration, summary=summary)

    def calibrated(
        self,
        method: Any,
        prediction: Prediction,
        X: Table,
        answers_per_block: int = ANSWERS_PER_BLOCK,
    ) -> Prediction:
        """The same prediction with calibrated intervals of both kinds; its mean is as it was.

        Args:
            method: of the fits, which are not kept with it: a module cannot be pickled.
            prediction: of the model that was calibrated.
            X: the predicted rows.
            answers_per_block: simulated fits x rows that are answered at once.

        Returns:
            The calibrated prediction.
        """
        blocks, size = [], max(1, answers_per_block // len(self.fits))
        with np.errstate(over="ignore", invalid="ignore"):  # far rows; bounds are infinite there
            for start in range(0, max(len(X), 1), size):
                rows = X[start : start + size]
                _, simulated = _compare(method, self.fits, self.truths, self.floor, rows)
                blocks.append(simulated.summary(self.shift))
        return self._applied(prediction, _joined(blocks))

    def _applied(self, prediction: Prediction, errors: TwinErrors) -> Prediction:
        centre = prediction.mean - self.shift * np.nan_to_num(errors.bias, posinf=0, neginf=0)

        def scale(factor: Row, claimed: Row) -> Row:
            factor = np.where(np.isnan(factor), np.inf, factor)  # overflow: no bound is honest
            return factor * np.maximum(claimed, self.floor)

        of_mean = scale(errors.factor, _standard_error(prediction))
        of_observation = scale(errors.prediction_factor, prediction.scale)
        confidence = PivotLaw(centre, of_mean, self.confidence_scores)
        observation = PivotLaw(centre, of_observation, self.prediction_scores)
        return replace(
            prediction,
            confidence_law=confidence,
            prediction_law=ContainingLaw(observation, confidence),
            twin_errors=errors,
            uncalibrated=prediction,
        )

    def to_file(self, method: Any) -> tuple[dict[str, Any], Arrays]:
        """Its JSON and its arrays."""
        arrays = {name: getattr(self, name) for name in SCORES}
        stacked = _stacked([method.to_arrays(fit) for fit in self.fits])
        arrays |= {f"fits.{name}": array for name, array in stacked.items()}
        twins = []
        for i, truth in enumerate(self.truths):
            if not isinstance(truth, FittedTwin):
                raise TwinError(
                    f"A model that was calibrated on a truth of your own, {_kind(truth)}, cannot "
                    "be saved: the file would have to contain its code. Calibrate with "
                    "twin='auto', or set `confidence_calibration_` to None before you save."
                )
            payload, twin_arrays = truth.to_file()
            twins.append(payload)
            arrays |= {f"truths.{i}.{name}": array for name, array in twin_arrays.items()}
        numbers = {"shift": float(self.shift), "floor": self.floor}
        return {"truths": twins, "summary": self.summary.to_json(), **numbers}, arrays

    @classmethod
    def from_file(
        cls, payload: Any, arrays: Arrays, method: Any, fitted: Any, n_features: int
    ) -> "ConfidenceCalibration":
        """From a model file's parts, checked against the model they belong to.

        Args:
            payload: the JSON part.
            arrays: the arrays.
            method: of the model.
            fitted: the model's own fit.
            n_features: of the model.

        Returns:
            The calibration.
        """
        if type(payload) is not dict:
            raise ValueError("the calibration on twins is not an object")
        if "account" in payload:  # the summary's old name
            payload = {"summary" if name == "account" else name: payload[name] for name in payload}
        if set(payload) != {"truths", "summary", "shift", "floor"} or not payload["truths"]:
            raise ValueError("the calibration on twins lacks parts")
        shift, floor = (
            float(checked_json(int | float, payload[name], name)) for name in ("shift", "floor")
        )
        if not (0 <= shift <= 1 and 0 < floor < np.inf):
            raise ValueError(f"a shift of {shift} and a floor of {floor}")
        fits = [
            method.from_arrays(fit, fitted.settings, fitted.learner, n_features)
            for fit in _unstacked(part(arrays, "fits"))
        ]
        truths = [
            FittedTwin.from_file(twin, part(arrays, f"truths.{i}"), n_features)
            for i, twin in enumerate(checked_json(tuple[Any, ...], payload["truths"], "truths"))
        ]
        scores = {name: checked_scores(arrays, name) for name in SCORES}
        summary = CalibrationSummary.from_json(payload["summary"])
        return cls(fits, truths, shift, floor, **scores, summary=summary)


def twin_argument(twin: str | Truth, truth: str | Truth | None) -> str | Truth:
    """The argument `twin` of `calibrate_confidence`, also where it has an old name or value."""
    given = twin if truth is None else truth
    current = OLD_KINDS.get(given, given) if isinstance(given, str) else given
    if truth is not None or current is not given:
        changes = " and ".join(f"{old!r} is now {new!r}" for old, new in OLD_KINDS.items())
        warnings.warn(
            f"In `calibrate_confidence` `truth` is now `twin`, {changes}; the old names will be "
            "removed.",
            DeprecationWarning,
            stacklevel=3,
        )
    return current


# The steps of a calibration, in their order.


def _check(n_simulations: int, shift: float) -> None:
    advice = "Pass 20 for a start; with 40 each row's factor is known to about a tenth."
    require_whole("n_simulations", n_simulations, advice)
    if n_simulations < FEWEST_SIMULATIONS:
        raise ValueError(
            f"`n_simulations` must be at least {FEWEST_SIMULATIONS}, got {n_simulations}: fewer "
            f"do not tell how wide a confidence interval should be. {advice}"
        )
    if not (is_number(shift) and 0 <= shift <= 1):
        raise ValueError(
            f"`shift` must lie in [0, 1], got {shift!r}. It is the share of the twins' bias that "
            "is subtracted from the centre; 0 does not move the centre."
        )


def _truths(
    key: PRNGKeyArray, twin: str | Truth, X: Table, y: Row, *, verbose: bool
) -> tuple[Sequence[Truth], Sequence[Candidate]]:
    """Fits twins of that kind to the data, unless it is a truth already."""
    if isinstance(twin, Truth):
        return [twin], []
    if twin != AUTO and twin not in CANDIDATES:
        choices = (AUTO, *CANDIDATES)
        raise ValueError(
            f"`twin` must be one of {choices} or a confide.simulate.Truth, got {twin!r}. "
            f"{nearest(str(twin), choices)}".rstrip()
        )
    kinds = tuple(CANDIDATES) if twin == AUTO else (twin,)
    seed = int(generator_from(key).integers(np.iinfo(np.int32).max))
    with progress_bar("Fitting twins of the data", n_steps(kinds), shown=verbose) as progress:
        return fitted_twins(X, y, seed, kinds, progress=progress)


def _simulate(key: PRNGKeyArray, truths: Sequence[Truth], X: Table) -> PerSimulation:
    """Draws targets from each truth."""
    targets = []
    for truth, own_key in zip(truths, split_on_host(key, len(truths)), strict=True):
        y = np.asarray(truth.draw(own_key, X), np.float64)
        if y.shape != (len(X),) or not np.isfinite(y).all() or np.ptp(y) == 0:
            raise TwinError(
                f"The truth {_kind(truth)} must simulate {len(X)} finite targets that are not "
                "all equal, but does not. Pass another `twin`."
            )
        targets.append(y)
    return np.array(targets)


def _refit(
    key: PRNGKeyArray, method: Any, fitted: Any, X: Table, targets: PerSimulation, *, verbose: bool
) -> list[Any]:
    """Fits the whole procedure to each simulated data set, with the settings of the real fit."""
    n, settings, learner = len(targets), fitted.settings, fitted.learner
    title = f"Calibrating on {n} simulated data sets (as long as {n} fits)"
    total = n * method.member_epochs(settings, learner)
    with progress_bar(title, total, shown=verbose) as progress:
        keys = split_on_host(key, n)
        return list(fit_batches(method, keys, X, targets, settings, learner, progress=progress))


def _compare(
    method: Any, fits: Sequence[Any], truths: Sequence[Truth], floor: float, X: Table
) -> tuple[PerSimulation, Simulated]:
    """What simulated fits predict at some rows, and how far that is from their truths."""
    at_rows = [(truth.mean(X), truth.std(X)) for truth in truths]
    in_turn = [at_rows[i % len(truths)] for i in range(len(fits))]
    predictions = [method.predict(fit, X) for fit in fits]
    means = np.stack([prediction.mean for prediction in predictions])
    return means, Simulated(
        errors=means - np.stack([mean for mean, _ in in_turn]),
        claimed=np.maximum([_standard_error(prediction) for prediction in predictions], floor),
        claimed_total=np.maximum([prediction.scale for prediction in predictions], floor),
        noise=np.stack([std for _, std in in_turn]),
        n_truths=len(truths),
    )


def _resemblances(
    truths: Sequence[Truth], real: Row, simulated: PerSimulation
) -> list[Resemblance]:
    """Holds the model's residuals on each twin against those on the data."""
    return [
        Resemblance.of(_kind(truth), real, simulated[i :: len(truths)])
        for i, truth in enumerate(truths)
    ]


def _standard_error(prediction: Prediction) -> Row:
    """What the method claims, if it has a confidence interval."""
    if prediction.confidence_law is None or prediction.epistemic_variance is None:
        raise NoSuchIntervalError(prediction.without_confidence)
    return np.sqrt(prediction.epistemic_variance)


def _floor(claims: Row, y: Row) -> float:
    """A thousandth of the typical claim, and more than zero."""
    return float(1e-3 * np.median(claims) or 1e-9 * np.std(y))


def _kind(truth: Truth) -> str:
    return truth.kind if isinstance(truth, FittedTwin) else type(truth).__name__


def _joined(blocks: Sequence[TwinErrors]) -> TwinErrors:
    """Consecutive rows in one."""
    names = [field.name for field in fields(TwinErrors) if field.name != "n_simulations"]
    rows = {name: np.concatenate([getattr(block, name) for block in blocks]) for name in names}
    return TwinErrors(**rows, n_simulations=blocks[0].n_simulations)


# Arrays of a model file.


def _stacked(fits: Sequence[Arrays]) -> Arrays:
    """The arrays of all fits: stacked where they have one shape, else under each fit's number."""
    stacked = {}
    for name in {name: None for arrays in fits for name in arrays}:
        arrays = [fit.get(name) for fit in fits]
        if len({None if a is None else a.shape for a in arrays}) == 1:
            stacked[name] = np.stack(arrays)  # type: ignore[arg-type]
        else:
            stacked |= {f"{i}.{name}": a for i, a in enumerate(arrays) if a is not None}
    return stacked


def _unstacked(stacked: Arrays) -> list[Arrays]:
    """The arrays of each fit, from those that `_stacked` made."""
    shared = {name: a for name, a in stacked.items() if not name.partition(".")[0].isdigit()}
    n_fits = {len(array) if array.ndim else 0 for array in shared.values()}
    if len(n_fits) != 1 or min(n_fits) < FEWEST_SIMULATIONS:
        raise ValueError("fits to simulated data are missing")
    return [
        {name: array[i] for name, array in shared.items()} | part(stacked, str(i))
        for i in range(n_fits.pop())
    ]
