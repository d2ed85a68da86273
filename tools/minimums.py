"""Tries the oldest versions that pyproject.toml allows, in an environment of their own.

    python tools/minimums.py                  # the core and every extra of users but torch
    python tools/minimums.py --extras tables  # the core and one extra
    python tools/minimums.py --extras torch   # needs gigabytes; not part of the whole

Each package that pyproject.toml names with >= is installed at just that version, and a short script
fits, predicts, saves and loads with each extra.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
# Of users; the others are for those who work on confide. PyTorch's oldest release brings gigabytes.
EXTRAS = ("report", "tables", "excel", "experiments", "ray", "flax", "boosting", "onnx")
SMOKE = {
    "core": """
import numpy as np, pandas as pd
import confide, confide.plot

X = np.random.default_rng(0).normal(size=(80, 2))
y = X[:, 0] + 0.1 * X[:, 1]
how = dict(hidden_layer_sizes=(4,), max_epochs=3, random_state=0)
for kind in (confide.BootstrappedDeepEnsembleRegressor, confide.DeepEnsembleRegressor,
             confide.NaiveBootstrapRegressor, confide.ConcreteDropoutRegressor,
             confide.QualityDrivenEnsembleRegressor):
    model = kind(**how).fit(X[:60], y[:60])
    model.calibrate(X[60:], y[60:]).save("model.confide", overwrite=True)
    assert (confide.load("model.confide").predict(X) == model.predict(X)).all()
    model.get_prediction(X).summary_frame(0.95)
confide.plot.IntervalsDisplay.from_estimator(model, X, y)
table = pd.DataFrame({"a": X[:, 0], "b": ["x", "y"] * 40, "c": pd.date_range("2020", periods=80)})
confide.DeepEnsembleRegressor(**how).fit(table, y).predict(table)
""",
    "tables": """
import numpy as np, pandas as pd
frame = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 2)), columns=["a", "y"])
frame["b"], frame["c"] = ["x", "y"] * 40, pd.date_range("2020", periods=80)
frame.to_csv("t.csv", index=False)
frame.to_parquet("t.parquet")
for table in ("t.csv", "t.parquet"):
    confide("fit", table, "-t", "y", "-o", "t.confide", "--epochs", 3, "--members", 2, "--force")
    for output in ("p.csv", "p.parquet", "p.arrow"):
        confide("predict", "t.confide", table, "-o", output, "--force")
confide("inspect", "t.confide")
""",
    "excel": """
import pandas as pd
pd.read_csv("t.csv").to_excel("t.xlsx", index=False)
confide("predict", "t.confide", "t.xlsx", "-o", "p.csv", "--force")
""",
    "report": """
import pathlib
confide("report", "t.confide", "t.csv", "--force")
assert "</html>" in pathlib.Path("report.html").read_text()
""",
    "experiments": """
confide("experiment", "run", "overfitting", "--quick")
confide("experiment", "show", "overfitting", "--quick")
""",
    "ray": """
confide("experiment", "run", "overfitting", "--quick", "--engine", "ray", "--runs", "on-ray")
""",
    "flax": """
from flax import nnx
import jax, numpy as np
from confide import BootstrappedDeepEnsembleRegressor

def make(key, n_features):
    rngs = nnx.Rngs(key)
    first, last = nnx.Linear(n_features, 4, rngs=rngs), nnx.Linear(4, 2, rngs=rngs)
    return nnx.Sequential(first, nnx.relu, last)

X = np.random.default_rng(0).normal(size=(80, 2))
BootstrappedDeepEnsembleRegressor(network=make, max_epochs=3).fit(X, X[:, 0]).predict(X)
""",
    "torch": """
import numpy as np
from torch import nn
from confide import BootstrappedDeepEnsembleRegressor

def make(n_features):
    return nn.Sequential(nn.Linear(n_features, 4), nn.ReLU(), nn.Linear(4, 2))

