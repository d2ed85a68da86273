"""`confide fit` of a folder of Parquet files, in memory and from disk."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from support import s3

import confide
from confide.cli import main
from confide.encoding import LongTable, long_table
from confide.errors import TargetError, TwinError
from confide.workflow import fit_table, long_tables


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    table = pa.table({"x": x, "z": rng.normal(size=200), "y": x + 0.1 * rng.normal(size=200)})
    (tmp_path / "rows").mkdir()
    for number in range(2):
        part = table.slice(100 * number, 100)
        pq.write_table(part, tmp_path / "rows" / f"part-{number}.parquet")
    return tmp_path / "rows"


def fitted(folder, *options):
    output = folder.parent / "model.confide"
    arguments = ["fit", str(folder), "--target", "y", "-o", str(output), "--recipe", "paper"]
    arguments += ["--members", "2", "--epochs", "4", *options]
    return CliRunner().invoke(main, arguments), output


@pytest.mark.slow
def test_a_folder_is_fitted_as_one_table(folder):
    result, output = fitted(folder)
    assert result.exit_code == 0, result.stderr
    model = confide.load(output)
    assert model.training_table_.n_trained + model.training_table_.n_set_aside == 200


@pytest.mark.slow
def test_a_folder_beyond_memory_is_fitted_from_disk(folder, monkeypatch):
    monkeypatch.setattr(long_tables, "available_memory", lambda: 1)
    monkeypatch.setattr(long_table, "ROWS_IN_MEMORY", 100)
    result, output = fitted(folder)
    assert result.exit_code == 0, result.stderr
    assert "has 200 rows, more than memory holds" in result.stderr
    assert "judged on 100 of them, drawn at random" in result.stderr
    assert "The confidence intervals are not calibrated: twins" in result.stderr
    model = confide.load(output)
    assert model.training_table_.n_trained == 180  # 20 of the sample are held out
    assert model.calibration_ is not None
    assert model.seen_rows_.n_rows == 180


@pytest.mark.parametrize("in_memory", [200, 100], ids=["in memory", "on disk"])
def test_rows_without_a_target_are_counted_once(folder, monkeypatch, in_memory):
    if in_memory < 200:
        monkeypatch.setattr(long_tables, "available_memory", lambda: 1)
        monkeypatch.setattr(long_table, "ROWS_IN_MEMORY", in_memory)
    table = pq.read_table(folder / "part-0.parquet")
    y = pa.array([None] * 60 + table["y"].to_pylist()[60:])
    pq.write_table(table.set_column(2, "y", y), folder / "part-0.parquet")
    result, output = fitted(folder)
    assert result.exit_code == 0, result.stderr
    said = " ".join(result.stderr.split())
    assert said.count("left out") == 1
    assert "60 rows of 200 left out: the target 'y' is missing there." in said
    rows = confide.load(output).training_table_
    assert rows.n_trained + rows.n_set_aside == 140
    if in_memory < 200:
        assert "trained on all of 140 rows but those held out" in said


@pytest.mark.parametrize("options", [[], ["--recipe", "paper"], ["--simulations", "10"]], ids=str)
def test_calibration_that_needs_all_rows_in_memory_is_refused(folder, monkeypatch, options):
    monkeypatch.setattr(long_tables, "available_memory", lambda: 1)
    monkeypatch.setattr(long_table, "ROWS_IN_MEMORY", 100)
    words = ["fit", folder, "-t", "y", "-o", folder.parent / "m", "--calibrate-confidence"]
    result = CliRunner().invoke(main, [*map(str, words), *options])
    assert result.exit_code == 2
    assert "twins that are fitted in memory, and the table is larger. Leave" in result.stderr
    assert not (folder.parent / "m").exists()


@pytest.mark.parametrize("calibration", [None, "twins"])
def test_that_intervals_are_not_calibrated_is_said_once(small, calibration):
    table = pa.table({"x": np.arange(64.0), "y": np.arange(64.0) % 7})
    further = [(table.slice(40), np.zeros(24))]
    long = LongTable(table.slice(0, 40), lambda: iter(further), 24)
    model = confide.BootstrappedDeepEnsembleRegressor(**small, calibration=calibration)
    notes = fit_table(long, "y", model).notes
    assert sum("confidence intervals are not calibrated" in note for note in notes) == 1


@pytest.mark.slow
def test_a_fit_says_that_folders_are_no_columns(folder):
    (folder / "year=2020").mkdir()
    (folder / "part-1.parquet").rename(folder / "year=2020" / "part-1.parquet")
    result, _ = fitted(folder)
    assert result.exit_code == 0, result.stderr
    said = " ".join(result.stderr.split())
    assert "folders named such as year=2020 are not columns here" in said


def test_a_folder_of_other_columns_is_refused_before_training(folder):
    pq.write_table(pa.table({"x": [1.0], "y": [1.0]}), folder / "part-9.parquet")
    result, output = fitted(folder)
    assert result.exit_code == 1
    assert "part-9.parquet differs from" in result.stderr
    assert "it has no column 'z'" in result.stderr
    assert not output.exists()


def test_a_folder_is_not_predicted_into_a_folder(folder, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "model.confide").touch()
    words = ["predict", tmp_path / "model.confide", folder, "-o", tmp_path / "out"]
    result = CliRunner().invoke(main, [*map(str, words)])
    assert result.exit_code == 2
    assert "are one table" in result.stderr
    assert f"-o, such as {tmp_path}/out/predicted.parquet" in result.stderr
    assert f"'{folder}/*.parquet' for a file for each" in result.stderr


def test_files_at_an_address_are_fitted_and_predicted(folder, tmp_path):
    out, model = tmp_path / "out", str(tmp_path / "of_address.confide")
    out.mkdir()
    words = ["--target", "y", "--recipe", "paper", "--members", "2", "--epochs", "4", "--fast"]
    with s3.bucket("lake") as system:
        for file in folder.iterdir():
            s3.write(system, f"lake/rows/{file.name}", pq.read_table(file))
        address = "s3://key:secret@lake/rows"
        fitted = CliRunner().invoke(main, ["fit", address, *words, "-o", model])
        predicted = CliRunner().invoke(main, ["predict", model, f"{address}/*", "-o", str(out)])
        refused = CliRunner().invoke(main, ["predict", model, address, "-o", str(out)])
    assert (fitted.exit_code, predicted.exit_code) == (0, 0), fitted.stderr + predicted.stderr
    assert "secret" not in fitted.stderr + predicted.stderr
    assert "The files of s3://lake/rows are one table" in refused.stderr
    rows = pq.read_table(folder / "part-1.parquet")
    predicted = pq.read_table(tmp_path / "out" / "part-1.parquet")
    expected = confide.load(model).predict(rows.drop_columns(["y"]))
    np.testing.assert_array_equal(predicted["mean"].to_numpy(), expected)


def test_results_are_not_written_to_an_address(folder):
    words = ["fit", str(folder), "--target", "y", "-o", "s3://bucket/model.confide"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert "Results are written to this machine" in result.stderr


@pytest.mark.parametrize("pattern", ["", "/*.parquet"])
def test_a_file_of_the_folder_that_is_read_is_never_replaced(folder, pattern):
    result, output = fitted(folder)
    file = folder / "part-0.parquet"
    before = file.read_bytes()
    for words in (["fit", f"{folder}{pattern}", "-t", "y"], ["predict", output, folder]):
        result = CliRunner().invoke(main, [*map(str, words), "-o", str(file), "--force"])
        assert result.exit_code == 2
        assert "is also an input" in result.stderr
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"group": "x"}, TargetError, "`group` needs all rows in memory"),
        ({"hold_out_by": "x"}, TargetError, "`hold_out_by` needs all rows in memory"),
        ({"calibrate_confidence": True}, TwinError, "twins that are fitted in memory"),
    ],
)
def test_what_needs_all_rows_in_memory_is_refused(how, error, message):
    long = LongTable(pa.table({"x": [1.0], "y": [2.0]}), lambda: iter(()), 5)
    with pytest.raises(error, match=message):
        fit_table(long, "y", confide.BootstrappedDeepEnsembleRegressor(), **how)
