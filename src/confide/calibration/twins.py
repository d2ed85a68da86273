r"""Confidence intervals calibrated on twins of the data: simulate, fit again, compare.

Models smooth a rough function, and a single fit does not show it. So the procedure is asked about
functions that are known:

1. A *pilot* is what the procedure predicts, plus boosted trees that are fitted to its residuals: it
   has what the procedure has smoothed away, as far as the data show it. The procedure is fitted to
   the pilot's own values, without noise: its *echo*. What the echo misses of the pilot, the
   procedure is likely to miss of the true function. A share of this bias is taken off the centre of
   the confidence interval (twicing, J. W. Tukey, Exploratory Data Analysis (1977); Hall and
   Horowitz, Annals of Statistics 41 (2013), discuss why a correction alone is not enough).
2. *Twins* of the data are fitted, and new targets simulated from them. On each simulated data set
   all of this is done again, pilot and echo included, so that the error of the corrected centre
   includes the variance of the correction (Calonico, Cattaneo and Farrell, JASA 113 (2018)).
3. Half-widths are as large as would have been right there: see `confide.uncertainty.pivots`. Where
   a twin shows more bias than the data do, it is rougher, and its errors count for less.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from jaxtyping import Float, Float64, PRNGKeyArray

from confide.calibration.held_out import checked_scores
from confide.calibration.refits import Refit, Rows, mean_fits
from confide.calibration.summary import CalibrationSummary, Resemblance
from confide.checks import is_number, require_whole
from confide.errors import CalibrationWarning, NoSuchIntervalError, TwinError, nearest
from confide.moved import renamed_attribute
from confide.persistence import Arrays, checked_json, part
from confide.prediction import Prediction
from confide.progress import Progress, progress_bar
from confide.randomness import generator_from, split_on_host
from confide.simulate import (
    CANDIDATES,
    OLD_KINDS,
    Candidate,
    FittedTwin,
    Truth,
    boosting,
    fitted_twins,
    n_steps,
    standardised_inputs,
)
from confide.standardise import Standardiser
from confide.trees import Trees
from confide.uncertainty import ContainingLaw, PivotLaw, Row, Scores, TwinErrors

Table = Float[np.ndarray, "row feature"]
PerSimulation = Float64[np.ndarray, "simulation row"]

AUTO = "auto"
# With fewer than ten, the size of the errors is hardly known. A longer table than this has ten:
# each takes long, and errors at many rows tell their size.
N_SIMULATIONS, FEWEST_SIMULATIONS, LONG = 20, 10, 5_000
# Shares of the bias that may be taken off the centres. Without it, errors may be mostly bias, and
# an interval holds the truth at some rows always and at others never; with half of it this was half
# mended on six truths, and with all of it nearly so. But where there is much noise, the correction
# has more of it than there is bias. So all of it is taken unless errors on twins are then so many
# times as large as with half of it. Of 29 truths, this had the coverage nearest to 80 % at the
# width of smaller shares.
SHIFTS, MOST_LARGER = (1.0, 0.5), 1.25
# Share of the twins' estimated biases that may be smaller than the data's by chance.
BY_CHANCE = 0.2
# Share of the rows that simulated fits do not see, and how many these are at least, where they are
# at most a quarter, and at most.
UNSEEN, FEWEST_UNSEEN, MOST_UNSEEN = 0.1, 10, 500
# Rows at which the size of the errors is learnt; more of them tell it no better.
MOST_ROWS = 2_000
# The size of the errors at a row: so much of it by the simulations, the rest in proportion to the
# variance that the method claims, which knows rows far from the data.
BY_SIMULATIONS = 0.6
# Trees of the forest that carries the size of the errors to new rows.
N_TREES = 100
# The smallest error that counts, in standard deviations of the target.
LEAST, TINY = 1e-6, np.finfo(np.float64).tiny


@dataclass(frozen=True)
class Correction:
    """What the procedure makes of a known function like the true one.

    Attributes:
        units: in which the trees were fitted.
        missed: boosted trees, fitted to the procedure's residuals. Its predictions plus these are
            the pilot, the known function.
        echo: the procedure, fitted to the pilot's values.
    """

    units: Standardiser
    missed: Trees
    echo: Any

    def bias(self, echoed: Row, mean: Row, X: Table) -> Row:
        """What the procedure misses of the pilot.

        Args:
            echoed: what the echo predicts for the rows.
            mean: what the procedure predicts for them.
            X: the rows.
        """
        own = self.units
        return echoed - mean - own.y_scale * self.missed(standardised_inputs(own, X))


@dataclass(frozen=True)
class ConfidenceCalibration:
    """How to calibrate the confidence intervals of a fit.

    Attributes:
        correction: for the bias.
        shift: share of the bias that is taken off the centres.
        squares: mean squared error of the centres on twins, as a function of the row, both in the
            correction's units.
        claim: what the method's own variance is multiplied with to be as large, on average.
        scores: errors of the centres at rows that simulated fits had not seen, in order.
        summary: what changed, and how well the twins resemble the data.
    """

    correction: Correction
    shift: float
    squares: Trees
    claim: float
    scores: Scores
    summary: CalibrationSummary

    account = renamed_attribute("account", "summary")

    @classmethod
    def on_twins(
        cls,
        key: PRNGKeyArray,
        refit: Refit,
        predict: Callable[[Rows], Prediction],
        X: Table,
        y: Row,
        *,
        twin: str | Truth = AUTO,
        n_simulations: int | None = None,
        shift: float | Literal["auto"] = "auto",
        verbose: bool = False,
    ) -> "ConfidenceCalibration":
        """Calibrates a fit with the data that it was fitted to, and nothing else.

        Args:
            key: of all that is random here.
            refit: fits the procedure again.
            predict: what its fit to the data predicts for some of them, uncalibrated.
            X: the rows of the data.
            y: their targets.
            twin: what to simulate from: "auto", the name of one kind of twin, or a truth.
            n_simulations: data sets to simulate; None for `usual_simulations`.
            shift: share of the bias that is taken off the centres; "auto" for one of `SHIFTS`.
            verbose: show progress.

        Returns:
            The calibration.

        Raises:
            NoSuchIntervalError: the method has no confidence interval.
            TwinError: a twin cannot be fitted, or does not simulate numbers.
        """
        n_simulations = usual_simulations(len(X)) if n_simulations is None else n_simulations
        _check(n_simulations, shift)
        _claimed(predict(np.arange(1)))  # or it has no confidence interval
        of_twins, of_draws, of_fits, of_rows = split_on_host(key, 4)
        truths, candidates = _truths(of_twins, twin, X, y, verbose=verbose)
        seen, unseen = _parts(of_rows, len(X))
        targets = _simulate(of_draws, truths, n_simulations, X[seen])
        title = f"Calibrating confidence intervals on {n_simulations} simulated data sets"
        with progress_bar(title, refit.work(2 * n_simulations + 1), shown=verbose) as progress:
            of_data, of_echoes, of_sets = split_on_host(of_fits, 3)
            everyone = np.arange(len(X))
            means = predict(everyone).mean[None]
            data = _Targets(everyone, y[None], means)
            (correction,) = _corrections(of_data, refit, X, data, progress)
            fits = refit.fit(of_sets, seen, targets, progress)
            means = np.stack([refit.mean(fit, seen) for fit in fits])
            simulated = _Targets(seen, targets, means)
            corrections = _corrections(of_echoes, refit, X, simulated, progress)
        simulations, rows = _Simulations(refit, X, truths, fits, corrections), seen[:MOST_ROWS]
        at_seen, at_unseen, own = simulations.at(rows), simulations.at(unseen), predict(rows)
        share = _chosen_share(at_unseen) if isinstance(shift, str) else float(shift)
        echoed, size = refit.mean(correction.echo, rows), 1.0
        if share > 0:
            bias = correction.bias(echoed, own.mean, X[rows])
            size = _in_proportion(bias, at_seen.bias, correction.units.y_scale)
        errors = size * at_seen.errors(share)
        calibration = cls(
            correction,
            share,
            _carried(correction.units, X[rows], np.mean(errors**2, axis=0)),
            float(np.mean(errors**2) / max(np.mean(_claimed(own)), TINY)),
            np.zeros(1),
            CalibrationSummary.empty(),
        )
        scale = calibration.scale(_claimed(predict(unseen)), X[unseen])
        scores = np.sort(size * np.abs(at_unseen.errors(share)) / scale, axis=None)
        calibration = replace(calibration, scores=scores)
        residuals = targets[:, : len(rows)] - at_seen.means
        resemblances = _resemblances(truths, y[rows] - own.mean, residuals)
        at_rows = calibration.calibrated(echoed, own, X[rows])
        return replace(
            calibration, summary=CalibrationSummary.of(at_rows, candidates, resemblances)
        )

    def calibrated(self, echoed: Row, prediction: Prediction, X: Table) -> Prediction:
        """The same prediction with calibrated confidence intervals; its mean is as it was.

        Args:
            echoed: what the echo predicts for these rows.
            prediction: of the model that was calibrated.
            X: the predicted rows.

        Returns:
            The calibrated prediction. Its prediction intervals contain its confidence intervals.
        """
        claimed = _claimed(prediction)
        with np.errstate(over="ignore", invalid="ignore"):  # far rows; bounds are infinite there
            bias = self.shift * self.correction.bias(echoed, prediction.mean, X)
            scale = self.scale(claimed, X)
        bias = np.nan_to_num(bias, posinf=0, neginf=0)
        scale = np.where(np.isnan(scale), np.inf, scale)  # overflow: no bound is honest
        confidence = PivotLaw(prediction.mean - bias, scale, self.scores)
        return replace(
            prediction,
            confidence_law=confidence,
            prediction_law=ContainingLaw(prediction.prediction_law, confidence),
            twin_errors=TwinErrors(bias, scale, np.sqrt(claimed)),
            uncalibrated=prediction,
        )

    def scale(self, claimed: Row, X: Table) -> Row:
        """Root mean squared error of the centres at some rows, where the method claims a variance.

        Args:
            claimed: the variance of the prediction that the method claims.
            X: the rows.
        """
        units = self.correction.units
        by_simulations = units.y_scale**2 * self.squares(standardised_inputs(units, X))
        variance = BY_SIMULATIONS * by_simulations + (1 - BY_SIMULATIONS) * self.claim * claimed
        return np.sqrt(np.maximum(variance, (LEAST * units.y_scale) ** 2))

    def to_file(self, method: Any) -> tuple[dict[str, Any], Arrays]:
        """Its JSON and its arrays."""
        parts: dict[str, Arrays] = {
            "units": self.correction.units.to_arrays(),
            "missed": self.correction.missed.to_arrays(),
            "echo": dict(mean_fits(method).to_arrays(self.correction.echo)),
            "squares": self.squares.to_arrays(),
        }
        arrays = {f"{name}.{own}": a for name, of in parts.items() for own, a in of.items()}
        payload = {"shift": float(self.shift), "claim": self.claim}
        return payload | {"summary": self.summary.to_json()}, arrays | {"scores": self.scores}

    @classmethod
    def from_file(
        cls, payload: Any, arrays: Arrays, method: Any, fitted: Any, n_features: int
    ) -> "ConfidenceCalibration | None":
        """From a model file's parts, checked against the model they belong to.

        Args:
            payload: the JSON part.
            arrays: the arrays.
            method: of the model.
            fitted: the model's own fit.
            n_features: of the model.

        Returns:
            The calibration; None, with a warning, where an older version made it.
        """
        if type(payload) is not dict:
            raise ValueError("the calibration on twins is not an object")
        if "truths" in payload or part(arrays, "pilot"):
            warnings.warn(
                "An older version calibrated the confidence intervals of this model, in a way that "
                "is no longer there. They are uncalibrated now: call `calibrate_confidence(X, y)` "
                "with the rows of `fit`.",
                CalibrationWarning,
                stacklevel=2,
            )
            return None
        if set(payload) != {"summary", "shift", "claim"}:
            raise ValueError("the calibration on twins lacks parts")
        shift, claim = (
            float(checked_json(int | float, payload[name], name)) for name in ("shift", "claim")
        )
        if not (0 <= shift <= 1 and 0 <= claim < np.inf):
            raise ValueError(f"a shift of {shift} and a claim of {claim}")
        units = Standardiser.from_arrays(part(arrays, "units"), n_features)
        missed, squares = (
            Trees.from_arrays(part(arrays, name), n_features) for name in ("missed", "squares")
        )
        learner, settings = fitted.learner, fitted.settings
        echo = mean_fits(method).from_arrays(part(arrays, "echo"), settings, learner, n_features)
        summary = CalibrationSummary.from_json(payload["summary"])
        correction = Correction(units, missed, echo)
        return cls(correction, shift, squares, claim, checked_scores(arrays, "scores"), summary)


def usual_simulations(n_rows: int) -> int:
    """How many data sets to simulate for a table of so many rows, unless somebody says."""
    return N_SIMULATIONS if n_rows <= LONG else FEWEST_SIMULATIONS


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


def _check(n_simulations: int, shift: float | str) -> None:
    advice = "Pass 20 for a start, or 40 for steadier widths."
    require_whole("n_simulations", n_simulations, advice)
    if n_simulations < FEWEST_SIMULATIONS:
        raise ValueError(
            f"`n_simulations` must be at least {FEWEST_SIMULATIONS}, got {n_simulations}: fewer "
            f"do not tell how wide a confidence interval should be. {advice}"
        )
    if shift != AUTO and not (is_number(shift) and 0 <= float(shift) <= 1):
        raise ValueError(
            f"`shift` must lie in [0, 1] or be 'auto', got {shift!r}. It is the share of the "
            "estimated bias that is taken off the centre; 0 does not move the centre."
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
    with progress_bar("Fitting twins of the data", n_steps(kinds), shown=verbose) as progress:
        seed = int(generator_from(key).integers(np.iinfo(np.int32).max))
        return fitted_twins(X, y, seed, kinds, progress=progress)


def _parts(key: PRNGKeyArray, n_rows: int) -> tuple[Rows, Rows]:
    """The rows that simulated fits see, and others at which they are judged."""
    order = generator_from(key).permutation(n_rows)
    least = min(FEWEST_UNSEEN, n_rows // 4)
    n_unseen = min(max(round(UNSEEN * n_rows), least), MOST_UNSEEN)
    return order[n_unseen:], order[:n_unseen]


def _simulate(
    key: PRNGKeyArray, truths: Sequence[Truth], n_simulations: int, X: Table
) -> PerSimulation:
    """Draws targets from the truths in turn."""
    targets = []
    for i, own_key in enumerate(split_on_host(key, n_simulations)):
        truth = truths[i % len(truths)]
        y = np.asarray(truth.draw(own_key, X), np.float64)
        if y.shape != (len(X),) or not np.isfinite(y).all() or np.ptp(y) == 0:
            raise TwinError(
                f"The truth {_kind(truth)} must simulate {len(X)} finite targets that are not "
                "all equal, but does not. Pass another `twin`."
            )
        targets.append(y)
    return np.array(targets)


class _Targets(NamedTuple):
    """Sets of targets of some rows, and what the procedure's fit to each of them predicts there."""

    rows: Rows
    targets: PerSimulation
    means: PerSimulation


