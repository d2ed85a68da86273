"""A predictor of batches: in any process, of any kind of table."""

import pickle
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import confide
from confide.errors import KeptColumnError, TableFileError, TableMismatchError
from confide.tables import TableFile
from confide.workflow import (
    BatchPredictor,
    matching_files,
    outputs_of,
    prediction_blocks,
    refuse_different,
)


@pytest.fixture(scope="module")
def frame():
    generator = np.random.default_rng(0)
    rows = {"a": generator.normal(size=60), "c": generator.choice(["u", "v"], 60)}
    return pd.DataFrame(rows, index=np.arange(100, 160))


@pytest.fixture(scope="module")
def model(frame):
    arguments = {"recipe": "paper", "max_epochs": 2, "hidden_layer_sizes": (4,)}
    found = confide.DeepEnsembleRegressor(2, **arguments, random_state=0)
    return found.fit(frame, frame["a"].to_numpy() + np.random.default_rng(1).normal(size=60))


@pytest.fixture(scope="module")
def path(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "houses.confide"
    model.save(path)
    return path


def test_columns_to_keep_are_a_list():
    with pytest.raises(TypeError, match=r"must be a list of columns, got the text 'id'. Pass keep"):
        BatchPredictor("model.confide", keep="id")


def test_batches_have_the_columns_and_numbers_of_confide_predict(model, path, frame):
    table = pa.Table.from_pandas(frame, preserve_index=False)
    (expected,) = prediction_blocks(model, [table], confidence_level=0.8, keep=["c"])
    predictor = BatchPredictor(path, confidence_level=0.8, keep=["c"])
    assert predictor(table).equals(expected)
    in_pandas = predictor(frame)
    assert in_pandas.index.equals(frame.index)
    assert np.array_equal(in_pandas["mean"], expected["mean"].to_numpy())
    of_dictionary = predictor({name: frame[name].to_numpy() for name in frame})
    assert list(of_dictionary) == expected.column_names
    assert np.array_equal(of_dictionary["obs_ci_lower"], expected["obs_ci_lower"].to_numpy())


IDENTIFIER = 2**60 + 129_869_300  # more digits than a float has


@pytest.mark.parametrize("dtype", ["int64", "Int64", "int64[pyarrow]", "category", "object"])
def test_columns_to_keep_come_back_as_they_are(model, frame, dtype):
    predictor = BatchPredictor(model, keep=["id"])
    batch = frame.assign(id=pd.Series(IDENTIFIER + np.arange(60), frame.index).astype(dtype))
    if dtype not in {"int64", "category"}:
        batch.loc[103, "id"] = None
    batch.index = np.arange(60) // 2  # names of rows that come twice
    for part in (batch, batch.iloc[10:20], batch.iloc[:0]):
        pd.testing.assert_series_equal(predictor(part)["id"], part["id"])
    table = pa.table({**dict(frame.items()), "id": pa.array(batch["id"])})
    assert predictor(table)["id"].equals(table["id"])
    arrays = {name: batch[name].to_numpy() for name in batch}
    assert predictor(arrays)["id"] is arrays["id"]


def test_columns_that_the_model_does_not_need_may_hold_anything(model, frame):
    predictor = BatchPredictor(model)
    expected = predictor(frame)
    odd = frame.assign(extra=[1, "a", None] * 20, more=0)
    odd = odd.set_axis([*frame.columns, "more", "more"], axis=1)
    pd.testing.assert_frame_equal(predictor(odd), expected)
    names = [*frame.columns, "more", "more"]
    table = pa.Table.from_arrays([pa.array(frame[n]) for n in ("a", "c", "c", "c")], names)
    assert predictor(table)["mean"].equals(pa.chunked_array([expected["mean"]]))
    arrays = {"a": frame["a"].to_numpy(), "c": frame["c"].to_numpy(object), "x": np.ones((9, 2))}
    assert np.array_equal(predictor(arrays)["mean"], expected["mean"])
    arrays["c"][0] = np.nan  # missing, as in pandas
    in_pandas = predictor(pd.DataFrame({"a": arrays["a"], "c": arrays["c"]}))
    assert np.array_equal(predictor(arrays)["mean"], in_pandas["mean"])


def test_a_batch_that_cannot_be_read_is_refused_in_words(model, frame):
    keeping = BatchPredictor(model, keep=["aa"])
    with pytest.raises(KeptColumnError, match=r"no column 'aa' to keep.*'a', 'c'.*mean 'a'"):
        keeping(frame)
    twice = frame.set_axis(["a", "a"], axis=1).assign(c="u")
    with pytest.raises(TableMismatchError, match=r"the batch has several of 'a'\. Rename or drop"):
        BatchPredictor(model)(twice)
    mixed = frame.assign(a=[1, "x", None] * 20)
    with pytest.raises(TableMismatchError, match=r"those of 'a' cannot be read.* Convert the col"):
        BatchPredictor(model)(mixed)
    with pytest.raises(KeptColumnError, match="names of result columns: 'mean'"):
        BatchPredictor(model, keep=["mean"])(frame.assign(mean=1))


def test_a_model_that_is_not_there_is_refused_with_the_nearest_name(path):
    with pytest.raises(FileNotFoundError, match=r"There is no file .*Did you mean 'houses.confi"):
        BatchPredictor(path.with_name("house.confide"))
    with pytest.raises(confide.ModelFileError, match="is a folder: pass a file"):
        BatchPredictor(path.parent)


def test_a_file_that_is_no_model_is_refused_at_once_by_the_path_that_was_passed(path, tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    start = f"^{re.escape(str(tmp_path))}/"
    with pytest.raises(confide.ModelFileError, match=f"{start}rows.csv is text, such as a table"):
        BatchPredictor(tmp_path / "rows.csv")
    (tmp_path / "part.confide").write_bytes(path.read_bytes()[:-9])
    with pytest.raises(confide.ModelFileError, match=f"{start}part.confide is not a whole confide"):
        BatchPredictor(str(tmp_path / "part.confide"))
    with pytest.raises(confide.ModelFileError, match=f"^{re.escape(str(path))} was not made with"):
        BatchPredictor(path, network=len)


def test_it_travels_with_its_model(model, frame, path):
    predictor = BatchPredictor(model)
    other = pickle.loads(pickle.dumps(predictor))  # noqa: S301
    pd.testing.assert_frame_equal(other(frame), predictor(frame), check_exact=True)
    assert other.model is predictor.model  # loaded once in a process
    assert BatchPredictor(path).name == "houses.confide"


def test_an_empty_batch_has_the_columns_of_the_others(model, frame):
    predictor = BatchPredictor(model, keep=["a"])
    empty, full = predictor(frame.iloc[:0]), predictor(frame.iloc[:2])
    assert len(empty) == 0
    assert list(empty.columns) == list(full.columns)
    assert empty["mean"].dtype == full["mean"].dtype


def test_what_is_no_table_is_refused(model):
    with pytest.raises(TypeError, match=r"table of pandas or pyarrow.* got a list.*batch_format"):
        BatchPredictor(model)([1, 2])


def test_a_missing_column_is_named(model, frame):
    with pytest.raises(TableMismatchError, match=r"needs columns .* 'c'"):
        BatchPredictor(model)(frame[["a"]])


@pytest.mark.parametrize(
    ("version", "what"), [(9, "install that version or a newer one"), (1, "fit and save the model")]
)
def test_a_model_of_another_version_is_refused_by_its_name(path, tmp_path, version, what):
    other = tmp_path / "other.confide"
    content = path.read_bytes()
    said = f'format_version\\": {version}'.encode()
    other.write_bytes(content.replace(b'format_version\\": 3', said))
    assert other.read_bytes() != content
    message = rf"other\.confide has format version {version}, .* reads version 3 and .* {what}"
    with pytest.raises(confide.ModelFileError, match=message):
        BatchPredictor(other)


@pytest.mark.slow
def test_a_model_of_an_array_is_refused(frame):
    arguments = {"recipe": "paper", "max_epochs": 2, "hidden_layer_sizes": (4,)}
    of_array = confide.DeepEnsembleRegressor(2, **arguments, random_state=0)
    of_array.fit(frame[["a"]].to_numpy(), frame["a"].to_numpy())
    with pytest.raises(TableMismatchError, match="array of 1 columns without names"):
        BatchPredictor(of_array)


def test_a_pattern_is_its_files_in_order(tmp_path):
    for name in ("b.csv", "a.csv", "c.parquet"):
        (tmp_path / name).touch()
    assert matching_files(f"{tmp_path}/*.csv") == [f"{tmp_path}/a.csv", f"{tmp_path}/b.csv"]
    assert matching_files("-") == ["-"]
    with pytest.raises(TableFileError, match=r"No file matches .*\*\.xlsx"):
        matching_files(f"{tmp_path}/*.xlsx")


def test_a_file_with_brackets_in_its_name_is_that_file(tmp_path):
    name = str(tmp_path / "new[1].csv")
    (tmp_path / "new[1].csv").touch()
    assert matching_files(name) == [name]


def test_results_go_to_another_folder_under_their_own_names(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.csv").touch()
    (tmp_path / "b").mkdir()
    assert outputs_of([f"{tmp_path}/a/x.csv"], tmp_path / "b") == [tmp_path / "b" / "x.csv"]
    with pytest.raises(TableFileError, match=r"own predictions\. Choose another folder"):
        outputs_of([f"{tmp_path}/a/x.csv"], tmp_path / "a")
    with pytest.raises(TableFileError, match="have the same name"):
        outputs_of(["p/x.csv", "q/x.csv"], tmp_path / "b")
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*nowhere"):
        outputs_of(["x.csv"], tmp_path / "nowhere")


def test_a_folder_of_different_files_is_refused_with_the_file(model, frame, tmp_path):
    frame.to_parquet(tmp_path / "1.parquet")
    frame.assign(a="many").to_parquet(tmp_path / "2.parquet")
    frame.drop(columns="c").to_parquet(tmp_path / "3.parquet")
    frame.assign(a=1).to_parquet(tmp_path / "4.parquet")
    first, words, short, whole = (TableFile(tmp_path / f"{i}.parquet") for i in range(1, 5))
    refuse_different(model, [first, whole])
    with pytest.raises(TableMismatchError, match=r"'a' has words in .*2.parquet and numbers in"):
        refuse_different(model, [first, words])
    with pytest.raises(TableMismatchError, match=r"3.parquet: The model needs columns .*'c'"):
        refuse_different(model, [first, short])
    frame.assign(id=1).to_parquet(tmp_path / "5.parquet")
    with pytest.raises(KeptColumnError, match=r"1.parquet: There is no column 'id' to keep"):
        refuse_different(model, [TableFile(tmp_path / "5.parquet"), first], "id")


def test_a_level_that_is_none_is_refused_before_the_first_batch(model):
    with pytest.raises(ValueError, match="`confidence_level` must"):
        BatchPredictor(model, confidence_level=95)
