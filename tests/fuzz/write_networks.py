# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Writes the networks of corpus/networks, one for each part of the format that the importer reads.

    build/venv/bin/python tests/fuzz/write_networks.py

It needs the package onnx, of version 1.23 or newer. The files are small, so that mutations of them are
read fast.
"""

import pathlib

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

RANDOM = numpy.random.default_rng(0)
FLOAT, INT64, MICROSOFT = TensorProto.FLOAT, TensorProto.INT64, "com.microsoft"


def node(kind, inputs, outputs, domain="", **attributes):
    return helper.make_node(kind, inputs.split(" "), outputs.split(" "), domain=domain, **attributes)


def floats(name, *shape):
    return numpy_helper.from_array(RANDOM.standard_normal(shape).astype(numpy.float32), name)


def integers(name, *values):
    return numpy_helper.from_array(numpy.array(values, numpy.int64), name)


def value(name, *shape, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def output(name, rank):
    return helper.make_tensor_value_info(name, FLOAT, [None] * rank)


def model(nodes, inputs, outputs, initializers=(), version=22, **more):
    graph = helper.make_graph(nodes, "network", inputs, outputs, list(initializers))
    graph.sparse_initializer.extend(more.pop("sparse", []))
    opsets = [helper.make_opsetid("", version), helper.make_opsetid(MICROSOFT, 1),
              helper.make_opsetid("local", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10, **more)


def spellings():
    """What operator sets after 17 spell in other ways."""
    return model(
        [node("Split", "x", "a b", axis=1, num_outputs=2), node("Gelu", "a", "g", approximate="tanh"),
         node("ReduceMean", "b axes", "m", keepdims=1), node("Pad", "g pads  pad_axes", "p"),
         node("Resize", "p  scales", "r", axes=[2, 3], mode="linear", antialias=0),
         node("GroupNormalization", "r scale bias", "n", num_groups=2),
         node("Mish", "n", "h"), node("Add", "h m", "y")],
        [value("x", 1, 8, 4, 4)], [output("y", 4)],
        [integers("axes", 2, 3), integers("pads", 1, 1), integers("pad_axes", 3),
         numpy_helper.from_array(numpy.array([2, 2], numpy.float32), "scales"),
         floats("scale", 4), floats("bias", 4)])


def attention():
    """Operators of language models, operator set 23."""
    return model(
        [node("RMSNormalization", "x w", "n", axis=-1),
         node("RotaryEmbedding", "n cosine sine positions", "q", num_heads=2),
         node("Attention", "q n n", "y", q_num_heads=2, kv_num_heads=2, is_causal=1)],
        [value("x", 1, 4, 16), value("positions", 1, 4, kind=INT64)], [output("y", 3)],
        [floats("w", 16), floats("cosine", 8, 4), floats("sine", 8, 4)], version=23)


def microsoft():
    """What onnxruntime's tools emit."""
    packed = numpy_helper.from_array(RANDOM.integers(0, 256, (8, 1, 8), dtype=numpy.uint8), "b")
    return model(
        [node("SkipLayerNormalization", "x s gamma beta bias", "n", MICROSOFT, epsilon=1e-5),
         node("MatMulNBits", "n b scales", "m", MICROSOFT, K=16, N=8, bits=4, block_size=16),
         node("BiasGelu", "m c", "g", MICROSOFT), node("FastGelu", "g", "f", MICROSOFT),
         node("FusedMatMul", "f f", "y", MICROSOFT, transB=1, alpha=0.5)],
        [value("x", 1, 4, 16), value("s", 1, 4, 16)], [output("y", 3)],
        [floats("gamma", 16), floats("beta", 16), floats("bias", 16), floats("c", 8), packed,
         floats("scales", 8)], version=18)


def recurrent():
    """LSTM and GRU of both directions, with lengths and first states."""
    lengths = numpy_helper.from_array(numpy.array([3, 2], numpy.int32), "lengths")
    return model(
        [node("LSTM", "x w r b lengths h c", "s last cell", hidden_size=3, direction="bidirectional"),
         node("Transpose", "s", "t", perm=[0, 2, 1, 3]), node("Reshape", "t shape", "f"),
         node("GRU", "f gw gr", "y", hidden_size=2, linear_before_reset=1),
         node("RNN", "f rw rr", "z", hidden_size=2, direction="reverse", activations=["Relu"])],
        [value("x", 3, 2, 4)], [output("y", 4), output("z", 4), output("last", 3)],
        [floats("w", 2, 12, 4), floats("r", 2, 12, 3), floats("b", 2, 24), lengths, floats("h", 2, 2, 3),
         floats("c", 2, 2, 3), integers("shape", 3, 2, 6), floats("gw", 1, 6, 6), floats("gr", 1, 6, 2),
         floats("rw", 1, 2, 6), floats("rr", 1, 2, 2)])


