# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Sizes that differ from call to call."""

import math
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple

import sympy
import torch
from torch.utils._sympy.printers import PythonPrinter

from .torch_graph import LeftToTorch

_MOST = 1 << 20  # a bound of torch above it is none

Lengths = Dict[str, int]
Range = Tuple[int, int]  # the smallest and the largest length


class Shape:
    """A tuple of sizes, of which some are computed from open ones."""

    def __init__(self, sizes: Sequence[Any]):
        code = "".join(f"{_expression(size)}," for size in sizes)
        self._code = compile(f"({code})", "<sizes>", "eval")

    def at(self, lengths: Lengths) -> Tuple[int, ...]:
        return eval(self._code, {"math": math}, lengths)  # what torch's printer wrote


class OpenSizes:
    """The open sizes of a graph: symbols of torch, each of them a dimension of an input.

    `values` are the inputs as torch has them while it captures the graph, `used` those of them, by
    their places, that the network reads. The largest length of each is the one that torch knows,
    else `largest`, if that is enough for a call, else the power of two from twice the length in it
    on. Raises LeftToTorch for a number that differs from call to call and is no dimension.
    """

    def __init__(self, values: Sequence[Any], used: Sequence[int], largest: Optional[int]):
        self.places: Dict[str, Tuple[int, int]] = {}  # of a symbol: input and dimension
        self._smallest: Lengths = {}
        self._largest: Lengths = {}  # where torch knows it
        self._option = largest
        symbols = []
        for i in used:
            value = values[i]
            sizes = [value] if isinstance(value, torch.SymInt) else value.shape
            for d, size in enumerate(sizes):
                if not isinstance(size, torch.SymInt):
                    continue
                symbols += sorted(map(str, size.node.expr.free_symbols))
                if value is not size and isinstance(size.node.expr, sympy.Symbol):
                    self._add(size, (i, d))
        for symbol in symbols:
            if symbol not in self.places:
                raise LeftToTorch("a whole number differs from call to call, and is no size of an "
                                  "input; torch.compile(..., dynamic=False) compiles each one")

    def _add(self, size: torch.SymInt, place: Tuple[int, int]) -> None:
        symbol = str(size.node.expr)
        if symbol in self.places:
            return
        known = size.node.shape_env.var_to_range[size.node.expr]
        if known.upper.is_Integer and known.upper <= _MOST:
            self._largest[symbol] = int(known.upper)
        self.places[symbol] = place
        self._smallest[symbol] = int(known.lower)

    def of(self, given: Sequence[Any]) -> Lengths:
        """In a call with these inputs."""
        return {symbol: given[i].shape[d] for symbol, (i, d) in self.places.items()}

    def ranges(self, lengths: Lengths, known: Mapping[str, Range]) -> Dict[str, Range]:
        """What to compile for because of a call with `lengths`: of each, the smallest and the
        largest length. Ranges that are `known` and have the length stay."""
        return {symbol: known[symbol] if symbol in known and length <= known[symbol][1]
                else (self._smallest[symbol], self._end(symbol, length))
                for symbol, length in lengths.items()}

    def _end(self, symbol: str, length: int) -> int:
        for largest in (self._largest.get(symbol), self._option):
            if largest is not None and largest >= length:
                return largest
        return _next(2 * length)


def _next(length: int) -> int:
    """The power of two that is not below it."""
    return 1 << (length - 1).bit_length()


def _expression(size: Any) -> str:
    return PythonPrinter().doprint(size.node.expr) if isinstance(size, torch.SymInt) else str(size)
