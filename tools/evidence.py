"""What confide claims: each number as the tables in results/ have it, with command and commit.

    python tools/evidence.py            # prints the page
    python tools/evidence.py --write    # puts it into docs/evidence.md

A test compares the page with the tables, and the sentences that other documents repeat with the
page.
"""

import argparse
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "evidence.md"
HEAD = """\
# Evidence

What confide claims, and where each number comes from. `python tools/evidence.py --write` reads the
numbers off the tables in `results/`, and a test compares them. The commit is that of the code which
made the table. Newer code may differ.

| claim | table | made by | commit |
|---|---|---|---|
"""


class Results(NamedTuple):
    """A page of results."""

    text: str

    @classmethod
    def of(cls, name: str) -> "Results":
        """The page of that name in results/."""
        return cls((ROOT / "results" / name).read_text())

    def column(self, column: str, row: str = "") -> dict[str, str]:
        """The entries of a column, by those of the first column.

        Args:
            column: its heading.
            row: of several tables with this heading, the first that has this row too.
        """
        for table in re.finditer(r"(?:^\|.*\|\n)+", self.text + "\n", flags=re.MULTILINE):
            heads, _, *rows = (_cells(line) for line in table[0].splitlines())
            if column in heads:
                at = heads.index(column)
                entries = {cells[0]: cells[at] for cells in reversed(rows)}  # the first counts
                if row in ("", *entries):
                    return entries
        raise KeyError(f"no table has a column {column!r} with a row {row!r}")

    def cell(self, row: str, column: str) -> str:
        """An entry."""
        return self.column(column, row)[row]

    def found(self, pattern: str) -> tuple[str, ...]:
        """The groups of a pattern in the text, whose spaces may be ends of lines."""
        match = re.search(pattern.replace(" ", r"\s+"), self.text)
        if match is None:
            raise KeyError(f"nothing is like {pattern!r}")
        return match.groups()


class Claim(NamedTuple):
    """A sentence with numbers.

    Attributes:
        words: the sentence, with {} for each number.
        page: of results, where they are.
        numbers: takes them from it.
        command: that makes the page.
        repeated: documents that say it in the same words.
    """

    words: str
    page: str
    numbers: Callable[[Results], Sequence[str]]
    command: str
    repeated: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """With its numbers."""
        return self.words.format(*self.numbers(Results.of(self.page)))

    @property
    def row(self) -> str:
        """Of the page's table."""
        link = f"[{self.page}](../results/{self.page})"
        return f"| {self.sentence} | {link} | `{self.command}` | {self.commit} |\n"

    @property
    def commit(self) -> str:
        """The first that the page names."""
        named = re.search(
            r"(?:commit|\|)\s+([0-9a-f]{7,12})\b", Results.of(self.page).text, re.IGNORECASE
        )
        return "not named" if named is None else named[1]


def _cells(line: str) -> list[str]:
    return [cell.strip().strip("*") for cell in line.strip().strip("|").split("|")]


def _values(column: dict[str, str]) -> list[float]:
    """The numbers of a column, without standard errors, but for its mean."""
    return [float(re.split(r"[ ±%]", text)[0]) for name, text in column.items() if name != "mean"]


def _coverages(results: Results) -> list[str]:
    raw, ours = (results.column(f"{how} covers, %") for how in ("raw", "calibrated"))
    ends = [f"{end(_values(each)):.0f}" for each in (ours, raw) for end in (min, max)]
    return [ends[0], ends[1], str(len(_values(ours))), ours["mean"], *ends[2:], raw["mean"]]


def _claimed(results: Results) -> list[str]:
    forests = results.text.partition("## The truth is gradient")[0]
    ratios = sorted(map(float, re.findall(r"\| tabular \| ([\d.]+)", forests)))
    return [f"{ratios[0]:g}", f"{ratios[-1]:g}", str(len(ratios))]


def _largest(columns: Sequence[str]) -> Callable[[Results], list[str]]:
    def largest(results: Results) -> list[str]:
        return [f"{max(max(_values(results.column(name))) for name in columns):g}"]

    return largest


