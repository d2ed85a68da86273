"""Model files that were damaged, or made to do harm: loaded, described and asked about one row."""

import copy
import io
import json
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from attacks.counts import Counts
from attacks.samples import N_COLUMNS, saved_models, table
from attacks.watched import Outcome, Watched
from confide.persistence import Container

# Beyond the file's own size, and for one file.
MOST_BYTES = 64 * 2**20
MOST_SECONDS = 1.0
# Values of every type, and numbers that break arithmetic, allocation or patience.
VALUES = [
    *(None, True, False, "", "x", "nan", "\x1b[2J", "a" * 5000, [], [[]], {}, {"a": 1}, [0] * 5000),
    *(0, 1, -1, 2, 3, 7, 100, 10_000, 100_000, 10**9, 2**31, 2**63, 10**400, -(2**63)),
    *(0.0, 0.5, -0.5, 1.5, 1e-300, 1e38, 1e308, float("nan"), float("inf"), float("-inf")),
]
TYPES = (np.float16, np.float32, np.float64, np.int8, np.int32, np.int64, np.uint32, np.bool_)
NUMBERS = (0.0, -0.0, 1.0, -1.0, 1e-38, 1e30, -1e30, 1e38, 1e300, np.nan, np.inf, -np.inf)


def attack(n: int, folder: Path, *, names: tuple[str, ...] = (), seed: int = 0) -> list[Counts]:
    """Counts of `n` mutants, dealt over all models and ways to damage them.

    Args:
        n: how many in all.
        folder: where models are kept.
        names: of the models, see `saved_models`; none for all.
        seed: of the mutants.

    Returns:
        For each way the counts.
    """
    models = saved_models(folder, names)
    generator, file = random.Random(seed), folder / "mutant.confide"  # noqa: S311
    counts = {
        name: Counts(
            f"model files: {name}",
            "`ModelFileError` or an answer, 1 s, 64 MB beyond the file",
        )
        for name in WAYS
    }
    contents = [(path.suffix, path.read_bytes()) for path in models]
    worker = Watched(_prepare, [str(path) for path in models])
    try:
        for i in range(n):
            way = list(WAYS)[i % len(WAYS)]
            kind, content = contents[i // len(WAYS) % len(contents)]
            file.write_bytes(WAYS[way](generator, content))
            outcome, fault = asked(worker, (str(file), kind), file)
            if fault is not None:
                name = models[i // len(WAYS) % len(contents)].name
                fault = f"{name}, mutant {i}: {fault}"
                (folder / f"fault-{i}.confide").write_bytes(file.read_bytes())
            megabytes = outcome.bytes / 2**20
            counts[way].add(str(outcome.answer), fault, s=outcome.seconds, MB=megabytes)
            if (i + 1) % 500 == 0:  # what a run that is stopped has found
                print(*counts.values(), sep="\n", file=sys.stderr, flush=True)
    finally:
        worker.close()
    return list(counts.values())


def asked(worker: Watched, task: Any, file: Path) -> tuple[Outcome, str | None]:
    """What a file came to, and what was wrong with it.

    What took too long, or had no answer, is done once more: other work on the machine, or programs
    that were compiled for the first time, are not the file's.
    """
    outcome = worker(task)
    if outcome.seconds > MOST_SECONDS:
        outcome = worker(task)
    if outcome.fault is None and outcome.seconds > MOST_SECONDS:
        return outcome, f"took {outcome.seconds:.2g} s"
    if outcome.fault is None and outcome.bytes > MOST_BYTES + file.stat().st_size:
        return outcome, f"took {outcome.bytes >> 20} MB"
    return outcome, outcome.fault


# In the watched process.


def _prepare(models: list[str]) -> Callable[[tuple[str, str]], str]:
    """The function of a task, after each model has answered once: its programs are compiled."""
    for path in models:
        answer = _ask((path, Path(path).suffix))
        if answer != "answered":
            raise RuntimeError(f"{path} is no model: {answer}")
    return _ask


def _ask(task: tuple[str, str]) -> str:
    import confide
    from confide.errors import ModelFileError, NoSuchIntervalError, RowError, TableMismatchError
    from confide.workflow import described, prediction_blocks

    path, kind = task
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = confide.load(path)
            description = described(model)
        except ModelFileError:
            return "refused"
        if not (str(description.lines) and json.dumps(description.to_json())):
            raise AssertionError("a model without a description")
        try:
            if kind != ".plain":
                list(prediction_blocks(model, [table(1)]))
            else:
                model.get_prediction(np.zeros((1, N_COLUMNS))).summary_frame(0.95)
        except (RowError, TableMismatchError, NoSuchIntervalError) as error:
            return f"{type(error).__name__} for the row"
        return "answered"


# Ways to damage a file. The last three have a right checksum, as a stranger's own would.


def _bytes(generator: random.Random, content: bytes) -> bytes:
    """Bits, bytes and pieces anywhere in the file, most often where its description is."""
    changed = bytearray(content)
    for _ in range(generator.choice((1, 1, 2, 5))):
        end = min(len(changed), 4096) if generator.random() < 0.5 else len(changed)
        at, to = sorted(generator.choices(range(max(end, 1)), k=2))
        match generator.randrange(6):
            case 0:
                changed[at] ^= 1 << generator.randrange(8)
            case 1:
                changed[at] = generator.choice(b'\0\xff"{}[],:0-9')
            case 2:
                del changed[at : generator.choice((to, at + 1))]
            case 3:
                changed[at:at] = changed[at:to][:4096]
            case 4:
                del changed[max(at, 1) :]
            case 5:
                changed[:8] = generator.choice(
                    (generator.randbytes(8), (len(content) - 8 + at).to_bytes(8, "little"))
                )
    return bytes(changed)


def _description(generator: random.Random, content: bytes) -> bytes:
    """What the file says of its arrays: types, shapes, where they begin and end."""
    length = int.from_bytes(content[:8], "little")
    arrays = json.loads(content[8 : 8 + length])
    name = generator.choice([name for name in arrays if name != "__metadata__"])
    match generator.randrange(5):
        case 0:
            arrays[name]["dtype"] = generator.choice(
                ("F16", "F32", "F64", "I8", "BOOL", "BF16", "?")
            )
        case 1:
            shape = generator.choice(([], [0], [-1], [2**62, 4], [2**63], [1] * 1000, [10**400]))
            arrays[name]["shape"] = generator.choice((shape, [*arrays[name]["shape"], 1]))
        case 2:
            offsets = (0, 1, -1, 8, len(content), 2**63, 2**64)
            arrays[name]["data_offsets"] = generator.choices(offsets, k=2)
        case 3:
            arrays[generator.choice(("", "__metadata__", "a" * 300))] = arrays.pop(name)
        case 4:
            path = generator.choice(list(_places(arrays)))
            _set(arrays, path, generator.choice(VALUES))
    head = json.dumps(arrays).encode()
    return len(head).to_bytes(8, "little") + head + content[8 + length :]


def _json(generator: random.Random, content: bytes) -> bytes:
    """Values, names and parts of the header."""
    container = _opened(content)
    header = copy.deepcopy(container.header)
    for _ in range(generator.choice((1, 1, 2, 3))):
        paths = [path for path in _places(header) if path]
        path = generator.choice(paths)
        match generator.randrange(5):
            case 0 | 1:
                _set(header, path, generator.choice(VALUES))
            case 2:
                _set(header, path, _get(header, generator.choice(paths)))
            case 3:
                _remove(header, path)
            case 4:
                _set(header, (*path[:-1], generator.choice(("x", "", "n_members"))), 1)
    return _closed(Container(header, container.arrays))


def _arrays(generator: random.Random, content: bytes) -> bytes:
    """Values, types, shapes and names of arrays."""
    container = _opened(content)
    arrays = dict(container.arrays)
    for _ in range(generator.choice((1, 1, 2, 3))):
        name = generator.choice(sorted(arrays))
        array = arrays[name]
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            match generator.randrange(8):
                case 0 | 1 | 2:
                    array = array.copy()
                    some = np.frombuffer(generator.randbytes(max(array.size, 1)), np.uint8)
                    chosen = some[: array.size].reshape(array.shape) < generator.choice((3, 128))
                    value = generator.choice((*NUMBERS, generator.gauss(0, 1e3)))
                    array[chosen] = np.array(value).astype(array.dtype)
                case 3:
                    array = array.astype(generator.choice(TYPES))
                case 4:
                    n = generator.choice((0, 1, 2, array.size + 1, 3 * array.size))
                    array = np.resize(array, n) if array.size else np.zeros(n, array.dtype)
                case 5:
                    array = arrays[generator.choice(sorted(arrays))]
                case 6:
                    del arrays[name]
                    name = generator.choice(("", "0.x", name + ".x", f"3.{name}"))
                case 7:
                    size = array.itemsize * array.size
                    random_bytes = np.frombuffer(generator.randbytes(size), np.uint8)
                    array = random_bytes.view(np.uint8 if array.dtype == bool else array.dtype)
                    array = array.reshape(arrays[name].shape)
        arrays[name] = array
    return _closed(Container(container.header, arrays))


def _both(generator: random.Random, content: bytes) -> bytes:
    """Header and arrays at once."""
    return _arrays(generator, _json(generator, content))


WAYS: dict[str, Callable[[random.Random, bytes], bytes]] = {
    "bytes": _bytes,
    "description of arrays": _description,
    "header": _json,
    "arrays": _arrays,
    "header and arrays": _both,
}


def _opened(content: bytes) -> Container:
    from safetensors.numpy import load

    length = int.from_bytes(content[:8], "little")
    header = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["header"])
    return Container(header, load(content))


def _closed(container: Container) -> bytes:
    written = io.BytesIO()
    container.write(written)
    return written.getvalue()


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to every value of a JSON document; of a long list only to its first entries."""
    yield path
    inside = value.keys() if isinstance(value, dict) else ()
    inside = range(min(len(value), 3)) if isinstance(value, list) else inside
    for name in inside:
        yield from _places(value[name], (*path, name))


def _get(document: Any, path: tuple[Any, ...]) -> Any:
    for name in path:
        document = document[name]
    return copy.deepcopy(document)


def _inside(document: Any, path: tuple[Any, ...]) -> Any:
    for name in path[:-1]:
        document = document[name]
    return document


def _set(document: Any, path: tuple[Any, ...], value: Any) -> None:
    if not path:
        return
    inside = _inside(document, path)
    if isinstance(inside, dict):
        inside[str(path[-1])] = value
    elif isinstance(path[-1], int):
        inside[path[-1]] = value


def _remove(document: Any, path: tuple[Any, ...]) -> None:
    del _inside(document, path)[path[-1]]
