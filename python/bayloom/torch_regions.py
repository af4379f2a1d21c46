# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Graphs of torch as several networks, with what no network computes between them."""

import operator
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Sequence, Set

import torch

from .torch_constants import Constants
from .torch_export import has_translation
from .torch_graph import FunctionalGraph, LeftToTorch, draws, example, is_tensor
from .torch_network import Network

_FEWEST = 2  # operators of a network: fewer are not worth a call


class _Group(NamedTuple):
    """Nodes that run together: by a network, or one after the other by torch."""

    level: int
    is_left: bool
    nodes: List[torch.fx.Node]


class Regions:
    """A function from all inputs to the results `functional.computed`, as Network is one, for a graph
    that no single network computes, which failed because of `why`.

    Nodes that are left to torch divide the others into regions, and each of these is a network.
    Where one cannot be compiled because of an operator, all of that operator in it are left to torch
    and divide it; where for another reason, it is left. Raises LeftToTorch where nothing is compiled.
    """

    def __init__(self, functional: FunctionalGraph, why: LeftToTorch, inputs: Sequence[Any],
                 constants: Constants, options: Mapping[str, Any]):
        self._functional, self._constants, self._options = functional, constants, options
        self._nodes = _needed(functional.computed, lambda node: False)
        self._operators = [node for node in self._nodes if _is_operator(node)]
        self._left = {node: self._reason_of(node, why) for node in self._operators}
        self._left = {node: reason for node, reason in self._left.items() if reason is not None}
        self._copied: Set[torch.fx.Node] = set()
        if not self._left and functional.is_whole:
            raise why
        values = _values(functional.graph, inputs)
        self._networks: Dict[tuple, _Called] = {}  # by the nodes of their regions
        groups = self._groups()
        while not all(self._stays(group, values) for group in groups):
            groups = self._groups()
        if all(group.is_left for group in groups):
            raise LeftToTorch(self._reasons() or why.reason)
        self._run = self._outer(groups)

    def __call__(self, args: Sequence[Any]) -> Sequence[torch.Tensor]:
        with torch._C._DisableAutocast():  # what it converts is converted in the graph
            return self._run(*args)

    @property
    def notice(self) -> str:
        """What is left to torch, and why; empty if that is only what makes views."""
        reasons = self._reasons()
        return reasons and (f"{len(self._left)} of {len(self._operators)} operators to torch: "
                            f"{reasons}")

    def _reasons(self) -> str:
        reasons: Dict[str, Dict[str, None]] = {}
        for node, reason in self._left.items():
            if reason:
                reasons.setdefault(reason, {})[str(node.target)] = None
        return "; ".join(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())

    def _reason_of(self, node: torch.fx.Node, why: LeftToTorch) -> Any:
        """None for an operator that is not left to torch from the beginning."""
        if node in self._functional.shared_views:
            return ""
        if draws(node, self._functional.graph):
            return "draws random numbers"
        if str(node.target) == why.operator:
            return why.reason
        return None if has_translation(node.target) else "ONNX has no operator for it"

    def _groups(self) -> List[_Group]:
        """Of all operators, in an order in which they can run. A node's level is how often a path to
        it changes between what is left to torch and what is not."""
        self._copied = self._find_copied()
        levels: Dict[torch.fx.Node, int] = {}
        groups: Dict[tuple, _Group] = {}
        drawn = 0  # random numbers are drawn in the order of the graph
        for node in self._nodes:
            if node.op != "call_function" or node in self._copied:
                continue
            is_left = self._is_left(node)
            level = max((levels[source] + (self._is_left(source) != is_left)
                         for source in _sources(node, self._copied) if source in levels), default=0)
            if is_left and draws(node, self._functional.graph):
                level = drawn = max(level, drawn)
            levels[node] = level
            groups.setdefault((level, is_left), _Group(level, is_left, [])).nodes.append(node)
        return sorted(groups.values(), key=lambda group: group.level)

    def _find_copied(self) -> Set[torch.fx.Node]:
        """What each group that reads it has for itself: numbers, attributes, and what is computed from
        constants."""
        constants = {node for i, node in enumerate(self._functional.placeholders)
                     if i in self._constants.tensors}
        copied: Set[torch.fx.Node] = set()
        for node in self._nodes:
            if node.op == "get_attr" or _is_number(node) or (
                    node.op == "call_function" and not self._is_left(node)
                    and node not in self._functional.computed
                    and all(source in copied or source in constants
                            for source in node.all_input_nodes)):
                copied.add(node)
        return copied

    def _is_left(self, node: torch.fx.Node) -> bool:
        return _origin(node) in self._left

    def _stays(self, group: _Group, values: Mapping[torch.fx.Node, Any]) -> bool:
        """Whether the group is left to torch or has a network; else more is left to torch now."""
        if group.is_left or tuple(group.nodes) in self._networks:
            return True
        operators = list(filter(_is_operator, group.nodes))
        if len(operators) < _FEWEST:
            return self._leave(operators, "")
        region = _Region(self._functional, group.nodes, self._copied)
        places = {node: i for i, node in enumerate(self._functional.placeholders)}
        constants = {i: self._constants.tensors[places[node]]
                     for i, node in enumerate(region.inputs)
                     if places.get(node) in self._constants.tensors}
        try:
            network = Network(region.module, [node.meta["val"] for node in region.results],
                              [values[node] for node in region.inputs], constants, self._options)
        except LeftToTorch as why:
            return self._leave([n for n in operators if str(n.target) == why.operator] or operators,
                               why.reason)
        self._networks[tuple(group.nodes)] = _Called(network, region)
        return True

    def _leave(self, nodes: Iterable[torch.fx.Node], reason: str) -> bool:
        self._left.update(dict.fromkeys(nodes, reason))
        return False

    def _outer(self, groups: Sequence[_Group]) -> torch.fx.GraphModule:
        """The graph with each region as one node."""
        graph, copies = torch.fx.Graph(), {}
        modules: Dict[str, Any] = {}

        def copy(node: torch.fx.Node) -> torch.fx.Node:
            if node not in copies:
                copies[node] = graph.node_copy(node, copy)
            return copies[node]

        for node in self._functional.placeholders:
            copy(node)
        for group in groups:
            if group.is_left:
                for node in group.nodes:
                    copy(node)
                continue
            called = self._networks[tuple(group.nodes)]
            modules[f"region{len(modules)}"] = called
            results = graph.create_node("call_module", f"region{len(modules) - 1}",
                                        tuple(map(copy, called.region.inputs)))
            for i, node in enumerate(called.region.results):
                copies[node] = graph.call_function(operator.getitem, (results, i))
        graph.output(tuple(map(copy, self._functional.computed)))
        modules.update({node.target: getattr(self._functional.graph, node.target)
                        for node in graph.nodes if node.op == "get_attr"})
        return torch.fx.GraphModule(modules, graph)


