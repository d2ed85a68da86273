"""A compilation cache that outlives the process."""

import os
from pathlib import Path

import jax


def enable_compilation_cache(directory: str | os.PathLike[str] | None = None) -> Path:
    """Keeps compiled programs on disk, so that a second process does not compile again.

    This sets JAX's own configuration, which is yours: confide never does so unless you call this
    (the `confide` command does). Programs are kept per version of JAX and kind of processor.

    Args:
        directory: where to keep them, or None for `confide` in the user's cache folder.

    Returns:
        The directory.
    """
    if directory is None:
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        directory = Path(cache) / "confide" / "compiled"
    path = Path(directory)
    path.mkdir(parents=True, exist_ok=True)
    jax.config.update("jax_compilation_cache_dir", str(path))
    # JAX keeps only programs that took a second to compile; a fit needs all of its few.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
    return path
