"""Benchmark sets: where they are looked for, what is refused, and that nothing is fetched unasked.

Most of it on a small set of our own under a benchmark's name; no test touches the network.
"""

import gzip
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from confide.datasets import MORE_NAMES, NAMES, Dataset, benchmark, load
from confide.datasets.benchmark import checksum
from confide.datasets.more import MORE_SETS
from confide.datasets.sets import BENCHMARK_SETS, BenchmarkSet

DATA = os.environ.get("CONFIDE_DATA", "")
VALUES = np.array([[1.0, 0.1, 5.25], [2.0, 1 / 3, -7.0]])
CSV = "a,b,target\n1,0.10,5.25\n2.0,0.3333333333333333,-7\n"
SET = BenchmarkSet(checksum(VALUES), ("a", "b"), "UCI 999", openml_id=12345)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder, no other folder, and `boston` for the name of a small set."""
    monkeypatch.delenv("CONFIDE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setitem(BENCHMARK_SETS, "boston", SET)
    return tmp_path / "cache" / "confide" / "data"


@pytest.fixture
def openml(monkeypatch):
    """A stand-in for `fetch_openml` that answers with `.tables` and notes what it was asked."""

    class OpenML:
        def __init__(self):
            X = pd.DataFrame(VALUES[:, :2], columns=["A", "B"])
            self.tables, self.asked = {12345: (X, pd.Series(VALUES[:, 2]))}, []

        def __call__(self, **asked):
            self.asked.append(asked)
            return self.tables[asked["data_id"]]

    fake = OpenML()
    monkeypatch.setattr("sklearn.datasets.fetch_openml", fake)
    return fake


def save(folder, text=CSV, name="boston"):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    return path


def test_a_set_is_read_from_the_cache(cache):
    save(cache)
    data = load("boston")
    assert data.X.tolist() == VALUES[:, :2].tolist()
    assert data.y.tolist() == VALUES[:, 2].tolist()
    assert data.feature_names == ("a", "b")


def test_the_folder_in_the_environment_comes_before_the_cache(cache, tmp_path, monkeypatch):
    save(cache, "altered")
    save(tmp_path / "mine")
    monkeypatch.setenv("CONFIDE_DATA", str(tmp_path / "mine"))
    assert len(load("boston").y) == 2


def test_the_cache_serves_what_the_folder_in_the_environment_lacks(cache, tmp_path, monkeypatch):
    save(cache)
    monkeypatch.setenv("CONFIDE_DATA", str(tmp_path / "empty"))
    assert len(load("boston").y) == 2


def test_feature_names_are_the_known_ones_whatever_the_header_says(cache):
    save(cache, CSV.replace("a,b,target", "x1,x2,y"))
    assert load("boston").feature_names == ("a", "b")


def test_an_altered_value_is_refused_with_both_checksums(cache):
    path = save(cache, CSV.replace("5.25", "5.250000000000001"))
    altered = VALUES.copy()
    altered[0, 2] = np.nextafter(5.25, 6)
    with pytest.raises(ValueError, match="is not the benchmark set 'boston'") as caught:
        load("boston")
    message = str(caught.value)
    assert message.startswith(str(path))
    assert f"sha256 {checksum(altered)}, and {SET.checksum} was expected" in message
    assert "Put the right file in its place: get it from UCI 999" in message


def test_rows_in_another_order_are_refused(cache):
    header, first, second = CSV.split()
    save(cache, f"{header}\n{second}\n{first}\n")
    with pytest.raises(ValueError, match="is not the benchmark set 'boston'"):
        load("boston")


@pytest.mark.parametrize("spelling", ["5.250", "525e-2", "+5.25"])
def test_the_spelling_of_a_number_does_not_matter(cache, spelling):
    save(cache, CSV.replace("5.25", spelling))
    assert load("boston").y[0] == 5.25


def test_a_checksum_does_not_depend_on_memory_order_or_the_sign_of_zero():
    values = np.array([[0.0, 1.0], [2.0, 3.0]])
    other = np.asfortranarray(np.array([[-0.0, 1.0], [2.0, 3.0]]))
    assert checksum(other) == checksum(values)
    assert checksum(other) == checksum(values.astype(">f8"))
    assert checksum(values.T) != checksum(values)


@pytest.mark.parametrize(
    "content",
    [b"a,b\n1,2\n", gzip.compress(b"a,b\n1,2\n" * 99)[:-9], gzip.compress(b"a,b\n1,two\n")],
    ids=["not gzipped", "cut short", "text"],
)
def test_a_broken_file_is_named(cache, content):
    save(cache).write_bytes(content)
    with pytest.raises(ValueError, match=r"boston\.csv\.gz cannot be read as a gzipped CSV of num"):
        load("boston")


def test_an_absent_set_says_how_to_get_it(cache, openml):
    with pytest.raises(FileNotFoundError) as caught:
        load("boston")
    message = str(caught.value)
    assert f"no boston.csv.gz in {cache}." in message
    assert "Call load('boston', download=True) to fetch OpenML's table 12345, or get it" in message
    assert f"from UCI 999, and save it as {cache / 'boston.csv.gz'}: a gzipped CSV" in message
    assert "the features a, b, and a last column `target`" in message
    assert openml.asked == []


def test_an_absent_set_names_both_folders(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("CONFIDE_DATA", str(tmp_path / "mine"))
    with pytest.raises(FileNotFoundError, match="is not on this machine") as caught:
        load("boston")
    assert f"in {tmp_path / 'mine'} or {cache}." in str(caught.value)
    assert f"save it as {tmp_path / 'mine' / 'boston.csv.gz'}:" in str(caught.value)


@pytest.mark.parametrize("name", ["power", "naval"])
@pytest.mark.parametrize("download", [False, True])
def test_a_set_that_openml_lacks_is_never_fetched_and_says_where_it_is(
    cache, openml, name, download
):
    with pytest.raises(FileNotFoundError, match="It cannot be downloaded") as caught:
        load(name, download=download)
    assert f"So get it from {BENCHMARK_SETS[name].where}, and save it as {cache}" in str(
        caught.value
    )
    assert openml.asked == []


@pytest.mark.parametrize("folder", ["", "more"])
def test_a_further_set_may_lie_in_a_folder_of_its_own(cache, monkeypatch, folder):
    monkeypatch.setitem(MORE_SETS, "servo", SET)
    save(cache / folder, name="servo")
    assert load("servo").X.tolist() == VALUES[:, :2].tolist()


def test_the_nine_are_not_looked_for_among_the_further_sets(cache):
    save(cache / "more")
    with pytest.raises(FileNotFoundError, match=r"no boston\.csv\.gz in"):
        load("boston")


def test_an_absent_further_set_says_where_it_is(cache):
    with pytest.raises(FileNotFoundError, match="It cannot be downloaded") as caught:
        load("servo", download=True)
    assert "commit f073752, file uci_datasets/servo/data.csv.gz" in str(caught.value)
    assert f"save it as {cache / 'servo.csv.gz'}:" in str(caught.value)
    assert "the features x1, x2, x3, x4, and a last column `target`" in str(caught.value)


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match=r"no data set 'bostn'.*Did you mean 'boston'\?"):
        load("bostn")
    with pytest.raises(ValueError, match=r"no data set 'airfoils'.*Did you mean 'airfoil'\?"):
        load("airfoils")


# --- downloads


def test_a_set_that_is_here_is_not_fetched(cache, openml):
    save(cache)
    load("boston", download=True)
    assert openml.asked == []


def test_a_download_gives_the_set_and_is_kept(cache, openml):
    fetched = load("boston", download=True)
    assert fetched.X.tolist() == VALUES[:, :2].tolist()
    assert [path.name for path in cache.iterdir()] == ["boston.csv.gz"]
    kept = load("boston")
    assert (kept.X.tolist(), kept.y.tolist()) == (fetched.X.tolist(), fetched.y.tolist())
    assert gzip.decompress((cache / "boston.csv.gz").read_bytes()).startswith(b"a,b,target\n")
    assert len(openml.asked) == 1


@pytest.mark.usefixtures("cache")
def test_a_download_asks_for_exact_decimals_and_readable_categories(openml):
    load("boston", download=True)
    assert openml.asked[0] == {
        "data_id": 12345,
        "as_frame": True,
        "parser": "liac-arff",
        "cache": False,
        "return_X_y": True,
    }


@pytest.mark.usefixtures("cache")
def test_categories_are_read_as_the_numbers_they_spell(openml):
    X, y = openml.tables[12345]
    openml.tables[12345] = (
        X.assign(A=pd.Categorical(["1", "2"])),
        y.astype(str).astype("category"),
    )
    assert load("boston", download=True).X[:, 0].tolist() == [1.0, 2.0]


@pytest.mark.usefixtures("cache")
def test_a_second_target_after_the_features_is_left_out(openml):
    X, y = openml.tables[12345]
    openml.tables[12345] = (X.assign(cooling_load=[8.0, 9.0]), y)
    assert load("boston", download=True).X.shape == (2, 2)


@pytest.mark.usefixtures("cache")
def test_a_target_with_more_digits_is_rounded_where_the_set_says_so(openml, monkeypatch):
    monkeypatch.setitem(BENCHMARK_SETS, "boston", SET._replace(target_decimals=2))
    X, y = openml.tables[12345]
    openml.tables[12345] = (X, y + 0.0049)
    assert load("boston", download=True).y.tolist() == [5.25, -7.0]


def test_a_download_with_other_values_is_refused_and_not_kept(cache, openml):
    X, y = openml.tables[12345]
    openml.tables[12345] = (X, y + 0.0049)
    found = checksum(np.column_stack([X, y + 0.0049]))
    with pytest.raises(ValueError, match="OpenML's table 12345 is not the benchmark") as caught:
        load("boston", download=True)
    assert f"sha256 {found}, and {SET.checksum} was expected" in str(caught.value)
    assert not cache.exists()


@pytest.mark.parametrize("error", [OSError("no route"), ValueError("no route")])
def test_a_failed_download_says_what_to_do(cache, monkeypatch, error):
    def fail(**_asked):
        raise error

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fail)
    with pytest.raises(
        ConnectionError, match=r"12345 .* could not be fetched: no route\. Try again"
    ):
        load("boston", download=True)
    assert not cache.exists()


@pytest.mark.usefixtures("openml")
def test_a_download_that_is_interrupted_while_saving_leaves_no_file(cache, monkeypatch):
    def interrupted(_path, _target):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        load("boston", download=True)
    assert list(cache.iterdir()) == []


def test_saved_values_are_read_back_bit_for_bit(tmp_path):
    values = np.random.default_rng(0).normal(size=(50, 3)) * 10.0 ** np.arange(-150, 150, 100)
    benchmark._write(tmp_path / "x.csv.gz", values, ("a", "b"))
    assert np.array_equal(benchmark._read(tmp_path / "x.csv.gz"), values)


# --- the sets themselves


def test_constant_columns_are_dropped_with_their_names():
    # A column of 0.998 has a standard deviation of rounding errors, not zero.
    X = np.column_stack([np.arange(1000.0), np.full(1000, 0.998), np.arange(1000.0) % 2])
    data = Dataset(X, np.zeros(1000), ("rises", "rests", "swings")).without_constant_columns()
    assert data.feature_names == ("rises", "swings")
    assert data.X.tolist() == X[:, [0, 2]].tolist()
    assert len(data.y) == 1000


def needs(name):
    there = any((Path(DATA) / folder / f"{name}.csv.gz").is_file() for folder in ("", "more"))
    return pytest.mark.skipif(
        not (DATA and there), reason=f"CONFIDE_DATA names no folder with {name}.csv.gz"
    )


# Rows, features, mean and sd of the target.
FACTS = {
    "boston": (506, 13, 22.5328, 9.18801),
    "concrete": (1030, 8, 35.8180, 16.6976),
    "energy": (768, 8, 22.3072, 10.0836),
    "kin8nm": (8192, 8, 0.714283, 0.263591),
    "naval": (11934, 16, 0.975, 0.0147196),
    "power": (9568, 4, 454.365, 17.0661),
    "yacht": (308, 6, 10.4954, 15.1359),
    "wine_red": (1599, 11, 5.63602, 0.807317),
    "protein": (45730, 9, 7.74853, 6.11824),
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name)) for name in NAMES])
def test_each_set_is_the_known_one(name):
    data, (n_rows, n_features, mean, std) = load(name), FACTS[name]
    assert data.X.shape == (n_rows, n_features)
    assert data.y.shape == (n_rows,)
    # Six digits were noted.
    assert (data.y.mean(), data.y.std()) == pytest.approx((mean, std), rel=5e-6)


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name)) for name in NAMES])
def test_each_set_names_its_columns_as_its_file_does(name):
    with gzip.open(Path(DATA) / f"{name}.csv.gz", "rt") as file:
        assert (*load(name).feature_names, "target") == tuple(file.readline().strip().split(","))


@needs("naval")
def test_naval_has_the_papers_fourteen_features_without_its_constant_columns():
    names = load("naval").without_constant_columns().feature_names
    assert len(names) == 14
    assert set(load("naval").feature_names) - set(names) == {"t1", "p1"}


OPENML_NAMES = [name for name in NAMES if BENCHMARK_SETS[name].openml_id]


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name)) for name in OPENML_NAMES])
def test_each_set_in_openmls_dress_is_recognised(name, openml, tmp_path, monkeypatch):
    data = load(name)
    X, y = pd.DataFrame(data.X, columns=data.feature_names), pd.Series(data.y)
    if name == "boston":
        X = X.assign(
            **{
                column: X[column].map("{:g}".format).astype("category")
                for column in ("chas", "rad")
            }
        )
    elif name == "energy":
        X = X.assign(cooling_load=y + 1)
    elif name == "concrete":
        y = y + np.random.default_rng(0).uniform(-0.0049, 0.0049, len(y))
    openml.tables = {BENCHMARK_SETS[name].openml_id: (X, y)}
    monkeypatch.delenv("CONFIDE_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert np.array_equal(load(name, download=True).X, data.X)


# Rows, features and sd of the target, which is centred.
FURTHER_FACTS = {
    "airfoil": (1503, 5, 6.89637),
    "autompg": (392, 7, 7.79504),
    "machine": (209, 7, 1.04727),
    "servo": (167, 4, 0.89676),
    "bike": (17379, 17, 1.48609),
    "elevators": (16599, 18, 0.252575),
    "pol": (15000, 26, 41.7244),
    "parkinsons": (5875, 20, 10.6994),
    "skillcraft": (3338, 19, 0.384937),
    "stock": (536, 11, 0.0162491),
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name)) for name in MORE_NAMES])
def test_each_further_set_is_the_known_one(name):
    data, (n_rows, n_features, std) = load(name), FURTHER_FACTS[name]
    assert data.X.shape == (n_rows, n_features)
    # Six digits were noted; five of the source's are right.
    assert data.y.std() == pytest.approx(std, rel=5e-6)
    assert abs(data.y.mean()) < 1e-4 * std
