"""Arguments that several commands share, checked before any work."""

import contextlib
import importlib
import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem, split_arg_string

from confide.cli.session import importing, is_standard_output, refusals, say, starting
from confide.errors import TargetError, no_such_file
from confide.terminal import plain

if TYPE_CHECKING:
    import pandas as pd

    from confide.engines import Engine
    from confide.tables import TableFile

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
PICTURES = (".png", ".svg", ".pdf")
# Of anything that is counted: a fit with more epochs would end in no one's lifetime.
MOST = 1_000_000


# Where a command's context keeps what --network was given, to repeat it.
GIVEN_NETWORK = "confide.network"


class ColumnName(click.ParamType):  # type: ignore[type-arg]
    """The name of a column of the table that the command is given."""

    name = "column"

    def shell_complete(self, _: Any, __: Any, incomplete: str) -> list[CompletionItem]:
        """The columns of the file on the line that start with what is typed.

        Shells read a name in each line and print it raw, so names that would steer a terminal are
        left out.
        """
        # click gives up its parse at an option without a value, and forgets FILE: read the line.
        for word in split_arg_string(os.environ.get("COMP_WORDS", "")):
            if Path(word).is_file():
                with contextlib.suppress(Exception):  # what cannot be read has nothing to suggest
                    from confide.tables import TableFile

                    names = TableFile(word).schema.names
                    return [
                        CompletionItem(name)
                        for name in names
                        if name.startswith(incomplete) and plain(name) == name
                    ]
        return []


class Within(click.FloatRange):
    """A number in a range. NaN is refused, which a comparison alone would let pass."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"nan is not in the range {self._describe_range()}.", param, ctx)
        return number


class ModelFile(click.Path):
    """A model file; if there is none, the error names the most similar file."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Its path."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not path.exists():
            self.fail(f"{no_such_file(path)} `confide fit` writes one.", param, ctx)
        if path.is_dir():
            self.fail(f"{path} is a folder. Name a file that `confide fit` wrote.", param, ctx)
        return path


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
            function: Any = importlib.import_module(module_name)
            for part in name.split("."):
                function = getattr(function, part)
        except Exception as error:  # noqa: BLE001 - the module is the user's own, and may do anything
            of_import = isinstance(error, ImportError | AttributeError)
            kind = "" if of_import else f"{type(error).__name__}: "
            self.fail(f"{value!r} cannot be imported: {kind}{error}.", param, ctx)
        if not callable(function):
            self.fail(f"{value!r} is not a function.", param, ctx)
        if ctx is not None:
            ctx.meta[GIVEN_NETWORK] = str(value)
        return function


def listed_names(_: click.Context, __: click.Parameter, value: str | None) -> list[str] | None:
    """The names in an option such as id,url; None where it is not given."""
    return None if value is None else [name for part in value.split(",") if (name := part.strip())]


def names_option(name: str, purpose: str) -> Decorator:
    """An option that is a list of columns."""
    return click.option(name, default="", callback=listed_names, metavar="COLUMNS", help=purpose)


def output_option(default: str | None, purpose: str, *, folders: bool = False) -> Decorator:
    """`-o`, with what it is for, and whether it may be a folder."""
    return click.option(
        "-o",
        "--output",
        type=click.Path(dir_okay=folders, path_type=Path),
        default=None if default is None else Path(default),
        show_default=default is not None,
        help=purpose,
    )


def count_option(name: str, default: int | None, smallest: int, purpose: str) -> Decorator:
    """An option that is a whole number.

    Args:
        name: its name, with the hyphens.
        default: its value where it is not given.
        smallest: the smallest number that it may be.
        purpose: its help.

    Returns:
        The decorator.
    """
    return click.option(
        name,
        default=default,
        show_default=default is not None,
        type=click.IntRange(smallest, MOST),
        help=purpose,
    )


def choice_option(name: str, choices: Sequence[str], purpose: str) -> Decorator:
    """An option that is one of several words, the first by default."""
    kind = click.Choice(choices)
    return click.option(name, type=kind, default=choices[0], show_default=True, help=purpose)


def together(*decorators: Decorator) -> Decorator:
    """Several arguments and options as one decorator, in their order."""
    return lambda function: reduce(lambda f, decorate: decorate(f), decorators[::-1], function)


# A file of a table, or - for standard input; whether it can be read is found out by reading it.
table_argument = click.argument("file", type=click.Path(allow_dash=True, readable=False))
force_option = click.option("--force", is_flag=True, help="Replace an existing file.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
seed_option = click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="The same seed gives the same numbers.",
)
# Commands that read a model.
model_options = together(
    click.argument("model", type=ModelFile()),
    click.option(
        "--network",
        type=Factory(),
        help="The function that makes your own network, if the model has one.",
    ),
)


