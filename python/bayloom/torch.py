# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""torch.compile(model, backend="bayloom"): inference by compiled networks; needs torch with its
exporter to ONNX.

    model = torch.compile(model.eval(), backend="bayloom", options={"threads": 1})
    with torch.no_grad():
        scores = model(image)

Each graph that torch captures is exported and compiled for the shapes that it has; one that cannot
be is left to torch, with a warning. Parameters become constants: a graph whose parameters were
changed afterwards is left to torch, too, and so is a call that needs gradients.
"""

import os
import tempfile
import warnings
from typing import Any, Callable, Mapping, Optional, Sequence

import torch

from .commands import compile as compile_network
from .compiled import load

_OPTIONS = {"db", "effort", "threads"}


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


def backend(graph: torch.fx.GraphModule, inputs: Sequence[Any], *,
            options: Optional[Mapping[str, Any]] = None, **_: Any) -> Callable:
    """A backend of torch.compile. `options` are `db`, `effort` and `threads` of
    `bayloom.compile`."""
    options = dict(options or {})
    if unknown := set(options) - _OPTIONS:
        raise ValueError(f"the backend 'bayloom' has no option '{sorted(unknown)[0]}'; there are "
                         + ", ".join(sorted(_OPTIONS)))
    refusal = _refusal(graph, inputs)
    if refusal is not None:
        return _left_to_torch(graph, refusal)
    free = [i for i, x in enumerate(inputs) if not _is_constant(x)]
    try:
        network = _compile(_WithConstants(graph, inputs, free), [inputs[i] for i in free], options)
    except Exception as error:  # of the exporter, which has no types of its own, or of the program
        said = [*str(error).strip().splitlines(), ""][0]
        return _left_to_torch(graph, f"{type(error).__name__}: {said}")
    constants = [x for x in inputs if _is_constant(x)]
    versions = [x._version for x in constants]

    def run(*given: Any) -> Any:
        if ([x._version for x in constants] != versions
                or torch.is_grad_enabled() and any(_needs_gradient(x) for x in given)):
            return graph(*given)
        results = network(*[given[i] for i in free])
        return tuple(results) if isinstance(results, list) else (results,)

    return run


def _compile(module: torch.nn.Module, inputs: list, options: dict) -> Any:
    with tempfile.TemporaryDirectory(prefix="bayloom-") as folder:
        model = os.path.join(folder, "graph.onnx")
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            torch.onnx.export(module.eval(), tuple(inputs), model, dynamo=True, verbose=False)
        # The library stays loaded when its file is gone.
        return load(compile_network(model, folder, **options), options.get("threads"))


def _is_constant(value: Any) -> bool:
    """Whether it is a parameter or a buffer of the model."""
    return isinstance(value, torch.nn.Parameter) or hasattr(value, "_dynamo_static_input_type")


def _needs_gradient(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def _refusal(graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Optional[str]:
    """Why the graph is left to torch; None if it may be compiled."""
    for value in inputs:
        if not isinstance(value, torch.Tensor):
            return "an input is no tensor, or its shape is not fixed (dynamic=False)"
        if value.device.type != "cpu":
            return f"a tensor is on {value.device}"
    if torch.is_grad_enabled() and any(_needs_gradient(value) for value in inputs):
        return "gradients may be needed: call the model under torch.no_grad()"
    if all(_is_constant(value) for value in inputs):
        return "it has no inputs"
    output = next(node for node in graph.graph.nodes if node.op == "output")
    returned = output.args[0]
    if (not isinstance(returned, (tuple, list)) or len(set(returned)) < len(returned)
            or not all(isinstance(node, torch.fx.Node) and node.op != "placeholder"
                       for node in returned)):
        return "it returns something else than new tensors"
    return None


def _left_to_torch(graph: torch.fx.GraphModule, why: str) -> Callable:
    warnings.warn(f"bayloom leaves a graph to torch: {why}", stacklevel=2)
    return graph.forward
