# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Compiled networks: libraries of `bayloom.compile` called with arrays."""

import ctypes
import json
import math
import os
import re
import tempfile
import threading
from dataclasses import dataclass
from typing import Any, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import commands
from ._core import InputError, MachineError

_ABI_VERSION = 2
_ALIGNMENT = 64  # buffers that lie so are used in place


class _Buffer(ctypes.Structure):
    """bayloom_input and bayloom_output of the libraries' headers."""

    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t),
                ("dims", ctypes.POINTER(ctypes.c_size_t))]


@dataclass(frozen=True)
class Tensor:
    """An input or output: its name, its type as NumPy calls it, its shape. Open dimensions are
    named, those that the network finds among them, and `largest` is the shape where they are
    longest."""

    name: str
    dtype: str
    shape: Tuple[Union[int, str], ...]
    largest: Tuple[int, ...]

    def __str__(self) -> str:
        return f"'{self.name}', {self.dtype}{list(self.shape)}"


class CompiledNetwork:
    """A library of `bayloom.compile`, loaded.

        network = bayloom.load("lib/libresnet18.so")
        scores = network(image)          # arrays of NumPy or tensors of torch

    Arrays that are contiguous are used where they lie. Calls release the interpreter's lock; those
    of one CompiledNetwork wait for each other. `threads`: of all networks of this library, 0 for
    all processors.
    """

    def __init__(self, path: Union[str, os.PathLike], threads: Optional[int] = None):
        self.path = os.path.abspath(os.fspath(path))
        match = re.fullmatch(r"lib(\w+)\.so", os.path.basename(self.path))
        if match is None:
            raise InputError(f"{self.path}: expected a library of 'bayloom compile', libNAME.so")
        self._name = match[1]
        try:
            self._library = _open(self.path)
            describe = self._function("description", ctypes.c_char_p)
        except (OSError, AttributeError) as error:
            raise InputError(f"{self.path}: no library of 'bayloom compile': {error}") from None
        self._error_text = self._function("error_text", ctypes.c_char_p, ctypes.c_int)
        description = json.loads(describe())
        shapes = description["shapes"]
        self.decoder: Optional[Mapping] = description.get("decoder")  # bayloom.Decoder takes it
        self._shapes = [tuple([_tensor(described) for described in shape[side]]
                              for side in ("inputs", "outputs")) for shape in shapes]
        self._open = [shape.get("open", {}) for shape in shapes]
        self._run = self._function("run", ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_Buffer),
                                   ctypes.c_int, ctypes.POINTER(_Buffer), ctypes.c_int)
        self._destroy = self._function("destroy", ctypes.c_int, ctypes.c_void_p)
        self._lock = threading.Lock()
        self._model = ctypes.c_void_p()
        if threads is not None:
            self._check(self._function("set_threads", ctypes.c_int, ctypes.c_int)(threads))
        self._create()

    def _create(self) -> None:
        create = self._function("create", ctypes.c_int, ctypes.c_int,
                                ctypes.POINTER(ctypes.c_void_p))
        self._check(create(_ABI_VERSION, ctypes.byref(self._model)))

    def another(self) -> "CompiledNetwork":
        """Another model of the library, whose calls do not wait for those of this one."""
        other = object.__new__(CompiledNetwork)
        other.__dict__.update(self.__dict__, _lock=threading.Lock(), _model=ctypes.c_void_p())
        other._create()
        return other

    def __del__(self):
        if getattr(self, "_model", None):
            self._destroy(self._model)

    def _function(self, suffix: str, result: Any, *arguments: Any) -> Any:
        function = getattr(self._library, f"{self._name}_{suffix}")
        function.restype, function.argtypes = result, arguments
        return function

    def _check(self, code: int) -> None:
        if code != 0:
            raise MachineError(f"{self.path}: {self._error_text(code).decode()}")

    @property
    def inputs(self) -> Tuple[Tensor, ...]:
        """Of the first shape, if there are several."""
        return tuple(self._shapes[0][0])

    @property
    def outputs(self) -> Tuple[Tensor, ...]:
        return tuple(self._shapes[0][1])

    @property
    def shapes(self) -> list:
        """The inputs and the outputs of each shape that a call can have."""
        return [(tuple(inputs), tuple(outputs)) for inputs, outputs in self._shapes]

    @property
    def target(self) -> str:
        """The processor whose code is used."""
        return self._function("target", ctypes.c_char_p, ctypes.c_void_p)(self._model).decode()

    def __call__(self, *arrays: Any, out: Optional[Sequence[Any]] = None, **named: Any) -> Any:
        """The output for these inputs, in their order or by name; with several outputs, a list.

        Outputs are arrays of NumPy, tensors of torch if the inputs are; `out` gives arrays to write
        to. Raises InputError for arrays of another type or shape.
        """
        arrays = list(arrays) + [named.pop(tensor.name) for tensor in self.inputs[len(arrays):]
                                 if tensor.name in named]
        if named or len(arrays) != len(self.inputs):
            raise InputError(f"{self._name} takes {len(self.inputs)} inputs: "
                             + "; ".join(str(tensor) for tensor in self.inputs))
        views = [_view(array) for array in arrays]
        outputs = self._outputs_for(views)
        is_given = out is not None
        if out is None:
            empty = _empty_tensor if arrays and all(map(_is_torch, arrays)) else _empty_array
            out = [empty(tensor) for tensor in outputs]
        if len(out) != len(outputs):
            raise InputError(f"{self._name} has {len(outputs)} outputs, not {len(out)}")
        results = [_writable(array, tensor) for array, tensor in zip(out, outputs)]
        inputs, written = _buffers(views), _buffers(results)
        with self._lock:
            self._check(self._run(self._model, inputs, len(views), written, len(results)))
        shapes = [tuple(buffer.dims[:len(t.shape)]) for buffer, t in zip(written, outputs)]
        if is_given:
            for view, shape, tensor in zip(results, shapes, outputs):
                if view.shape != shape:
                    raise InputError(f"the output {tensor} has the shape {list(shape)}, the array "
                                     f"for it {list(view.shape)}")
        else:
            out = [_with_shape(array, shape) for array, shape in zip(out, shapes)]
        return out[0] if len(out) == 1 else list(out)

    def _outputs_for(self, views: list) -> list:
        for (inputs, outputs), ranges in zip(self._shapes, self._open):
            if (all(view.dtype == t.dtype for view, t in zip(views, inputs))
                    and _fits([view.shape for view in views], [t.shape for t in inputs], ranges)):
                return outputs
        given = ", ".join(f"{view.dtype}{list(view.shape)}" for view in views)
        raise InputError(f"{self._name} takes " + " or ".join(
            "; ".join([str(tensor) for tensor in inputs] + _texts(ranges))
            for (inputs, _), ranges in zip(self._shapes, self._open)) + f"; not {given}")

    def __repr__(self) -> str:
        return f"CompiledNetwork({self.path!r})"


