"""Commands that are stopped at random moments, or find no room, or a folder that is read-only."""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pyarrow.csv

import confide
from attacks.counts import Counts
from attacks.imported import Imported
from attacks.samples import saved_models, table

MODEL = "bootstrapped.plain"
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# Kills between two runs that may end, so that left-overs of several are met at once.
KILLS_PER_RUN = 10
PATIENCE = 300
COMMANDS = ("fit", "predict", "report", "export", "check", "demo")
QUICK = ("--epochs", "3", "--members", "2")
Words = Sequence[str | Path]
# Python ignores the signal of a file that is too large, and gets an error.
WITH_SMALL_FILES = """
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (limit := int(sys.argv.pop(1)), limit))
runpy.run_module("confide", run_name="__main__", alter_sys=True)
"""


def commands(folder: Path) -> dict[str, tuple[Words, str]]:
    """Each command that writes a file, but for its last word, the file, and the name of that."""
    homes = folder / "table.csv"
    if not homes.exists():
        pyarrow.csv.write_csv(table(), homes)
    model, quick = saved_models(folder, ("bootstrapped.table", "of the paper.plain"))
    return {
        "fit": (["fit", homes, "-t", "y", *QUICK, "--force", "-o"], "out.confide"),
        "predict": (["predict", model, homes, "--force", "-o"], "out.csv"),
        "report": (["report", model, homes, "--force", "-o"], "out.html"),
        "export": (["export", model, "--force"], "out.onnx"),
        "check": (
            [
                *("check", homes, "-t", "y", "--rows", "40", "--simulations", "1", "--force"),
                *("--model", quick, "-o"),
            ],
            "out.png",
        ),
        "demo": (["demo", "--members", "2", "-o"], "out.png"),
    }


def attack_with_signals(
    n: int, folder: Path, *, names: Sequence[str] = COMMANDS, seed: int = 0
) -> list[Counts]:
    """Counts of `n` kills of each command, beside those that came too late.

    Half of them come at a moment of the whole run, a quarter soon after the command opened its
    file, a quarter soon after something was in it.
    """
    generator, known = random.Random(seed), commands(folder)  # noqa: S311
    imported = Imported()
    try:
        return [
            _killed(n, name, known[name], folder / f"signals-{name}", generator, imported)
            for name in names
        ]
    finally:
        imported.close()


def _killed(
    n: int,
    name: str,
    known: tuple[Words, str],
    folder: Path,
    generator: random.Random,
    imported: Imported,
) -> Counts:
    asked = "the old file or the new one, nothing else after the next run"
    counts = Counts(f"signals: {name}", asked)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    file = folder / known[1]
    command = [*known[0], file]
    for _ in range(2):  # the first compiles
        start = time.monotonic()
        imported.start(command)
        if imported.wait() or not _is_whole(file):
            raise RuntimeError(f"{name} did not write {file}")
    duration = time.monotonic() - start
    killed = 0
    while killed < n and counts.tried < 4 * n:
        number = generator.choice(SIGNALS)
        before = file.read_bytes()
        code = _stopped(command, number, file, generator, duration, imported)
        is_whole = file.read_bytes() == before or _is_whole(file)
        fault = None if is_whole else f"{known[1]} is broken after {number.name}"
        counts.add(number.name if code else "done before", fault)
        killed += code != 0
        if counts.tried % KILLS_PER_RUN == 0 or killed == n:
            imported.start(command)
            if imported.wait():
                counts.faults.append("the next run failed")
            if left := [path.name for path in folder.iterdir() if path != file]:
                counts.faults.append(f"left over after the next run: {left}")
            print(counts, file=sys.stderr, flush=True)  # what a run that is stopped has found
    return counts


def _stopped(
    command: Words,
    number: signal.Signals,
    file: Path,
    generator: random.Random,
    duration: float,
    imported: Imported,
) -> int:
    """The exit code of a command that gets a signal, 0 if it was done before."""
    there = set(file.parent.iterdir())
    process = imported.start(command)
    end = time.monotonic() + generator.uniform(0, duration)
    if (chance := generator.random()) < 0.5:
        patience, fewest = time.monotonic() + 3 * duration, int(chance < 0.25)
        while not _has_new(file.parent, there, fewest) and time.monotonic() < patience:
            time.sleep(0.001)
        # What is written at the end is there for milliseconds.
        end = time.monotonic() + generator.expovariate(10 / duration if not fewest else 100)
    time.sleep(max(0.0, end - time.monotonic()))
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)
    return imported.wait()


