"""fit, predict, report, check, inspect: results, messages, exit codes, and what is left behind."""

import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
import unicodedata
import warnings
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from click.testing import CliRunner
from safetensors.numpy import save

import confide
import confide.workflow
from confide.calibration import FEWEST_SIMULATIONS, usual_simulations
from confide.cli import main
from confide.coverage.result import Coverage, CoverageCheck
from confide.workflow import TrainingTable

QUICK = ["--recipe", "paper", "--epochs", "3", "--members", "2"]


def run(*arguments, stdin=None):
    return CliRunner().invoke(main, list(map(str, arguments)), input=stdin, prog_name="confide")


def read_exactly(path, **keywords):
    return pd.read_csv(path, float_precision="round_trip", **keywords)


def done(*arguments, stdin=None):
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 0, result.output
    return result


def refused(code, message, *arguments, stdin=None):
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == code, result.output
    assert re.search(message, result.stderr, re.DOTALL), result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table with a category, a date, a truth and holes, and a model of it."""
    folder = tmp_path_factory.mktemp("tables")
    generator = np.random.default_rng(2)
    n = 150
    x = generator.normal(size=n)
    kind = generator.choice(["flat", "house"], n)
    frame = pd.DataFrame(
        {
            "number": [f"no {i}" for i in range(n)],
            "sold": pd.Timestamp("2024-01-01")
            + pd.to_timedelta(generator.integers(0, 700, n), "D"),
            "kind": np.where(generator.random(n) < 0.1, None, kind),
            "x": np.where(generator.random(n) < 0.1, np.nan, x),
            "garden": generator.random(n) < 0.3,
            "price": np.where(np.arange(n) == 4, np.nan, 3 * x + (kind == "house")),
        }
    )
    frame.to_parquet(folder / "homes.parquet", index=False)
    frame.to_csv(folder / "homes.csv", index=False)
    done("fit", folder / "homes.parquet", "-t", "price", "-o", folder / "model.confide", *QUICK)
    return folder


@pytest.fixture(scope="module")
def model(folder):
    return folder / "model.confide"


@pytest.fixture(scope="module")
def homes(folder):
    return folder / "homes.parquet"


# Fitting


def test_fit_prints_the_model_and_says_the_rest_on_standard_error(homes, tmp_path):
    path = tmp_path / "new.confide"
    result = done("fit", homes, "--target", "price", "-o", path, *QUICK)
    assert result.stdout == f"{path}\n"
    assert "1 row of 150 left out: the target 'price' is missing there." in result.stderr
    assert "Left out of the fit: number" in result.stderr
    first = result.stderr.index("RMSE ")
    lines = result.stderr[first:].splitlines()
    assert re.fullmatch(
        r"RMSE \S+ on 30 held-out rows; gradient boosting \S+; guessing the mean \S+\.", lines[0]
    )
    assert re.match(r"90 % prediction intervals contained \d+ % of 30 held-out rows; ", lines[1])
    assert lines[2].startswith("Look at: ")
    assert done("inspect", path).stdout.splitlines()[:3] == lines[:3]
    assert f"Next: confide report {path} {homes}" in result.stderr
    assert TrainingTable.of(confide.load(path)).file == "homes.parquet"


def test_fit_tells_the_same_as_json(homes, tmp_path):
    path = tmp_path / "new.confide"
    told = json.loads(done("fit", homes, "-t", "price", "-o", path, "--json", *QUICK).stdout)
    assert told["model"] == str(path)
    assert told["rows"] == {"trained on": 119, "set aside": 30}
    assert told["judged"]["rmse"] == TrainingTable.of(confide.load(path)).judged["rmse"]
    assert {"name": "sold", "kind": "date"} in told["columns"]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_model_and_another_another(homes, tmp_path):
    one, two, other = (tmp_path / name for name in ("one", "two", "other"))
    for path, seed in ((one, 3), (two, 3), (other, 4)):
        done("fit", homes, "-t", "price", "-o", path, "--seed", seed, *QUICK)
    assert one.read_bytes() == two.read_bytes() != other.read_bytes()


def test_csv_and_parquet_of_the_same_table_give_the_same_predictions(folder, model, tmp_path):
    from_csv, from_parquet = (
        pd.read_csv(tmp_path / "out.csv")
        for file in ("homes.csv", "homes.parquet")
        if done("predict", model, folder / file, "-o", tmp_path / "out.csv", "--force")
    )
    pd.testing.assert_frame_equal(from_csv, from_parquet)


@pytest.mark.slow
def test_columns_can_be_excluded(homes, tmp_path):
    path = tmp_path / "new.confide"
    done("fit", homes, "-t", "price", "-o", path, "--exclude", "number,garden", *QUICK)
    assert list(confide.load(path).feature_names_in_) == ["sold", "kind", "x"]


@pytest.mark.slow
def test_rows_can_be_held_out_by_date_or_in_groups(homes, tmp_path):
    how = ["-t", "price", "-o", tmp_path / "new.confide", "--force", *QUICK]
    by_date = done("fit", homes, *how, "--hold-out-by", "sold", "--exclude", "sold").stderr
    assert re.search("The last (29|3.) rows by 'sold' are held out, from 2025-..-.. on", by_date)
    assert "sold" not in confide.load(tmp_path / "new.confide").feature_names_in_
    by_group = done("fit", homes, *how, "--group", "sold", "--hold-out", "0.5").stderr
    assert re.search("groups of 'sold' are held out whole", by_group)
    both = ["--hold-out-by", "sold", "--group", "kind"]
    refused(
        2, "--hold-out-by and --group were both given. Pass one of them", "fit", homes, *how, *both
    )
    refused(2, "no column 'solt' to hold out by", "fit", homes, *how, "--hold-out-by", "solt")


@pytest.mark.slow
def test_columns_are_what_the_options_say(tmp_path):
    generator, n = np.random.default_rng(3), 60
    frame = pd.DataFrame(
        {
            "house": np.arange(1, n + 1),
            "district": generator.integers(1, 4, n),
            "visit": np.arange(n),
            "price": generator.normal(size=n),
        }
    )
    frame.to_csv(tmp_path / "homes.csv", index=False)
    path = tmp_path / "new.confide"
    options = ["--id", "house", "--categorical", "district", "--numeric", "visit"]
    done("fit", tmp_path / "homes.csv", "-t", "price", "-o", path, *options, *QUICK)
    columns = {column.name: column.kind for column in confide.load(path).encoder_.columns}
    assert columns == {"district": "category", "visit": "number"}
    done("predict", path, tmp_path / "homes.csv", "-o", tmp_path / "out.csv")
    assert pd.read_csv(tmp_path / "out.csv")["house"].tolist() == frame["house"].tolist()
    said = done("fit", tmp_path / "homes.csv", "-t", "price", "-o", path, "--force", *QUICK).stderr
    assert "house (it only numbers the rows" in said


HONEST = ["--calibrate-confidence", "--simulations", "10"]


@pytest.fixture(scope="module")
def honest(folder):
    path = folder / "honest.confide"
    command = ["fit", folder / "homes.parquet", "-t", "price", "-o", path, *QUICK, *HONEST]
    return path, done(*command, "--json")


@pytest.mark.slow
def test_an_honest_fit_says_what_its_twins_found_with_the_rest(honest, model):
    path, result = honest
    account = confide.load(path).confidence_calibration_.summary
    assert sum(each.n_simulations for each in account.resemblances) == 10
    assert result.stderr.count("Confidence intervals are calibrated on simulated twins") == 1
    for warning in account.warnings:
        assert result.stderr.count(f"Warning: {warning}\n") == 1
    assert "Fitting twins of the data" in result.stderr
    assert re.search(r"intervals on 10 simulated data sets: 100 %", result.stderr)
    told = json.loads(result.stdout)
    assert told["confidence_calibration"] == json.loads(json.dumps(account.to_json()))
    assert told["honesty"] == told["confidence_calibration"]  # the old name
    assert json.loads(done("inspect", model, "--json").stdout)["honesty"] is None
    said = done("inspect", path).stdout
    assert re.search(r"confidence intervals: +calibrated on 10 simulated data sets \(", said)
    assert re.search(r"confidence intervals: +not calibrated", done("inspect", model).stdout)


@pytest.mark.slow
def test_an_honest_model_predicts_both_confidence_intervals(honest, folder, tmp_path):
    path, _ = honest
    done("predict", path, folder / "homes.csv", "-o", tmp_path / "out.csv", "--level", "0.8")
    found = read_exactly(tmp_path / "out.csv")
    fitted = confide.load(path)
    features = pd.read_parquet(folder / "homes.parquet").drop(columns="price")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prediction = fitted.get_prediction(features)
    for bounds, ending in ((prediction, ""), (prediction.uncalibrated, "_uncalibrated")):
        columns = [f"mean_ci_{end}{ending}" for end in ("lower", "upper")]
        np.testing.assert_allclose(found[columns], bounds.confidence_interval(0.8), rtol=1e-5)


@pytest.mark.slow
def test_an_honest_model_has_its_section_on_the_page(honest, homes, tmp_path):
    path, _ = honest
    page = tmp_path / "report.html"
    told = json.loads(done("report", path, homes, "-o", page, "--json").stdout)
    assert "Calibration of the confidence intervals" in page.read_text()
    assert {row["used"] for row in told["twins"]} - {"no"}
    assert [row["level"] for row in told["widening"]] == ["80 %", "95 %", "90 %"]


@pytest.mark.slow
def test_a_fast_fit_is_not_calibrated_and_simulations_are_not_too_few(homes, tmp_path):
    command = ["fit", homes, "-t", "price", "-o", tmp_path / "new"]
    message = "--fast leaves out the calibration of confidence intervals"
    refused(2, message, *command, "--fast", "--simulations", "20")
    refused(2, message, *command, "--fast", "--calibrate-confidence")
    done(*command, "--fast", "--epochs", "2", "--members", "2")
    assert confide.load(tmp_path / "new").confidence_calibration_ is None
    refused(
        2,
        r"9 is not in the range 10<=x<=",
        *command,
        "--calibrate-confidence",
        "--simulations",
        "9",
    )
    cli_fit = import_module("confide.cli.fit")
    assert cli_fit.FEWEST_SIMULATIONS == FEWEST_SIMULATIONS
    assert [usual_simulations(n) for n in (5_000, 5_001)] == [
        cli_fit.SIMULATIONS,
        cli_fit.FEWEST_SIMULATIONS,
    ]


def test_the_old_name_of_the_calibration_on_twins_works_and_is_told(homes, tmp_path):
    command = ["fit", homes, "-t", "prize", "-o", tmp_path / "new", "--honest"]
    refused(2, "--honest is now --calibrate-confidence.*no column 'prize'", *command)
    assert "--honest" not in done("fit", "--help").stdout


def test_a_table_too_short_for_a_twin_is_refused_with_the_way_out(tmp_path):
    path = tmp_path / "short.csv"
    pd.DataFrame({"x": np.arange(18.0), "y": np.arange(18.0) ** 2}).to_csv(path, index=False)
    message = "at least 20 different rows.*there are 18. Use more rows, or fit without it"
    asked = ["--recipe", "paper", "--calibrate-confidence"]
    refused(2, message, "fit", path, "-t", "y", "-o", tmp_path / "new", *asked)
    assert not (tmp_path / "new").exists()


@pytest.fixture(scope="module")
def formulas(plain_table, tmp_path_factory):
    """A table with text that a spreadsheet would run, to be predicted by a model."""
    path = tmp_path_factory.mktemp("formulas") / "rows.parquet"
    names = ['=HYPERLINK("x")', "+31 6 1234", "@sum", "-5", "plain", "a=b", None, "\t=1"]
    frame = pd.DataFrame({"a": 0.5, "=name": names, "kind": pd.Categorical(["=1"] * 8)})
    frame = frame.assign(
        **{"'=name": 1, "@": 2, "bytes": [b"=1", b"-", b"7", b"\xe9", *[None] * 4]}
    )
    frame.to_parquet(path, index=False)
    frame[:3].to_parquet(path.with_name("told.parquet"), index=False)  # all text is UTF-8
    return plain_table[1], path


def test_kept_formulas_are_escaped_where_that_is_asked_for(formulas, tmp_path):
    model, path = formulas
    escape = ("--keep", "=name,kind,'=name,bytes", "--escape-formulas")
    asked = done("predict", model, path, *escape, "-o", tmp_path / "new.csv")
    kept = pd.read_csv(tmp_path / "new.csv", dtype=str, keep_default_na=False)
    expected = ['\'=HYPERLINK("x")', "'+31 6 1234", "'@sum", "-5", "plain", "a=b", "", "'\t=1"]
    assert kept["'=name"].tolist() == expected
    assert kept["'=name.1"].tolist() == ["1"] * 8
    assert kept["kind"].tolist() == ["'=1"] * 8
    assert kept["bytes"].tolist() == ["'=1", "'-", "7", "\ufffd", "", "", "", ""]
    assert "--escape-formulas" not in asked.stderr


@pytest.mark.parametrize("name", ["@", "bytes"])
def test_formulas_in_names_and_bytes_are_told_too(formulas, tmp_path, name):
    model, path = formulas
    asked = done("predict", model, path.with_name("told.parquet"), "--keep", name)
    assert f"would run as formulas is in '{name}'" in asked.stderr


@pytest.mark.parametrize("ending", ["csv", "tsv.gz", "parquet", "jsonl"])
def test_kept_formulas_are_told_where_a_spreadsheet_would_run_them(formulas, tmp_path, ending):
    model, path = formulas
    output = tmp_path / f"new.{ending}"
    asked = done("predict", model, path, "--keep", "=name", "-o", output)
    assert ("--escape-formulas" in asked.stderr) == (ending in {"csv", "tsv.gz"})
    if ending == "parquet":
        assert pd.read_parquet(output)["=name"][0] == '=HYPERLINK("x")'


def test_nothing_is_overwritten_without_force(homes, model):
    before = model.read_bytes()
    refused(
        2, "model.confide already exists. Add --force", "fit", homes, "-t", "price", "-o", model
    )
    assert model.read_bytes() == before


@pytest.mark.parametrize("command", ["fit", "check"])
def test_a_misspelt_target_is_told_before_a_result_that_is_there(homes, tmp_path, command):
    path = tmp_path / "there.png"
    path.write_text("mine")
    refused(2, "no column 'prise'.*mean 'price'", command, homes, "-t", "prise", "-o", path)
    refused(1, "There is no file", command, tmp_path / "no.csv", "-t", "price", "-o", path)
    refused(2, "Add --force", command, homes, "-t", "price", "-o", path)


def test_a_misspelt_target_is_told_without_loading_what_trains(homes):
    arguments = ["fit", str(homes), "-t", "prise"]
    script = (
        "import sys; from confide.cli import main\n"
        f"try: main({arguments})\n"
        "except SystemExit as stop: print(stop.code, 'jax' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert ran.stdout.strip() == "2 False"


def test_what_is_read_is_never_replaced(homes, model, tmp_path):
    path = tmp_path / "homes.parquet"
    path.write_bytes(homes.read_bytes())
    refused(2, "is also an input", "predict", model, path, "-o", path, "--force")
    refused(2, "is also an input", "fit", path, "-t", "price", "-o", path, "--force")
    assert path.read_bytes() == homes.read_bytes()
    picture = tmp_path / "model.png"
    picture.write_bytes(model.read_bytes())
    check = ("check", homes, "-t", "price", "--model", picture, "--simulations", "1")
    refused(2, "is also an input", *check, "-o", picture, "--force")
    assert picture.read_bytes() == model.read_bytes()


@pytest.mark.slow
def test_kept_columns_stay_as_they_are_in_the_file(tmp_path):
    path, model = tmp_path / "codes.csv", tmp_path / "codes.confide"
    ids = 2**53 + np.arange(40)
    lines = [f"{i},{'0123' if i % 2 else '9876'},{i % 7}.5,{i % 2 + i % 7}" for i in ids]
    path.write_text("\n".join(["id,zip,x,y", *lines]))
    done("fit", path, "-t", "y", "-o", model, *QUICK)
    kept = done("predict", model, path, "--keep", "id,zip").stdout.splitlines()
    assert [line.split(",")[0] for line in kept[1:]] == [str(i) for i in ids]
    refused(2, "no column 'idd' to keep.*'id'", "predict", model, path, "--keep", "idd")


@pytest.mark.parametrize("command", ["predict", "report"])
def test_no_command_overwrites_without_force(model, homes, tmp_path, command):
    path = tmp_path / "there.html"
    path.write_text("mine")
    refused(2, "already exists. Add --force", command, model, homes, "-o", path)
    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    ("content", "target", "code", "message"),
    [
        (b"a,price\n1,2\n2,3\n", "prise", 2, "no column 'prise' to predict.*mean 'price'"),
        (b"a,price,price\n1,2,3\n", "price", 1, "more than one column called 'price'"),
        (b"a,grade\n1,good\n2,bad\n", "grade", 2, "'grade' must be numbers.*'good', 'bad'"),
        (b"", "y", 1, "is empty"),
        (b"a,y\n", "y", 2, "a header but no rows"),
        (b"a,y\n1,2\n3\n", "y", 1, "row 2 .*1 field.* header has 2"),
        (b"caf\xe9,y\n1,2\n", "y", 1, "not UTF-8.*iconv"),
        (
            b"a,y\n,1\n,2\n,3\n",
            "y",
            1,
            "a: every value is missing|everything is missing|a .*missing",
        ),
        (b"a,y\n1,\n2,\n", "y", 2, "'y' is missing in all 2 rows"),
        (b"a,y\n1,5\n2,5\n", "y", 1, "y must vary"),
        (b"PK\x03\x04 spreadsheet", "y", 1, "zip|Excel"),
        (b"\x80\x04\x95 pickle", "y", 1, "pickle"),
        (b"PAR1" + bytes(range(40)), "y", 1, "Parquet"),
        (b"\x1f\x8b broken", "y", 1, "cannot be read to its end.*damaged"),
    ],
    ids=lambda value: value.decode("latin1")[:12] if isinstance(value, bytes) else "",
)
def test_bad_tables_are_refused_in_words_and_leave_nothing(
    tmp_path, content, target, code, message
):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    refused(code, message, "fit", path, "-t", target, "-o", tmp_path / "model.confide", *QUICK)
    assert [each.name for each in tmp_path.iterdir()] == ["table.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "x.csv"], "Missing option '-t' / '--target'"),
        (["fit", "x.csv", "-t", "y", "--epochs", "few"], "'few' is not a valid integer"),
        (["fit", "x.csv", "-t", "y", "--hold-out", "1"], "1.0 is not in the range"),
        (["fit", "x.csv", "-t", "y", "--hold-out", "nan"], "nan is not in the range"),
        (["fit", "x.csv", "-t", "y", "--epochs", "1" + "0" * 23], "is not in the range 1<=x<="),
        (["fit", "x.csv", "-t", "y", "--members", "1" + "0" * 23], "is not in the range 2<=x<="),
        (["fit", "x.csv", "-t", "y", "-o", "no/such/model"], "There is no folder no/such"),
        (["predict", "nosuch.confide", "x.csv"], "no file nosuch.confide. `confide fit` writes"),
        (["predict", ".", "x.csv"], ". is a folder. Name a file that `confide fit` wrote"),
        (["check", "x.csv", "-t", "y", "-o", "x.gif"], "'x.gif' must end in .png or .svg or .pdf"),
        (["completion", "tcsh"], "'tcsh' is not one of"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage_exits_with_2(arguments, message):
    refused(2, message, *arguments)


def test_a_table_is_no_model_and_a_model_no_table(model, homes):
    for command in (["predict", homes, model], ["report", homes, homes], ["inspect", homes]):
        refused(1, "a table in Parquet, not a confide model. Pass a file", *command)
    for command in (["predict", model, model], ["fit", model, "-t", "price"]):
        refused(1, "is a model, not a table", *command)


def test_a_level_that_is_no_number_is_wrong_usage(model, homes):
    refused(2, "nan is not in the range", "predict", model, homes, "--level", "nan")


@pytest.mark.parametrize(
    ("command", "value"),
    [
        *(("fit", "inf"), ("check", "inf"), ("predict", "inf"), ("report", "inf")),
        *(("predict", "far"), ("report", "far")),  # to a fit, a column with text is text
    ],
)
def test_every_command_counts_rows_alike(plain_table, tmp_path, command, value):
    """From 1 below the header, rows that are left out among them."""
    path, model = plain_table
    frame = pd.read_csv(path).astype({"a": object})
    frame.loc[40, "a"] = value  # row 41; the target of row 5 is missing
    frame.to_csv(tmp_path / "homes.csv", index=False)
    of_model = [model] if command in {"predict", "report"} else []
    output = {"predict": "new.csv", "report": "new.html", "check": "new.png"}.get(command, "new")
    more = [] if of_model else ["-t", "price"]
    arguments = (command, *of_model, tmp_path / "homes.csv", *more, "-o", tmp_path / output)
    refused(1, r"(?=.*\brow 41\b)(?=.*\ba\b)", *arguments)


@pytest.fixture(scope="module")
def plain_table(tmp_path_factory):
    """A table of numbers in which a target is missing, and a model of it."""
    folder = tmp_path_factory.mktemp("plain")
    frame = pd.DataFrame(np.random.default_rng(4).normal(size=(60, 2)), columns=["a", "price"])
    frame.loc[4, "price"] = np.nan
    frame.to_csv(folder / "homes.csv", index=False)
    done("fit", folder / "homes.csv", "-t", "price", "-o", folder / "model", *QUICK)
    return folder / "homes.csv", folder / "model"


def test_a_fit_that_diverges_advises_what_the_command_has(homes, tmp_path, monkeypatch):
    def diverges(*_, **__):
        raise confide.TrainingDivergedError(0, 3, 120)

    monkeypatch.setattr(confide.workflow, "fit_table", diverges)
    ended = refused(
        1, "member 0 .*epoch 3.* --exclude", "fit", homes, "-t", "price", "-o", tmp_path / "model"
    )
    assert "learning_rate" not in ended.stderr


def test_a_file_that_is_not_there_is_named_with_its_neighbour(folder):
    refused(1, "There is no file .*house.csv.*homes.csv", "fit", folder / "house.csv", "-t", "y")


def test_a_report_must_be_html(model, homes):
    refused(2, "'report.pdf' must end in .html", "report", model, homes, "-o", "report.pdf")


# Predicting


def test_predictions_go_to_standard_output_as_csv(model, homes):
    result = done("predict", model, homes, "--level", "0.9")
    found = read_exactly(io.StringIO(result.stdout))
    fitted = confide.load(model)
    table = pyarrow.parquet.read_table(homes).drop_columns(["price"])
    expected = fitted.get_prediction(table).summary_frame(0.9)
    np.testing.assert_array_equal(found["obs_ci_lower"], expected["obs_ci_lower"])
    np.testing.assert_array_equal(found["mean_ci_upper"], expected["mean_ci_upper"])
    assert (found["is_novel"] == (found["novelty"] < 0.01)).all()
    assert (found["unseen_values"] == 0).all()
    assert "intervals are at the level 0.9 (--level)" in result.stderr
    assert len(found) == 150


@pytest.mark.parametrize(
    ("ending", "read"),
    [
        (".csv", read_exactly),
        (".csv.gz", read_exactly),
        (".tsv", lambda path: read_exactly(path, sep="\t")),
        (".parquet", pd.read_parquet),
        (".arrow", pd.read_feather),
        (".jsonl", lambda path: pd.DataFrame(map(json.loads, path.read_text().splitlines()))),
    ],
)
def test_the_ending_chooses_the_format(model, homes, tmp_path, ending, read):
    path = tmp_path / f"out{ending}"
    assert done("predict", model, homes, "-o", path, "--keep", "number").stdout == f"{path}\n"
    found = read(path)
    expected = read_exactly(io.StringIO(done("predict", model, homes).stdout))
    assert found["number"].tolist() == [f"no {i}" for i in range(150)]
    np.testing.assert_array_equal(found["mean"], expected["mean"])


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet", "arrow", "csv.gz", "stdin"])
def test_every_format_is_read_alike(folder, model, homes, tmp_path, form):
    frame, path = pd.read_parquet(homes), tmp_path / f"homes.{form}"
    stdin, given = None, path
    if form == "parquet":
        frame.to_parquet(path)
    elif form == "arrow":
        pyarrow.feather.write_feather(pa.Table.from_pandas(frame), path)
    elif form == "stdin":
        stdin, given = frame.to_csv(index=False), "-"
    else:
        text = frame.to_csv(index=False, sep="\t" if form == "tsv" else ",").encode()
        path.write_bytes(gzip.compress(text) if form.endswith("gz") else text)
    found = done("predict", model, given, stdin=stdin).stdout
    assert found == done("predict", model, folder / "homes.csv").stdout


def test_json_has_an_object_for_each_row(model, homes):
    lines = done("predict", model, homes, "--json").stdout.splitlines()
    first = json.loads(lines[0])
    assert len(lines) == 150
    assert first["mean_ci_lower"] < first["mean"] < first["mean_ci_upper"]
    assert first["is_novel"] is False


def test_a_table_that_does_not_fit_is_refused_with_all_that_is_wrong(model, tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("number,kinds,x\n1,flat,2\n")
    refused(
        1, "'sold', 'kind', 'garden'; the table has .*Did you mean 'kinds'", "predict", model, path
    )


def test_types_that_do_not_fit_are_refused_with_what_was_needed(model, homes, tmp_path):
    path = tmp_path / "other.parquet"
    frame = pd.read_parquet(homes).assign(x="far", sold=1.5)
    frame.to_parquet(path)
    refused(1, "sold needs .*date.*x needs .*number", "predict", model, path)


def test_text_among_numbers_is_refused_with_its_row(model, homes, tmp_path):
    path = tmp_path / "other.csv"
    frame = pd.read_parquet(homes).astype({"x": object})
    frame.loc[2, "x"] = "far"
    frame.to_csv(path, index=False)
    refused(1, "(?=.*'far')(?=.*\\bx\\b)(?=.*row 3)", "predict", model, path)


def test_unseen_categories_are_predicted_and_reported(model, homes, tmp_path):
    path = tmp_path / "castles.parquet"
    pd.read_parquet(homes).assign(kind="castle").to_parquet(path)
    result = done("predict", model, path)
    assert "kind: 'castle' (150 rows)" in result.stderr
    assert "intervals are at the level 0.95 (--level)" in result.stderr
    assert (read_exactly(io.StringIO(result.stdout))["unseen_values"] == 1).all()
    assert len(result.stdout.splitlines()) == 151


def test_dates_as_text_are_predicted_as_dates(model, homes, tmp_path):
    path = tmp_path / "text.parquet"
    pd.read_parquet(homes).assign(sold=lambda frame: frame["sold"].astype("str")).to_parquet(path)
    assert done("predict", model, path).stdout == done("predict", model, homes).stdout


@pytest.mark.parametrize(
    "content",
    [b"", b"not a model", b"\x80\x04\x95", b"\xff" * 64],
    ids=["empty", "text", "pickle", "huge"],
)
def test_a_file_that_is_no_model_is_refused(tmp_path, homes, content):
    path = tmp_path / "model.confide"
    path.write_bytes(content)
    refused(1, "not a (whole )?confide model", "predict", path, homes)
    refused(1, "not a (whole )?confide model", "inspect", path)


# Report, check, inspect


@pytest.mark.slow
def test_a_report_is_one_page_that_says_whom_it_was_judged_on(model, homes, tmp_path):
    path = tmp_path / "report.html"
    assert done("report", model, homes, "-o", path).stdout == f"{path}\n"
    text = path.read_text()
    assert "Predictions of price: homes.parquet" in text
    assert "typical error (RMSE) on 30 rows held out, which" in text
    told = json.loads(done("report", model, homes, "-o", path, "--force", "--json").stdout)
    assert told["page"] == str(path)
    assert {"accuracy"} < set(told)


@pytest.mark.slow
def test_a_check_prints_numbers_and_verdict_and_draws(homes, tmp_path):
    path = tmp_path / "coverage.png"
    quick = ["--simulations", 2, "--rows", 60]
    result = done("check", homes, "-t", "price", *quick, "-o", path)
    for name in ("bootstrapped deep ensemble", "bootstrapped deep ensemble, not calibrated"):
        assert f"{name}: 80 % confidence intervals cover" in result.stdout
    assert "before calibration; `confide fit` calibrates them" in result.stdout
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_check_may_be_of_a_models_settings_and_without_calibration(homes, model, monkeypatch):
    asked = []

    class Checked:
        report = CoverageCheck(
            (Coverage("theirs", "confidence", 0.8, np.ones((10, 10), bool), np.ones(10)),),
            *(np.ones((10, 1)), ("x",), 10, "a truth"),
        )
        notes = ()
        warnings = ()

    def check_table(*_, **how):
        asked.append(how["estimators"])
        return Checked

    monkeypatch.setattr(confide.workflow, "check_table", check_table)
    announced, *_ = done("check", homes, "-t", "price").stderr.split("\n", 1)
    assert announced.startswith("This will take about ")
    done("check", homes, "-t", "price", "--fast")
    done("check", homes, "-t", "price", "--model", model)
    both, fast, models = asked
    assert [own.calibration for own in both.values()] == ["recipe", None]
    assert [own.calibration for own in fast.values()] == [None]
    assert models["BootstrappedDeepEnsemble"].max_epochs == 3
    message = "--model has its own settings. Leave --fast out"
    refused(2, message, "check", homes, "-t", "price", "--model", model, "--fast")


def test_inspect_says_what_the_model_is(model):
    said = done("inspect", model).stdout
    assert re.search(r"^predicts: +price$", said, re.MULTILINE)
    assert re.search(r"^fitted to: +homes.parquet$", said, re.MULTILINE)
    assert re.search(r"^rows: +119 trained on, 30 held out$", said, re.MULTILINE)
    assert re.search(r"^  kind +category$", said, re.MULTILINE)
    told = json.loads(done("inspect", model, "--json").stdout)
    assert told["calibrated_on"] == 30
    assert told["settings"]["max_epochs"] == 3


# What strangers write


HOSTILE = "a\x1b[2J\x9b31m\u202eb\nWarning: forged"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A model of a table whose columns have names that steer a terminal, and what `fit` said."""
    folder = tmp_path_factory.mktemp("hostile")
    x = np.random.default_rng(0).normal(size=60)
    columns = {HOSTILE: x, f"constant {HOSTILE}": 1.0, f"target {HOSTILE}": x}
    pd.DataFrame(columns).to_parquet(folder / "t.parquet", index=False)
    arguments = (folder / "t.parquet", "-t", f"target {HOSTILE}", "-o", folder / "model.confide")
    return folder, done("fit", *arguments, *QUICK)


