# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""What ONNX's reference evaluator and onnxruntime, where it is installed, say of a model."""

import warnings

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

try:
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
except ImportError:
    onnxruntime = None


class Undrawable(Exception):
    """Nothing can be said of this operator with these inputs: another one is drawn."""


def declared(value):
    kind = helper.np_dtype_to_tensor_dtype(value.array.dtype)
    return helper.make_tensor_value_info(value.name, kind, value.array.shape)


def by_reference(model, feeds):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return [np.asarray(a) for a in ReferenceEvaluator(model).run(None, feeds)]


def by_onnxruntime(model, feeds):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    return [np.asarray(a) for a in session.run(None, feeds)]


def operator_sets(opset):
    return [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]


def has_its_types(node, opset, inputs, outputs):
    """Whether outputs have the types that the operator gives them by those of its inputs; the
    reference follows NumPy's promotion in places."""
    schema = onnx.defs.get_schema(node.op_type, opset, "")
    by_name = {v.name: v.array.dtype for v in inputs}
    types = {p.type_str: by_name[name] for p, name in zip(schema.inputs, node.input) if name}
    return all(types.get(p.type_str, a.dtype) == a.dtype for p, a in zip(schema.outputs, outputs))


def agree(one, other):
    return all(a.shape == b.shape and a.dtype == b.dtype and
               np.allclose(a.astype(float), b.astype(float), rtol=1e-4, atol=1e-6, equal_nan=True)
               for a, b in zip(one, other))


def outputs_of_node(node, inputs, opset):
    """The outputs by each judge that can run the node, without those that agree with others, and the
    judges' names."""
    unique = list({v.name: v for v in inputs}.values())
    graph = helper.make_graph([node], "node", [declared(v) for v in unique],
                              [helper.make_empty_tensor_value_info(name) for name in node.output])
    model = helper.make_model(graph, opset_imports=operator_sets(opset), ir_version=10)
    feeds = {v.name: v.array for v in unique}
    opinions, names = [], []
    # onnxruntime ends the process where it divides by an extent of 0.
    has_elements = all(v.array.size > 0 for v in unique)
    judges = [("reference", by_reference)] + [("onnxruntime", by_onnxruntime)] * bool(onnxruntime and has_elements)
    for name, run in judges:
        try:
            outputs = run(model, feeds)
        except Exception:  # of any kind: it cannot run this
            continue
        if not node.domain and not has_its_types(node, opset, unique, outputs):
            continue
        names.append(name)
        if not any(agree(outputs, other) for other in opinions):
            opinions.append(outputs)
    if not opinions:
        raise Undrawable
    return opinions, names
