"""Predictions by Spark and Dask, as the guide has them."""

import shutil
import sys

import numpy as np
import pandas as pd
import pytest

import confide
from confide.workflow import BatchPredictor

pytestmark = [
    pytest.mark.slow,  # Spark starts a Java of its own
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:os.fork.. was called:RuntimeWarning"),
]


@pytest.fixture(scope="module")
def frame():
    generator = np.random.default_rng(0)
    return pd.DataFrame({"a": generator.normal(size=60), "b": generator.normal(size=60)})


@pytest.fixture(scope="module")
def path(frame, tmp_path_factory):
    arguments = {"recipe": "paper", "max_epochs": 2, "hidden_layer_sizes": (4,)}
    model = confide.DeepEnsembleRegressor(2, **arguments, random_state=0)
    path = tmp_path_factory.mktemp("model") / "model.confide"
    model.fit(frame, frame["a"] + np.random.default_rng(1).normal(size=60)).save(path)
    return path


def same(found, expected):
    """Whether two tables of predictions are the same, but for the rounding of a sum."""
    found, expected = (one.sort_values("a").reset_index(drop=True) for one in (found, expected))
    numbers = expected.select_dtypes("number").columns
    np.testing.assert_allclose(found[numbers], expected[numbers], rtol=1e-6)
    return list(found.columns) == list(expected.columns)


def test_dask_maps_partitions(frame, path):
    dataframe = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    predictor = BatchPredictor(path, keep=["a"])
    rows = dataframe.from_pandas(frame, npartitions=3)
    predicted = rows.map_partitions(predictor, meta=predictor(rows.head(1)).iloc[:0])
    assert same(predicted.compute(scheduler="synchronous"), predictor(frame))


@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")
def test_spark_maps_in_pandas(frame, path, monkeypatch):
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}
    settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    spark = sql.SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
    try:
        predictor = BatchPredictor(path, keep=["a"])
        rows = spark.createDataFrame(frame).repartition(2)
        schema = spark.createDataFrame(predictor(rows.limit(1).toPandas())).schema
        predicted = rows.mapInPandas(lambda frames: map(predictor, frames), schema).toPandas()
    finally:
        spark.stop()
    assert same(predicted, predictor(frame))
