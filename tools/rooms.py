"""The rooms of the house and who imports whom, read off the code.

    python tools/rooms.py            # prints the graph
    python tools/rooms.py --write    # draws it into CONTRIBUTING.md

An arrow points from a room to one that it imports. Arrows that follow from others are left out, so
that the picture can be read; imports for type checkers alone do not count.
"""

import argparse
import ast
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "confide"
BEGIN, END = "<!-- rooms -->", "<!-- end of rooms -->"
Graph = dict[str, set[str]]


def room(path: Path) -> str:
    """The folder, or the file, of the package that a file belongs to."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_modules(path: Path) -> set[str]:
    """The modules of confide that a file imports."""
    found = set()
    for node in _run(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "confide":
            found |= {f"confide.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("confide."):
            found.add(str(node.module))
        elif isinstance(node, ast.Import):
            found |= {a.name for a in node.names if a.name.startswith("confide.")}
    return found


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """All that is run: not what stands under `if TYPE_CHECKING`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        yield from _run(child)


def rooms() -> Graph:
    """For each room those that it imports; what comes through the front door counts as that."""
    names = {room(path) for path in SOURCE.rglob("*.py")} - {"__init__"}
    graph: Graph = {name: set() for name in names}
    for path in SOURCE.rglob("*.py"):
        if room(path) != "__init__":
            imported = {module.split(".")[1] for module in imported_modules(path)}
            graph[room(path)] |= imported & names - {room(path)}
    return graph


def reduced(graph: Mapping[str, set[str]]) -> Graph:
    """The graph without arrows that follow from others."""
    reached: Graph = {}
    for name in TopologicalSorter(graph).static_order():
        reached[name] = graph[name].union(*(reached[other] for other in graph[name]))
    return {
        name: {
            other
            for other in others
            if not any(other in reached[between] for between in others - {other})
        }
        for name, others in graph.items()
    }


def as_mermaid(graph: Mapping[str, set[str]]) -> str:
    """The picture, as GitHub and most editors draw it."""
    arrows = [
        f"    {name} --> {other}"
        for name, others in sorted(reduced(graph).items())
        for other in sorted(others)
    ]
    return "\n".join(["```mermaid", "graph TD", *arrows, "```"])


def main() -> None:
    """Prints the picture, or writes it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="draw it into CONTRIBUTING.md")
    picture = as_mermaid(rooms())
    print(picture)
    if parser.parse_args().write:
        path = ROOT / "CONTRIBUTING.md"
        before, _, rest = path.read_text().partition(BEGIN)
        path.write_text(f"{before}{BEGIN}\n{picture}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