def control():
    """If, Loop and Scan."""
    then = helper.make_graph([node("Relu", "x", "t")], "then", [], [value("t", 2, 4)])
    other = helper.make_graph([node("Neg", "x", "e")], "other", [], [value("e", 2, 4)])
    body = helper.make_graph(
        [node("Identity", "going", "still"), node("Add", "state i", "next"), node("Mul", "next next", "row")],
        "body", [value("index", kind=INT64), value("going", kind=TensorProto.BOOL), value("state", 2, 4)],
        [value("still", kind=TensorProto.BOOL), value("next", 2, 4), value("row", 2, 4)])
    step = helper.make_graph([node("Add", "sum item", "total"), node("Identity", "total", "prefix")],
                             "step", [value("sum", 4), value("item", 4)], [value("total", 4), value("prefix", 4)])
    return model(
        [node("If", "choice", "i", then_branch=then, else_branch=other),
         node("Loop", "trips yes x", "last rows", body=body),
         node("Scan", "zero last", "end y", body=step, num_scan_inputs=1)],
        [value("x", 2, 4), value("choice", kind=TensorProto.BOOL)],
        [output("rows", 3), output("end", 1), output("y", 2)],
        [numpy_helper.from_array(numpy.array(3, numpy.int64), "trips"),
         numpy_helper.from_array(numpy.array(True), "yes"),
         numpy_helper.from_array(numpy.zeros(4, numpy.float32), "zero")])


def narrow_types():
    """Initializers that are sparse, of 4 bits, of 8 bits and of bfloat16."""
    sparse = helper.make_sparse_tensor(floats("sparse", 3), integers("at", 0, 5, 13), [4, 4])
    four = helper.make_tensor("four", TensorProto.INT4, [4, 4], list(range(-8, 8)))
    unsigned = helper.make_tensor("unsigned", TensorProto.UINT4, [4, 4], list(range(16)))
    eight = helper.make_tensor("eight", TensorProto.FLOAT8E4M3FN, [4, 4], [float(i) for i in range(16)])
    brain = helper.make_tensor("brain", TensorProto.BFLOAT16, [4], [0.5, 1.0, 2.0, 4.0])
    return model(
        [node("DequantizeLinear", "four scales", "d", axis=1), node("DequantizeLinear", "unsigned scale", "u"),
         node("Cast", "eight", "e", to=FLOAT), node("Cast", "brain", "f", to=FLOAT),
         node("MatMul", "x d", "p"), node("MatMul", "p u", "q"), node("MatMul", "q e", "v"),
         node("MatMul", "v sparse", "w"), node("Add", "w f", "y")],
        [value("x", 2, 4)], [output("y", 2)],
        [four, unsigned, eight, brain, floats("scales", 4),
         numpy_helper.from_array(numpy.array(0.1, numpy.float32), "scale")], version=21, sparse=[sparse])


def functions():
    """Functions of the model: one that calls another, with an attribute."""
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
    slope = helper.make_node("LeakyRelu", ["x"], ["y"])
    slope.attribute.append(helper.make_attribute_ref("alpha", onnx.AttributeProto.FLOAT))
    slope.attribute[0].ref_attr_name = "alpha"
    inner = helper.make_function("local", "Slope", ["x"], ["y"], [slope], opsets[:1], ["alpha"])
    outer = helper.make_function(
        "local", "Layer", ["x", "w"], ["y"],
        [node("MatMul", "x w", "m"), node("Slope", "m", "y", "local", alpha=0.2)], opsets)
    return model([node("Layer", "x w", "h", "local"), node("Layer", "h w", "y", "local")],
                 [value("x", 2, 4)], [output("y", 2)], [floats("w", 4, 4)], version=18,
                 functions=[inner, outer])


