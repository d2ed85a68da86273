"""The nested experiment: how honest calibrated confidence intervals are, truth by truth.

Read `problems.py` for the truths, `contenders.py` for who is judged, `cells.py` for what is kept of
each; `entries.py` puts finished cells together, `numbers.py` has the oracle, and `verdict.py` what
was asked for. `tables.py` and `figures.py` are for the report.
"""
