"""Confidence intervals calibrated on twins of the data: simulate, fit each, compare, row by row."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Float64, PRNGKeyArray

from confide.calibration.summary import CalibrationSummary, Resemblance
from confide.checks import is_number, require_whole
from confide.errors import NoSuchIntervalError, TwinError, nearest
from confide.methods import fit_batches
from confide.persistence import Arrays, checked_array, part
from confide.prediction import Prediction
from confide.progress import progress_bar
from confide.randomness import generator_from, split_on_host
from confide.simulate import CANDIDATES, Candidate, FittedTwin, Truth, fitted_twins, n_steps
from confide.uncertainty import PivotLaw, Simulated, TwinErrors

Table = Float[np.ndarray, "row feature"]
Row = Float64[np.ndarray, " row"]
PerSimulation = Float64[np.ndarray, "simulation row"]

AUTO = "auto"
# With fewer, a row's factor is known to no better than a quarter of itself.
FEWEST_SIMULATIONS = 10
# Rows at which the shape of the errors is learnt; more of them tell it no better.
MOST_ROWS = 500
# Simulated fits x rows that are answered at once: some tens of megabytes.
ANSWERS_PER_BLOCK = 1_000_000


@dataclass(frozen=True)
class ConfidenceCalibration:
    """The whole procedure's fits to simulated data, whose truth is known.

    Attributes:
        fits: one for each simulated data set.
        truths: that they were simulated from, in turn: fit i has truth i modulo their number.
        shift: share of the bias that they show by which the intervals' centres are moved.
        floor: claims of a standard error below it are no claims, and count as this.
        confidence_scores: of the confidence intervals, see `confide.uncertainty.pivots`.
        prediction_scores: of the prediction intervals.
        summary: what it tells of itself.
    """

    fits: Sequence[Any]
    truths: Sequence[Truth]
    shift: float
    floor: float
    confidence_scores: Float64[np.ndarray, " score"]
    prediction_scores: Float64[np.ndarray, " score"]
    summary: CalibrationSummary

    @classmethod
    def on_twins(
        cls,
        key: PRNGKeyArray,
        method: Any,
        fitted: Any,
        X: Table,
        y: Row,
        *,
        truth: str | Truth = AUTO,
        n_simulations: int = 20,
        shift: float = 0.0,
        verbose: bool = False,
    ) -> "ConfidenceCalibration":
        """Calibrates a fit with the data that it was fitted to, and nothing else.

        Raises:
            NoSuchIntervalError: the method has no confidence interval.
            TwinError: a twin cannot be fitted, or does not simulate numbers.
        """
        _check_simulations(n_simulations)
        if not (is_number(shift) and 0 <= shift <= 1):
            raise ValueError(
                f"`shift` must lie in [0, 1], got {shift!r}. It is the share of the bias shown by "
                "the twins that is taken off the centre; 0 leaves the centre alone."
            )
        _standard_error(method.predict(fitted, X[:1]))  # or it has no confidence interval
        of_twins, of_draws, of_fits, of_rows = split_on_host(key, 4)
        truths, candidates = _truths(of_twins, truth, X, y, verbose=verbose)
        truth_of = [truths[i % len(truths)] for i in range(n_simulations)]
        targets = np.array(
            [
                _drawn(each, own_key, X)
                for each, own_key in zip(
                    truth_of, split_on_host(of_draws, n_simulations), strict=True
                )
            ]
        )
        settings, learner = fitted.settings, fitted.learner
        with progress_bar(
            f"Calibrating on {n_simulations} simulated data sets, as long as that many fits",
            n_simulations * method.member_epochs(settings, learner),
            shown=verbose,
        ) as progress:
            keys = split_on_host(of_fits, n_simulations)
            fits = list(fit_batches(method, keys, X, targets, settings, learner, progress=progress))
        rows = generator_from(of_rows).permutation(len(X))[:MOST_ROWS]
        own = method.predict(fitted, X[rows])
        floor = _floor(_standard_error(own), y)
        means, simulated = _simulated(method, fits, truths, floor, X[rows])
        generator = generator_from(of_rows, 1)
        drawn = np.stack([each.noise.sample(generator, len(rows)) for each in truth_of])
        found = cls(
            fits,
            truths,
            shift,
            floor,
            simulated.confidence_scores(shift),
            simulated.prediction_scores(drawn, shift),
            CalibrationSummary.empty(),
        )
        at_rows = found._applied(own, simulated.summary(shift))
        real, residuals = y[rows] - at_rows.mean, targets[:, rows] - means
        resemblances = [
            Resemblance.of(_kind(each), real, residuals[i :: len(truths)])
            for i, each in enumerate(truths)
        ]
        return replace(found, summary=CalibrationSummary.of(at_rows, candidates, resemblances))

    def calibrated(self, method: Any, prediction: Prediction, X: Table) -> Prediction:
        """The same prediction with calibrated intervals of both kinds; its mean is as it was.

        Args:
            method: of the fits, which are not kept with it: a module cannot be pickled.
            prediction: of the model that was calibrated.
            X: the predicted rows.
        """
        blocks, size = [], max(1, ANSWERS_PER_BLOCK // len(self.fits))
        with np.errstate(over="ignore", invalid="ignore"):  # far rows; bounds are infinite there
            for start in range(0, max(len(X), 1), size):
                rows = X[start : start + size]
                _, simulated = _simulated(method, self.fits, self.truths, self.floor, rows)
                blocks.append(simulated.summary(self.shift))
        return self._applied(prediction, _joined(blocks))

    def _applied(self, prediction: Prediction, errors: TwinErrors) -> Prediction:
        claimed, claimed_total = (
            np.maximum(each, self.floor) for each in (_standard_error(prediction), prediction.scale)
        )
        factors = [
            np.where(np.isnan(each), np.inf, each)  # overflow: no bound is honest
            for each in (errors.factor, errors.prediction_factor)
        ]
        centre = prediction.mean - self.shift * np.nan_to_num(errors.bias, posinf=0, neginf=0)
        return replace(
            prediction,
            confidence_law=PivotLaw(centre, factors[0] * claimed, self.confidence_scores),
            prediction_law=PivotLaw(centre, factors[1] * claimed_total, self.prediction_scores),
            twin_errors=errors,
            uncalibrated=prediction,
        )

    def to_file(self, method: Any) -> tuple[dict[str, Any], Arrays]:
        """Its JSON and its arrays."""
        arrays = {
            "confidence_scores": self.confidence_scores,
            "prediction_scores": self.prediction_scores,
        }
        of_fits = _stacked([method.to_arrays(fit) for fit in self.fits])
        arrays |= {f"fits.{name}": array for name, array in of_fits.items()}
        said = []
        for i, truth in enumerate(self.truths):
            if not isinstance(truth, FittedTwin):
                raise TwinError(
                    f"A model that was calibrated on a truth of your own, {_kind(truth)}, cannot "
                    "be saved: the file would have to hold its code. Calibrate with "
                    "truth='auto', or set `confidence_calibration_` to None before."
                )
            of_truth, its_arrays = truth.to_file()
            said.append(of_truth)
            arrays |= {f"truths.{i}.{name}": array for name, array in its_arrays.items()}
        numbers = {"shift": float(self.shift), "floor": self.floor}
        return {"truths": said, "summary": self.summary.to_json(), **numbers}, arrays

    @classmethod
    def from_file(
        cls, said: Any, arrays: Arrays, method: Any, fitted: Any, n_features: int
    ) -> "ConfidenceCalibration":
        """From a model file's parts, checked against the model they belong to.

        Args:
            said: the JSON part.
            arrays: the arrays.
            method: of the model.
            fitted: the model's own fit.
            n_features: of the model.
        """
        if set(said) != {"truths", "summary", "shift", "floor"} or not said["truths"]:
            raise ValueError("the calibration on twins lacks parts")
        if not (0 <= said["shift"] <= 1 and 0 < said["floor"] < np.inf):
            raise ValueError(f"a shift of {said['shift']} and a floor of {said['floor']}")
        fits = [
            method.from_arrays(each, fitted.settings, fitted.learner, n_features)
            for each in _unstacked(part(arrays, "fits"))
        ]
        truths = [
            FittedTwin.from_file(each, part(arrays, f"truths.{i}"), n_features)
            for i, each in enumerate(said["truths"])
        ]
        return cls(
            fits,
            truths,
            float(said["shift"]),
            float(said["floor"]),
            _checked_scores(arrays, "confidence_scores"),
            _checked_scores(arrays, "prediction_scores"),
            CalibrationSummary.from_json(said["summary"]),
        )


def _stacked(of_fits: Sequence[Arrays]) -> Arrays:
    """The arrays of all fits: stacked where they have one shape, else under each fit's number."""
    found = {}
    for name in {name: None for each in of_fits for name in each}:
        arrays = [each.get(name) for each in of_fits]
        if len({None if a is None else a.shape for a in arrays}) == 1:
            found[name] = np.stack(arrays)  # type: ignore[arg-type]
        else:
            found |= {f"{i}.{name}": a for i, a in enumerate(arrays) if a is not None}
    return found


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


