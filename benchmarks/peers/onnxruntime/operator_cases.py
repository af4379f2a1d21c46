# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""ONNX's operators at the sizes of real networks, with one image or sequence and with eight: what
operator_table.py times. Left out are operators of strings, sequences and files, those whose results
have shapes that are known at run time only, and those that nothing is left of at compile time."""

import dataclasses

import numpy
import onnx
from onnx import helper, numpy_helper

DOMAIN = "com.microsoft"
OPSET = 21
RANDOM = numpy.random.default_rng(0)


@dataclasses.dataclass
class Constant:
    array: numpy.ndarray


@dataclasses.dataclass
class Case:
    """A node: its operands are arrays, which become inputs, constants, or None where one is absent."""
    op: str
    operands: list
    attributes: dict = dataclasses.field(default_factory=dict)
    label: str = ""
    outputs: int = 1
    opset: int = OPSET
    domain: str = ""

    @property
    def name(self):
        return self.op + (f" {self.label}" if self.label else "")

    def inputs(self):
        return {f"x{i}": a for i, a in enumerate(self.operands) if isinstance(a, numpy.ndarray)}

    def model(self):
        names, constants = [], []
        for i, operand in enumerate(self.operands):
            names.append("" if operand is None else f"x{i}")
            if isinstance(operand, Constant):
                constants.append(numpy_helper.from_array(operand.array, names[-1]))
        inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
                  for name, a in self.inputs().items()]
        results = [f"y{i}" for i in range(self.outputs)]
        node = helper.make_node(self.op, names, results, domain=self.domain, **self.attributes)
        # onnxruntime infers the outputs' types where ONNX does not know the operator.
        outputs = [onnx.ValueInfoProto(name=name) for name in results]
        graph = helper.make_graph([node], "case", inputs, outputs, constants)
        opsets = [helper.make_opsetid("", self.opset)]
        if self.domain:
            opsets.append(helper.make_opsetid(self.domain, 1))
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def floats(*shape, low=None, high=1.0):
    if low is not None:
        return RANDOM.uniform(low, high, shape).astype(numpy.float32)
    return RANDOM.standard_normal(shape).astype(numpy.float32)


def weights(*shape):
    return Constant((RANDOM.standard_normal(shape) / numpy.sqrt(numpy.prod(shape[1:]))).astype(numpy.float32))


def integers(low, high, *shape, dtype=numpy.int64):
    return RANDOM.integers(low, high, shape).astype(dtype)


def known(*values, dtype=numpy.int64):
    return Constant(numpy.array(values, dtype))


def scalar(value, dtype=numpy.float32):
    return Constant(numpy.array(value, dtype))


# With the interval that their operand is of; none: normal numbers.
UNARY = {"Abs": None, "Acos": (-1, 1), "Acosh": (1, 9), "Asin": (-1, 1), "Asinh": None, "Atan": None,
         "Atanh": (-0.9, 0.9), "Ceil": None, "Celu": None, "Cos": None, "Cosh": None, "Elu": None,
         "Erf": None, "Exp": None, "Floor": None, "Gelu": None, "HardSigmoid": None, "HardSwish": None,
         "IsInf": None, "IsNaN": None, "LeakyRelu": None, "Log": (0.1, 9), "Mish": None, "Neg": None,
         "Reciprocal": (0.5, 2), "Relu": None, "Round": None, "Selu": None, "Shrink": None,
         "Sigmoid": None, "Sign": None, "Sin": None, "Sinh": None, "Softplus": None, "Softsign": None,
         "Sqrt": (0, 9), "Tan": (-1, 1), "Tanh": None, "ThresholdedRelu": None}
BINARY = ("Add", "Sub", "Mul", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "PRelu")
LOGICAL = ("And", "Or", "Xor")
BITWISE = ("BitwiseAnd", "BitwiseOr", "BitwiseXor")
VARIADIC = ("Max", "Mean", "Min", "Sum")
REDUCTIONS = ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
              "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare")


def elementwise(batch):
    image = (batch, 64, 56, 56)
    for op, interval in UNARY.items():
        low, high = interval or (None, 1)
        yield Case(op, [floats(*image, low=low, high=high)])
    for op in BINARY:
        yield Case(op, [floats(*image), floats(*image, low=0.5, high=2)])
        if op in ("Add", "Mul", "Div"):
            yield Case(op, [floats(*image), floats(1, 64, 1, 1, low=0.5)], label="broadcast")
    for op in LOGICAL:
        yield Case(op, [integers(0, 2, *image, dtype=bool), integers(0, 2, *image, dtype=bool)])
    for op in BITWISE:
        yield Case(op, [integers(0, 99, *image, dtype=numpy.int32) for _ in range(2)])
    for op in VARIADIC:
        yield Case(op, [floats(*image) for _ in range(3)])
    yield Case("BitShift", [integers(0, 99, *image, dtype=numpy.uint32),
                            integers(0, 5, *image, dtype=numpy.uint32)], {"direction": "RIGHT"})
    yield Case("BitwiseNot", [integers(0, 99, *image, dtype=numpy.int32)])
    yield Case("Cast", [floats(*image)], {"to": onnx.TensorProto.INT32}, "float32 to int32")
    yield Case("Cast", [floats(*image)], {"to": onnx.TensorProto.FLOAT16}, "float32 to float16")
    yield Case("Clip", [floats(*image), scalar(-1), scalar(1)])
    yield Case("Mod", [integers(0, 999, *image), integers(1, 99, *image)])
    yield Case("Not", [integers(0, 2, *image, dtype=bool)])
    yield Case("Pow", [floats(*image, low=0.1), scalar(2)], label="2")
    yield Case("Pow", [floats(*image, low=0.1), floats(*image)])
    yield Case("Where", [integers(0, 2, *image, dtype=bool), floats(*image), floats(*image)])
    yield Case("Swish", [floats(*image)], opset=24)


def reductions(batch):
    for op in REDUCTIONS:
        x = floats(batch, 64, 56, 56, low=0.5, high=1.5)
        yield Case(op, [x, known(2, 3)], {"keepdims": 0}, "positions")
        yield Case(op, [x, known(1)], {"keepdims": 0}, "channels")
    for op in ("ArgMax", "ArgMin"):
        yield Case(op, [floats(batch, 21, 112, 112)], {"axis": 1}, "channels")
        yield Case(op, [floats(batch, 128, 1000)], {"axis": -1}, "rows")
    rows = floats(batch, 128, 1024)
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        yield Case(op, [rows], {"axis": -1})
    yield Case("Softmax", [floats(batch, 64, 56, 56)], {"axis": 1}, "channels")
    yield Case("CumSum", [rows, scalar(-1, numpy.int64)])
    yield Case("LpNormalization", [rows], {"axis": -1})
    yield Case("TopK", [rows, known(8)], {"axis": -1}, outputs=2)
    yield Case("SoftmaxCrossEntropyLoss", [floats(batch * 128, 1000), integers(0, 1000, batch * 128)])
    yield Case("NegativeLogLikelihoodLoss", [floats(batch * 128, 1000), integers(0, 1000, batch * 128)])


def normalizations(batch):
    image, rows = floats(batch, 64, 56, 56), floats(batch, 128, 768)
    channel = [Constant(floats(64, low=0.5)) for _ in range(4)]
    yield Case("BatchNormalization", [image, *channel])
    yield Case("InstanceNormalization", [image, *channel[:2]])
    yield Case("GroupNormalization", [image, *channel[:2]], {"num_groups": 8})
    yield Case("LayerNormalization", [rows, Constant(floats(768)), Constant(floats(768))])
    yield Case("RMSNormalization", [rows, Constant(floats(768))], opset=23)
    yield Case("LRN", [image], {"size": 5})
    yield Case("MeanVarianceNormalization", [image])


def windows(batch):
    image = floats(batch, 64, 56, 56)
    conv = {"pads": [1, 1, 1, 1]}
    yield Case("Conv", [image, weights(64, 64, 3, 3)], conv, "3x3")
    yield Case("Conv", [image, weights(256, 64, 1, 1)], {}, "1x1")
    yield Case("Conv", [floats(batch, 48, 40, 40), weights(96, 48, 1, 1)], {}, "1x1 of 48")
    yield Case("Conv", [image, weights(64, 1, 3, 3)], conv | {"group": 64}, "depthwise")
    yield Case("Conv", [image, weights(64, 8, 3, 3)], conv | {"group": 8}, "8 groups")
    yield Case("Conv", [floats(batch, 80, 3000), weights(384, 80, 3)], {"pads": [1, 1]}, "1-D")
    yield Case("Conv", [floats(batch, 16, 16, 56, 56), weights(16, 16, 3, 3, 3)], {"pads": [1] * 6}, "3-D")
    yield Case("Conv", [floats(batch, 64, 16, 56, 56), weights(64, 1, 3, 3, 3)],
               {"pads": [1] * 6, "strides": [2] * 3, "group": 64}, "depthwise 3-D")
    yield Case("ConvTranspose", [floats(batch, 64, 28, 28), weights(64, 32, 2, 2)], {"strides": [2, 2]}, "2x2")
    yield Case("ConvTranspose", [floats(batch, 64, 28, 28), weights(64, 32, 4, 4)],
               {"strides": [2, 2], "pads": [1] * 4}, "4x4")
    yield Case("DeformConv", [floats(batch, 64, 28, 28), weights(64, 64, 3, 3), floats(batch, 18, 28, 28)],
               conv, opset=19)
    pool = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4}
    for op in ("AveragePool", "MaxPool", "LpPool"):
        yield Case(op, [image], pool)
    for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
        yield Case(op, [image])
    yield Case("MaxPool", [image], pool, "with indices", outputs=2)
    index = numpy.arange(64 * 28 * 28).reshape(64, 28, 28)
    index = index // 784 * 3136 + index % 784 // 28 * 112 + index % 28 * 2
    places = numpy.stack([index + 64 * 3136 * n for n in range(batch)]).astype(numpy.int64)
    yield Case("MaxUnpool", [floats(batch, 64, 28, 28), places], {"kernel_shape": [2, 2], "strides": [2, 2]})
    yield Case("Col2Im", [floats(batch, 512, 126), known(1, 16512), known(1, 512)], {"strides": [1, 128]}, "overlap-add")
    yield Case("Col2Im", [floats(batch, 64 * 9, 56 * 56), known(56, 56), known(3, 3)], {"pads": [1] * 4}, "3x3")
    for mode in ("nearest", "linear", "cubic"):
        yield Case("Resize", [image, None, Constant(numpy.array([1, 1, 2, 2], numpy.float32))], {"mode": mode}, mode)
    grid = floats(batch, 56, 56, 2, low=-1)
    for mode in ("linear", "nearest", "cubic"):
        yield Case("GridSample", [image, grid], {"mode": mode}, mode)
    boxes = numpy.sort(RANDOM.uniform(0, 56, (100 * batch, 2, 2)), 1).reshape(-1, 4).astype(numpy.float32)
    yield Case("RoiAlign", [image, boxes, integers(0, batch, 100 * batch)],
               {"output_height": 7, "output_width": 7, "sampling_ratio": 2})
    yield Case("MaxRoiPool", [image, numpy.concatenate([numpy.zeros((100 * batch, 1), numpy.float32), boxes], 1)],
               {"pooled_shape": [7, 7]})
    yield Case("AffineGrid", [floats(batch, 2, 3), known(batch, 3, 224, 224)])


def moves(batch):
    image, rows = floats(batch, 64, 56, 56), floats(batch, 128, 768)
    table = floats(30000, 128)
    yield Case("Concat", [image, image.copy()], {"axis": 1})
    yield Case("CenterCropPad", [image, known(48, 64)], {"axes": [2, 3]})
    yield Case("DepthToSpace", [image], {"blocksize": 2})
    yield Case("SpaceToDepth", [image], {"blocksize": 2})
    yield Case("Expand", [floats(batch, 64, 1, 1), known(batch, 64, 56, 56)])
    yield Case("Gather", [table, integers(0, 30000, batch, 512)], {"axis": 0}, "rows of a table")
    yield Case("Gather", [rows, integers(0, 768, 256)], {"axis": 2}, "columns")
    yield Case("GatherElements", [rows, integers(0, 128, batch, 128, 768)], {"axis": 1})
    yield Case("GatherND", [table, integers(0, 30000, batch * 512, 1)])
    yield Case("ScatterElements", [rows, numpy.argsort(floats(batch, 128, 768), 1), floats(batch, 128, 768)], {"axis": 1})
    yield Case("ScatterND", [table, RANDOM.permutation(30000)[:batch * 512, None].astype(numpy.int64), floats(batch * 512, 128)])
    yield Case("OneHot", [integers(0, 1000, batch, 128), scalar(1000, numpy.int64), Constant(numpy.array([0, 1], numpy.float32))])
    for mode in ("constant", "reflect", "edge"):
        yield Case("Pad", [image, known(0, 0, 1, 1, 0, 0, 1, 1)], {"mode": mode}, mode)
    yield Case("ReverseSequence", [floats(128, batch, 768), integers(1, 129, batch)], {"time_axis": 0, "batch_axis": 1})
    yield Case("Slice", [image, known(0, 0), known(56, 56), known(2, 3), known(2, 2)], label="every second")
    yield Case("Split", [image], {"axis": 1, "num_outputs": 4}, outputs=4)
    yield Case("Tile", [rows, known(1, 2, 1)])
    yield Case("Transpose", [image], {"perm": [0, 2, 3, 1]}, "channels last")
    yield Case("Transpose", [floats(batch, 128, 12, 64)], {"perm": [0, 2, 1, 3]}, "heads")
    yield Case("Trilu", [floats(batch, 12, 256, 256)])


def products(batch):
    rows = floats(batch, 128, 768)
    yield Case("MatMul", [rows, weights(768, 768)])
    yield Case("MatMul", [floats(batch, 12, 128, 64), floats(batch, 12, 64, 128)], label="heads")
    yield Case("MatMul", [floats(batch, 1, 768), weights(768, 3072)], label="one row")
    yield Case("Gemm", [floats(batch * 128, 768), weights(768, 768), weights(768)], {"transB": 1})
    yield Case("Einsum", [floats(batch, 128, 12, 64), floats(batch, 128, 12, 64)], {"equation": "bqhd,bkhd->bhqk"})
    yield Case("Det", [floats(batch * 64, 8, 8)])
    yield Case("Attention", [floats(batch, 12, 128, 64) for _ in range(3)], opset=23)
    yield Case("RotaryEmbedding", [floats(batch, 12, 128, 64), Constant(floats(batch, 128, 32)), Constant(floats(batch, 128, 32))], opset=23)
    yield Case("DFT", [floats(batch, 64, 400, 1), None, scalar(-2, numpy.int64)], {"onesided": 1})
    yield Case("STFT", [floats(batch, 16000, 1), scalar(160, numpy.int64), Constant(floats(400, low=0)), scalar(400, numpy.int64)])
    for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        yield Case(op, [floats(32, batch, 128), weights(1, gates * 128, 128), weights(1, gates * 128, 128)],
                   {"hidden_size": 128})
    yield Case("LinearAttention", [floats(batch, 128, 768) for _ in range(3)], {"q_num_heads": 12, "kv_num_heads": 12}, opset=27)


def quantized(batch):
    image, rows = floats(batch, 64, 56, 56), floats(batch, 128, 768)
    level, half = scalar(0.02), scalar(128, numpy.uint8)
    bytes_, signed = integers(0, 256, batch, 64, 56, 56, dtype=numpy.uint8), scalar(0, numpy.int8)
    tokens = integers(0, 256, batch, 128, 768, dtype=numpy.uint8)
    matrix = Constant(integers(-128, 128, 768, 768, dtype=numpy.int8))
    kernel = Constant(integers(-128, 128, 64, 64, 3, 3, dtype=numpy.int8))
    yield Case("QuantizeLinear", [image, level, half])
    yield Case("DequantizeLinear", [bytes_, level, half])
    yield Case("DynamicQuantizeLinear", [image], outputs=3)
    yield Case("MatMulInteger", [tokens, matrix, half, signed])
    yield Case("QLinearMatMul", [tokens, level, half, matrix, level, signed, scalar(3), half])
    yield Case("ConvInteger", [bytes_, kernel, half], {"pads": [1] * 4})
    yield Case("QLinearConv", [bytes_, level, half, kernel, level, signed, scalar(3), half], {"pads": [1] * 4})
    lstm = [floats(32, batch, 128)]
    lstm += [Constant(integers(-128, 128, 1, 128, 512, dtype=numpy.int8)) for _ in range(2)]
    lstm += [None] * 5 + [known(0.001, dtype=numpy.float32), known(0, dtype=numpy.int8)] * 2
    yield Case("DynamicQuantizeLSTM", lstm, {"hidden_size": 128}, domain=DOMAIN)
    yield Case("DynamicQuantizeMatMul", [rows, matrix, level, signed], domain=DOMAIN)
    for rows_ in (1, 128):
        packed = Constant(integers(0, 256, 2048, 64, 16, dtype=numpy.uint8))
        scales = Constant(floats(2048 * 64, low=0.01, high=0.02))
        yield Case("MatMulNBits", [floats(batch, rows_, 2048), packed, scales],
                   {"K": 2048, "N": 2048, "bits": 4, "block_size": 32}, f"{rows_} rows", domain=DOMAIN)


def microsoft(batch):
    rows, channel = floats(batch, 128, 768), Constant(floats(768))
    for op in ("BiasGelu", "FastGelu"):
        yield Case(op, [rows, channel], domain=DOMAIN)
    yield Case("QuickGelu", [rows], domain=DOMAIN)
    yield Case("SkipLayerNormalization", [rows, rows.copy(), channel, channel], domain=DOMAIN)
    yield Case("MultiHeadAttention", [floats(batch, 128, 768) for _ in range(3)], {"num_heads": 12}, domain=DOMAIN)
    yield Case("FusedConv", [floats(batch, 64, 56, 56), weights(64, 64, 3, 3)],
               {"pads": [1] * 4, "activation": "Relu"}, domain=DOMAIN)


def cases(batch):
    for family in (elementwise, reductions, normalizations, windows, moves, products, quantized, microsoft):
        yield from family(batch)
