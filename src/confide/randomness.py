"""From the user's `random_state` to keys, and from keys to NumPy's generators: once each."""

from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, PRNGKeyArray, UInt32
from sklearn.utils import check_random_state

from confide.compilation import make_room_for_programs
from confide.forks import refuse_forked

# Whatever the user's default is: keys are made of two words here, and results do not depend on it.
IMPLEMENTATION = "threefry2x32"

MemberKeys: TypeAlias = UInt32[np.ndarray, "member 2"]
"""A key for each member, as its two words: arrays of keys would compile programs to be sliced."""


def key_from(random_state: int | np.random.RandomState | None) -> PRNGKeyArray:
    """The key that stands for scikit-learn's `random_state`."""
    refuse_forked()  # all that trains begins here
    make_room_for_programs()
    return as_key(check_random_state(random_state).randint(np.iinfo(np.int32).max, size=2))


def as_key(words: Int[Array | np.ndarray, "2"] | UInt32[Array | np.ndarray, "2"]) -> PRNGKeyArray:
    """The key that two words stand for."""
    return jax.random.wrap_key_data(jnp.asarray(words, jnp.uint32), impl=IMPLEMENTATION)


def split_on_host(key: PRNGKeyArray, n: int) -> list[PRNGKeyArray]:
    """Independent keys. NumPy derives them, so that a first fit need not compile a program."""
    return [as_key(words) for words in _sequence(key).generate_state(2 * n).reshape(n, 2)]


def member_keys(key: PRNGKeyArray, n_members: int) -> MemberKeys:
    """A key for each member, as its two words: member i's from the key and i alone."""
    return np.stack([_sequence(key, i).generate_state(2) for i in range(n_members)])


def further_keys(keys: MemberKeys, purpose: int) -> MemberKeys:
    """New keys, each from the old one and the purpose alone."""
    return np.stack([_sequence(key, purpose).generate_state(2) for key in keys])


def generator_from(key: PRNGKeyArray | UInt32[np.ndarray, "2"], *path: int) -> np.random.Generator:
    """A NumPy generator for host-side draws; `path` tells streams of one key apart.

    NumPy draws any number of values without compiling a program for that number.
    """
    return np.random.default_rng(_sequence(key, *path))


def _sequence(key: PRNGKeyArray | UInt32[np.ndarray, "2"], *path: int) -> np.random.SeedSequence:
    words = key if isinstance(key, np.ndarray) else np.asarray(jax.random.key_data(key))
    return np.random.SeedSequence([*words.tolist(), *path])
