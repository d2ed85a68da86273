"""Commands that work elsewhere, and predictions of many files at once."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import confide
from confide.cli import main


def confided(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three files of rows, a table to learn from, and a model of it."""
    folder = tmp_path_factory.mktemp("tables")
    generator = np.random.default_rng(0)
    frame = pd.DataFrame({"a": generator.normal(size=90), "c": generator.choice(["u", "v"], 90)})
    y = frame["a"] + generator.normal(0, 0.3, 90)
    frame.assign(y=y).to_csv(folder / "train.csv", index=False)
    (folder / "new").mkdir()
    for i in range(3):
        frame.iloc[30 * i : 30 * (i + 1)].to_parquet(folder / "new" / f"{i}.parquet")
    arguments = {"recipe": "paper", "max_epochs": 2, "hidden_layer_sizes": (4,)}
    model = confide.DeepEnsembleRegressor(2, **arguments, random_state=0).fit(frame, y)
    model.save(folder / "model.confide")
    return folder


@pytest.mark.parametrize("command", ["fit", "check", "predict"])
def test_an_address_is_for_ray_alone(command, folder):
    table = folder / "train.csv"
    words = [folder / "model.confide", table] if command == "predict" else [table, "-t", "y"]
    result = confided(command, *words, "--address", "10.0.0.1:6379")
    assert result.exit_code == 2
    assert "--address is the address of a Ray cluster. Add --engine ray." in result.stderr


@pytest.mark.slow
def test_a_pattern_becomes_a_folder_of_the_same_names(folder, tmp_path):
    words = [folder / "model.confide", f"{folder}/new/*.parquet", "-o", tmp_path]
    result = confided("predict", *words, "--engine", "joblib", "--keep", "a")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.split() == [f"{tmp_path}/{i}.parquet" for i in range(3)]
    for name in ("0.parquet", "1.parquet", "2.parquet"):
        alone = ["-o", folder / "alone.parquet", "--force", "--keep", "a"]
        assert confided("predict", words[0], folder / "new" / name, *alone).exit_code == 0
        assert pd.read_parquet(tmp_path / name).equals(pd.read_parquet(folder / "alone.parquet"))
    again = confided("predict", *words)
    assert again.exit_code == 2
    assert "already exists. Add --force to replace it" in again.stderr


def test_several_files_need_a_folder(folder, tmp_path):
    words = [folder / "model.confide", f"{folder}/new/*.parquet"]
    for more in ([], ["-o", tmp_path / "one.csv"]):
        result = confided("predict", *words, *more)
        assert result.exit_code == 2
        assert "3 files match" in result.stderr
        assert "Create a folder for their predictions" in result.stderr


@pytest.mark.parametrize(
    ("pattern", "output"), [("0.*", "absent.d/"), ("0.*", "absent"), ("0.parquet", "absent")]
)
def test_a_folder_that_is_not_there_is_to_be_created(folder, tmp_path, pattern, output):
    words = [folder / "model.confide", f"{folder}/new/{pattern}", "-o", f"{tmp_path}/{output}"]
    result = confided("predict", *words)
    assert result.exit_code == 2
    absent = tmp_path / output
    assert f"There is no folder {absent}. Create it first; or name a file, such as" in result.stderr
    assert f"{tmp_path}/absent.parquet." in result.stderr


def test_a_folder_of_different_files_is_refused_before_any_is_predicted(folder, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    frame = pd.read_parquet(folder / "new" / "0.parquet")
    frame.to_parquet(tmp_path / "in" / "1.parquet")
    frame.drop(columns="c").to_parquet(tmp_path / "in" / "2.parquet")
    words = [folder / "model.confide", f"{tmp_path}/in/*.parquet", "-o", tmp_path / "out"]
    result = confided("predict", *words)
    assert result.exit_code == 1
    assert "2.parquet: The model needs columns that the table does not have: 'c'" in result.stderr
    assert list((tmp_path / "out").iterdir()) == []
    frame.to_parquet(tmp_path / "in" / "2.parquet")
    frame.assign(id=1).to_parquet(tmp_path / "in" / "1.parquet")
    result = confided("predict", *words, "--keep", "id")
    assert result.exit_code == 2
    assert "2.parquet: There is no column 'id' to keep" in result.stderr
    assert list((tmp_path / "out").iterdir()) == []


def test_a_name_that_cannot_be_written_is_refused_before_any_is_predicted(folder, tmp_path):
    (tmp_path / "out").mkdir()
    frame = pd.read_parquet(folder / "new" / "0.parquet")
    frame.to_csv(tmp_path / "1.csv", index=False)
    frame.to_csv(tmp_path / "2.txt", index=False)
    words = [folder / "model.confide", f"{tmp_path}/[12].*", "-o", tmp_path / "out"]
    result = confided("predict", *words)
    assert result.exit_code == 1
    assert "2.txt does not say which format to write" in result.stderr
    assert list((tmp_path / "out").iterdir()) == []


def test_a_file_that_fails_leaves_those_before_it(folder, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    frame = pd.read_parquet(folder / "new" / "0.parquet")
    frame.to_parquet(tmp_path / "in" / "1.parquet")
    frame.assign(a=np.inf).to_parquet(tmp_path / "in" / "2.parquet")
    words = [folder / "model.confide", f"{tmp_path}/in/*.parquet", "-o", tmp_path / "out"]
    result = confided("predict", *words)
    assert result.exit_code == 1
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["1.parquet"]


@pytest.mark.slow
def test_a_fit_by_joblib_is_that_of_home(folder, tmp_path):
    contents = []
    for engine in ("in-process", "joblib"):
        words = [
            "--recipe",
            "paper",
            "--epochs",
            3,
            "--members",
            3,
            "-o",
            tmp_path / "m",
            "--force",
        ]
        result = confided("fit", folder / "train.csv", "-t", "y", *words, "--engine", engine)
        assert result.exit_code == 0, result.stderr
        contents.append((tmp_path / "m").read_bytes())
    assert contents[0] == contents[1]
