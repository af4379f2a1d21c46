# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""What judges compute otherwise than the standard's text says. A graph with such a node that is
different from all judges is counted apart."""

import dataclasses
from collections.abc import Callable

from onnx import helper


KNOWN_VERSION = "1.23."  # of onnx


@dataclasses.dataclass
class Fault:
    of: str  # the judge
    operators: tuple
    reason: str
    applies: Callable = lambda node, attributes, opset: True  # of nodes of these operators

    def is_in(self, node, opset):
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        return node.op_type in self.operators and self.applies(node, attributes, opset)


def has_uneven_pads(node, attributes, opset):
    pads = attributes.get("pads", [])
    return pads[:len(pads) // 2] != pads[len(pads) // 2:]


def is_padded_same(node, attributes, opset):
    return attributes.get("auto_pad", b"NOTSET") in (b"SAME_UPPER", b"SAME_LOWER")


def is_unusual_recurrence(node, attributes, opset):
    lengths = len(node.input) > 4 and node.input[4]
    return lengths or "clip" in attributes or "input_forget" in attributes or \
        attributes.get("direction", b"forward") != b"forward"


def before(version):
    return lambda node, attributes, opset: opset < version


REFERENCE = [
    Fault("reference", ("Softmax", "LogSoftmax", "Hardmax"), "work on one axis, not on all from it on", before(13)),
    Fault("reference", ("MaxPool", "AveragePool", "LpPool"), "windows are misplaced where pads differ before and behind",
          has_uneven_pads),
    Fault("reference", ("Attention",), "the causal mask has only as many rows as the other mask",
          lambda node, attributes, opset: attributes.get("is_causal", 0) == 1 and len(node.input) > 3),
    Fault("reference", ("LpPool", "AveragePool", "MaxPool"),
          "windows are misplaced where they are padded by themselves, or hang over",
          lambda node, attributes, opset: "auto_pad" in attributes or attributes.get("ceil_mode", 0) == 1),
    Fault("reference", ("ReduceLogSumExp",), "rows of infinities are NaN"),
    Fault("reference", ("MeanVarianceNormalization",), "the deviation of equal elements is NaN by cancellation"),
    Fault("reference", ("MaxPool",), "indices of maxima count within each channel, not in the whole input",
          lambda node, attributes, opset: len(node.output) > 1),
    Fault("reference", ("GlobalMaxPool", "GlobalAveragePool"), "of images of one dimension channels are reduced, too"),
    Fault("reference", ("LRN",), "sums of squares are computed for as many channels as the batch has elements"),
    Fault("reference", ("LpNormalization",), "the norm of order 1 sums up elements, not their magnitudes",
          lambda node, attributes, opset: attributes.get("p", 2) == 1),
    Fault("reference", ("BatchNormalization",), "statistics are those of the batch", before(14)),
    Fault("reference", ("ConvTranspose",), "the bias of all groups is that of the first one",
          lambda node, attributes, opset: attributes.get("group", 1) > 1),
    Fault("reference", ("QLinearMatMul", "QLinearConv"), "the zero point is added before rounding, which changes ties"),
    Fault("reference", ("RNN", "GRU", "LSTM"), "lengths of sequences, clip, input_forget and other directions are ignored",
          is_unusual_recurrence),
    Fault("reference", ("Resize",), "the one element of an axis is at -0.5 by pytorch_half_pixel, not at 0",
          lambda node, attributes, opset: attributes.get("coordinate_transformation_mode") == b"pytorch_half_pixel"),
    Fault("reference", ("Loop",), "what is scanned is joined, not stacked; without a condition there is no iteration"),
    Fault("reference", ("RoiAlign",), "regions are moved by half an element", before(16)),
    Fault("reference", ("Unsqueeze",), "axes that are not sorted are inserted one after the other", before(13)),
]
ONNXRUNTIME = [
    Fault("onnxruntime", ("Loop",), "the body's condition counts although the node has none",
          lambda node, attributes, opset: node.input[0] and not node.input[1]),
    Fault("onnxruntime", ("MaxPool", "AveragePool", "LpPool", "Conv", "ConvInteger"),
          "SAME crops images where strides are longer than windows: pads are not negative", is_padded_same),
]
FAULTS = REFERENCE + ONNXRUNTIME
