# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Errors of long sums, Winograd's algorithm and narrow floats against float64, beside onnxruntime's.

    build/venv/bin/python benchmarks/accuracy/accuracy.py [--trials 200] [--result FILE]
    build/venv/bin/python benchmarks/accuracy/accuracy.py --networks resnet18.onnx vgg16.onnx

Every case is a small ONNX model whose outputs numpy computes in float64 from the rounded inputs; or
a network in float32, whose first output ONNX's reference evaluator computes in float64 from random
inputs. An error is the largest difference over the largest expected value. With --trials the models
are tuned first; without, the default programs run. Needs numpy, onnx and onnxruntime.
"""

import argparse
import ctypes
import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnx.reference
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import result_file  # noqa: E402

FLOAT, HALF = numpy.float32, numpy.float16


def model_of(nodes, inputs, constants, outputs, opset=17):
    """A model from (operator, inputs, output, attributes) and named arrays."""
    def declared(name, array):
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        return helper.make_tensor_value_info(name, kind, array.shape)

    graph = helper.make_graph(
        [helper.make_node(op, names, [output], **attributes)
         for op, names, output, attributes in nodes],
        "case", [declared(*item) for item in inputs.items()],
        [declared(*item) for item in outputs.items()],
        [numpy_helper.from_array(array, name) for name, array in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model


class Case:
    def __init__(self, name, dtype, nodes, inputs, constants, reference, opset=17):
        self.name = f"{name}, {numpy.dtype(dtype).name}"
        self.inputs = {key: array.astype(dtype) for key, array in inputs.items()}
        self.constants = {key: array if array.dtype.kind == "i" else array.astype(dtype)
                          for key, array in constants.items()}
        wide = {key: array.astype(numpy.float64) if array.dtype.kind == "f" else array
                for key, array in {**self.inputs, **self.constants}.items()}
        self.expected = reference(**wide)
        self.model = model_of(nodes, self.inputs, self.constants,
                              {"y": self.expected.astype(dtype)}, opset)


class NetworkCase:
    """A network with weights in it, from a file; dimensions that are left open are 1."""

    def __init__(self, path):
        self.name, self.model = pathlib.Path(path).stem, onnx.load(path)
        weights = {tensor.name for tensor in self.model.graph.initializer}
        random = numpy.random.default_rng(1)
        self.inputs = {
            value.name: random.standard_normal(
                [d.dim_value or 1 for d in value.type.tensor_type.shape.dim]).astype(FLOAT)
            for value in self.model.graph.input if value.name not in weights}
        wide = onnx.ModelProto()
        wide.CopyFrom(self.model)
        attributes = [a for node in wide.graph.node for a in node.attribute]
        for tensor in [*wide.graph.initializer, *(a.t for a in attributes if a.HasField("t"))]:
            if tensor.data_type == TensorProto.FLOAT:
                array = numpy_helper.to_array(tensor).astype(numpy.float64)
                tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
        for attribute in attributes:
            if attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.DOUBLE
        for value in [*wide.graph.input, *wide.graph.output, *wide.graph.value_info]:
            if value.type.tensor_type.elem_type == TensorProto.FLOAT:
                value.type.tensor_type.elem_type = TensorProto.DOUBLE
        # Of operator set 9, the evaluator mixes the statistics with those of the input: by nothing.
        for node in wide.graph.node:
            for attribute in node.attribute:
                if node.op_type == "BatchNormalization" and attribute.name == "momentum":
                    attribute.f = 1
        self.expected = onnx.reference.ReferenceEvaluator(wide).run(
            None, {name: array.astype(numpy.float64) for name, array in self.inputs.items()})[0]


def softmax(x):
    e = numpy.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def normalized(x, axes, epsilon=1e-5):
    centred = x - x.mean(axes, keepdims=True)
    return centred / numpy.sqrt((centred ** 2).mean(axes, keepdims=True) + epsilon)


def convolved(x, w):
    windows = numpy.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))
    return numpy.einsum("nchwij,ocij->nohw", windows, w)


def gelu(x):
    return x * 0.5 * (1 + numpy.tanh(0.7978845608 * (x + 0.044715 * x ** 3)))


def attention(q, k, v):
    return softmax(q @ numpy.swapaxes(k, -1, -2) * 0.125) @ v


def cases():
    random = numpy.random.default_rng(1)
    normal, uniform = random.standard_normal, random.random
    matmul = [("MatMul", ["x", "w"], "y", {})]
    attend = [("Transpose", ["k"], "t", {"perm": [0, 2, 1]}), ("MatMul", ["q", "t"], "p", {}),
              ("Mul", ["p", "c"], "s", {}), ("Softmax", ["s"], "a", {"axis": -1}),
              ("MatMul", ["a", "v"], "y", {})]
    chain = [("Pow", ["x", "three"], "a", {}), ("Mul", ["a", "c0"], "b", {}),
             ("Add", ["x", "b"], "c", {}), ("Mul", ["c", "c1"], "d", {}), ("Tanh", ["d"], "e", {}),
             ("Add", ["e", "one"], "f", {}), ("Mul", ["f", "half"], "g", {}),
             ("Mul", ["x", "g"], "y", {})]
    for dtype in (FLOAT, HALF):
        for k in (512, 4096, 25088):
            yield Case(f"MatMul 16x{k}x64", dtype, matmul, {"x": uniform((16, k))},
                       {"w": normal((k, 64)) / k ** 0.5}, lambda x, w: x @ w)
        yield Case("Conv 3x3 512 to 32 channels", dtype, [("Conv", ["x", "w"], "y", {})],
                   {"x": uniform((1, 512, 16, 16))}, {"w": normal((32, 512, 3, 3)) / 68}, convolved)
        for channels, extent in ((64, 56), (128, 28), (256, 14), (512, 14)) if dtype == FLOAT else ():
            yield Case(f"Conv 3x3 {channels} channels, {extent}x{extent}", dtype,
                       [("Conv", ["x", "w"], "y", {})],
                       {"x": normal((1, channels, extent + 2, extent + 2))},
                       {"w": normal((channels, channels, 3, 3)) / (9 * channels) ** 0.5}, convolved)
        yield Case("Softmax 40x18385", dtype, [("Softmax", ["x"], "y", {"axis": -1})],
                   {"x": normal((40, 18385))}, {}, softmax)
        yield Case("Softmax 128x197", dtype, [("Softmax", ["x"], "y", {"axis": -1})],
                   {"x": normal((128, 197))}, {}, softmax)
        yield Case("LogSoftmax 4x50257", dtype, [("LogSoftmax", ["x"], "y", {"axis": -1})],
                   {"x": normal((4, 50257))}, {}, lambda x: numpy.log(softmax(x)))
        yield Case("ReduceMean 8x150000", dtype,
                   [("ReduceMean", ["x"], "y", {"axes": [1], "keepdims": 0})],
                   {"x": uniform((8, 150000))}, {}, lambda x: x.mean(1))
        yield Case("ReduceL2 8x150000", dtype,
                   [("ReduceL2", ["x"], "y", {"axes": [1], "keepdims": 0})],
                   {"x": 0.1 * normal((8, 150000))}, {}, lambda x: (x ** 2).sum(1) ** 0.5)
        yield Case("GlobalAveragePool 8x256x256", dtype, [("GlobalAveragePool", ["x"], "y", {})],
                   {"x": uniform((1, 8, 256, 256))}, {}, lambda x: x.mean((2, 3), keepdims=True))
        yield Case("LayerNorm 64x4096", dtype,
                   [("LayerNormalization", ["x", "scale", "bias"], "y", {})],
                   {"x": 3 + normal((64, 4096))},
                   {"scale": uniform(4096), "bias": normal(4096)},
                   lambda x, scale, bias: normalized(x, -1) * scale + bias)
        yield Case("InstanceNorm 8x256x256", dtype,
                   [("InstanceNormalization", ["x", "scale", "bias"], "y", {})],
                   {"x": 3 + normal((1, 8, 256, 256))}, {"scale": uniform(8), "bias": normal(8)},
                   lambda x, scale, bias: normalized(x, (2, 3)) * scale.reshape(1, 8, 1, 1)
                   + bias.reshape(1, 8, 1, 1))
        yield Case("attention 6x197x64", dtype, attend,
                   {name: normal((6, 197, 64)) for name in "qkv"}, {"c": numpy.array(0.125)},
                   lambda q, k, v, c: attention(q, k, v))
        yield Case("gelu by tanh", dtype, chain, {"x": normal((64, 1024))},
                   {name: numpy.array(value) for name, value in
                    (("three", 3.0), ("c0", 0.044715), ("c1", 0.7978845608), ("one", 1.0),
                     ("half", 0.5))},
                   lambda x, **constants: gelu(x))


def error_of(actual, expected):
    return float(numpy.abs(actual.astype(numpy.float64) - expected).max() / numpy.abs(expected).max())


def onnxruntime_error(case):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(case.model.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    return error_of(session.run(None, case.inputs)[0], case.expected)


def bayloom(*arguments):
    result = subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"accuracy.py: {' '.join(map(str, arguments))}\n{result.stderr}")


class Buffer(ctypes.Structure):
    """bayloom_input and bayloom_output of a compiled network's header."""
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t),
                ("dims", ctypes.POINTER(ctypes.c_size_t))]

    def __init__(self, array):
        super().__init__(array.ctypes.data, array.nbytes)


