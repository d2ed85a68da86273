"""Small data and small fitted models that several test files share.

All have one shape (64 rows, 3 features, one hidden layer of 4, blocks of one member), so that the
networks are compiled once.
"""

import os

# Workers share the cores: a second thread of scikit-learn's trees would wait for one that is taken,
# and some tests then took forty times as long. It is read where OpenMP is first loaded.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import jax
import jaxtyping
import numpy as np
import pandas as pd
import pytest
from hypothesis import settings
from support.browsing import QUIET, browser_path, opened

from confide import (
    BootstrappedDeepEnsembleRegressor,
    DeepEnsembleRegressor,
    enable_compilation_cache,
)
from confide.compilation import make_room_for_programs

os.environ.setdefault("MPLBACKEND", "Agg")
# Half of the time would go into compiling the same programs in every process, as Ray's are.
enable_compilation_cache()

# Normal runs repeat themselves; a scheduled run asks for `--hypothesis-profile fresh`.
settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("fresh", deadline=None, print_blob=True)
settings.load_profile("fixed")


@pytest.fixture(scope="module", autouse=True)
def _room_for_programs():
    """Before a fit would make it itself: some tests count what is compiled."""
    make_room_for_programs(0.5)


@pytest.fixture(scope="session")
def data():
    """X and y in multiples of 1/1024: sums over 64 rows, and so means, are exact in float64."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(64, 3))
    y = 2 * X[:, 0] + np.abs(X[:, 1]) + generator.normal(0, 0.5, 64)
    return np.round(1024 * X) / 1024, np.round(1024 * y) / 1024


@pytest.fixture(scope="session")
def small():
    """The constructor's arguments for networks that train in 30 ms."""
    return {
        "recipe": "paper",
        "n_members": 2,
        "hidden_layer_sizes": (4,),
        "max_epochs": 20,
        "learning_rate": 0.05,
        "random_state": 8,
    }


@pytest.fixture(scope="session")
def table(data):
    return pd.DataFrame(data[0], columns=["age", "bmi", "dose"])


@pytest.fixture(scope="session")
def bootstrapped(data, small):
    return BootstrappedDeepEnsembleRegressor(**small).fit(*data)


@pytest.fixture(scope="session")
def plain(data, small):
    return DeepEnsembleRegressor(**small).fit(*data)


@pytest.fixture(scope="session", params=["bootstrapped", "plain"])
def model(request):
    """Each of the two fitted estimators in turn."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def without_type_checker():
    """As in production: what comes from users and files meets our own messages."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)  # noqa: FBT003
    yield
    jaxtyping.config.update("jaxtyping_disable", before)


@pytest.fixture
def compilations():
    """A list that grows by one with every program that XLA compiles."""
    counted = []

    def listener(event, duration, **_):
        if event == "/jax/core/compile/backend_compile_duration":
            counted.append(duration)

    jax.monitoring.register_event_duration_secs_listener(listener)
    yield counted
    jax.monitoring.unregister_event_duration_listener(listener)


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = browser_path()
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(QUIET))
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser):
    """Opens a page as one reader sees it, and keeps what it complains about and asks for."""
    pages = []

    def open_page(address, width=1280, scheme="light", **options):
        viewport = {"width": width, "height": 800}
        pages.append(browser.new_page(viewport=viewport, color_scheme=scheme, **options))
        return opened(pages[-1], address)

    yield open_page
    for page in pages:
        page.close()
