#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Milliseconds per suggestion of other autotuners, when so many trials are known already.

The counterpart of `bench_optimizer --benchmark_filter=Suggestion`: ten parameters, known trials
drawn at random, then some suggestions one after the other, refits included. Kernel Tuner's
bayes_opt looks at every configuration for every suggestion, so it gets a space of 7,776 (as
`bayesian_small_space` does), the others one of 4e9.

    build/venv/bin/python benchmarks/peers/autotuners/suggest.py --tuners optuna-tpe,bayes_opt
    build/venv/bin/python benchmarks/peers/autotuners/suggest.py --result suggestion_time.json \\
        --bayloom build/release/benchmarks/optimizer/bench_optimizer
    PYTHONPATH=baco build/baco/bin/python benchmarks/peers/autotuners/suggest.py --tuners baco
"""

import argparse
import contextlib
import io
import itertools
import json
import math
import os
import random
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import result_file  # noqa: E402

SMALL = {f"p{i}": ([1, 2, 4] if i < 5 else [0, 1]) for i in range(10)}
LARGE = {f"p{i}": ([2**k for k in range(11)] if i < 5 else list(range(1, 33)) if i < 7
                   else [0, 1, 2]) for i in range(10)}


def objective(space, values):
    """As in bench_optimizer: smooth, with a single optimum."""
    total = 0.1
    for i, (value, choices) in enumerate(zip(values, space.values())):
        position = choices.index(value) / (len(choices) - 1) - 0.1 * i
        total += position * position / (1 + i % 4)
    return math.exp(3 * total)


def draw(space, count):
    generator = random.Random(1)
    return [[generator.choice(values) for values in space.values()] for _ in range(count)]


def time_optuna(known, suggestions, multivariate):
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(
        sampler=optuna.samplers.TPESampler(seed=1, multivariate=multivariate))
    distributions = {name: optuna.distributions.IntDistribution(0, len(values) - 1)
                     for name, values in LARGE.items()}
    for values in draw(LARGE, known):
        ranks = {n: LARGE[n].index(v) for n, v in zip(LARGE, values)}
        study.add_trial(optuna.trial.create_trial(params=ranks, distributions=distributions,
                                                  value=objective(LARGE, values)))
    start = time.perf_counter()
    for _ in range(suggestions):
        trial = study.ask(distributions)
        study.tell(trial, objective(LARGE, [LARGE[n][trial.params[n]] for n in LARGE]))
    return time.perf_counter() - start


def time_kernel_tuner(known, suggestions):
    import kernel_tuner
    import numpy
    from kernel_tuner.strategies.bayes_opt import BayesianOptimization
    random.seed(1)
    numpy.random.seed(1)
    taken = []
    initialize = BayesianOptimization.__init__

    def initialize_and_watch(self, *arguments, **named):
        initialize(self, *arguments, **named)  # evaluates the known trials
        optimize = self.optimize

        def timed(max_fevals):
            start = time.perf_counter()
            try:
                optimize(max_fevals)  # ends by an exception
            finally:
                taken.append(time.perf_counter() - start)
        self.optimize = timed

    entries = {}
    for values in itertools.product(*SMALL.values()):
        entry = dict(zip(SMALL, values), time=objective(SMALL, values))
        for part in ("compile_time", "verification_time", "benchmark_time", "framework_time",
                     "strategy_time"):
            entry[part] = 0.0
        entries[",".join(map(str, values))] = entry
    with tempfile.TemporaryDirectory() as folder:
        cache = os.path.join(folder, "cache.json")
        with open(cache, "w") as file:
            json.dump({"device_name": "none", "kernel_name": "none", "problem_size": [1],
                       "tune_params_keys": list(SMALL), "tune_params": SMALL,
                       "objective": "time", "cache": entries}, file)
        BayesianOptimization.__init__ = initialize_and_watch
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                kernel_tuner.tune_kernel(
                    "none", "__global__ void none() {}", (1,), [], SMALL, lang="CUDA",
                    strategy="bayes_opt", cache=cache, simulation_mode=True, quiet=True,
                    strategy_options={"popsize": known, "samplingmethod": "random",
                                      "max_fevals": known + suggestions})
        finally:
            BayesianOptimization.__init__ = initialize
    return taken[0]


def time_baco(known, suggestions):
    import baco.run
    from baco.util.file import read_settings_file
    calls = []

    def evaluate(configuration):
        calls.append(time.perf_counter())
        return {"time": objective(LARGE, [int(configuration[name]) for name in LARGE])}

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scenario.json")
        parameters = {name: {"parameter_type": "ordinal", "values": values}
                      for name, values in LARGE.items()}
        with open(path, "w") as file:
            json.dump({"application_name": "speed", "optimization_objectives": ["time"],
                       "optimization_iterations": suggestions, "log_transform_output": True,
                       "design_of_experiment": {"doe_type": "random sampling",
                                                "number_of_samples": known},
                       "models": {"model": "gaussian_process"}, "run_directory": folder,
                       "input_parameters": parameters}, file)
        with contextlib.redirect_stdout(io.StringIO()):
            baco.run.optimize(read_settings_file(path), evaluate)
    return calls[-1] - calls[-1 - suggestions]


TUNERS = {
    "optuna-tpe": lambda known, n: time_optuna(known, n, False),
    "optuna-tpe-multivariate": lambda known, n: time_optuna(known, n, True),
    "bayes_opt": time_kernel_tuner,
    "baco": time_baco,
}


# Their fields in result files.
OURS = ("bayesian", "forest")
FIELDS = {"optuna-tpe": "optuna_tpe", "optuna-tpe-multivariate": "optuna_multivariate_tpe",
          "bayes_opt": "kernel_tuner_bayes_opt", "baco": "baco"}


def time_bayloom(program, known):
    """Milliseconds of each of Bayloom's surrogates, by Google Benchmark's JSON."""
    report = json.loads(subprocess.run(
        [program, f"--benchmark_filter=Suggestion/({'|'.join(OURS)})/{known}$",
         "--benchmark_format=json"], capture_output=True, check=True).stdout)
    return {run["name"].split("/")[1]: 1e3 * run["each"] for run in report["benchmarks"]}


def versions(tuners):
    """Of the packages that the tuners come from."""
    from importlib import metadata
    packages = {"optuna-tpe": ("Optuna", "optuna"), "optuna-tpe-multivariate": ("Optuna", "optuna"),
                "bayes_opt": ("Kernel Tuner", "kernel_tuner")}
    found = {packages[t][0]: metadata.version(packages[t][1]) for t in tuners if t in packages}
    return {**found, **({"BaCO": "checkout"} if "baco" in tuners else {})}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tuners", default="optuna-tpe,optuna-tpe-multivariate,bayes_opt")
    parser.add_argument("--known", default="50,100,250,500,1000")
    parser.add_argument("--suggestions", type=int, default=18)
    parser.add_argument("--bayloom", metavar="BENCH_OPTIMIZER", help="time Bayloom's, too")
    parser.add_argument("--result", metavar="FILE", help="also write a result file")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for known in map(int, arguments.known.split(",")):
        row = time_bayloom(arguments.bayloom, known) if arguments.bayloom else {}
        for tuner in arguments.tuners.split(","):
            seconds = TUNERS[tuner](known, arguments.suggestions)
            row[FIELDS[tuner]] = 1e3 * seconds / arguments.suggestions
        for name, milliseconds in row.items():
            print(f"{name:<26}{known:>6}{milliseconds:>12.2f} ms", flush=True)
        rows.append({"known": known, **dict.fromkeys([*OURS, *FIELDS.values()]),
                     **{name: round(value, 3) for name, value in row.items()}})
    if arguments.result:
        result_file.write(arguments.result, "Milliseconds per suggestion, ten parameters", rows,
                          versions(arguments.tuners.split(",")))


if __name__ == "__main__":
    sys.exit(main())
