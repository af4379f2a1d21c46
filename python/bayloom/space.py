# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""From what a user gives to a scenario of the engine."""

import inspect
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Callable, Iterable, Optional, Sequence, Union

from . import configspace
from ._core import InputError, Scenario
from .parameters import Parameter, as_parameter

Constraint = Union[str, Callable[..., bool]]


class Space:
    """Parameters by name, with the scenario that the engine made of them."""

    def __init__(self, scenario: Scenario, parameters: dict):
        self.scenario = scenario
        self._parameters = parameters

    def encode(self, params: Mapping) -> dict:
        """A configuration as the engine has it; None of a conditional parameter, unless it is one
        of its values, says that it is inactive. Raises InputError for a value that is none."""
        encoded = {}
        for name, value in params.items():
            if value is None and self._leaves_out_none(name):
                continue
            parameter = self._parameters.get(name)
            try:
                encoded[name] = value if parameter is None else parameter.encode(value)
            except (TypeError, ValueError) as error:
                raise InputError(f"parameter '{name}': {error}") from None
        return encoded

    def _leaves_out_none(self, name: str) -> bool:
        parameter = self._parameters.get(name)
        is_conditional = (type(parameter) is Parameter or  # of a scenario file, which knows
                          getattr(parameter, "active_if", None) is not None)
        return is_conditional and None not in getattr(parameter, "choices", ())

    def decode(self, values: dict) -> dict:
        """A configuration as the user's program has it."""
        return {name: self._parameters[name].decode(value) for name, value in values.items()}


def make_space(given: Any, constraints: Iterable[Constraint] = (), *,
               active_if: Optional[Mapping[str, str]] = None,
               name: Optional[str] = None, objective: Optional[str] = None,
               direction: Optional[str] = None, objectives: Optional[Sequence[str]] = None,
               directions: Optional[Sequence[str]] = None,
               thresholds: Optional[Mapping[str, float]] = None, optimizer: Optional[str] = None,
               options: Optional[dict] = None, seed: Optional[int] = None) -> Space:
    """A space of anything that `Study` takes. Raises InputError."""
    if isinstance(constraints, str) or callable(constraints):
        constraints = [constraints]
    if (objectives or directions) and (objective or direction):
        raise InputError("objective and direction are for one objective, objectives and "
                         "directions for several")
    for each in directions or [direction]:
        if each not in (None, "minimize", "maximize"):
            raise InputError(f"direction is 'minimize' or 'maximize', not {each!r}")
    if isinstance(given, (str, os.PathLike)):
        if (list(constraints) or active_if or options or objective or direction or objectives
                or directions or thresholds):
            raise InputError("a scenario file says its constraints, its conditions, its objective "
                             "and the options of its optimizer itself")
        return _from_file(os.fspath(given), name, optimizer, seed)
    constraints, name = list(constraints), name or "study"
    if configspace.is_configspace(given):
        constraints = configspace.constraints_of(given) + constraints
        given = configspace.parameters_of(given)
    if not isinstance(given, Mapping):
        raise InputError("a space is a dict of parameters by name, a ConfigurationSpace of "
                         f"ConfigSpace, or the path of a scenario file; found {given!r}")
    parameters = {str(key): as_parameter(str(key), value) for key, value in given.items()}
    for key, condition in (active_if or {}).items():
        if key not in parameters:
            raise InputError(f"a condition is given for '{key}', which is no parameter")
        if getattr(parameters[key], "active_if", None) is not None:
            raise InputError(f"parameter '{key}' has two conditions, its own and one given beside "
                             "the space; write them as one, with 'and'")
        parameters[key] = replace(parameters[key], active_if=condition)
    definition = {
        "name": name,
        "parameters": {key: parameter.definition() for key, parameter in parameters.items()},
        "constraints": [text for text in constraints if isinstance(text, str)],
        **_goals(objectives, directions, objective, direction),
        **({"thresholds": dict(thresholds)} if thresholds else {}),
        "optimizer": {"name": optimizer or "bayesian", **(options or {})},
        "seed": int(seed or 0),
    }
    functions = [function for function in constraints if not isinstance(function, str)]
    return Space(_parse(json.dumps(definition, indent=1), name, functions, parameters), parameters)


def _goals(objectives: Optional[Sequence[str]], directions: Optional[Sequence[str]],
           objective: Optional[str], direction: Optional[str]) -> dict:
    """What is minimized and what is maximized, as a scenario says it."""
    if not objectives and not directions:
        return {(direction or "minimize"): objective or "value"}
    objectives = list(objectives or [f"value_{i}" for i in range(len(directions))])
    directions = list(directions or ["minimize"] * len(objectives))
    if len(objectives) != len(directions):
        raise InputError(f"{len(objectives)} objectives, but {len(directions)} directions")
    return {goal: [name for name, its in zip(objectives, directions) if its == goal]
            for goal in ("minimize", "maximize") if goal in directions}


def _from_file(path: str, name: Optional[str], optimizer: Optional[str],
               seed: Optional[int]) -> Space:
    scenario = Scenario.load(path)
    if name is not None:
        scenario.name = name
    if optimizer is not None:
        scenario.optimizer = optimizer
    if seed is not None:
        scenario.seed = seed
    return Space(scenario, {name: Parameter() for name, _, _ in scenario.parameters})


def _parse(text: str, name: str, functions: list, parameters: dict) -> Scenario:
    try:
        return Scenario.parse(text, name, [_bound(function, parameters, True)
                                           for function in functions])
    except _MoreRead:
        return Scenario.parse(text, name, [_bound(function, parameters, False)
                                           for function in functions])


class _MoreRead(Exception):
    """A constraint reads parameters that its code does not name."""


class _Values(dict):
    def __missing__(self, name: str):
        raise _MoreRead(name)


def _bound(function: Callable, parameters: dict, named_only: bool) -> tuple:
    """The parameters that a constraint is on, and what is called with their values.

    A function's arguments are named as parameters, or it has a single one, which is a dict. Of that
    only the parameters that the code names are given at first, because constraints on few
    parameters are much faster.
    """
    if not callable(function):
        raise InputError(f"a constraint is a text or a function, not {function!r}")
    arguments = [a.name for a in inspect.signature(function).parameters.values()
                 if a.default is a.empty and a.kind not in (a.VAR_POSITIONAL, a.VAR_KEYWORD)]
    if arguments and all(name in parameters for name in arguments):
        chosen = [parameters[name] for name in arguments]
        return arguments, lambda *values: function(
            **{n: p.decode(v) for n, p, v in zip(arguments, chosen, values)})
    if len(arguments) != 1:
        unknown = [name for name in arguments if name not in parameters]
        raise InputError(f"a constraint's argument '{unknown[0]}' is no parameter" if unknown else
                         "a constraint needs an argument")
    names = [name for name in parameters if name in _texts(function)] if named_only else []
    names = names or list(parameters)
    made_of = _Values if len(names) < len(parameters) else dict
    return names, lambda *values: function(
        made_of({n: parameters[n].decode(v) for n, v in zip(names, values)}))


def _texts(function: Callable) -> set:
    """The texts that a function's code contains."""
    texts, codes = set(), [getattr(function, "__code__", None)]
    while codes:
        code = codes.pop()
        for constant in getattr(code, "co_consts", ()):
            if isinstance(constant, str):
                texts.add(constant)
            elif hasattr(constant, "co_consts"):
                codes.append(constant)
    return texts