X = np.random.default_rng(0).normal(size=(80, 2))
BootstrappedDeepEnsembleRegressor(network=make, max_epochs=3).fit(X, X[:, 0]).predict(X)
""",
    "boosting": """
import numpy as np
from confide import BootstrappedEnsembleRegressor, load
X = np.random.default_rng(0).normal(size=(80, 2))
for learner in ("xgboost", "lightgbm"):
    model = BootstrappedEnsembleRegressor(learner=learner, max_epochs=5, n_members=2)
    model.fit(X, X[:, 0]).save("trees.confide", overwrite=True)
    assert (load("trees.confide").predict(X) == model.predict(X)).all()
""",
    "onnx": """
confide("export", "t.confide", "t.onnx", "--level", 0.9, "--force")
""",
}
# What a page or a file of ONNX needs a model of.
NEEDED = {"report": "tables", "excel": "tables", "onnx": "tables", "ray": "experiments"}
COMMAND = """
import subprocess, sys
def confide(*words):
    subprocess.run([sys.executable, "-m", "confide", *map(str, words)], check=True)
"""


def main(words: Sequence[str] | None = None) -> int:
    """Installs, tries, and says what failed."""
    arguments = parse_arguments(words)
    pins = minimums(
        tomllib.loads((ROOT / "pyproject.toml").read_text())["project"], arguments.extras
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = arguments.python or installed(folder, pins, arguments.extras)
        tried = dict.fromkeys(
            ["core", *(NEEDED.get(e, e) for e in arguments.extras), *arguments.extras]
        )
        failed = [part for part in tried if not works(python, part, folder)]
    if "torch" not in tried:
        print("torch: not tried, as its oldest release brings gigabytes; --extras torch tries it")
    print(f"{len(tried) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def minimums(project: dict[str, Any], extras: Iterable[str]) -> list[str]:
    """The oldest version of each package that is named with >=.

    Example:
        >>> project = {"dependencies": ["numpy>=1.26"], "optional-dependencies": {"a": ["b>=2,<3"]}}
        >>> minimums(project, ["a"])
        ['b==2', 'numpy==1.26']
    """
    named = list(project["dependencies"])
    for extra in extras:
        named += project["optional-dependencies"][extra]
        named += [
            line
            for inner in re.findall(
                r"confide\[(.*)\]", " ".join(project["optional-dependencies"][extra])
            )
            for line in minimums(project, inner.split(","))
        ]
    found = [re.match(r"([\w-]+)[>=]=([\w.]+)", line) for line in named]
    return sorted({f"{match[1]}=={match[2]}" for match in found if match})


def installed(folder: Path, pins: Iterable[str], extras: Sequence[str]) -> Path:
    """The Python of a new environment that has just these versions."""
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(pins))
    subprocess.run([sys.executable, "-m", "venv", folder / "environment"], check=True)
    python = folder / "environment" / "bin" / "python"
    package = f"{ROOT}[{','.join(extras)}]" if extras else str(ROOT)
    pip = [python, "-m", "pip", "install", "--quiet", "--constraint", constraints, package]
    subprocess.run(pip, check=True)
    return python


def works(python: Path, part: str, folder: Path) -> bool:
    """Whether its script runs; says so."""
    ours = ("CONFIDE_", "PYTHON", "XDG_", "JAX_", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    done = subprocess.run(
        [python, "-W", "ignore", "-c", COMMAND + SMOKE[part]],
        cwd=folder,
        env={**kept, "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    print(f"{part}: {'works' if done.returncode == 0 else 'fails'}", flush=True)
    if done.returncode:
        print("\n".join((done.stdout + done.stderr).splitlines()[-15:]), flush=True)
    return done.returncode == 0


def parse_arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--extras", nargs="*", default=list(EXTRAS), choices=[*EXTRAS, "torch"])
    parser.add_argument("--python", type=Path, help="of an environment that has them already")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
