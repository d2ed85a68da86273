"""Pages in a browser: what is drawn, sorted, asked for, and how it fits."""

import pytest
from support.browsing import WIDTHS, column, drawn, outside_requests, until
from support.documents import CHARTS, EVIL, document
from support.experiment_cells import every_run

from confide.document import write_document
from confide.experiments import document_of, runs_in


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    return write_document(document(), tmp_path_factory.mktemp("page")).as_uri()


@pytest.fixture
def visit(open_page, address):
    """Opens the page as one reader sees it, and keeps what it complains about and asks for."""
    return lambda width=1280, scheme="light", to=address: open_page(to, width, scheme)


@pytest.fixture
def wide(visit):
    return visit().page


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_draws_all_without_complaint_or_request(visit, width, scheme):
    seen = visit(width, scheme)
    assert seen.complaints == []
    assert outside_requests(seen) == []
    # Violins, medians and levels; diagonal, bars and points; lines, bars and points; bins and
    # outlines; bands, curves, observations and unseen points.
    expected = {"violins": 10, "scatter": 7, "lines": 12, "histograms": 30, "bands": 29}
    assert drawn(seen.page) == {f"figure-{name}": expected[name] for name in CHARTS}


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_page(visit, width):
    page = visit(width).page
    whole, seen = page.evaluate(WIDTHS)
    assert whole == seen == width
    widths = page.evaluate(
        """[...document.querySelectorAll('.drawing')].map(d =>
        [d.querySelector('svg').viewBox.baseVal.width, d.clientWidth])"""
    )
    # Drawn at that size, not shrunk to it: text keeps its size.
    assert all(natural <= room for natural, room in widths), widths
    inner, outer = page.evaluate(
        "(box => [box.scrollWidth, box.clientWidth])(document.querySelector('#table-wide .scroll'))"
    )
    # A phone shows the rows of such a table as cards.
    assert (inner > outer) == (width == 1280)


@pytest.mark.parametrize("width", [1280, 390])
def test_a_table_that_is_wider_than_its_place_says_so(visit, width):
    found = visit(width).page.evaluate(
        """[...document.querySelectorAll('figure.table')].map(table => {
          const box = table.querySelector('.scroll');
          const said = getComputedStyle(table.querySelector('figcaption'), '::after').content;
          return [box.scrollWidth > box.clientWidth, said.includes('Scroll sideways')];
        })"""
    )
    assert all(is_wider == says_so for is_wider, says_so in found)
    assert {is_wider for is_wider, _ in found} == ({True, False} if width == 1280 else {False})


@pytest.mark.slow
def test_a_table_of_few_rows_is_never_cut(visit):
    heights = visit(390).page.evaluate(
        """[...document.querySelectorAll('.scroll')].map(box => {
          const body = box.querySelector('tbody');
          body.querySelectorAll('td').forEach(cell => { cell.style.height = '20rem'; });
          const few = box.scrollHeight - box.clientHeight;
          while (body.rows.length < 26) body.append(body.rows[0].cloneNode(true));
          return [few, box.clientHeight];
        })"""
    )
    assert all(hidden == 0 for hidden, _ in heights)
    assert all(height == 36 * 16 for _, height in heights)


@pytest.mark.slow
def test_figures_follow_the_width_of_the_window(visit):
    page = visit(1280).page
    page.set_viewport_size({"width": 390, "height": 800})
    until(
        page,
        "[...document.querySelectorAll('.drawing svg')].every(s => s.viewBox.baseVal.width <= 358)",
    )
    assert page.evaluate(WIDTHS) == [390, 390]


def test_a_heading_sorts_numbers_as_numbers_and_again_the_other_way_round(wide):
    heading = wide.locator("#table-wide th", has_text="value")
    assert column(wide, "wide", 2) == ["0.5", "10.0", "–", "0.25"]
    heading.locator("button").click()
    assert column(wide, "wide", 2) == ["0.25", "0.5", "10.0", "–"]
    assert heading.get_attribute("aria-sort") == "ascending"
    heading.locator("button").click()
    assert column(wide, "wide", 2) == ["10.0", "0.5", "0.25", "–"]
    assert column(wide, "wide", 1) == ["c", "b", "d", "a"]
    assert heading.get_attribute("aria-sort") == "descending"


def test_a_heading_sorts_by_keyboard_and_words_as_words(wide):
    wide.locator("#table-wide th button", has_text="value").click()
    wide.locator("#table-wide th button", has_text="set").focus()
    wide.keyboard.press("Enter")
    assert column(wide, "wide", 1) == ["a", "b", "c", "d"]
    sorted_by = wide.locator("#table-wide th[aria-sort=ascending]").all_inner_texts()
    assert len(sorted_by) == 1
    assert sorted_by[0].startswith("set")


