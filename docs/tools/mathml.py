"""Formulas as MathML, which every browser draws by itself: no script, no font, no network.

A Python-Markdown extension behind `pymdownx.arithmatex`, which finds `$...$` and `$$...$$`; GitHub
draws the same source.
"""

import re
from xml.etree import ElementTree as ET

from latex2mathml.converter import convert_to_element
from markdown import Extension, Markdown
from markdown.treeprocessors import Treeprocessor

# Without its braces, `\mathbb V` would be an attribute that browsers no longer read.
STYLED = re.compile(r"(\\math(?:bb|cal)) (\w)")


class Formulas(Treeprocessor):
    r"""Replaces what arithmatex marked, `\(...\)` or `\[...\]`, by MathML."""

    def run(self, root: ET.Element) -> None:
        """Called with the tree of a page."""
        for element in root.iter():
            if "arithmatex" in element.get("class", "").split():
                tex = STYLED.sub(r"\1{\2}", (element.text or "").strip()[2:-2])
                display = "block" if element.tag == "div" else "inline"
                element.text = None
                element.append(convert_to_element(tex, display=display))


class MathML(Extension):
    """The extension."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Called when Markdown is set up."""
        # After the inline patterns (20), before everything that prettifies.
        md.treeprocessors.register(Formulas(md), "mathml", 15)


def makeExtension(**settings: object) -> MathML:
    """Python-Markdown's door."""
    return MathML(**settings)
