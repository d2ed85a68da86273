"""The sections of the benchmark: each asks for measurements and adds its rows to the findings."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from .flops import training_flops
from .measure import Measurer, Outcome
from .plan import BATCH_SIZE, HIDDEN, OURS, Contender, Plan, Shape, shape_name
from .tables import (
    ColdStart,
    Efficiency,
    Findings,
    FitMemory,
    FitTime,
    GrowthPoint,
    ManyFits,
    TableMemory,
)

TOO_NOISY = "too noisy: more epochs took no longer than few"

CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("fit", {}),
    ("get_prediction", {}),
    ("predict_interval", {"kind": "confidence"}),
    ("predict_interval", {"kind": "prediction"}),
)
"""What is done with a large table, and with which arguments."""


@dataclass(frozen=True)
class Bench:
    """A plan, who takes part, and what has been found so far.

    Attributes:
        plan: What is measured.
        rivals: The peers that take part.
        warm: Whether warm fits are needed, or the first of a process is enough.
        whole: Whether slow contenders are measured in full.
        measure: Runs the children.
        findings: Filled section by section.
    """

    plan: Plan
    rivals: tuple[Contender, ...]
    warm: bool
    whole: bool
    measure: Measurer = field(default_factory=Measurer)
    findings: Findings = field(default_factory=Findings)

    def fit(
        self,
        contender: Contender,
        shape: Shape,
        *,
        n_members: int | None = None,
        epochs: tuple[int, ...] | None = None,
        retrain_fraction: float | None = None,
        warm: bool | None = None,
        cache_directory: str | None = None,
        fresh: bool = False,
    ) -> Outcome:
        """Fit one table in a child; what the plan says unless told otherwise."""
        plan = self.plan
        n_members = n_members or plan.n_members
        epochs = epochs or self.measured_epochs(contender, shape)
        warm = self.warm if warm is None else warm
        specification = {
            "task": "fit",
            "name": contender.name,
            "n_rows": shape[0],
            "n_features": shape[1],
            "settings": {
                "n_members": n_members,
                "retrain_fraction": retrain_fraction or plan.retrain_fraction,
                **contender.arguments,
            },
            "measured_epochs": epochs,
            "repeats": plan.repeats if warm else 0,
            "budget_seconds": plan.budget_seconds,
            "cache_directory": cache_directory,
        }
        label = f"{contender.label}, {shape_name(shape)}, M = {n_members}, {_listed(epochs)}"
        return self.measure(
            f"{label} epochs{'' if warm else ', cold'}{' with cache' if cache_directory else ''}",
            specification,
            environment=contender.environment,
            fresh=fresh,
        )

    def measured_epochs(self, contender: Contender, shape: Shape) -> tuple[int, ...]:
        """All epochs, or the few from which the time of all is computed."""
        slow = contender.slow and shape[0] >= self.plan.slow_from_rows and not self.whole
        return self.plan.slow_epochs if slow else (self.plan.epochs,)

    def whole_seconds(self, contender: Contender, outcome: Outcome) -> float | None:
        """Seconds of a warm fit of all epochs, computed from those measured if need be."""
        warm = outcome.values.get("warm_seconds", {})
        best = {
            contender.trained_epochs(int(epochs), self.plan.retrain_fraction): min(times)
            for epochs, times in warm.items()
            if times
        }
        wanted = contender.trained_epochs(self.plan.epochs, self.plan.retrain_fraction)
        return on_line(best, wanted) if best else None


def on_line(seconds: dict[int, float], wanted: int) -> float | None:
    """Seconds at `wanted` epochs, on the straight line through two measured points.

    None where more epochs took no longer: noise drowned them, and a line would be nonsense.

    Example:
        >>> on_line({3: 8.0, 10: 15.0}, 104)  # 5 s to build, 1 s an epoch
        109.0
        >>> on_line({104: 7.0}, 104)
        7.0
        >>> on_line({3: 8.0, 10: 7.9}, 104)
    """
    if wanted in seconds:
        return seconds[wanted]
    (few, few_seconds), (more, more_seconds) = sorted(seconds.items())
    if more_seconds <= few_seconds:
        return None
    return few_seconds + (more_seconds - few_seconds) / (more - few) * (wanted - few)


def compare_with_peers(bench: Bench) -> None:
    """Warm fits of everyone, and our share of the machine's peak."""
    for shape in bench.plan.shapes:
        ours = bench.whole_seconds(OURS, bench.fit(OURS, shape))
        for contender in (OURS, *bench.rivals):
            outcome = bench.fit(contender, shape)
            seconds = bench.whole_seconds(contender, outcome)
            epochs = bench.measured_epochs(contender, shape)
            part = f"{_listed(epochs)} of " if epochs != (bench.plan.epochs,) else "all "
            bench.findings.fit_times.append(
                FitTime(
                    shape=shape_name(shape),
                    contender=contender.label,
                    seconds=seconds,
                    ratio=seconds / ours if seconds and ours else None,
                    measured_epochs=f"{part}{bench.plan.epochs}",
                    fits=sum(map(len, outcome.values.get("warm_seconds", {}).values())),
                    bootstrapped=contender.bootstrapped,
                    problem=outcome.problem or (None if seconds else TOO_NOISY),
                )
            )
    compare_with_machine(bench)