def run_library(path, inputs, output):
    library, network = ctypes.CDLL(str(path)), ctypes.c_void_p()
    given = (Buffer * len(inputs))(*map(Buffer, inputs))
    result = (Buffer * 1)(Buffer(output))
    codes = [library.case_create(2, ctypes.byref(network)),
             library.case_run(network, given, len(inputs), result, 1),
             library.case_destroy(network)]
    if any(codes):
        sys.exit(f"accuracy.py: {path} fails with the codes {codes}")


def bayloom_error(case, options):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model, database = folder / "case.onnx", folder / "case.db"
        onnx.save(case.model, model)
        common = ["--no-store", "--threads", "1"]
        if options.derivations:
            common += ["--derivations", options.derivations]
        if options.trials:
            bayloom(options.bayloom, "tune", model, "--trials", options.trials, "--db", database,
                    *common)
        bayloom(options.bayloom, "compile", model, "--out", folder, *common)
        inputs = [numpy.ascontiguousarray(array) for array in case.inputs.values()]
        output = numpy.empty(case.expected.shape, inputs[0].dtype)
        run_library(folder / "libcase.so", inputs, output)
        return error_of(output, case.expected)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bayloom", default="build/release/bin/bayloom")
    parser.add_argument("--trials", type=int, default=0, help="tune each model first")
    parser.add_argument("--derivations", help="those that programs may use, as `bayloom tune` takes them")
    parser.add_argument("--only", default="", help="cases whose names contain this")
    parser.add_argument("--networks", nargs="+", help="these models in place of the cases")
    parser.add_argument("--result", help="write a result file")
    options = parser.parse_args()
    rows = []
    print(f"{'case':42}{'bayloom':>12}{'onnxruntime':>14}{'ratio':>8}")
    for case in map(NetworkCase, options.networks) if options.networks else cases():
        if options.only not in case.name:
            continue
        ours, theirs = bayloom_error(case, options), onnxruntime_error(case)
        ratio = ours / theirs if theirs else float("inf")
        rows.append({"case": case.name, "bayloom_error": ours, "onnxruntime_error": theirs,
                     "ratio": ratio})
        print(f"{case.name:42}{ours:12.2e}{theirs:14.2e}{ratio:8.2f}", flush=True)
    if options.result:
        result_file.write(options.result, "Errors against float64", rows,
                          peers={"onnxruntime": onnxruntime.__version__})


if __name__ == "__main__":
    main()
