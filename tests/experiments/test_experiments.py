"""Experiments: options, the folder of a run, the in-process engine, and the command around them."""

import io
import json
import os
import re
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from rich.console import Console
from support.toy_experiment import LOG, PAUSE, Toy, logged, tables

from confide.cli import main
from confide.engines import InProcess, in_process
from confide.experiments import (
    EXPERIMENTS,
    Display,
    Options,
    RunFolder,
    RunFolderError,
    Saved,
    cells_of,
    display,
    open_run,
    store,
)
from confide.experiments.provenance import PACKAGES
from confide.experiments.simulated import seeds_of
from confide.persistence.atomic import write_atomically

WHOLE = Options(simulations=100, sets=("boston", "yacht"), methods=("BDE", "DE"), levels=(0.8, 0.9))

needs_yacht = pytest.mark.skipif(
    not (Path(os.environ.get("CONFIDE_DATA", "nowhere")) / "yacht.csv.gz").exists(),
    reason="CONFIDE_DATA names no folder with yacht.csv.gz",
)


class Heard:
    """An observer that remembers."""

    def __init__(self):
        self.begun, self.shares, self.ended = [], {}, []

    def started(self, cell):
        self.begun.append(cell.name)

    def advanced(self, cell, share):
        self.shares[cell.name] = self.shares.get(cell.name, 0.0) + share

    def finished(self, cell, saved):
        self.ended.append((cell.name, saved.path))


