# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""What objectives answer."""

import math
import numbers
from collections.abc import Mapping
from typing import Any

from . import _core


def no_value(verdict: str, reason: str) -> _core.Outcome:
    """No value, and why."""
    # Names of files that are not UTF-8 come with surrogates, which no database takes.
    return _core.Outcome.infeasible(verdict, reason.encode(errors="backslashreplace").decode())


def meaning_of(answer: Any, objective: str) -> _core.Outcome:
    """What an objective's answer means."""
    values = {}
    if isinstance(answer, Mapping):
        name = objective if objective in answer else "value"
        values = {str(key): float(number) for key, number in answer.items()
                  if key != name and isinstance(number, numbers.Real)}
        answer = answer.get(name)
    try:
        number = float(answer)
    except (TypeError, ValueError):
        return no_value("invalid-answer", f"the objective returned {answer!r}")
    if not math.isfinite(number):
        return no_value("invalid-answer", f"the objective returned {number}")
    return _core.Outcome.feasible(number, values)


def is_finite(value: Any) -> bool:
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError):
        return False
