"""confide among its peers: accuracy, intervals, time and memory on the same rows, in one run.

Contenders: confide's ensembles, MAPIE, NGBoost, quantile-forest, sklearn-contrib-bde, a Gaussian
process, skpro, CatBoost, LightGBM, RealMLP, TabM, econml's honest forest and BART, with the
settings that the report names. Data: nineteen tables (long ones thinned) with a fifth of the rows
held out, five of them once more with categories and holes, and simulated truths, where confidence
intervals can be judged as well.

Each cell (contender, data set, repeat) is a process of its own, one at a time, so time and memory
are its own: run it on an idle machine. Finished cells are kept in a file, and a run that was
stopped goes on where it was. Libraries that are not installed are reported and left out:
pip install 'confide[peers]'. The sets are looked for in CONFIDE_DATA.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from comparison.contenders import CONTENDERS
from comparison.data import DATA
from comparison.run import TIMEOUT_SECONDS, Plan, run
from comparison.store import Store
from comparison.tables import document_of, markdown_of
from speed.arguments import positive
from speed.measure import say

from confide.document import Document, to_svg, write_document

EXAMPLES = """\
examples:
  python benchmarks/peers.py -o results/peers.md                    everything, many hours
  python benchmarks/peers.py --sets yacht --repeats 1 --contenders bde ngboost
  python benchmarks/peers.py --report-only --page report/peers      the page, from the store alone
"""
DONE, FAILED, INTERRUPTED = 0, 1, 130


def main() -> int:
    """Run what is not finished, print the tables and write the files."""
    arguments = parse_arguments()
    plan = Plan(
        arguments.contenders,
        arguments.sets,
        arguments.repeats,
        arguments.retry,
        arguments.timeout,
    )
    store, missing, stopped = Store(arguments.store), list[str](), False
    if not arguments.report_only:
        if (load := os.getloadavg()[0]) > 0.5:
            say(f"The machine is busy (load {load:.1f}): do not trust the times.")
        try:
            missing = run(plan, store)
        except KeyboardInterrupt:
            say(f"\nStopped by Ctrl-C; {store.path} keeps what was finished.")
            stopped = True
    known = {
        cell: line
        for cell, line in store.read().items()
        if cell.contender in plan.contenders and cell.data in plan.data
    }
    if not known:
        say(f"There is nothing to report: {store.path} has no finished cell of these.")
        return INTERRUPTED if stopped else FAILED
    document = document_of(known, missing)
    print(markdown_of(document))
    if arguments.output is not None:
        write_markdown(document, arguments.output)
        say(f"Wrote {arguments.output}")
    if arguments.page is not None:
        say(f"Wrote {write_document(document, arguments.page)}")
    if stopped:
        return INTERRUPTED
    return FAILED if any("problem" in line for line in known.values()) else DONE


def write_markdown(document: Document, path: Path) -> None:
    """The report, and its pictures beside it."""
    beginning = f"{path.stem}-"
    for figure in document.figures:
        path.with_name(f"{beginning}{figure.name}.svg").write_text(to_svg(figure))
    path.write_text(markdown_of(document, beginning))


def parse_arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line; what cannot be meant ends the program with exit code 2."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, epilog=EXAMPLES
    )
    parser.add_argument(
        "--sets", nargs="+", choices=DATA, default=tuple(DATA), metavar="SET",
        help=f"these data sets alone, of {', '.join(DATA)}",
    )  # fmt: skip
    parser.add_argument(
        "--contenders", nargs="+", choices=CONTENDERS, default=tuple(CONTENDERS), metavar="NAME",
        help=f"these alone, of {', '.join(CONTENDERS)}",
    )  # fmt: skip
    parser.add_argument(
        "--repeats", type=positive, help="of every data set (default: 5, or 3 of long tables)"
    )
    parser.add_argument(
        "--store", type=Path, default=Path("runs/peers.jsonl"),
        help="the file of finished cells (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--retry", action="store_true", help="run cells anew that failed before")
    parser.add_argument(
        "--timeout", type=positive, default=TIMEOUT_SECONDS,
        help="seconds after which a cell has failed (default: %(default)g); more on a busy machine",
    )  # fmt: skip
    parser.add_argument("--report-only", action="store_true", help="run nothing: report the store")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        help="also write the report as Markdown, its pictures beside it",
    )
    parser.add_argument("--page", type=Path, help="also write it as a page, into this folder")
    arguments = parser.parse_args(words)
    if arguments.output is not None and not arguments.output.absolute().parent.is_dir():
        # Better now than after an hour.
        parser.error(f"{arguments.output}: there is no such folder; make it first")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
