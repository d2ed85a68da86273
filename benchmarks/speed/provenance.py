"""Where, when and with what numbers were made."""

import datetime as dt
import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

PACKAGES = (
    *("confide", "jax", "jaxlib", "equinox", "optax", "numpy", "scikit-learn"),
    *("keras", "tensorflow-cpu", "tensorflow", "torch", "sklearn-contrib-bde"),
)


def provenance() -> dict[str, Any]:
    """Commit, date, machine and versions."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=12"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parent,
    ).stdout.strip()
    return {
        "commit": commit or "unknown",
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "cpu": cpu_model(),
        "cores": usable_cores(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "versions": versions,
    }


def cpu_model() -> str:
    """The processor's own name."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


def usable_cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
