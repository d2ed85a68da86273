"""A fitted model as a file of ONNX, which runs without Python.

Read `graph.py` for how a graph is written, `columns.py` for how a table's columns become features,
`networks.py` for networks and trees, `answers.py` for what a method says of a row, `target.py` for
targets that were transformed, `file.py` for the file as a whole, `check.py` for how it is held
against the model.
"""

from confide.export.onnx.check import onnx_inputs as onnx_inputs
from confide.export.onnx.check import relative_difference as relative_difference
from confide.export.onnx.file import to_onnx as to_onnx
