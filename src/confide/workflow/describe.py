"""What a model is, in words and as plain values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from confide.calibration import MANY_BIASED
from confide.encoding import Column, WordsColumn
from confide.estimators import IntervalRegressor, in_words
from confide.terminal import plain
from confide.workflow.training_table import TrainingTable
from confide.workflow.verdict import verdict_lines

if TYPE_CHECKING:
    from confide.calibration import CalibrationSummary


@dataclass(frozen=True)
class Description:
    """What a model file says of itself.

    Attributes:
        method: name of its estimator.
        target: name of what it predicts, or None where it was made in Python.
        file: name of the file that it was fitted to, or None likewise.
        rows: rows trained on and held out, or None likewise.
        columns: for each column of its table, its name and what it was read as.
        settings: the constructor's arguments, and what a fit chose.
        calibrated_on: rows that its prediction intervals were calibrated on; 0 for none.
        confidence_calibration: what the calibration of its confidence intervals on simulated twins
            found, as `CalibrationSummary.to_json` has it, or None where they are not calibrated.
        judged: accuracy on the held-out rows.
        notes: what happened when it was fitted.
        warnings: what the reader should worry about.
    """

    method: str
    target: str | None
    file: str | None
    rows: dict[str, int] | None
    columns: list[dict[str, str]]
    settings: dict[str, Any]
    calibrated_on: int
    confidence_calibration: dict[str, Any] | None
    judged: dict[str, float]
    notes: list[str]
    warnings: list[str]

    def to_json(self) -> dict[str, Any]:
        """Its attributes."""
        # "honesty" is the old name of the calibration, for programs that read it.
        return {**vars(self), "honesty": self.confidence_calibration}

    @property
    def facts(self) -> dict[str, str]:
        """One line each: what it is and how it was made."""
        rows = self.rows or {}
        facts = {
            "method": self.method,
            "predicts": self.target or "a target without a name",
            "fitted to": self.file or "data in Python",
            "rows": ", ".join(
                f"{n:,} {what.replace('set aside', 'held out')}" for what, n in rows.items()
            ),
            "prediction intervals": self._prediction_intervals(),
            "confidence intervals": self._twins() or "not calibrated",
            **{name: _short(value) for name, value in self.settings.items()},
        }
        return {name: fact for name, fact in facts.items() if fact}

    def _prediction_intervals(self) -> str:
        n = self.calibrated_on
        return f"calibrated on {n:,} rows" if n else "not calibrated"

    def _twins(self) -> str:
        if self.confidence_calibration is None:
            return ""
        twins = self.confidence_calibration["resemblances"]
        kinds = " and ".join(twin["kind"].replace("_", " ") for twin in twins)
        n = sum(twin["n_simulations"] for twin in twins)
        return f"calibrated on {n} simulated data sets ({kinds})"

    @property
    def verdict(self) -> list[str]:
        """Whether the model is any good, in three lines."""
        from confide.calibration import CalibrationSummary  # here, because importing it is slow

        found = self.confidence_calibration
        on_twins = None if found is None else CalibrationSummary.from_json(found)
        calibrated = self.calibrated_on > 0
        return verdict_lines(self.judged, self.warnings, calibrated=calibrated, on_twins=on_twins)

    def __str__(self) -> str:
        return "\n".join(self.lines)

    @property
    def lines(self) -> list[str]:
        """In lines for people, whatever a stranger's file holds."""
        lines = [*self.verdict, ""] if self.rows else []
        lines += [*_aligned(self.facts), "", *_listed(self.columns), *self.from_the_fit]
        return [plain(line) for line in lines]

    @property
    def from_the_fit(self) -> list[str]:
        """Notes and warnings, in lines."""
        lines = []
        for title, texts in (("Notes", self.notes), ("Warnings", self.warnings)):
            if texts:
                lines += ["", f"{title} from the fit:", *(f"  {line}" for line in texts)]
        return lines


