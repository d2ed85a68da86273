"""The command: results on standard output, messages on standard error, exit codes."""

import os
import re
import subprocess
import sys
from importlib.metadata import entry_points

import pytest
from click.testing import CliRunner

import confide
from confide.cli import main


def run(*arguments):
    return CliRunner().invoke(main, list(arguments), prog_name="confide")


def test_help_ends_with_an_example_on_a_line_of_its_own():
    result = run("--help")
    assert result.exit_code == 0
    assert "\\b" not in result.output
    assert re.search(r"^ *Examples?:\n +confide demo$", result.output, re.MULTILINE)


def test_help_of_the_demo_shows_examples_and_defaults():
    result = run("demo", "--help")
    assert result.exit_code == 0
    assert re.search(r"^ *Examples:\n +confide demo\n", result.output, re.MULTILINE)
    assert "confide demo --members 20 --output picture.svg" in result.output
    assert "[default: 5; 2<=x<=1000000]" in result.output


def test_the_command_is_installed_under_its_name():
    (command,) = entry_points(group="console_scripts", name="confide")
    assert command.load() is main


def test_version_is_that_of_the_package():
    result = run("--version")
    assert result.exit_code == 0
    assert result.output == f"confide, version {confide.__version__}\n"


@pytest.fixture
def untrained(monkeypatch):
    """A demo that must end before the training starts."""
    monkeypatch.setattr(confide, "enable_compilation_cache", lambda: None)
    monkeypatch.setattr(
        confide.BootstrappedDeepEnsembleRegressor, "fit", lambda *_: pytest.fail("training began")
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["demmo"], "No such command 'demmo'"),
        (["demo", "--member"], "No such option '?--member\\b.*--members"),
        (["demo", "--members", "1"], "1 is not in the range 2<=x<="),
        (["demo", "--members", "many"], "'many' is not a valid integer range"),
        (["demo", "--seed", "x"], "'x' is not a valid integer"),
        (["demo", "-o", "."], "'.' is a directory"),
        (["demo", "-o", "picture.xyz"], "xyz"),
        (["demo", "-o", "no-such-folder/picture.png"], "no-such-folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
@pytest.mark.usefixtures("untrained")
def test_wrong_usage_exits_with_2_before_training(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert re.search(message, result.stderr)
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


COMMAND = "from confide.cli import main; main(prog_name='confide')"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The finished process of one small demo, and its picture."""
    folder = tmp_path_factory.mktemp("demo")
    picture = folder / "picture.png"
    finished = subprocess.run(
        [sys.executable, "-c", COMMAND, "demo", "--members", "2", "-o", str(picture)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={
            **os.environ,
            "XDG_CACHE_HOME": str(folder / "cache"),
            "PYTHONIOENCODING": "utf-8",
            "COLUMNS": "80",
        },
    )
    return finished, picture


@pytest.mark.slow
def test_the_demo_succeeds(demo):
    assert demo[0].returncode == 0


@pytest.mark.slow
def test_the_demo_prints_both_intervals_and_the_split(demo):
    lines = demo[0].stdout.splitlines()
    cells = [re.split(r" *[┃│] *", line) for line in lines if line.startswith(("┃", "│"))]
    upper, lower, *rows = (row[1:-1] for row in cells)
    headings = [f"{a} {b}".strip() for a, b in zip(upper, lower, strict=True)]
    assert headings == [
        "observed", "predicted", "confidence interval", "prediction interval",
        "noise", "finite data", "random training",
    ]  # fmt: skip
    assert len(rows) == 8
    for row in rows:
        predicted = int(row[1])
        inner, outer = ([int(n) for n in re.findall(r"-?\d+", row[i])] for i in (2, 3))
        # Each number is rounded to a whole one, each of three shares to a whole per cent.
        assert outer[0] <= inner[0] <= predicted <= inner[1] <= outer[1]
        assert 98 <= sum(int(share.rstrip("%")) for share in row[4:]) <= 102


@pytest.mark.slow
def test_the_demo_tells_what_its_intervals_are_for_and_how_often_they_hold(demo):
    out = " ".join(demo[0].stdout.split())
    assert "90 % intervals" in out
    assert "confidence: for the true function; prediction: for a new patient" in out
    count, total, share = map(
        float, re.search(r"(\d+) of (\d+) observations lie in .*? \(([\d.]+)% \+/-", out).groups()
    )
    assert total == 89  # a fifth of 442 patients
    assert abs(share - 100 * count / total) <= 0.05


@pytest.mark.slow
def test_the_demo_draws_a_picture_and_says_where_on_standard_error(demo):
    finished, picture = demo
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert int.from_bytes(content[16:20], "big") == 1200  # 8 inches at 150 dots
    assert str(picture) in finished.stderr.replace("\n", "")
    assert str(picture) not in finished.stdout.replace("\n", "")


@pytest.mark.slow
def test_the_demo_writes_plain_text_when_nobody_watches(demo):
    assert "\x1b" not in demo[0].stdout + demo[0].stderr
    assert "Traceback" not in demo[0].stderr


IMPORT = """
import sys

class Hidden:
    def find_spec(name, path, target=None):
        if name in ("matplotlib", "pandas", "polars", "rich"):
            raise ModuleNotFoundError(name)

# Newer scikit-learns import pandas and rich themselves where they find them, so that looking
# at sys.modules would not tell: here nobody finds them.
sys.meta_path.insert(0, Hidden)
import confide
import numpy as np
X, y = np.arange(40.0).reshape(20, 2), np.arange(20.0)
model = confide.DeepEnsembleRegressor(
    recipe="paper", n_members=1, hidden_layer_sizes=(), max_epochs=1
).fit(X, y)
print(model.predict_interval(X)[1].shape)
"""


@pytest.mark.slow
def test_importing_and_fitting_need_no_pandas_matplotlib_or_rich():
    child = subprocess.run(
        [sys.executable, "-c", IMPORT], capture_output=True, text=True, check=False
    )
    assert (child.stdout, child.stderr) == ("(20, 2)\n", "")
