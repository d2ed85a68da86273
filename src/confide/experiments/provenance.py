"""Where a number comes from: commit, versions, machine."""

import os
import platform
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path

PACKAGES = (
    "confide", "equinox", "jax", "jaxlib", "numpy", "optax", "pandas", "scikit-learn", "scipy"
)  # fmt: skip


@cache  # the code that runs is that of the start
def provenance() -> dict[str, str]:
    """What is kept beside every result."""
    versions = {name: metadata.version(name) for name in PACKAGES}
    return {
        "commit": _commit(),
        "python": platform.python_version(),
        **versions,
        "machine": platform.machine(),
        "cores": str(os.cpu_count()),
    }


def _commit() -> str:
    """The checkout's commit, "-dirty" where files differ from it, or the version installed."""
    here = Path(__file__).parent
    try:
        tracked = _git(here, "ls-files", "--error-unmatch", Path(__file__).name)
        if tracked.returncode == 0:
            commit = _git(here, "describe", "--always", "--abbrev=12").stdout.strip()
            # Unlike `describe --dirty`, this sees new files: an experiment is one.
            changed = _git(here.parent, "status", "--porcelain", "--", ".").stdout.strip()
            return f"{commit}-dirty" if changed else commit
    except OSError:  # no git on this machine
        pass
    return f"release {metadata.version('confide')}"


def _git(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
