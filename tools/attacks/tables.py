"""Tables that were damaged, or made to do harm: read, predicted from and learnt from."""

import gzip
import io
import json
import random
import warnings
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq

from attacks.counts import Counts
from attacks.model_files import VALUES, asked
from attacks.samples import saved_models, table
from attacks.watched import Watched

MODEL = "bootstrapped.whole"
PIECES = [
    *(
        b"",
        b",",
        b";",
        b"\t",
        b"|",
        b'"',
        b'""',
        b"\n",
        b"\r",
        b"\r\n",
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
    ),
    *(
        b"nan",
        b"inf",
        b"-inf",
        b"1e999",
        b"NULL",
        b"0x10",
        b"1,5",
        b"007",
        b"9" * 400,
        b"x" * 70_000,
    ),
    *(
        b"=1+1",
        b"\x1b[2J",
        b"\xe2\x80\xae",
        b"2020-13-45",
        b"0000-00-00",
        b"9999-12-31",
        b"{" * 3000,
    ),
    *(b"y", b"x,y", b"," * 5000, b"\n" * 5000, b'"' * 4999, b"PAR1", b"ARROW1", b"\x1f\x8b"),
]


def attack(n: int, folder: Path, *, model: str = MODEL, seed: int = 0) -> list[Counts]:
    """Counts of `n` damaged tables, dealt over all formats."""
    (path,) = saved_models(folder, (model,))
    generator = random.Random(seed)  # noqa: S311
    whole = {name: written(table()) for name, written in FORMATS.items()}
    wanted = "a message or answers, 1 s, 64 MB beyond the file"
    counts = {name: Counts(f"tables: {name}", wanted) for name in FORMATS}
    worker = Watched(_prepare, str(path))
    try:
        for form in FORMATS.keys() - {".json"}:  # the attack itself must be right
            (folder / f"whole{form}").write_bytes(whole[form])
            if (outcome := worker(str(folder / f"whole{form}"))).answer != "answered":
                raise RuntimeError(f"a whole {form} is not answered: {outcome}")
        for i in range(n):
            form = list(FORMATS)[i % len(FORMATS)]
            file = folder / f"mutant{form}"
            file.write_bytes(_damaged(generator, form, whole[form]))
            outcome, fault = asked(worker, str(file), file)
            if fault is not None:
                (folder / f"fault-{i}{form}").write_bytes(file.read_bytes())
                fault = f"mutant {i}: {fault}"
            megabytes = outcome.bytes / 2**20
            counts[form].add(str(outcome.answer), fault, s=outcome.seconds, MB=megabytes)
    finally:
        worker.close()
    return list(counts.values())


# In the watched process.


def _prepare(model: str) -> Callable[[str], str]:
    import confide
    from confide.encoding import Encoder
    from confide.tables import TableFile
    from confide.workflow import Notes, arrow_types, prediction_blocks
    from confide.workflow.target import known_rows

    loaded = confide.load(model)
    list(prediction_blocks(loaded, [table()]))

    def ask(path: str) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predicted = _said(lambda: _predicted(path))
            learnt = _said(lambda: _learnt(path))
        return predicted if predicted == learnt else "answered in part"

    def _predicted(path: str) -> None:
        source = TableFile(path)
        for _ in prediction_blocks(loaded, source.blocks(types=arrow_types(loaded, source))):
            pass

    def _learnt(path: str) -> None:
        features = known_rows(TableFile(path).read(), "y", Notes()).features
        Encoder.fit(features).encode(features)

    return ask


def _said(work: Callable[[], None]) -> str:
    """Whether it was done, or refused in words of our own; all else is raised."""
    try:
        work()
    except ValueError as error:
        if type(error) is not ValueError and not type(error).__module__.startswith("confide."):
            raise
        return "refused"
    except OSError as error:
        if type(error).__module__ != "builtins":
            raise
        return "refused"
    return "answered"


# Formats, and ways to damage them.


def _csv(rows: pa.Table) -> bytes:
    written = io.BytesIO()
    pyarrow.csv.write_csv(rows, written)
    return written.getvalue()


def _parquet(rows: pa.Table) -> bytes:
    written = io.BytesIO()
    pq.write_table(rows, written, write_page_checksum=False)
    return written.getvalue()


def _arrow(rows: pa.Table) -> bytes:
    written = io.BytesIO()
    with pyarrow.ipc.new_file(written, rows.schema) as file:
        file.write_table(rows)
    return written.getvalue()


def _json(rows: pa.Table) -> bytes:
    return json.dumps(rows.to_pylist(), default=str).encode()


FORMATS: dict[str, Callable[[pa.Table], bytes]] = {
    ".csv": _csv,
    ".csv.gz": lambda rows: gzip.compress(_csv(rows)),
    ".parquet": _parquet,
    ".arrow": _arrow,
    ".json": _json,
}


def _damaged(generator: random.Random, form: str, content: bytes) -> bytes:
    if form == ".json" and generator.random() < 0.5:
        return json.dumps(generator.choice(VALUES)).encode()
    if form == ".csv.gz" and generator.random() < 0.5:  # a whole file of damaged text
        return gzip.compress(_damaged(generator, ".csv", gzip.decompress(content)))
    changed = bytearray(content)
    for _ in range(generator.choice((1, 1, 2, 5))):
        end = len(changed)
        low = generator.choice((0, 0, max(0, end - 2000)))  # where the formats' descriptions are
        high = generator.choice((min(end, low + 300), end))
        at, to = sorted(generator.choices(range(low, max(high, low + 1)), k=2))
        match generator.randrange(5):
            case 0:
                changed[at : at + 1] = bytes([generator.randrange(256)])
            case 1 | 2:
                changed[at : generator.choice((at, at + 1, to))] = generator.choice(PIECES)
            case 3:
                changed[at:at] = changed[at:to]
            case 4:
                del changed[at : generator.choice((to, end))]
    return bytes(changed)
