# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""A kernel given by its source and arguments, as Kernel Tuner takes it, evaluated by the program.

The program compiles, calls, checks and times it in processes of its own (docs/kernels.md).
"""

import json
import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Callable, Optional, Sequence

from . import program
from ._core import InputError
from .study import Infeasible

_SUFFIXES = {"c": ".cc", "fortran": ".F90", "opencl": ".cl"}
_FORTRAN_COMPILERS = ("gfortran", "ftn", "ifort", "ifx", "nvfortran")
_DIMENSIONS = "xyz"
_VARIANT = "bayloom_variant"  # which of the sources that a function has written
# What numpy.allclose, by which Kernel Tuner compares, allows beside `atol`.
_RELATIVE = 1e-5
# For one configuration: Kernel Tuner has no limit, and a kernel that hangs should end some time.
_TIMEOUT = "5m"
_VARIANTS = f"""
#define BAYLOOM_TEXT(x) #x
#define BAYLOOM_EXPANDED(x) BAYLOOM_TEXT(x)
#define BAYLOOM_FILE(n) BAYLOOM_EXPANDED(variant_##n.h)
#define BAYLOOM_VARIANT(n) BAYLOOM_FILE(n)
#include BAYLOOM_VARIANT({_VARIANT})
"""


@dataclass
class KernelOptions:
    """What `tune_kernel` and `run_kernel` say of a kernel, under Kernel Tuner's names."""

    kernel_name: str
    kernel_source: Any
    problem_size: Any
    arguments: Sequence
    tune_params: Mapping
    grid_div_x: Any = None
    grid_div_y: Any = None
    grid_div_z: Any = None
    answer: Optional[Sequence] = None
    atol: float = 1e-6
    verify: Optional[Callable] = None
    lang: Optional[str] = None
    device: int = 0
    platform: int = 0
    compiler: Optional[str] = None
    compiler_options: Optional[Sequence[str]] = None
    defines: Optional[Mapping] = None
    iterations: int = 7
    block_size_names: Optional[Sequence[str]] = None
    # What the program cannot compute: functions of a configuration, by the parameter that has it.
    computed: dict = field(default_factory=dict)


def language_of(options: KernelOptions) -> str:
    """"c" (which Kernel Tuner compiles as C++), "fortran" or "opencl". Raises InputError."""
    if options.lang is not None:
        name = options.lang.lower()
    elif options.compiler in _FORTRAN_COMPILERS:
        return "fortran"
    else:
        text = _text_of(options)
        name = "cuda" if "__global__" in text else "opencl" if "__kernel" in text else "c"
    if name == "c" and options.compiler in _FORTRAN_COMPILERS:
        return "fortran"
    if name in ("c", "c++"):
        return "c"
    if name in _SUFFIXES:
        return name
    raise InputError(f"kernels of {options.lang or 'CUDA'} are not taken; lang is C, Fortran or "
                     "OpenCL")


def _text_of(options: KernelOptions) -> str:
    source = options.kernel_source
    if callable(source):
        return source({name: values[0] for name, values in options.tune_params.items()})
    if _is_file(source):
        with open(source, encoding="utf-8", errors="replace") as file:
            return file.read()
    return str(source)


def _is_file(source: Any) -> bool:
    return (isinstance(source, os.PathLike) or
            (isinstance(source, str) and "\n" not in source and os.path.isfile(source)))


