"""The program that evaluates a model's parts in a page."""

from importlib import resources


def evaluator() -> str:
    """JavaScript that defines `confideModel(parts)`, whose result answers for one row."""
    return resources.files("confide.export").joinpath("evaluate.js").read_text(encoding="utf-8")