def steers(text):
    return [c for c in text if c != "\n" and unicodedata.category(c) in {"Cc", "Cf"}]


def forged(text):
    return [line for line in text.split("\n") if line.startswith("Warning: forged")]


def test_names_of_columns_do_not_steer_the_terminal(hostile, tmp_path):
    folder, fitted = hostile
    model, table = folder / "model.confide", folder / "t.parquet"
    asked = [
        fitted,
        done("inspect", model),
        done("inspect", model, "--json"),
        done("predict", model, table, "-o", tmp_path / "p.csv"),
        run("fit", table, "-t", "price", "-o", tmp_path / "m.confide"),
        run("fit", table, "-t", HOSTILE, "--exclude", f"{HOSTILE}x", "-o", tmp_path / "m.confide"),
    ]
    for result in asked:
        assert not steers(result.output), result.output
        assert not forged(result.output), result.output
    assert r"constant a\x1b[2J\x9b31m\u202eb\nWarning: forged" in fitted.stderr
    assert json.loads(asked[2].stdout)["target"] == f"target {HOSTILE}"


@pytest.mark.filterwarnings("always:evil")
def test_warnings_of_python_are_plain_lines(model, monkeypatch):
    described = confide.workflow.described

    def warns(*arguments):
        warnings.warn("evil \x1b[2J\nforged: line", stacklevel=1)
        return described(*arguments)

    monkeypatch.setattr(confide.workflow, "described", warns)
    assert done("inspect", model).stderr == "Warning: evil \\x1b[2J\\nforged: line\n"


