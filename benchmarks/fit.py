"""How fast `fit` is: against today's libraries, against the machine, and as tables grow.

Everyone gets the same arrays and the same schedule: 80 epochs, batches of 32, hidden layers of
40, 30 and 20 units, 5 members, the last 30 % of the epochs repeated by those that bootstrap.
Each measurement is a process of its own, one at a time. Tables go to stdout, progress to stderr.
Run it on an idle machine.

A warm time is the best of some fits after a first one in the same process. Peers that would take
minutes are measured at two small numbers of epochs; the straight line through them, whose
intercept is the cost of building, gives the time of all epochs. The column "measured epochs" says
where. `--whole` measures them in full.

Libraries that are not installed are reported and left out: pip install 'confide[peers]'.
"""

import argparse
import dataclasses
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from peer_loops import PEERS
from speed.arguments import positive
from speed.measure import say
from speed.notes import notes
from speed.picture import save_picture
from speed.plan import QUICK, RIVALS, Plan
from speed.provenance import provenance
from speed.sections import SECTIONS, Bench
from speed.tables import as_markdown

PICTURE = Path(__file__).with_suffix(".png")
DONE, FAILED, INTERRUPTED = 0, 1, 130


def main() -> int:
    """Measure what was asked for, print the tables and write the files."""
    arguments = parse_arguments()
    start, load = time.monotonic(), os.getloadavg()[0]
    if load > 0.5:
        say(f"The machine is busy (load {load:.1f}): do not trust the times.")
    bench = make_bench(arguments)
    stopped = not run_sections(bench, [arguments.only] if arguments.only else list(SECTIONS))

    bench.findings.notes = notes(bench.plan, bench.findings.peak_gigaflops)
    made = provenance() | {
        "quick": arguments.quick,
        "load_at_start": round(load, 2),
        "seconds": round(time.monotonic() - start),
    }
    page = f"{as_markdown(bench.findings)}\n\n{as_sentence(made)}\n"
    print(page)
    if stopped:
        say("Stopped by Ctrl-C: the tables hold what was finished, and no file was written.")
        return INTERRUPTED
    write_files(arguments, bench, page, made)
    for failure in bench.measure.failures:
        say(f"Not measured: {failure}")
    return FAILED if bench.measure.failures else DONE


def make_bench(arguments: argparse.Namespace) -> Bench:
    """What the command line asks for."""
    plan = QUICK if arguments.quick else Plan()
    if arguments.repeats is not None:
        plan = dataclasses.replace(
            plan, repeats=arguments.repeats, cold_processes=arguments.repeats
        )
    return Bench(
        plan=plan,
        rivals=tuple(rival for rival in RIVALS if rival.name in arguments.peers),
        warm=arguments.only not in {"cold", "memory"},
        whole=arguments.whole,
    )


def run_sections(bench: Bench, names: Sequence[str]) -> bool:
    """Run sections one after another; False if Ctrl-C came first."""
    try:
        for name in names:
            say(f"-- {name}")
            SECTIONS[name](bench)
    except KeyboardInterrupt:
        say("")
        return False
    return True


def write_files(
    arguments: argparse.Namespace, bench: Bench, page: str, made: dict[str, Any]
) -> None:
    """Write the files that were asked for, and say so."""
    written = []
    if arguments.output is not None:
        arguments.output.write_text(page)
        written.append(arguments.output)
    if arguments.json is not None:
        everything = {
            "provenance": made,
            "plan": dataclasses.asdict(bench.plan),
            "findings": bench.findings.as_json(),
            "measurements": bench.measure.as_json(),
        }
        arguments.json.write_text(json.dumps(everything, indent=1) + "\n")
        written.append(arguments.json)
    if arguments.picture is not None and save_picture(
        bench.findings,
        arguments.picture,
        footer=f"{made['cpu']}, {made['cores']} cores; commit {made['commit']}; {made['date']}",
    ):
        written.append(arguments.picture)
    for path in written:
        say(f"Wrote {path}")


def as_sentence(made: dict[str, Any]) -> str:
    """Provenance in one line."""
    versions = ", ".join(f"{package} {version}" for package, version in made["versions"].items())
    quick = "Quick run, numbers mean nothing. " if made["quick"] else ""
    return (
        f"{quick}{made['cpu']}, {made['cores']} cores, load {made['load_at_start']:g} at the "
        f"start; commit {made['commit']}; {made['date']}; {made['seconds']} s in all; "
        f"Python {made['python']}, {versions}."
    )


def parse_arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line; what cannot be meant ends the program with exit code 2."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="example: python benchmarks/fit.py -o fit.md --json fit.json",
    )
    parser.add_argument("--quick", action="store_true", help="tiny tables: do all parts work?")
    parser.add_argument("--only", choices=SECTIONS, help="measure one section")
    parser.add_argument(
        "--peers",
        nargs="*",
        choices=sorted(PEERS),
        default=sorted(PEERS),
        help="who to compare with (default: all; no name: nobody)",
    )
    parser.add_argument("--repeats", type=positive, help="warm fits and cold processes of each")
    parser.add_argument("--whole", action="store_true", help="all epochs of slow peers, too")
    parser.add_argument("-o", "--output", type=Path, help="also write the tables to a file")
    parser.add_argument("--json", type=Path, help="also write all numbers to a file")
    parser.add_argument(
        "--picture",
        type=Path,
        help=f"where to draw (default: {PICTURE.name} beside this script for a full run, "
        "nowhere for a part or a quick one)",
    )
    arguments = parser.parse_args(words)
    if arguments.picture is None and not arguments.quick and arguments.only is None:
        arguments.picture = PICTURE
    for path in (arguments.output, arguments.json, arguments.picture):
        # Better now than after twenty minutes of measuring.
        if path is not None and not path.absolute().parent.is_dir():
            parser.error(f"{path}: there is no folder {path.absolute().parent}; make it first")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
