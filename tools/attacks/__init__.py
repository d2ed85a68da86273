"""Attacks on confide, each with the count of what it found; `tools/faults.py` runs them."""