def test_what_a_model_file_says_of_its_version_does_not_steer_the_terminal(tmp_path):
    header = {"format": "confide model", "format_version": 99, "confide_version": HOSTILE}
    (tmp_path / "m.confide").write_bytes(save({"a": np.zeros(1)}, {"header": json.dumps(header)}))
    said = run("inspect", tmp_path / "m.confide").stderr
    assert "format version 99" in said
    assert not steers(said)
    assert not forged(said)


def test_json_for_programs_has_no_numbers_that_json_lacks(model, tmp_path):
    fitted = confide.load(model)
    seen = fitted.training_table_
    judged = {**seen.origin["judged"], "r2": float("nan")}
    fitted.training_table_ = replace(seen, origin={**seen.origin, "judged": judged})
    fitted.save(tmp_path / "m.confide")

    def fail(name):
        raise AssertionError(name)

    told = json.loads(done("inspect", tmp_path / "m.confide", "--json").stdout, parse_constant=fail)
    assert told["judged"]["r2"] is None


# Shells


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_the_shell(shell):
    assert "_CONFIDE_COMPLETE" in done("completion", shell).stdout


def completed(*words):
    environment = {
        **os.environ,
        "_CONFIDE_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(map(str, words)),
        "COMP_CWORD": str(len(words) - 1),
    }
    command = [sys.executable, "-c", "from confide.cli import main; main(prog_name='confide')"]
    done_ = subprocess.run(command, capture_output=True, check=True, text=True, env=environment)
    return [line.partition(",")[2] for line in done_.stdout.splitlines()]


