# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Tuning kernels as Kernel Tuner's users do."""

import platform
import time
from collections.abc import Mapping
from typing import Callable, Iterable, Optional, Tuple, Union

from ._core import __version__
from .study import Study



def tune_kernel(run: Callable[[dict], Union[float, Mapping]], tune_params: Mapping, *,
                restrictions: Iterable = (), strategy: str = "bayesian",
                strategy_options: Optional[Mapping] = None, objective: str = "time",
                objective_higher_is_better: bool = False,
                metrics: Optional[Mapping[str, Callable[[dict], float]]] = None,
                cache: Optional[str] = None, name: str = "kernel", seed: int = 0,
                n_jobs: int = 1) -> Tuple[list, dict]:
    """Finds fast values for a kernel's parameters.

    `run` compiles and times the kernel for one configuration, a dict, and returns its time, or a
    dict with it under the objective's name. It raises an exception for a configuration that does
    not work. `tune_params` is a dict of lists; `restrictions` are texts or functions, which get the
    configuration as a dict, or arguments that are named as parameters. `strategy` is one of
    `bayloom.optimizers()`; `strategy_options` may have `max_fevals` and `time_limit` (seconds), and
    options of the optimizer. `metrics` are computed from each result. `cache` is a database that
    keeps all results; the next call with it goes on from there, `max_fevals` counting the earlier
    ones.

    Returns the results in their order, each a dict of the parameters, the objective and what else
    `run` answered, or `error`; and the environment, with `best_config`.

        >>> results, env = tune_kernel(lambda p: p["block_x"] / p["vector"],
        ...                            {"block_x": [32, 64, 128], "vector": [1, 2, 4]},
        ...                            restrictions=["block_x * vector <= 256"])
        >>> env["best_config"]["vector"], len(results)
        (4, 8)
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
        "bayloom": __version__, "strategy": strategy, "seed": seed, "objective": objective,
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
