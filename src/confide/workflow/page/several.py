"""One page of several targets: a part for each, with the content of a page of its own."""

from collections.abc import Mapping
from dataclasses import replace

from confide.document import Document, Figure, Headlines, Panel, Part, Section, Table
from confide.workflow.page.text import plain


def document_of_targets(pages: Mapping[str, Document], file: str = "") -> Document:
    """The pages of several targets as one.

    Args:
        pages: by the names of the targets.
        file: name of the table's file.

    Returns:
        The page.
    """
    sections = [
        Section(plain(name), [Headlines(page.headlines), page.summary, *_numbered(page, i)])
        for i, (name, page) in enumerate(pages.items(), start=1)
    ]
    names = ", ".join(map(plain, pages))
    title = f"Predictions of {names}: {plain(file, 160)}" if file else f"Predictions of {names}"
    return Document(title, "", sections, _provenance(pages))


def _numbered(page: Document, number: int) -> list[Part]:
    return [_with_number(section, number) for section in page.sections]


def _with_number(part: Part, number: int) -> Part:
    """The same under a name of its own: names are those of files and anchors."""
    if isinstance(part, Section):
        return replace(part, parts=[_with_number(inner, number) for inner in part.parts])
    if isinstance(part, Figure) and part.filters is not None:
        part = replace(part, filters=f"{part.filters}-{number}")
    if isinstance(part, Table | Figure | Panel):
        return replace(part, name=f"{part.name}-{number}")
    return part


def _provenance(pages: Mapping[str, Document]) -> dict[str, str]:
    """What all targets have in common once, and the rest for each."""
    first, *others = (page.provenance for page in pages.values())
    common = {k: v for k, v in first.items() if all(other.get(k) == v for other in others)}
    own = {
        f"{plain(target)}: {name}": value
        for target, page in pages.items()
        for name, value in page.provenance.items()
        if name not in common
    }
    return {**common, **own}
