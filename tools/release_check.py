"""Would a release work? Builds wheel and sdist and tries the wheel as a stranger would.

1. The version is the same everywhere, and the changelog knows it.
2. Wheel and sdist build, their metadata are valid, and they hold all of the package: templates and
   `py.typed`, the licence, and nothing else.
3. The wheel, installed alone in an empty environment outside the checkout, runs `confide demo` in
   an empty folder, without data and without a cache.
4. A user's code type-checks against it (`tests/public_api.py`, `mypy --strict`).
5. `import confide` and, beyond JAX's import and scikit-learn's, every public name take less than a
   second of their own.

Needs a network or a package index, and some minutes: pip install 'confide[release]'.
"""

import argparse
import email
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from packaging.metadata import Metadata
from packaging.version import Version

ROOT = Path(__file__).parent.parent
PACKAGE = "src/confide"
IMPORT_LIMIT = 1.0
"""Seconds of every public name beyond the imports of JAX and of scikit-learn's base classes, which
take as long without us; on an idle machine."""

IMPORTS = 5
"""Imports are timed so often, and the fastest counts: others on the machine only slow it down."""

EVERY_NAME = "import jax\nimport confide\nfor name in confide.__all__: getattr(confide, name)"


class NotReadyError(Exception):
    """What keeps a release from being made."""


def main(words: Sequence[str] | None = None) -> int:
    """Check everything, or say what is wrong first."""
    arguments = parse_arguments(words)
    try:
        with tempfile.TemporaryDirectory(prefix="confide-release-") as folder:
            check(Path(folder), final=arguments.final, import_limit=arguments.import_limit)
    except NotReadyError as error:
        say(f"Not ready: {error}")
        return 1
    say("Ready.")
    return 0


