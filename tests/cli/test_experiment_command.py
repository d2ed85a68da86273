"""`confide experiment`: what it lists, shows and reports."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner
from support.experiment_cells import every_run, run_with

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


@pytest.mark.slow
def test_show_says_what_it_is_how_far_it_is_and_what_it_found(runs):
    said = command("show", "experiment-3", "--runs", runs).stdout
    assert EXPERIMENTS["experiment-3"].title in said
    assert "simulations: 10" in said
    assert "As published: estimated sum over true variance" in said
    assert "| boston | as published |" in said


@pytest.mark.slow
def test_show_gives_its_tables_to_machines(runs):
    def refused(constant):
        raise AssertionError(f"{constant} is no JSON")

    said = command("show", "overfitting", "--json", "--runs", runs).stdout
    told = json.loads(said, parse_constant=refused)
    assert [row["ratio"] for row in told["overfitting"]] == [0.5, 0.5, None]


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["overfitting", "experimnt-1"], "There is no experiment 'experimnt-1'"),
        (["experiment-1", "overfitting", "--levels", "0.8"], "overfitting: This experiment has no"),
        (["all", "overfitting"], "Leave the other names out"),
        (["experiment-1", "--sets", ","], "Pass at least one of its sets"),
        (["experiment-1", "--levels", ","], "Pass at least one level"),
        (["experiment-1", "--levels", "high"], "A level is a number such as 0.8, got 'high'"),
        (["experiment-1", "--levels", "0.80000001"], "Levels have at most six digits"),
        (["overfitting", "--seed", "-1"], "The seed must not be negative, got -1"),
    ],
)
def test_what_cannot_be_run_is_refused_before_any_folder_is_made(tmp_path, arguments, message):
    done = command("run", *arguments, "--runs", tmp_path / "runs")
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert not (tmp_path / "runs").exists()


def test_show_of_a_folder_with_another_experiment_is_refused(tmp_path):
    run_with(tmp_path / "experiment-1", "experiment-3", ("a", pd.DataFrame({"row": [0]}), {}))
    done = command("show", "experiment-1", "--runs", tmp_path)
    assert done.exit_code == 2
    assert "holds a run of 'experiment-3', not of 'experiment-1'" in " ".join(done.stderr.split())


@pytest.mark.slow
def test_the_report_has_every_experiment_in_the_papers_order(report):
    page = (report / "index.html").read_text()
    titles = [experiment.title for experiment in EXPERIMENTS.values()]
    places = [page.index(f">{title}<") for title in titles]
    assert places == sorted(places)
    table = pd.read_csv(report / "tables" / "table-1-confidence.csv")
    assert table["brier_print"].notna().all()
    assert (report / "figures" / "experiment-2-described.svg").exists()


@pytest.mark.slow
def test_a_report_of_the_same_cells_is_the_same_to_the_last_byte(runs, report, tmp_path):
    command("report", "--runs", runs / "overfitting", "-o", tmp_path)
    for file in ("tables/overfitting.csv", "tables/overfitting.md", "figures/overfitting.svg"):
        assert (tmp_path / file).read_bytes() == (report / file).read_bytes()


@pytest.mark.slow
def test_a_report_of_one_run_is_asked_for_by_its_folder(runs, tmp_path):
    command("report", "--runs", runs / "experiment-3", "-o", tmp_path / "report")
    assert [f.name for f in (tmp_path / "report" / "tables").glob("*.csv")] == ["table-2.csv"]


def test_a_report_of_no_run_says_how_to_make_one(tmp_path):
    done = command("report", "--runs", tmp_path)
    assert done.exit_code == 2
    assert "There is no run in" in done.stderr
    assert "confide experiment run NAME" in done.stderr


@pytest.mark.slow
def test_no_table_of_the_report_grows_with_the_test_rows(report):
    """Results are kept, rows of data sets are not: 20 test rows leave no trace in the tables."""
    every = pd.read_csv(report / "tables" / "experiment-1.csv")
    # Eight sets; BDE, NB and CD twice and DE, at two levels and kinds; QDE at two levels, twice.
    assert len(every) == 8 * (7 * 2 * 2 + 2 * 2)
    for table in (report / "tables").glob("*.csv"):
        assert not {"row", "mean", "true_mean"} & set(pd.read_csv(table).columns)


def test_cells_that_cannot_be_read_are_named(tmp_path):
    run = run_with(tmp_path / "experiment-1", "experiment-1")
    (run.path / "cells" / "a.parquet").write_bytes(b"nonsense")
    done = command("report", "--runs", tmp_path)
    assert done.exit_code == 2
    assert "a.parquet is not a finished cell" in done.stderr
