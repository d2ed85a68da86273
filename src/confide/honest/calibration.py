"""Confidence intervals calibrated on twins of the data: simulate, fit each, compare, row by row."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Float64, PRNGKeyArray

from confide.arrays import Arrays, checked_array, part
from confide.errors import NoSuchIntervalError, TwinError, nearest
from confide.honest.account import LEVELS, Account, Resemblance
from confide.methods.batches import fit_batches
from confide.methods.settings import require_whole
from confide.prediction import Prediction
from confide.progress import progress_bar
from confide.randomness import generator_from, split_on_host
from confide.simulate import CANDIDATES, Candidate, FittedTwin, Truth, fitted_twins
from confide.simulate.choice import n_steps
from confide.uncertainty import PivotLaw, SimulatedErrors, pooled_scores

Table = Float[np.ndarray, "row feature"]
Row = Float64[np.ndarray, " row"]
PerSimulation = Float64[np.ndarray, "simulation row"]

AUTO = "auto"
# With fewer, a row's factor is known to no better than a quarter of itself.
FEWEST_SIMULATIONS = 10
# Rows at which the shape of the errors is learnt; more of them tell it no better.
MOST_ROWS = 500


@dataclass(frozen=True)
class ConfidenceCalibration:
    """The whole procedure's fits to simulated data, whose truth is known.

    Attributes:
        method: of the fits.
        fits: one for each simulated data set.
        truths: that they were simulated from, in turn: fit i has truth i modulo their number.
        confidence_scores: of the confidence intervals, see `confide.uncertainty.pivots`.
        prediction_scores: of the prediction intervals.
        account: what it tells of itself.
    """

    method: Any
    fits: Sequence[Any]
    truths: Sequence[Truth]
    confidence_scores: Float64[np.ndarray, " score"]
    prediction_scores: Float64[np.ndarray, " score"]
    account: Account

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
        verbose: bool = False,
    ) -> "ConfidenceCalibration":
        """Calibrates a fit with the data that it was fitted to, and nothing else.

        Raises:
            NoSuchIntervalError: the method has no confidence interval.
            TwinError: a twin cannot be fitted, or does not simulate numbers.
        """
        _check_simulations(n_simulations)
        raw = method.predict(fitted, X)
        _standard_error(raw)
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
        settings = fitted.settings
        with progress_bar(
            f"Calibrating on {n_simulations} simulated data sets, as long as that many fits",
            n_simulations * method.member_epochs(settings),
            shown=verbose,
        ) as progress:
            keys = split_on_host(of_fits, n_simulations)
            fits = list(fit_batches(method, keys, X, targets, settings, progress=progress))
        rows = generator_from(of_rows).permutation(len(X))[:MOST_ROWS]
        at_rows = [_At.rows(each, X[rows]) for each in truths]
        known = [at_rows[i % len(truths)] for i in range(n_simulations)]
        asked = _asked(method, fits, known, X[rows])
        generator = generator_from(of_rows, 1)
        noise = np.stack([each.noise.sample(generator, len(rows)) for each in truth_of])
        residuals = targets[:, rows] - asked.means
        account = _account(
            method.predict(fitted, X[rows]),
            asked,
            candidates,
            [
                Resemblance.of(_kind(each), y[rows] - raw.mean[rows], residuals[i :: len(truths)])
                for i, each in enumerate(truths)
            ],
        )
        return cls(
            method,
            fits,
            truths,
            pooled_scores(asked.studentised),
            pooled_scores(asked.studentised_observations(noise)),
            account,
        )

    def calibrated(self, prediction: Prediction, X: Table) -> Prediction:
        """The same prediction with calibrated intervals of both kinds; its mean is as it was."""
        claimed = _standard_error(prediction)
        errors = _Sums.at(self, X).errors()
        return replace(
            prediction,
            confidence_law=PivotLaw(
                prediction.mean, errors.factor * claimed, self.confidence_scores
            ),
            prediction_law=PivotLaw(
                prediction.mean, errors.prediction_factor * prediction.scale, self.prediction_scores
            ),
            simulated=errors,
            uncalibrated=prediction.uncalibrated or prediction,
        )

    def to_file(self) -> tuple[dict[str, Any], Arrays]:
        """Its JSON and its arrays: those of all fits stacked."""
        arrays = {
            "confidence_scores": self.confidence_scores,
            "prediction_scores": self.prediction_scores,
        }
        of_fits = [self.method.to_arrays(fit) for fit in self.fits]
        arrays |= {
            f"fits.{name}": np.stack([each[name] for each in of_fits]) for name in of_fits[0]
        }
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
        return {"truths": said, "account": self.account.to_json()}, arrays

    @classmethod
    def from_file(
        cls, said: Any, arrays: Arrays, method: Any, settings: Any, n_features: int
    ) -> "ConfidenceCalibration":
        """From a model file's parts, checked against the model they belong to."""
        if not isinstance(said, dict) or set(said) != {"truths", "account"} or not said["truths"]:
            raise ValueError("the calibration on twins lacks parts")
        of_fits = part(arrays, "fits")
        n_simulations = {len(array) for array in of_fits.values() if array.ndim}
        if len(n_simulations) != 1 or min(n_simulations) < FEWEST_SIMULATIONS:
            raise ValueError("fits to simulated data are missing")
        fits = [
            method.from_arrays({k: a[i] for k, a in of_fits.items()}, settings, n_features)
            for i in range(n_simulations.pop())
        ]
        truths = [
            FittedTwin.from_file(each, part(arrays, f"truths.{i}"), n_features)
            for i, each in enumerate(said["truths"])
        ]
        return cls(
            method,
            fits,
            truths,
            _checked_scores(arrays, "confidence_scores"),
            _checked_scores(arrays, "prediction_scores"),
            Account.from_json(said["account"]),
        )


