# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""A model compiled by `bayloom compile`, loaded into this process: it can be timed in turns with
onnxruntime run by run, closer than processes can."""

import ctypes
import json
import pathlib
import subprocess

import numpy

ABI_VERSION = 2


class Tensor(ctypes.Structure):
    """bayloom_input and bayloom_output."""
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t),
                ("dims", ctypes.POINTER(ctypes.c_size_t))]


def aligned(array):
    """The same elements at an address that libraries use in place."""
    memory = numpy.zeros(array.nbytes + 64, numpy.uint8)
    start = -memory.ctypes.data % 64
    copy = memory[start:start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


class Compiled:
    """`outputs` holds what the last run computed. Raises RuntimeError where the program refuses."""

    def __init__(self, bayloom, model, folder, options=()):
        command = [bayloom, "compile", str(model), "--out", str(folder), *options]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            raise RuntimeError(result.stderr.strip().splitlines()[-1])
        path = next(pathlib.Path(folder).glob("lib*.so"))
        self.library = ctypes.CDLL(str(path))
        self.name = path.stem.removeprefix("lib")
        description = self.function("description")
        description.restype = ctypes.c_char_p
        self.tensors = json.loads(description())["shapes"][0]
        self.outputs = [aligned(numpy.zeros(t["shape"], t["type"])) for t in self.tensors["outputs"]]
        self.model = ctypes.c_void_p()
        self.check(self.function("create")(ABI_VERSION, ctypes.byref(self.model)))

    def function(self, name):
        return getattr(self.library, f"{self.name}_{name}")

    def check(self, code):
        if code != 0:
            text = self.function("error_text")
            text.restype = ctypes.c_char_p
            raise RuntimeError(text(code).decode())

    def bind(self, inputs):
        """A function without arguments that runs the model on arrays by name."""
        kept = [aligned(inputs[t["name"]]) for t in self.tensors["inputs"]]
        pack = lambda arrays: (Tensor * len(arrays))(*((a.ctypes.data, a.nbytes) for a in arrays))
        arguments = (self.model, pack(kept), len(kept), pack(self.outputs), len(self.outputs))
        run = self.function("run")

        def call():
            assert kept
            return run(*arguments)
        self.check(call())
        return call