# --- options


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"sets": ["bostn"]},
            (
                "This experiment has no 'bostn' among its sets; it has ('boston', 'yacht'). Did "
                "you mean 'boston'?"
            ),
        ),
        (
            {"sets": ["zzz"]},
            "This experiment has no 'zzz' among its sets; it has ('boston', 'yacht').",
        ),
        (
            {"methods": ["bdx"]},
            (
                "This experiment has no 'BDX' among its methods; it has ('BDE', 'DE'). Did you "
                "mean 'BDE'?"
            ),
        ),
        (
            {"levels": [1.0]},
            "`confidence_level` must lie in (0, 1), got 1.0. It is a fraction: pass 0.95 for 95 %.",
        ),
        (
            {"simulations": 0},
            "`simulations` must be a whole number of at least 1, got 0. Pass for example 20.",
        ),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_options_that_the_experiment_has_not_are_refused(asked, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        WHOLE.shrunk(WHOLE, **asked)


@pytest.mark.parametrize("what", ["sets", "methods", "levels"])
def test_an_experiment_without_such_options_says_so(what):
    bare = Options(simulations=1)
    with pytest.raises(ValueError, match=f"^This experiment has no {what} to choose from.$"):
        bare.shrunk(bare, **{what: [0.8] if what == "levels" else ["x"]})


def test_methods_keep_the_experiments_order_and_may_be_in_lower_case():
    assert WHOLE.shrunk(WHOLE, methods=["de", "Bde"]).methods == ("BDE", "DE")


def test_levels_are_sorted_and_named_once():
    assert WHOLE.shrunk(WHOLE, levels=[0.95, 0.5, 0.95]).levels == (0.5, 0.95)


def test_what_is_not_asked_for_stays():
    quick = replace(WHOLE, simulations=4, sets=("yacht",))
    assert quick.shrunk(WHOLE, seed=3) == replace(quick, seed=3)


# --- seeds


def seeds(simulations=(0, 40), purpose="targets", **changes):
    return seeds_of({"set": "boston", "seed": 0, "simulations": simulations, **changes}, purpose)


@pytest.mark.parametrize(
    "other",
    [{"set": "yacht"}, {"purpose": "fits"}, {"seed": 1}, {"simulations": (40, 80)}],
    ids=str,
)
def test_seeds_differ_between_simulations_sets_purposes_and_runs(other):
    both = seeds() + seeds(**other)
    assert len(set(both)) == len(both) == 80


def test_a_simulation_has_the_same_seed_in_every_block():
    assert seeds((0, 25)) + seeds((25, 40)) == seeds((0, 40))


# --- the folder of a run


@pytest.fixture
def quick(tmp_path):
    """The toy's quick run: its folder and its cells, none of them computed."""
    return toy_run(tmp_path / "run", Toy.quick)


def toy_run(path, options):
    folder = open_run(Toy(), options, path)
    return folder, cells_of(Toy(), options, folder)


@pytest.fixture
def finished(quick):
    folder, cells = quick
    InProcess().run(cells, folder, Heard())
    return folder, cells


def test_other_settings_than_the_folders_are_refused_with_both_values(quick):
    folder, _ = quick
    message = (
        f"{folder.path} holds a run with other settings: simulations is 4 there, 5 was asked for; "
        "seed is 0 there, 7 was asked for. Ask for the same, or choose another folder."
    )
    with pytest.raises(RunFolderError, match=f"^{re.escape(message)}$"):
        open_run(Toy(), replace(Toy.quick, simulations=5, seed=7), folder.path)


def test_the_folder_of_another_experiment_is_refused(quick):
    with pytest.raises(RunFolderError, match="experiment is 'toy' there, 'other' was asked for"):
        RunFolder.opened(quick[0].path, "other", Toy.quick.fixed)


def test_a_folder_with_other_files_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("precious")
    message = f"{tmp_path} holds files but no run (run.json is missing). Choose another folder."
    with pytest.raises(RunFolderError, match=f"^{re.escape(message)}$"):
        open_run(Toy(), Toy.quick, tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("there", [["cells"], ["cells", "locks"], ["cells", "locks", "half"]])
def test_a_folder_that_was_being_made_when_the_run_was_killed_can_be_opened(tmp_path, there):
    for name in there[:2]:
        (tmp_path / name).mkdir()
    if "half" in there:
        (tmp_path / ".run.json.123-abc").write_text("{")
    folder, cells = toy_run(tmp_path, Toy.quick)
    InProcess().run(cells, folder, Heard())
    assert len(tables(tmp_path)) == 4


def test_of_two_processes_that_make_a_folder_the_second_is_held_to_the_first(tmp_path, monkeypatch):
    first, second = replace(Toy.quick, seed=1), replace(Toy.quick, seed=2)

    def overtaken(path):  # between the look at the folder and the writing of its run.json
        monkeypatch.undo()
        open_run(Toy(), first, path)
        return []

    monkeypatch.setattr(store, "_foreign_files", overtaken)
    with pytest.raises(RunFolderError, match="seed is 1 there, 2 was asked for"):
        open_run(Toy(), second, tmp_path)
    assert RunFolder(tmp_path).description["seed"] == 1


@pytest.mark.parametrize("content", ["", "{", "[]"])
def test_a_run_file_that_is_none_is_refused(quick, content):
    folder, _ = quick
    (folder.path / "run.json").write_text(content)
    with pytest.raises(RunFolderError, match=r"run\.json cannot be read: .*Choose another folder"):
        open_run(Toy(), Toy.quick, folder.path)


def test_a_folder_without_a_run_has_no_description(tmp_path):
    with pytest.raises(RunFolderError, match=r"is not the folder of a run: it has no run\.json"):
        _ = RunFolder(tmp_path).description


def truncated(path):
    path.write_bytes(path.read_bytes()[:-100])


def foreign(path):
    pd.DataFrame({"number": [1.0]}).to_parquet(path)


def empty(path):
    path.write_bytes(b"")


@pytest.mark.parametrize("spoil", [truncated, foreign, empty])
def test_a_file_that_is_no_finished_cell_is_named_with_what_to_do(finished, spoil):
    folder, cells = finished
    path = folder.path_of(cells[1])
    spoil(path)
    message = rf"^{re.escape(str(path))} is not a finished cell \(.*\)\. Delete it, and it is run"
    with pytest.raises(RunFolderError, match=message):
        InProcess().run(cells, folder, Heard())
    path.unlink()
    InProcess().run(cells, folder, Heard())
    assert len(tables(folder.path)) == len(cells)


def test_a_cell_of_the_same_name_with_other_settings_is_refused(finished):
    folder, cells = finished
    other = replace(cells[0], settings={**cells[0].settings, "seed": 5})
    with pytest.raises(RunFolderError, match="seed is 0 there, 5 was asked for"):
        folder.saved(other)


def test_a_cells_file_holds_its_settings_and_where_it_comes_from(finished):
    folder, cells = finished
    saved = Saved.from_file(folder.path_of(cells[2]))
    assert saved.settings == dict(cells[2].settings)
    assert set(saved.provenance) == {
        "commit", "python", *PACKAGES, "machine", "cores", "seconds", "cpu_seconds", "finished",
    }  # fmt: skip
    assert None not in saved.provenance.values()
    assert re.fullmatch(r"[0-9a-f]{12,}(-dirty)?|release .*", saved.provenance["commit"])
    assert saved.provenance["numpy"] == np.__version__


def test_a_cells_durations_are_those_of_its_work(quick, monkeypatch):
    folder, cells = quick
    monkeypatch.setenv(PAUSE, "0.2")
    source = folder.save(cells[0], cells[0].computed(None)).provenance
    assert 0.2 <= source["seconds"] < 30
    assert 0 < source["cpu_seconds"] < source["seconds"]  # it slept most of the time


def test_a_table_comes_back_to_the_last_bit(quick):
    folder, cells = quick
    frame = pd.DataFrame(
        {
            "whole": np.array([1, -2, 3], np.int32),
            "single": np.array([0.1, np.nan, -0.0], np.float32),
            "double": np.array([0.1, np.inf, 5e-324]),
            "held": np.array([True, False, True]),
        }
    )
    cell = replace(cells[0], compute=lambda *_: frame)
    back = folder.save(cell, cell.computed(None)).frame
    pd.testing.assert_frame_equal(back, frame, check_exact=True)
    for name in frame:
        assert back[name].to_numpy().tobytes() == frame[name].to_numpy().tobytes()


def test_files_left_by_a_killed_process_are_no_cells_and_go_when_the_cell_is_saved(quick):
    folder, cells = quick
    path = folder.path_of(cells[0])
    path.parent.mkdir(parents=True)
    torso = path.with_name(f".{path.name}.99-0123")
    neighbour = path.with_name(f".{folder.path_of(cells[1]).name}.99-0123")
    torso.write_bytes(b"half a cell")
    neighbour.write_bytes(b"half a cell")
    assert folder.all_saved() == []
    assert folder.saved(cells[0]) is None
    InProcess().run(cells[:1], folder, Heard())
    assert [saved.path for saved in folder.all_saved()] == [path]
    assert not torso.exists()
    assert neighbour.exists()  # perhaps of a process that is at work


def test_the_name_of_a_half_written_file_is_that_of_no_cell(tmp_path, monkeypatch):
    names = []

    def spy(_):
        names.extend(each.name for each in tmp_path.iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", spy)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "000.parquet", b"content")
    (name,) = names
    assert name.startswith(".000.parquet.")
    assert not name.endswith(".parquet")
    assert list(tmp_path.iterdir()) == []


def test_some_of_the_folders_levels_may_be_asked_for(tmp_path):
    toy_run(tmp_path / "run", Toy.whole)
    folder, cells = toy_run(tmp_path / "run", replace(Toy.whole, levels=(0.9,)))
    assert folder.description["levels"] == [0.8, 0.9]
    assert all(cell.settings["levels"] == [0.8, 0.9] for cell in cells)


@pytest.mark.parametrize("levels", [(0.7,), (0.8, 0.95)])
def test_levels_that_the_folder_has_not_are_refused(tmp_path, levels):
    toy_run(tmp_path / "run", Toy.whole)
    there = re.escape(f"levels is [0.8, 0.9] there, {list(levels)} was asked for")
    with pytest.raises(RunFolderError, match=there):
        open_run(Toy(), replace(Toy.whole, levels=levels), tmp_path / "run")


@needs_yacht
def test_only_cells_of_the_levels_asked_for_are_run(tmp_path):
    whole = EXPERIMENTS["experiment-1"]
    options = replace(whole.quick, methods=("QDE",), levels=(0.8, 0.9))
    folder = open_run(whole, options, tmp_path / "run")
    cells = cells_of(whole, options, folder)
    some = cells_of(whole, replace(options, levels=(0.9,)), folder)
    assert [cell for cell in cells if cell.settings["levels"] == [0.9]] == some
    assert len(cells) == 2 * len(some) > 0


# --- the in-process engine


def test_every_cell_is_begun_told_of_and_kept_once(quick, monkeypatch, tmp_path):
    monkeypatch.setenv(LOG, str(tmp_path / "log"))
    folder, cells = quick
    heard = Heard()
    InProcess().run(cells, folder, heard)
    names = [cell.name for cell in cells]
    assert heard.begun == logged(tmp_path / "log") == names
    assert heard.ended == [(cell.name, folder.path_of(cell)) for cell in cells]
    assert heard.shares == dict.fromkeys(names, 1.0)


def test_what_is_there_is_not_run_again(finished, monkeypatch, tmp_path):
    folder, cells = finished
    monkeypatch.setenv(LOG, str(tmp_path / "log"))
    folder.path_of(cells[2]).unlink()
    before, heard = tables(folder.path), Heard()
    InProcess().run(cells, folder, heard)
    assert logged(tmp_path / "log") == heard.begun == [cells[2].name]
    assert [name for name, _ in heard.ended] == [cell.name for cell in cells]
    assert before.items() <= tables(folder.path).items()


def test_a_cell_that_another_holds_is_done_when_it_is_let_go(quick, monkeypatch):
    folder, cells = quick
    heard, other = Heard(), ExitStack()
    assert other.enter_context(folder.claimed(cells[0]))
    monkeypatch.setattr(in_process, "time", SimpleNamespace(sleep=lambda _: other.close()))
    InProcess().run(cells, folder, heard)
    assert heard.begun == [cell.name for cell in (*cells[1:], cells[0])]


def test_a_cell_that_another_finishes_meanwhile_is_told_of_and_not_run(quick, monkeypatch):
    folder, cells = quick
    heard, other = Heard(), ExitStack()
    assert other.enter_context(folder.claimed(cells[0]))

    def sleep(_):
        folder.save(cells[0], cells[0].computed(None))
        other.close()

    monkeypatch.setattr(in_process, "time", SimpleNamespace(sleep=sleep))
    InProcess().run(cells, folder, heard)
    assert heard.begun == [cell.name for cell in cells[1:]]
    assert heard.ended[-1] == (cells[0].name, folder.path_of(cells[0]))


def test_an_error_in_a_cell_leaves_the_finished_ones(quick):
    folder, cells = quick
    faulty = replace(cells[2], settings={**cells[2].settings, "set": "faulty"})
    with pytest.raises(ValueError, match="Simulation 2 went wrong"):
        InProcess().run([*cells[:2], faulty, cells[3]], folder, Heard())
    assert list(tables(folder.path)) == ["a/000.parquet", "a/001.parquet"]
    with folder.claimed(cells[2]) as mine:
        assert mine


# --- the display


def shown(finished, *, terminal):
    folder, cells = finished
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=100)
    with Display(Toy(), cells, cells[1:], console) as watching:
        for cell in cells[1:]:
            watching.started(cell)
            watching.advanced(cell, 0.5)
            watching.finished(cell, folder.saved(cell))
    return out.getvalue()


def test_a_log_has_a_plain_line_for_each_cell(finished):
    lines = shown(finished, terminal=False).splitlines()
    assert len(lines) == 3
    for i, line in enumerate(lines, start=1):
        expected = rf"{i + 1}/4 a/00{i}: mean -?0\.\d+ \(0 s; (\d+ s) left\)"
        assert re.fullmatch(expected, line), line
    assert lines[-1].endswith("0 s left)")


def test_a_terminal_has_a_bar(finished):
    out = shown(finished, terminal=True)
    assert "━" in out
    assert "100 %" in out
    assert "toy" in out


def test_the_time_left_is_that_of_the_work_left(finished, monkeypatch):
    folder, cells = finished
    clock = iter([0.0, 300.0])
    monkeypatch.setattr(display, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    heavy = [replace(cells[0], work=1.0), replace(cells[1], work=4.0)]
    out = io.StringIO()
    with Display(Toy(), heavy, heavy, Console(file=out, width=200)) as watching:
        watching.finished(heavy[0], folder.saved(heavy[0]))
    assert "1/2 a/000" in out.getvalue()
    assert "20 min left" in out.getvalue()  # 300 s for the first fifth


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (89, "89 s"), (90, "2 min"), (5399, "90 min"), (5400, "1.5 h")],
)
def test_durations_for_people(seconds, text):
    assert display._duration(seconds) == text


# --- the command


@pytest.fixture
def command(monkeypatch, tmp_path):
    """The command, with the toy among its experiments and folders of its own."""
    monkeypatch.setitem(EXPERIMENTS, "toy", Toy())

    def run(*arguments):
        given = ["experiment", "run", *arguments, "--runs", str(tmp_path / "runs")]
        return CliRunner().invoke(main, given, prog_name="confide")

    return run


def test_the_command_prints_the_folder_and_nothing_else(command, tmp_path):
    result = command("toy", "--quick")
    assert (result.exit_code, result.stdout) == (0, f"{tmp_path / 'runs' / 'toy-quick'}\n")
    assert [line.split()[0] for line in result.stderr.splitlines()] == ["1/4", "2/4", "3/4", "4/4"]
    described = json.loads((tmp_path / "runs" / "toy-quick" / "run.json").read_text())
    assert described == {
        "experiment": "toy", "simulations": 4, "levels": [0.8], "rows": [], "seed": 0,
    }  # fmt: skip


def test_the_command_runs_nothing_twice(command):
    command("toy", "--quick")
    again = command("toy", "--quick")
    assert (again.exit_code, again.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["toi"], "There is no experiment 'toi'.* Did you mean 'toy'"),
        (["toy", "--sets", "c"], "no 'c' among its sets; it has \\('a', 'b'\\)"),
        (["toy", "--methods", "BDE"], "has no methods to choose from"),
        (["toy", "--levels", "2"], "must lie in \\(0, 1\\), got 2.0"),
        (["toy", "--levels", "much"], "A level is a number such as 0.8, got 'much'"),
        (["toy", "--simulations", "0"], "0 is not in the range 1<=x<="),
        (["toy", "--engine", "rai"], "'rai' is not one of 'in-process', 'joblib', 'ray'"),
        (
            ["toy", "--address", "auto"],
            "--address is the address of a Ray cluster. Add --engine ray",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage_exits_with_2_and_makes_no_folder(command, tmp_path, arguments, message):
    result = command(*arguments)
    assert result.exit_code == 2
    assert re.search(message, " ".join(result.stderr.split()))
    assert not (tmp_path / "runs").exists()


def test_other_settings_are_a_usage_error_of_the_command(command):
    command("toy", "--quick")
    result = command("toy", "--quick", "--seed", "1")
    assert result.exit_code == 2
    assert "seed is 0 there, 1 was asked for" in " ".join(result.stderr.split())


def test_an_error_of_a_cell_is_a_line_without_a_traceback(command, monkeypatch):
    monkeypatch.setattr(Toy, "whole", replace(Toy.whole, sets=("a", "faulty"), simulations=1))
    result = command("toy")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.splitlines()[-1] == (
        "Error: Simulation 0 went wrong. Finished cells are kept. The same command continues from "
        "there."
    )
    assert "Traceback" not in result.stderr


def test_without_ray_the_command_says_how_to_install_it(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    result = command("toy", "--quick", "--engine", "ray")
    assert result.exit_code == 1
    assert "ray is not installed. Install it: pip install 'confide[ray]'." in result.stderr


@pytest.mark.parametrize("package", ["filelock", "pyarrow"])
def test_without_the_extra_the_command_says_how_to_install_it(command, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    result = command("toy", "--quick")
    assert result.exit_code == 1
    assert "Install it: pip install 'confide[experiments]'." in result.stderr
