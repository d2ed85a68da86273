"""A fitted model as plain values, for programs that know nothing of Python or JAX.

Read `parts.py` for what a model consists of, `intervals.py` for how its intervals follow, and
`evaluate.js` for a program that does all of it in a page.
"""

from confide.export.evaluate import evaluator as evaluator
from confide.export.intervals import interval_rules as interval_rules
from confide.export.parts import Parts as Parts
from confide.export.parts import model_parts as model_parts
from confide.export.parts import packed as packed
