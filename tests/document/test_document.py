"""Documents say what their frames hold, exactly and always in the same bytes."""

import io
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from support.documents import (
    CHARTS,
    EVIL,
    coverages,
    document,
    figure,
    line_chart,
    scatter_chart,
    scores,
    table,
    violin_chart,
)

from confide.document import (
    Column,
    Document,
    Figure,
    Section,
    Table,
    brush,
    lines_with_errors,
    render_page,
    to_csv,
    to_markdown,
    to_svg,
    violins,
    write_document,
)
from confide.document.look import COLOURS
from confide.document.tables import with_error
from confide.extras import require

SVG = "{http://www.w3.org/2000/svg}"


def marks(svg, kind):
    """For each group of marks of that kind that is no guide: its shapes."""
    groups = [g for g in ET.fromstring(svg).iter(f"{SVG}g") if is_mark(g, kind)]  # noqa: S314
    return [[shape for shape in group if shape.tag != f"{SVG}defs"] for group in groups]


def is_mark(group, kind):
    classes = group.get("class", "").split()
    return f"mark-{kind}" in classes and "role-mark" in classes


def texts(svg):
    return ["".join(text.itertext()) for text in ET.fromstring(svg).iter(f"{SVG}text")]  # noqa: S314


def data(chart):
    """All rows that a chart holds."""
    specification = chart.to_dict()
    if "values" in specification.get("data", {}):
        return specification["data"]["values"]
    return [row for rows in specification["datasets"].values() for row in rows]


def test_markdown_shows_errors_marks_and_missing_values():
    assert to_markdown(table()) == (
        "Scores.\n"
        "\n"
        "| data set | Brier score | rows |\n"
        "| --- | ---: | ---: |\n"
        "| yacht | 0.0123 ± 0.0004 † | 308 |\n"
        "| boston | – | 506 |\n"
        "\n"
        "† differs from print\n"
    )


def test_markdown_keeps_markup_in_cells_as_text():
    frame = pd.DataFrame({"set": ["a|b*c*\n<i>", "deep_ensemble"]})
    lines = to_markdown(Table("t", "A [link](x).", frame, [Column("set")])).splitlines()
    assert lines[0] == r"A \[link\](x)."
    assert lines[4:] == [r"| a\|b\*c\* \<i\> |", "| deep_ensemble |"]


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0.98765, 0.0149, "0.988 ± 0.015"),
        (-0.00001, 0.02, "0.00 ± 0.02"),
        (5.25, 0.0, "5.25 ± 0"),
        (123456.0, 1400.0, "123,500 ± 1,400"),
        (0.00012, 0.00003, "0.00012 ± 0.00003"),
        (-3.21e-7, 4.3e-9, "(-3.21 ± 0.04)e-07"),
        (np.inf, 1.0, "inf ± 1"),
    ],
)
def test_a_value_ends_at_the_last_digit_of_its_error(value, error, text):
    assert with_error(value, error) == text


def test_a_value_without_its_error_takes_the_format_of_its_column():
    frame = pd.DataFrame({"a": [0.51234, 0.5], "se": [np.nan, 0.0123], "held": [True, False]})
    columns = [Column("a", format=".1%", error="se"), Column("held")]
    rows = to_markdown(Table("t", "c", frame, columns)).splitlines()[4:]
    assert rows == ["| 51.2% | yes |", "| 50.0 ± 1.2% | no |"]


def test_csv_has_no_text_that_a_spreadsheet_would_run():
    frame = pd.DataFrame({"=name": ["=1+1", "@sum", "-5", "fine", None], "n": [-1.0, 2, 3, 4, 5]})
    formulas = Table("formulas", "Caption", frame, (Column("=name", "name"), Column("n", "n")))
    lines = ["'=name,n", "'=1+1,-1.0", "'@sum,2.0", "-5,3.0", "fine,4.0", ",5.0"]
    assert to_csv(formulas).splitlines() == lines


def test_csv_keeps_every_digit_error_and_mark():
    read = pd.read_csv(io.StringIO(to_csv(table())), float_precision="round_trip")
    expected = scores()[["set", "brier", "brier_se", "differs", "rows"]]
    pd.testing.assert_frame_equal(read, expected, check_exact=True, check_dtype=False)


def test_the_page_shows_text_from_outside_as_text():
    page = render_page(document())
    assert EVIL not in page
    # In a cell, its sorting value, a caption, a provenance; as the caption of a figure, in JSON.
    assert page.count("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;") == 5
    assert page.count(r"\u003cscript>alert('x')\u003c/script>") == 1


