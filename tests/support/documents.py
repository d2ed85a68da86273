"""A document with every kind of part and chart, small enough to count its marks."""

import numpy as np
import pandas as pd

from confide.document import (
    Column,
    Document,
    Figure,
    Section,
    Table,
    bands,
    histograms,
    lines_with_errors,
    scatter_against,
    violins,
)

EVIL = "<script>alert('x')</script>"


def scores():
    return pd.DataFrame(
        {
            "set": ["yacht", "boston"],
            "brier": [0.012345678901234567, np.nan],
            "brier_se": [0.00041, np.nan],
            "differs": [True, False],
            "rows": [308, 506],
        }
    )


def table(**changes):
    columns = [
        Column("set", "data set"),
        Column("brier", "Brier score", ".3g", "brier_se", "lower is better", "differs"),
        Column("rows", format=","),
    ]
    settings = {
        "name": "brier",
        "caption": "Scores.",
        "frame": scores(),
        "columns": columns,
        "mark": "differs from print",
    }
    return Table(**{**settings, **changes})


def coverages():
    """Two methods at two sets; the second method always covers."""
    spread = np.linspace(0.5, 0.98765, 25)
    return pd.concat(
        pd.DataFrame({"set": name, "method": method, "confidence_coverage": values, "level": 0.8})
        for name in ("yacht", "boston")
        for method, values in (("ours", spread), ("intervals that are wide", np.ones(25)))
    )


def violin_chart(**changes):
    settings = {"value": "confidence_coverage", "category": "method", "facet": "set", "level": 0.8}
    return violins(coverages(), **{**settings, **changes})


def scatter_chart(**changes):
    frame = pd.DataFrame(
        {
            "set": ["a", "b", "c"],
            "method": ["naive", "naive", "dropout"],
            "ours": [0.01, 0.02, 0.03],
            "theirs": [0.02, 0.01, 0.3],
            "ours_se": [0.001, 0.03, np.nan],
        }
    )
    settings = {"x": "ours", "y": "theirs", "category": "method", "label": "set"}
    return scatter_against(frame, **{**settings, "x_error": "ours_se", **changes})


def line_chart(**changes):
    frame = pd.DataFrame(
        {
            "training_rows": [100, 1000, 100, 1000],
            "variance": [1.0, 0.1, 2.0, 0.2],
            "se": 0.05,
            "fitted": [1.0, 0.11, 2.0, 0.22],
            "method": ["a", "a", "b", "b"],
        }
    )
    settings = {"x": "training_rows", "y": "variance", "error": "se", "category": "method"}
    settings |= {"log_x": True, "log_y": True, "fitted": "fitted"}
    return lines_with_errors(frame, **{**settings, **changes})


def histogram_chart():
    frame = pd.DataFrame(
        {"set": s, "method": m, "error_start": i, "error_end": i + 1, "count": 1 + i}
        for s in ("yacht", "boston", "wine")
        for m in ("a", "b")
        for i in range(4)
    )
    return histograms(
        frame,
        bin_start="error_start",
        bin_end="error_end",
        count="count",
        category="method",
        facet="set",
    )


def band_chart():
    x = np.linspace(0, 1, 11)
    frame = pd.concat(
        pd.DataFrame({"x": x, "y": x, "lower": x - w, "upper": x + w, "interval": name})
        for name, w in (("95 % prediction", 1.0), ("95 % confidence", 0.2))
    )
    points = pd.DataFrame({"x": [0.1, 0.5, 0.7], "y": [0.0, 0.6, 0.9]})
    columns = {"x": "x", "y": "y", "lower": "lower", "upper": "upper", "category": "interval"}
    return bands(frame, points=points, **columns)


CHARTS = {
    "violins": violin_chart,
    "scatter": scatter_chart,
    "lines": line_chart,
    "histograms": histogram_chart,
    "bands": band_chart,
}


def figure(name, caption="A figure."):
    return Figure(name, caption, CHARTS[name]())


def wide_table():
    """Wider than a phone; 0.5 comes before 0.25 as a word, not as a number."""
    frame = pd.DataFrame(
        {"set": ["b", "c", "a", "d"], "value": [0.5, 10.0, np.nan, 0.25]}
        | {f"another_column_{i}": [1, 2, 3, 4] for i in range(12)}
    )
    columns = [Column(name) for name in frame.columns]
    return Table("wide", "More columns than a phone is wide.", frame, columns)


def document():
    evil = pd.DataFrame({"set": [EVIL, "safe"], "value": [1.0, 2.0]})
    return Document(
        "Coverage of intervals",
        "**Found**: something.",
        [
            Section("Tables", ["Words.", table(), wide_table()]),
            Section(
                "Charts",
                [
                    figure("violins", f"A caption with {EVIL}."),
                    Section("More", [figure(name) for name in CHARTS if name != "violins"]),
                ],
            ),
            Section("Evil", [Table("evil", EVIL, evil, [Column("set"), Column("value")])]),
        ],
        {"seed": "0", "note": EVIL},
    )
