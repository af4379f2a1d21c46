# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Runs one model under onnxruntime with random inputs; compare.py starts it.

    python reference.py MODEL.onnx FOLDER '{"dims": {"batch": 1}, "shapes": {}, "values": {}}'

Writes input_<i>.pb and output_<i>.pb into the folder. Prints JSON: the shapes of the inputs with
open dimensions, and how far onnxruntime's own outputs are from those that it computes with graph
optimizations: "spread" without them, "nudged" with inputs that are some roundings away, "response"
with other random inputs. Where the response is small, equal outputs say little.
"""

import json
import pathlib
import sys

import numpy
import onnx.numpy_helper
import onnxruntime

TYPES = {"tensor(float)": numpy.float32, "tensor(double)": numpy.float64, "tensor(float16)": numpy.float16,
         "tensor(int64)": numpy.int64, "tensor(int32)": numpy.int32, "tensor(int8)": numpy.int8,
         "tensor(uint8)": numpy.uint8, "tensor(bool)": numpy.bool_}
# Integer inputs are indices, such as token ids; every vocabulary has this many.
INDEX_BOUND = 90
# Float inputs are moved by up to so many roundings, so many times.
NUDGE_ROUNDINGS, NUDGES = 8, 4


def shape_of(value, setting):
    """The input's shape with the values of its open dimensions; those not named are 1."""
    if value.name in setting.get("shapes", {}):
        return setting["shapes"][value.name]
    return [dim if isinstance(dim, int) else setting.get("dims", {}).get(dim, 1) for dim in value.shape]


def random_input(value, setting, random):
    shape, dtype = shape_of(value, setting), TYPES[value.type]
    values = {**setting.get("values", {}), **setting.get("freeze", {})}
    if value.name in values:
        return numpy.full(shape, values[value.name], dtype)
    if dtype == numpy.bool_:
        return random.integers(0, 2, shape).astype(dtype)
    is_integer = numpy.issubdtype(dtype, numpy.integer)
    if is_integer and "mask" in value.name and value.name not in setting.get("bounds", {}):
        return numpy.ones(shape, dtype)  # hides nothing: lengths of caches follow from it
    if is_integer:
        bound = setting.get("bounds", {}).get(value.name, INDEX_BOUND)
        return random.integers(0, bound, shape).astype(dtype)
    return numpy.asarray(random.standard_normal(shape)).astype(dtype)


def load(model, level):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def relative_error(actual, expected):
    """The largest difference over the largest expected magnitude."""
    if actual.shape != expected.shape or not actual.size:
        return 0.0 if actual.shape == expected.shape else float("inf")
    actual, expected = actual.astype(numpy.float64), expected.astype(numpy.float64)
    same = (actual == expected) | (numpy.isnan(actual) & numpy.isnan(expected))
    difference = numpy.where(same, 0, numpy.abs(actual - expected))
    if not numpy.all(numpy.isfinite(difference)):
        return float("inf")
    return float(difference.max() / max(numpy.abs(expected[numpy.isfinite(expected)]).max(initial=0), 1e-30))


def nudged(array, random):
    """A float tensor with each element moved by a few roundings; others as they are."""
    if array.dtype not in (numpy.float32, numpy.float64):
        return array
    roundings = random.uniform(-NUDGE_ROUNDINGS, NUDGE_ROUNDINGS, array.shape)
    return (array * (1 + roundings * numpy.finfo(array.dtype).eps)).astype(array.dtype)


def sensitivity(session, inputs, outputs, frozen):
    """How far onnxruntime's outputs move with nudged inputs: the most of several draws."""
    random, largest = numpy.random.default_rng(1), 0.0
    for _ in range(NUDGES):
        near = {name: array if name in frozen else nudged(array, random) for name, array in inputs.items()}
        largest = max([largest, *map(relative_error, session.run(None, near), outputs)])
    return largest


def write(folder, kind, arrays):
    for i, (name, array) in enumerate(arrays):
        tensor = onnx.numpy_helper.from_array(numpy.ascontiguousarray(array).reshape(array.shape), name)
        (folder / f"{kind}_{i}.pb").write_bytes(tensor.SerializeToString())


def main():
    model, folder, setting = sys.argv[1], pathlib.Path(sys.argv[2]), json.loads(sys.argv[3])
    level = onnxruntime.GraphOptimizationLevel
    session = load(model, level.ORT_DISABLE_ALL)
    random = numpy.random.default_rng(0)
    inputs = {value.name: random_input(value, setting, random) for value in session.get_inputs()}
    plain = session.run(None, inputs)
    session = load(model, level.ORT_ENABLE_ALL)
    outputs = session.run(None, inputs)
    write(folder, "input", [item for item in inputs.items() if item[0] not in setting.get("freeze", {})])
    write(folder, "output", zip([value.name for value in session.get_outputs()], outputs))
    other = {value.name: random_input(value, setting, random) for value in session.get_inputs()}
    shapes = {value.name: list(inputs[value.name].shape) for value in session.get_inputs()
              if not all(isinstance(dim, int) for dim in value.shape)}
    print(json.dumps({"shapes": shapes,
                      "spread": max(map(relative_error, plain, outputs)),
                      "nudged": sensitivity(session, inputs, outputs, setting.get("freeze", {})),
                      "response": max(map(relative_error, session.run(None, other), outputs)),
                      "float16": any(array.dtype == numpy.float16 for array in [*outputs, *inputs.values()])}))


if __name__ == "__main__":
    main()
