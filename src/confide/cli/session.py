"""What surrounds a command: slow imports, signals to stop, and errors as a line for people.

Exit codes: 0 done, 1 it could not be done, 2 it was asked for wrongly, 128 and the number of the
signal that stopped it: 130 for Ctrl-C, 143 for SIGTERM.
"""

import contextlib
import os
import shlex
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import click

from confide.budget import Need, in_gigabytes, refuse_beyond_memory
from confide.terminal import plain, plain_json

# Errors that have a message for people.
PLAIN_ERRORS = (ModuleNotFoundError, OSError, TypeError, ValueError)
# Windows has no SIGHUP, of a terminal that is closed.
STOPS = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if sys.platform != "win32" else [])]
# For errors whose own advice names arguments of Python that no command has.
LOOK_AT_TABLE = (
    "Look for extreme values in the table and correct them, or leave columns out with --exclude; a "
    "network of your own may also be the cause."
)
# What messages that are meant for Python advise, and what does the same on the command line.
AS_OPTIONS = {
    "pass n_simulations=": "pass --simulations ",
    "pass more data, or a larger test_size": "pass more --rows",
    "`max_epochs='auto'`": "--epochs auto",
    "`hold_out_by` and `group`": "--hold-out-by and --group",
    "pass a number of epochs": "pass a number of --epochs",
    "Pass it: confide.load(path, network=...)": "Pass it with --network package.module:make",
}
ENDS = (".", "?", "!")
_asked_to_stop: list[int] = []


class Stop(KeyboardInterrupt):
    """A signal asked the command to stop."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.exit_code = 128 + number  # as shells have it


class Unheard:
    """Standard error that may be full, or whose reader may leave: what it says is lost then.

    The work is not: `confide fit 2>&1 | head -1` keeps the model.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Says something, to anyone who listens."""
        with _silenced_if_deaf(self._stream):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """The same for what is still to be said."""
        with _silenced_if_deaf(self._stream):
            self._stream.flush()


class Commands(click.Group):
    """Commands whose errors, click's own among them, are plain text."""

    def main(self, *args: Any, **how: Any) -> Any:
        """Runs a command line, whatever its standard streams are."""
        _open_closed_streams()
        before = sys.stderr
        if before is not None:
            sys.stderr = Unheard(before)
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _say_warning
                # A home that cannot be written to only costs time.
                warnings.filterwarnings("ignore", "Error writing persistent compilation cache")
                return super().main(*args, **how)
        except OSError as error:  # of a page of help, on a full disk
            _silence(sys.stdout)
            say(f"Error: {_in_words(error)}.", err=True)
            raise SystemExit(1) from None
        finally:
            sys.stderr = before

    def invoke(self, ctx: click.Context) -> Any:
        """Runs a command; only the first line of an error may stand at the margin."""
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            error.message = "\n  ".join(  # type: ignore[misc]
                map(plain, error.message.split("\n"))
            )
            raise


def say(*lines: object, err: bool = False, fg: str | None = None) -> None:
    """Prints lines of plain text: each argument is one line, whatever it holds."""
    for line in lines:
        click.secho(plain(_with_options(str(line))), err=err, fg=fg)


def say_written(*outputs: Path) -> None:
    """Names the files that were written; what went to standard output stays alone there."""
    say(*(output for output in outputs if not is_standard_output(output)))


def is_standard_output(output: Path) -> bool:
    """Whether it is another name of standard output, such as /dev/stdout."""
    try:
        return os.path.samestat(output.stat(), os.fstat(1))
    except OSError:
        return False


def say_next(*words: object, **options: object) -> None:
    """Says what to do next, as a command that can be pasted; options without a value are left out.

    Args:
        words: the command and its arguments.
        options: by their names; True for one that is a flag.
    """
    line = ["confide", *map(str, words)]
    for name, value in options.items():
        if value is not None and value is not False:
            line += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    say(f"Next: {shlex.join(line)}", err=True)


def _with_options(text: str) -> str:
    """A message in which advice for Python is advice for the command line."""
    for in_python, option in AS_OPTIONS.items():
        text = text.replace(in_python, option)
    return text


def _say_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """What Python would print with a file and a line of ours, and with escapes as they are."""
    say(f"Warning: {message}", err=True, fg="yellow")


def say_need(need: Need, what: str) -> None:
    """Says what the work that starts now will take, if that is worth a word.

    Raises:
        TooLargeError: the machine has not so much memory.
    """
    refuse_beyond_memory(need.bytes, what)
    if line := str(need):
        say(line, err=True)


