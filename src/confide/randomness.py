"""From the user's `random_state` to keys, and from keys to NumPy's generators: once each."""

import jax
import numpy as np
from jaxtyping import PRNGKeyArray
from sklearn.utils import check_random_state


def key_from(random_state: int | np.random.RandomState | None) -> PRNGKeyArray:
    """The key that stands for scikit-learn's `random_state`."""
    return jax.random.key(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def generator_from(key: PRNGKeyArray, *path: int) -> np.random.Generator:
    """A NumPy generator for host-side draws; `path` tells streams of one key apart.

    NumPy draws any number of values without compiling a program for that number.
    """
    return np.random.default_rng([*np.asarray(jax.random.key_data(key)).tolist(), *path])
