"""A graph of ONNX that is written as arithmetic: each operation on a `Value` adds a node."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from confide.extras import require

# Of the operators: those that onnxruntime has had since version 1.20, for trees in double
# precision.
OPSET, OPSET_OF_TREES, FORMAT = 20, 5, 10
TREES = "ai.onnx.ml"


@dataclass(frozen=True, eq=False)
class Value:
    """A tensor of the graph.

    Attributes:
        graph: where it is.
        name: its name there.
        dtype: of its entries.
    """

    graph: "Graph"
    name: str
    dtype: Any

    __array_ufunc__ = None  # arrays of NumPy leave arithmetic with a value to the value

    def __add__(self, other: Any) -> "Value":
        return self.graph.node("Add", self, other)

    def __sub__(self, other: Any) -> "Value":
        return self.graph.node("Sub", self, other)

    def __mul__(self, other: Any) -> "Value":
        return self.graph.node("Mul", self, other)

    def __truediv__(self, other: Any) -> "Value":
        return self.graph.node("Div", self, other)

    def __rsub__(self, other: Any) -> "Value":
        return self.graph.node("Sub", self.graph.constant(other, self.dtype), self)

    def __neg__(self) -> "Value":
        return self.graph.node("Neg", self)

    def __pow__(self, power: float) -> "Value":
        return self * self if power == 2 else self.graph.node("Pow", self, power)

    __radd__, __rmul__ = __add__, __mul__

    def cast(self, dtype: Any) -> "Value":
        """The same numbers in another type."""
        if self.dtype == dtype:
            return self
        return self.graph.node("Cast", self, dtype=dtype, to=_type_of(dtype))


@dataclass(eq=False)
class Graph:
    """Nodes in the order of their computation, and what comes in and goes out.

    Attributes:
        name: of the graph.
        column_names: of all columns that will come in, which nothing else may have.
        nodes: the operations.
        inputs: the tensors that come in, one for each column.
        outputs: the tensors that go out.
        constants: arrays that are part of the graph.
    """

    name: str
    column_names: Collection[str] = ()
    nodes: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    def input(self, name: str, dtype: Any, description: str) -> Value:
        """A column that comes in, as (row, 1)."""
        self.inputs.append(_tensor(name, dtype, description))
        return Value(self, name, dtype)

    def output(self, name: str, value: Value) -> None:
        """A column that goes out, as (row, 1)."""
        self.nodes.append(_helper().make_node("Identity", [value.name], [name]))
        self.outputs.append(_tensor(name, value.dtype, ""))

    def node(
        self, operator: str, *inputs: Any, dtype: Any = None, domain: str = "", **attributes: Any
    ) -> Value:
        """An operation.

        Args:
            operator: its name in ONNX.
            inputs: values, or arrays and numbers, which are of the first value's type.
            dtype: of the result, if it is not that of the first value.
            domain: of the operator.
            attributes: of the operation.

        Returns:
            Its result.
        """
        own = next(each.dtype for each in inputs if isinstance(each, Value))
        names = [self.constant(each, own).name for each in inputs]
        result = self._new_name(operator)
        made = _helper().make_node(operator, names, [result], domain=domain, **attributes)
        self.nodes.append(made)
        return Value(self, result, own if dtype is None else dtype)

    def constant(self, value: Any, dtype: Any) -> Value:
        """An array or a number of that type, as a value; values are as they were."""
        if isinstance(value, Value):
            return value
        name, onnx = self._new_name("constant"), require("onnx", "onnx")
        array = np.asarray(value, dtype)
        self.constants.append(onnx.numpy_helper.from_array(array, name))
        return Value(self, name, dtype)

    # Functions under the names that NumPy has for them.

    def exp(self, value: Value) -> Value:
        """The exponential function."""
        return self.node("Exp", value)

    def sqrt(self, value: Value) -> Value:
        """The square root."""
        return self.node("Sqrt", value)

    def maximum(self, value: Value, other: Any) -> Value:
        """The larger of two."""
        return self.node("Max", value, other)

    def minimum(self, value: Value, other: Any) -> Value:
        """The smaller of two."""
        return self.node("Min", value, other)

    def where(self, is_first: Value, first: Any, second: Any) -> Value:
        """The first where that is true, else the second."""
        of = next(each.dtype for each in (first, second) if isinstance(each, Value))
        first, second = self.constant(first, of), self.constant(second, of)
        return self.node("Where", is_first, first, second, dtype=of)

    def equal(self, value: Value, other: Any) -> Value:
        """Whether two are equal."""
        return self.node("Equal", value, other, dtype=np.bool_)

    def is_nan(self, value: Value) -> Value:
        """Whether it is not a number."""
        return self.node("IsNaN", value, dtype=np.bool_)

    def is_finite(self, value: Value) -> Value:
        """Whether it is a number, and not infinite."""
        return self.equal(value - value, 0.0)

    def mean(self, value: Value) -> Value:
        """Over the second axis."""
        return self._reduced("ReduceMean", value)

    def sum(self, value: Value) -> Value:
        """Over the second axis."""
        return self._reduced("ReduceSum", value)

    def concatenate(self, values: Sequence[Value]) -> Value:
        """Side by side along the second axis."""
        return values[0] if len(values) == 1 else self.node("Concat", *values, axis=1)

    def taken(self, values: Any, places: Value, dtype: Any = np.float64) -> Value:
        """The entries of a list at some places."""
        return self.node("Gather", self.constant(values, dtype), places, axis=0)

    def _reduced(self, operator: str, value: Value) -> Value:
        axis = self.constant([1], np.int64)
        return self.node(operator, value, axis, keepdims=1)

    def _new_name(self, what: str) -> str:
        name = f"{what}_{len(self.nodes)}_{len(self.constants)}"
        while name in self.column_names:
            name += "_"
        return name

    def to_model(self, description: str, metadata: dict[str, str]) -> Any:
        """The graph as a model of ONNX, checked.

        Args:
            description: in words.
            metadata: texts under their names.

        Returns:
            The model.
        """
        onnx, helper = require("onnx", "onnx"), _helper()
        graph = helper.make_graph(
            self.nodes, self.name, self.inputs, self.outputs, self.constants, description
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(TREES, OPSET_OF_TREES)]
        model = helper.make_model(
            graph, opset_imports=opsets, ir_version=FORMAT, producer_name="confide"
        )
        helper.set_model_props(model, metadata)
        onnx.checker.check_model(model)
        return model


def _helper() -> Any:
    return require("onnx", "onnx").helper


def _type_of(dtype: Any) -> int:
    types = require("onnx", "onnx").TensorProto
    if dtype is str:
        return int(types.STRING)
    return int(_helper().np_dtype_to_tensor_dtype(np.dtype(dtype)))


def _tensor(name: str, dtype: Any, description: str) -> Any:
    return _helper().make_tensor_value_info(name, _type_of(dtype), ["row", 1], description)
