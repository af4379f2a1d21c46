# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Spaces of ConfigSpace, without importing it."""

from dataclasses import replace
from typing import Any

from ._core import InputError
from .parameters import Categorical, Integer, Ordinal, Parameter, Real


def is_configspace(given: Any) -> bool:
    return type(given).__module__.split(".")[0] == "ConfigSpace"


def parameters_of(space: Any) -> dict:
    """The hyperparameters by name. Raises InputError for what there is no equal of."""
    parameters = {hyperparameter.name: _parameter(hyperparameter)
                  for hyperparameter in space.values()}
    conditions: dict = {}
    for condition in space.conditions:
        conditions.setdefault(_child_of(condition).name, []).append(f"({_condition(condition)})")
    for name, texts in conditions.items():
        parameters[name] = replace(parameters[name], active_if=" and ".join(texts))
    return parameters


def _parameter(hyperparameter: Any) -> Parameter:
    kind = type(hyperparameter).__name__
    if kind == "Constant":
        return Categorical([hyperparameter.value], default=hyperparameter.value)
    default = hyperparameter.default_value
    if kind == "CategoricalHyperparameter":
        return Categorical(hyperparameter.choices, default=default,
                           prior=getattr(hyperparameter, "weights", None))
    if kind == "OrdinalHyperparameter":
        return Ordinal(hyperparameter.sequence, default=default)
    if kind == "UniformIntegerHyperparameter":
        return Integer(hyperparameter.lower, hyperparameter.upper, log=hyperparameter.log,
                       default=default)
    if kind == "UniformFloatHyperparameter":
        return Real(hyperparameter.lower, hyperparameter.upper, log=hyperparameter.log,
                    default=default)
    raise InputError(f"hyperparameter '{hyperparameter.name}': {kind} is not supported")


def _child_of(condition: Any) -> Any:
    while hasattr(condition, "components"):
        condition = condition.components[0]
    return condition.child


_CONDITIONS = {"EqualsCondition": "==", "NotEqualsCondition": "!=", "LessThanCondition": "<",
               "GreaterThanCondition": ">"}


def _condition(condition: Any) -> str:
    kind = type(condition).__name__
    if kind in ("AndConjunction", "OrConjunction"):
        word = " and " if kind == "AndConjunction" else " or "
        return word.join(f"({_condition(part)})" for part in condition.components)
    if kind in _CONDITIONS:
        return f"{condition.parent.name} {_CONDITIONS[kind]} {_literal(condition.value)}"
    if kind == "InCondition":
        values = ", ".join(_literal(value) for value in condition.values)
        return f"{condition.parent.name} in [{values}]"
    raise InputError(f"{kind} of ConfigSpace is not supported")


def constraints_of(space: Any) -> list:
    """What is forbidden, as constraints."""
    return [f"not ({_expression(clause)})" for clause in space.forbidden_clauses]


_RELATIONS = {"ForbiddenLessThanRelation": "<", "ForbiddenGreaterThanRelation": ">",
              "ForbiddenEqualsRelation": "=="}


def _expression(clause: Any) -> str:
    kind = type(clause).__name__
    if kind == "ForbiddenAndConjunction":
        return " and ".join(f"({_expression(part)})" for part in clause.components)
    if kind in _RELATIONS:
        return f"{clause.left.name} {_RELATIONS[kind]} {clause.right.name}"
    if kind == "ForbiddenEqualsClause":
        return f"{clause.hyperparameter.name} == {_literal(clause.value)}"
    if kind == "ForbiddenInClause":
        values = ", ".join(_literal(value) for value in clause.values)
        return f"{clause.hyperparameter.name} in [{values}]"
    raise InputError(f"{kind} of ConfigSpace is not supported")


def _literal(value: Any) -> str:
    value = value.item() if hasattr(value, "item") else value
    return repr(str(value)) if isinstance(value, str) else repr(value)
