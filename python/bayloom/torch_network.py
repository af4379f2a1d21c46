# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Networks compiled from graphs of torch."""

import os
import re
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple

import torch

from ._core import InputError
from .commands import compile as compile_model
from .compiled import load
from .torch_export import export
from .torch_graph import LeftToTorch, example
from .torch_libraries import kept_library, key_of
from .torch_sizes import OpenSizes, Range, Shape

# A wrong result is off by about itself. Sums in another order, and weights rounded to another place
# by a fast algorithm, are not.
_TOLERANCE, _HALF_TOLERANCE = 1e-3, 5e-2
_DIFFERENT_SHARE = 0.01  # of whole numbers and truth values, which may lie on an edge
_HALVES = (torch.float16, torch.bfloat16)
_ADVICE = ("; torch.compile(..., dynamic=False) compiles each size of its own, "
           "torch._dynamo.mark_static(tensor, dimension) keeps those of one tensor")


class _WithConstants(torch.nn.Module):
    """A graph of which some inputs are fixed, and some are sizes of the others."""

    def __init__(self, graph: torch.fx.GraphModule, inputs: Sequence[Any], free: Sequence[int],
                 sizes: Mapping[int, Tuple[int, int]]):
        super().__init__()
        self.computed, self._free, self._count = graph, list(free), len(inputs)
        self._sizes = dict(sizes)
        for i, value in enumerate(inputs):
            if not isinstance(value, torch.Tensor):  # nothing depends on it that is not in `sizes`
                setattr(self, f"input{i}", example(value))
            elif i not in self._free:
                self.register_buffer(f"input{i}", value.detach())

    def forward(self, *given: Any) -> Any:
        values = dict(zip(self._free, given))
        values.update({i: values[j].shape[d] for i, (j, d) in self._sizes.items()})
        return self.computed(*[values[i] if i in values else getattr(self, f"input{i}")
                             for i in range(self._count)])


class Network:
    """A function from all inputs to the results of `part`, a graph without side effects, by a library
    that has the `constants`, inputs by their places. `results` are as torch has them while it captures
    the graph. Of `source`, the graph before it was made functional, better networks are exported.

    Where sizes differ from call to call, the library is for a range of them (OpenSizes.ranges); a
    call that has a larger one has it compiled again.

    Raises LeftToTorch, also where the network does not compute what torch does from `inputs`.
    """

    def __init__(self, part: torch.fx.GraphModule, results: Sequence[torch.Tensor],
                 inputs: Sequence[Any], constants: Mapping[int, torch.Tensor],
                 options: Mapping[str, Any], source: Optional[torch.fx.GraphModule] = None):
        self._part = part
        nodes = [node for node in self._part.graph.nodes if node.op == "placeholder"]
        values = [node.meta["val"] for node in nodes]
        used = [i for i, node in enumerate(nodes) if node.users]
        self._fixed = {i: x for i, x in constants.items() if i in used}
        self._free = [i for i in used if i not in self._fixed
                      and isinstance(values[i], torch.Tensor)]
        if not self._free:
            raise LeftToTorch("it computes nothing from inputs")
        self._options = dict(options)
        self._sizes = OpenSizes(values, [i for i in used if i not in self._fixed],
                                self._options.pop("largest", None))
        self._shapes = [[_name(size) for size in values[i].shape] for i in self._free]
        self._results = [(x.dtype, Shape(x.shape), Shape(x.stride())) for x in results]
        self._module = _WithConstants(
            source or self._part, inputs, self._free,
            {i: self._sizes.places[_name(x)] for i, x in enumerate(values)
             if i in used and isinstance(x, torch.SymInt)})
        self._ranges: Dict[str, Range] = {}
        examples = [x.detach() if isinstance(x, torch.Tensor) else example(x) for x in inputs]
        self._compile(examples)
        _check(self._part, examples, self)

    def __call__(self, args: Sequence[Any]) -> list:
        lengths = self._sizes.of(args)
        if any(length > self._ranges[name][1] for name, length in lengths.items()):
            self._compile(args)
        results = [torch.empty_strided(shape.at(lengths), strides.at(lengths), dtype=dtype)
                   for dtype, shape, strides in self._results]
        dense = [x if x.is_contiguous() else torch.empty(x.shape, dtype=x.dtype) for x in results]
        self._library(*[args[i] for i in self._free], out=dense)
        return [x if x is y else x.copy_(y) for x, y in zip(results, dense)]

    def _compile(self, args: Sequence[Any]) -> None:
        """For lengths as in a call with these inputs, and others."""
        ranges = self._sizes.ranges(self._sizes.of(args), self._ranges)

        def build(folder: str, name: str) -> str:
            model = os.path.join(folder, name + ".onnx")
            operators = export(self._module, [args[i].detach() for i in self._free], self._shapes,
                               model)
            dims = {symbol: f"{first}..{last}" for symbol, (first, last) in ranges.items()}
            try:
                return compile_model(model, folder, name=name, dims=dims, **self._options)
            except InputError as error:
                reason = str(error).removeprefix(f"{model}: ")
                node = re.match(r"node '([^']+)'", reason)
                raise LeftToTorch(reason + _ADVICE * bool(ranges),
                                  operators.get(node and node[1])) from error

        key = key_of(self._part, self._fixed, {**self._options, "dims": ranges})
        with kept_library(key, build) as path:
            library = load(path, self._options.get("threads"))
        largest = {symbol: last for symbol, (_, last) in ranges.items()}
        expected = [(f"{dtype}", shape.at(largest)) for dtype, shape, _ in self._results]
        if [(f"torch.{x.dtype}", x.largest) for x in library.outputs] != expected:
            raise LeftToTorch("the exported model returns other tensors")
        self._library, self._ranges = library, ranges


def _name(size: Any) -> Any:
    """The symbol that an open size is, or how it is computed from symbols."""
    return str(size.node.expr) if isinstance(size, torch.SymInt) else size


def _check(part: torch.fx.GraphModule, inputs: Sequence[torch.Tensor], run: Callable) -> None:
    """Raises LeftToTorch unless the network computes what torch does."""
    with torch.no_grad(), torch.autocast("cpu", enabled=False):
        expected = part(*inputs)
    types = {node.meta["val"].dtype for node in part.graph.nodes
             if isinstance(node.meta.get("val"), torch.Tensor)}
    tolerance = _HALF_TOLERANCE if types.intersection(_HALVES) else _TOLERANCE
    for ours, theirs in zip(run(inputs), expected):
        error = _difference(ours.double(), theirs.double(), theirs.dtype.is_floating_point)
        if not error <= tolerance:
            raise LeftToTorch(f"the network's results differ from those of torch ({error:.1e} of "
                              "their size); please report this")


def _difference(a: torch.Tensor, b: torch.Tensor, is_real: bool) -> float:
    """Of two tensors, relative to the size of the second."""
    same = (a == b) | (a.isnan() & b.isnan())
    if same.all() or not is_real and (~same).double().mean() <= _DIFFERENT_SHARE:
        return 0
    return float((a - b)[~same].norm() / b[b.isfinite()].norm())