@dataclass(frozen=True)
class TargetDescriptions:
    """What a model of several targets says of itself.

    Attributes:
        targets: the description of each by its name.
    """

    targets: Mapping[str, Description]

    def to_json(self) -> dict[str, Any]:
        """Those of all targets."""
        return {"targets": {name: each.to_json() for name, each in self.targets.items()}}

    @property
    def lines(self) -> list[str]:
        """In lines for people: what is each target's own, then what is common to all."""
        first, *_ = descriptions = list(self.targets.values())
        facts = [each.facts for each in descriptions]
        common = {
            name: fact for name, fact in facts[0].items() if all(f.get(name) == fact for f in facts)
        }
        lines = [f"{len(self.targets)} targets: {', '.join(self.targets)}"]
        for name, each in self.targets.items():
            told_above = {*common, "predicts"}
            own = {title: fact for title, fact in each.facts.items() if title not in told_above}
            texts = [*(each.verdict if each.rows else []), *_aligned(own), *each.from_the_fit]
            lines += ["", name, *(f"  {line}".rstrip() for line in texts)]
        lines += ["", "All targets", *(f"  {line}" for line in _aligned(common)), ""]
        return [plain(line) for line in [*lines, *_listed(first.columns)]]


def _aligned(facts: Mapping[str, str]) -> list[str]:
    width = max(map(len, facts), default=0) + 2
    return [f"{name + ':':{width}}{fact}" for name, fact in facts.items()]


def _listed(columns: Sequence[Mapping[str, str]]) -> list[str]:
    names = [plain(column["name"]) for column in columns]
    wide = max(map(len, names), default=0)
    kinds = [
        column["kind"] + (f": {plain(column['words'])}" if "words" in column else "")
        for column in columns
    ]
    lines = [f"  {name:{wide}}  {kind}" for name, kind in zip(names, kinds, strict=True)]
    return [f"{len(columns)} columns:", *lines]


def described(model: IntervalRegressor) -> Description | TargetDescriptions:
    """What a fitted model says of itself, or of each of its targets."""
    if model.targets_ is None:
        return described_target(model)
    return TargetDescriptions({name: described_target(m) for name, m in model.targets_.items()})


def described_target(model: IntervalRegressor) -> Description:
    """What a fitted model of one target says of itself."""
    table, known = TrainingTable.of(model), model.training_table_
    rows = (
        None if known is None else {"trained on": known.n_trained, "set aside": known.n_set_aside}
    )
    columns = [{"name": f"x{i}", "kind": "number"} for i in range(model.n_features_in_)]
    if model.encoder_ is not None:
        columns = [_of_column(column) for column in model.encoder_.columns]
    on_twins = model.confidence_calibration_
    summary = None if on_twins is None else on_twins.summary
    return Description(
        method=type(model).__name__.removesuffix("Regressor"),
        target=table.target,
        file=table.file,
        rows=rows,
        columns=columns,
        settings={
            name: in_words(value)
            for name, value in model.parameters_.items()
            if name not in {"n_jobs", "verbose", "engine"}
        },
        calibrated_on=0 if model.calibration_ is None else model.calibration_.n_rows,
        confidence_calibration=None if summary is None else summary.to_json(),
        judged=dict(table.judged),
        notes=[*table.notes, *sentences(summary)],
        warnings=[*table.warnings, *(() if summary is None else summary.warnings)],
    )


def _of_column(column: Column) -> dict[str, str]:
    own = {"name": column.name, "kind": column.kind}
    return own | ({"words": ", ".join(column.words)} if isinstance(column, WordsColumn) else {})


def sentences(summary: "CalibrationSummary | None") -> list[str]:
    """What a calibration on simulated twins found, without its warnings."""
    if summary is None:
        return []
    twins = " and ".join(
        f"{twin.n_simulations} from the function {twin.kind.replace('_', ' ')}, with residuals "
        f"{twin.ratio:.2g} times as large as on the data"
        for twin in summary.resemblances
    )
    lines = [
        f"Confidence intervals are calibrated on simulated twins of the training rows: {twins}.",
        *(
            f"At {100 * level:g} % they are {middle:.2g} times as wide as before calibration in "
            f"the typical row, and {low:.2g} to {high:.2g} times in nine rows of ten."
            for level, (low, middle, high) in summary.widening.items()
        ),
    ]
    if summary.biased <= MANY_BIASED:  # else it is a warning
        lines.append(f"At {100 * summary.biased:.0f} % of the rows there is bias beyond chance.")
    return lines


def _short(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "not given" if value is None else str(value)