@dataclass(frozen=True)
class _Asked:
    """What the simulated fits and their truths say about some rows."""

    means: PerSimulation
    scales: PerSimulation
    total_scales: PerSimulation
    true_means: PerSimulation
    true_stds: PerSimulation

    @property
    def studentised(self) -> PerSimulation:
        """Errors for the true function, in units of the fit's own standard error."""
        return _ratio(self.means - self.true_means, self.scales)

    def studentised_observations(self, noise: PerSimulation) -> PerSimulation:
        """Errors for a new observation, in units of the fit's own standard deviation of it."""
        errors = self.true_means + self.true_stds * noise - self.means
        return _ratio(errors, self.total_scales)


def _asked(method: Any, fits: Sequence[Any], truths: Sequence["_At"], X: Table) -> _Asked:
    """The fits' answers beside those of their truths."""
    answers = [method.predict(fit, X) for fit in fits]
    return _Asked(
        np.stack([each.mean for each in answers]),
        np.stack([_standard_error(each) for each in answers]),
        np.stack([each.scale for each in answers]),
        np.stack([truth.mean for truth in truths]),
        np.stack([truth.std for truth in truths]),
    )


class _At(NamedTuple):
    """A truth at some rows."""

    mean: Row
    std: Row

    @classmethod
    def rows(cls, truth: Truth, X: Table) -> "_At":
        return cls(truth.mean(X), truth.std(X))


@dataclass(frozen=True)
class _Sums:
    """Sums over simulations, so that memory does not grow with their number."""

    n: int
    squares: Row
    fourths: Row
    observation_squares: Row
    errors_: Row
    error_squares: Row
    claimed_squares: Row

    @classmethod
    def of(cls, asked: _Asked) -> "_Sums":
        """Of answers that are all at hand."""
        squares, errors = asked.studentised**2, asked.means - asked.true_means
        observed = _ratio(np.hypot(errors, asked.true_stds), asked.total_scales) ** 2
        return cls(
            len(errors),
            *(
                each.sum(axis=0)
                for each in (squares, squares**2, observed, errors, errors**2, asked.scales**2)
            ),
        )

    @classmethod
    def at(cls, calibration: ConfidenceCalibration, X: Table) -> "_Sums":
        """Of all simulations, one after the other."""
        truths = [_At.rows(truth, X) for truth in calibration.truths]
        each = (
            cls.of(_asked(calibration.method, [fit], [truths[i % len(truths)]], X))
            for i, fit in enumerate(calibration.fits)
        )
        return functools.reduce(cls.plus, each)

    def plus(self, other: "_Sums") -> "_Sums":
        """Both together."""
        both = zip(vars(self).values(), vars(other).values(), strict=True)
        return _Sums(*(a + b for a, b in both))

    def errors(self) -> SimulatedErrors:
        """What they say of each row."""
        n, mean_square = self.n, self.squares / self.n
        variance = np.maximum(self.fourths / n - mean_square**2, 0.0) * n / (n - 1)
        relative = np.sqrt(variance / n)  # of the mean square; of its root, half of that
        bias = self.errors_ / n
        return SimulatedErrors(
            factor=np.sqrt(mean_square),
            factor_error=_ratio(relative, 2 * mean_square),
            prediction_factor=np.sqrt(self.observation_squares / n),
            bias=bias,
            spread=np.sqrt(np.maximum(self.error_squares - n * bias**2, 0.0) / (n - 1)),
            claimed=np.sqrt(self.claimed_squares / n),
            n_simulations=n,
        )


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


def _account(
    raw: Prediction,
    asked: _Asked,
    candidates: Sequence[Candidate],
    resemblances: Sequence[Resemblance],
) -> Account:
    errors = _Sums.of(asked).errors()
    scores = pooled_scores(asked.studentised)
    law = PivotLaw(raw.mean, errors.factor * _standard_error(raw), scores)
    widening = {}
    for level in LEVELS:
        ratio = _ratio(law.half_width(level), raw.law("confidence").half_width(level))
        low, middle, high = np.quantile(ratio, [0.05, 0.5, 0.95]).tolist()
        widening[level] = (low, middle, high)
    return Account(
        tuple(candidates),
        tuple(resemblances),
        len(raw),
        widening,
        float(np.median(errors.factor_error)),
        float(errors.is_biased.mean()),
    )


def _standard_error(prediction: Prediction) -> Row:
    """What the method claims, if it has a confidence interval."""
    if prediction.confidence_law is None or prediction.epistemic_variance is None:
        raise NoSuchIntervalError(prediction.without_confidence)
    return np.sqrt(prediction.epistemic_variance)


def _kind(truth: Truth) -> str:
    return truth.kind if isinstance(truth, FittedTwin) else type(truth).__name__


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Their quotient; where the second is zero, infinite, or zero if the first is too."""
    out = np.where(a == 0, 0.0, np.copysign(math.inf, a))
    np.divide(a, b, out=out, where=b > 0)
    return out
