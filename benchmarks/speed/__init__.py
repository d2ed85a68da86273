"""How fast a fit is: the parts of `benchmarks/fit.py`.

`plan.py` says who is measured and how, `sections.py` what is asked of whom, `measure.py` runs each
measurement as a process of its own (`child.py`), `tables.py` and `picture.py` show what was found.
"""
