#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Seconds and memory that `bayloom compile` takes for models of several sizes.

    python3 benchmarks/shipped/compile_sizes.py BAYLOOM [OTHER_BAYLOOM ...] [--megabytes 10,100,500]

A model is a chain of fully connected layers with random weights, which are kept beside the model. The
programs are those without decisions (--effort none): what is timed is what every library takes. Several
binaries take turns. Memory is the largest resident set of the process and of
those that it started, over the size of the weights. Needs numpy and onnx.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import onnx
from onnx import TensorProto, helper


def write_model(path, megabytes):
    """Returns the bytes of the weights."""
    width = 1024 if megabytes <= 200 else 4096
    layers = max(1, round(megabytes * 1e6 / (4 * width * width)))
    random = numpy.random.default_rng(1)
    nodes, tensors = [], []
    with open(path.with_suffix(".data"), "wb") as data:
        for layer in range(layers):
            weights = random.standard_normal((width, width), dtype=numpy.float32) / width**0.5
            tensor = TensorProto(name=f"w{layer}", data_type=TensorProto.FLOAT, dims=[width, width],
                                 data_location=TensorProto.EXTERNAL)
            for key, value in (("location", path.with_suffix(".data").name), ("offset", data.tell()),
                               ("length", weights.nbytes)):
                tensor.external_data.add(key=key, value=str(value))
            data.write(weights.tobytes())
            tensors.append(tensor)
            nodes.append(helper.make_node("Gemm", [f"x{layer}", f"w{layer}"], [f"x{layer + 1}"], transB=1))
    float_row = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, width])
    graph = helper.make_graph(nodes, "layers", [float_row("x0")], [float_row(f"x{layers}")], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return 4 * width * width * layers


def compile_once(binary, model, folder):
    """Seconds, and bytes of the largest resident set."""
    start = time.monotonic()
    process = subprocess.Popen(
        [binary, "compile", model, "--effort", "none", "--threads", "1", "--no-store", "--out", folder],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    message = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if status != 0:
        sys.exit(f"{binary}: {message.decode().strip()}")
    return time.monotonic() - start, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("binaries", nargs="+")
    parser.add_argument("--megabytes", default="10,100,500")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for megabytes in map(float, options.megabytes.split(",")):
            model = pathlib.Path(folder) / "layers.onnx"
            weights = write_model(model, megabytes)
            taken = {binary: [] for binary in options.binaries}
            for _ in range(options.rounds):
                for binary in options.binaries:
                    taken[binary].append(compile_once(binary, model, pathlib.Path(folder) / "lib"))
            for binary, runs in taken.items():
                rows.append({"binary": binary, "weights": weights,
                             "seconds": statistics.median(seconds for seconds, _ in runs),
                             "memory": statistics.median(memory for _, memory in runs)})
                if not options.json:
                    print("{binary}: weights {0:.0f} MB, {seconds:.1f} s, memory {1:.2f} times the weights"
                          .format(weights / 1e6, rows[-1]["memory"] / weights, **rows[-1]), flush=True)
    if options.json:
        print(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
