"""The nested experiment: how honest calibrated confidence intervals are, truth by truth.

Read `problems.py` for the truths, `contenders.py` for who is judged, and `cells.py` for what is
kept of each.
"""