def _corrections(
    key: PRNGKeyArray, refit: Refit, X: Table, sets: _Targets, progress: Progress | None
) -> list[Correction]:
    """For each set of targets what the fit to it misses, and what the procedure makes of both.

    Args:
        key: of all chance.
        refit: fits the procedure again.
        X: the rows of the data.
        sets: of targets, with their fits' predictions.
        progress: called with the work just done.
    """
    rows, targets, means = sets
    of_pilots, of_echoes = split_on_host(key, 2)
    seeds = generator_from(of_pilots).integers(np.iinfo(np.int32).max, size=len(targets))
    units = Standardiser.for_each(X[rows], targets)
    Z = standardised_inputs(units[0], X[rows])
    missed: list[Any] = []
    known = []
    for own, y, mean, seed in zip(units, targets, means, seeds.tolist(), strict=True):
        residuals = (y - mean) / own.y_scale
        missed.append(boosting(Z, residuals, seed)(Z, residuals))
        known.append(mean + own.y_scale * missed[-1](Z))
    echoes = refit.fit(of_echoes, rows, np.array(known), progress)
    return [Correction(*parts) for parts in zip(units, missed, echoes, strict=True)]


@dataclass(frozen=True)
class _Simulations:
    """Fits to simulated data sets, each with its correction and its truth."""

    refit: Refit
    X: Table
    truths: Sequence[Truth]
    fits: Sequence[Any]
    corrections: Sequence[Correction]

    def at(self, rows: Rows) -> "_AtRows":
        """What there is to know of some rows."""
        X, mean = self.X[rows], self.refit.mean
        true = [truth.mean(X) for truth in self.truths]
        means = np.stack([mean(fit, rows) for fit in self.fits])
        both = zip(self.corrections, means, strict=True)
        return _AtRows(
            means,
            np.stack([own.bias(mean(own.echo, rows), at, X) for own, at in both]),
            np.stack([true[i % len(true)] for i in range(len(self.fits))]),
        )


