#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Evaluations until a value within 5 % of the optimum is found on a recorded space: Optuna's studies
with Bayloom's sampler beside `bayloom search`, with the same seeds on the same space.

    benchmarks/python/recorded_spaces.py T4.json.gz... [--seeds 10] [--trials 100]

Each T4.json.gz has its T1.json beside it. Needs bayloom and optuna.
"""

import argparse
import ast
import gzip
import json
import os
import pathlib
import statistics
import sys
import tempfile

import optuna

import bayloom
from bayloom.optuna import BayloomSampler
from bayloom.space import make_space

SHARE = 0.05


def measured(path):
    """The time of each configuration that has one."""
    with gzip.open(path) as file:
        results = json.load(file)["results"]
    return {tuple(sorted(result["configuration"].items())):
            next(each["value"] for each in result["measurements"] if each["name"] == "time")
            for result in results if result["invalidity"] == "correct"}


def space_of(path):
    """The distributions and constraints that the T1.json beside the file says."""
    scenario = next(each for each in sorted(path.parent.glob("*T1.json")))
    given = json.loads(scenario.read_text())["ConfigurationSpace"]
    space = {}
    for each in given["TuningParameters"]:
        values = each["Values"]
        space[each["Name"]] = optuna.distributions.CategoricalDistribution(
            ast.literal_eval(values) if isinstance(values, str) else values)
    return space, [condition["Expression"] for condition in given.get("Conditions", [])]


def evaluations(values, best):
    """How many until the first that is good enough; None if there is none."""
    good = (number for number, value in enumerate(values, 1)
            if value is not None and value <= best * (1 + SHARE))
    return next(good, None)


def by_sampler(space, constraints, times, seed, trials):
    study = optuna.create_study(
        sampler=BayloomSampler(search_space=space, constraints=constraints, seed=seed))
    study.optimize(lambda trial: times[tuple(sorted(
        (name, trial.suggest_categorical(name, each.choices)) for name, each in space.items()))],
        n_trials=trials, catch=(KeyError,))
    return [trial.value for trial in study.trials]


def by_program(space, constraints, path, seed, trials, folder):
    scenario = json.loads(make_space(space, constraints, name="space", objective="time",
                                     seed=seed).scenario.text)
    scenario["evaluator"] = {"process": [sys.executable, "-u", os.path.abspath(__file__),
                                         "--answer", os.path.abspath(path)]}
    file = os.path.join(folder, f"{seed}.json")
    with open(file, "w") as out:
        json.dump(scenario, out)
    found = bayloom.search(file, trials=trials, db=os.path.join(folder, f"{seed}.db"))
    return [trial["value"] for trial in found.trials]


def answer(path):
    """Looks up what `bayloom search` asks for; categories are texts there."""
    times = {tuple((name, str(value)) for name, value in key): time
             for key, time in measured(path).items()}
    for line in sys.stdin:
        time = times.get(tuple(sorted((name, str(value))
                                      for name, value in json.loads(line).items())))
        print(json.dumps({"feasible": False} if time is None else {"time": time}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records", type=pathlib.Path, nargs="+")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.answer:
        return answer(options.records[0])
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    for path in options.records:
        times = measured(path)
        best = min(times.values())
        space, constraints = space_of(path)
        counts = {"BayloomSampler": [], "bayloom search": []}
        same = 0
        with tempfile.TemporaryDirectory() as folder:
            for seed in range(1, options.seeds + 1):
                ours = by_sampler(space, constraints, times, seed, options.trials)
                theirs = by_program(space, constraints, path, seed, options.trials, folder)
                counts["BayloomSampler"].append(evaluations(ours, best))
                counts["bayloom search"].append(evaluations(theirs, best))
                same += ours == theirs
        print(f"{path.parent.name}/{path.name}: {same} of {options.seeds} searches are the same")
        for name, all_counts in counts.items():
            found = sorted(count if count is not None else options.trials + 1
                           for count in all_counts)
            print(f"  {name:16} median {statistics.median(found):g}, range {found[0]} to {found[-1]}")


if __name__ == "__main__":
    main()
