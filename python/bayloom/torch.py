# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""torch.compile(model, backend="bayloom"): inference by compiled networks; needs torch with its
exporter to ONNX.

    model = torch.compile(model.eval(), backend="bayloom", options={"threads": 1})
    with torch.no_grad():
        scores = model(image)

Each graph that torch captures is compiled: for the shapes that it has, or, where torch says that a
size differs from call to call (dynamic=True, or a second size was seen), for all sizes up to a
largest one. What it writes to its inputs and buffers is written after the network has computed it,
and results that share memory with inputs do so. Operators that cannot be compiled are left to torch,
with a warning, and the rest is compiled around them. Parameters become constants: a graph whose
parameters were changed afterwards is left to torch, and so is a call that needs gradients.
"""

import warnings
from typing import Any, Callable, Mapping, Optional, Sequence

import torch

from .torch_constants import Constants
from .torch_export import exportable
from .torch_graph import FunctionalGraph, LeftToTorch, first_line
from .torch_network import Network
from .torch_regions import Regions

_OPTIONS = {"db", "effort", "largest", "threads"}


def backend(graph: torch.fx.GraphModule, inputs: Sequence[Any], *,
            options: Optional[Mapping[str, Any]] = None, **_: Any) -> Callable:
    """A backend of torch.compile. `options` are `db`, `effort` and `threads` of
    `bayloom.compile`, and `largest`: how large sizes that differ from call to call can be, until
    one is larger (default: twice the first one, as a power of two)."""
    options = dict(options or {})
    if unknown := set(options) - _OPTIONS:
        raise ValueError(f"the backend 'bayloom' has no option '{sorted(unknown)[0]}'; there are "
                         + ", ".join(sorted(_OPTIONS)))
    try:
        _check(inputs)
        return _compiled(graph, inputs, options)
    except LeftToTorch as why:
        reason = str(why)
    except torch._dynamo.exc.RestartAnalysis:  # torch captures the graph again
        raise
    except Exception as error:  # of torch, of its exporter or of the program: torch goes on
        reason = first_line(error)
    warnings.warn(f"bayloom leaves a graph to torch: {reason}", stacklevel=2)
    return graph.forward


def _compiled(graph: torch.fx.GraphModule, inputs: Sequence[Any], options: dict) -> Callable:
    source = exportable(graph)
    functional = FunctionalGraph(source, inputs)
    constants = Constants({i: x for i, x in enumerate(inputs)
                           if _is_constant(x) and i not in functional.written})
    functional.network = _network(source, functional, inputs, constants, options)

    def run(*given: Any) -> Any:
        if not constants.hold(given) or torch.is_grad_enabled() and any(map(_needs_gradient, given)):
            return graph(*given)
        try:
            return functional(*given)
        except LeftToTorch as why:  # a larger size cannot be compiled
            warnings.warn(f"bayloom leaves a call to torch: {why}", stacklevel=2)
            return graph(*given)

    return run


def _network(source: torch.fx.GraphModule, functional: FunctionalGraph, inputs: Sequence[Any],
             constants: Constants, options: dict) -> Callable:
    """One network, or several with what is left to torch between them."""
    try:
        if not functional.is_whole:
            raise LeftToTorch("torch has to compute a part of it")
        return Network(functional.part(functional.computed),
                       [node.meta["val"] for node in functional.computed], inputs,
                       constants.tensors, options,
                       source if functional.is_pure and not _has_open_floats(source) else None)
    except LeftToTorch as why:
        regions = Regions(functional, why, inputs, constants, options)
        if regions.notice:
            warnings.warn(f"bayloom leaves {regions.notice}", stacklevel=4)
        return regions


def _has_open_floats(source: torch.fx.GraphModule) -> bool:
    """Whether it computes with floats that torch takes for dynamic, such as math.pi: functions of
    Python's numbers, for which ONNX has nothing. In a functional graph they are tensors."""
    return any(isinstance(node.meta.get("example_value"), torch.SymFloat)
               for node in source.graph.nodes)


def _is_constant(value: Any) -> bool:
    """Whether it is a parameter or a buffer of the model."""
    return isinstance(value, torch.nn.Parameter) or hasattr(value, "_dynamo_static_input_type")


def _needs_gradient(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def _check(inputs: Sequence[Any]) -> None:
    """Raises LeftToTorch for inputs of kinds that no network takes."""
    for value in inputs:
        if isinstance(value, torch.SymInt):
            continue
        if not isinstance(value, torch.Tensor):
            raise LeftToTorch(f"an input is no tensor but {type(value).__name__}")
        if type(value) not in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer):
            raise LeftToTorch(f"an input is a {type(value).__name__}")
        if value.device.type != "cpu" or value.layout != torch.strided or value.is_quantized:
            raise LeftToTorch(f"a tensor is on {value.device}" if value.device.type != "cpu" else
                              f"a tensor is quantized or of layout {value.layout}")
    if torch.is_grad_enabled() and any(map(_needs_gradient, inputs)):
        raise LeftToTorch("gradients may be needed: call the model under torch.no_grad()")
