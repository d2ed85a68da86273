"""Files of ONNX against their models: the largest difference, and the time of a row.

    python benchmarks/onnx_files.py [--rows 10000] [-o results/onnx.md]

Ten tables are simulated, each with six columns of numbers, a date and three of categories, a tenth
of whose values are missing. Each method, with each recipe that it has, is fitted to 300 rows of
each table. Then onnxruntime and the model answer the same 10,000 rows: half of them are of the
table, and half are random, with new categories, and far from the data. The tables differ in their
scales, tails, noise and in how many categories a column has.

Training is short, because the comparison does not depend on how good the model is.
"""

import argparse
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pandas as pd

import confide
from confide.export import onnx_inputs, relative_difference, to_onnx
from confide.export.onnx.check import expected_answers
from confide.export.onnx.rows import random_rows

N_TABLES, N_TRAINING, LEVEL = 10, 300, 0.9
SHORT = {"max_epochs": 10, "random_state": 0}
TABULAR = {"dropout": 0.0, "smooth": True, **SHORT}
MODELS: dict[str, Any] = {
    "bootstrapped deep ensemble, tabular": confide.BootstrappedDeepEnsembleRegressor(**TABULAR),
    "bootstrapped deep ensemble, paper": confide.BootstrappedDeepEnsembleRegressor(
        recipe="paper", **SHORT
    ),
    "deep ensemble, tabular": confide.DeepEnsembleRegressor(**TABULAR),
    "deep ensemble, paper": confide.DeepEnsembleRegressor(recipe="paper", **SHORT),
    "naive bootstrap, tabular": confide.NaiveBootstrapRegressor(**TABULAR),
    "naive bootstrap, paper": confide.NaiveBootstrapRegressor(recipe="paper", **SHORT),
    "concrete dropout": confide.ConcreteDropoutRegressor(**SHORT),
    "quality-driven ensemble": confide.QualityDrivenEnsembleRegressor(
        confidence_level=LEVEL, **SHORT
    ),
}


def table_of(number: int, n_rows: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows of one of the tables, and their targets."""
    rng = np.random.default_rng([number, seed])
    # All tables become as many features, so that the networks are compiled once.
    kinds = (2 + number % 4, 7 - number % 4, 6)
    tails = 3 + 3 * number
    numbers = {f"x{i}": 10.0 ** (i - 2) * (i + rng.standard_t(tails, n_rows)) for i in range(6)}
    codes = [rng.integers(0, n, n_rows) for n in kinds]
    texts = {f"c{i}": np.array([f"{i}/{c}" for c in own], object) for i, own in enumerate(codes)}
    days = rng.integers(17_000, 19_000, n_rows)
    y = 3 * np.sin(numbers["x2"]) + numbers["x0"] * 100 + codes[0] - (codes[1] % 3)
    offset = 100 * (number % 2)  # about zero, a relative difference is harder to keep small
    y = 10.0 ** (number - 4) * (offset + y + 0.2 * (1 + number) * rng.normal(size=n_rows))
    frame = pd.DataFrame({**numbers, "day": pd.to_datetime(days, unit="D"), **texts})
    return frame.mask(rng.random(frame.shape) < 0.1), y


def compared(model: Any, rows: pd.DataFrame) -> dict[str, float]:
    """The largest difference on some rows, and how long each takes to answer them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        to_onnx(model, path, [LEVEL])
        session = onnxruntime.InferenceSession(path)
        size = path.stat().st_size
    inputs = onnx_inputs(model, rows)
    names = [output.name for output in session.get_outputs()]
    own = dict(zip(names, session.run(None, inputs), strict=True))
    expected = expected_answers(model, rows, [LEVEL])
    off = [_strict(own[name].ravel(), np.asarray(expected[name])) for name in names]
    return {
        "difference": relative_difference(model, own, expected),
        "strict": float(np.mean(np.concatenate(off) <= 1e-5)),
        "ratio": seconds(lambda: session.run(None, inputs))
        / seconds(lambda: model.get_prediction(rows).summary_frame(LEVEL)),
        "kilobytes": size / 1000,
    }


def _strict(own: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.abs(own - other) / np.abs(other)


def seconds(action: Callable[[], Any]) -> float:
    """The median of three runs."""
    runs = []
    for _ in range(3):
        start = time.perf_counter()
        action()
        runs.append(time.perf_counter() - start)
    return statistics.median(runs)


def main() -> None:
    """Measures all and prints Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("-o", "--output", type=Path, default=None)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of values that training did not have, and short training
    found: dict[str, list[dict[str, float]]] = {name: [] for name in MODELS}
    for number in range(N_TABLES):
        frame, y = table_of(number, N_TRAINING, seed=0)
        for name, model in MODELS.items():
            model.fit(frame, y)
            of_table, _ = table_of(number, arguments.rows // 2, seed=1)
            rows = pd.concat([of_table, random_rows(model, arguments.rows - len(of_table), 2)])
            found[name].append(compared(model, rows))
            print(number, name, found[name][-1], flush=True)
    text = table(found)
    print(text)
    if arguments.output is not None:
        arguments.output.write_text(text)


def table(found: dict[str, list[dict[str, float]]]) -> str:
    """What was found, a line for each method."""
    numbers = " | ".join(f"table {i + 1}" for i in range(N_TABLES))
    lines = [
        f"| method, recipe | {numbers} | strictly within 1e-5 | time of a row | kB |",
        f"|---|{'---|' * N_TABLES}---|---|---|",
    ]
    for name, cells in found.items():
        differences = " | ".join(f"{cell['difference']:.0e}" for cell in cells)
        strict = min(cell["strict"] for cell in cells)
        ratio, size = (
            statistics.fmean(cell[key] for cell in cells) for key in ("ratio", "kilobytes")
        )
        lines.append(
            f"| {name} | {differences} | {100 * strict:.3f} % | {ratio:.2f} | {size:,.0f} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
