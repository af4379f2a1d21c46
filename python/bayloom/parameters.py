# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""The kinds of parameters, and what other libraries call the same."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Optional, Sequence

from ._core import InputError


class Parameter:
    """One dimension of a space.

    With `active_if`, a condition on other parameters in the language of constraints, it counts only
    where that holds, and is left out of the configurations elsewhere.

    The engine knows numbers, texts and lists of whole numbers; `encode` makes one of these from a
    value that a program uses, `decode` goes back.
    """

    def definition(self) -> dict:
        """The parameter as docs/scenarios.md describes it."""
        raise NotImplementedError

    def encode(self, value: Any) -> Any:
        return value

    def decode(self, value: Any) -> Any:
        return value

    def _with_options(self, definition: dict) -> dict:
        """Adds what all kinds can have."""
        if self.default is not None:
            definition["default"] = self.encode(self.default)
        if self.prior is not None:
            definition["prior"] = [float(weight) for weight in self.prior]
        if self.active_if is not None:
            definition["active_if"] = self.active_if
        return definition


def _scaled(definition: dict, log: bool) -> dict:
    if log:
        definition["scale"] = "log"
    return definition


@dataclass(frozen=True)
class Real(Parameter):
    """A real number from `low` to `high`. `log`: equal steps are equal factors."""

    low: float
    high: float
    log: bool = False
    default: Optional[float] = None
    prior: Optional[Sequence[float]] = None
    active_if: Optional[str] = None

    def definition(self) -> dict:
        return self._with_options(_scaled(
            {"type": "real", "range": [float(self.low), float(self.high)]}, self.log))

    def encode(self, value: Any) -> float:
        return float(value)


@dataclass(frozen=True)
class Integer(Parameter):
    """A whole number from `low` to `high`. `log`: equal steps are equal factors."""

    low: int
    high: int
    log: bool = False
    default: Optional[int] = None
    prior: Optional[Sequence[float]] = None
    active_if: Optional[str] = None

    def definition(self) -> dict:
        return self._with_options(_scaled(
            {"type": "integer", "range": [int(self.low), int(self.high)]}, self.log))

    def encode(self, value: Any) -> int:
        whole = int(value)
        if whole != value:
            raise InputError(f"{value!r} is not a whole number")
        return whole


@dataclass(frozen=True)
class Ordinal(Parameter):
    """One of some numbers, or of some texts in ascending order."""

    values: Sequence
    log: bool = False
    default: Any = None
    prior: Optional[Sequence[float]] = None
    active_if: Optional[str] = None

    def __post_init__(self):
        object.__setattr__(self, "values", _finite(self.values))
        if all(isinstance(value, (int, float)) for value in self.values):
            ascending = sorted(self.values)
            if list(self.values) not in (ascending, ascending[::-1]):
                raise InputError(f"the numbers {list(self.values)} are in no order: list them from "
                                 "the least to the greatest, or use bayloom.Categorical")
        object.__setattr__(self, "_given", {value: value for value in self.values})

    def definition(self) -> dict:
        return self._with_options(_scaled({"type": "ordinal", "values": list(self.values)},
                                          self.log))

    def encode(self, value: Any) -> Any:
        return _plain(value)

    def decode(self, value: Any) -> Any:
        return self._given.get(value, value)


@dataclass(frozen=True)
class Categorical(Parameter):
    """One of some values without an order: texts, truth values, numbers or None."""

    choices: Sequence
    default: Any = None
    prior: Optional[Sequence[float]] = None
    active_if: Optional[str] = None

    def __post_init__(self):
        object.__setattr__(self, "choices", _finite(self.choices))
        texts = [_text(choice) for choice in self.choices]
        object.__setattr__(self, "_given", dict(zip(texts, self.choices)))
        if len(self._given) < len(texts):
            raise InputError(f"the choices {list(self.choices)} read alike")

    def definition(self) -> dict:
        return self._with_options({"type": "categorical", "values": list(self._given)})

    def encode(self, value: Any) -> str:
        return _text(_plain(value))

    def decode(self, value: str) -> Any:
        return self._given.get(value, value)


