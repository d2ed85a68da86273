"""Targets in other units for training, and within bounds; predictions come back in their own."""

import math
import warnings
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from jaxtyping import PRNGKeyArray
from sklearn.base import clone

from confide.checks import is_number
from confide.errors import RowError, nearest
from confide.estimators.validation import TrainingArrays
from confide.fingerprints import groups as groups_of
from confide.persistence import Arrays, checked_fields
from confide.prediction import Prediction
from confide.randomness import generator_from
from confide.uncertainty import (
    TRANSFORMS,
    BackTransformedLaw,
    BoundedLaw,
    ContainingLaw,
    Row,
    Transform,
)

AUTO = "auto"
# To choose a transformation: the share of the rows that is held out, and levels of quantiles.
_HELD_OUT, _LEVELS = 0.25, np.arange(0.5, 20) / 20


@dataclass(frozen=True)
class Target:
    """What a fit does to its targets, and how predictions come back.

    Methods and calibrations see transformed targets. `restored` takes their predictions back.

    Attributes:
        transform: of the targets, or None.
        lower: no target lies below; may be infinite.
        upper: no target lies above; may be infinite.
        n_rows: rows that were trained on.
    """

    transform: Transform | None
    lower: float
    upper: float
    n_rows: int

    @classmethod
    def fitted(cls, name: Any, bounds: Any, y: Row) -> "Target | None":
        """For the targets of a fit; None where nothing is to be done.

        Args:
            name: of the transformation, or None.
            bounds: a pair of numbers or None.
            y: the targets.

        Raises:
            ValueError: there is no such transformation, or a target is outside the bounds.
        """
        target = cls.asked(name, bounds, y)
        if target is None or name is None:
            return target
        return replace(target, transform=Transform.fitted(name, y))

    @classmethod
    def asked(cls, name: Any, bounds: Any, y: Row) -> "Target | None":
        """The same, checked but not fitted: arguments and exceptions as for `fitted`."""
        lower, upper = _checked_bounds(bounds)
        if name is None and math.isinf(lower) and math.isinf(upper):
            return None
        if name is not None and name not in TRANSFORMS:
            choices = (*TRANSFORMS, AUTO)
            raise ValueError(
                f"`target_transform` must be None or one of {choices}, got {name!r}. "
                f"{nearest(str(name), choices)}".rstrip()
            )
        target = cls(None if name is None else Transform(name), lower, upper, len(y))
        target.check(y)
        return target

    def check(self, y: Row) -> None:
        """Refuses targets that cannot be transformed, or lie outside the bounds."""
        inside = (y >= self.lower) & (y <= self.upper)
        if not inside.all():
            row = int(np.argmin(inside))
            raise RowError(
                f"Targets must lie within `bounds`, {self.lower:g} to {self.upper:g}, got "
                f"{y[row]:g} in row {{row}}. Correct the targets, or pass wider bounds.",
                row,
            )
        if self.transform is not None and not self.transform.accepts(y).all():
            row = int(np.argmin(self.transform.accepts(y)))
            needed = "above zero" if self.transform.name == "log" else "of at least zero"
            raise RowError(
                f"target_transform={self.transform.name!r} needs targets {needed}, got {y[row]:g} "
                "in row {row}. Pass target_transform='yeo-johnson', which takes all numbers, or "
                "None.",
                row,
            )

    def forward(self, y: Row) -> Row:
        """What the method is trained on; targets that cannot be are refused."""
        self.check(y)
        return y if self.transform is None else self.transform.forward(y)

    def restored_value(self, location: float) -> float:
        """A typical target, from a typical one of those that the method was trained on."""
        own = np.array([location])
        own = own if self.transform is None else self.transform.back(own)
        return float(np.clip(own, self.lower, self.upper)[0])

    def restored(self, prediction: Prediction) -> Prediction:
        """A prediction of the method, or of a calibration of it, in the target's own units."""
        return self.bounded(self._in_own_units(prediction))

    def _in_own_units(self, prediction: Prediction) -> Prediction:
        if self.transform is None:
            return prediction
        if (own := prediction.uncalibrated) is not None:
            prediction = replace(prediction, uncalibrated=self._in_own_units(own))
        return _back_transformed(prediction, self.transform, self.n_rows)

    def unbounded(self, prediction: Prediction) -> Prediction:
        """One with infinite bounds, which reach to where targets can be."""
        lowest = -math.inf if self.transform is None else self.transform.lowest
        return replace(self, lower=max(self.lower, lowest)).bounded(prediction)

    def bounded(self, prediction: Prediction) -> Prediction:
        """The same, with nothing beyond the bounds."""
        lower, upper = self.lower, self.upper
        if math.isinf(lower) and math.isinf(upper):
            return prediction
        inner, own = prediction.confidence_law, prediction.uncalibrated
        return replace(
            prediction,
            mean=np.clip(prediction.mean, lower, upper),
            prediction_law=BoundedLaw(prediction.prediction_law, lower, upper),
            confidence_law=None if inner is None else BoundedLaw(inner, lower, upper),
            uncalibrated=None if own is None else self.bounded(own),
        )

    def to_file(self) -> tuple[dict[str, Any], Arrays]:
        """All of it as JSON, in which infinity is None."""
        own = self.transform
        bounds = {name: _json(getattr(self, name)) for name in ("lower", "upper")}
        transform = None if own is None else {"name": own.name, "power": own.power}
        return {"transform": transform, "n_rows": self.n_rows, **bounds}, {}

    @classmethod
    def from_file(cls, payload: Any, arrays: Arrays) -> "Target":
        """From a model file's parts, checked."""
        own = checked_fields(_Saved, payload)
        transform = own["transform"] and Transform(
            **checked_fields(_SavedTransform, own["transform"])
        )
        if transform and not (transform.name in TRANSFORMS and 0 <= transform.power <= 2):
            raise ValueError("the transformation of the target is unknown")
        lower, upper = _checked_bounds((own["lower"], own["upper"]))
        if arrays or own["n_rows"] < 1:
            raise ValueError("the target has unknown parts, or no rows")
        return cls(transform, lower, upper, own["n_rows"])