def _simulated(
    method: Any, fits: Sequence[Any], truths: Sequence[Truth], floor: float, X: Table
) -> tuple[PerSimulation, Simulated]:
    """What simulated fits say about some rows: their predictions, and how these err."""
    at_rows = [(truth.mean(X), truth.std(X)) for truth in truths]
    truth, noise = (
        np.stack([at_rows[i % len(truths)][which] for i in range(len(fits))]) for which in (0, 1)
    )
    answers = [method.predict(fit, X) for fit in fits]
    means = np.stack([each.mean for each in answers])
    return means, Simulated(
        errors=means - truth,
        claimed=np.maximum([_standard_error(each) for each in answers], floor),
        claimed_total=np.maximum([each.scale for each in answers], floor),
        noise=noise,
        n_truths=len(truths),
    )


def _floor(claims: Row, y: Row) -> float:
    """A thousandth of what is claimed as a rule, and more than nothing."""
    return float(1e-3 * np.median(claims) or 1e-9 * np.std(y))


def _joined(blocks: Sequence[TwinErrors]) -> TwinErrors:
    """Consecutive rows in one."""
    names = [each.name for each in fields(TwinErrors) if each.name != "n_simulations"]
    rows = {name: np.concatenate([getattr(each, name) for each in blocks]) for name in names}
    return TwinErrors(**rows, n_simulations=blocks[0].n_simulations)


