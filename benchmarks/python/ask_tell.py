#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Times of one ask and one tell with so many trials known, of Bayloom and of Optuna's samplers.

    benchmarks/python/ask_tell.py [--known 50 250 1000] [--repeats 15] [--out times.json]

All search the same space of six parameters and know the same trials. They take turns, so that what
else the machine does affects all alike; --processor-time counts the time that processors worked
instead of the time that passed (OMP_NUM_THREADS=1 keeps torch to one thread). Needs bayloom and
optuna; GPSampler needs torch and scipy, too, and is left out without them.
"""

import argparse
import json
import platform
import statistics
import time
import warnings

import optuna

import bayloom
from bayloom.optuna import BayloomSampler

SPACE = {
    "tile_x": optuna.distributions.CategoricalDistribution([4, 8, 16, 32, 64, 128]),
    "tile_y": optuna.distributions.CategoricalDistribution([4, 8, 16, 32, 64, 128]),
    "unroll": optuna.distributions.IntDistribution(1, 16),
    "threads": optuna.distributions.IntDistribution(1, 64, log=True),
    "ratio": optuna.distributions.FloatDistribution(0, 1),
    "rate": optuna.distributions.FloatDistribution(1e-4, 1, log=True),
}


def objective(params):
    """Positive, with one valley."""
    return (1 + (params["tile_x"] / 32 - 1) ** 2 + (params["tile_y"] / 16 - 1) ** 2
            + (params["unroll"] - 4) ** 2 / 16 + abs(params["threads"] - 24) / 24
            + (params["ratio"] - 0.3) ** 2 + abs(params["rate"] - 0.01))


def known_trials(count):
    """Different random configurations."""
    return [trial.params for trial in
            bayloom.Study(SPACE, optimizer="random", seed=count).ask(count)]


class Engine:
    """bayloom.Study."""

    def __init__(self, known):
        self.study = bayloom.Study(SPACE, seed=1)
        for params in known:
            self.study.tell(params, objective(params))

    def step(self):
        trial = self.study.ask()
        self.study.tell(trial, objective(trial))


class OfOptuna:
    """An Optuna study in memory with a sampler."""

    def __init__(self, sampler, known):
        self.study = optuna.create_study(sampler=sampler)
        for params in known:
            self.study.add_trial(optuna.trial.create_trial(
                params=params, distributions=SPACE, value=objective(params)))

    def step(self):
        trial = self.study.ask(SPACE)
        self.study.tell(trial, objective(trial.params))


def searches(known):
    made = {
        "bayloom": Engine(known),
        "BayloomSampler": OfOptuna(BayloomSampler(search_space=SPACE, seed=1), known),
        "TPESampler": OfOptuna(optuna.samplers.TPESampler(seed=1), known),
        "TPESampler(multivariate)": OfOptuna(
            optuna.samplers.TPESampler(seed=1, multivariate=True), known),
    }
    try:
        import scipy  # noqa: F401
        import torch  # noqa: F401
        made["GPSampler"] = OfOptuna(optuna.samplers.GPSampler(seed=1), known)
    except ImportError as error:
        print(f"without GPSampler: {error}")
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--known", type=int, nargs="+", default=[50, 250, 1000])
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--out", help="JSON file for the times")
    parser.add_argument("--processor-time", action="store_true")
    options = parser.parse_args()
    clock = time.process_time if options.processor_time else time.perf_counter
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    result = {"bayloom": bayloom.__version__, "optuna": optuna.__version__,
              "python": platform.python_version(), "processor_time": options.processor_time, "seconds": {}}
    for known in options.known:
        made = searches(known_trials(known))
        seconds = {name: [] for name in made}
        for each in made.values():
            each.step()  # the first asks for what is not made again
        for _ in range(options.repeats):
            for name, each in made.items():
                begin = clock()
                each.step()
                seconds[name].append(clock() - begin)
        result["seconds"][known] = seconds
        print(f"\n{known} trials known    median      quartiles      x bayloom")
        ours = statistics.median(seconds["bayloom"])
        for name, times in seconds.items():
            low, middle, high = statistics.quantiles(times, n=4)
            print(f"{name:24} {1e3 * middle:8.2f} ms {1e3 * low:8.2f}-{1e3 * high:.2f} ms "
                  f"{middle / ours:8.2f}")
    if options.out:
        with open(options.out, "w") as file:
            json.dump(result, file, indent=1)


if __name__ == "__main__":
    main()