def test_commands_and_columns_are_completed(folder):
    assert completed("confide", "re") == ["report"]
    assert completed("confide", "fit", folder / "homes.csv", "--target", "p") == ["price"]


def test_names_that_steer_the_terminal_are_not_completed(tmp_path):
    names = ["prix", "pr\x1b[2J", "pr\x9b31m", "pr\nplain,forged"]
    pd.DataFrame({name: [1.0] for name in names}).to_parquet(tmp_path / "t.parquet")
    assert completed("confide", "fit", tmp_path / "t.parquet", "--target", "p") == ["prix"]


# Processes


COMMAND = "from confide.cli import main; main(prog_name='confide')"


def process(*arguments, **keywords):
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *map(str, arguments)],
        stderr=subprocess.PIPE,
        text=True,
        **keywords,
    )


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_ends_the_command_quietly(model, homes, tmp_path):
    long = tmp_path / "long.parquet"
    table = pyarrow.parquet.read_table(homes)
    pyarrow.parquet.write_table(pa.concat_tables([table] * 500), long)
    with process("predict", model, long, stdout=subprocess.PIPE) as child:
        assert child.stdout.readline().startswith("mean,")
        child.stdout.close()
        said = child.stderr.read()
    assert child.returncode == 1
    assert "Traceback" not in said
    assert "Error" not in said


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a disk that is full")
@pytest.mark.parametrize(
    "arguments", [["inspect", "model.confide"], ["completion", "bash"]], ids=lambda a: a[0]
)
def test_a_full_standard_output_is_told_in_a_sentence(folder, arguments):
    with Path("/dev/full").open("w") as full, process(*arguments, stdout=full, cwd=folder) as child:
        said = child.stderr.read()
    assert child.returncode == 1
    assert "Traceback" not in said


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a disk that is full")
@pytest.mark.parametrize("to_file", [False, True])
def test_a_full_disk_is_told_in_a_sentence(model, homes, tmp_path, to_file):
    (tmp_path / "full.csv").symlink_to("/dev/full")
    output = ["-o", tmp_path / "full.csv"] if to_file else []
    with (
        Path("/dev/full").open("w") as full,
        process("predict", model, homes, *output, stdout=full) as child,
    ):
        said = child.stderr.read()
    assert child.returncode == 1
    assert re.search("no space left", said)
    assert "Traceback" not in said