def _check_simulations(n_simulations: int) -> None:
    advice = "Pass 20 for a start; 40 tell each row's factor to about a tenth."
    require_whole("n_simulations", n_simulations, advice)
    if n_simulations < FEWEST_SIMULATIONS:
        raise ValueError(
            f"`n_simulations` must be at least {FEWEST_SIMULATIONS}, got {n_simulations}: fewer "
            f"do not tell how wide a confidence interval should have been. {advice}"
        )


def _truths(
    key: PRNGKeyArray, truth: str | Truth, X: Table, y: Row, *, verbose: bool
) -> tuple[Sequence[Truth], Sequence[Candidate]]:
    if isinstance(truth, Truth):
        return [truth], []
    if truth != AUTO and truth not in CANDIDATES:
        choices = (AUTO, *CANDIDATES)
        raise ValueError(
            f"`truth` must be one of {choices} or a confide.simulate.Truth, got {truth!r}. "
            f"{nearest(str(truth), choices)}".rstrip()
        )
    kinds = tuple(CANDIDATES) if truth == AUTO else (truth,)
    seed = int(generator_from(key).integers(np.iinfo(np.int32).max))
    with progress_bar("Fitting twins of the data", n_steps(kinds), shown=verbose) as progress:
        return fitted_twins(X, y, seed, kinds, progress=progress)


def _drawn(truth: Truth, key: PRNGKeyArray, X: Table) -> Row:
    y = np.asarray(truth.draw(key, X), np.float64)
    if y.shape != (len(X),) or not np.isfinite(y).all() or np.ptp(y) == 0:
        raise TwinError(
            f"The truth {_kind(truth)} must simulate {len(X)} finite targets that differ, and does "
            "not. Pass another `truth`."
        )
    return y


def _checked_scores(arrays: Arrays, name: str) -> Float64[np.ndarray, " score"]:
    size = arrays[name].size if name in arrays else 0
    scores = checked_array(arrays, name, (size,), np.float64)
    if not (size and scores[0] >= 0 and np.all(scores[1:] >= scores[:-1])):
        raise ValueError(f"{name} must be positive and in order")
    return scores.copy()


def _standard_error(prediction: Prediction) -> Row:
    """What the method claims, if it has a confidence interval."""
    if prediction.confidence_law is None or prediction.epistemic_variance is None:
        raise NoSuchIntervalError(prediction.without_confidence)
    return np.sqrt(prediction.epistemic_variance)


def _kind(truth: Truth) -> str:
    return truth.kind if isinstance(truth, FittedTwin) else type(truth).__name__
