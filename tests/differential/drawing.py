# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Random graphs of ONNX's operators, node by node, with the arrays that they compute."""

import dataclasses

import numpy as np
import onnx
from onnx import helper, numpy_helper

import judges
from judges import Undrawable, declared

FLOATS = (np.float32, np.float64, np.float16)
SIGNED = (np.int8, np.int16, np.int32, np.int64)
UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS
ALL = NUMBERS + (np.bool_,)
# How often a type is drawn, compared with others of weight 1.
WEIGHTS = {np.float32: 12, np.float64: 2, np.int32: 2, np.int64: 3}
MAX_ELEMENTS = 20000


@dataclasses.dataclass
class Value:
    name: str
    array: np.ndarray
    exact: bool  # no rounding: functions with steps may be applied to it
    constant: bool = False


@dataclasses.dataclass
class Node:
    operator: str
    inputs: list  # of Value; None where an optional input is absent
    attributes: dict
    outputs: int = 1
    exact: bool = False  # whether outputs are if inputs are
    captured: tuple = ()  # values that graphs within the node read
    domain: str = ""


def type_name(dtype):
    """As schemas have it."""
    return onnx.TensorProto.DataType.Name(helper.np_dtype_to_tensor_dtype(np.dtype(dtype))).lower()


class Drawing:
    """One random graph."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.opset = int(self.random.integers(7, min(28, onnx.defs.onnx_opset_version()) + 1))
        # Infinities, NaN and large values among floats, of which the reference alone is no good judge.
        self.special = self.random.random() < 0.15 and judges.onnxruntime is not None
        self.values = []  # all, in order
        self.nodes, self.judged_by, self.read = [], [], set()
        self.disputed = []  # of the last node: what other judges say that its outputs are

    # --- Numbers ---------------------------------------------------------------------------------

    def chance(self, probability):
        return self.random.random() < probability

    def integer(self, low, high):
        """Both ends included."""
        return int(self.random.integers(low, high + 1))

    def one_of(self, choices):
        return choices[int(self.random.integers(len(choices)))]

    def extent(self, least=0):
        """Mostly small; sometimes 0 or 1, seldom longer than vectors."""
        if self.chance(0.04) and least == 0:
            return 0
        if self.chance(0.05):
            return self.one_of([16, 17, 33, 64])
        return max(least, self.one_of([1, 1, 2, 2, 3, 3, 4, 5, 7, 8]))

    def shape(self, least=0, most=4, extent=0):
        return tuple(self.extent(extent) for _ in range(self.integer(least, most)))

    def axis(self, rank, signed=True):
        if rank == 0:
            raise Undrawable
        return self.integer(-rank if signed else 0, rank - 1)

    def axes(self, rank, signed=True):
        """Some axes, each once, in any order."""
        count = self.integer(0, rank)
        axes = [int(a) for a in self.random.permutation(rank)[:count]]
        return [a - rank if signed and self.chance(0.3) else a for a in axes]

    def broadcastable(self, shape):
        """A shape that broadcasts to `shape`."""
        kept = list(shape[self.integer(0, len(shape)):]) if self.chance(0.4) else list(shape)
        return tuple(1 if self.chance(0.25) else extent for extent in kept)

    def array(self, dtype, shape, low=-4, high=4, special=False):
        """Floats are multiples of 1/8, which sums and products of few keep exactly."""
        dtype = np.dtype(dtype)
        if dtype == np.bool_:
            return self.random.random(shape) < 0.5
        if dtype.kind in "iu":
            low = max(int(low), 0) if dtype.kind == "u" else int(low)
            return self.random.integers(low, max(int(high), low) + 1, shape).astype(dtype)
        array = np.asarray(self.random.integers(int(8 * low), int(8 * high) + 1, shape) / 8).astype(dtype)
        if special and array.size:
            flat = array.reshape(-1).copy()
            odd = [np.inf, -np.inf, np.nan, -0.0, 1e30 if dtype.itemsize > 2 else 6e4, 1e-30]
            for _ in range(self.integer(0, 3)):
                flat[self.integer(0, flat.size - 1)] = self.one_of(odd)
            array = flat.reshape(array.shape)
        return array

    # --- Types -----------------------------------------------------------------------------------

    def schema(self, operator):
        try:
            schema = onnx.defs.get_schema(operator, self.opset, "")
        except onnx.defs.SchemaError as error:
            raise Undrawable from error
        if schema.deprecated:
            raise Undrawable
        return schema

    def types(self, operator, index=0, among=ALL):
        """Those of an input that this version of the operator has."""
        schema = self.schema(operator)
        parameter = schema.inputs[min(index, len(schema.inputs) - 1)]
        known = [t for t in among if f"tensor({type_name(t)})" in parameter.types]
        if not known:
            raise Undrawable
        return known

    def dtype(self, types):
        weights = np.array([WEIGHTS.get(t, 1) for t in types], float)
        return types[int(self.random.choice(len(types), p=weights / weights.sum()))]

    # --- Values ----------------------------------------------------------------------------------

    def new(self, array, constant=None, exact=True):
        constant = self.chance(0.35) if constant is None else constant
        prefix = "c" if constant else "x"
        value = Value(f"{prefix}{len(self.values)}", np.asarray(array), exact, constant)
        self.values.append(value)
        return value

    def known(self, array):
        """What has to be known at compile time: a constant, seldom an input that is frozen."""
        return self.new(np.asarray(array), constant=self.chance(0.85))

    def integers(self, numbers):
        return self.known(np.array(numbers, np.int64))

    def value(self, types, least=0, most=4, low=-4, high=4, exact=False, extent=0, fresh=False):
        """A value of the graph, or a new one."""
        fitting = [v for v in self.values
                   if v.array.dtype.type in types and least <= v.array.ndim <= most
                   and (v.exact or not exact) and min(v.array.shape, default=9) >= extent
                   and not v.constant]
        if fitting and not fresh and self.chance(0.75):
            return fitting[-1] if self.chance(0.6) else self.one_of(fitting)
        return self.new(self.array(self.dtype(types), self.shape(least, most, extent), low, high, self.special))

    def like(self, value, shape, low=-4, high=4, **options):
        """A new value of the same type."""
        return self.new(self.array(value.array.dtype, shape, low, high, self.special), **options)

    # --- Graphs ----------------------------------------------------------------------------------

    def add(self, node):
        """Appends the node with what it computes; returns its last output. Raises Undrawable where no judge can say that.
        Where judges differ, this is the last node."""
        node.attributes = {k: v for k, v in node.attributes.items()
                           if v is not None and (not isinstance(v, list) or v)}
        if not node.domain:
            schema = self.schema(node.operator)
            node.attributes = {k: v for k, v in node.attributes.items() if k in schema.attributes}
            if len(node.inputs) > schema.max_input or len(node.inputs) < schema.min_input:
                raise Undrawable
        while node.inputs and node.inputs[-1] is None:
            node.inputs.pop()
        names = [f"y{len(self.values) + i}" for i in range(node.outputs)]
        proto = helper.make_node(node.operator, [v.name if v else "" for v in node.inputs], names,
                                 domain=node.domain, **node.attributes)
        opinions, names_of_judges = judges.outputs_of_node(proto, [v for v in node.inputs if v] + list(node.captured), self.opset)
        if any(a.size > MAX_ELEMENTS or a.dtype.type not in ALL for arrays in opinions for a in arrays):
            raise Undrawable
        arrays, self.disputed = opinions[0], [dict(zip(names, other)) for other in opinions[1:]]
        steps = all(v.exact for v in node.inputs if v)
        for name, array in zip(names, arrays):
            exact = steps and (node.exact or array.dtype.kind in "iub")
            self.values.append(Value(name, array, exact))
        self.nodes.append(proto)
        self.judged_by.append(names_of_judges)
        self.read.update(v.name for v in [*node.inputs, *node.captured] if v)
        return self.values[-1]

    def model(self):
        """The graph with all values that no node reads as outputs, its inputs, and what its outputs
        are by each judge."""
        read = self.read
        made = [v for v in self.values if v.name.startswith("y")]
        outputs = [v for v in made if v.name not in read]
        inputs = [v for v in self.values if v.name.startswith("x") and v.name in read]
        constants = [numpy_helper.from_array(v.array, v.name)
                     for v in self.values if v.constant and v.name in read]
        graph = helper.make_graph(self.nodes, "random", [declared(v) for v in inputs],
                                  [declared(v) for v in outputs], constants)
        model = helper.make_model(graph, opset_imports=judges.operator_sets(self.opset),
                                  ir_version=min(10, onnx.IR_VERSION))
        opinions = [[other.get(v.name, v.array) for v in outputs] for other in [{}] + self.disputed]
        return model, [v.array for v in inputs], opinions


def draw(seed, table):
    """A graph of one to ten nodes."""
    drawing = Drawing(seed)
    names = sorted(table)
    wanted = drawing.one_of([1, 1, 1, 2, 2, 3, 4, 10])
    for _ in range(60):
        if len(drawing.nodes) >= wanted or drawing.disputed:
            break
        name = drawing.one_of(names)
        values, nodes = len(drawing.values), len(drawing.nodes)
        try:
            drawing.add(table[name](drawing, name))
        except Undrawable:
            del drawing.values[values:], drawing.nodes[nodes:], drawing.judged_by[nodes:]
            drawing.disputed = []
    if not drawing.nodes:
        raise Undrawable
    return drawing
