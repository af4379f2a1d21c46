# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Studies: ask, tell, optimize."""

import logging
import math
import numbers
import operator
import os
import threading
import time
import warnings
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, Callable, Iterable, Optional, Sequence, Union

from . import _core
from ._core import InputError
from .outcome import is_finite, meaning_of, no_value
from .space import Constraint, Space, make_space

_logger = logging.getLogger("bayloom")


class Infeasible(Exception):
    """To be raised by an objective for a configuration that has no value.

    `verdict`: "build-error", "crash", "timeout", "memory", "wrong-output" or "invalid-answer".
    """

    def __init__(self, reason: str, verdict: str = "invalid-answer"):
        super().__init__(reason)
        self.verdict = verdict


class Exhausted(Exception):
    """Nothing is left to try. `gave_up`: or nothing else was found with bounded effort."""

    def __init__(self, gave_up: bool):
        super().__init__("no further configuration that satisfies the constraints was found, "
                         "although there may be more" if gave_up else
                         "every configuration has been tried")
        self.gave_up = gave_up


class Trial(Mapping):
    """A configuration to be evaluated: a mapping from the active parameters' names to their values.

    `number` counts what was asked for, from 0, earlier runs of the study included.
    """

    def __init__(self, number: int, params: dict):
        self.number = number
        self.params = params

    def __getitem__(self, name: str) -> Any:
        return self.params[name]

    def __iter__(self):
        return iter(self.params)

    def __len__(self) -> int:
        return len(self.params)

    def __repr__(self) -> str:
        return f"Trial({self.number}, {self.params})"

    # As Optuna's trials are asked, for objectives that were written for these: the space is known
    # beforehand, so that what is asked for must be within it.

    def suggest_categorical(self, name: str, choices: Sequence) -> Any:
        """The value of a parameter. Raises InputError if it is inactive or none of the choices."""
        value = self._suggested(name)
        if value not in choices:
            raise InputError(f"parameter '{name}' is {value!r}, which is not one of {list(choices)}")
        return value

    def suggest_int(self, name: str, low: int, high: int, **_: Any) -> int:
        """The same of a whole number from `low` to `high`."""
        return int(self._suggested_within(name, low, high))

    def suggest_float(self, name: str, low: float, high: float, **_: Any) -> float:
        """The same of a number from `low` to `high`."""
        return float(self._suggested_within(name, low, high))

    def _suggested(self, name: str) -> Any:
        if name not in self.params:
            raise InputError(f"parameter '{name}' is inactive here, or no parameter has that name")
        return self.params[name]

    def _suggested_within(self, name: str, low: float, high: float) -> Any:
        value = self._suggested(name)
        if not isinstance(value, numbers.Real) or not low <= value <= high:
            raise InputError(f"parameter '{name}' is {value!r}, which is not from {low} to {high}")
        return value


@dataclass(frozen=True)
class FinishedTrial:
    """A trial that has ended.

    `number` is its place in the order in which trials ended, `value` None unless the `verdict` is
    "ok", `reason` why there is no value, `values` what was answered beside it, `elapsed` the
    seconds of searching until then.
    """

    number: int
    params: dict
    value: Optional[float]
    verdict: str = "ok"
    reason: str = ""
    values: dict = field(default_factory=dict)
    elapsed: float = 0.0
    objective_values: tuple = ()  # of a study of several objectives, in their order

    @property
    def ok(self) -> bool:
        return self.verdict == "ok"


Objective = Callable[[Trial], Union[float, Mapping]]


