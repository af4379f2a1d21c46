#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Small models of single operators, run by Bayloom and by onnxruntime.

    compare_operators.py --bayloom build/release/bin/bayloom [--only PATTERN] [--keep FOLDER]

Each case of operator_cases.py becomes a model with random inputs. What onnxruntime cannot run is
computed by ONNX's reference evaluator. Prints the largest error of each case relative to the
largest expected value, and ends with 1 if one is above its tolerance or was refused. Needs the
Python packages numpy, onnx and onnxruntime.
"""

import argparse
import fnmatch
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from operator_cases import CASES


def model_of(case):
    """The case as a model whose outputs have open types; constants are initializers."""
    names, inputs, initializers = [], [], []
    for i, value in enumerate(case.inputs):
        if value is None:
            names.append("")
            continue
        names.append(f"x{i}")
        if i in case.constants:
            initializers.append(numpy_helper.from_array(value, names[-1]))
        else:
            kind = helper.np_dtype_to_tensor_dtype(value.dtype)
            inputs.append(helper.make_tensor_value_info(names[-1], kind, value.shape))
    outputs = [f"y{i}" if i in case.outputs else "" for i in range(max(case.outputs) + 1)]
    node = helper.make_node(case.operator, names, outputs, domain=case.domain, name="node",
                            **case.attributes)
    values = [onnx.ValueInfoProto(name=name) for name in outputs if name]
    graph = helper.make_graph([node], "case", inputs, values, initializers)
    opsets = [helper.make_opsetid("", case.opset)]
    if case.domain:
        opsets.append(helper.make_opsetid(case.domain, 1))
    return helper.make_model(graph, opset_imports=opsets, ir_version=min(10, onnx.IR_VERSION))


def expected_outputs(model, case):
    feeds = {f"x{i}": value for i, value in enumerate(case.inputs)
             if value is not None and i not in case.constants}
    if not case.reference:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        try:
            session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                                   providers=["CPUExecutionProvider"])
            return "onnxruntime", session.run(None, feeds)
        except Exception as error:  # what it lacks, the reference may have
            if case.domain:
                return f"onnxruntime: {error}".splitlines()[0], None
    try:
        return "reference", ReferenceEvaluator(model).run(None, feeds)
    except Exception as error:
        return f"reference: {error}".splitlines()[0], None


def with_types(model, outputs):
    for value, output in zip(model.graph.output, outputs):
        kind = helper.np_dtype_to_tensor_dtype(output.dtype)
        value.CopyFrom(helper.make_tensor_value_info(value.name, kind, output.shape))
    return model


def compare(case, bayloom, folder):
    """The largest error and who computed what was expected; an error of None has a reason."""
    model = model_of(case)
    reference, outputs = expected_outputs(model, case)
    if outputs is None:
        return None, reference
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(with_types(model, outputs), folder / "model.onnx")
    fed = [v for i, v in enumerate(case.inputs) if v is not None and i not in case.constants]
    for kind, tensors in (("input", fed), ("output", outputs)):
        for i, tensor in enumerate(tensors):
            (folder / f"{kind}_{i}.pb").write_bytes(
                numpy_helper.from_array(np.asarray(tensor)).SerializeToString())
    command = [bayloom, "run", str(folder / "model.onnx"), "--data", str(folder), "--json",
               "--tolerance", "1e30"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if not run.stdout:  # integers that differ have an error, too
        return None, (run.stderr.strip().splitlines() or [f"exit {run.returncode}"])[-1]
    return max(float(row["relative error"]) for row in json.loads(run.stdout)), reference


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bayloom", default="build/release/bin/bayloom")
    parser.add_argument("--only", default="*", help="pattern of the names of cases")
    parser.add_argument("--keep", type=pathlib.Path, help="folder that keeps the models")
    options = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        for case in CASES:
            if not fnmatch.fnmatch(case.name, options.only):
                continue
            folder = (options.keep or pathlib.Path(scratch)) / case.name
            error, note = compare(case, options.bayloom, folder)
            good = error is not None and error <= case.tolerance
            failures += not good
            shown = "-" if error is None else f"{error:.1e}"
            print(f"{'ok  ' if good else 'FAIL'} {case.name:44} {shown:>8}  {note}", flush=True)
    print(f"{failures} failures")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