def _sum_and_rows(column: str) -> Callable[[Results], list[str]]:
    def both(results: Results) -> list[str]:
        values = _values(results.column(column))
        return [f"{sum(values):g}", str(len(values))]

    return both


CLAIMS = (
    Claim(
        "80 % intervals cover {} to {} % on {} truths, {} % on average; without the "
        "correction {} to {} %, {} % on average.",
        "honest_confidence.md",
        _coverages,
        "confide experiment run honest-confidence",
        repeated=("README.md",),
    ),
    Claim(
        "On tables that had no say in its choice, the default recipe has {} times the RMSE and {} "
        "times the CRPS of the paper's.",
        "recipes.md",
        lambda results: [results.cell("others", score) for score in ("RMSE", "CRPS")],
        "python benchmarks/recipes.py",
    ),
    Claim(
        "On one split of nine tables, the CRPS of the default is {} times the best of each table; "
        "a Gaussian process has {}, sklearn-contrib-bde {}, the next {}.",
        "peers_default.md",
        lambda results: [
            results.cell(name, "CRPS, to the best of each table")
            for name in (
                "confide, recipe tabular",
                "Gaussian process",
                "sklearn-contrib-bde",
                "TabM, conformal",
            )
        ],
        "python benchmarks/peers.py --repeats 1",
    ),
    Claim(
        "One fit of the default recipe claims {} to {} times the true standard error of its "
        "prediction on {} forest truths.",
        "variances.md",
        _claimed,
        "python benchmarks/variances.py",
    ),
    Claim(
        "On {} tables as people have them, the RMSE of `confide fit` is {} times that of the "
        "better of HistGradientBoosting and CatBoost (standard error {}), and prediction intervals "
        "are {} times as wide ({}).",
        "tables.md",
        lambda results: results.found(
            r"geometric mean of (\d+) tables \(s\.e\.\): RMSE ([\d.]+) \(([\d.]+)\), "
            r"MAE [\d.]+ \([\d.]+\), width ([\d.]+) \(([\d.]+)\)"
        ),
        "python benchmarks/tables.py",
    ),
    Claim(
        "Two targets take {} times as long as two fits, and have the same numbers to the last bit.",
        "several_targets.md",
        lambda results: [results.cell("tabular", "ratio")],
        "python benchmarks/several_targets.py",
    ),
    Claim(
        "A cost model of a cluster is off by at most {} % with 2, 4 and 8 workers.",
        "cluster.md",
        lambda results: results.found(r"Totals are off by at most (\d+)%"),
        "python benchmarks/cluster.py",
    ),
    Claim(
        "Models exported to ONNX differ from the model by at most {}, relative, on 10,000 rows of "
        "ten tables.",
        "onnx.md",
        _largest([f"table {i}" for i in range(1, 11)]),
        "python benchmarks/onnx_files.py",
    ),
    Claim(
        "Of {} attacks on files, commands and services, {} did harm.",
        "faults.md",
        lambda results: results.found(r"([\d,]+) tries, (\d+) faults"),
        "make faults",
    ),
    Claim(
        "{} fits failed on {} tables that break other fits.",
        "robustness.md",
        _sum_and_rows("failed"),
        "python benchmarks/robustness.py",
    ),
    Claim(
        "Ten million rows on disk are fitted with a peak of {} beyond the runtime.",
        "long_table.md",
        lambda results: [results.cell("10,000,000", "beyond the runtime")],
        "python benchmarks/long_table.py",
    ),
    Claim(
        "Ten million rows of Parquet are predicted through Ray Data with at most {} in a worker.",
        "ray_data.md",
        lambda results: [results.cell("10,000,000", "largest worker")],
        "python benchmarks/ray_data.py",
    ),
)


def page() -> str:
    """The page, from the tables as they are."""
    return HEAD + "".join(claim.row for claim in CLAIMS)


def main() -> None:
    """Prints the page, or writes it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help=f"into {PAGE.relative_to(ROOT)}")
    if parser.parse_args().write:
        PAGE.write_text(page())
    else:
        print(page(), end="")


if __name__ == "__main__":
    main()