def test_markdown_parts_keep_html_as_text_and_fetch_no_image():
    words = f"*yes* {EVIL} ![picture](https://example.org/x.png)"
    page = render_page(Document("t", "s", [Section("one", [words])]))
    assert "<em>yes</em> &lt;script&gt;" in page
    assert '<a href="https://example.org/x.png">picture</a>' in page


def test_the_page_asks_no_other_host():
    page = render_page(document())
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
    assert "unsafe-eval" not in policy
    outside_scripts = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r'(src|href)="(?!#|data:)|url\(|@import', outside_scripts)


def test_the_contents_link_to_each_section_once():
    sections = [Section("Same", [Section("Same", ["a"])]), Section("Same!", ["b"])]
    page = render_page(Document("t", "s", sections))
    links = re.findall(r'href="#(section[^"]*)"', page)
    assert links == ["section-same", "section-same-2", "section-same-3"]
    assert re.findall(r'<h(\d) id="(section[^"]*)"', page) == list(zip("232", links, strict=True))


@pytest.mark.slow
def test_the_same_document_gives_the_same_bytes(tmp_path):
    pages = [write_document(document(), tmp_path / name) for name in ("one", "two")]
    contents = [
        {str(p.relative_to(page.parent)): p.read_bytes() for p in page.parent.rglob("*.*")}
        for page in pages
    ]
    assert contents[0] == contents[1]
    tables = [f"tables/{name}.{end}" for name in ("brier", "wide", "evil") for end in ("csv", "md")]
    figures = [f"figures/{name}.svg" for name in CHARTS]
    assert sorted(contents[0]) == sorted(["index.html", *tables, *figures])


def test_what_cannot_be_drawn_leaves_the_old_files(tmp_path):
    page = write_document(Document("old", "s", []), tmp_path)
    before = page.read_bytes()
    broken = Figure("broken", "No chart.", object())
    with pytest.raises(AttributeError, match="to_dict"):
        write_document(Document("new", "s", [Section("s", [broken])]), tmp_path)
    assert page.read_bytes() == before


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([table(), table()], "Two tables are named 'brier'.*rename one"),
        ([figure("lines"), figure("lines")], "Two figures are named 'lines'.*rename one"),
        (
            [table(), Section("inner", [table()])],
            "Two tables are named 'brier'",
        ),
    ],
)
def test_a_name_that_comes_twice_is_refused(parts, message):
    with pytest.raises(ValueError, match=message):
        Document("t", "s", [Section("one", parts)])


@pytest.mark.parametrize("name", ["../up", "A", "", "a b", "a--b", "a\n"])
def test_a_name_that_is_no_file_name_is_refused(name):
    with pytest.raises(ValueError, match="becomes a file name"):
        table(name=name)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"columns": [Column("brierr")]}, "no column 'brierr'.*Did you mean 'brier'"),
        ({"columns": [Column("brier", error="se")]}, "no column 'se'"),
        ({"columns": []}, "needs a column"),
        ({"mark": ""}, "say in `mark` what the mark means"),
    ],
)
def test_a_table_that_cannot_be_shown_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        table(**changes)


def test_sections_are_at_most_three_deep():
    inner = Section("inner", [Section("innermost", ["words"])])
    middle = Section("middle", [inner])
    assert middle.depth == 3
    with pytest.raises(ValueError, match="'outer' contains sections of 4 levels, but only 3"):
        Section("outer", [middle])


def test_every_section_has_an_anchor_of_its_own():
    titles = ["A", "A", "A 2", "价格", "租金"]
    page = render_page(Document("t", "", [Section(title, ["words"]) for title in titles]))
    anchors = re.findall(r'id="(section-[^"]*)"', page)
    assert len(set(anchors)) == len(anchors) == len(titles)


def test_the_caption_is_what_a_screen_reader_says():
    assert figure("lines", "What is seen.").specification["description"] == "What is seen."


def test_a_figure_alone_lies_on_white():
    svg = to_svg(figure("lines"))
    assert 'fill="white"' in svg
    assert 'fill="white"' not in json.dumps(figure("lines").specification)


def test_violins_are_drawn_for_each_method_and_set_with_median_and_level():
    svg = to_svg(figure("violins"))
    areas = marks(svg, "area")
    assert len(areas) == 4  # two methods at two sets
    assert [len(points) for points in marks(svg, "symbol")] == [2, 2]  # medians
    assert [len(rules) for rules in marks(svg, "rule")] == [1, 1]  # levels
    assert {"ours", "yacht", "boston", "confidence coverage"} <= set(texts(svg))