class KernelProgram:
    """Evaluates configurations of a kernel in a process of the program `bayloom`.

    May be called in several threads: what they ask for at the same time is compiled together.
    """

    def __init__(self, options: KernelOptions):
        self._options = options
        self._language = language_of(options)
        self._folder = tempfile.TemporaryDirectory(prefix="bayloom-kernel-")
        self._variants: dict = {}
        self._arrays: list = []  # names of the arrays among the arguments, else None
        self._process: Optional[subprocess.Popen] = None
        self._errors = tempfile.TemporaryFile()
        self._waiting: list = []
        self._queue, self._turn = threading.Lock(), threading.Lock()
        scenario = self._path("kernel.json")
        with open(scenario, "w", encoding="utf-8") as file:
            json.dump(self._scenario(), file)
        self._scenario_path = scenario

    def __enter__(self) -> "KernelProgram":
        return self

    def __exit__(self, *_: Any) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._errors.close()
        self._folder.cleanup()

    def __call__(self, configuration: Mapping) -> dict:
        """The program's answer. Raises bayloom.Infeasible for a configuration without a time."""
        mine = _Question(self._request(configuration))
        with self._queue:
            self._waiting.append(mine)
        with self._turn:
            if mine.answer is None:
                with self._queue:
                    batch, self._waiting = self._waiting, []
                self._exchange(batch)
        answer = mine.answer
        if not answer.get("feasible", True):
            raise Infeasible(answer["reason"], answer["verdict"])
        if self._options.verify is not None:
            self._verify(answer)
        return answer

    def run_once(self, configuration: Mapping) -> list:
        """The arguments as the kernel leaves them: arrays of NumPy for arrays."""
        self._process = self._start("--outputs", self._path("outputs"))
        question = _Question(self._request(configuration))
        self._exchange([question])
        if not question.answer.get("feasible", True):
            raise Infeasible(question.answer["reason"], question.answer["verdict"])
        return self._outputs(question.answer)

    def _path(self, name: str) -> str:
        return os.path.join(self._folder.name, name)

    # What the program is told of the kernel.

    def _scenario(self) -> dict:
        options = self._options
        parameters = {name: [_plain(value) for value in dict.fromkeys(values)]
                      for name, values in options.tune_params.items()}
        evaluator = {"kernel": self._source(), "function": options.kernel_name,
                     "arguments": self._arguments(), "timing": {"repeats": options.iterations},
                     "timeout": _TIMEOUT}
        if self._language == "c":
            evaluator["language"] = "c++"
        if self._language == "opencl":
            evaluator.update(self._launch())
        else:
            evaluator["compiler"] = options.compiler or (
                "gfortran" if self._language == "fortran" else "g++")
            evaluator["timing"]["returned"] = "ms"
        flags = list(options.compiler_options or [])
        if options.defines is None:
            flags.append("-Dkernel_tuner=1")
        else:
            evaluator["defines"] = self._defines()
        if self._language != "opencl" and options.compiler_options is None:
            flags.append("-O3")
        if flags:
            evaluator["flags"] = flags
        evaluator.update(self._reference())
        parameters.update({name: {"type": "integer", "range": [-2**31, 2**40]}
                           for name in options.computed})
        return {"name": "kernel", "parameters": parameters, "evaluator": evaluator}

    def _source(self) -> str:
        source = self._options.kernel_source
        if _is_file(source):
            return os.path.abspath(source)
        if isinstance(source, (list, tuple)):
            return os.path.abspath(source[0])
        text = _VARIANTS if callable(source) else str(source)
        if callable(source):
            self._options.computed[_VARIANT] = self._variant
        name = "kernel" + _SUFFIXES[self._language]
        with open(self._path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def _variant(self, configuration: Mapping) -> int:
        """The number of the source that a function writes for a configuration."""
        text = self._options.kernel_source(dict(configuration))
        number = self._variants.setdefault(text, len(self._variants))
        with open(self._path(f"variant_{number}.h"), "w", encoding="utf-8") as file:
            file.write(text)
        return number

    def _launch(self) -> dict:
        options = self._options
        given = options.problem_size
        sizes = given if isinstance(given, (list, tuple)) else [given]
        if callable(given):
            computed = given({name: values[0] for name, values in options.tune_params.items()})
            count = len(computed) if isinstance(computed, (list, tuple)) else 1
            sizes = [lambda config, place=place: _items(given(config))[place]
                     for place in range(count)]
        launch = {"problem_size": [self._expression(size, f"bayloom_problem_{_DIMENSIONS[i]}")
                                   for i, size in enumerate(sizes)],
                  "device": options.device, "platform": options.platform}
        if options.block_size_names:
            launch["block_size_names"] = list(options.block_size_names)
        for dimension in _DIMENSIONS:
            divisors = getattr(options, f"grid_div_{dimension}")
            if divisors is None:
                continue
            launch[f"grid_div_{dimension}"] = [
                self._expression(divisor, f"bayloom_grid_div_{dimension}_{i}")
                for i, divisor in enumerate(_items(divisors))]
        return launch

    def _expression(self, given: Any, name: str) -> Any:
        """What the program computes itself; a function becomes a parameter that has its value."""
        if callable(given):
            self._options.computed[name] = given
            return name
        return str(_plain(given))

    def _defines(self) -> dict:
        return {name: self._expression(value, f"bayloom_define_{name}")
                for name, value in self._options.defines.items()}

    def _arguments(self) -> list:
        numpy = _numpy()
        constants = self._constant_places()
        declared = []
        for place, argument in enumerate(self._options.arguments):
            name = f"argument_{place}"
            if isinstance(argument, numpy.ndarray):
                self._arrays.append(name)
                array = numpy.ascontiguousarray(argument).reshape(-1)
                if numpy.iscomplexobj(array):
                    array = array.view(array.real.dtype)
                numpy.save(self._path(name + ".npy"), array)
                role = "in" if place in constants else "inout"
                declared.append(f"{role} {_type_of(array.dtype)} {name}[{array.size}] = "
                                f"file({name}.npy)")
            elif isinstance(argument, (numpy.number, numpy.bool_)):
                self._arrays.append(None)
                declared.append(f"{_type_of(argument.dtype)} {name} = {_plain(argument)}")
            else:
                raise InputError(f"argument {place} is {type(argument).__name__}: expected an "
                                 "array or a number of NumPy, which knows its type")
        return declared

    def _constant_places(self) -> set:
        """Places of pointers to constants among the kernel's arguments in C and OpenCL."""
        if self._language == "fortran":
            return set()
        text = re.sub(r"//[^\n]*|/\*.*?\*/", "", _text_of(self._options), flags=re.S)
        for match in re.finditer(rf"\b{re.escape(self._options.kernel_name)}\s*\(([^()]*)\)\s*\{{",
                                 text):
            return {place for place, argument in enumerate(match[1].split(","))
                    if re.search(r"\bconst\b", argument.rpartition("*")[0])}
        return set()

    def _reference(self) -> dict:
        options, files = self._options, {}
        if options.answer is None or options.verify is not None:
            return {"reference": "none"}
        numpy = _numpy()
        for place, expected in enumerate(options.answer):
            if expected is None or place >= len(self._arrays) or self._arrays[place] is None:
                continue
            like = options.arguments[place]
            array = numpy.ascontiguousarray(expected, dtype=like.dtype).reshape(-1)
            if numpy.iscomplexobj(array):
                array = array.view(array.real.dtype)
            name = self._arrays[place]
            numpy.save(self._path(f"answer_{place}.npy"), array)
            files[name] = f"answer_{place}.npy"
        if not files:
            return {"reference": "none"}
        return {"reference": {"files": files},
                "tolerance": {"absolute": options.atol, "relative": _RELATIVE}}

    # What it is asked, and answers.

    def _request(self, configuration: Mapping) -> dict:
        request = {name: _plain(value) for name, value in configuration.items()}
        for name, function in self._options.computed.items():
            request[name] = int(function(dict(configuration)))
        return request

    def _start(self, *more: str) -> subprocess.Popen:
        jobs = str(min(4, os.cpu_count() or 1))
        return subprocess.Popen(
            [program.executable(), "evaluate", self._scenario_path, "--jobs", jobs, *more],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True,
            start_new_session=True)

    def _exchange(self, batch: Sequence["_Question"]) -> None:
        if self._process is None:
            verifying = self._options.verify is not None
            self._process = self._start(*(["--outputs", self._path("outputs")] if verifying
                                          else []))
        try:
            self._process.stdin.write(json.dumps([each.request for each in batch]) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it said why it ended
        for question in batch:
            line = self._process.stdout.readline()
            question.answer = json.loads(line) if line else None
            if question.answer is None or "error" in question.answer:
                raise self._failure(question.answer)

    def _failure(self, answer: Optional[dict]) -> Exception:
        if answer is not None:
            return InputError(answer["error"])
        self._process.wait()
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace")
        return program.failure(self._process.returncode, said, "evaluate")

    def _outputs(self, answer: dict) -> list:
        numpy = _numpy()
        results = []
        for argument, name in zip(self._options.arguments, self._arrays):
            path = answer["outputs"].get(name)
            if path is None:
                results.append(argument)
                continue
            results.append(numpy.load(path).view(argument.dtype).reshape(argument.shape))
        return results

    def _verify(self, answer: dict) -> None:
        expected = list(self._options.answer or [])
        if not self._options.verify(expected, self._outputs(answer), atol=self._options.atol):
            raise Infeasible("verify says that the results are wrong", "wrong-output")


class _Question:
    def __init__(self, request: dict):
        self.request = request
        self.answer: Optional[dict] = None


def _numpy() -> Any:
    import numpy  # pylint: disable=import-outside-toplevel
    return numpy


def _items(given: Any) -> Sequence:
    return given if isinstance(given, (list, tuple)) else [given]


def _plain(value: Any) -> Any:
    """A number or text of Python: truth values and numbers of NumPy are numbers."""
    if isinstance(value, bool):
        return int(value)
    plain = value.item() if hasattr(value, "item") else value
    return int(plain) if isinstance(plain, bool) else plain


def _type_of(dtype: Any) -> str:
    name = str(dtype)
    if not re.fullmatch(r"float(16|32|64)|u?int(8|16|32|64)|bool", name):
        raise InputError(f"arguments of type {name} are not taken")
    return name