@dataclass(frozen=True)
class Permutation(Parameter):
    """An order of the items 0 to `size` - 1, as a list."""

    size: int
    metric: str = "spearman"
    default: Optional[Sequence[int]] = None
    prior: Optional[Sequence[float]] = None
    active_if: Optional[str] = None

    def definition(self) -> dict:
        return self._with_options(
            {"type": "permutation", "size": int(self.size), "metric": self.metric})

    def encode(self, value: Any) -> list:
        return [int(item) for item in value]


@dataclass(frozen=True)
class Factorization(Parameter):
    """`parts` factors whose product is `extent`, outermost first, as a list."""

    extent: int
    parts: int
    max_innermost: Optional[int] = None
    default: Optional[Sequence[int]] = None
    prior: Optional[Sequence[float]] = None
    active_if: Optional[str] = None

    def definition(self) -> dict:
        definition = {"type": "factorization", "extent": int(self.extent), "parts": int(self.parts)}
        if self.max_innermost is not None:
            definition["max_innermost"] = int(self.max_innermost)
        return self._with_options(definition)

    def encode(self, value: Any) -> list:
        return [int(item) for item in value]


def _plain(value: Any) -> Any:
    """A scalar of NumPy as Python's own."""
    return value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value


def _finite(values: Iterable) -> tuple:
    """The values, of which none may be NaN or infinite."""
    plain = tuple(_plain(value) for value in values)
    for value in plain:
        if isinstance(value, float) and not math.isfinite(value):
            raise InputError(f"{value} is no value to choose; a text or None can stand for it")
    return plain


def _text(value: Any) -> str:
    """A choice as the engine has it. Truth values are 0 and 1 in constraints."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, (int, float)):
        return repr(value)
    raise InputError(f"{value!r} is no text, number, truth value or None")


def is_geometric(values: Sequence[float]) -> bool:
    """Whether they grow by a constant factor, as powers of two do."""
    values = sorted(values)
    return (len(values) >= 3 and values[0] > 0 and
            all(math.isclose(b / a, values[1] / values[0], rel_tol=1e-9)
                for a, b in zip(values, values[1:])))


def _listed(name: str, values: Iterable) -> Parameter:
    try:
        values = _finite(values)
    except InputError as error:
        raise InputError(f"parameter '{name}': {error}") from None
    if not values:
        raise InputError(f"parameter '{name}' has no values")
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return Ordinal(sorted(values), log=is_geometric(values))
    return Categorical(values)


def _stepped(low: float, high: float, step: float) -> list:
    return [low + i * step for i in range(int(math.floor((high - low) / step + 1e-9)) + 1)]


def _from_optuna(name: str, distribution: Any) -> Parameter:
    kind = type(distribution).__name__
    if kind == "CategoricalDistribution":
        return Categorical(distribution.choices)
    if kind == "IntDistribution":
        if distribution.step == 1:
            return Integer(distribution.low, distribution.high, log=distribution.log)
        return Ordinal(range(distribution.low, distribution.high + 1, distribution.step))
    if kind == "FloatDistribution":
        if distribution.low == distribution.high:
            return Ordinal([distribution.low])
        if distribution.step is None:
            return Real(distribution.low, distribution.high, log=distribution.log)
        return Ordinal(_stepped(distribution.low, distribution.high, distribution.step))
    raise InputError(f"parameter '{name}': {kind} of Optuna is not supported")


def as_parameter(name: str, given: Any) -> Parameter:
    """A parameter of this package, a distribution of Optuna, or a collection of values."""
    if isinstance(given, Parameter):
        return given
    if type(given).__module__.startswith("optuna."):
        return _from_optuna(name, given)
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping)):
        return _listed(name, given)
    raise InputError(f"parameter '{name}': expected bayloom.Integer or another kind, a "
                     f"distribution of Optuna, or a list of values; found {given!r}")
