"""The nested experiment: how honest calibrated confidence intervals are, truth by truth.

Read `problems.py` for the truths and who is judged on them, `cells.py` for what is kept of each,
`numbers.py` for the numbers and the oracle, `verdict.py` for what was asked for, and `report.py`
for tables and figures.
"""
