# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Networks compiled from graphs of torch."""

import os
from typing import Any, Callable, Sequence

import torch

from ._core import InputError
from .commands import compile as compile_model
from .compiled import load
from .torch_constants import Constants
from .torch_export import export
from .torch_graph import FunctionalGraph, LeftToTorch
from .torch_libraries import kept_library, key_of

# A wrong result is off by about itself. Sums in another order, and weights rounded to another place
# by a fast algorithm, are not.
_TOLERANCE, _HALF_TOLERANCE = 1e-3, 5e-2
_DIFFERENT_SHARE = 0.01  # of whole numbers and truth values, which may lie on an edge
_HALVES = (torch.float16, torch.bfloat16)


class _WithConstants(torch.nn.Module):
    """A graph of which some inputs are fixed."""

    def __init__(self, graph: torch.fx.GraphModule, inputs: Sequence[Any], free: Sequence[int]):
        super().__init__()
        self._graph, self._free, self._count = graph, list(free), len(inputs)
        for i, value in enumerate(inputs):
            if i not in self._free:
                self.register_buffer(f"input{i}", value.detach())

    def forward(self, *given: Any) -> Any:
        values = dict(zip(self._free, given))
        return self._graph(*[values[i] if i in values else getattr(self, f"input{i}")
                             for i in range(self._count)])


def compile_network(source: torch.fx.GraphModule, functional: FunctionalGraph,
                    inputs: Sequence[torch.Tensor], constants: Constants,
                    options: dict) -> Callable[[Sequence[torch.Tensor]], list]:
    """A function from all inputs to the results `functional.computed`, by a network that has the
    `constants`. Of `source`, the graph before it was made functional, better networks are exported.
    Raises LeftToTorch, also where the network does not compute what torch does from `inputs`."""
    part = functional.part(functional.computed)
    used = [i for i, node in enumerate(n for n in part.graph.nodes if n.op == "placeholder")
            if node.users]
    free = [i for i in used if i not in constants.tensors]
    if not free:
        raise LeftToTorch("it computes nothing from inputs")
    module = _WithConstants(source if functional.is_pure else part, inputs, free)
    given = [inputs[i].detach() for i in free]

    def build(folder: str, name: str) -> str:
        model = os.path.join(folder, name + ".onnx")
        export(module, given, model)
        try:
            return compile_model(model, folder, name=name, **options)
        except InputError as error:
            raise LeftToTorch(str(error).removeprefix(f"{model}: ")) from error

    key = key_of(part, {i: x for i, x in constants.tensors.items() if i in used}, options)
    with kept_library(key, build) as library:
        network = load(library, options.get("threads"))
    expected = [node.meta["val"] for node in functional.computed]
    if ([(str(x.dtype), tuple(x.shape)) for x in expected]
            != [(f"torch.{x.dtype}", x.shape) for x in network.outputs]):
        raise LeftToTorch("the exported model returns other tensors")
    permuted = [(i, x.shape, x.stride()) for i, x in enumerate(expected) if not x.is_contiguous()]

    def run(args: Sequence[torch.Tensor]) -> list:
        results = network(*[args[i] for i in free])
        results = results if isinstance(results, list) else [results]
        for i, shape, strides in permuted:  # as torch has them in memory
            results[i] = torch.empty_strided(shape, strides, dtype=results[i].dtype).copy_(
                results[i])
        return results

    _check(part, [x.detach() for x in inputs], run)
    return run


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
