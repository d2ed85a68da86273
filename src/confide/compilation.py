"""Compiled programs: a cache that outlives the process, and room for more of them in it."""

import os
import time
from contextlib import suppress
from pathlib import Path

import jax

# When the programs were last looked at is this file's time; JAX has no such name.
LOOKED_AT = "looked-at"
# Of the memory maps that a process may have. One fit takes hundreds; Linux allows 65,530.
MOST_MAPS = 0.75


def enable_compilation_cache(directory: str | os.PathLike[str] | None = None) -> Path:
    """Keeps compiled programs on disk, so that a second process does not compile again.

    This sets JAX's own configuration, which is yours: confide never does so unless you call this
    (the `confide` command does). Programs are kept per version of JAX and kind of processor. Those
    that a process wrote in part, because it was killed or the disk was full, are removed.

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
    with suppress(OSError, ImportError):  # programs may be there to be read alone
        _remove_broken(path)
    jax.config.update("jax_compilation_cache_dir", str(path))
    # JAX keeps only programs that took a second to compile; a fit needs all of its few.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
    return path


def make_room_for_programs(most: float = MOST_MAPS) -> None:
    """Forgets all compiled programs of a process that has hardly room for more.

    Each takes some memory maps, of which Linux allows a process so many; LLVM crashes when there
    are none left. A process that fits or loads thousands of different models would end so. What is
    needed again is compiled again, or read from the cache on disk.
    """
    try:
        n_maps = Path("/proc/self/maps").read_bytes().count(b"\n")
        n_allowed = int(Path("/proc/sys/vm/max_map_count").read_text())
    except OSError:  # other systems
        return
    if n_maps > most * n_allowed:
        jax.clear_caches()


def _remove_broken(directory: Path) -> None:
    """Removes programs that are not whole: JAX would warn of them in every process.

    It neither writes them in one step nor replaces them. Each is looked at once.
    """
    now, looked_at = time.time(), directory / LOOKED_AT
    before = looked_at.stat().st_mtime if looked_at.exists() else 0.0
    for program in directory.glob("*-cache"):
        if program.stat().st_mtime >= before and not _is_whole(program.read_bytes()):
            program.unlink()
    looked_at.touch()
    os.utime(looked_at, (now, now))


def _is_whole(program: bytes) -> bool:
    """Whether JAX can unpack it; how it packs depends on what is installed."""
    from jax._src.compilation_cache import decompress_executable

    try:
        decompress_executable(program)
    except Exception:  # noqa: BLE001 - each packer has its own
        return False
    return True
