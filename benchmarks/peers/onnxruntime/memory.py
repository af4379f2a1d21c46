# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Memory that executing a model takes, under Bayloom, onnxruntime and OpenVINO.

    build/venv/bin/python benchmarks/peers/onnxruntime/memory.py --records build/operators build/operators/attention_*.onnx

For each model and program, in a process of its own: the resident memory that the first two executions
add at their peak to what the process had once model and inputs were loaded, in MiB. Outputs count with
all of them. Weights count where a program makes what it computes with only when it runs.
--records names the folder of MODEL*.db, from which Bayloom takes tuned programs.
"""

import argparse
import ctypes
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy

import latency


def memory(field):
    """KiB of this process, of /proc's VmRSS or VmHWM."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(rf"{field}:\s*(\d+)", status).group(1))


def added_by(run):
    """MiB that two runs add at their peak."""
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
    before = memory("VmRSS")
    run()
    run()
    return (memory("VmHWM") - before) / 1024


class Buffer(ctypes.Structure):
    """bayloom_input and bayloom_output of a compiled network's header."""
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t),
                ("dims", ctypes.POINTER(ctypes.c_size_t))]


def load_bayloom(options, inputs):
    """A function that executes the compiled model once."""
    name = pathlib.Path(options.model).stem
    command = [options.bayloom, "compile", options.model, "--out", options.folder,
               "--threads", str(options.threads)]
    if options.records:
        databases = sorted(pathlib.Path(options.records).glob(f"{name}*.db"))
        if not databases:
            sys.exit(f"memory.py: there is no {name}*.db in {options.records}")
        command += ["--db", databases[0]]
    subprocess.run(command, check=True, capture_output=True)
    library = ctypes.CDLL(str(pathlib.Path(options.folder) / f"lib{name}.so"))
    model = ctypes.c_void_p()

    def call(function, *arguments):
        code = getattr(library, f"{name}_{function}")(*arguments)
        if code:
            sys.exit(f"memory.py: {function} of {name} returned {code}")

    call("set_threads", options.threads)
    call("create", 2, ctypes.byref(model))
    header = (pathlib.Path(options.folder) / f"{name}.h").read_text()
    sizes = [int(size) for size in re.findall(r"outputs\[\d+\].* (\d+) bytes", header)]
    sources = (Buffer * len(inputs))(*[Buffer(array.ctypes.data, array.nbytes) for array in inputs.values()])

    def run():
        outputs = [numpy.empty(size, numpy.uint8) for size in sizes]
        targets = (Buffer * len(sizes))(*[Buffer(array.ctypes.data, array.nbytes) for array in outputs])
        call("run", model, sources, len(sources), targets, len(targets))

    return run


def measure(options):
    """MiB of one model and program."""
    session = latency.open_session(options.model, options.threads)
    inputs = latency.random_inputs(session, 0)
    if options.program == "onnxruntime":
        return added_by(lambda: session.run(None, inputs))
    del session
    if options.program == "openvino":
        run, _ = latency.open_openvino(options.model, options.threads)
        return added_by(lambda: run(inputs))
    with tempfile.TemporaryDirectory() as options.folder:
        return added_by(load_bayloom(options, inputs))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", help="ONNX files")
    parser.add_argument("--bayloom", default="build/release/bin/bayloom", help="the program")
    parser.add_argument("--records", metavar="DIR")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--program", help=argparse.SUPPRESS)  # what a process of its own measures
    options = parser.parse_args()
    if options.program:
        options.model = options.models[0]
        print(f"{measure(options):.1f}")
        return
    for model in options.models:
        row = {"model": pathlib.Path(model).stem}
        for program in ("bayloom", "onnxruntime", "openvino"):
            command = [sys.executable, __file__, model, "--program", program, "--bayloom", options.bayloom,
                       "--threads", str(options.threads)]
            command += ["--records", options.records] if options.records else []
            result = subprocess.run(command, capture_output=True, text=True)
            if result.returncode != 0:
                sys.exit(f"memory.py: {program}: {result.stderr.strip()}")
            row[f"{program}_mib"] = float(result.stdout)
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