class _Region:
    """Nodes of a graph as one of their own, from `inputs`, nodes outside of it, to `results`, those
    that are read outside; `copied` are those that it can have for itself."""

    def __init__(self, functional: FunctionalGraph, nodes: Sequence[torch.fx.Node],
                 copied: Set[torch.fx.Node]):
        inside = copied.union(nodes)
        self.results = [node for node in nodes if is_tensor(node) and (
            node in functional.computed or not inside.issuperset(_readers(node, copied)))]
        graph, copies = torch.fx.Graph(), {}
        needed = _needed(self.results, lambda node: node not in inside)
        self.inputs = [node for node in needed if node not in inside]
        for node in self.inputs:
            copies[node] = graph.placeholder(node.name)
            copies[node].meta = dict(node.meta)
        for node in needed:
            if node not in copies:
                copies[node] = graph.node_copy(node, lambda n: copies[n])
        graph.output(tuple(copies[node] for node in self.results))
        self.module = torch.fx.GraphModule(functional.graph, graph)


class _Called(torch.nn.Module):
    """The network of a region."""

    def __init__(self, network: Network, region: _Region):
        super().__init__()
        self.network, self.region = network, region

    def forward(self, *args: Any) -> list:
        return self.network(args)


def _values(graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Dict[torch.fx.Node, Any]:
    """Of all nodes, as torch computes them. Leaves its random numbers as they are."""
    run = torch.fx.Interpreter(graph, garbage_collect_values=False)
    with torch.no_grad(), torch._C._DisableAutocast(), torch.random.fork_rng(devices=[]):
        run.run(*[x.detach() if isinstance(x, torch.Tensor) else example(x) for x in inputs])
    return run.env


def _needed(results: Iterable[torch.fx.Node],
            is_input: Callable[[torch.fx.Node], bool]) -> List[torch.fx.Node]:
    """What some nodes are computed from, and these nodes, in the graph's order; nothing beyond
    inputs."""
    found: Dict[torch.fx.Node, None] = {}
    pending = list(results)
    while pending:
        node = pending.pop()
        if node not in found:
            found[node] = None
            pending += [] if is_input(node) else node.all_input_nodes
    return sorted(found)


def _is_number(node: torch.fx.Node) -> bool:
    return node.op == "call_function" and isinstance(
        node.meta.get("val"), (bool, int, float, torch.SymBool, torch.SymInt, torch.SymFloat))


def _is_operator(node: torch.fx.Node) -> bool:
    return (node.op == "call_function" and node.target is not operator.getitem
            and not _is_number(node))


def _origin(node: torch.fx.Node) -> torch.fx.Node:
    """What a node is one of the results of."""
    while node.target is operator.getitem:
        node = node.args[0]
    return node


def _sources(node: torch.fx.Node, copied: Set[torch.fx.Node]) -> Iterable[torch.fx.Node]:
    """What a node reads, through nodes that are copied."""
    for source in node.all_input_nodes:
        yield from _sources(source, copied) if source in copied else (source,)


def _readers(node: torch.fx.Node, copied: Set[torch.fx.Node]) -> Iterable[torch.fx.Node]:
    for user in node.users:
        yield from _readers(user, copied) if user in copied else (user,)
