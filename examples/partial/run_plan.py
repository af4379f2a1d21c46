# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Runs a network that Bayloom compiled in parts; onnxruntime computes the rest.

    bayloom compile detector.onnx --partial --out lib
    python3 run_plan.py lib/detector.plan.json image.npy

The inputs are .npy files in the order of the plan's inputs. Outputs are printed, or written as
.npy files into the folder that --out names. Needs numpy and onnxruntime.
"""

import argparse
import ctypes
import json
import pathlib

import numpy

ABI_VERSION = 2
BYTES_OF_TYPES_WITHOUT_NUMPY = {"bfloat16": "uint16"}


class Buffer(ctypes.Structure):
    """bayloom_input and bayloom_output of the libraries' headers."""

    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t),
                ("dims", ctypes.POINTER(ctypes.c_size_t))]


def numpy_type(name):
    return numpy.dtype(BYTES_OF_TYPES_WITHOUT_NUMPY.get(name, name))


def buffers(arrays):
    array = (Buffer * max(1, len(arrays)))()
    for buffer, values in zip(array, arrays):
        buffer.data, buffer.bytes = values.ctypes.data, values.nbytes
    return array


class LibraryStep:
    """A part of the network: a library of Bayloom."""

    def __init__(self, folder, step):
        self.inputs, self.outputs = step["inputs"], step["outputs"]
        self.library = ctypes.CDLL(str(folder.resolve() / step["library"]))
        self.name = step["name"]
        self.function("error_text").restype = ctypes.c_char_p
        self.model = ctypes.c_void_p()
        self.check(self.function("create")(ABI_VERSION, ctypes.byref(self.model)))

    def function(self, name):
        return getattr(self.library, f"{self.name}_{name}")

    def check(self, code):
        if code != 0:
            raise RuntimeError(f"{self.name}: {self.function('error_text')(code).decode()}")

    def run(self, values):
        given = []
        for tensor in self.inputs:
            value = numpy.asarray(values[tensor["name"]], order="C")
            if list(value.shape) != tensor["shape"]:
                raise ValueError(f"{tensor['name']}: {value.shape}, not {tensor['shape']}")
            if value.dtype != numpy_type(tensor["type"]):
                raise ValueError(f"{tensor['name']}: {value.dtype}, not {tensor['type']}")
            given.append(value)
        results = [numpy.empty(t["shape"], numpy_type(t["type"])) for t in self.outputs]
        self.check(self.function("run")(self.model, buffers(given), len(given),
                                        buffers(results), len(results)))
        return results


class OnnxStep:
    """Nodes that were left out, as a model for onnxruntime."""

    def __init__(self, folder, step):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        self.inputs, self.outputs = step["inputs"], step["outputs"]
        self.session = onnxruntime.InferenceSession(str(folder / step["model"]), options,
                                                    providers=["CPUExecutionProvider"])

    def run(self, values):
        given = {tensor["name"]: values[tensor["name"]] for tensor in self.inputs}
        return self.session.run([tensor["name"] for tensor in self.outputs], given)


class Plan:
    """A network in parts."""

    def __init__(self, path):
        path = pathlib.Path(path)
        plan = json.loads(path.read_text())
        if plan.get("bayloom_plan") != 1:
            raise ValueError(f"{path}: no plan of 'bayloom compile --partial', or of another version")
        kinds = {"library": LibraryStep, "onnx": OnnxStep}
        self.inputs, self.outputs = plan["inputs"], plan["outputs"]
        self.steps = [kinds[step["kind"]](path.parent, step) for step in plan["steps"]]

    def run(self, inputs):
        """Takes arrays by name, returns the outputs by name."""
        values = dict(inputs)
        for step in self.steps:
            names = [tensor["name"] for tensor in step.outputs]
            values.update(zip(names, step.run(values)))
        return {tensor["name"]: values[tensor["name"]] for tensor in self.outputs}


def main():
    parser = argparse.ArgumentParser(description="Run a network that Bayloom compiled in parts.")
    parser.add_argument("plan", help="NAME.plan.json")
    parser.add_argument("inputs", nargs="*", help=".npy files in the order of the inputs")
    parser.add_argument("--out", type=pathlib.Path, help="folder for the outputs")
    arguments = parser.parse_args()
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
    plan = Plan(arguments.plan)
    if len(arguments.inputs) != len(plan.inputs):
        parser.error(f"the network has {len(plan.inputs)} inputs: "
                     + ", ".join(tensor["name"] for tensor in plan.inputs))
    inputs = {t["name"]: numpy.load(file) for t, file in zip(plan.inputs, arguments.inputs)}
    for number, (name, value) in enumerate(plan.run(inputs).items()):
        print(f"{name}: {value.dtype}{list(value.shape)}" if hasattr(value, "shape") else name)
        if arguments.out:
            numpy.save(arguments.out / f"output_{number}.npy", value)


if __name__ == "__main__":
    main()