def test_violins_hold_densities_and_no_rows():
    rows = data(violin_chart())
    bodies = [row for row in rows if row["part"] == "body"]
    assert len(bodies) == 2 * (64 + 3)  # a grid, and the spike of the constant one, at two sets
    # Of the raw values only the quartiles are there.
    raw = set(coverages()["confidence_coverage"]) - {1.0}
    held = {value for row in rows for value in row.values() if isinstance(value, float)}
    quartiles = set(np.quantile(np.linspace(0.5, 0.98765, 25), [0.25, 0.5, 0.75]))
    assert held & raw <= quartiles | {0.5}
    assert all(0 <= row["value"] <= 1 for row in bodies)


def test_a_violin_of_equal_values_is_a_spike_there():
    frame = pd.DataFrame({"v": [0.7] * 5, "m": "a"})
    rows = data(violins(frame, value="v", category="m"))
    assert [row["value"] for row in rows] == pytest.approx([0.692, 0.7, 0.708])
    assert [row["high"] - row["low"] for row in rows] == pytest.approx([0, 0.84, 0])
    assert rows[0]["median"] == 0.7


def test_a_violin_puts_no_mass_beyond_its_bounds():
    """Half the values at 1: without folding, the violin would thin out where most of them are."""
    frame = pd.DataFrame({"v": np.r_[np.ones(50), np.linspace(0.6, 1, 50)], "m": "a"})
    rows = data(violins(frame, value="v", category="m"))
    heights = [row["high"] - row["low"] for row in rows]
    assert rows[-1]["value"] == 1
    assert max(heights) == heights[-1] == pytest.approx(0.84)


def test_the_level_of_each_panel_may_be_a_column():
    frame = coverages().assign(level=lambda f: f["set"].map({"yacht": 0.8, "boston": 0.95}))
    settings = {"value": "confidence_coverage", "category": "method", "facet": "set"}
    rows = data(violins(frame, level="level", **settings))
    levels = {row["facet"]: row["value"] for row in rows if row["part"] == "level"}
    assert levels == {"yacht": 0.8, "boston": 0.95}


def test_violins_refuse_what_lies_beyond_their_bounds():
    with pytest.raises(ValueError, match=r"'v' must lie within \(0.0, 1.0\), got 1.5"):
        violins(pd.DataFrame({"v": [0.5, 1.5], "m": "a"}), value="v", category="m")


def test_a_scatter_tells_its_categories_by_colour_and_shape():
    svg = to_svg(figure("scatter"))
    (points,) = marks(svg, "symbol")
    assert [point.get("fill") for point in points] == [COLOURS[0], COLOURS[0], COLOURS[1]]
    paths = [point.get("d") for point in points]
    assert paths[0] == paths[1] != paths[2]
    assert [len(bars) for bars in marks(svg, "rule")] == [3]
    assert "on the horizontal axis is better" in " ".join(texts(svg))


def test_an_error_bar_stays_positive_on_a_logarithmic_axis():
    rows = [row for row in data(scatter_chart()) if "x_low" in row]
    assert [row["x_low"] for row in rows] == pytest.approx([0.009, 0.007, 0.03])
    assert [row["x_high"] for row in rows] == pytest.approx([0.011, 0.05, 0.03])


def test_a_logarithmic_axis_refuses_zero():
    frame = pd.DataFrame({"n": [1, 2], "v": [0.0, 1.0], "m": "a"})
    settings = {"x": "n", "y": "v", "error": None, "category": "m"}
    with pytest.raises(ValueError, match=r"needs positive values, got 0\.0 in the column 'v'"):
        lines_with_errors(frame, **settings, log_y=True)
    assert len(data(lines_with_errors(frame, **settings))) == 2


def test_lines_join_points_and_dash_what_is_fitted():
    svg = to_svg(figure("lines"))
    lines = [line for group in marks(svg, "line") for line in group]
    assert [line.get("stroke-dasharray") for line in lines] == [None, None, "6,4", "6,4"]
    assert [len(points) for points in marks(svg, "symbol")] == [4]
    assert [len(bars) for bars in marks(svg, "rule")] == [4]
    without = to_svg(Figure("one", "One.", line_chart(error=None, fitted=None)))
    assert (len(marks(without, "line")), len(marks(without, "rule"))) == (2, 0)


