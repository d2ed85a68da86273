"""Methods judged by pointwise coverage on simulated data: what Experiment 1 and its kin share.

Read `study.py` for who is judged and for the cells, `judged.py` for what is made of finished ones,
`comparison.py` for the numbers beside the paper's, `report.py` for tables and figures, and
`repetition.py` for an experiment that changes a condition.
"""
