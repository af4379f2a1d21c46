# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Tuning kernels as Kernel Tuner's users do."""

import json
import os
import platform
import re
import sys
import time
from collections.abc import Mapping
from typing import Any, Callable, Iterable, Optional, Tuple, Union

from ._core import InputError, __version__, optimizers
from .kernel_source import KernelOptions, KernelProgram
from .study import Infeasible, Study

# What runs in place of Kernel Tuner's strategies; all others are "bayesian".
_STRATEGIES = {None: "random", "brute_force": "random", "random_sample": "random",
               "simulated_annealing": "annealing", "dual_annealing": "annealing",
               "genetic_algorithm": "genetic", "bayes_opt": "bayesian",
               "bayes_opt_alt_acq": "bayesian", "bayes_opt_BOTorch": "bayesian",
               "bayes_opt_BOTorch_transfer": "bayesian"}
_OTHER_STRATEGIES = {"diff_evo", "firefly_algorithm", "greedy_ils", "greedy_mls", "hybrid_de_ls",
                     "basinhopping", "minimize", "mls", "ordered_greedy_mls", "pso", "pyatf",
                     "skopt", "hgb"}
_RANDOM_SAMPLES = 100  # of Kernel Tuner's random_sample
# What its results always say of where a trial's time went, in milliseconds.
_NO_TIMES = dict.fromkeys(("compile_time", "verification_time", "benchmark_time", "strategy_time",
                           "framework_time"), 0.0)


def tune_kernel(*arguments: Any, **options: Any) -> Tuple[list, dict]:
    """Finds fast values for a kernel's parameters: of a source, or of a function that times it.

        tune_kernel(kernel_name, kernel_source, problem_size, arguments, tune_params, ...)
        tune_kernel(run, tune_params, ...)

    The first is Kernel Tuner's call: see `tune_kernel_source`; the second is described at
    `tune_kernel_function`. Both return the results in their order, each a dict of the parameters,
    the objective and what else is known, or `error`; and the environment, with `best_config`.

        >>> results, env = tune_kernel(lambda p: p["block_x"] / p["vector"],
        ...                            {"block_x": [32, 64, 128], "vector": [1, 2, 4]},
        ...                            restrictions=["block_x * vector <= 256"])
        >>> env["best_config"]["vector"], len(results)
        (4, 8)
    """
    is_function = callable(arguments[0]) if arguments else "run" in options
    return (tune_kernel_function if is_function else tune_kernel_source)(*arguments, **options)


def tune_kernel_function(run: Callable[[dict], Union[float, Mapping]], tune_params: Mapping, *,
                         restrictions: Iterable = (), strategy: str = "bayesian",
                         strategy_options: Optional[Mapping] = None, objective: str = "time",
                         objective_higher_is_better: bool = False,
                         metrics: Optional[Mapping[str, Callable[[dict], float]]] = None,
                         cache: Optional[str] = None, name: str = "kernel", seed: int = 0,
                         n_jobs: int = 1) -> Tuple[list, dict]:
    """Tunes what `run` compiles and times for one configuration, a dict.

    `run` returns the time, or a dict with it under the objective's name. It raises an exception for
    a configuration that does not work. `tune_params` is a dict of lists; `restrictions` are texts
    or functions, which get the configuration as a dict, or arguments that are named as parameters.
    `strategy` is one of `bayloom.optimizers()`; `strategy_options` may have `max_fevals` and
    `time_limit` (seconds), and options of the optimizer. `metrics` are computed from each result.
    `cache` is a database that keeps all results; the next call with it goes on from there,
    `max_fevals` counting the earlier ones.
    """
    options = dict(strategy_options or {})
    max_fevals, time_limit = options.pop("max_fevals", None), options.pop("time_limit", None)
    study = Study(dict(tune_params), constraints=restrictions, objective=objective,
                  direction="maximize" if objective_higher_is_better else "minimize",
                  optimizer=strategy, options=options, seed=seed, storage=cache, name=name,
                  resume=cache is not None)
    earlier = len(study.trials)
    begun = time.monotonic()
    n_trials = None if max_fevals is None else max(0, max_fevals - earlier)
    study.optimize(lambda trial: run(dict(trial)), n_trials=n_trials, timeout=time_limit,
                   n_jobs=n_jobs)
    results = [_result(trial, objective, metrics or {}) for trial in study.trials]
    best = study.best_trials
    environment = {
        "device_name": platform.processor() or platform.machine(), "bayloom": __version__, "strategy": strategy, "seed": seed, "objective": objective,
        "machine": platform.machine(), "system": platform.platform(),
        "python": platform.python_version(), "max_fevals": max_fevals,
        "feasible_configurations": study.count_feasible(), "evaluations": len(results),
        "earlier_evaluations": earlier, "seconds": time.monotonic() - begun,
        "best_config": results[best[0].number] if best else None,
    }
    return results, environment


