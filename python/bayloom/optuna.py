# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Bayloom's engine inside Optuna; needs Optuna.

    import optuna
    from bayloom.optuna import BayloomSampler

    study = optuna.create_study(sampler=BayloomSampler(seed=1, constraints=["tile % unroll == 0"]))
"""

import math
import os
import threading
import warnings
from typing import Any, Callable, Dict, Iterable, Optional, Sequence

import optuna
from optuna.distributions import BaseDistribution
from optuna.search_space import IntersectionSearchSpace
from optuna.trial import FrozenTrial, TrialState

from ._core import InputError
from .space import Constraint
from .study import Exhausted, Study

_VIOLATIONS = "constraints"


class BayloomSampler(optuna.samplers.BaseSampler):
    """Chooses the parameters of an Optuna study by Bayloom.

    The space is what all trials so far have in common, so the first trial is random; with
    `search_space`, a dict of Optuna's distributions by name, it is known from the beginning.
    `constraints` are known constraints as `bayloom.Study` takes them, on parameters of that space:
    what they do not allow is not suggested. They therefore need `search_space`, unless it is fine
    that the first trial may not satisfy them. `active_if` says, where an objective asks for some
    parameters of `search_space` under conditions only, under which; without it, what not every
    trial asks for is sampled at random. `optimizer` is one of `bayloom.optimizers()`.

    Trials that fail teach it to avoid their like; pruned trials count with their last intermediate
    value. Parameters outside of the common space are sampled at random. Of a study of several
    objectives the Pareto set is searched for; its trials cannot be pruned.

    `constraints_func` is as for Optuna's samplers: of a finished trial it returns numbers, of which
    those above 0 are violations. Such trials have no value for Bayloom, which learns to avoid them.

    Raises InputError for constraints and conditions that cannot be used, with `search_space` at
    once.
    """

    def __init__(self, *, search_space: Optional[Dict[str, BaseDistribution]] = None,
                 constraints: Iterable[Constraint] = (),
                 active_if: Optional[Dict[str, str]] = None, optimizer: str = "bayesian",
                 options: Optional[dict] = None, seed: Optional[int] = None,
                 constraints_func: Optional[Callable[[FrozenTrial], Sequence[float]]] = None):
        self._given = search_space
        self._constraints = list(constraints)
        self._active_if = dict(active_if or {})
        self._optimizer = optimizer
        self._options = options
        self._seed = int.from_bytes(os.urandom(4), "big") if seed is None else seed
        self._random = optuna.samplers.RandomSampler(seed=seed)
        self._common = IntersectionSearchSpace()
        self._lock = threading.Lock()
        self._engine: Optional[Study] = None
        self._space: Dict[str, BaseDistribution] = {}
        self._told: set = set()
        self._constraints_func = constraints_func
        if search_space is not None:
            self._study(search_space, ["minimize"])  # refuses what cannot be used

    def __getstate__(self) -> dict:
        """The engine is made again from the study's trials."""
        state = {**self.__dict__, "_engine": None, "_space": {}, "_told": set()}
        del state["_lock"]
        return state

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def reseed_rng(self) -> None:
        self._random.reseed_rng()

    def infer_relative_search_space(self, study: optuna.Study,
                                    trial: FrozenTrial) -> Dict[str, BaseDistribution]:
        if self._given is not None:
            return self._given
        return self._common.calculate(study)

    def sample_relative(self, study: optuna.Study, trial: FrozenTrial,
                        search_space: Dict[str, BaseDistribution]) -> Dict[str, Any]:
        if not search_space:
            return {}
        with self._lock:
            engine = self._engine_for(study, search_space)
            try:
                return dict(engine.ask())
            except Exhausted as end:
                if self._given is not None:  # else trials may differ in other parameters
                    warnings.warn(f"BayloomSampler: {end}; sampling at random from now on",
                                  stacklevel=2)
                return {}

    def sample_independent(self, study: optuna.Study, trial: FrozenTrial, param_name: str,
                           param_distribution: BaseDistribution) -> Any:
        return self._random.sample_independent(study, trial, param_name, param_distribution)

    def _engine_for(self, study: optuna.Study, space: Dict[str, BaseDistribution]) -> Study:
        """The engine of this space, which knows all trials that have ended."""
        if self._engine is None or self._space != space:
            self._engine = self._study(space, [d.name.lower() for d in study.directions])
            self._space, self._told = dict(space), set()
        ended = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)
        for trial in study.get_trials(deepcopy=False, states=ended):
            if trial.number not in self._told:
                self._told.add(trial.number)
                self._tell(trial)
        return self._engine

    def _study(self, space: Dict[str, BaseDistribution], directions: Sequence[str]) -> Study:
        goals = ({"direction": directions[0]} if len(directions) == 1 else
                 {"directions": directions})
        return Study(space, constraints=self._constraints,
                     active_if={name: condition for name, condition in self._active_if.items()
                                if name in space},
                     optimizer=self._optimizer, options=self._options, seed=self._seed, **goals)

    def after_trial(self, study: optuna.Study, trial: FrozenTrial, state: TrialState,
                    values: Optional[Sequence[float]]) -> None:
        if self._constraints_func is not None and state == TrialState.COMPLETE:
            # Where Optuna's samplers keep it, and its best trials look.
            study._storage.set_trial_system_attr(trial._trial_id, _VIOLATIONS,
                                                 tuple(self._constraints_func(trial)))

    def _tell(self, trial: FrozenTrial) -> None:
        if not all(name in trial.params or name in self._active_if for name in self._space):
            return
        params = {name: trial.params[name] for name in self._space if name in trial.params}
        values = trial.values if trial.state == TrialState.COMPLETE else None
        if trial.state == TrialState.PRUNED:
            if not trial.intermediate_values:
                return
            values = [trial.intermediate_values[max(trial.intermediate_values)]]
        violated = any(number > 0 for number in trial.system_attrs.get(_VIOLATIONS, ()))
        try:
            if violated:
                self._engine.tell(params, infeasible="constraints_func", verdict="invalid-answer")
            elif values is not None and all(map(math.isfinite, values)):
                self._engine.tell(params, values if len(values) > 1 else values[0])
            else:
                self._engine.tell(params, infeasible=trial.state.name.lower(), verdict="crash")
        except InputError:
            pass  # another space, not allowed, or a configuration that was tried twice