def check(folder: Path, *, final: bool, import_limit: float) -> None:
    """All checks, the cheap ones first."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    say(f"version {version}: {agreed_version(version, final=final)}")
    wheel, sdist = build(folder / "dist")
    check_wheel(wheel, version)
    check_sdist(sdist, version)
    say(f"{wheel.name} ({wheel.stat().st_size / 1e3:.0f} kB), {sdist.name} "
        f"({sdist.stat().st_size / 1e3:.0f} kB): complete, metadata valid")  # fmt: skip
    python = install(wheel, folder / "environment")
    say(f"installed alone, {n_packages(python)} packages with its dependencies")
    run_demo(python, folder / "empty")
    say("`confide demo` runs in an empty folder")
    check_types(python, folder)
    say("a user's code passes `mypy --strict`")
    check_import(python, folder, import_limit)


def agreed_version(version: str, *, final: bool) -> str:
    """That changelog and citation know the version, in words."""
    citation = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    if citation is None or citation[1] != version:
        found = "none" if citation is None else citation[1]
        raise NotReadyError(
            f"pyproject.toml has version {version}, CITATION.cff {found}. Make them the same."
        )
    return said_of(version, (ROOT / "CHANGELOG.md").read_text(), final=final)


def said_of(version: str, changelog: str, *, final: bool) -> str:
    r"""What the changelog says of a version; refuses what cannot be released.

    Example:
        >>> said_of("0.2.0", "## [0.2.0] - 2030-01-31\n\n- New.\n", final=True)
        'released on 2030-01-31'
    """
    headings = re.findall(r"^## \[(.+?)\](?: - (\d{4}-\d\d-\d\d))?$", changelog, re.MULTILINE)
    unreleased = re.search(
        r"^## \[Unreleased\]\n(.*?)(?=^## \[|\Z)", changelog, re.MULTILINE | re.DOTALL
    )
    waiting = unreleased is not None and unreleased[1].strip() != ""
    dates = dict(headings)
    released = [Version(name) for name in dates if name != "Unreleased"]
    if dates.get(version):
        if waiting:
            raise NotReadyError(
                f"CHANGELOG.md has entries under Unreleased, and {version} is released. Raise the "
                "version in pyproject.toml and CITATION.cff."
            )
        if max(released) != Version(version):
            raise NotReadyError(f"CHANGELOG.md has a later version than {version}. Raise it.")
        return f"released on {dates[version]}"
    if final or not waiting:
        raise NotReadyError(
            f"CHANGELOG.md has no dated section of {version}. Write '## [{version}] - "
            "YYYY-MM-DD' over what is Unreleased."
        )
    if released and max(released) >= Version(version):
        raise NotReadyError(
            f"CHANGELOG.md has entries under Unreleased, and {version} is not above the last "
            f"release, {max(released)}. Raise the version in pyproject.toml and CITATION.cff."
        )
    return "not released yet, its changes are under Unreleased"


def build(folder: Path) -> tuple[Path, Path]:
    """Wheel and sdist; the wheel is built from the sdist, which so is shown to be complete."""
    run([sys.executable, "-m", "build", "--outdir", folder, ROOT], "The package must build")
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def check_wheel(wheel: Path, version: str) -> None:
    """All of the package, its licence, and nothing else."""
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
        information = f"confide-{version}.dist-info"
        check_metadata(file.read(f"{information}/METADATA"), version)
    needed = {name.removeprefix("src/") for name in package_files()}
    needed |= {"confide/py.typed", f"{information}/licenses/LICENSE"}
    refuse(wheel.name, needed - names, "lacks")
    expected = needed | {name for name in names if name.startswith(f"{information}/")}
    refuse(wheel.name, names - expected, "has beside the package")


def check_sdist(sdist: Path, version: str) -> None:
    """The package, what builds it, and nothing else."""
    top = f"confide-{version}"
    with tarfile.open(sdist) as file:
        names = {member.name.removeprefix(f"{top}/") for member in file if member.isfile()}
    files = {"CHANGELOG.md", "CITATION.cff", "LICENSE", "README.md", "pyproject.toml"}
    refuse(sdist.name, {*package_files(), *files} - names, "lacks")
    refuse(sdist.name, names - {*package_files(), *files, "PKG-INFO", ".gitignore"}, "has too much")


def package_files() -> set[str]:
    """What git knows of the package; a file that was forgotten there would be in no release."""
    listed = run(["git", "-C", ROOT, "ls-files", PACKAGE], "This must be a git checkout")
    return set(listed.splitlines())


def refuse(archive: str, names: Iterable[str], what: str) -> None:
    """An error that names some of the files, if there are any."""
    if some := sorted(names):
        raise NotReadyError(
            f"{archive} {what}: {', '.join(some[:5])}{' ...' if len(some) > 5 else ''}. See "
            "[tool.hatch.build] in pyproject.toml, and `git status`."
        )


def check_metadata(content: bytes, version: str) -> None:
    """By the rules of the package index."""
    said = Metadata.from_email(content, validate=True)  # raises what is wrong with it
    if str(said.version) != version:
        raise NotReadyError(f"The wheel is of version {said.version}, pyproject.toml of {version}.")
    if not email.message_from_bytes(content).get_payload():
        raise NotReadyError("The metadata have no description: is README.md the `readme`?")


def install(wheel: Path, environment: Path) -> Path:
    """The Python of an empty environment with the wheel and what it depends on."""
    run([sys.executable, "-m", "venv", environment], "An environment must be made")
    python = environment / "bin" / "python"
    run([python, "-m", "pip", "install", "--quiet", wheel], "The wheel must be installed")
    run([python, "-m", "pip", "check"], "Its dependencies must fit together")
    return python


def n_packages(python: Path) -> int:
    """How many came along."""
    return len(run([python, "-m", "pip", "freeze"], "pip must list packages").splitlines())


def run_demo(python: Path, folder: Path) -> None:
    """As the README's first command."""
    folder.mkdir()
    run([python.parent / "confide", "demo"], "`confide demo` must run", where=folder)
    if not (folder / "confide-demo.png").stat().st_size:
        raise NotReadyError("`confide demo` drew an empty picture.")


