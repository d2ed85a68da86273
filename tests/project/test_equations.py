"""docs/equations.md and the code agree: each equation has one home, which cites it."""

import importlib
import inspect
import re

import pytest
from support.markdown_blocks import ROOT

PAGE = (ROOT / "docs" / "equations.md").read_text()
ROW = re.compile(
    r"^\| (?P<number>(?:Eq\. \(\d\)|Algorithm \d)) \| `(?P<label>\w+)` \| [^|]+ "
    r"\| \[`(?P<home>[\w.]+)`\]\(reference/\w+\.md#(?P<anchor>[\w.]+)\) \|$",
    re.MULTILINE,
)
HOMES = {found["number"]: found for found in ROW.finditer(PAGE)}
# Counted in the LaTeX source of the preprint; an algorithm's label without its "alg:".
IN_THE_PAPER = {
    "Eq. (1)": "sigma",
    "Eq. (2)": "varianceeq",
    "Eq. (3)": "maintheorem",
    "Eq. (4)": "CICF",
    "Eq. (5)": "BS",
    "Eq. (6)": "PICFequation",
    "Algorithm 1": "CIalg",
    "Algorithm 2": "PIalg",
    "Algorithm 3": "simulationalgo",
    "Algorithm 4": "nnalgo",
}
IN_ITS_APPENDIX = ("statistic", "T2rewritten", "probtobound", "phi", "Fisher")
ASSUMPTIONS = ("assumption1", "assumption2", "assumption3")
SOURCES = {path: path.read_text() for path in (ROOT / "src" / "confide").rglob("*.py")}
# "Eq. (2) (`varianceeq`)", but not another paper's "their Eq. (5)".
CITATION = re.compile(
    r"(?<!their )(Eq\. \(\d+\)|Algorithm \d+)(?:,? lines? \w+)?(?:\s+\(`(\w+)`\))?"
)
NAMES = {
    name
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    for name in re.findall(r"`(confide(?:\.\w+)+)(?:\(.*?\))?`", path.read_text())
}


def named(dotted: str) -> object:
    """The module, class, function or attribute of that name."""
    parts = dotted.split(".")
    for n in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for part in parts[n:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(dotted)


def test_every_equation_and_algorithm_of_the_paper_is_on_the_page():
    assert {number: found["label"] for number, found in HOMES.items()} == IN_THE_PAPER
    for label in (*IN_ITS_APPENDIX, *ASSUMPTIONS):
        assert f"`{label}`" in PAGE


@pytest.mark.parametrize("number", IN_THE_PAPER)
def test_the_home_cites_its_equation_by_number_and_label(number):
    found = HOMES[number]
    docstring = inspect.getdoc(named(found["home"]))
    cited = [match.groups() for match in CITATION.finditer(docstring)]
    assert (number, found["label"]) in cited, docstring
    assert found["anchor"] == found["home"]


def test_every_citation_in_the_code_is_that_of_the_paper():
    cited = {
        (number, label, path.name)
        for path, text in SOURCES.items()
        for number, label in CITATION.findall(text)
    }
    assert len(cited) > 2 * len(IN_THE_PAPER)
    for number, label, name in cited:
        assert number in IN_THE_PAPER, name
        assert label in ("", IN_THE_PAPER[number]), name


def test_every_equation_is_written_out():
    for number in IN_THE_PAPER:
        assert f"**{number}**" in PAGE or number.startswith("Algorithm")


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_name_that_pages_mention_exists(name):
    assert named(name) is not None
