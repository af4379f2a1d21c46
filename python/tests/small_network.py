# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Small networks as ONNX files."""

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


def write(path, batch=4):
    """flat(relu(image x weights)) and its row sums; the function that computes the same."""
    random = numpy.random.default_rng(1)
    weights = random.standard_normal((24, 32)).astype("float32")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["image", "w"], ["product"]),
         helper.make_node("Relu", ["product"], ["active"]),
         helper.make_node("ReduceSum", ["active", "axes"], ["sums"], keepdims=0)],
        "small",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [batch, 24])],
        [helper.make_tensor_value_info("active", TensorProto.FLOAT, [batch, 32]),
         helper.make_tensor_value_info("sums", TensorProto.FLOAT, [batch])],
        [numpy_helper.from_array(weights, "w"),
         numpy_helper.from_array(numpy.array([1], "int64"), "axes")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path)

    def expected(image):
        active = numpy.maximum(image @ weights, 0)
        return active, active.sum(axis=1)

    return expected


def write_detector(path):
    """Boxes that a non-maximum suppression selects, and their scores."""
    constants = {"most": numpy.array([6]), "overlap": numpy.array([0.4], "float32"),
                 "least": numpy.array([0.3], "float32"), "image_and_box": numpy.array([0, 2])}
    graph = helper.make_graph(
        [helper.make_node("NonMaxSuppression", ["boxes", "scores", "most", "overlap", "least"],
                          ["selected"]),
         helper.make_node("Gather", ["selected", "image_and_box"], ["places"], axis=1),
         helper.make_node("GatherND", ["boxes", "places"], ["kept"]),
         helper.make_node("GatherND", ["scores", "selected"], ["kept_scores"])],
        "detector",
        [helper.make_tensor_value_info("boxes", TensorProto.FLOAT, [1, "n", 4]),
         helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 2, "n"])],
        [helper.make_tensor_value_info("kept", TensorProto.FLOAT, ["found", 4]),
         helper.make_tensor_value_info("kept_scores", TensorProto.FLOAT, ["found"])],
        [numpy_helper.from_array(data, name) for name, data in constants.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              path)


def write_separable(path):
    """A depthwise convolution and a 1x1 convolution: two tasks, or one where they are large."""
    random = numpy.random.default_rng(1)
    weights = {"depthwise": (8, 1, 3, 3), "project": (4, 8, 1, 1)}
    graph = helper.make_graph(
        [helper.make_node("Conv", ["image", "depthwise"], ["wide"], group=8, pads=[1, 1, 1, 1]),
         helper.make_node("Conv", ["wide", "project"], ["narrow"])],
        "separable",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 8, 160, 160])],
        [helper.make_tensor_value_info("narrow", TensorProto.FLOAT, [1, 4, 160, 160])],
        [numpy_helper.from_array(random.standard_normal(shape).astype("float32"), name)
         for name, shape in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
              path)