@dataclass(frozen=True)
class _SavedTransform:
    name: str
    power: float


@dataclass(frozen=True)
class _Saved:
    transform: Any
    lower: float | None
    upper: float | None
    n_rows: int


def _json(number: float) -> float | None:
    return None if math.isinf(number) else float(number)


def _checked_bounds(bounds: Any) -> tuple[float, float]:
    """Both bounds as numbers, infinite where there is none."""
    pair = (None, None) if bounds is None else bounds
    if isinstance(pair, tuple | list) and len(pair) == 2:
        ends = [end if end is None or is_number(end) else math.nan for end in pair]
        lower, upper = (
            -math.inf if ends[0] is None else ends[0],
            math.inf if ends[1] is None else ends[1],
        )
        if lower < upper:
            return float(lower), float(upper)
    raise ValueError(
        f"`bounds` must be a lower and a higher number, either of which may be None, got "
        f"{bounds!r}. Pass (0, None) for targets that cannot be negative."
    )


def _back_transformed(prediction: Prediction, transform: Transform, n_rows: int) -> Prediction:
    """A prediction of transformed targets, in the target's own units.

    The mean is that over normal noise with the method's aleatoric variance (a method without
    variances has the median). The aleatoric variance is that of the same law. The others are
    multiplied with the squared slope of the mean (the delta method). The noise is known from n rows
    and no better than to a factor of 1 ± 1 / sqrt(2 n); what that does to the mean counts as
    classical variance, and makes the confidence interval wider.
    """
    location, noise = prediction.mean, prediction.aleatoric_variance
    spread = np.zeros_like(location) if noise is None else np.sqrt(noise)
    mean, slope = transform.mean(location, spread), transform.slope_of_mean(location, spread)
    moved = transform.mean(location, spread * (1 + 1 / math.sqrt(2 * n_rows))) - mean
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shift = np.nan_to_num(np.square(moved / slope), posinf=0.0)
        changed: dict[str, Any] = {
            name: slope**2 * (variance + shift * (name != "optimisation_variance"))
            for name in ("epistemic_variance", "classical_variance", "optimisation_variance")
            if (variance := getattr(prediction, name)) is not None
        }
        if noise is not None:
            changed["aleatoric_variance"] = transform.variance(location, spread)
    law: Any = BackTransformedLaw.of_observation(prediction.prediction_law, transform, len(mean))
    if prediction.confidence_law is not None and prediction.epistemic_variance is not None:
        own = prediction.epistemic_variance
        stretch = np.sqrt(1 + np.divide(shift, own, out=np.zeros_like(own), where=own > 0))
        centre = prediction.confidence_law.quantile(0.5)  # moved where a bias is known
        inner = BackTransformedLaw(prediction.confidence_law, transform, spread, centre, stretch)
        law, changed["confidence_law"] = ContainingLaw(law, inner), inner
    if (errors := prediction.twin_errors) is not None:
        in_units = {each.name: slope * getattr(errors, each.name) for each in fields(errors)}
        changed["twin_errors"] = replace(errors, **in_units)
    return replace(prediction, mean=mean, prediction_law=law, **changed)


def check_transform_and_bounds(estimator: Any, y: Row) -> None:
    """Refuses targets that an estimator's transformation or bounds do not take.

    Args:
        estimator: one of the user's own may know nothing of them.
        y: the targets.

    Raises:
        ValueError: with what to do.
    """
    name, bounds = (getattr(estimator, each, None) for each in ("target_transform", "bounds"))
    Target.asked(None if name == AUTO else name, bounds, y)


def chosen_transform(estimator: Any, key: PRNGKeyArray, data: TrainingArrays) -> str | None:
    """The transformation with the best CRPS on a quarter of the rows, which is held out.

    It takes a fit for each. None is chosen unless another is better by more than a standard error.

    Args:
        estimator: not fitted; a copy of it is fitted with each transformation.
        key: of the choice of rows.
        data: to fit to.

    Returns:
        Its name, or None for no transformation.
    """
    of_rows = groups_of(data.X, data.y, data.groups)
    n_groups = int(of_rows.max()) + 1
    order = generator_from(key, 7).permutation(n_groups)
    held = np.isin(of_rows, order[: max(1, round(_HELD_OUT * n_groups))])
    X, y, *more = (None if part is None else part[~held] for part in data)
    losses = {}
    for name in (None, *(each for each in TRANSFORMS if Transform(each).accepts(data.y).all())):
        model = clone(estimator).set_params(target_transform=name, verbose=False)
        if hasattr(model, "calibration"):
            model.calibration = None  # of confidence intervals, which are not judged here
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit itself will tell
            model.fit(X, y, *more)
            quantiles = model.predict_quantiles(data.X[held], _LEVELS.tolist())
        off = data.y[held][:, None] - quantiles
        losses[name] = np.mean(np.maximum(_LEVELS * off, (_LEVELS - 1) * off), axis=1)
    best = min(losses, key=lambda name: float(losses[name].mean()))
    gain = losses[None] - losses[best]
    return best if gain.mean() > gain.std() / math.sqrt(len(gain)) else None