class Study:
    """A search for the best configuration of a space.

    `space` is a dict of parameters by name (kinds of this package, distributions of Optuna, or
    lists of values), a ConfigurationSpace of ConfigSpace, or the path of a scenario file.
    `constraints` are texts in Bayloom's expression language, or functions: of arguments that are
    named as parameters, or of one argument, a dict. What they do not allow is never tried.
    `active_if` says of conditional parameters when they count, by name, in the same language.

    `storage` is the path of a database that keeps every trial before anything is learnt from it;
    with `resume` the study goes on with the last one of this `name` in there ("study", or what a
    scenario file says, by default). Functions are not in the database: give them again.

    `learn_from` is what the study learns from beforehand, as `--learn-from` of the program
    (docs/learning.md): databases of earlier searches and recorded spaces, of the same kernel on another
    device, say, and "earlier", the other searches in `storage`.

    `optimizer` is one of `bayloom.optimizers()`, `options` what docs/scenarios.md lists for it. The
    same seed and outcomes give the same choices, also those of the program `bayloom`.

        >>> study = Study({"x": [1, 2, 3, 4], "flag": [True, False]}, optimizer="random", seed=3,
        ...               constraints=[lambda x, flag: flag or x > 2])
        >>> trial = study.ask()
        >>> _ = study.tell(trial, 0.5)
        >>> study.best_value
        0.5
        >>> study.count_feasible()
        6.0

    Conditional parameters are in a trial only where they are active:

        >>> study = Study({"method": ["plain", "tiled"], "tile": [2, 4, 8]},
        ...               active_if={"tile": "method == 'tiled'"}, optimizer="random", seed=1)
        >>> study.count_feasible()
        4.0
        >>> sorted(len(trial) for trial in study.ask(4))
        [1, 2, 2, 2]

    With several `directions` (and names, `objectives`) an objective returns as many values, in that
    order or in a dict by name. The search is for `best_trials`: the trials that no other trial equals
    or exceeds in every objective.

        >>> study = Study({"size": list(range(1, 9))}, directions=["minimize", "maximize"],
        ...               objectives=["cost", "quality"], seed=1)
        >>> study.optimize(lambda trial: (trial["size"], min(trial["size"], 3)), n_trials=8)
        >>> sorted(trial.objective_values for trial in study.best_trials)
        [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]

    `thresholds` say, by name, beyond which values an objective is of no interest (`{"cost": 6}`).
    """

    def __init__(self, space: Any, *, constraints: Iterable[Constraint] = (),
                 active_if: Optional[Mapping] = None,
                 direction: Optional[str] = None, objective: Optional[str] = None,
                 directions: Optional[Sequence[str]] = None,
                 objectives: Optional[Sequence[str]] = None,
                 thresholds: Optional[Mapping[str, float]] = None,
                 optimizer: Optional[str] = None, options: Optional[dict] = None,
                 seed: Optional[int] = None, storage: Union[str, os.PathLike, None] = None,
                 name: Optional[str] = None, resume: bool = False,
                 learn_from: Union[str, os.PathLike, Sequence[Union[str, os.PathLike]]] = (),
                 transfer_method: str = "prior"):
        self._space: Space = make_space(
            space, constraints, active_if=active_if, name=name, objective=objective,
            direction=direction, objectives=objectives, directions=directions,
            thresholds=thresholds, optimizer=optimizer, options=options, seed=seed)
        if resume and storage is None:
            raise InputError("resume needs storage, the database to go on with")
        sources = [learn_from] if isinstance(learn_from, (str, os.PathLike)) else learn_from
        self._engine = _core.Study(self._space.scenario,
                                   None if storage is None else _path(storage), resume,
                                   [_path(source) for source in sources], transfer_method)
        self._goals = dict(self._space.scenario.objectives)  # name: whether it is maximized
        if objectives or directions:
            names = objectives or [f"value_{i}" for i in range(len(directions))]
            self._goals = {name: self._goals[name] for name in names}
        self._lock = threading.Lock()
        self._stopping = False
        self._again: list = []  # trials whose evaluation was interrupted
        self._trials = [self._finished({**trial, "params": self._space.decode(trial["params"])})
                        for trial in self._engine.earlier()]
        self._asked = len(self._trials)

    # What is searched

    @property
    def name(self) -> str:
        return self._space.scenario.name

    @property
    def objective(self) -> str:
        """What a value is called; of several objectives, the engine's first."""
        return self._space.scenario.objective

    @property
    def direction(self) -> str:
        return "maximize" if self._space.scenario.maximize else "minimize"

    @property
    def directions(self) -> list:
        return ["maximize" if maximize else "minimize" for maximize in self._goals.values()]

    @property
    def objectives(self) -> list:
        """The names of the objectives, in the order of `directions`."""
        return list(self._goals)

    @property
    def space(self) -> str:
        """The parameters, the constraints that are texts and the number of configurations."""
        return self._space.scenario.description

    def count_feasible(self) -> float:
        """The number of configurations that the constraints allow; infinity with real
        parameters."""
        return self._space.scenario.count_feasible()

    def is_allowed(self, params: Mapping) -> bool:
        """Whether it is a configuration that the constraints allow."""
        try:
            return self._space.scenario.contains(self._space.encode(params))
        except InputError:
            return False

    @property
    def learned_from(self) -> list:
        """What was taken over from the sources in `learn_from`, in words: which searches with how many
        values, and what became of parameters that they have not; without sources, nothing.

        >>> earlier = Study({"tile": [8, 16, 32]}, storage="earlier.db", name="gpu", seed=1)
        >>> earlier.optimize(lambda trial: abs(trial["tile"] - 16), n_trials=3)
        >>> Study({"tile": [8, 16, 32]}, learn_from="earlier.db", seed=1).learned_from
        ['Learns from gpu (3 values)']
        """
        return self._engine.learned_from

    # What was found

    @property
    def trials(self) -> list:
        """All trials that have ended, in that order."""
        with self._lock:
            return list(self._trials)

    @property
    def best_trials(self) -> list:
        """The trials with the best value; with several objectives the Pareto set: those that no
        other one is at least as good as in all objectives, and better in one. Trials of lower
        fidelities (docs/scenarios.md) are left out."""
        feasible = [trial for trial in self.trials
                    if trial.ok and self._engine.is_full(self._space.encode(trial.params))]
        if not feasible:
            return []
        if len(self._goals) > 1:
            points = [self._minimized(trial) for trial in feasible]
            return [trial for trial, point in zip(feasible, points)
                    if not any(_dominates(other, point) for other in points)]
        best = (max if self.direction == "maximize" else min)(trial.value for trial in feasible)
        return [trial for trial in feasible if trial.value == best]

    @property
    def best_trial(self) -> FinishedTrial:
        """The first of them. Raises ValueError if no trial has a value, or there are several
        objectives."""
        if len(self._goals) > 1:
            raise ValueError("with several objectives no trial is the best: see best_trials")
        best = self.best_trials
        if not best:
            raise ValueError("no trial has a value yet")
        return best[0]

    @property
    def best_value(self) -> float:
        return self.best_trial.value

    @property
    def best_params(self) -> dict:
        return dict(self.best_trial.params)

    def trials_dataframe(self):
        """The trials as a frame of pandas, a column `params_NAME` for each parameter."""
        from .frames import frame
        return frame([{"number": t.number, "value": t.value, "verdict": t.verdict,
                       "reason": t.reason, "elapsed": t.elapsed,
                       **{f"params_{name}": value for name, value in t.params.items()},
                       **{f"values_{name}": value for name, value in t.values.items()}}
                      for t in self.trials])

    # Asking and telling

    def ask(self, n: Optional[int] = None) -> Union[Trial, list]:
        """The next configuration to try; with `n` a list of as many, or of fewer if there are no
        more. Without `n`, raises Exhausted."""
        count = 1 if n is None else _whole("n", n, 0)
        with self._lock:
            again, self._again = self._again[:count], self._again[count:]
            asked = self._engine.ask(count - len(again))
            trials = again + [Trial(self._asked + i, self._space.decode(values))
                              for i, values in enumerate(asked)]
            self._asked += len(asked)
            notices = self._engine.take_notices()
        for notice in notices:
            warnings.warn(notice, stacklevel=2)
        if n is not None:
            return trials
        if not trials:
            raise Exhausted(self._engine.gave_up())
        return trials[0]

    def tell(self, trial: Union[Trial, Mapping], value: Union[float, Mapping, None] = None, *,
             infeasible: Optional[str] = None, verdict: str = "invalid-answer") -> FinishedTrial:
        """What came of a trial: a value, a dict with it and other numbers, or `infeasible`, why
        there is none. The trial may be a dict that was never asked for. Raises InputError for what
        the space does not have or was told before."""
        if infeasible is not None:
            outcome = no_value(verdict, infeasible)
        else:
            outcome = self._outcome(value)
        return self._tell(trial, outcome)

    def _outcome(self, answer: Any) -> _core.Outcome:
        """What an objective's answer means."""
        if len(self._goals) == 1:
            return meaning_of(answer, self.objective)
        if not isinstance(answer, Mapping):
            try:
                values = list(answer)
            except TypeError:
                values = [answer]
            if len(values) != len(self._goals):
                return no_value(
                    "invalid-answer", f"the objective returned {answer!r}, not a value for each of "
                    f"{', '.join(self._goals)}")
            answer = dict(zip(self._goals, values))
        for name in self._goals:
            if not is_finite(answer.get(name)):
                return no_value(
                    "invalid-answer", f"the objective returned {answer.get(name)!r} as {name}")
        return meaning_of({name: float(value) if name in self._goals else value
                           for name, value in answer.items()}, self.objective)

    def _finished(self, fields: dict) -> FinishedTrial:
        if len(self._goals) > 1 and fields["verdict"] == "ok":
            named = {**fields["values"], self.objective: fields["value"]}
            fields = {**fields, "objective_values": tuple(named[name] for name in self._goals)}
        return FinishedTrial(**fields)

    def _minimized(self, trial: FinishedTrial) -> list:
        return [-value if maximize else value
                for value, maximize in zip(trial.objective_values, self._goals.values())]

    def _tell(self, trial: Mapping, outcome: _core.Outcome) -> FinishedTrial:
        params = dict(trial)
        with self._lock:
            elapsed = self._engine.tell(self._space.encode(params), outcome)
            if elapsed is None:
                raise InputError(f"this configuration was told before: {params}")
            finished = self._finished(dict(number=len(self._trials), params=params,
                                           elapsed=elapsed, **outcome.as_dict()))
            self._trials.append(finished)
        return finished

    # Optimizing

    def stop(self) -> None:
        """Lets `optimize` end after the trials that are being evaluated; for callbacks."""
        self._stopping = True

    def optimize(self, objective: Objective, n_trials: Optional[int] = None,
                 timeout: Optional[float] = None, n_jobs: int = 1,
                 callbacks: Iterable[Callable[["Study", FinishedTrial], None]] = ()) -> None:
        """Evaluates `n_trials` configurations, or until `timeout` seconds are over, `stop` is
        called, or none is left.

        The objective returns a number, or a dict with one under the objective's name or "value";
        other numbers in the dict are kept beside it. An exception makes the trial infeasible, with
        the exception as its reason, and the search learns to avoid such configurations. With
        `n_jobs` as many are evaluated at a time, each in a thread.

        KeyboardInterrupt (Ctrl-C) ends it: the trials that have ended are kept, and what was being
        evaluated is tried first if `optimize` is called again.
        """
        n_jobs = _whole("n_jobs", n_jobs, 1)
        self._stopping = False
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        left = math.inf if n_trials is None else n_trials
        first = len(self.trials)
        if n_jobs == 1:
            self._optimize_here(objective, left, deadline, callbacks)
        else:
            self._optimize_in_threads(objective, left, deadline, n_jobs, callbacks)
        made = self.trials[first:]
        if made and not any(trial.ok for trial in made):
            warnings.warn(f"none of {len(made)} trials has a value; of the last one: "
                          f"{made[-1].reason}", stacklevel=2)

    def _next(self) -> Optional[Trial]:
        try:
            return self.ask()
        except Exhausted as end:
            _logger.info("%s", end)
            self._engine.finish()
            return None

    def _end(self, trial: Trial, outcome: _core.Outcome, callbacks: Iterable[Callable]) -> None:
        finished = self._tell(trial, outcome)
        _logger.info("trial %d: %s", finished.number,
                     finished.value if finished.ok else finished.reason)
        for callback in callbacks:
            callback(self, finished)

    def _optimize_here(self, objective, left, deadline, callbacks) -> None:
        while left > 0 and not self._stopping and time.monotonic() < deadline:
            trial = self._next()
            if trial is None:
                return
            left -= 1
            try:
                outcome = _evaluate(objective, trial, self._outcome)
            except BaseException:  # Ctrl-C, or the interpreter ends
                self._again.append(trial)
                raise
            self._end(trial, outcome, callbacks)

    def _optimize_in_threads(self, objective, left, deadline, n_jobs, callbacks) -> None:
        flight: dict = {}
        with ThreadPoolExecutor(n_jobs, thread_name_prefix="bayloom") as pool:
            try:
                while True:
                    while (left > 0 and len(flight) < n_jobs and not self._stopping and
                           time.monotonic() < deadline):
                        trial = self._next()
                        if trial is None:
                            left = 0
                            break
                        left -= 1
                        flight[pool.submit(_evaluate, objective, trial, self._outcome)] = trial
                    if not flight:
                        return
                    for future in wait(flight, return_when=FIRST_COMPLETED).done:
                        trial = flight.pop(future)
                        self._end(trial, future.result(), callbacks)
            except BaseException:
                # A thread cannot be ended, so its trial will be evaluated again.
                self._again.extend(flight.values())
                raise


def _whole(name: str, value: Any, least: int) -> int:
    """An argument that is a whole number. Raises InputError."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if number < least:
        raise InputError(f"{name} is a whole number from {least}, not {value!r}")
    return number


def _path(path: Union[str, os.PathLike]) -> str:
    """A path as a text. Raises InputError for one that no file can have."""
    text = os.fspath(path)
    if "\0" in text:
        raise InputError(f"the path {text!r} has a NUL character")
    return text


def _dominates(a: list, b: list) -> bool:
    return a != b and all(x <= y for x, y in zip(a, b))


def _evaluate(objective: Objective, trial: Trial,
              outcome_of: Callable[[Any], _core.Outcome]) -> _core.Outcome:
    try:
        return outcome_of(objective(trial))
    except Infeasible as why:
        return no_value(why.verdict, str(why))
    except Exception as error:
        verdict = ("memory" if isinstance(error, MemoryError) else
                   "timeout" if isinstance(error, TimeoutError) else "crash")
        return no_value(verdict, f"{type(error).__name__}: {error}")
