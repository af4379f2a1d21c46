# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Writes models of one operator each (attention: of its nodes), at the sizes of real networks, for compare.py.

    build/venv/bin/python benchmarks/peers/onnxruntime/operator_models.py build/operators
    build/venv/bin/python benchmarks/peers/onnxruntime/compare.py --threads 1 --trials 300 \\
        --records build/operators build/operators/*.onnx

compare.py times every model in turns with onnxruntime, tuned and before tuning. With names behind
the folder only those models are written.
"""

import pathlib
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

RANDOM = numpy.random.default_rng(0)


def weight(*shape):
    scale = 1 / numpy.sqrt(max(1, numpy.prod(shape[1:])))
    return (scale * RANDOM.standard_normal(shape)).astype(numpy.float32)


def ints(*values):
    return numpy.array(values, numpy.int64)


def permutation(*shape):
    """Every index below the first extent once per column: all kernels do the same work."""
    rows = numpy.arange(shape[0], dtype=numpy.int64).reshape(-1, *[1] * (len(shape) - 1))
    return RANDOM.permuted(numpy.broadcast_to(rows, shape), axis=0)


class Model:
    """One node over float32 inputs x0, x1, ... and constants, with the outputs' types."""

    def __init__(self, op, inputs, constants=(), outputs=(TensorProto.FLOAT,), **attributes):
        self.op, self.inputs, self.constants = op, inputs, dict(constants)
        self.outputs, self.attributes = outputs, attributes

    def save(self, path):
        names = []
        inputs = []
        for entry in self.inputs:
            if isinstance(entry, str):
                names.append(entry)
            else:
                names.append(f"x{len(inputs)}")
                inputs.append(helper.make_tensor_value_info(names[-1], TensorProto.FLOAT, entry))
        results = [f"y{i}" for i in range(len(self.outputs))]
        node = helper.make_node(self.op, names, results, **self.attributes)
        outputs = [helper.make_tensor_value_info(name, dtype, None)
                   for name, dtype in zip(results, self.outputs)]
        constants = [numpy_helper.from_array(data, name) for name, data in self.constants.items()]
        graph = helper.make_graph([node], path.stem, inputs, outputs, constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(onnx.shape_inference.infer_shapes(model, strict_mode=True), path)


class Attention:
    """Attention in single nodes, as exporters write it: the inputs are [1, positions, heads, size],
    and so is the output. `mask` adds an input of [1, 1, 1, positions]; `causal` hides later keys."""

    def __init__(self, heads, positions, size, mask=False, causal=False):
        self.shape, self.mask, self.causal = [1, positions, heads, size], mask, causal

    def save(self, path):
        _, positions, heads, size = self.shape
        inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, self.shape)
                  for name in ("q", "k", "v")]
        constants = {"scale": numpy.array(size**-0.5, numpy.float32)}
        nodes = [helper.make_node("Transpose", ["q"], ["q1"], perm=[0, 2, 1, 3]),
                 helper.make_node("Transpose", ["k"], ["k1"], perm=[0, 2, 3, 1]),
                 helper.make_node("Transpose", ["v"], ["v1"], perm=[0, 2, 1, 3]),
                 helper.make_node("MatMul", ["q1", "k1"], ["products"]),
                 helper.make_node("Mul", ["products", "scale"], ["scores"])]
        scores = "scores"
        if self.mask:
            inputs.append(helper.make_tensor_value_info("mask", TensorProto.FLOAT,
                                                        [1, 1, 1, positions]))
            nodes.append(helper.make_node("Add", [scores, "mask"], ["masked"]))
            scores = "masked"
        if self.causal:
            constants["seen"] = numpy.tri(positions, dtype=bool)[None, None]
            constants["hidden"] = numpy.finfo(numpy.float32).min  # as transformers exports it
            nodes.append(helper.make_node("Where", ["seen", scores, "hidden"], ["causal"]))
            scores = "causal"
        nodes += [helper.make_node("Softmax", [scores], ["weights"], axis=-1),
                  helper.make_node("MatMul", ["weights", "v1"], ["mixed"]),
                  helper.make_node("Transpose", ["mixed"], ["y"], perm=[0, 2, 1, 3])]
        outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, self.shape)]
        graph = helper.make_graph(nodes, path.stem, inputs, outputs,
                                  [numpy_helper.from_array(c, n) for n, c in constants.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(onnx.shape_inference.infer_shapes(model, strict_mode=True), path)


class Stem:
    """The first layers of a network: a convolution of an image with bias and ReLU, and the maxima
    of windows of 3x3, two apart. The output has channels last, as the next layer reads them."""

    def __init__(self, size, kernel, pad, pool_pad):
        self.size, self.kernel, self.pad, self.pool_pad = size, kernel, pad, pool_pad

    def save(self, path):
        image = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, self.size, self.size])
        output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
        constants = {"w": weight(64, 3, self.kernel, self.kernel), "b": weight(64)}
        nodes = [helper.make_node("Conv", ["x", "w", "b"], ["sums"], strides=[2, 2],
                                  pads=4 * [self.pad]),
                 helper.make_node("Relu", ["sums"], ["active"]),
                 helper.make_node("MaxPool", ["active"], ["maxima"], kernel_shape=[3, 3],
                                  strides=[2, 2], pads=4 * [self.pool_pad]),
                 helper.make_node("Transpose", ["maxima"], ["y"], perm=[0, 2, 3, 1])]
        graph = helper.make_graph(nodes, path.stem, [image], [output],
                                  [numpy_helper.from_array(c, n) for n, c in constants.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(onnx.shape_inference.infer_shapes(model, strict_mode=True), path)


def top_k(shape, k):
    return Model("TopK", [shape, "k"], {"k": ints(k)}, (TensorProto.FLOAT, TensorProto.INT64))


def conv(x, w, **attributes):
    return Model("Conv", [x, "w"], {"w": weight(*w)}, **attributes)


def conv_transpose(x, w, **attributes):
    return Model("ConvTranspose", [x, "w"], {"w": weight(*w)}, **attributes)


def resize(x, scale, **attributes):
    scales = numpy.array([1, 1, scale, scale], numpy.float32)
    return Model("Resize", [x, "", "scales"], {"scales": scales}, **attributes)


def scatter_nd(rows, columns):
    return Model("ScatterND", [[rows, columns], "indices", [rows, columns]],
                 {"indices": permutation(rows, 1)})


def models():
    index = (TensorProto.INT64,)
    half = {"coordinate_transformation_mode": "half_pixel"}
    return {
        "scatternd_6272x96": scatter_nd(6272, 96),
        "scatternd_25088x96": scatter_nd(25088, 96),
        "scatterelements_512x768": Model(
            "ScatterElements", [[512, 768], "indices", [512, 768]],
            {"indices": permutation(512, 768)}, axis=0),
        "topk_300_of_8400": top_k([1, 8400], 300),
        "topk_50_of_50257": top_k([1, 50257], 50),
        "sort_50257": top_k([1, 50257], 50257),
        "cumsum_4096": Model("CumSum", [[1, 4096], "axis"], {"axis": ints(1)}),
        "cumsum_512x1024": Model("CumSum", [[512, 1024], "axis"], {"axis": ints(1)}),
        "cumsum_512x1024_axis0": Model("CumSum", [[512, 1024], "axis"], {"axis": ints(0)}),
        "argmax_128x32000": Model("ArgMax", [[128, 32000]], outputs=index, axis=1),
        "argmin_128x32000": Model("ArgMin", [[128, 32000]], outputs=index, axis=1),
        "argmax_classes_21x512x512": Model("ArgMax", [[1, 21, 512, 512]], outputs=index, axis=1),
        "softmax_40x18385": Model("Softmax", [[40, 18385]], axis=1),
        "softmax_12x197x197": Model("Softmax", [[12, 197, 197]], axis=2),
        "convtranspose_2x2_64to32_128": conv_transpose(
            [1, 64, 128, 128], [64, 32, 2, 2], strides=[2, 2]),
        "convtranspose_4x4_128to64_32": conv_transpose(
            [1, 128, 32, 32], [128, 64, 4, 4], strides=[2, 2], pads=[1, 1, 1, 1]),
        "convtranspose_3x3_128to64_32": conv_transpose(
            [1, 128, 32, 32], [128, 64, 3, 3], strides=[2, 2], pads=[1, 1, 1, 1],
            output_padding=[1, 1]),
        "convtranspose_16_256to128_200": conv_transpose(
            [1, 256, 200], [256, 128, 16], strides=[8], pads=[4, 4]),
        "resize_nearest_64x80x80": resize([1, 64, 80, 80], 2, mode="nearest",
                                          coordinate_transformation_mode="asymmetric",
                                          nearest_mode="floor"),
        "resize_linear_64x56x56": resize([1, 64, 56, 56], 4, mode="linear", **half),
        "transpose_64x112x112": Model("Transpose", [[1, 64, 112, 112]], perm=[0, 2, 3, 1]),
        "instancenorm_64x128x128": Model(
            "InstanceNormalization", [[1, 64, 128, 128], "scale", "bias"],
            {"scale": weight(64), "bias": weight(64)}),
        "layernorm_1500x384": Model("LayerNormalization", [[1500, 384], "scale", "bias"],
                                    {"scale": weight(384), "bias": weight(384)}, axis=-1),
        "conv_3x3_96to24_120x160": conv([1, 96, 120, 160], [24, 96, 3, 3], pads=[1, 1, 1, 1]),
        "attention_vit_12x197x64": Attention(12, 197, 64),
        "attention_bert_12x128x64": Attention(12, 128, 64, mask=True),
        "attention_bert_12x512x64": Attention(12, 512, 64, mask=True),
        "attention_bert_12x2048x64": Attention(12, 2048, 64, mask=True),
        "attention_gpt2_12x128x64": Attention(12, 128, 64, causal=True),
        "attention_gpt2_12x512x64": Attention(12, 512, 64, causal=True),
        "attention_gpt2_12x2048x64": Attention(12, 2048, 64, causal=True),
        "attention_6x197x64": Model("MatMul", [[6, 197, 64], [6, 64, 197]]),
        "maxpool_5x5_128x20x20": Model("MaxPool", [[1, 128, 20, 20]], kernel_shape=[5, 5],
                                       strides=[1, 1], pads=[2, 2, 2, 2]),
        "depthwise_7x7_96_56": conv([1, 96, 56, 56], [96, 1, 7, 7], pads=[3, 3, 3, 3], group=96),
        "grouped_32_256_56": conv([1, 256, 56, 56], [256, 8, 3, 3], pads=[1, 1, 1, 1], group=32),
        "conv1d_512_1600": conv([1, 512, 1600], [512, 512, 3], strides=[2], pads=[1, 1]),
        "matmul_197x384x1536": Model("MatMul", [[197, 384], "w"], {"w": weight(384, 1536)}),
        "matmul_1x4096x4096": Model("MatMul", [[1, 4096], "w"], {"w": weight(4096, 4096)}),
        "stem_squeezenet": Stem(224, kernel=3, pad=0, pool_pad=0),
        "stem_resnet": Stem(224, kernel=7, pad=3, pool_pad=1),
    }


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    wanted = set(sys.argv[2:])
    for name, model in models().items():
        if not wanted or name in wanted:
            model.save(folder / f"{name}.onnx")


if __name__ == "__main__":
    main()