def _result(trial, objective: str, metrics: Mapping) -> dict:
    result = {**trial.params, objective: trial.value, **trial.values}
    if not trial.ok:
        result["error"] = f"{trial.verdict}: {trial.reason}"
        return result
    for name, metric in metrics.items():
        result[name] = metric(result)
    return result


def tune_kernel_source(kernel_name: str, kernel_source: Any, problem_size: Any, arguments: list,
                       tune_params: Mapping, grid_div_x: Any = None, grid_div_y: Any = None,
                       grid_div_z: Any = None, restrictions: Any = None,
                       answer: Optional[list] = None, atol: float = 1e-6,
                       verify: Optional[Callable] = None, verbose: bool = False,
                       lang: Optional[str] = None, device: int = 0, platform: int = 0, *,
                       compiler: Optional[str] = None, compiler_options: Optional[list] = None,
                       defines: Optional[Mapping] = None, iterations: int = 7,
                       block_size_names: Optional[list] = None, quiet: bool = False,
                       strategy: Optional[str] = None, strategy_options: Optional[Mapping] = None,
                       cache: Optional[str] = None, metrics: Optional[Mapping] = None,
                       simulation_mode: bool = False, objective: Optional[str] = None,
                       objective_higher_is_better: Optional[bool] = None,
                       seed: Optional[int] = None, **others: Any) -> Tuple[list, dict]:
    """Tunes a kernel of C, Fortran or OpenCL by the arguments of Kernel Tuner's `tune_kernel`.

    What they mean is said there. Arrays and numbers among `arguments` are NumPy's. The program
    compiles configurations ahead and times each alone, in a guarded process, where a crash, a hang
    or a write beside an array costs one configuration. Functions of C that return a float are
    taken to return their milliseconds, as Kernel Tuner takes them.

    - `strategy`: Kernel Tuner's names are taken, and a line says what runs instead; so are
      `bayloom.optimizers()`. None tries all configurations.
    - `cache`: a file as Kernel Tuner has it. Configurations in it are not tried again, new ones are
      added; with `simulation_mode` nothing is tried.
    - `metrics` and `objective` as there: a metric may be the objective, and rates are maximized.

    Options of Kernel Tuner for other devices (`observers`, `smem_args`, ...) are refused.
    """
    refused = [name for name, value in others.items() if value not in (None, False)
               and name not in ("log", "parallel")]
    if refused:
        raise InputError(f"tune_kernel does not take '{refused[0]}'")
    options = KernelOptions(kernel_name, kernel_source, problem_size, arguments, tune_params,
                            grid_div_x, grid_div_y, grid_div_z, answer, atol, verify, lang, device,
                            platform, compiler, compiler_options, defines, iterations,
                            block_size_names)
    goal = objective or "time"
    higher = (_is_rate(goal) if objective_higher_is_better is None
              else objective_higher_is_better)
    chosen, engine_options = _strategy(strategy, dict(strategy_options or {}), quiet)
    known = _CacheFile(cache, kernel_name, problem_size, tune_params)
    details: dict = {}

    def run(config: dict) -> dict:
        key = known.key(config)
        result = known.results.get(key)
        if result is None:
            if simulation_mode:
                raise Infeasible("the cache does not have this configuration")
            try:
                result = _result_of(kernel(config))
            except Infeasible as error:
                known.results[key] = {**config, "time": "RuntimeFailedConfig",
                                      "error": str(error)}
                raise
            result = {**config, **result}
        if isinstance(result.get("time"), str):
            raise Infeasible(result.get("error", result["time"]))
        for name, metric in (metrics or {}).items():
            result[name] = metric(result) if callable(metric) else _evaluate(metric, result)
        known.results[key] = details[key] = result
        return {goal: result[goal]}

    with KernelProgram(options) as kernel:
        try:
            results, environment = tune_kernel_function(
                run, tune_params, restrictions=restrictions or (), strategy=chosen,
                strategy_options=engine_options, objective=goal,
                objective_higher_is_better=higher, name=kernel_name, seed=seed or 0,
                n_jobs=1 if simulation_mode else min(4, os.cpu_count() or 1))
        finally:
            if not simulation_mode:
                known.write(goal, higher)
    results = [{**_NO_TIMES, **details.get(known.key(result), result)} for result in results]
    best = [result for result in results if "error" not in result]
    environment["best_config"] = (max if higher else min)(
        best, key=lambda result: result[goal]) if best else None
    if not quiet:
        _print_best(environment["best_config"], goal, len(results))
    return results, environment