def _tensor(described: Mapping) -> Tensor:
    shape = tuple(described["shape"])
    return Tensor(described["name"], described["type"], shape,
                  tuple(described.get("largest", shape)))


def _texts(ranges: Mapping) -> list:
    """How long open dimensions may be, as the command line has it."""
    return [f"{name}={first}..{last}" + (f":{step}" if step != 1 else "")
            for name, (first, last, step) in ranges.items()]


def _fits(given: list, wanted: list, ranges: Mapping) -> bool:
    """Whether shapes are those of a network. What is computed from several open dimensions is the
    library's to check."""
    lengths: dict = {}
    for shape, dims in zip(given, wanted):
        if len(shape) != len(dims):
            return False
        for length, dim in zip(shape, dims):
            if isinstance(dim, int):
                if length != dim:
                    return False
            elif dim in ranges:
                first, last, step = ranges[dim]
                if not first <= length <= last or (length - first) % step != 0:
                    return False
                if lengths.setdefault(dim, length) != length:
                    return False
    return True


def _open(path: str) -> ctypes.CDLL:
    """The library as it is now: by a path that was loaded before, the loader would give the library
    that was there then."""
    with tempfile.TemporaryDirectory(prefix="bayloom-") as folder:
        link = os.path.join(folder, os.path.basename(path))
        os.symlink(path, link)
        try:
            return ctypes.CDLL(link)
        except OSError as error:
            raise OSError(str(error).replace(link, path)) from None


class _View(NamedTuple):
    """Dense memory: that of an array, or of a copy of it; `owner` keeps it."""

    owner: Any
    dtype: str
    shape: Tuple[int, ...]
    address: int
    bytes: int


def _view(array: Any) -> _View:
    """The array's own memory if it is dense."""
    if _is_torch(array):
        if array.device.type != "cpu":
            raise InputError(f"a tensor is on {array.device}, not on the processor")
        dense = array.resolve_neg().contiguous()  # itself, if it is dense
        return _View(dense, str(dense.dtype).removeprefix("torch."), tuple(dense.shape),
                     dense.data_ptr(), dense.nbytes)
    import numpy
    if not isinstance(array, numpy.ndarray):
        array = (numpy.from_dlpack(array) if hasattr(array, "__dlpack__")
                 else numpy.asarray(array))
    # Not ascontiguousarray, which makes scalars vectors.
    dense = array if array.flags.c_contiguous else array.copy(order="C")
    return _View(dense, dense.dtype.name if dense.dtype.isnative else dense.dtype.str, dense.shape,
                 dense.ctypes.data, dense.nbytes)


