"""One picture: the CRPS of every contender on every table, as a ratio to the best one's."""

from typing import Any

import altair as alt
import pandas as pd

from confide.document.look import COLOURS, INK, WIDTH, fitted_width

from .contenders import CONTENDERS
from .data import DATA
from .summary import mean_ratio, ratios_to_best

ROW_HEIGHT = 28
OURS, THEIRS = "confide", "another library"
NAMES, RATIO = "contender:N", "CRPS as a ratio to the lowest of the table"


def crps_ratios(frame: pd.DataFrame) -> pd.DataFrame:
    """A row for each contender and table: the ratio, and its geometric mean over the tables."""
    ratios = ratios_to_best(frame, "crps")
    mean = mean_ratio(ratios).rename("mean").reset_index()
    rows = ratios.reset_index().melt("contender", value_name="ratio").dropna()
    return rows.merge(mean, on="contender")


def ratio_chart(frame: pd.DataFrame) -> alt.TopLevelMixin:
    """A small mark for each table and a large one for their mean; the best contender on top."""
    rows = crps_ratios(frame)
    who = [CONTENDERS[name] for name in rows["contender"]]
    drawn = pd.DataFrame(
        {
            "contender": [each.label for each in who],
            "whose": [OURS if each.is_confide else THEIRS for each in who],
            "table": [DATA[name].label for name in rows["data"]],
            "ratio": rows["ratio"].to_numpy(),
            "mean": rows["mean"].to_numpy(),
        }
    )
    order = list(dict.fromkeys(drawn.sort_values("mean", kind="stable")["contender"]))
    colour = alt.Color(
        "whose:N", title=None, scale=alt.Scale(domain=[OURS, THEIRS], range=list(COLOURS[:2]))
    )
    base = alt.Chart(drawn).encode(
        y=alt.Y(NAMES, title=None, sort=order, axis=alt.Axis(labelLimit=320)), color=colour
    )
    equal = alt.Chart(pd.DataFrame({"x": [1.0]})).mark_rule(color=INK, strokeDash=[1, 4])
    each = base.mark_tick(thickness=2, size=16, opacity=0.55).encode(
        x=_horizontal("ratio"), tooltip=[NAMES, "table:N", alt.Tooltip("ratio:Q", format=".2f")]
    )
    together = base.transform_aggregate(
        mean="mean(mean)", groupby=["contender", "whose"]
    ).mark_point(filled=True, size=130, opacity=1)
    return alt.layer(
        equal.encode(x="x:Q"),
        each,
        together.encode(
            x=_horizontal("mean"), tooltip=[NAMES, alt.Tooltip("mean:Q", format=".2f")]
        ),
    ).properties(width=WIDTH, height=ROW_HEIGHT * len(order), autosize=fitted_width(alt))


def _horizontal(field: str) -> Any:
    return alt.X(
        f"{field}:Q",
        title=RATIO,
        scale=alt.Scale(type="log", nice=False, padding=12),
        axis=alt.Axis(format="~g", values=[1, 1.2, 1.5, 2, 3, 5, 10, 20, 50]),
    )