def check_types(python: Path, folder: Path) -> None:
    """A user's code against the installed package, which says by `py.typed` that it has types."""
    code = folder / "public_api.py"
    code.write_text((ROOT / "tests" / "public_api.py").read_text())
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir=cache"]
    run([*command, f"--python-executable={python}", code], "A user's code must type-check",
        where=folder)  # fmt: skip


def check_import(python: Path, folder: Path, limit: float) -> None:
    """Every public name, beyond JAX."""
    times = [import_times(python, folder) for _ in range(IMPORTS)]
    alone, own, of_sklearn = (min(column) for column in zip(*times, strict=True))
    say(
        f"imports: `import confide` takes {alone:.3f} s; every public name {own:.2f} s beyond JAX "
        f"and scikit-learn, which with SciPy and pandas takes {of_sklearn:.2f} s (fastest of "
        f"{IMPORTS})"
    )
    if alone + own > limit:
        raise NotReadyError(
            f"Every public name must be imported within {limit:g} s beyond JAX and scikit-learn, "
            f"and takes {alone + own:.2f} s. Is the machine idle? If so, see which module is new "
            "with `python -X importtime`."
        )


def import_times(python: Path, folder: Path) -> tuple[float, float, float]:
    """Seconds of `import confide`, of its names, and of scikit-learn."""
    done = subprocess.run(
        [python, "-X", "importtime", "-c", EVERY_NAME],
        capture_output=True,
        check=True,
        text=True,
        cwd=folder,
        env=clean_environment(folder),
    )
    return beyond_jax(done.stderr)


def beyond_jax(report: str) -> tuple[float, float, float]:
    """What was imported after JAX: seconds of `import confide`, of its names, of scikit-learn.

    Args:
        report: what `-X importtime` says: a line for each module when its import is done, with its
            own microseconds and those with the modules it needed.

    Example:
        >>> said = ["import time: 9 | 9 | jax", "import time: 5000 | 5000 | confide"]
        >>> said += ["import time: 3000000 | 3000000 |   sklearn"]
        >>> beyond_jax(chr(10).join([*said, "import time: 500000 | 3500000 | confide.a"]))
        (0.005, 0.5, 3.0)
    """
    lines = re.findall(r"^import time:\s+(\d+) \|\s+(\d+) \|\s+(\S+)$", report, re.MULTILINE)
    modules = [module for _, _, module in lines]
    after = lines[modules.index("jax") + 1 :]
    cumulative = {module: int(all_in) for _, all_in, module in after}
    alone, of_sklearn = cumulative["confide"], cumulative["sklearn"]
    own = sum(int(own) for own, _, _ in after) - alone - of_sklearn
    return alone / 1e6, own / 1e6, of_sklearn / 1e6


def run(command: Sequence[str | Path], needed: str, *, where: Path | None = None) -> str:
    """The output of a command that must succeed."""
    environment = None if where is None else clean_environment(where)
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        check=False,
        cwd=where,
        env=environment,
    )
    if done.returncode != 0:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise NotReadyError(f"{needed}, and {Path(command[0]).name} ended with:\n{last}")
    return done.stdout


def clean_environment(home: Path) -> dict[str, str]:
    """A stranger's: no data, no cache, no path to this checkout."""
    ours = ("CONFIDE_", "PYTHON", "MYPY", "XDG_", "JAX_", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "HOME": str(home), "MPLBACKEND": "agg"}


def say(text: str) -> None:
    """Tell the person who waits."""
    print(text, flush=True)


def parse_arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--final", action="store_true", help="the changelog must have a dated section of it"
    )
    parser.add_argument(
        "--import-limit",
        type=float,
        default=IMPORT_LIMIT,
        metavar="SECONDS",
        help="of every public name beyond JAX and scikit-learn (default: %(default)s)",
    )
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
