"""Standard input, output and error that are closed, full, or read by someone who leaves."""

import shlex
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import confide
from confide.cli import main

QUICK = "--recipe paper --epochs 3 --members 2"


def run_in_shell(line, folder):
    """A line for the shell, in which confide is this one."""
    line = line.replace("confide", f"{shlex.quote(sys.executable)} -m confide", 1)
    return subprocess.run(
        ["/bin/sh", "-c", line], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, and a model of it."""
    folder = tmp_path_factory.mktemp("tables")
    generator = np.random.default_rng(3)
    frame = pd.DataFrame(generator.normal(size=(60, 3)), columns=["a", "b", "price"])
    frame.to_csv(folder / "homes.csv", index=False)
    arguments = ["fit", str(folder / "homes.csv"), "-t", "price", *QUICK.split()]
    done = CliRunner().invoke(main, [*arguments, "-o", str(folder / "homes.model")])
    assert done.exit_code == 0, done.output
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("confide predict homes.model - <&-", "Standard input is closed, but a table is needed"),
        ("confide fit - -t price <&-", "Standard input is closed, but a table is needed"),
        ("confide predict homes.model homes.csv >&-", "Standard output is closed. Name a file"),
        ("confide --help > /dev/full", "No space left on device"),
    ],
)
def test_a_closed_stream_is_told_in_a_sentence(folder, line, message):
    ran = run_in_shell(line, folder)
    assert ran.returncode == 1
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "streams"),
    [
        ("out", ">&-"),
        ("err", "2>&-"),
        ("all", "<&- >&- 2>&-"),
        ("head", "2>&1 | head -n 1"),
        ("full", "2> /dev/full"),
    ],
)
def test_a_fit_is_kept_whoever_reads_what_it_says(folder, name, streams):
    line = f"confide fit homes.csv -t price {QUICK} -o {name}.confide {streams}"
    ran = run_in_shell(line, folder)
    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stderr
    assert confide.load(folder / f"{name}.confide").n_features_in_ == 2


@pytest.mark.slow
def test_a_model_on_standard_output_is_alone_there(folder):
    line = f"confide fit homes.csv -t price {QUICK} -o /dev/stdout | cat > piped.confide"
    ran = run_in_shell(line, folder)
    assert ran.returncode == 0, ran.stderr
    assert "Next:" not in ran.stderr
    assert confide.load(folder / "piped.confide").n_features_in_ == 2


def test_a_model_and_json_do_not_share_standard_output(folder):
    ran = run_in_shell("confide fit homes.csv -t price -o /dev/stdout --json | cat", folder)
    assert "--json prints to standard output, and /dev/stdout is the same" in ran.stderr
    assert not ran.stdout