def test_markup_from_outside_is_text(wide):
    assert column(wide, "evil", 1)[0] == EVIL
    assert EVIL in wide.locator("#figure-violins figcaption").inner_text()


def test_a_marked_cell_carries_a_symbol(wide):
    assert column(wide, "brier", 2) == ["0.0123 ± 0.0004†", "–"]
    assert "† differs from print" in wide.locator("#table-brier .note").inner_text()


def test_a_table_can_be_saved_from_the_page(wide):
    with wide.expect_download() as download:
        wide.locator("#table-brier .download").click()
    assert download.value.suggested_filename == "brier.csv"
    text = download.value.path().read_text(encoding="utf-8")
    assert text.splitlines()[:2] == [
        "set,brier,brier_se,differs,rows",
        "yacht,0.012345678901234567,0.00041,True,308",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "is_dark"), [("light", False), ("dark", True)])
def test_paper_and_ink_follow_the_scheme(visit, scheme, is_dark):
    page = visit(scheme=scheme).page
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    ink = page.evaluate("getComputedStyle(document.querySelector('.drawing svg text')).fill")
    assert (lightness(paper) < 50) is is_dark
    assert (lightness(ink) > 200) is is_dark
    assert abs(lightness(paper) - lightness(ink)) > 150


def lightness(colour):
    """Mean of red, green and blue of 'rgb(1, 2, 3)'."""
    return sum(map(int, colour.removeprefix("rgb(").removesuffix(")").split(","))) / 3


@pytest.mark.slow
def test_paper_is_white_in_print(visit):
    page = visit(scheme="dark").page
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert (
        page.evaluate("getComputedStyle(document.querySelector('.drawing svg text')).fill")
        == "rgb(0, 0, 0)"
    )


def test_a_violin_says_its_numbers_when_pointed_at(wide):
    wide.locator("#figure-violins svg .mark-area.role-mark path").first.hover()
    tooltip = wide.locator("#vg-tooltip-element.visible")
    tooltip.wait_for()
    assert "median confidence coverage" in tooltip.inner_text()
    assert "0.7438" in tooltip.inner_text()  # halfway between 0.5 and 0.98765


def test_a_click_on_a_name_in_a_legend_brings_it_forward(wide):
    points = wide.locator("#figure-scatter svg .mark-symbol.role-mark path")
    assert opacities(points) == ["0.9", "0.9", "0.9"]
    wide.locator("#figure-scatter .role-legend-label text", has_text="dropout").click()
    until(
        wide,
        """document.querySelector('#figure-scatter .mark-symbol.role-mark path')
        .getAttribute('opacity') === '0.12'""",
    )
    assert opacities(points) == ["0.12", "0.12", "0.9"]


def opacities(marks):
    return [mark.get_attribute("opacity") for mark in marks.all()]


def test_a_wheel_scrolls_the_page_over_a_scatter_and_zooms_with_alt(wide):
    chart = wide.locator("#figure-scatter svg")
    chart.scroll_into_view_if_needed()
    chart.hover()
    first = "document.querySelector('#figure-scatter .mark-symbol.role-mark path')"
    place = f"{first}.getAttribute('transform')"
    before, top = wide.evaluate(place), wide.evaluate("scrollY")
    wide.mouse.wheel(0, 40)
    until(wide, f"scrollY > {top}")
    assert wide.evaluate(place) == before
    wide.keyboard.down("Alt")
    wide.mouse.wheel(0, -40)
    until(wide, f"{place} !== '{before}'")


@pytest.fixture(scope="module")
def experiments(tmp_path_factory):
    """The report of all experiments, made of hand-made cells: its address and its document."""
    folder = tmp_path_factory.mktemp("experiments")
    every_run(folder / "runs")
    made = document_of(runs_in(folder / "runs"))
    return write_document(made, folder / "report").as_uri(), made


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_report_of_all_experiments_is_drawn_and_fits(visit, experiments, width, scheme):
    address, made = experiments
    seen = visit(width, scheme, to=address)
    assert seen.complaints == []
    assert outside_requests(seen) == []
    marks = drawn(seen.page)
    assert marks.keys() == {f"figure-{figure.name}" for figure in made.figures}
    assert all(marks.values()), marks
    assert seen.page.evaluate(WIDTHS) == [width, width]


@pytest.mark.slow
def test_every_table_of_the_experiments_can_be_sorted(visit, experiments):
    address, made = experiments
    page = visit(to=address).page
    for table in made.tables:
        if len(table.frame) < 2:
            continue
        first = page.locator(f"#table-{table.name} thead th").first
        first.locator("button").click()
        assert first.get_attribute("aria-sort") == "ascending"
        names = column(page, table.name, 1)
        assert names == sorted(names, key=str.casefold) or all(
            n.replace(",", "").isdigit() for n in names
        )
