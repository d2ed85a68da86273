"""One Ray cluster and one connection to it for all tests of this folder.

Workers belong to a connection, and each loads JAX when it starts: that is what takes the time.
"""

import threading
from pathlib import Path

import pytest
from support.calls import held
from support.ray_nodes import TESTS, Nodes, wait_until
from support.toy_experiment import LOG, PAUSE

from confide.engines import RayCluster

HERE = Path(__file__).parent
MARKS = (
    pytest.mark.slow,
    # Ray tells of a change to come in how it treats accelerators; we have none.
    pytest.mark.filterwarnings("ignore:Tip. In future versions of Ray:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::confide.errors.CalibrationWarning"),
)


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            for mark in MARKS:
                item.add_marker(mark)


@pytest.fixture(scope="package")
def log(tmp_path_factory):
    """Where the toy's cells write that they have begun."""
    return tmp_path_factory.mktemp("log") / "log"


@pytest.fixture(scope="package")
def nodes(log):
    """Two nodes of one core, to which this process is connected; a test may add more."""
    ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'confide[ray]'")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYTHONPATH", str(TESTS), prepend=":")
        with Nodes(**{LOG: str(log), PAUSE: "0.2"}) as nodes:
            ray.init(nodes.address, log_to_driver=False)
            yield nodes
            ray.shutdown()


@pytest.fixture
def engine(nodes):
    return RayCluster(nodes.address)


@pytest.fixture
def lose_node(nodes, engine, tmp_path):
    """Loses a further node when called; until then it has all the work, for the others are held."""
    begun, released = [tmp_path / "first", tmp_path / "second"], tmp_path / "released"
    others = threading.Thread(target=lambda: [*engine.map(held, begun, (released,))])
    others.start()
    wait_until(lambda: all(path.exists() for path in begun))
    lost = [nodes.add(**{PAUSE: "2"})]

    def lose():
        if lost:
            nodes.remove(lost.pop())
            released.touch()

    yield lose
    lose()
    others.join()