def run_kernel(kernel_name: str, kernel_source: Any, problem_size: Any, arguments: list,
               params: Mapping, grid_div_x: Any = None, grid_div_y: Any = None,
               grid_div_z: Any = None, lang: Optional[str] = None, device: int = 0,
               platform: int = 0, *, compiler: Optional[str] = None,
               compiler_options: Optional[list] = None, defines: Optional[Mapping] = None,
               block_size_names: Optional[list] = None, **others: Any) -> list:
    """Runs a kernel of C, Fortran or OpenCL for one configuration, by the arguments of Kernel
    Tuner's `run_kernel`, and returns the arguments as it leaves them. Raises bayloom.Infeasible
    where it does not run."""
    refused = [name for name, value in others.items() if value not in (None, False)
               and name not in ("log", "quiet")]
    if refused:
        raise InputError(f"run_kernel does not take '{refused[0]}'")
    options = KernelOptions(kernel_name, kernel_source, problem_size, arguments,
                            {name: [value] for name, value in params.items()},
                            grid_div_x, grid_div_y, grid_div_z, lang=lang, device=device,
                            platform=platform, compiler=compiler,
                            compiler_options=compiler_options, defines=defines,
                            block_size_names=block_size_names)
    with KernelProgram(options) as kernel:
        return kernel.run_once(params)


def store_results(results_filename: str, kernel_name: str, kernel_string: Any,
                  tune_params: Mapping, problem_size: Any, results: list, env: Mapping,
                  top: float = 3, objective: Optional[str] = None,
                  objective_higher_is_better: Optional[bool] = None) -> None:
    """Writes the best `top` percent of the results into a JSON file of Kernel Tuner's format 1.0,
    beside those of other devices and problem sizes in it; those of the same are replaced."""
    goal = objective or "time"
    higher = (_is_rate(goal) if objective_higher_is_better is None
              else objective_higher_is_better)
    working = [result for result in results if "error" not in result]
    if not working:
        raise InputError("no configuration has a result")
    best = (max if higher else min)(result[goal] for result in working)
    limit = best * (1 - top / 100 if higher else 1 + top / 100)
    stored = {"version_number": "1.0", "kernel_name": kernel_name, "objective": goal,
              "objective_higher_is_better": higher, "tunable_parameters": list(tune_params),
              "data": []}
    if isinstance(kernel_string, str):
        stored["kernel_string"] = kernel_string
    if os.path.exists(results_filename):
        with open(results_filename, encoding="utf-8") as file:
            stored = json.load(file)
        same = (stored.get("kernel_name"), stored.get("objective")) == (kernel_name, goal)
        if not same:
            raise InputError(f"'{results_filename}' is of another kernel or objective")
    place = {"device_name": re.sub("[^0-9a-zA-Z]+", "_", str(env["device_name"]).strip()),
             "problem_size": "x".join(map(str, _as_tuple(problem_size)))}
    stored["data"] = [entry for entry in stored["data"]
                      if any(entry[key] != value for key, value in place.items())]
    stored["data"] += [
        {**place, "tunable_parameters": {name: result[name] for name in tune_params},
         goal: result[goal]}
        for result in working if (result[goal] >= limit if higher else result[goal] <= limit)]
    with open(results_filename, "w", encoding="utf-8") as file:
        json.dump(stored, file, indent=1, default=_as_json)