def say_worker(bytes_: float, engine: str) -> None:
    """Says what memory a machine of a cluster needs for each of its cores that is to work."""
    if engine == "ray":
        say(f"Each worker of Ray needs about {in_gigabytes(bytes_)} of memory.", err=True)


def say_json(payload: Any) -> None:
    """Prints a result for other programs."""
    click.echo(plain_json(payload))


@contextlib.contextmanager
def refusals(*kinds: type[Exception]) -> Iterator[None]:
    """Errors of these kinds are wrong usage: exit code 2, and the message alone."""
    try:
        yield
    except kinds as error:
        raise click.UsageError(_in_words(error)) from None


@contextlib.contextmanager
def messages(kept: str = "", *more: type[Exception]) -> Iterator[None]:
    """Errors without a traceback; `kept` says what is left of the work.

    `more` names further kinds of error that are shown so.
    """
    try:
        with _remembering_stops():
            yield
    except click.ClickException:
        raise
    except BrokenPipeError:
        _silence(sys.stdout)  # the reader (`head`) has seen enough
        raise SystemExit(1) from None
    except (*PLAIN_ERRORS, *more) as error:  # type: ignore[misc]
        sentence = _in_words(error)
        stop = "" if sentence.endswith(ENDS) else "."
        raise click.ClickException(f"{sentence}{stop} {kept}".rstrip()) from None
    except MemoryError as error:
        message = f"There is not enough memory for this table. {error}".rstrip()
        raise click.ClickException(message) from None
    except KeyboardInterrupt as stop:
        with contextlib.suppress(OSError):  # the terminal may be gone
            say(f"Stopped. {kept}".rstrip(), err=True)
        raise SystemExit(getattr(stop, "exit_code", 130)) from None


def _open_closed_streams() -> None:
    """Else a file that is opened gets a closed stream's number, and what libraries say there."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free, which is this


@contextlib.contextmanager
def _silenced_if_deaf(stream: Any) -> Iterator[None]:
    try:
        yield
    except OSError:
        _silence(stream)


def _silence(stream: Any) -> None:
    """What Python would still flush goes nowhere."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def errors_of(own: Callable[..., Any] | None) -> tuple[type[Exception], ...]:
    """What may go wrong in a function of the user's own: anything."""
    return () if own is None else (Exception,)


def stop_if_asked() -> None:
    """For the moment before a result is written.

    An interrupt that comes inside a callback, such as that of a weak reference, is lost.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed, or another signal came, and was lost.
    """
    if _asked_to_stop:
        raise Stop(_asked_to_stop[0])


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """Imports that take a while.

    Python loses an interrupt that comes inside a callback of an import, and the command would go
    on. Nothing is at stake here yet, so Ctrl-C ends the process at once.
    """
    with _handling(_end):
        yield


@contextlib.contextmanager
def starting() -> Iterator[None]:
    """Imports that take seconds, and programs that an earlier command has compiled."""
    with importing():
        yield
        from confide import enable_compilation_cache

        with contextlib.suppress(OSError):  # a home that cannot be written to only costs time
            enable_compilation_cache()


@contextlib.contextmanager
def _remembering_stops() -> Iterator[None]:
    """Signals to stop raise, so that files are tidied up, and are known of: see `stop_if_asked`."""
    _asked_to_stop.clear()

    def remember(number: int, _: Any) -> NoReturn:
        _asked_to_stop.append(number)
        raise Stop(number)

    with _handling(remember):
        yield


@contextlib.contextmanager
def _handling(handler: Callable[..., Any]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's alone
        return
    before = {number: signal.getsignal(number) for number in STOPS}
    # What is ignored, as nohup does it, stays so; None is a handler that is not Python's.
    ours = [
        number
        for number, old in before.items()
        if number == signal.SIGINT or old not in (signal.SIG_IGN, None)
    ]
    for number in ours:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])


def _end(number: int, _: Any) -> NoReturn:
    os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, b"Stopped.\n")
    os._exit(128 + number)  # as shells have it


def _in_words(error: Exception) -> str:
    """Its message, and notes such as which target it is of."""
    sentence, notes = _without_notes(error), getattr(error, "__notes__", [])
    return " ".join([sentence + "." * (not sentence.endswith(ENDS)), *notes]) if notes else sentence


def _without_notes(error: Exception) -> str:
    if (problem := getattr(error, "problem", None)) is not None:
        return f"{problem} {LOOK_AT_TABLE}"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    # An error of Python's own says little without its name.
    of_python = type(error).__module__ == "builtins" and not isinstance(error, PLAIN_ERRORS)
    return f"{type(error).__name__}: {error}" if of_python else _with_options(str(error))