@pytest.mark.slow
def test_ctrl_c_leaves_no_file_and_says_so(homes, tmp_path):
    path = tmp_path / "model.confide"
    command = ["fit", homes, "-t", "price", "-o", path, "--recipe", "paper", "--epochs", 20_000]
    with process(*command, stdout=subprocess.PIPE) as child:
        while line := child.stderr.readline():
            if "Fitting" in line:  # a quarter of the training is done
                child.send_signal(signal.SIGINT)
                break
        said = child.stderr.read()
    assert child.returncode == 130
    assert "Stopped." in said
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["Fitting twins", "Calibrating"])
def test_ctrl_c_while_calibrating_leaves_no_file_and_says_so(homes, tmp_path, stage):
    path = tmp_path / "model.confide"
    command = ["fit", homes, "-t", "price", "-o", path, *QUICK, "--epochs", 2000]
    with process(*command, "--calibrate-confidence", stdout=subprocess.PIPE) as child:
        while line := child.stderr.readline():
            if stage in line:
                child.send_signal(signal.SIGINT)
                break
        said = child.stderr.read()
    assert child.returncode == 130
    assert "Stopped." in said
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


STARTING = """
import signal, time
from confide.cli.session import starting
with starting():
    try:
        print("importing", flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        print("lost", flush=True)
print("went on", flush=True)
"""


def test_ctrl_c_during_imports_is_not_lost():
    with subprocess.Popen(
        [sys.executable, "-c", STARTING], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout.readline() == "importing\n"
        child.send_signal(signal.SIGINT)
        out, said = child.communicate(timeout=30)
    assert (child.returncode, out, said) == (130, "", "Stopped.\n")


LOST = """
import os, signal
from confide.cli.session import messages
from confide.cli.session import stop_if_asked
with messages():
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        pass  # as in a callback of a weak reference
    print("went on", flush=True)
    stop_if_asked()
    print("wrote", flush=True)
"""


def test_a_lost_ctrl_c_is_known_of_before_a_result_is_written():
    done_ = subprocess.run(
        [sys.executable, "-c", LOST], capture_output=True, text=True, check=False
    )
    assert (done_.returncode, done_.stdout, done_.stderr) == (130, "went on\n", "Stopped.\n")