class _CacheFile:
    """Results by configuration in a file as Kernel Tuner's option `cache` has it."""

    def __init__(self, path: Optional[str], kernel_name: str, problem_size: Any,
                 tune_params: Mapping):
        self._path = path
        self._names = list(tune_params)
        self._header = {"device_name": platform.processor() or platform.machine(),
                        "kernel_name": kernel_name,
                        "problem_size": "x".join(map(str, _as_tuple(problem_size))),
                        "tune_params_keys": self._names,
                        "tune_params": {name: list(values)
                                        for name, values in tune_params.items()}}
        self.results: dict = {}
        if path is None or not os.path.exists(path):
            return
        with open(path, encoding="utf-8") as file:
            text = file.read().rstrip().rstrip(",")
        # Kernel Tuner closes the file when it ends; one that was interrupted is open.
        for closing in ("", "}\n}"):
            try:
                self.results = json.loads(text + closing)["cache"]
                return
            except (json.JSONDecodeError, KeyError):
                continue
        raise InputError(f"'{path}' is no cache file of Kernel Tuner")

    def key(self, config: Mapping) -> str:
        return ",".join(str(config[name]) for name in self._names)

    def write(self, objective: str, higher: bool) -> None:
        if self._path is None:
            return
        content = {**self._header, "objective": objective, "objective_higher_is_better": higher,
                   "cache": self.results}
        with open(self._path + ".part", "w", encoding="utf-8") as file:
            json.dump(content, file, indent=1, default=_as_json)
        os.replace(self._path + ".part", self._path)


def _strategy(name: Any, options: dict, quiet: bool) -> Tuple[str, dict]:
    """The optimizer that runs for a strategy, and its options."""
    if name in optimizers():
        return name, options
    if name not in _STRATEGIES and name not in _OTHER_STRATEGIES:
        raise InputError(f"there is no strategy {name!r}; there are those of Kernel Tuner and "
                         f"{', '.join(optimizers())}")
    chosen = _STRATEGIES.get(name, "bayesian")
    kept = {key: value for key, value in options.items() if key in ("max_fevals", "time_limit")}
    if name == "random_sample":
        kept.setdefault("max_fevals", _RANDOM_SAMPLES)
    if name is not None and not quiet:
        dropped = sorted(set(options) - set(kept))
        print(f"strategy '{name}' is Kernel Tuner's: '{chosen}' runs instead"
              + (f", without {', '.join(dropped)}" if dropped else ""), file=sys.stderr)
    return chosen, kept


def _result_of(answer: Mapping) -> dict:
    """What the program answered, under Kernel Tuner's names; times are milliseconds."""
    milliseconds = answer["milliseconds"]
    batches = sorted((int(name.rpartition("_")[2]), value) for name, value in answer.items()
                     if name.startswith("batch_seconds_"))
    return {"time": milliseconds,
            "times": [1e3 * seconds for _, seconds in batches] or [milliseconds],
            "compile_time": 1e3 * answer.get("build_seconds", 0),
            "benchmark_time": 1e3 * answer.get("measure_seconds", 0)}


def _evaluate(expression: str, result: Mapping) -> float:
    """A metric that is given as a text over the names of a result."""
    return eval(expression, {"__builtins__": {}}, dict(result))  # pylint: disable=eval-used


def _is_rate(objective: str) -> bool:
    return objective.endswith(("/s", "/W", "/J")) or objective == "fitness"


def _as_tuple(given: Any) -> tuple:
    return tuple(given) if isinstance(given, (list, tuple)) else (given,)


def _as_json(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)


def _print_best(best: Optional[Mapping], objective: str, count: int) -> None:
    if best is None:
        print(f"none of {count} configurations has a value", file=sys.stderr)
        return
    text = ", ".join(f"{name}={value}" for name, value in best.items()
                     if name != "times" and name not in _NO_TIMES)
    print(f"best of {count} configurations by {objective}: {text}")
