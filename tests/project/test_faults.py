"""A short version of `make faults`: every attack, a few tries each."""

import os
import re
import sys

import pytest
from attacks import commands, model_files, pages, samples, soak, tables, workers
from attacks.counts import Counts, as_markdown
from attacks.watched import Watched
from faults import ATTACKS, main
from support.browsing import browser_path
from support.misbehaving import misbehaving

from confide.estimators import ESTIMATORS

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="processes are watched through /proc"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("faults")


@pytest.fixture(autouse=True)
def _tools_on_the_path(monkeypatch):
    """For processes that are spawned."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, sys.path)))


def assert_harmless(rows, fewest):
    assert sum(row.tried for row in rows) >= fewest
    assert [fault for row in rows for fault in row.faults] == []


@pytest.mark.slow
def test_damaged_model_files_are_refused_or_answer(folder):
    names = ("bootstrapped.table", "bootstrapped.plain")
    assert_harmless(model_files.attack(60, folder, names=names), 60)


def test_model_files_of_every_estimator_and_recipe_are_damaged():
    models = samples.estimators().values()
    # Other tests may have registered estimators of their own.
    ours = {name for name, kind in ESTIMATORS.items() if kind.__module__.startswith("confide.")}
    assert ours == {type(model).__name__ for model in models}
    assert {"tabular", "paper"} == {model.recipe for model in models if hasattr(model, "recipe")}


@pytest.mark.slow
def test_damaged_tables_are_refused_or_answered(folder):
    assert_harmless(tables.attack(50, folder, model="bootstrapped.table"), 50)


@pytest.mark.slow
def test_hostile_tables_become_harmless_pages(folder, monkeypatch):
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    monkeypatch.setattr(pages, "HOVERS", 5)
    assert_harmless(pages.attack(1, folder, browser=browser_path()), 5)


@pytest.mark.slow
def test_stopped_commands_leave_whole_files(folder):
    assert_harmless(commands.attack_with_signals(2, folder, names=["predict"]), 2)


@pytest.mark.slow
def test_full_disks_and_read_only_folders_are_told_of(folder):
    assert_harmless(commands.attack_with_full_disks(1, folder, names=["predict"]), 1)
    assert_harmless(commands.attack_with_read_only_folders(1, folder), 1)


@pytest.mark.slow
def test_two_writers_never_break_a_file(folder):
    assert_harmless(commands.attack_with_two_writers(10, folder), 10)


@pytest.mark.slow
def test_threads_processes_and_forks_answer_alike(folder, monkeypatch):
    monkeypatch.setattr(workers, "N_PROCESSES", 1)
    assert_harmless(workers.attack(50, folder, n_forks=1), 101)


@pytest.mark.slow
def test_the_service_of_the_guide_answers_rightly(folder, monkeypatch):
    monkeypatch.setattr(soak, "LONGEST_TAIL", 1000)  # other tests run beside it
    monkeypatch.setattr(soak, "N_WORKERS", 1)
    assert_harmless(soak.attack(50, folder, n_kills=1), 60)


# The watch itself.


def test_a_watched_process_tells_memory_errors_hangs_and_deaths(monkeypatch):
    worker = Watched(misbehaving)
    large = worker(str(100 * 2**20))
    assert large.answer == "100"
    assert 90 < large.bytes / 2**20 < 120
    assert worker("fail").fault.startswith("KeyError: 'a key' (misbehaving.py:")
    with monkeypatch.context() as patience:
        patience.setattr("attacks.watched.LONGEST_WAIT", 0.5)
        assert worker("wait").fault.startswith("no answer in ")
    with monkeypatch.context() as patience:
        patience.setattr("attacks.watched.LONGEST", 0.5)
        assert worker("work").fault.startswith("no answer in ")
    assert worker("die").fault.startswith("the process died")
    assert worker("0").answer == "0"  # a new one
    worker.close()


def test_a_fault_is_shown_and_fails_the_run(monkeypatch, capsys, tmp_path):
    def attack(scaled, folder):
        counts = Counts("an attack", "nothing breaks")
        counts.add("refused", s=0.25)
        for _ in range(scaled(50) - 1):
            counts.add("", "it broke", s=0.5)
        return [counts]

    monkeypatch.setitem(ATTACKS, "soak", attack)
    page = tmp_path / "faults.md"
    words = ["--only", "soak", "--share", "0.04", "-o", str(page), "--folder", str(tmp_path)]
    assert main(words) == 1
    monkeypatch.setitem(ATTACKS, "soak", lambda *_: pytest.fail("it is kept"))
    assert main(words) == 1
    assert "| an attack | 2 | 1 refused | s 0.5 | nothing breaks | 1 |" in capsys.readouterr().out
    assert "- `it broke`" in page.read_text()
    assert re.search(r"\| an attack \| [0-9a-f]{7,} \| [\d.]+ \|", page.read_text())
    assert as_markdown([]).count("\n") == 1
    monkeypatch.setattr("faults.commit", lambda: "another")
    monkeypatch.setitem(ATTACKS, "soak", lambda *_: [Counts("an attack", "nothing breaks")])
    assert main(words) == 0  # counts of another commit are not believed
