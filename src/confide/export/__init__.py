"""A fitted model as plain values, for programs that know nothing of Python or JAX.

Read `parts.py` for what a model consists of, `intervals.py` for how its intervals follow, and
`evaluate.js` for a program that does all of it in a page.
"""

from confide.export.evaluate import evaluator as evaluator
from confide.export.intervals import interval_rules as interval_rules
from confide.export.onnx import onnx_inputs as onnx_inputs
from confide.export.onnx import relative_difference as relative_difference
from confide.export.onnx import to_onnx as to_onnx
from confide.export.parts import Parts as Parts
from confide.export.parts import model_parts as model_parts
from confide.export.parts import packed as packed
from confide.export.parts import plain_columns as plain_columns
