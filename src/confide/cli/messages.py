"""What can go wrong, as a line for people, and with the right exit code.

0: done. 1: it could not be done. 2: it was asked for wrongly. 130: stopped by Ctrl-C.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from confide.cli.session import remembering_ctrl_c


@contextmanager
def refusals(kind: type[Exception] = ValueError) -> Iterator[None]:
    """What was asked for wrongly is wrong usage: exit code 2, and the message alone."""
    try:
        yield
    except kind as error:
        raise click.UsageError(str(error)) from None


@contextmanager
def messages(kept: str = "", *more: type[Exception]) -> Iterator[None]:
    """Errors without a traceback; `kept` says what is left of the work.

    `more` names further kinds of error that have a message for people.
    """
    try:
        with remembering_ctrl_c():
            yield
    except BrokenPipeError:
        # The reader (`head`) has seen enough. What Python would still flush goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except (ModuleNotFoundError, OSError, ValueError, *more) as error:  # type: ignore[misc]
        said = _said(error)
        stop = "" if said.endswith((".", "?", "!")) else "."
        raise click.ClickException(f"{said}{stop} {kept}".rstrip()) from None
    except MemoryError:
        raise click.ClickException("There is not enough memory for this table.") from None
    except KeyboardInterrupt:
        click.echo(f"Stopped. {kept}".rstrip(), err=True)
        raise SystemExit(130) from None  # 128 + SIGINT, as shells have it


def _said(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return str(error)
