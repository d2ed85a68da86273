"""`confide export`: from a model to a file that runs without Python."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from confide.cli.arguments import Within, force_option, model_options, refuse_output
from confide.cli.session import errors_of, messages, say, say_written, starting


@click.command(
    epilog="""\b
Examples:
  confide export model.confide model.onnx
  confide export model.confide model.onnx --level 0.8 --level 0.95"""
)
@model_options
@click.argument("output", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--level",
    "levels",
    type=Within(0, 1, min_open=True, max_open=True),
    multiple=True,
    default=[0.95],
    show_default=True,
    help="Confidence level of both kinds of intervals; may be given several times.",
)
@force_option
def export(
    model: Path,
    output: Path,
    network: Callable[..., Any] | None,
    levels: tuple[float, ...],
    force: bool,
) -> None:
    """Write MODEL as OUTPUT, an ONNX file that runs without Python.

    The file takes the columns of the table as they are, one input each: numbers as doubles, with
    NaN where they are missing, and categories as text, empty where they are missing. Its outputs
    have the names of the columns of `confide predict`. Novelty is not part of it. If onnxruntime
    is installed, the outputs are compared with the model on random rows before the file is written.
    This command needs the extra `confide[onnx]`.
    """
    refuse_output(output, model, force=force, endings=(".onnx",))
    with messages("", *errors_of(network)):
        with starting():
            from confide import load
            from confide.export import to_onnx
        difference = to_onnx(load(model, network=network), output, levels, overwrite=force)
        if difference is None:
            say("Not compared with the model: onnxruntime is not installed.", err=True)
        else:
            say(f"Largest relative difference from the model: {difference:.1e}.", err=True)
        say_written(output)
