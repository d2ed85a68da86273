"""Attacks confide in every way that we know of, and counts what gives way.

    python tools/faults.py -o results/faults.md        # all; about two hours on two idle cores
    python tools/faults.py --share 0.01                # a hundredth of it
    python tools/faults.py --only tables soak          # some of it

Model files and tables are damaged at random and read in a watched process; hostile tables become
pages that a browser opens; commands are stopped at random moments, find the disk full, or the
folder read-only; two processes write one file; threads, processes and forks predict at once; and
the service of the guide answers for a long time while its workers are killed. Each attack says
what it asks for and counts faults; there should be none. Linux only: processes are watched through
/proc.
"""

import argparse
import itertools
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tools")]  # also for processes that are spawned
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "tools"), os.environ.get("PYTHONPATH", "")])
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

from attacks import commands, model_files, pages, soak, tables, workers  # noqa: E402
from attacks.counts import Counts, as_markdown  # noqa: E402

PAGE = """# Attacks, and what gave way

`make faults` (`tools/faults.py`) on {cores} cores with Python {python}: {n_tried:,} tries,
{n_faults} faults. What each attack does is said in `tools/attacks`; what a
stranger's file can and cannot do, on the page about [security](../docs/security.md).

{table}

Seconds are those of the clock or of the processor, whichever are less. What took more than one was
done once more, because other work on the machine, or a program that is compiled for the first time,
is not the file's. Memory is the peak beyond what the process had before. Of the signals, half come
at a moment of the whole run, a quarter soon after the command opened its file, a quarter soon after
something was in it. The commands are forks of a process that has imported what they need, so that
most moments fall into their work.

{origins}
"""
Attack = Callable[[Callable[[int], int], Path], list[Counts]]


def _pages(scaled: Callable[[int], int], folder: Path) -> list[Counts]:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return [Counts("pages: hovers", "there is no browser on this machine")]
    return pages.attack(scaled(20), folder, browser=browser)


def _signals(name: str) -> Attack:
    return lambda scaled, folder: commands.attack_with_signals(scaled(100), folder, names=[name])


# How much of each is a whole run.
ATTACKS: dict[str, Attack] = {
    "model-files": lambda scaled, folder: model_files.attack(scaled(10_000), folder),
    "tables": lambda scaled, folder: tables.attack(scaled(5_000), folder),
    "pages": _pages,
    **{f"signals-{name}": _signals(name) for name in commands.COMMANDS},
    "full-disks": lambda scaled, folder: commands.attack_with_full_disks(scaled(32), folder),
    "read-only": lambda scaled, folder: commands.attack_with_read_only_folders(scaled(10), folder),
    "two-writers": lambda scaled, folder: commands.attack_with_two_writers(scaled(200), folder),
    "workers": lambda scaled, folder: workers.attack(scaled(1_000), folder),
    "soak": lambda scaled, folder: soak.attack(scaled(10_000), folder, n_kills=scaled(20)),
}


def main(words: Sequence[str] | None = None) -> int:
    """Runs the attacks, prints the table, and says by its exit code whether anything gave way."""
    arguments = parse_arguments(words)
    rows: list[Counts] = []
    with tempfile.TemporaryDirectory() as name:
        folder = arguments.folder or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        for attack in arguments.only or ATTACKS:
            counts = counted(attack, folder, arguments.share)
            rows += counts
            print(as_markdown(counts), flush=True)
    if arguments.output:
        arguments.output.write_text(report(rows))
    return 1 if any(row.faults for row in rows) else 0


def counted(attack: str, folder: Path, share: float) -> list[Counts]:
    """The counts of an attack, kept in the folder: a run that was stopped goes on there.

    Those of another commit are counted anew.
    """
    kept, known = folder / f"counts-{attack}.json", commit()
    rows = [Counts.from_json(row) for row in json.loads(kept.read_text())] if kept.exists() else []
    if rows and rows[0].commit == known:
        return rows
    before = os.getloadavg()[2]
    rows = ATTACKS[attack](lambda n: max(1, round(share * n)), folder)
    origin = {"commit": known, "load": (before + os.getloadavg()[2]) / 2}
    kept.write_text(json.dumps([{**vars(row), **origin} for row in rows]))
    return [Counts.from_json(row) for row in json.loads(kept.read_text())]


def report(rows: Sequence[Counts]) -> str:
    """The page of results."""
    n_tried, n_faults = sum(row.tried for row in rows), sum(len(row.faults) for row in rows)
    return PAGE.format(
        n_tried=n_tried,
        n_faults=n_faults,
        cores=os.cpu_count(),
        python=platform.python_version(),
        table=as_markdown(rows),
        origins=origins(rows),
    )


def origins(rows: Sequence[Counts]) -> str:
    """Of which commit each count is, and how busy the machine was."""
    lines = ["| attack | commit | processes that wanted a core |", "|---|---|---|"]
    for (at, load), same in itertools.groupby(rows, lambda row: (row.commit, row.load)):
        lines.append(f"| {'; '.join(row.attack for row in same)} | {at} | {load:.1f} |")
    return "\n".join(lines)


def commit() -> str:
    """Where the checkout is."""
    done = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "unknown"


def parse_arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, help="where to write the page of results")
    parser.add_argument("--share", type=float, default=1.0, help="of a whole run")
    parser.add_argument("--only", nargs="+", choices=ATTACKS, help="of the attacks")
    parser.add_argument(
        "--folder", type=Path, help="keeps counts, models and files that did harm; goes on"
    )
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