def prediction_options(level: float) -> Decorator:
    """Commands that predict the rows of a table, with intervals of that level by default."""
    return together(
        model_options,
        table_argument,
        click.option(
            "--level",
            type=Within(0, 1, min_open=True, max_open=True),
            default=level,
            show_default=True,
            help="Confidence level of both kinds of intervals.",
        ),
        force_option,
    )


# Commands that learn from a table.
training_options = together(
    table_argument,
    click.option(
        "-t",
        "--target",
        "targets",
        type=ColumnName(),
        required=True,
        multiple=True,
        help="The column to predict. Give it again for each further target.",
    ),
    names_option("--exclude", "Columns to leave out, such as url,remarks."),
    names_option("--categorical", "Columns to use as categories although they are whole numbers."),
    names_option("--numeric", "Columns to use as numbers although they seem to number the rows."),
    seed_option,
    json_option,
    force_option,
)


# Commands that may work elsewhere than in their own process.
engine_options = together(
    choice_option(
        "--engine",
        ["in-process", "joblib", "ray"],
        "Where to work: in this process on all cores, in several processes by joblib, or on Ray. "
        "The numbers are the same.",
    ),
    click.option(
        "--address", help="Address of a Ray cluster. Without it, Ray starts on this machine."
    ),
)


def chosen_engine(engine: str, address: str | None) -> "Engine":
    """The engine that the two options ask for."""
    if address is not None and engine != "ray":
        raise click.UsageError("--address is the address of a Ray cluster. Add --engine ray.")
    from confide.engines import named_engine

    return named_engine(engine, address)


def refuse_output(
    output: Path | None, *inputs: str | Path, force: bool = True, endings: tuple[str, ...] = ()
) -> None:
    """What cannot be written is refused before anything is read or trained.

    Args:
        output: where the result goes.
        inputs: what is read: it must not be overwritten.
        force: whether a file that is there may be replaced.
        endings: those that the name may have; none for any.
    """
    if output is None:
        return
    from confide.tables import is_address, public

    if is_address(address := str(output).replace(":/", "://", 1)):  # a path has one of two slashes
        raise click.UsageError(
            f"Results are written to this machine, not to an address such as {public(address)}. "
            "Name a file here, and copy it."
        )
    if is_standard_output(output) and click.get_current_context().params.get("as_json"):
        raise click.UsageError(
            f"--json prints to standard output, and {output} is the same. Name a file with -o."
        )
    with refusals(OSError):
        same = output.exists() and any(
            output.samefile(file) for path in inputs for file in _files_of(path)
        )
    if same:
        raise click.UsageError(f"{output} is also an input. Choose another name for the result.")
    if endings and output.suffix.lower() not in endings:
        raise click.UsageError(f"{output.name!r} must end in {' or '.join(endings)}.")
    from confide.persistence import check_target

    with refusals(OSError):
        check_target(output, force=force)


def _files_of(source: str | Path) -> list[str]:
    """The files of this machine that are read: of a folder or pattern, or the one of that name."""
    from confide.tables import is_address, is_of_many_files, parquet_files

    if is_address(source):
        return []
    if is_of_many_files(source):
        return parquet_files(source)
    return [str(source)] if Path(source).exists() else []


def training_table(
    file: str,
    targets: Sequence[str],
    output: Path | None,
    *,
    force: bool,
    may_be_long: bool = False,
    **columns: list[str],
) -> tuple[str, Any]:
    """The table to learn from; what can be refused is refused before its rows are read.

    Args:
        file: where it is.
        targets: the columns to predict.
        output: where the result goes.
        force: whether a file that is there may be replaced.
        may_be_long: whether Parquet files that are larger than memory are left on disk.
        columns: those to exclude, to use as categories and to use as numbers, see `as_meant`.

    Returns:
        The name of its file, and the whole table with its columns as they are meant; or a
        `LongTable` of it.

    Raises:
        TargetError: it has no such target, or no such column, or a target is named twice.
    """
    with importing():
        from confide.tables import TableFile, file_name
    source = TableFile(file)
    say_note(source)
    TargetError.check(targets, source.schema.names)
    # The last of these checks: --force is no answer to a misspelt target.
    refuse_output(output, force=force)
    with starting():
        from confide.workflow import as_meant, beyond_memory, long_table
    name = file_name(source.name)
    if may_be_long and beyond_memory(source):
        return name, long_table(source, lambda table: as_meant(table, **columns), say_long)
    return name, as_meant(source.read(), **columns)


def say_long(line: str) -> None:
    """What there is to say about a table that stays on disk."""
    say(line, err=True)


def say_note(source: "TableFile") -> None:
    """What there is to say about a file, such as that it has more sheets than one."""
    if source.note is not None:
        say(source.note, err=True)


def json_rows(frame: "pd.DataFrame") -> Any:
    """The rows of a table for JSON, by pandas' own writer: what is not a number becomes null."""
    return json.loads(frame.to_json(orient="records"))