def test_histograms_have_a_panel_for_each_facet_in_the_order_of_the_frame():
    svg = to_svg(figure("histograms"))
    assert [len(bins) for bins in marks(svg, "rect")] == [8, 8, 8]
    assert len([line for group in marks(svg, "line") for line in group]) == 6
    assert [text for text in texts(svg) if text in {"yacht", "boston", "wine"}] == [
        "yacht",
        "boston",
        "wine",
    ]
    assert "count against error" in texts(svg)


def test_bands_show_curves_edges_and_observations():
    svg = to_svg(figure("bands"))
    assert len([area for group in marks(svg, "area") for area in group]) == 2
    assert [len(points) for points in marks(svg, "symbol")] == [3, 22]  # observed, unseen
    assert {"95 % confidence", "95 % prediction"} <= set(texts(svg))


@pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)
def test_charts_name_their_own_views_and_selections(chart):
    """Altair's own names differ between its versions, and in older ones from call to call."""
    specification = json.dumps(chart().to_dict())
    assert '"highlight"' in specification
    assert not re.search(r'"(view|param)_', specification)


@pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)
def test_colours_are_those_a_colour_blind_reader_tells_apart(chart):
    specification = json.dumps(chart().to_dict())
    colours = set(re.findall(r"#[0-9A-Fa-f]{6}", specification))
    assert colours == set(COLOURS[:2])


def test_a_chart_says_which_columns_it_misses():
    with pytest.raises(ValueError, match=r"needs the columns \['theirss'\], got \['set', 'method'"):
        scatter_chart(y="theirss")


def test_a_chart_with_many_rows_is_written():
    """Altair refuses 5,000 rows unless told otherwise."""
    n = 6000
    frame = pd.DataFrame({"n": np.arange(n), "v": 1.0, "m": "a"})
    chart = lines_with_errors(frame, x="n", y="v", error=None, category="m")
    rows = [len(rows) for rows in Figure("one", "One.", chart).specification["datasets"].values()]
    assert rows == [n]


def test_the_extra_is_named_where_it_is_missing():
    with pytest.raises(
        ModuleNotFoundError,
        match=r"altairr is not installed. Install it: pip install 'confide\[report\]'",
    ):
        require("altairr", "report")


def test_importing_reports_loads_nothing_heavy():
    heavy = ["altair", "jinja2", "markdown_it", "vl_convert"]
    script = f"import sys, confide.document; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True
    )
    assert done.stdout.strip() == "[]"


def brushed_chart(**changes):
    alt = require("altair", "report")
    frame = pd.DataFrame({"key": ["a", "b"], "x": [1, 2], "y": [1, 2]}).rename(columns=changes)
    return alt.Chart(frame).mark_point().encode(x="x:Q", y="y:Q")


def test_a_figure_that_filters_names_its_table():
    filtering = Figure("f", "c", brushed_chart().add_params(brush()), "rows")
    rows = Table("rows", "c", pd.DataFrame({"key": ["a", "b"]}), [Column("key")])
    page = render_page(Document("t", "s", [Section("one", [filtering, rows])]))
    assert '<figure class="chart" id="figure-f" data-filters="table-rows">' in page
    assert '<figure class="table filtered" id="table-rows">' in page
    assert "dragging sideways across a figure selects rows" in page
    assert '<p class="brushed" hidden>' in page


def test_a_figure_that_filters_needs_its_table():
    filtering = Figure("f", "c", brushed_chart().add_params(brush()), "rows")
    rows = Table("row", "c", pd.DataFrame({"key": ["a", "b"]}), [Column("key")])
    message = r"Figure 'f' filters the table 'rows', .* has \['row'\]. Did you mean 'row'"
    with pytest.raises(ValueError, match=message):
        Document("t", "s", [Section("one", [filtering, rows])])


@pytest.mark.parametrize("chart", [brushed_chart(), brushed_chart(key="other").add_params(brush())])
def test_a_figure_that_filters_needs_a_brush_and_keys(chart):
    with pytest.raises(ValueError, match="needs a brush and data with the column 'key'"):
        _ = Figure("f", "c", chart, "rows").specification


def test_infinite_numbers_are_signs():
    frame = pd.DataFrame({"a": [np.inf, -np.inf, 1.0]})
    rows = to_markdown(Table("t", "c", frame, [Column("a", format=".1f")])).splitlines()[4:]
    assert rows == ["| ∞ |", "| -∞ |", "| 1.0 |"]
