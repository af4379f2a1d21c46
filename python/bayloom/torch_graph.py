# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""What a graph of torch computes, writes and shares."""

import operator
from typing import Any, Callable, Optional, Sequence

import torch
from functorch.compile import make_boxed_func
from torch._decomp import get_decompositions
from torch._dynamo.backends.common import aot_autograd
from torch._subclasses.fake_tensor import FakeTensor

# Of the two results of batch norm in training that are running statistics, the exporter makes others.
_DECOMPOSITIONS = get_decompositions([torch.ops.aten._native_batch_norm_legit_functional])


class LeftToTorch(Exception):
    """Why a graph is left to torch, in words, and because of which operator, as torch names it."""

    def __init__(self, reason: str, operator: Optional[str] = None):
        super().__init__(f"{operator}: {reason}" if operator else reason)
        self.reason, self.operator = reason, operator


class FunctionalGraph:
    """A graph as one without side effects, around which torch carries out what the original writes
    to its inputs, and makes those results that are sizes, inputs or views of inputs.

    `computed` are the other results, of which `network` is asked: the nodes of `graph` whose values
    the network gives, from all inputs. A call is one of the original graph.

    `is_whole` says whether one network can give them: none draws random numbers, and none gives
    results that share memory, for which `shared_views` have to be carried out by torch. Raises
    LeftToTorch for a graph that cannot be made functional.
    """

    def __init__(self, source: torch.fx.GraphModule, inputs: Sequence[torch.Tensor]):
        self.network: Callable[[Sequence[torch.Tensor]], list] = _not_compiled
        self.graph: Optional[torch.fx.GraphModule] = None

        def compiler(graph: torch.fx.GraphModule, _: Any) -> Callable:
            self.graph = graph
            self._metadata = torch._guards.TracingContext.get().fw_metadata
            return make_boxed_func(self._run)

        self._call = aot_autograd(fw_compiler=compiler, inference_compiler=compiler,
                                  decompositions=_DECOMPOSITIONS)(source, list(inputs))
        self._check(inputs)
        infos = self._metadata.input_info
        self.written = {i for i, info in enumerate(infos) if info.mutates_data}
        self._results = next(n for n in self.graph.graph.nodes if n.op == "output").args[0]
        memory = {_memory(node) for node in self.placeholders}
        nodes = list(dict.fromkeys(node for node in self._results if node is not None))
        self.computed = [node for node in nodes
                         if is_tensor(node) and _memory(node) not in memory]
        self.shared_views = _shared_views(self.computed, self.graph)
        self.is_whole = not self.shared_views and not any(
            draws(node, self.graph) for node in self.graph.graph.nodes)
        self._views = [node for node in nodes if node not in self.computed]
        self._view_graph = self.part(self._views)
        # Whether the network gives what the original returns, and that is all there is to do.
        self.is_pure = (not self.written and self.computed == list(self._results)
                        and len(self.computed) == len(self._metadata.output_info))

    def __call__(self, *given: torch.Tensor) -> Any:
        return self.network(given) if self.is_pure else self._call(*given)

    @property
    def placeholders(self) -> list:
        return [node for node in self.graph.graph.nodes if node.op == "placeholder"]

    def part(self, results: Sequence[torch.fx.Node]) -> torch.fx.GraphModule:
        """The part of the graph that gives some results."""
        graph = torch.fx.Graph()
        copies: dict = {}
        graph.graph_copy(self.graph.graph, copies)
        graph.output(tuple(copies[node] for node in results))
        graph.eliminate_dead_code()
        return torch.fx.GraphModule(self.graph, graph)

    def _run(self, *args: torch.Tensor) -> list:
        values = dict(zip(self.computed, self.network(args)))
        if self._views:
            values.update(zip(self._views, self._view_graph(*args)))
        return [values.get(node) for node in self._results]

    def _check(self, inputs: Sequence[torch.Tensor]) -> None:
        if any(info.mutates_metadata for info in self._metadata.input_info):
            raise LeftToTorch("it changes the shape or the strides of an input")
        # With inputs that share memory, of which some are written to, torch makes others of them.
        if list(map(_form, (node.meta["val"] for node in self.placeholders))) != list(
                map(_form, inputs)):
            raise LeftToTorch("inputs share memory and are written to")
        results = next(n for n in self.graph.graph.nodes if n.op == "output").args[0]
        if not all(result is None or isinstance(result, torch.fx.Node)
                   and (is_tensor(result) or isinstance(result.meta.get("val"), torch.SymInt))
                   for result in results):
            raise LeftToTorch("it returns something else than tensors")


def draws(node: torch.fx.Node, module: torch.nn.Module) -> bool:
    """Whether the results of a node of the module's graph depend on random numbers."""
    if any(draws(inner, body) for body in _bodies(node, module) for inner in body.graph.nodes):
        return True
    if torch.Tag.nondeterministic_seeded not in getattr(node.target, "tags", ()):
        return False
    arguments = node.target._schema.arguments
    given = {**{a.name: a.default_value for a in arguments},
             **dict(zip((a.name for a in arguments), node.args)), **node.kwargs}
    return given.get("dropout_p") != 0  # attention draws for its dropout only


def _bodies(node: torch.fx.Node, module: torch.nn.Module) -> list:
    """Of a branch or a loop."""
    attributes = [getattr(module, source.target) for source in node.all_input_nodes
                  if source.op == "get_attr"]
    return [body for body in attributes if isinstance(body, torch.fx.GraphModule)]


def _shared_views(results: Sequence[torch.fx.Node], graph: torch.fx.GraphModule) -> set:
    """What makes results of a graph views of the memory that they share: all nodes with that memory
    but the first one."""
    views: set = set()
    memories = [_memory(node) for node in results]
    for memory in {memory for memory in memories if memories.count(memory) > 1}:
        for node in [n for n in graph.graph.nodes if is_tensor(n) and _memory(n) == memory][1:]:
            while node.target is operator.getitem:
                node = node.args[0]
            views.add(node)
    return views


def first_line(error: BaseException) -> str:
    """What an exception says, with its type."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def example(value: Any) -> Any:
    """A size in the call for which torch captured the graph."""
    return value.node.hint if isinstance(value, torch.SymInt) else value


def _form(value: Any) -> Any:
    """The type and the shape of a tensor, in that call."""
    if not isinstance(value, torch.Tensor):
        return type(value)
    return value.dtype, tuple(map(example, value.shape))


def is_tensor(node: torch.fx.Node) -> bool:
    return type(node.meta.get("val")) is FakeTensor


def _memory(node: torch.fx.Node) -> Optional[int]:
    value = node.meta["val"]
    return value.untyped_storage()._cdata if isinstance(value, torch.Tensor) else None


def _not_compiled(_: Sequence[torch.Tensor]) -> list:
    raise AssertionError("called before it was compiled")
