"""`confide inspect`: what a model file holds."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from confide.cli.arguments import json_option, model_options
from confide.cli.session import errors_of, messages, say, say_json


@click.command(
    epilog="""\b
Examples:
  confide inspect model.confide
  confide inspect model.confide --json"""
)
@model_options
@json_option
def inspect(model: Path, network: Callable[..., Any] | None, as_json: bool) -> None:
    """Say what MODEL predicts, from which columns, and how it was made.

    A model file contains data and no code, so it is safe to open one that you do not know.
    """
    with messages("", *errors_of(network)):
        from confide import load
        from confide.workflow import described

        description = described(load(model, network=network))
        if as_json:
            say_json(description.to_json())
        else:
            say(*description.lines)
