"""What command lines of benchmarks share."""

import argparse


def positive(word: str) -> int:
    """A whole number of at least one."""
    number = int(word)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {number}")
    return number
