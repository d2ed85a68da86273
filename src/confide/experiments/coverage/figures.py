"""Figures of a coverage study as the report shows them."""

from collections.abc import Sequence

from confide.document import Figure, violins
from confide.experiments.coverage.comparison import of_variant
from confide.experiments.coverage.study import Judged


def violins_of(
    entries: Sequence[Judged], kind: str, level: float, variant: str, *, name: str
) -> Figure | None:
    """Pointwise coverage over the test rows, a panel for each set and condition; None if empty.

    Args:
        entries: what is drawn, in its order.
        kind: "confidence" (CICF) or "prediction" (PICF).
        level: of the intervals.
        variant: of the methods.
        name: how the figure's own name ends.
    """
    import pandas as pd

    short = "CICF" if kind == "confidence" else "PICF"
    several = len({entry.settings["condition"] for entry in entries}) > 1
    frames = [
        pd.DataFrame(
            {
                "panel": f"{s['set']}, {s['condition']}" if several else s["set"],
                "method": s["method"],
                "variant": s["variant"],
                short: coverage.pointwise,
            }
        )
        for entry in entries
        for s in [entry.settings]
        for coverage in entry.coverages
        if (coverage.kind, coverage.confidence_level) == (kind, level)
    ]
    rows = of_variant(pd.concat(frames, ignore_index=True), variant) if frames else None
    if rows is None or rows.empty:
        return None
    return Figure(
        f"{short.lower()}-{100 * level:.0f}-{name}",
        f"{short} of {100 * level:g} % {kind} intervals over the test rows of each set, methods "
        f"{variant}; the dashed line is the level that every row should have.",
        violins(rows, value=short, category="method", facet="panel", level=level),
    )
