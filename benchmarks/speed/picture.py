"""What was found, as a picture: ratios to the peers above, growth below."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .tables import Findings, FitTime, GrowthPoint, axes, slope

# Okabe and Ito's palette, as in `confide.plot`: told apart by colour-blind readers.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00")
INK, REFERENCE = "#000000", "#999999"
HATCH_OF_LESS_WORK = "///"


def save_picture(findings: Findings, path: Path, *, footer: str) -> bool:
    """Draw what there is to draw.

    Returns:
        Whether there was anything, so that a file was written.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    bars = [row for row in findings.fit_times if row.ratio is not None and row.ratio != 1]
    panels = [axis for axis in axes(findings) if findings.growth_along(axis)]
    if not bars and not panels:
        return False
    heights = [3.6] * bool(bars) + [3.0] * bool(panels)
    figure = plt.figure(figsize=(10, sum(heights) + 0.4), layout="constrained")
    # Parts of their own, so that long names above do not narrow the panels below.
    parts = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
    if bars:
        draw_ratios(bars, parts[0].subplots())
    if panels:
        axs = parts[-1].subplots(1, len(panels), squeeze=False)[0]
        for axis, ax in zip(panels, axs, strict=True):
            draw_growth(findings.growth_along(axis), ax)
    figure.supxlabel(footer, fontsize=7, color=REFERENCE)
    figure.savefig(path, dpi=150)
    plt.close(figure)
    return True


def draw_ratios(rows: Sequence[FitTime], ax: Any) -> Any:
    """Bars of how many times as long each peer takes, one colour a table."""
    from matplotlib.patches import Patch

    contenders = list(dict.fromkeys(row.contender for row in rows))
    shapes = list(dict.fromkeys(row.shape for row in rows))
    thickness = 0.8 / len(shapes)
    ratios = [row.ratio or 1.0 for row in rows]
    for row, ratio in zip(rows, ratios, strict=True):
        position = contenders.index(row.contender) + thickness * shapes.index(row.shape)
        ax.barh(
            position,
            ratio - 1,
            left=1,
            height=0.92 * thickness,
            color=COLOURS[shapes.index(row.shape)],
            hatch=None if row.bootstrapped else HATCH_OF_LESS_WORK,
            edgecolor="white",
            linewidth=0,
        )
        ax.annotate(
            f" {ratio:,.0f}" if ratio >= 10 else f" {ratio:.1f}",
            (max(ratio, 1), position),
            va="center",
            fontsize=8,
        )
    ax.axvline(1, color=INK, linewidth=1.2)
    ax.set_xscale("log")
    ax.set_xlim(min(0.8, min(ratios) / 1.5), 2 * max(ratios))
    middle = thickness * (len(shapes) - 1) / 2
    ax.set_yticks([i + middle for i in range(len(contenders))], contenders)
    ax.invert_yaxis()
    ax.set_xlabel("time of a warm fit, as a multiple of confide's (line at 1)")
    legend = [Patch(color=COLOURS[i], label=shape) for i, shape in enumerate(shapes)]
    if not all(row.bootstrapped for row in rows):
        less = "no bootstrap: fewer epochs, no confidence interval"
        legend.append(
            Patch(facecolor=REFERENCE, edgecolor="white", hatch=HATCH_OF_LESS_WORK, label=less)
        )
    ax.legend(
        handles=legend,
        frameon=False,
        fontsize=8,
        ncols=len(legend),
        loc="lower right",
        bbox_to_anchor=(1, 1),
    )
    return _tidy(ax)


def draw_growth(points: Sequence[GrowthPoint], ax: Any) -> Any:
    """Seconds along one axis of growth, beside proportional growth from the last point."""
    from matplotlib.ticker import LogLocator

    axis = points[0].axis
    per_epoch = axis == "rows"
    values = [point.value for point in points]
    seconds = [point.seconds_per_epoch if per_epoch else point.seconds for point in points]
    last_value, last_seconds = values[-1], seconds[-1] or 0.0
    ax.plot(
        values,
        [last_seconds * value / last_value for value in values],
        color=REFERENCE,
        linestyle="--",
        linewidth=1,
        label="proportional",
    )
    ax.plot(values, seconds, color=COLOURS[0], marker="o", markersize=4, label="confide")
    ax.set_xscale("log")
    ax.set_yscale("log")
    shown = [second for second in seconds if second]
    ax.set_ylim(min(shown) / 1.8, max(shown) * 1.8)
    ax.set_xticks(values, [_short(value) for value in values])
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 3)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.minorticks_off()
    exponent = slope(points) if per_epoch else None
    ax.set_title(f"{axis}, slope {exponent:.2f}" if exponent else axis, loc="left")
    ax.set_xlabel(axis)
    ax.set_ylabel("seconds per epoch" if per_epoch else "seconds per fit")
    ax.legend(frameon=False, fontsize=8)
    return _tidy(ax)


def _short(value: int) -> str:
    """A number for an axis.

    Example:
        >>> _short(64), _short(1_000_000)
        ('64', '$10^6$')
    """
    power = len(str(value)) - 1
    return f"$10^{power}$" if value >= 10_000 and value == 10**power else str(value)


def _tidy(ax: Any) -> Any:
    ax.spines[["top", "right"]].set_visible(False)
    return ax