def _has_new(folder: Path, there: set[Path], fewest: int) -> bool:
    """Whether a file has come that has some bytes."""
    for path in set(folder.iterdir()) - there:
        with contextlib.suppress(FileNotFoundError):  # it was renamed just now
            if path.stat().st_size >= fewest:
                return True
    return False


def attack_with_full_disks(
    n: int, folder: Path, *, names: Sequence[str] = COMMANDS[:4], seed: int = 0
) -> list[Counts]:
    """Counts of files that may not grow beyond a random size, as on a disk that fills up."""
    generator, known = random.Random(seed), commands(folder)  # noqa: S311
    counts = Counts("full disks", "a message, the old file, nothing else")
    place = folder / "full"
    for i in range(n):
        name = names[i % len(names)]
        words, output = known[name]
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        file = place / output
        file.write_bytes(b"old")
        limit = int(10 ** generator.uniform(0, 3.5))
        done = subprocess.run(
            [sys.executable, "-c", WITH_SMALL_FILES, str(limit), *map(str, words), str(file)],
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
            env={**os.environ, "JAX_ENABLE_COMPILATION_CACHE": "false"},
        )
        counts.add("refused", _wrong(done, file, name, "no space left"))
    return [counts]


def attack_with_read_only_folders(n: int, folder: Path) -> list[Counts]:
    """Counts of outputs in a folder that cannot be written to."""
    known = commands(folder)
    counts = Counts("read-only folders", "a message before any work, the old file, nothing else")
    place = folder / "read-only"
    # Root may write anywhere, unless it gives that up.
    without = () if os.geteuid() else ("setpriv", "--bounding-set=-dac_override")
    if without and shutil.which(without[0]) is None:
        return [counts]
    for i in range(n):
        name = ("fit", "predict", "report", "check", "export")[i % 5]
        words, output = known[name]
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        file = place / output
        file.write_bytes(b"old")
        place.chmod(0o555)
        command = [*without, *_whole_command([*words, file])]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=PATIENCE
        )
        place.chmod(0o755)
        counts.add("refused", _wrong(done, file, name, "ermission denied"))
    return [counts]


def _wrong(
    done: subprocess.CompletedProcess[str], file: Path, name: str, message: str
) -> str | None:
    """What is wrong with a command that could not write, or None."""
    if done.returncode not in {1, 2}:
        return f"{name} ended with {done.returncode}: {done.stderr[-200:]}"
    if "Traceback" in done.stderr or message not in done.stderr:
        return f"{name} said {done.stderr[-200:]!r}"
    if file.read_bytes() != b"old" or len(list(file.parent.iterdir())) > 1:
        return f"{name} left {[path.name for path in file.parent.iterdir()]}"
    return None


def attack_with_two_writers(n: int, folder: Path) -> list[Counts]:
    """Counts of reads of one file that two processes write at the same time."""
    (model,) = saved_models(folder, (MODEL,))
    counts = Counts("two writers", "every read is a whole file, nothing else is left")
    place = folder / "writers"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    file = place / "shared.confide"
    shutil.copy(model, file)
    code = (
        "import pathlib, sys\n"
        "from confide.persistence import write_atomically\n"
        "content, target = pathlib.Path(sys.argv[1]).read_bytes(), pathlib.Path(sys.argv[2])\n"
        "for _ in range(int(sys.argv[3])): write_atomically(target, content)\n"
    )
    words = [sys.executable, "-c", code, str(model), str(file), str(n)]
    writers = [subprocess.Popen(words) for _ in range(2)]
    while any(writer.poll() is None for writer in writers) or counts.tried < n:
        try:
            confide.load(file)
            fault = None
        except (OSError, ValueError) as error:
            fault = str(error)
        counts.add("whole", fault)
    if any(writer.returncode for writer in writers):
        counts.faults.append("a writer failed")
    if left := [path.name for path in place.iterdir() if path != file]:
        counts.faults.append(f"left over: {left}")
    return [counts]


def _whole_command(words: Words) -> list[str]:
    return [sys.executable, "-m", "confide", *map(str, words)]


def _is_whole(file: Path) -> bool:
    """Whether a result is all there, by what its kind ends with."""
    content = file.read_bytes() if file.exists() else b""
    if file.suffix == ".confide":
        try:
            confide.load(file)
        except ValueError:
            return False
        return True
    if file.suffix == ".onnx":
        # It ends with its metadata, whose last entry says what is not in it.
        return content.count(b"not_exported") == 1 and content.endswith(b"]")
    if file.suffix == ".csv":
        return content.endswith(b"\n") and content.count(b"\n") == table().num_rows + 1
    ends = {".html": b"</html>", ".png": b"IEND\xaeB`\x82"}
    return content.rstrip().endswith(ends[file.suffix])