def quantized():
    """Quantized operators and their dynamic kind."""
    def number(name, n, kind):
        return numpy_helper.from_array(numpy.array(n, kind), name)
    weight = numpy_helper.from_array(RANDOM.integers(-9, 9, (3, 2, 3, 3), dtype=numpy.int8), "w")
    matrix = numpy_helper.from_array(RANDOM.integers(-9, 9, (4, 3), dtype=numpy.int8), "b")
    return model(
        [node("QuantizeLinear", "x s z", "q"), node("QLinearConv", "q s z w s wz s z", "c", pads=[1] * 4),
         node("QLinearAdd", "c s z c s z s z", "a", MICROSOFT), node("DequantizeLinear", "a s z", "d"),
         node("DynamicQuantizeLinear", "d", "e es ez"), node("MatMulInteger", "e b ez", "m"),
         node("Cast", "m", "f", to=FLOAT), node("Mul", "f es", "y")],
        [value("x", 1, 2, 4, 4)], [output("y", 2)],
        [weight, matrix, number("s", 0.1, numpy.float32), number("z", 3, numpy.uint8),
         number("wz", 0, numpy.int8)], version=18)


def indices():
    """Operators that read and write where others say."""
    return model(
        [node("TopK", "x k", "top at", axis=1), node("GatherElements", "x at", "g", axis=1),
         node("ScatterElements", "x at g", "s", axis=1, reduction="add"),
         node("ScatterND", "s places rows", "n"), node("CumSum", "n axis", "c", reverse=1),
         node("Einsum", "c x", "e", equation="ij,kj->ik"), node("ArgMax", "e", "y", axis=1, keepdims=0)],
        [value("x", 3, 6)], [value("y", None, kind=INT64), output("top", 2)],
        [integers("k", 2), numpy_helper.from_array(numpy.array([[2], [0]]), "places"), floats("rows", 2, 6),
         numpy_helper.from_array(numpy.array(1, numpy.int64), "axis")])


def dequantized():
    """Operators of floats between DequantizeLinear and QuantizeLinear."""
    weight = numpy_helper.from_array(RANDOM.integers(-9, 9, (4, 3, 3, 3), dtype=numpy.int8), "w")
    bias = numpy_helper.from_array(RANDOM.integers(-99, 99, 4, dtype=numpy.int32), "b")
    matrix = numpy_helper.from_array(RANDOM.integers(-9, 9, (4, 2), dtype=numpy.int8), "m")
    return model(
        [node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "d"),
         node("DequantizeLinear", "w ws", "dw", axis=0), node("DequantizeLinear", "b bs", "db", axis=0),
         node("Conv", "d dw db", "c", pads=[1] * 4), node("Relu", "c", "r"),
         node("QuantizeLinear", "r s z", "rq"), node("DequantizeLinear", "rq s z", "rd"),
         node("MaxPool", "rd", "p", kernel_shape=[2, 2]), node("AveragePool", "rd", "v", kernel_shape=[2, 2]),
         node("Add", "p v", "a"), node("Concat", "a p", "j", axis=1),
         node("QuantizeLinear", "j s z", "jq"), node("DequantizeLinear", "jq s z", "jd"),
         node("Split", "jd", "u t", axis=1), node("GlobalAveragePool", "u", "g"), node("Flatten", "g", "f"),
         node("QuantizeLinear", "f s z", "fq"), node("DequantizeLinear", "fq s z", "fd"),
         node("DequantizeLinear", "m ms", "dm", axis=1), node("MatMul", "fd dm", "y")],
        [value("x", 1, 3, 4, 4)], [output("y", 2)],
        [weight, bias, matrix, numpy_helper.from_array(numpy.array(0.1, numpy.float32), "s"),
         numpy_helper.from_array(numpy.array(3, numpy.uint8), "z"),
         numpy_helper.from_array(numpy.full(4, 0.05, numpy.float32), "ws"),
         numpy_helper.from_array(numpy.full(4, 0.005, numpy.float32), "bs"),
         numpy_helper.from_array(numpy.full(2, 0.05, numpy.float32), "ms")], version=18)


def main():
    folder = pathlib.Path(__file__).resolve().parent / "corpus" / "networks"
    folder.mkdir(exist_ok=True)
    for write in (spellings, attention, microsoft, recurrent, control, narrow_types, functions, quantized,
                  indices, dequantized):
        network = write()
        onnx.checker.check_model(network)
        (folder / write.__name__).write_bytes(network.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
