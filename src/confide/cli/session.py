"""What a command that trains or predicts does first."""

import contextlib


def compiled_before() -> None:
    """Programs compiled by an earlier command are used again."""
    from confide import enable_compilation_cache

    with contextlib.suppress(OSError):  # a home that cannot be written to only costs time
        enable_compilation_cache()
