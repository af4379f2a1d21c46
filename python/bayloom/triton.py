# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""`triton.autotune` with a search, constraints, and a store.

    @bayloom.triton.autotune(configs=[...], key=["M", "N", "K"], store="kernels.db")
    @triton.jit
    def matmul(...): ...
"""

import hashlib
import inspect
import itertools
import logging
import os
import tempfile
import time
import weakref
from collections.abc import Mapping
from numbers import Real
from typing import Any, Callable, Iterable, Optional, Sequence, Union

import triton as _triton
from triton.runtime.autotuner import Autotuner as _TritonAutotuner

from ._core import InputError
from .parameters import Categorical
from .study import Infeasible, Study

_logger = logging.getLogger("bayloom")

# Of as many configurations all are timed; of more, this many and a tenth of the others.
_ALL = 32
_MAX_CONFIGS = 100_000
# What is not a parameter of a kernel but of its launch, of configs that are given as values.
_LAUNCH = ("num_warps", "num_stages", "num_ctas", "maxnreg")


def autotune(configs: Union[Sequence, Mapping], key: Sequence[str],
             prune_configs_by: Optional[Mapping] = None, *triton_arguments: Any,
             constraints: Iterable = (), max_trials: Optional[int] = None,
             optimizer: str = "bayesian", seed: int = 0,
             store: Union[str, os.PathLike, None] = None, **triton_options: Any) -> Callable:
    """Decorates a kernel as `triton.autotune` does: its arguments are taken and mean the same.

    Of many configurations some are timed: Bayesian optimization chooses them, and for the next
    value of `key` begins with what did best for others.

    - `configs`: a list of `triton.Config`, or a dict of lists of values, of which all
      combinations count: `{"BLOCK_M": [16, 32, 64], "num_warps": [4, 8]}`.
    - `constraints`: as of `bayloom.Study`, over the parameters of the configurations and the
      kernel's `key` arguments that are numbers. What they do not allow is never compiled.
    - `prune_configs_by`: Triton's; what it leaves is searched.
    - `max_trials`: for each value of `key`. By default all of up to 32 configurations, of more 32
      and a tenth of the others.
    - `optimizer`: one of `bayloom.optimizers()`.
    - `store`: a database that keeps what was timed. The next process that has it times nothing
      again, for the same source, device and key.

    A configuration for which Triton's compiler or the launch fails costs one trial. Under
    TRITON_INTERPRET=1 the interpreter is timed, as long as no `do_bench` is given. Raises
    InputError where no configuration is left, and the error of the last one where all fail.
    """
    def decorate(kernel: Any) -> "Autotuner":
        return Autotuner(kernel, kernel.arg_names, _configs(configs), list(key), triton_arguments,
                         dict(triton_options, prune_configs_by=prune_configs_by),
                         constraints=list(constraints), max_trials=max_trials, optimizer=optimizer,
                         seed=seed, store=store)
    return decorate


class Autotuner(_TritonAutotuner):
    """A kernel whose configurations `autotune` searches: Triton's own autotuner, which asks for the
    best configuration instead of timing all."""

    def __init__(self, kernel: Any, arg_names: Sequence[str], configs: list, key: list,
                 triton_arguments: tuple, triton_options: dict, *, constraints: list,
                 max_trials: Optional[int], optimizer: str, seed: int,
                 store: Union[str, os.PathLike, None]):
        # The positional ones behind prune_configs_by, in the order of triton.autotune.
        names = list(inspect.signature(_triton.autotune).parameters)[3:]
        options = {**dict(zip(names, triton_arguments)), **triton_options}
        # Ours is the store; theirs would keep the one configuration that is left.
        options.pop("cache_results", None)
        if options.get("do_bench") is None and _is_interpreted():
            options["do_bench"] = _time_on_host
        accepted = inspect.signature(_TritonAutotuner.__init__).parameters
        super().__init__(kernel, arg_names, configs, key,
                         options.pop("reset_to_zero", None), options.pop("restore_value", None),
                         **{name: value for name, value in options.items() if name in accepted})
        self._constraints, self._max_trials = constraints, max_trials
        self._optimizer, self._seed = optimizer, seed
        self._folder: Optional[tempfile.TemporaryDirectory] = None
        self._store = store

    def prune_configs(self, kwargs: dict) -> list:
        """The best configuration for the arguments of the call that is being made, alone."""
        left = super().prune_configs(kwargs)
        named = {**self.nargs, **kwargs}
        space = _Space(left, {name: named[name] for name in self.keys
                              if isinstance(named.get(name), Real)
                              and not isinstance(named.get(name), bool)})
        best = self._search(space, named, kwargs)
        # Triton does so itself behind what it times.
        self.pre_hook({**named, **best.all_kwargs()}, reset_only=True)
        return [best]

    def _search(self, space: "_Space", named: dict, kwargs: dict) -> Any:
        arguments = tuple(self.nargs.values())
        study = Study(space.parameters, constraints=[space.has, *self._constraints],
                      objective="milliseconds", optimizer=self._optimizer, seed=self._seed,
                      storage=self._database(), name=self._name(named), resume=True,
                      learn_from="earlier" if self._optimizer == "bayesian" else ())
        left = int(study.count_feasible())
        budget = self._max_trials or (left if left <= _ALL else _ALL + (left - _ALL) // 10)
        failures: list = []

        def run(trial: Mapping) -> float:
            try:
                timed = self._bench(*arguments, config=space.config(trial), **kwargs)
            except (InputError, KeyboardInterrupt):
                raise
            except Exception as error:
                failures.append(error)
                raise Infeasible(f"{type(error).__name__}: {error}", "crash") from error
            median = timed[0] if isinstance(timed, (list, tuple)) else float(timed)
            if median == float("inf"):
                raise Infeasible("it does not compile, or needs more than the device has",
                                 "build-error")
            return median

        study.optimize(run, n_trials=max(0, min(budget, left) - len(study.trials)))
        best = study.best_trials
        if not best:
            if failures:
                raise failures[-1]
            raise InputError(f"none of {len(study.trials)} configurations of "
                             f"'{self.base_fn.__name__}' works")
        _logger.info("%s: %s ms with %s, of %d configurations timed", self._name(named),
                     best[0].value, best[0].params, len(study.trials))
        return space.config(best[0].params)

    def _name(self, named: dict) -> str:
        """What the times hold for: kernel, its source, device, and the key with all types."""
        source = hashlib.sha256(inspect.getsource(self.base_fn).encode()).hexdigest()[:10]
        key = [f"{name}={named[name]}" for name in self.keys if name in named]
        key += [str(value.dtype) for name, value in named.items()
                if name in self.arg_names and hasattr(value, "dtype")]
        return f"{self.base_fn.__name__}@{source} {_device()} {' '.join(key)}"

    def _database(self) -> str:
        if self._store is not None:
            return os.fspath(self._store)
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="bayloom-triton-")
            weakref.finalize(self, self._folder.cleanup)
        return os.path.join(self._folder.name, "times.db")


class _Space:
    """Configurations as values of parameters, and the numbers of a key beside them."""

    def __init__(self, configs: Sequence, key: Mapping):
        if not configs:
            raise InputError("there is no configuration to choose from")
        settings = [config.all_kwargs() for config in configs]
        names = list(dict.fromkeys(name for setting in settings for name in setting))
        self.parameters: dict = {}
        self._plain = {}
        for name in names:
            values = list(dict.fromkeys(_hashable(setting.get(name)) for setting in settings))
            self._plain[name] = all(isinstance(value, Real) and not isinstance(value, bool)
                                    for value in values)
            self.parameters[name] = (sorted(values) if self._plain[name]
                                     else Categorical([repr(value) for value in values]))
        self._by_values = {self._values(setting): config
                           for setting, config in zip(settings, configs)}
        # Constraints may name them; of one value they change nothing else.
        self.parameters.update({name: [value] for name, value in key.items()
                                if name not in self.parameters})

    def _values(self, setting: Mapping) -> tuple:
        return tuple(_hashable(setting.get(name)) if plain else repr(_hashable(setting.get(name)))
                     for name, plain in self._plain.items())

    def has(self, configuration: Mapping) -> bool:
        return tuple(configuration[name] for name in self._plain) in self._by_values

    def config(self, configuration: Mapping) -> Any:
        return self._by_values[tuple(configuration[name] for name in self._plain)]


def _configs(given: Union[Sequence, Mapping]) -> list:
    if not isinstance(given, Mapping):
        return list(given)
    count = 1
    for values in given.values():
        count *= len(values)
    if count > _MAX_CONFIGS:
        raise InputError(f"{count} configurations, expected at most {_MAX_CONFIGS}")
    configs = []
    for values in itertools.product(*given.values()):
        setting = dict(zip(given, values))
        launch = {name: setting.pop(name) for name in _LAUNCH if name in setting}
        configs.append(_triton.Config(setting, **launch))
    return configs


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _is_interpreted() -> bool:
    knobs = getattr(_triton, "knobs", None)
    if knobs is not None:
        return bool(knobs.runtime.interpret)
    return os.environ.get("TRITON_INTERPRET", "0") == "1"


def _time_on_host(call: Callable[[], Any], quantiles: Sequence[float] = (0.5,), **_: Any) -> list:
    """Milliseconds of the interpreter, which says nothing of a device."""
    times = []
    for _round in range(3):
        begun = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - begun))
    times.sort()
    return [times[round(quantile * (len(times) - 1))] for quantile in quantiles]


def _device() -> str:
    if _is_interpreted():
        return "interpreter"
    target = _triton.runtime.driver.active.get_current_target()
    return f"{target.backend}:{target.arch}"
