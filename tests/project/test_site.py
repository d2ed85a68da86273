"""The documentation site: built strictly, complete, without a network, and readable on a phone."""

import importlib.util
import re
import subprocess
import sys

import pytest
from support.browsing import WIDTHS
from support.markdown_blocks import ROOT

pytest.importorskip("mkdocs", reason="the site needs confide[docs]")
pytest.importorskip("material", reason="the site needs confide[docs]")

TOOLS = ROOT / "docs" / "tools"
PHONE = 390
MAIN_PAGES = (
    "",
    "docs/quick_start/",
    "docs/ideas/intervals/",
    "docs/guides/check_coverage/",
    "docs/equations/",
    "docs/notation/",
    "docs/reference/estimators/",
    "results/",
)


def tool(name):
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def built(folder):
    """What mkdocs says of the folder's `mkdocs.yml`, called as `make docs` calls it."""
    (command,) = re.findall(r"mkdocs (build .*)", (ROOT / "Makefile").read_text())
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", *command.split()],
        cwd=folder,
        env={"PYTHONPATH": str(TOOLS), "NO_MKDOCS_2_WARNING": "1", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The whole site, in folders of its own."""
    folder = tmp_path_factory.mktemp("site")
    config = (ROOT / "mkdocs.yml").read_text()
    config = config.replace("build/pages", str(folder / "pages")).replace("[src]", f"[{ROOT}/src]")
    config = config.replace("docs/tools/griffe", f"{TOOLS}/griffe")
    (folder / "mkdocs.yml").write_text(config)
    tool("assemble").assemble(folder / "pages")
    done = built(folder)
    assert done.returncode == 0, done.stderr
    return folder / "site"


def small_site(folder, **pages):
    """The settings of the site with a few pages, of which the navigation knows `index` alone."""
    yaml = pytest.importorskip("yaml")
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    config |= {"docs_dir": "pages", "plugins": [], "nav": ["index.md"], "extra_css": []}
    (folder / "pages").mkdir()
    for name, text in pages.items():
        (folder / "pages" / f"{name}.md").write_text(f"# Title\n\n{text}\n")
    (folder / "mkdocs.yml").write_text(yaml.safe_dump(config))
    return built(folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pages", "complaint"),
    [
        ({"index": "[link](nowhere.md)"}, "'nowhere.md'"),
        ({"index": "![picture](nowhere.png)"}, "'nowhere.png'"),
        ({"index": "[place](#nowhere)"}, "no such anchor"),
        ({"index": "[folder](docs/)"}, "unrecognized relative link"),
        ({"index": "", "lost": ""}, "lost.md"),
    ],
)
def test_a_mistake_in_a_page_fails_the_build(tmp_path, pages, complaint):
    done = small_site(tmp_path, **pages)
    assert done.returncode != 0
    assert complaint in done.stderr


@pytest.mark.slow
def test_a_page_without_a_mistake_is_built(tmp_path):
    done = small_site(tmp_path, index="[place](#title)")
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_pages_ask_no_other_host_for_anything(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        text = page.read_text()
        assert not re.findall(r'<(?:script|img|iframe)[^>]+src="?(?:https?:)?//', text), page
        assert not re.findall(r'<link[^>]+stylesheet[^>]+href="?(?:https?:)?//', text), page


@pytest.mark.slow
def test_formulas_are_drawn_by_the_browser_itself(site):
    text = (site / "docs" / "equations" / "index.html").read_text()
    assert text.count('display="block"') == PAGE_FORMULAS
    assert "merror" not in text
    docstring = (site / "docs" / "reference" / "uncertainty" / "index.html").read_text()
    assert "<math" in docstring
    for page in site.rglob("*.html"):
        assert r"\(" not in re.sub("<(script|code).*?</\\1>", "", page.read_text(), flags=re.DOTALL)


PAGE_FORMULAS = (
    len(re.findall(r"^\$\$$", (ROOT / "docs" / "equations.md").read_text(), re.MULTILINE)) // 2
)


@pytest.mark.slow
def test_the_reproduction_page_holds_its_tables_and_figures(site):
    text = (site / "results" / "index.html").read_text()
    linked = re.findall(
        r"\]\((paper/\w+/[\w-]+)\.(md|svg)\)", (ROOT / "results/README.md").read_text()
    )
    tables = {name for name, kind in linked if kind == "md"} - {"paper/tables/experiment-1"}
    figures = {name for name, kind in linked if kind == "svg"}
    assert text.count('<details class="table">') == len(tables) > 10
    for figure in figures:
        assert re.search(rf'<img[^>]+src="?{figure}\.svg', text), figure
    cell = re.search(
        r"boston \| BDE \| ([\d.]+)",
        (ROOT / "results/paper/tables/table-1-confidence.md").read_text(),
    )
    assert cell[1] in text


@pytest.mark.slow
def test_examples_in_docstrings_are_shown_as_code(site):
    text = (site / "docs" / "reference" / "uncertainty" / "index.html").read_text()
    assert "Examples:" in text
    assert "Example:" not in text


@pytest.mark.slow
def test_main_pages_fit_a_phone(site, open_page):
    for page in MAIN_PAGES:
        seen = open_page((site / page / "index.html").as_uri(), width=PHONE)
        whole, shown = seen.page.evaluate(WIDTHS)
        assert whole <= shown, page
        assert not [url for url in seen.requests if url.startswith("http")], page


def test_tables_and_figures_stand_below_the_paragraph_that_links_to_them(tmp_path):
    tables = tmp_path / "paper" / "tables"
    tables.mkdir(parents=True)
    (tables / "a-b.md").write_text('A "caption".\n\n| x |\n| --- |\n| 1 |\n')
    (tables / "long.md").write_text("Long.\n\n" + "| 1 |\n" * 100)
    text = (
        "One ([a](paper/tables/a-b.md), [f](paper/figures/f-1.svg)).\n\n"
        "Again [a](paper/tables/a-b.md), and [long](paper/tables/long.md).\n"
    )
    first, figure, title, table, second = (
        tool("assemble").reproduction(text, tmp_path).split("\n\n")
    )
    assert first.startswith("One")
    assert figure == "![f](paper/figures/f-1.svg)"
    assert title == "??? table \"A 'caption'.\""
    assert table == "    | x |\n    | --- |\n    | 1 |"
    assert second.startswith("Again")


def test_the_mirror_has_every_page_where_the_repository_has_it(tmp_path):
    tool("assemble").assemble(tmp_path / "pages")
    for name in ("CONTRIBUTING.md", "docs/files.md", "docs/one_dimension.png", "LICENSE"):
        assert (tmp_path / "pages" / name).read_bytes() == (ROOT / name).read_bytes()
    assert not list(tmp_path.rglob("__pycache__"))


def test_a_script_in_cells_is_shown_as_a_page(tmp_path):
    script = tmp_path / "wave.py"
    script.write_text(
        "# %% [markdown]\n# # A wave\n#\n# It waves.\n\n# %%\nimport this\n\n"
        "# %% Twice.\nx = 1\n\n\nx = 2\n"
    )
    page = tool("assemble").example_page(script, has_picture=True)
    assert page == (
        "# A wave\n\nIt waves.\n\n![Its picture](../docs/pictures/wave.png)\n\n"
        "```python\nimport this\n```\n\nTwice.\n\n```python\nx = 1\n\n\nx = 2\n```\n"
    )
    assert "picture" not in tool("assemble").example_page(script, has_picture=False)


def test_links_to_a_script_lead_to_its_page(tmp_path):
    tool("assemble").assemble(tmp_path)
    assert "](../../examples/novelty.md)" in (tmp_path / "docs/guides/novelty.md").read_text()
    assert (tmp_path / "examples" / "novelty.md").read_text().startswith("# Rows unlike")


def test_prose_that_a_block_prints_is_wrapped_and_a_table_is_not():
    tools = tool("assemble")
    table, prose = "a  b\n1  2\n", "word " * 30 + "\n"
    page = f"```text\n{table}```\n\n```python\n{prose}```\n\n```text\n{prose}```\n"
    assert tools.OUTPUT.sub(tools.shown_output, page) == page.replace(
        f"```text\n{prose}", f"```{{.text .prose}}\n{prose}"
    )
    assert ".prose code" in (TOOLS / "site.css").read_text()


def test_a_page_that_is_gone_is_gone_from_the_mirror(tmp_path):
    (tmp_path / "old.md").write_text("old")
    tool("assemble").assemble(tmp_path)
    assert not (tmp_path / "old.md").exists()


def test_formulas_become_mathml_in_line_and_by_themselves():
    markdown = pytest.importorskip("markdown")
    pytest.importorskip("latex2mathml", reason="the site needs confide[docs]")
    arithmatex = "pymdownx.arithmatex"
    html = markdown.markdown(
        "Say $x^2 \\mathbb V$.\n\n$$\n\\frac1M\n$$\n\nPrices: $3 and `$y$`.",
        extensions=[arithmatex, tool("mathml").MathML()],
        extension_configs={arithmatex: {"generic": True}},
    )
    assert "<msup><mi>x</mi><mn>2</mn></msup><mi>&#x1D54D;</mi>" in html
    assert re.search(r'display="block".*<mfrac><mn>1</mn><mi>M</mi></mfrac>', html)
    assert html.count("<math") == 2
    assert "Prices: $3 and <code>$y$</code>." in html
