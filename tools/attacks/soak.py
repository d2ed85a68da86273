"""The service of the guide, asked for a long time over HTTP on this machine.

The service is the example's own code, `examples/save_and_serve.py`. First one process answers all
questions: its memory must not grow, and slow answers must be rare. Then several processes
answer while one after another is killed and replaced, as a supervisor would.
"""

import http.client
import json
import multiprocessing
import random
import re
import time
from contextlib import ExitStack
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

import confide
from attacks.counts import Counts
from attacks.watched import memory

EXAMPLE = Path(__file__).parents[2] / "examples" / "save_and_serve.py"
# Bytes by which the memory may grow between the first tenth of all answers and the last.
MOST_GROWTH = 16 * 2**20
# The 99th percentile of the times of answers, in medians.
LONGEST_TAIL = 5.0
QUESTIONS = 50
N_WORKERS = 2
PATIENCE = 60.0
# Asked beside the right questions: each is answered with an error, or not at all.
BAD_BODIES = (
    *(b"", b"{", b"[]", b"null", b"NaN", b"[1]", b'[{"age": "x"}]', b"\xff\xfe", b"[" * 5000),
)


class Service:
    """The example's server in a process of its own."""

    def __init__(self, model: Path) -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, str(model)), daemon=True)
        self.process.start()
        theirs.close()
        self.port: int = ours.recv()

    def ask(self, body: bytes) -> tuple[int, bytes]:
        """Status and answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request("POST", "/", body)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def close(self) -> None:
        """Kills it."""
        self.process.kill()
        self.process.join()


def _serve(connection: Connection, model: str) -> None:
    """Runs the imports of the example and the cell that serves, and says on which port."""
    cells = re.split(r"^# %%", EXAMPLE.read_text(), flags=re.MULTILINE)
    (imports,) = (cell for cell in cells if cell.startswith("\nimport"))
    (serving,) = (cell for cell in cells if "class Answer" in cell)
    names: dict[str, Any] = {"path": Path(model), "__name__": "served"}
    exec(imports + serving.partition("\n")[2], names)  # noqa: S102 - it is our own example
    connection.send(names["server"].server_port)
    while True:
        time.sleep(1)


def attack(n: int, folder: Path, *, n_kills: int = 20, seed: int = 0) -> list[Counts]:
    """Counts of `n` answers of one process, of bad questions, and of kills."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    path = folder / "diabetes.confide"
    how = {"hidden_layer_sizes": (10,), "max_epochs": 20, "random_state": 0}
    model = confide.BootstrappedDeepEnsembleRegressor(**how)
    model.fit(X[:300], y[:300]).calibrate(X[300:400], y[300:400]).save(path)
    asked = [X[i : i + 1] for i in range(QUESTIONS)]
    questions = [row.to_json(orient="records").encode() for row in asked]
    rows = [pd.DataFrame(json.loads(question)) for question in questions]
    frames = [model.get_prediction(row).summary_frame(confidence_level=0.9) for row in rows]
    answers = [frame.to_json(orient="records").encode() for frame in frames]
    with ExitStack() as stack:
        service = Service(path)
        stack.callback(service.close)
        soaked = _soak(n, service, questions, answers)
        bad = _bad_questions(service, questions[0], answers[0])
    return [soaked, bad, _with_kills(n_kills, path, questions, answers, random.Random(seed))]  # noqa: S311


def _soak(n: int, service: Service, questions: list[bytes], answers: list[bytes]) -> Counts:
    asked = "right answers, flat memory, p99 within 5 medians"
    counts = Counts("soak: one process over HTTP", asked)
    seconds, early = [], 0
    for i in range(n):
        start = time.perf_counter()
        answer = service.ask(questions[i % QUESTIONS])
        seconds.append(time.perf_counter() - start)
        right = answer == (200, answers[i % QUESTIONS])
        counts.add("right", None if right else f"answer {i} is {answer}")
        if i == n // 10:
            early = memory(service.process.pid)["VmRSS"]
    growth = memory(service.process.pid)["VmRSS"] - early
    median, tail = np.quantile(seconds[n // 100 :], [0.5, 0.99])  # the first ones compile
    counts.worst = {"median ms": 1e3 * median, "p99 ms": 1e3 * tail, "growth MB": growth / 2**20}
    if tail > LONGEST_TAIL * median:
        counts.faults.append(f"p99 is {tail / median:.1f} medians")
    if growth > MOST_GROWTH:
        counts.faults.append(f"memory grew by {growth >> 20} MB")
    return counts


def _bad_questions(service: Service, question: bytes, answer: bytes) -> Counts:
    counts = Counts("soak: bad questions", "an error, and the next question is answered")
    for body in BAD_BODIES:
        try:
            status = str(service.ask(body)[0])
        except (http.client.HTTPException, OSError):
            status = "no answer"
        right = service.ask(question) == (200, answer) and status in {"400", "no answer"}
        counts.add(status, None if right else f"{body!r:.30} was answered with {status}")
    return counts


def _with_kills(
    n: int, path: Path, questions: list[bytes], answers: list[bytes], generator: random.Random
) -> Counts:
    counts = Counts("soak: killed workers", "replaced, and none answers wrongly")
    services = [Service(path) for _ in range(N_WORKERS)]
    try:
        for kill in range(n):
            generator.choice(services).process.kill()
            for i in range(10):
                at = (kill + i) % N_WORKERS
                counts.add(*_answered(services, path, questions[i], answers[i], at))
    finally:
        for service in services:
            service.close()
    return counts


def _answered(
    services: list[Service], path: Path, question: bytes, answer: bytes, at: int
) -> tuple[str, str | None]:
    """An answer of a worker; a dead one is replaced, and the question asked again."""
    word = "right"
    try:
        answered = services[at].ask(question)
    except (http.client.HTTPException, OSError):
        services[at].close()
        services[at], word = Service(path), "right, of a worker that was replaced"
        answered = services[at].ask(question)
    return word, None if answered == (200, answer) else f"answered {answered}"