def compare_with_machine(bench: Bench) -> None:
    """Our rate of useful operations beside that of a plain matrix product."""
    plan = bench.plan
    outcome = bench.measure(
        f"matrix product, {plan.matrix_size} x {plan.matrix_size}",
        {"task": "matrix_multiply_peak", "size": plan.matrix_size, "repeats": 9},
    )
    bench.findings.peak_gigaflops.update(outcome.values.get("gigaflops", {}))
    trained_epochs = OURS.trained_epochs(plan.epochs, plan.retrain_fraction)
    for shape in plan.shapes:
        for n_members in sorted({plan.n_members, plan.many_members}):
            fitted = bench.fit(OURS, shape, n_members=n_members)
            seconds = bench.whole_seconds(OURS, fitted)
            training = fitted.values.get("training_seconds")
            if seconds is None or not training or not bench.findings.peak_gigaflops:
                continue
            flops = training_flops(
                *shape, HIDDEN, n_members=n_members, trained_epochs=trained_epochs
            )
            steps = n_members * trained_epochs * -(-shape[0] // BATCH_SIZE)
            bench.findings.efficiency.append(
                Efficiency(
                    shape=shape_name(shape),
                    n_members=n_members,
                    seconds=seconds,
                    training_seconds=min(training),
                    microseconds_per_member_and_step=1e6 * min(training) / steps,
                    gigaflops=flops / min(training) / 1e9,
                    peak_gigaflops=bench.findings.peak_gigaflops,
                )
            )


def compare_many_fits(bench: Bench) -> None:
    """A hundred simulated data sets: in one call, one by one, and as the Keras loop would."""
    plan, shape = bench.plan, bench.plan.simulated
    together = bench.measure(
        f"confide, {plan.n_sets} x {shape_name(shape)} in one call",
        {
            "task": "simulations",
            "n_sets": plan.n_sets,
            "n_rows": shape[0],
            "n_features": shape[1],
            "settings": {
                "n_members": plan.n_members,
                "max_epochs": plan.epochs,
                "retrain_fraction": plan.retrain_fraction,
            },
            "repeats": 3,
        },
    )
    one_call = min(together.values.get("warm_seconds", []), default=None)
    rows = [("confide, all in one call", one_call, "all", together.problem)]
    for contender in (OURS, *[rival for rival in bench.rivals if rival.name == "keras_loop"]):
        epochs = plan.slow_epochs if contender.slow else (plan.epochs,)
        outcome = bench.fit(contender, shape, epochs=epochs)
        one = bench.whole_seconds(contender, outcome)
        rows.append(
            (
                f"{contender.label}, one by one",
                plan.n_sets * one if one else None,
                f"one fit, {_listed(epochs)} of {plan.epochs} epochs",
                outcome.problem,
            )
        )
    bench.findings.many_fits += [
        ManyFits(
            shape=f"{plan.n_sets} x {shape_name(shape)}",
            way=way,
            seconds=seconds,
            ratio=seconds / one_call if seconds and one_call else None,
            measured=measured,
            problem=problem,
        )
        for way, seconds, measured, problem in rows
    ]


def compare_cold_starts(bench: Bench) -> None:
    """From nothing to a fitted ensemble, on the first table: everyone, and us with a cache."""
    shape = bench.plan.shapes[0]
    ours = best_cold(bench, OURS, shape)
    with tempfile.TemporaryDirectory() as directory:
        filling = bench.fit(OURS, shape, warm=False, cache_directory=directory, fresh=True)
        cached = best_cold(bench, OURS, shape, cache_directory=directory)
    rows = [
        ("confide, no cache", ours),
        ("confide, filling the cache", (filling, 1)),
        ("confide, cache filled", cached),
        *[(rival.label, best_cold(bench, rival, shape)) for rival in bench.rivals],
    ]
    base = ours[0].values.get("cold_seconds")
    for label, (outcome, n_processes) in rows:
        values = outcome.values
        seconds, programs = values.get("cold_seconds"), values.get("programs")
        bench.findings.cold_starts.append(
            ColdStart(
                contender=label,
                seconds=seconds,
                ratio=seconds / base if seconds and base else None,
                import_seconds=values.get("import_seconds"),
                fit_seconds=values.get("first_seconds"),
                processes=n_processes if values else 0,
                programs=programs["ready"] if programs else None,
                compiled=programs["ready"] - programs["from_cache"] if programs else None,
                problem=outcome.problem,
            )
        )


def best_cold(
    bench: Bench, contender: Contender, shape: Shape, *, cache_directory: str | None = None
) -> tuple[Outcome, int]:
    """The fastest of some fresh processes, and how many there were."""
    again = partial(
        bench.fit, contender, shape, warm=False, cache_directory=cache_directory, fresh=True
    )
    # Without a cache, the process of the warm fits began with a cold one: that is the first.
    outcomes = [bench.fit(contender, shape) if cache_directory is None else again()]
    while (
        outcomes[-1].values
        and len(outcomes) < bench.plan.cold_processes
        and sum(o.values["cold_seconds"] for o in outcomes) < bench.plan.budget_seconds
    ):
        outcomes.append(again())
    finished = [outcome for outcome in outcomes if outcome.values] or outcomes
    best = min(finished, key=lambda outcome: outcome.values.get("cold_seconds", 0.0))
    return best, len(finished)


def compare_memory(bench: Bench) -> None:
    """Peaks of everyone on the small tables, and of our calls on a large one."""
    for shape in bench.plan.shapes:
        for contender in (OURS, *bench.rivals):
            outcome = bench.fit(contender, shape)
            memory = outcome.values.get("memory")
            bench.findings.fit_memory.append(
                FitMemory(
                    shape=shape_name(shape),
                    contender=contender.label,
                    imported_bytes=memory["imported"] if memory else None,
                    beyond_bytes=memory["peak"] - memory["imported"] if memory else None,
                    problem=outcome.problem,
                )
            )
    measure_large_table(bench)


def measure_large_table(bench: Bench) -> None:
    """Memory of fitting, and of being asked about, the longest table of the growth curve."""
    shape = (bench.plan.growth_rows[-1], bench.plan.growth_features)
    settings = {
        "n_members": bench.plan.n_members,
        "epochs": bench.plan.long_epochs,
        "retrain_fraction": bench.plan.long_fraction,
    }
    for call, arguments in CALLS:
        name = ", ".join([call, *(f"{key}={value!r}" for key, value in arguments.items())])
        outcome = bench.measure(
            f"{name}, {shape_name(shape)}",
            {
                "task": "call",
                "call": call,
                "arguments": arguments,
                "n_rows": shape[0],
                "n_features": shape[1],
                "settings": settings,
            },
        )
        values, memory = outcome.values, outcome.values.get("memory")
        bench.findings.table_memory.append(
            TableMemory(
                shape=shape_name(shape),
                call=name,
                seconds=values.get("seconds"),
                data_bytes=values.get("data_bytes"),
                beyond_import_bytes=memory["peak"] - memory["imported"] if memory else None,
                added_bytes=memory["peak"] - memory["before"] if memory else None,
                problem=outcome.problem,
            )
        )


def measure_growth(bench: Bench) -> None:
    """Our warm fits as rows, members and features grow."""
    plan = bench.plan
    for n_rows in plan.growth_rows:
        outcome = bench.fit(
            OURS,
            (n_rows, plan.growth_features),
            epochs=(plan.long_epochs,),
            retrain_fraction=plan.long_fraction,
        )
        trained = OURS.trained_epochs(plan.long_epochs, plan.long_fraction)
        bench.findings.growth.append(growth_point("rows", n_rows, outcome, trained))
    trained = OURS.trained_epochs(plan.epochs, plan.retrain_fraction)
    for n_members in plan.growth_members:
        outcome = bench.fit(OURS, plan.small, n_members=n_members)
        bench.findings.growth.append(growth_point("members", n_members, outcome, trained))
    for n_features in plan.growth_columns:
        outcome = bench.fit(OURS, (plan.small[0], n_features))
        bench.findings.growth.append(growth_point("features", n_features, outcome, trained))


def growth_point(axis: str, value: int, outcome: Outcome, trained_epochs: int) -> GrowthPoint:
    """A point of a growth curve from the fit that was measured."""
    times = [t for each in outcome.values.get("warm_seconds", {}).values() for t in each]
    seconds = min(times, default=None)
    per_epoch = None if seconds is None else seconds / trained_epochs
    return GrowthPoint(axis, value, seconds, per_epoch, outcome.problem)


SECTIONS: dict[str, Callable[[Bench], None]] = {
    "peers": compare_with_peers,
    "simulations": compare_many_fits,
    "cold": compare_cold_starts,
    "memory": compare_memory,
    "growth": measure_growth,
}
"""The sections in the order in which they are run."""


def _listed(numbers: Sequence[int]) -> str:
    return " and ".join(map(str, numbers))
