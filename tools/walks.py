"""How many functions and files does a newcomer walk through? Counts them for the main ways in.

    python tools/walks.py            # prints the table
    python tools/walks.py --write    # puts it into CONTRIBUTING.md

A function counts once, however often it is called; lambdas,
comprehensions and what runs at import do not count. Threads count.
"""

import argparse
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pyarrow as pa

import confide

ROOT = Path(__file__).parents[1]
SOURCE = str(Path(confide.__file__).parent)
BEGIN, END = "<!-- walks -->", "<!-- end of walks -->"


@contextmanager
def walked() -> Iterator[set[tuple[str, str]]]:
    """Fills with the file and name of every function of confide that is called meanwhile."""
    functions: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(SOURCE) and code.co_name[0] != "<":
            functions.add((code.co_filename, code.co_qualname))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield functions
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]


def table_of_numbers(n_rows: int = 120) -> pa.Table:
    """A small table with a number, a category and a target."""
    generator = np.random.default_rng(0)
    age = generator.normal(40, 10, n_rows)
    sex = generator.choice(["f", "m"], n_rows)
    y = age + 5 * (sex == "f") + generator.normal(0, 3, n_rows)
    return pa.table({"age": age, "sex": sex, "y": y})


def walks() -> dict[str, set[tuple[str, str]]]:
    """The functions of each way in."""
    from confide.document import render_page
    from confide.workflow import fit_table, page_document, page_inputs

    table, few = table_of_numbers(), {"n_members": 2, "max_epochs": 3, "random_state": 0}

    def model(**how: Any) -> confide.BootstrappedDeepEnsembleRegressor:
        return confide.BootstrappedDeepEnsembleRegressor(**few, **how)

    X, y = table.select(["age"]).to_pandas().to_numpy(), table["y"].to_numpy()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.confide"
        fit_table(table, "y", model()).model.save(file)

        def page() -> None:
            render_page(page_document(page_inputs(confide.load(file), table, file="table.csv")))

        ways: dict[str, Callable[[], Any]] = {
            "`fit` without calibration": lambda: model(calibration=None).fit(X, y),
            "`fit_table` with calibration on twins": lambda: fit_table(table, "y", model()),
            "`load` and the page": page,
        }
        found = {}
        for name, way in ways.items():
            way()  # JAX traces its programs: once, and not what is read here
            with walked() as functions:
                way()
            found[name] = functions
    return found


def as_markdown(found: dict[str, set[tuple[str, str]]]) -> str:
    """A line for each way in."""
    lines = ["| way | functions | files |", "|---|---|---|"]
    lines += [
        f"| {name} | {len(functions)} | {len({file for file, _ in functions})} |"
        for name, functions in found.items()
    ]
    return "\n".join(lines)


def main() -> None:
    """Prints the table, or writes it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the table into CONTRIBUTING.md")
    parser.add_argument("--list", action="store_true", help="name every function")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    found = walks()
    table = as_markdown(found)
    print(table)
    if arguments.list:
        for name, functions in found.items():
            print(f"\n{name}")
            for file, function in sorted(functions):
                print(f"  {file.removeprefix(SOURCE + '/')} {function}")
    if arguments.write:
        path = ROOT / "CONTRIBUTING.md"
        before, _, rest = path.read_text().partition(BEGIN)
        path.write_text(f"{before}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
