"""`confide experiment`: what it lists, shows and reports."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner
from experiment_cells import every_run, run_with

from confide.cli import main
from confide.experiments import EXPERIMENTS


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    every_run(folder)
    return folder


@pytest.fixture(scope="module")
def report(runs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    assert command("report", "--runs", runs, "-o", folder).stdout == f"{folder / 'index.html'}\n"
    return folder


def command(*arguments):
    return CliRunner().invoke(main, ["experiment", *map(str, arguments)])


def test_every_experiment_is_listed_with_its_place_in_the_paper():
    said = command("list").stdout
    for name, experiment in EXPERIMENTS.items():
        assert f"{name} " in said
        assert experiment.paper in said
    assert said.index("experiment-1") < said.index("experiment-2") < said.index("overfitting")


def test_show_says_what_it_is_how_far_it_is_and_what_it_found(runs):
    said = command("show", "experiment-3", "--runs", runs).stdout
    assert EXPERIMENTS["experiment-3"].title in said
    assert "3 cells are finished" in said
    assert "As published: estimated sum over true variance" in said
    assert "| boston | as published |" in said


def test_show_gives_its_tables_to_machines(runs):
    told = json.loads(command("show", "experiment-3", "--json", "--runs", runs).stdout)
    assert told["table-2"][0]["repetitions"] == 3
    assert told["table-2"][0]["true_sum_print"] == 2.44


def test_show_of_what_has_not_been_run_says_so(tmp_path):
    done = command("show", "experiment-2", "--runs", tmp_path)
    assert done.exit_code == 0
    assert "No cell is finished in" in done.stdout


@pytest.mark.parametrize("verb", ["run", "show"])
def test_a_mistyped_experiment_is_answered_with_the_nearest(verb, tmp_path):
    done = command(verb, "experimnt-1", "--runs", tmp_path)
    assert done.exit_code == 2
    assert "There is no experiment 'experimnt-1'" in done.stderr
    assert "Did you mean 'experiment-1'?" in done.stderr


def test_several_experiments_are_refused_before_any_is_run(tmp_path):
    done = command("run", "overfitting", "experimnt-1", "--quick", "--runs", tmp_path)
    assert done.exit_code == 2
    assert not list(tmp_path.rglob("*.parquet"))


def test_a_level_that_is_no_number_is_wrong_usage(tmp_path):
    done = command("run", "experiment-1", "--levels", "high", "--runs", tmp_path)
    assert done.exit_code == 2
    assert "high" in done.stderr


def test_the_report_has_every_experiment_in_the_papers_order(report):
    page = (report / "index.html").read_text()
    titles = [experiment.title for experiment in EXPERIMENTS.values()]
    places = [page.index(f">{title}<") for title in titles]
    assert places == sorted(places)
    table = pd.read_csv(report / "tables" / "table-1-confidence.csv")
    assert table["brier_print"].notna().all()
    assert (report / "figures" / "experiment-2-described.svg").exists()


def test_a_report_of_the_same_cells_is_the_same_to_the_last_byte(runs, report, tmp_path):
    command("report", "--runs", runs / "overfitting", "-o", tmp_path)
    for file in ("tables/overfitting.csv", "tables/overfitting.md", "figures/overfitting.svg"):
        assert (tmp_path / file).read_bytes() == (report / file).read_bytes()


def test_a_report_of_one_run_is_asked_for_by_its_folder(runs, tmp_path):
    command("report", "--runs", runs / "experiment-3", "-o", tmp_path / "report")
    assert [f.name for f in (tmp_path / "report" / "tables").glob("*.csv")] == ["table-2.csv"]


def test_a_report_of_no_run_says_how_to_make_one(tmp_path):
    done = command("report", "--runs", tmp_path)
    assert done.exit_code == 2
    assert "There is no run in" in done.stderr
    assert "confide experiment run NAME" in done.stderr


def test_a_report_holds_no_row_of_a_data_set(report):
    """Tables are means over test rows, and figures of all of them are densities."""
    for table in (report / "tables").glob("*.csv"):
        assert "row" not in pd.read_csv(table).columns


def test_cells_that_cannot_be_read_are_named(tmp_path):
    run = run_with(tmp_path / "experiment-1", "experiment-1")
    (run.path / "cells" / "a.parquet").write_bytes(b"nonsense")
    done = command("report", "--runs", tmp_path)
    assert done.exit_code == 2
    assert "a.parquet is not a finished cell" in done.stderr