class _AtRows(NamedTuple):
    """What the fits predict at some rows, their estimated bias, and the truth."""

    means: PerSimulation
    bias: PerSimulation
    true: PerSimulation

    def errors(self, shift: float) -> PerSimulation:
        """How far corrected centres are from the truth."""
        return self.means - shift * self.bias - self.true


def _in_proportion(own: Row, simulated: PerSimulation, y_scale: float) -> float:
    r"""What errors on twins are multiplied with, at most 1.

    A twin learns some of the noise, so that it may be rougher than the true function. Fits to it
    then err more than the one to the data, and the bias that is estimated for them, $\hat b_k$, is
    larger too. So errors count in proportion to it, as in a studentised bootstrap: as
    the standard deviation of $\hat b$ over rows to the one that all but a fifth of the $\hat b_k$
    exceed, since these vary by chance. They are not made larger: where the data show more bias than
    twins, the correction takes it off. A procedure that goes through its data shows no bias at
    all, only rounding, which says nothing of its errors.

    Example:
        >>> own, simulated = np.array([1.0, 3.0]), np.array([[0.0, 4.0], [5.0, 9.0]])
        >>> _in_proportion(own, simulated, y_scale=1.0)
        0.5
        >>> _in_proportion(1e-16 * own, 1e-16 * simulated, y_scale=1.0)
        1.0
    """
    least = float(np.quantile(simulated.std(axis=1), BY_CHANCE))
    return min(float(own.std()) / least, 1.0) if least > LEAST * y_scale else 1.0