def _writable(array: Any, tensor: Tensor) -> _View:
    view = _view(array)
    owner = view.owner
    is_copy = owner is not array and (_is_torch(owner) or owner.base is None)
    has_shape = len(view.shape) == len(tensor.shape) and all(
        isinstance(dim, str) or length == dim for length, dim in zip(view.shape, tensor.shape))
    if (is_copy or not has_shape or view.dtype != tensor.dtype
            or not _is_torch(owner) and not owner.flags.writeable):
        raise InputError(f"an output is not a contiguous, writable array of {tensor}")
    return view


def _empty_array(tensor: Tensor) -> Any:
    """An array of NumPy, aligned."""
    import numpy
    try:
        dtype = numpy.dtype(tensor.dtype)
    except TypeError:
        raise InputError(f"NumPy has no type for {tensor}: pass tensors of torch") from None
    size = math.prod(tensor.largest) * dtype.itemsize
    memory = numpy.empty(size + _ALIGNMENT, "uint8")
    begin = -memory.ctypes.data % _ALIGNMENT
    return memory[begin:begin + size].view(dtype).reshape(tensor.largest)


def _empty_tensor(tensor: Tensor) -> Any:
    """A tensor of torch, which aligns all of them."""
    import torch
    return torch.empty(tensor.largest, dtype=getattr(torch, tensor.dtype))


def _with_shape(array: Any, shape: Tuple[int, ...]) -> Any:
    """The beginning of an array's memory in another shape."""
    if tuple(array.shape) == shape:
        return array
    return array.reshape(-1)[:math.prod(shape)].reshape(shape)


def _buffers(views: list) -> Any:
    return (_Buffer * len(views))(*[
        _Buffer(view.address, view.bytes, (ctypes.c_size_t * len(view.shape))(*view.shape))
        for view in views])


def _is_torch(array: Any) -> bool:
    return type(array).__module__.split(".")[0] == "torch" and hasattr(array, "detach")


def load(path: Union[str, os.PathLike], threads: Optional[int] = None) -> CompiledNetwork:
    """A library of `bayloom.compile`. Raises InputError if it is none, MachineError where this
    processor cannot run it."""
    return CompiledNetwork(path, threads)


# What onnxruntime calls the types.
_ONNX_TYPES = {"float32": "float", "float64": "double"}


@dataclass(frozen=True)
class NodeArg:
    """An input or output as onnxruntime describes it."""

    name: str
    shape: list
    type: str


class Session:
    """A model with the interface of onnxruntime's InferenceSession.

        session = bayloom.Session("resnet18.onnx")
        scores, = session.run(None, {"image": image})

    The model is compiled first, with what `tune` found (`db`, default MODEL.db) and else with
    programs that an estimate chooses; that takes seconds. A library of `bayloom.compile` is
    loaded. `threads`, `dims`, `bounds`, `shapes`, `freeze` and `effort` are as for
    `bayloom.compile`;
    `providers` is not looked at.
    """

    def __init__(self, path: Union[str, os.PathLike], providers: Any = None, *,
                 db: Union[str, os.PathLike, None] = None, threads: Optional[int] = None,
                 dims: Optional[Mapping] = None, bounds: Optional[Mapping] = None,
                 shapes: Optional[Mapping] = None, freeze: Optional[Mapping] = None,
                 effort: Optional[str] = None):
        if os.fspath(path).endswith(".so"):
            self._network = CompiledNetwork(path, threads)
            return
        # The library stays loaded when its file is gone.
        with tempfile.TemporaryDirectory(prefix="bayloom-") as folder:
            library = commands.compile(path, folder, db=db, threads=threads, dims=dims,
                                       bounds=bounds, shapes=shapes, freeze=freeze, effort=effort)
            self._network = CompiledNetwork(library, threads)

    def get_inputs(self) -> list:
        return [_node_arg(tensor) for tensor in self._network.inputs]

    def get_outputs(self) -> list:
        return [_node_arg(tensor) for tensor in self._network.outputs]

    def get_providers(self) -> list:
        return ["BayloomExecutionProvider"]

    def run(self, output_names: Optional[Sequence[str]], input_feed: Mapping[str, Any],
            run_options: Any = None) -> list:
        """The outputs of these names, of all for None, in that order."""
        result = self._network(**input_feed)
        names = [tensor.name for tensor in self._network.outputs]
        by_name = dict(zip(names, result if len(names) > 1 else [result]))
        unknown = [name for name in output_names or () if name not in by_name]
        if unknown:
            raise InputError(f"there is no output '{unknown[0]}'; there are {', '.join(names)}")
        return [by_name[name] for name in output_names or names]


def _node_arg(tensor: Tensor) -> NodeArg:
    return NodeArg(tensor.name, list(tensor.shape),
                   f"tensor({_ONNX_TYPES.get(tensor.dtype, tensor.dtype)})")
