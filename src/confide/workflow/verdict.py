"""Whether a model is any good, in three lines: accuracy, intervals, and what to look at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from confide.diagnostics import WITHIN, Grade, graded_coverage
from confide.document import rounded_alike
from confide.workflow.accuracy import Worth, worth

if TYPE_CHECKING:
    from confide.calibration import CalibrationSummary

# The level that is spoken of first.
LEVEL = 0.9
NOT_JUDGED = "No rows were held out, so it is not known how good the model is."
MAY_HELP = "More rows, or columns that say more about the target, may help."
NO_INTERVALS = "No rows were held out, so it is not known whether the prediction intervals hold."
# What would help most, by the largest source of variance.
HELP = {
    "aleatoric": "is scatter: chance, or a pattern that the model has missed. Columns that say "
    "more about the target may help, or another learner; more members hardly",
    "classical": "comes from the small number of rows. More rows would help most",
    "optimisation": "comes from random training. A larger ensemble (more members) would help most",
    "epistemic": "comes from few rows and random training. More rows would help most",
}


# Extreme targets pull their mean so far away that it is no guess to be measured by: the median is.
FAR_BETTER = 0.5


@dataclass(frozen=True)
class Held:
    """How many observations lay in their prediction intervals, and how many should have.

    Attributes:
        level: of the intervals.
        share: of the rows that lay inside.
        standard_error: of that share, were the intervals exact.
    """

    level: float
    share: float
    standard_error: float

    @property
    def expected(self) -> str:
        """What chance makes of exact intervals, in words."""
        room = WITHIN * self.standard_error
        low, high = max(self.level - room, 0.0), min(self.level + room, 1.0)
        return f"exact ones would contain {100 * low:.0f} to {100 * high:.0f} %"

    @property
    def grade(self) -> Grade:
        """How well they hold."""
        return graded_coverage(self.share, self.level, self.standard_error)

    def words(self, *, calibrated: bool) -> str:
        """How well they hold, or did before they were calibrated on these rows."""
        problem = "too narrow" if self.share < self.level else "wider than needed"
        why = "" if self.grade is Grade.HOLD else f" ({problem})"
        if calibrated:
            return (
                f"{self.grade.before}{why}; then they were calibrated on these rows, which cannot "
                "test them again"
            )
        return f"{self.grade.now}{why}"


def held_in(judged: Mapping[str, float], wanted: float = LEVEL) -> Held | None:
    """How often prediction intervals held at the level nearest to that, if it is known."""
    names = {
        float(name.removeprefix("coverage_")) / 100: name
        for name in judged
        if name.startswith("coverage_") and not name.endswith("_se")
    }
    if not names:
        return None
    level = min(names, key=lambda level: abs(level - wanted))
    return Held(level, judged[names[level]], judged[f"{names[level]}_se"])


def verdict_lines(
    judged: Mapping[str, float],
    warnings: Sequence[str],
    *,
    calibrated: bool,
    on_twins: "CalibrationSummary | None" = None,
) -> list[str]:
    """Three lines: how accurate the model is, whether its intervals hold, and what to look at.

    Args:
        judged: accuracy and coverage on the held-out rows, as `TrainingTable` keeps them.
        warnings: what to worry about, the most important first.
        calibrated: whether the prediction intervals were calibrated on these rows since.
        on_twins: what the calibration of the confidence intervals found, if they are calibrated.

    Returns:
        The lines; the last one is missing where there is nothing to say.
    """
    hold = coverage_line(judged, calibrated=calibrated)
    if on_twins is not None:
        hold += f" {confidence_words(on_twins)}"
    lines = [accuracy_line(judged), hold]
    if warnings:
        return [*lines, f"Look at: {warnings[0]}"]
    return [*lines, f"Look at: {help_words(judged)}"] if "aleatoric_share" in judged else lines


def accuracy_line(judged: Mapping[str, float]) -> str:
    """The error beside that of gradient boosting and of guessing the mean."""
    if not judged:
        return NOT_JUDGED
    there = others_in(judged)
    rmse, *others = rounded_alike(judged["rmse"], *there.values())
    beside = "".join(f"; {name} {text}" for name, text in zip(there, others, strict=True))
    return f"RMSE {rmse} on {judged['rows']:,.0f} held-out rows{beside}."


def others_in(judged: Mapping[str, float]) -> dict[str, float]:
    """What a model is compared with, and the RMSE of each."""
    named = {"gradient boosting": "boosting_rmse", "guessing the mean": "mean_rmse"}
    if _guess_in(judged)[0] == "median":
        named["guessing the median"] = "median_rmse"
    there = {name: judged[key] for name, key in named.items() if key in judged}
    return there or {"guessing the mean": judged["target_sd"]}  # of an earlier version


def _guess_in(judged: Mapping[str, float]) -> tuple[str, float]:
    """The guess for all rows that a model is measured by, and its RMSE."""
    mean = judged.get("mean_rmse", judged["target_sd"])
    median = judged.get("median_rmse", mean)
    return ("median", median) if median < FAR_BETTER * mean else ("mean", mean)


def worth_in(judged: Mapping[str, float]) -> Worth:
    """What the model is worth beside one guess for all rows, on those that were held out."""
    return worth(judged["rmse"], judged.get("rmse_se", 0.0), _guess_in(judged)[1])


def worthless(judged: Mapping[str, float]) -> list[str]:
    """A warning of a model that is no better than one guess for all rows; none of a better one."""
    return worthless_words(worth_in(judged), _guess_in(judged)[0])


def worthless_words(found: Worth, guess: str = "mean") -> list[str]:
    """The same in words, where it is known what the model is worth.

    Args:
        found: what it is worth.
        guess: what it is measured by.
    """
    if found is Worth.BETTER:
        return []
    if found is Worth.WORSE:
        beside = f"worse than predicting the {guess} of the target on rows it has not seen"
        return [f"The model is {beside}: do not use it."]
    no_better = f"no better than predicting the {guess} of the target, within a standard error"
    return [
        f"On rows it has not seen, the model is {no_better}. {MAY_HELP}",
    ]


def coverage_line(judged: Mapping[str, float], *, calibrated: bool) -> str:
    """How often prediction intervals held, and what was done about it."""
    held = held_in(judged)
    if held is None:
        return NO_INTERVALS
    words = held.words(calibrated=calibrated).capitalize()
    return (
        f"{100 * held.level:g} % prediction intervals contained {100 * held.share:.0f} % of "
        f"{judged['rows']:,.0f} held-out rows; {held.expected}. {words}."
    )


def confidence_words(on_twins: "CalibrationSummary | None") -> str:
    """Whether confidence intervals hold, in a sentence; None for those that are not calibrated."""
    if on_twins is None:
        return (
            "Confidence intervals are not calibrated: they are too narrow where the true function "
            "is rough."
        )
    if on_twins.grade is None:
        return f"Confidence intervals: {on_twins.reason}."
    if on_twins.grade is Grade.HOLD:
        return (
            "Confidence intervals hold on simulated data, on which the model errs as it does on "
            "yours; real data cannot test them, because nobody sees the true average."
        )
    return f"Confidence intervals: {on_twins.grade.now} ({on_twins.reason})."


def help_words(judged: Mapping[str, float]) -> str:
    """What would help most, by the largest part of the variance."""
    shares = {name: judged[f"{name}_share"] for name in HELP if f"{name}_share" in judged}
    largest = max(shares, key=lambda name: shares[name])
    # Deep Ensembles count the whole spread of their members, however many there are: Eq. (1).
    is_spread = largest == "optimisation" and "classical" not in shares
    help_most = (
        "comes from random training, which no option shrinks" if is_spread else HELP[largest]
    )
    return f"{100 * shares[largest]:.0f} % of the uncertainty {help_most}."
