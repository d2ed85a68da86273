"""Every block of docs/files.md runs, one after the other, as its reader would run them."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from confide.cli import main

TEXT = (Path(__file__).parent.parent / "docs" / "files.md").read_text()
BLOCKS = re.findall(r"```(console|python)\n(.*?)```", TEXT, flags=re.DOTALL)


@pytest.mark.slow
def test_the_way_from_a_file_to_a_page_can_be_gone(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    said, names = {}, {}
    for kind, block in BLOCKS:
        if kind == "python":
            exec(compile(block, "docs/files.md", "exec"), names)  # noqa: S102 - our own text
            continue
        for line in block.splitlines():
            program, *words = shlex.split(line, comments=True)
            if program == "confide":
                result = CliRunner().invoke(main, words)
                assert result.exit_code == 0, f"{line}: {result.output}"
                said[words[0]] = result.stdout
    assert said["fit"] == "model.confide\n"
    assert said["report"] == "report.html\n"
    assert said["predict"] == "predicted.csv\n"
    assert "prediction intervals cover" in said["check"]
    assert "predicts:" in said["inspect"]
    assert len(Path("predicted.csv").read_text().splitlines()) == 443
    assert "A new observation" in capsys.readouterr().out


def test_links_lead_somewhere():
    links = re.findall(r"\]\(((?!http)[^)]+)\)", TEXT)
    assert links
    for link in links:
        assert (Path(__file__).parent.parent / "docs" / link).exists(), link
