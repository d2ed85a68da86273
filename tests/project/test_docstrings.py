"""Public functions and classes with many arguments say what these are, and what comes back."""

import ast
import importlib
import inspect
import re

import pytest
from support.markdown_blocks import ROOT

FEWEST_ARGUMENTS = 3
REFERENCE = "".join(path.read_text() for path in (ROOT / "docs" / "reference").glob("*.md"))
DOCUMENTED = sorted({"confide", *re.findall(r"^::: (\S+)", REFERENCE, re.MULTILINE)})


def is_ours(value):
    return (getattr(value, "__module__", None) or "").startswith("confide.")


def public_names(module):
    """Its `__all__`, or what its `__init__` imports as `x as x`."""
    nodes = ast.walk(ast.parse(inspect.getsource(module)))
    aliases = [alias for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names]
    imported = [alias.name for alias in aliases if alias.name == alias.asname]
    return getattr(module, "__all__", None) or imported


def opened(name):
    """What a name of the reference stands for: a module, a class or a function."""
    try:
        return importlib.import_module(name)
    except ImportError:
        home, _, attribute = name.rpartition(".")
        return getattr(importlib.import_module(home), attribute)


def public(name, value):
    """The classes, methods and functions that a reader of the reference can reach from a name."""
    if inspect.ismodule(value):
        for inner in public_names(value):
            yield from public(f"{value.__name__}.{inner}", getattr(value, inner))
    elif inspect.isclass(value) and is_ours(value):
        yield name, value
        for attribute, method in inspect.getmembers(value, inspect.isroutine):
            if not attribute.startswith("_") and is_ours(method):
                yield f"{name}.{attribute}", getattr(method, "__func__", method)
    elif inspect.isroutine(value) and is_ours(value):
        yield name, value


def n_arguments(value):
    if inspect.isclass(value) and issubclass(value, Exception):
        return 0
    return len(set(inspect.signature(value).parameters) - {"self", "cls"})


REACHABLE = {value: name for of in DOCUMENTED for name, value in public(of, opened(of))}
MANY = {name: value for value, name in REACHABLE.items() if n_arguments(value) >= FEWEST_ARGUMENTS}


def missing_sections(value, docstrings):
    """Sections that none of the docstrings has; dataclasses list their arguments as attributes."""
    text = "\n".join(inspect.cleandoc(docstring or "") for docstring in docstrings)
    sections = set(re.findall(r"^(\w+):$", text, re.MULTILINE))
    needed = [{"Args", "Attributes"}] if inspect.isclass(value) else [{"Args"}]
    if not inspect.isclass(value) and inspect.signature(value).return_annotation is not None:
        needed.append({"Returns", "Yields"})
    return [sorted(choices) for choices in needed if not choices & sections]


def overridden(name, value):
    """The docstring of a function, and those of the base classes' methods it takes the place of.

    A class with the arguments of its base needs no second description of them.
    """
    if inspect.isclass(value) and inspect.signature(value) == inspect.signature(value.__base__):
        return [value.__doc__, value.__base__.__doc__]
    home, _, attribute = name.rpartition(".")
    owner = opened(home) if home in REACHABLE.values() else None
    inherited = (vars(base).get(attribute) for base in getattr(owner, "__mro__", ()))
    return [value.__doc__, *(method.__doc__ for method in inherited if method is not None)]


def test_many_public_functions_are_looked_at():
    assert len(MANY) > 150
    assert {"confide.plot.plot_intervals", "confide.workflow.fit_table"} <= set(MANY)


@pytest.mark.parametrize("name", sorted(MANY))
def test_many_arguments_are_described_and_so_is_what_comes_back(name):
    assert missing_sections(MANY[name], overridden(name, MANY[name])) == []


def test_a_missing_section_is_seen():
    def four(a, b, c, d) -> int:
        """Adds.

        Args:
            a: a number.
        """

    assert missing_sections(four, [four.__doc__]) == [["Returns", "Yields"]]
    assert missing_sections(four, [four.__doc__, "Returns:\n    The sum."]) == []
    assert missing_sections(four, [None]) == [["Args"], ["Returns", "Yields"]]
