"""The comparison that `peers.py` runs: who, on what, asked what, and the tables of it.

Read `answers.py` for what every contender is asked and `contenders.py` for who they are; each has
a small adapter in `adapters/`. A cell (a contender, a data set, a repeat) is fitted by `child.py`
in a process of its own, which imports that contender's library and no other; `run.py` makes its
data (`data.py`), judges its answers (`scores.py`) and keeps the numbers (`store.py`). What is
reported comes from the store alone: `summary.py`, `tables.py`, `choice.py`.
"""
