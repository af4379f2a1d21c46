# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Latency of ONNX models under onnxruntime, and its outputs to compare others' with.

    python3 -m venv build/venv
    build/venv/bin/pip install -r benchmarks/peers/onnxruntime/requirements.txt
    build/venv/bin/python benchmarks/peers/onnxruntime/latency.py resnet18.onnx --save build/reference

For every model and number of threads it prints the median latency and the interquartile range.
With --save, the inputs and outputs go to DIR/<model>/input_<i>.pb and output_<i>.pb, the layout
of the data sets of the ONNX conformance tests.
"""

import argparse
import json
import pathlib
import statistics
import sys
import time

import numpy
import onnx.numpy_helper
import onnxruntime

# Integer inputs are indices, such as token ids; every vocabulary has this many.
INDEX_BOUND = 1000


def random_inputs(session, seed):
    """One array per input of the model: normal floats, small non-negative integers. Masks hide
    nothing: the lengths of caches follow from them."""
    random = numpy.random.default_rng(seed)
    inputs = {}
    for value in session.get_inputs():
        if value.type == "tensor(int64)" and "mask" in value.name:
            inputs[value.name] = numpy.ones(value.shape, numpy.int64)
        elif value.type == "tensor(int64)":
            inputs[value.name] = random.integers(0, INDEX_BOUND, value.shape, dtype=numpy.int64)
        elif value.type == "tensor(float)":
            inputs[value.name] = random.standard_normal(value.shape).astype(numpy.float32)
        else:
            sys.exit(f"latency.py: input '{value.name}' has the type {value.type}; "
                     "float and int64 are supported")
    return inputs


def open_session(path, threads):
    """A session at onnxruntime's best for one request at a time: all graph optimizations, one
    operator after the other, each with all the threads."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    # Workers spin while a run lasts, and sleep between runs: they take no core from anybody else.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def open_openvino(path, threads, precision="f32"):
    """An OpenVINO network for the latency of one request, and the version: a function of inputs by
    name. The precision is named because OpenVINO computes in bfloat16 where the processor can."""
    import openvino  # only those who compare with it need it
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(path), "CPU", {
        "PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1,
        "INFERENCE_PRECISION_HINT": precision})
    request = compiled.create_infer_request()
    return lambda inputs: request.infer(inputs, share_inputs=True), openvino.__version__


def measure(run, seconds):
    """Durations of at least ten runs filling at least `seconds`, after a warm-up."""
    for _ in range(5):
        run()
    durations = []
    end = time.perf_counter() + seconds
    while len(durations) < 10 or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        durations.append(time.perf_counter() - start)
    return durations


def save(folder, session, inputs):
    """Writes the inputs and what the session computes of them: input_<i>.pb, output_<i>.pb."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [value.name for value in session.get_outputs()]
    outputs = zip(names, session.run(None, inputs))
    for kind, arrays in (("input", inputs.items()), ("output", outputs)):
        for i, (name, array) in enumerate(arrays):
            tensor = onnx.numpy_helper.from_array(numpy.ascontiguousarray(array), name)
            (folder / f"{kind}_{i}.pb").write_bytes(tensor.SerializeToString())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", help="ONNX files")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--seconds", type=float, default=5, help="measuring time per latency")
    parser.add_argument("--seed", type=int, default=0, help="seed of the inputs")
    parser.add_argument("--save", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
    arguments = parser.parse_args()

    for path in arguments.models:
        model = pathlib.Path(path).name.removesuffix(".onnx")
        for threads in arguments.threads:
            session = open_session(path, threads)
            inputs = random_inputs(session, arguments.seed)
            durations = measure(lambda: session.run(None, inputs), arguments.seconds)
            low, median, high = statistics.quantiles(durations, n=4)
            row = {"model": model, "threads": threads, "median_ms": round(median * 1e3, 4),
                   "iqr_ms": round((high - low) * 1e3, 4), "runs": len(durations),
                   "onnxruntime": onnxruntime.__version__}
            if arguments.json:
                print(json.dumps(row), flush=True)
            else:
                print(f"{model:<16} {threads} threads  {median * 1e3:9.3f} ms  "
                      f"+- {(high - low) * 1e3:.3f}  ({len(durations)} runs)", flush=True)
        if arguments.save:
            save(arguments.save / model, session, inputs)


if __name__ == "__main__":
    main()