def _chosen_share(at_rows: _AtRows) -> float:
    """Of `SHIFTS`, the first whose errors are hardly larger than the smallest."""
    sizes = {share: float(np.mean(at_rows.errors(share) ** 2)) for share in SHIFTS}
    most = MOST_LARGER**2 * min(sizes.values())
    return next(share for share, size in sizes.items() if size <= most)


def _carried(units: Standardiser, X: Table, squares: Row) -> Trees:
    """A forest that carries mean squared errors from some rows to all others."""
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(
        N_TREES,
        min_samples_leaf=3,
        max_features=0.5 if X.shape[1] > 2 else 1.0,
        random_state=0,
    ).fit(standardised_inputs(units, X), squares / units.y_scale**2)
    return Trees.from_sklearn(forest.estimators_, weight=1 / N_TREES)


def _resemblances(
    truths: Sequence[Truth], real: Row, simulated: PerSimulation
) -> list[Resemblance]:
    """Holds the model's residuals on each twin against those on the data."""
    return [
        Resemblance.of(_kind(truth), real, simulated[i :: len(truths)])
        for i, truth in enumerate(truths)
    ]


def _claimed(prediction: Prediction) -> Row:
    """The variance of the prediction that the method claims, if it has a confidence interval."""
    if prediction.confidence_law is None or prediction.epistemic_variance is None:
        raise NoSuchIntervalError(prediction.without_confidence)
    return prediction.epistemic_variance


def _kind(truth: Truth) -> str:
    return truth.kind if isinstance(truth, FittedTwin) else type(truth).__name__
