"""What the release check decides before it builds anything, and how it reads what it is told."""

import zipfile

import pytest
import release_check
from release_check import NotReadyError, beyond_jax, check_wheel, clean_environment, said_of

METADATA = b"Metadata-Version: 2.4\nName: confide\nVersion: 0.2.0\n\nWhat it is.\n"
INFORMATION = "confide-0.2.0.dist-info"


def test_a_version_may_wait_under_unreleased_until_it_is_final():
    changelog = "## [Unreleased]\n\n- New.\n\n## [0.1.0] - 2030-01-31\n\n- Old.\n"
    assert said_of("0.2.0", changelog, final=False).startswith("not released yet")
    with pytest.raises(NotReadyError, match=r"no dated section of 0\.2\.0"):
        said_of("0.2.0", changelog, final=True)


def test_a_released_version_has_its_date():
    changelog = "## [Unreleased]\n\n## [0.2.0] - 2030-01-31\n\n- New.\n\n## [0.1.0] - 2029-01-01\n"
    assert said_of("0.2.0", changelog, final=True) == "released on 2030-01-31"


@pytest.mark.parametrize(
    ("version", "changelog", "message"),
    [
        ("0.1.0", "## [Unreleased]\n\n- New.\n\n## [0.1.0] - 2030-01-31\n", "0.1.0 is released"),
        ("0.1.0", "## [Unreleased]\n\n- New.\n\n## [0.2.0] - 2030-01-31\n", "not above"),
        ("0.1.0", "## [0.2.0] - 2030-02-01\n\n## [0.1.0] - 2030-01-31\n", "later version"),
        ("0.1.0", "## [Unreleased]\n\n## [0.0.9] - 2030-01-31\n", "no dated section"),
    ],
)
def test_versions_that_cannot_be_released_are_refused(version, changelog, message):
    with pytest.raises(NotReadyError, match=message):
        said_of(version, changelog, final=False)


def test_changelog_and_citation_know_the_version_of_this_checkout():
    text = (release_check.ROOT / "pyproject.toml").read_text()
    version = release_check.tomllib.loads(text)["project"]["version"]
    assert release_check.agreed_version(version, final=False)
    with pytest.raises(NotReadyError, match=r"pyproject.toml has version 9\.9\.9, CITATION.cff"):
        release_check.agreed_version("9.9.9", final=False)


def test_time_is_counted_from_jax_on_and_scikit_learns_apart():
    report = """\
import time: self [us] | cumulative | imported package
import time:       100 |        100 |     numpy
import time:       400 |        500 | jax
import time:      3000 |       3000 | confide
import time:   2000000 |    2000000 |       scipy
import time:    500000 |    2500000 |     sklearn
import time:    100000 |     100000 |     sklearn.base
import time:    250000 |    2850000 | confide.estimators
"""
    assert beyond_jax(report) == (0.003, 0.35, 2.5)


def wheel(tmp_path, monkeypatch, names):
    files = {"src/confide/__init__.py", "src/confide/py.typed", "src/confide/report/page.css"}
    monkeypatch.setattr(release_check, "package_files", lambda: files)
    path = tmp_path / "confide-0.2.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"{INFORMATION}/METADATA", METADATA)
        for name in names:
            file.writestr(name, "")
    return path


WHOLE = [
    *("confide/__init__.py", "confide/py.typed", "confide/report/page.css"),
    f"{INFORMATION}/licenses/LICENSE",
]


def test_a_whole_wheel_passes(tmp_path, monkeypatch):
    check_wheel(wheel(tmp_path, monkeypatch, WHOLE), "0.2.0")


@pytest.mark.parametrize("lacking", WHOLE)
def test_a_wheel_that_lacks_a_file_is_refused(tmp_path, monkeypatch, lacking):
    path = wheel(tmp_path, monkeypatch, [name for name in WHOLE if name != lacking])
    with pytest.raises(NotReadyError, match=f"lacks: {lacking}"):
        check_wheel(path, "0.2.0")


def test_a_wheel_with_tests_in_it_is_refused(tmp_path, monkeypatch):
    path = wheel(tmp_path, monkeypatch, [*WHOLE, "tests/test_law.py"])
    with pytest.raises(NotReadyError, match=r"beside the package: tests/test_law\.py"):
        check_wheel(path, "0.2.0")


def test_a_wheel_of_another_version_is_refused():
    with pytest.raises(NotReadyError, match=r"of version 0\.2\.0, pyproject.toml of 0\.3\.0"):
        release_check.check_metadata(METADATA, "0.3.0")


def test_a_stranger_has_neither_our_data_nor_our_path(tmp_path, monkeypatch):
    for name in ("CONFIDE_DATA", "PYTHONPATH", "XDG_CACHE_HOME", "JAX_COMPILATION_CACHE_DIR"):
        monkeypatch.setenv(name, "ours")
    found = clean_environment(tmp_path)
    assert "ours" not in found.values()
    assert found["HOME"] == str(tmp_path)
    assert found["PATH"]
