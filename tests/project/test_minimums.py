"""The oldest versions of dependencies: what `tools/minimums.py` installs."""

import tomllib

import pytest
from minimums import EXTRAS, ROOT, SMOKE, main, minimums

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_every_extra_of_users_is_tried():
    ours = {"test", "docs", "check", "release", "peers"}  # of those who work on confide
    assert {*EXTRAS, "torch"} == PROJECT["optional-dependencies"].keys() - ours
    assert SMOKE.keys() == {"core", "torch", *EXTRAS}


def test_extras_of_extras_count():
    pins = minimums(PROJECT, ["ray"])
    assert {"pyarrow==15.0.0", "altair==5.3", "filelock==3.12", "jax==0.5"} < set(pins)


def test_what_fails_is_said(tmp_path, capsys):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho no such thing\nexit 1\n")
    python.chmod(0o755)
    assert main(["--extras", "--python", str(python)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "core: fails",
        "no such thing",
        "torch: not tried, as its oldest release brings gigabytes; --extras torch tries it",
        "0 passed, 1 failed",
    ]


def test_an_unknown_extra_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["--extras", "tabels"])
    assert "invalid choice: 'tabels'" in capsys.readouterr().err
