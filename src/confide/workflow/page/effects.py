"""The section on effects: which features matter, and how the prediction moves with them."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from confide.diagnostics import WORDS as SOURCES
from confide.document import INK, WIDTH, Column, Figure, Part, Section, Table, parts, unread
from confide.drawing import COLOURS, interval_name, robust_range
from confide.inspection import Effects
from confide.workflow.page.axes import axis_format, category_axis, date_axis, number_axis
from confide.workflow.page.figures import rounded
from confide.workflow.page.judgement import unseen_rows
from confide.workflow.page.rows import Rows
from confide.workflow.page.text import literal, plain, rows_text

if TYPE_CHECKING:
    import pandas as pd

alt = parts.alt
# Features in the table of importance.
MOST_LISTED = 12
MEAN, DEVIATION = "mean prediction", "standard deviation"


def effect_parts(rows: Rows) -> Iterator[Part]:
    """The importance of features and, folded, the curves; or why there are none."""
    found = rows.inputs.effects
    if not isinstance(found, Effects):
        yield f"This is not known here. {literal(found, 500)}"
        return
    yield _importance(found, rows)
    caption = (
        "What the model says on average if every row had the same value of a feature; beside it "
        "the standard deviation of each source of uncertainty. Averages over the same rows. This "
        "is about the model, not about causes."
    )
    band = interval_name("confidence", found.confidence_level).replace("interval", "band")
    figure = Figure("effects", caption, _chart(found.curves, plain(rows.inputs.target), band))
    yield Section("Curves of the most important features", [figure], folded=True)


def _importance(found: Effects, rows: Rows) -> Table:
    drawn = " drawn at random from those" if found.n_rows < unseen_rows(rows.inputs).sum() else ""
    which = f"{rows_text(found.n_rows)}{drawn} that the model was not trained on"
    heading = "rises by"
    what = "How much the typical error (RMSE) grows on"
    if not found.has_targets:
        which, heading = rows_text(found.n_rows), "move by"
        what = "How far predictions move (root mean square) on"
    caption = f"{what} {which} when a column is shuffled."
    caption += (
        " The standard error counts the chance in rows and shuffles. A number smaller than two of "
        "them is no clear sign that the model uses the column. Columns that go together share "
        "their importance."
    )
    frame = found.importance.reset_index().head(MOST_LISTED)
    if (n := len(found.importance)) > len(frame):
        caption += f" The first {len(frame)} of {n:,} features."
    frame["feature"] = frame["feature"].map(plain)
    heading = f"{'error' if found.has_targets else 'predictions'} {heading}"
    heading += " ± standard error"
    shown = Column("importance", heading, rows.number_format, "importance_se")
    return Table("importance", caption, frame, [Column("feature"), shown])


def _chart(curves: "Mapping[str, pd.DataFrame]", target: str, band: str) -> Any:
    """Two panels for each feature: the prediction with its band of that name, and the sources."""
    import pandas as pd

    curves = {name: curve for name, curve in curves.items() if len(curve)}
    together = pd.concat(curves.values())
    means = together[[c for c in together if str(c).startswith("mean")]].to_numpy()
    sources = [source for source in SOURCES if f"{source}_sd" in together]
    deviations = together[[f"{source}_sd" for source in sources]].to_numpy()
    y = _vertical(unread(target), float(means.min()), float(means.max()))
    y_below = _vertical(DEVIATION, 0.0, float(deviations.max(initial=0.0)))
    names = {MEAN: INK}
    names |= {band: COLOURS["confidence"]} if "mean_ci_lower" in together else {}
    names |= {SOURCES[source]: COLOURS[source] for source in sources}
    scale = alt.Scale(domain=list(names), range=list(names.values()))
    colour = alt.Color("mark:N", title=None, scale=scale)
    charts = []
    for name, curve in curves.items():
        place, x, joined = _places(curve["value"], unread(plain(name)))
        ends = (curve.get("mean_ci_lower"), curve.get("mean_ci_upper"))
        mean = place.assign(mark=MEAN, band=band, y=curve["mean"], low=ends[0], high=ends[1])
        charts.append(_panel(mean, x, y, colour, joined=joined))
        lines = [place.assign(mark=SOURCES[s], y=curve[f"{s}_sd"]) for s in sources]
        charts += [_panel(pd.concat(lines), x, y_below, colour, joined=joined)] if lines else []
    return alt.concat(*charts, columns=2).resolve_scale(color="shared")


def _vertical(title: str, low: float, high: float) -> dict[str, Any]:
    """What all panels of a kind have in common, so that features can be compared."""
    scale = alt.Scale(domain=[low, high], nice=True, zero=False)
    return {"title": title, "scale": scale, "axis": alt.Axis(tickCount=5, **axis_format(high))}


def _places(value: "pd.Series[Any]", title: str) -> "tuple[pd.DataFrame, Any, bool]":
    """Where each value of a feature stands, the axis, and whether values between them exist."""
    import pandas as pd

    if value.dtype.kind == "M":
        x = value.astype("datetime64[ms]").astype("int64")
        places = pd.DataFrame({"x": x, "text": value.dt.strftime("%Y-%m-%d")})
        return places, date_axis("x", title), True
    if value.dtype.kind == "O":
        names = [plain(name) for name in value]
        places = pd.DataFrame({"x": range(len(names)), "text": names})
        return places, category_axis("x", title, names), False
    ends = robust_range(value.to_numpy(float)).tolist()
    places = pd.DataFrame({"x": rounded(value), "text": [f"{v:,.6g}" for v in value]})
    return places, number_axis("x", title, ends), True


def _panel(frame: "pd.DataFrame", x: Any, y: dict[str, Any], colour: Any, *, joined: bool) -> Any:
    """Lines over the values of a feature, and a band where there is one."""
    numbers = [name for name in ("y", "low", "high") if name in frame and frame[name].notna().all()]
    words = ["text", "mark", *(["band"] if "low" in numbers else [])]
    frame = frame[["x", *words]].assign(**{name: rounded(frame[name]) for name in numbers})
    base, shape = alt.Chart(frame).encode(x=x), ",.4~g"
    shown = [("text:N", "value"), ("mark:N", "what"), ("y:Q", "is", shape)]
    layers = []
    if "low" in frame:
        shown += [("low:Q", "from", shape), ("high:Q", "to", shape)]
        style = {"opacity": 0.5, "clip": True}
        band = base.mark_area(**style) if joined else base.mark_rule(strokeWidth=10, **style)
        named = band.transform_calculate(mark="datum.band")
        layers.append(named.encode(y=alt.Y("low:Q", **y), y2="high:Q", color=colour))
    lines = base.encode(y=alt.Y("y:Q", **y), color=colour, tooltip=parts.tooltips(*shown))
    layers += [lines.mark_line(clip=True)] if joined else []
    layers.append(lines.mark_point(filled=True, size=25 if joined else 50, clip=True))
    return alt.layer(*layers).properties(width=WIDTH // 2, height=170)
