"""Arguments that several commands share, and what their values are checked for before any work."""

import contextlib
import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem, split_arg_string

from confide.cli.session import importing
from confide.errors import TargetError

if TYPE_CHECKING:
    from confide.tables import TableFile


class TablePath(click.ParamType):  # type: ignore[type-arg]
    """A file of a table, or - for standard input."""

    name = "file"

    def convert(self, value: Any, *_: Any) -> str | Path:
        """The path; whether it can be read is found out by reading it."""
        return value if value == "-" else Path(value)

    def shell_complete(self, _: Any, __: Any, incomplete: str) -> list[CompletionItem]:
        """Files, by the shell itself."""
        return [CompletionItem(incomplete, type="file")]


class ColumnName(click.ParamType):  # type: ignore[type-arg]
    """The name of a column of the table that the command is given."""

    name = "column"

    def shell_complete(self, _: Any, __: Any, incomplete: str) -> list[CompletionItem]:
        """The columns that start so, of the file that stands in the line."""
        # click gives up its parse at an option without a value, and forgets FILE: read the line.
        for word in split_arg_string(os.environ.get("COMP_WORDS", "")):
            if Path(word).is_file():
                with contextlib.suppress(Exception):  # what cannot be read has nothing to suggest
                    from confide.tables import TableFile

                    names = TableFile(word).schema.names
                    return [CompletionItem(name) for name in names if name.startswith(incomplete)]
        return []


class Factory(click.ParamType):  # type: ignore[type-arg]
    """A function of the user's own, as package.module:name; it is imported when it is needed."""

    name = "package.module:make"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Callable[..., Any]:
        """The function, from a module on Python's path or in the working folder."""
        module_name, _, name = str(value).partition(":")
        if not (module_name and name):
            self.fail(f"{value!r} must be package.module:make.", param, ctx)
        # As `python -m` has it: a file in the working folder is a module.
        folder, path = str(Path.cwd()), sys.path
        sys.path = [folder, *path] if folder not in path else path
        try:
            found: Any = importlib.import_module(module_name)
            for part in name.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError) as error:
            self.fail(f"{value!r} cannot be imported: {error}.", param, ctx)
        if not callable(found):
            self.fail(f"{value!r} is no function.", param, ctx)
        return found


table_argument = click.argument("file", type=TablePath())
model_argument = click.argument(
    "model", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
target_option = click.option(
    "-t", "--target", type=ColumnName(), required=True, help="The column to predict."
)
network_option = click.option(
    "--network",
    type=Factory(),
    default=None,
    help="A function that makes a network of your own, where the model has one.",
)
level_option = click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence level of both kinds of intervals.",
)
force_option = click.option("--force", is_flag=True, help="Replace a file that is there.")
json_option = click.option("--json", "as_json", is_flag=True, help="The result as JSON.")
seed_option = click.option("--seed", default=0, show_default=True, help="Same seed, same numbers.")


def output_option(
    default: str | None,
    help: str,  # noqa: A002
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`-o`, with what it is for."""
    return click.option(
        "-o",
        "--output",
        type=click.Path(dir_okay=False, path_type=Path),
        default=None if default is None else Path(default),
        show_default=default is not None,
        help=help,
    )


def refuse_output(
    output: Path | None, force: bool, *inputs: str | Path, endings: tuple[str, ...] = ()
) -> None:
    """What cannot be written is told before anything is read or trained."""
    refuse_name(output, *inputs, endings=endings)
    refuse_overwriting(output, force)


def refuse_name(output: Path | None, *inputs: str | Path, endings: tuple[str, ...] = ()) -> None:
    """A result that can have no such name, with or without --force."""
    if output is None:
        return
    if any(Path(each).exists() and output.exists() and output.samefile(each) for each in inputs):
        raise click.UsageError(f"{output} is what is read: choose another name for the result.")
    if not output.absolute().parent.is_dir():
        raise click.UsageError(f"There is no folder {output.parent}: make it first.")
    if endings and output.suffix.lower() not in endings:
        raise click.UsageError(f"{output.name!r} must end in {' or '.join(endings)}.")


def refuse_overwriting(output: Path | None, force: bool) -> None:
    """A result that is there already."""
    if output is not None and output.is_file() and not force:
        raise click.UsageError(f"{output} is there already. Add --force to replace it.")


def table_with_target(file: str | Path, target: str) -> "TableFile":
    """The file, opened; its columns are known before its rows are read.

    Raises:
        TargetError: the target is none of them.
    """
    with importing():
        from confide.tables import TableFile
    source = TableFile(file)
    if target not in source.schema.names:
        raise TargetError.of_missing(target, source.schema.names)
    return source


def listed_columns(_: click.Context, __: click.Parameter, value: str) -> list[str]:
    """The names in an option such as id,url."""
    return [name for name in value.split(",") if name]


exclude_option = click.option(
    "--exclude", default="", callback=listed_columns, help="Columns to leave out, as id,url."
)
