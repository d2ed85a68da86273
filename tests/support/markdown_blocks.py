"""Blocks of code in a page, and running them as its reader would."""

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from click.testing import CliRunner

from confide.cli import main

ROOT = Path(__file__).parents[2]
# A fence with its language, above it why it is not run, and below what it prints.
FENCE = re.compile(
    r"(?:<!-- not run: (?P<reason>.*?) -->\n)?"
    r"^```(?P<kind>python|console)\n(?P<text>.*?)^```$"
    r"(?:\n\n```text\n(?P<output>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)
# What the reader's shell knows besides confide; another test or the Makefile runs these.
NOT_OURS = ("pip", "make", "python")
OWN_NETWORK = """
import equinox as eqx

def make(key, n_features):
    return eqx.nn.MLP(n_features, 2, width_size=8, depth=1, key=key)
"""


@dataclass(frozen=True)
class Block:
    """One block of a page.

    Attributes:
        kind: "python" or "console".
        text: what stands in it.
        reason: why it is not run, or None where it is.
        output: what the page says that it prints, or None where it does not say.
        line: where in the page it begins.
    """

    kind: str
    text: str
    reason: str | None
    output: str | None
    line: int


def blocks_of(page: str) -> list[Block]:
    """The blocks of code of a page, in order."""
    return [
        Block(
            found["kind"],
            found["text"],
            found["reason"],
            found["output"],
            page.count("\n", 0, found.start("text")) + 1,
        )
        for found in FENCE.finditer(page)
    ]


def fill_readers_folder(folder: Path) -> None:
    """What pages take for granted: the reader's own table, with categories, dates and holes."""
    generator = np.random.default_rng(0)
    n = 120  # few and noisy, so that few epochs are chosen
    area = generator.uniform(40, 200, n).round()
    houses = pd.DataFrame(
        {
            "id": np.arange(n),
            "area": np.where(generator.random(n) < 0.05, np.nan, area),
            "district": generator.choice(["Noord", "Zuid", "Oost"], n),
            "built": pd.Timestamp("1960-01-01")
            + pd.to_timedelta(generator.integers(0, 2e4, n), "D"),
            "price": 3000 * area + generator.normal(0, 3e5, n),
        }
    )
    houses.to_csv(folder / "houses.csv", index=False)
    (folder / "mynetworks.py").write_text(OWN_NETWORK)
    houses.drop(columns="price").head(20).to_parquet(folder / "new.parquet")


def printed_by_blocks(name: str, blocks: list[Block]) -> Iterator[tuple[Block, str]]:
    """Runs those that are to be run, one after the other in one namespace: what each prints."""
    names: dict = {"__name__": name}
    for block in blocks:
        if block.reason is None:
            run = _printed_by_python if block.kind == "python" else _printed_by_console
            yield block, run(block, name, names)


def _printed_by_python(block: Block, name: str, names: dict) -> str:
    # Line numbers of a traceback are those of the page.
    code = "\n" * (block.line - 1) + block.text
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, name, "exec"), names)  # noqa: S102 - our own text
    return printed.getvalue()


def _printed_by_console(block: Block, name: str, _: dict) -> str:
    printed = ""
    for line in block.text.splitlines():
        program, *words = shlex.split(line, comments=True) or ("pip",)
        if program != "confide":
            assert program in NOT_OURS, f"{name}: nobody runs {line!r}"
            continue
        result = CliRunner().invoke(main, words, prog_name="confide")
        assert result.exit_code == 0, f"{name}: {line}: {result.output}"
        printed += result.stdout
    return printed


def skeleton(text: str) -> list[list[str]]:
    """The words of each line, without what another machine may round or choose otherwise."""
    text = re.sub(r"worst where .*? \(", "worst where ... (", text)
    text = re.sub(r"as they should on average|too seldom|too often[^;]*", "...", text)
    return [re.sub(r"-?\d[\d.,]*", "0", line).split() for line in text.splitlines()]
