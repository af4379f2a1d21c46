#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Searches a scenario of all of gcc's flags by Bayloom's optimizers, Optuna and OpenTuner.

    build/venv/bin/pip install optuna opentuner
    python3 examples/search/gcc_all_flags/make_scenario.py sort.c > sort.json
    build/venv/bin/python benchmarks/compilers/all_flags.py --seeds 5 --trials 100 sort.json

All begin with the scenario's default, -O3. Optuna's samplers ask as the conditions say (define by
run); OpenTuner has no conditions and always chooses all. What does not compile is told to Optuna as
pruned and to OpenTuner as an error. A search of which the best value was found by luck of the clock
looks better than it is; so --again evaluates the best configuration of each search that many times
more, all searches of a scenario in turns, and the medians of these are reported. With --again-by the
evaluator of another scenario does so: searches may count instructions, which has no noise, and their
best be timed.

Prints the best value after some trials relative to the default's, the median over the seeds and
each of them ("-": there is none, or none of the default). All values, and the configurations that were
better than all before, are kept in --out as JSON lines, and what is there is not done again.
"""

import argparse
import csv
import json
import logging
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from typing import Optional

HERE = os.path.dirname(os.path.abspath(__file__))


def by_bayloom(program: str, path: str, optimizer: str, seed: int, trials: int) -> list:
    """Of each trial in order the value, None where there is none, and what was chosen."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "search", path, "--optimizer", optimizer, "--seed", str(seed),
                        "--trials", str(trials), "--db", f"{folder}/run.db", "--csv",
                        f"{folder}/run.csv"], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        with open(f"{folder}/run.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    with open(path, encoding="utf-8") as file:
        scenario = json.load(file)
    return [(float(row[scenario["minimize"]]) if row["verdict"] == "ok" else None,
             {name: row[name] for name in scenario["parameters"] if row[name] != ""})
            for row in rows]


def by_optuna(path: str, sampler_name: str, seed: int, trials: int) -> list:
    import optuna
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with open(path, encoding="utf-8") as file:
        scenario = json.load(file)
    parameters = scenario["parameters"]
    sampler = {"tpe": lambda: optuna.samplers.TPESampler(seed=seed),
               "tpe-multivariate": lambda: optuna.samplers.TPESampler(
                   seed=seed, multivariate=True, group=True, warn_independent_sampling=False),
               "optuna-random": lambda: optuna.samplers.RandomSampler(seed=seed)}[sampler_name]()
    study = optuna.create_study(sampler=sampler)
    study.enqueue_trial({name: parameter["default"] for name, parameter in parameters.items()})
    tried = []
    with tempfile.TemporaryDirectory() as work:

        def objective(trial) -> float:
            chosen = {}
            for name, parameter in parameters.items():
                condition = parameter.get("active_if")
                if condition:
                    flag, value = condition.split(" == ")
                    if chosen[flag] != value.strip("'"):
                        continue
                if parameter["type"] == "categorical":
                    chosen[name] = trial.suggest_categorical(name, parameter["values"])
                else:
                    low, high = parameter["range"]
                    chosen[name] = trial.suggest_int(name, low, high,
                                                     log=parameter.get("scale") == "log")
            value = evaluate(scenario, work, chosen)
            tried.append((value, chosen))
            if value is None:
                raise optuna.TrialPruned()
            return value

        study.optimize(objective, n_trials=trials)
    return tried


def by_opentuner(path: str, seed: int, trials: int) -> list:
    """By its default ensemble of techniques."""
    import random
    import numpy
    import opentuner
    from opentuner.api import TuningRunManager
    from opentuner.measurement.interface import DefaultMeasurementInterface
    from opentuner.resultsdb.models import Result
    logging.disable(logging.WARNING)
    random.seed(seed)
    numpy.random.seed(seed)
    with open(path, encoding="utf-8") as file:
        scenario = json.load(file)
    parameters = scenario["parameters"]
    default = {name: parameter["default"] for name, parameter in parameters.items()}
    manipulator = opentuner.ConfigurationManipulator()
    for name, parameter in parameters.items():
        if parameter["type"] == "categorical":
            kind = opentuner.EnumParameter(name, parameter["values"])
        elif parameter.get("scale") == "log":
            kind = opentuner.LogIntegerParameter(name, *parameter["range"])
        else:
            kind = opentuner.IntegerParameter(name, *parameter["range"])
        manipulator.add_parameter(kind)

    class Interface(DefaultMeasurementInterface):
        def seed_configurations(self):
            return [default]

    tried = []
    with tempfile.TemporaryDirectory() as work:
        arguments = opentuner.default_argparser().parse_args(
            ["--no-dups", f"--database={work}/opentuner.db", f"--test-limit={trials}"])
        manager = TuningRunManager(
            Interface(args=arguments, manipulator=manipulator, project_name=scenario["name"]),
            arguments)
        while len(tried) < trials:
            wanted = manager.get_next_desired_result()
            if wanted is None:
                continue
            chosen = dict(wanted.configuration.data)
            value = evaluate(scenario, work, chosen)
            tried.append((value, chosen))
            manager.report_result(wanted, Result(time=value) if value is not None else
                                  Result(time=float("inf"), state="ERROR"))
        manager.finish()
    return tried


def evaluate(scenario: dict, work: str, chosen: dict) -> Optional[float]:
    command, chosen = scenario["evaluator"]["command"], {**chosen, "work": work}
    arguments = []
    for argument in command:
        name = argument[argument.find("{") + 1:argument.find("}")] if "{" in argument else None
        if name is None:
            arguments.append(argument)
        elif name in chosen:
            arguments.append(argument.replace("{" + name + "}", str(chosen[name])))
    seconds = float(scenario["evaluator"]["timeout"].removesuffix("s"))
    # Of its own group: a compiler that does not come to an end is killed with what started it.
    running = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               start_new_session=True)
    try:
        output, _ = running.communicate(timeout=seconds)
        return json.loads(output).get(scenario["minimize"]) if running.returncode == 0 else None
    except (subprocess.TimeoutExpired, ValueError):
        return None
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()


def best_of(tried: list, trials: int) -> Optional[int]:
    known = [i for i, (value, _) in enumerate(tried[:trials]) if value is not None]
    return min(known, key=lambda i: tried[i][0], default=None)


def evaluate_again(path: str, runs: dict, at: int, times: int) -> dict:
    """Medians over `times` evaluations of each run's best after `at` trials, and the default's."""
    with open(path, encoding="utf-8") as file:
        scenario = json.load(file)
    chosen = {key: tried[best][1] for key, tried in runs.items()
              if (best := best_of(tried, at)) is not None}
    chosen["default"] = {name: parameter["default"]
                         for name, parameter in scenario["parameters"].items()}
    values = {key: [] for key in chosen}
    with tempfile.TemporaryDirectory() as work:
        for _ in range(times):
            for key, configuration in chosen.items():
                value = evaluate(scenario, work, configuration)
                if value is not None:
                    values[key].append(value)
    return {key: statistics.median(of_key) for key, of_key in values.items() if of_key}


def text_of(ratio: Optional[float]) -> str:
    return "-" if ratio is None else f"{ratio:.4f}"


OPTUNA = ("tpe", "tpe-multivariate", "optuna-random")


def without_others(tried: list) -> list:
    """Configurations are kept only of trials that were better than all before."""
    kept, best = [], None
    for value, chosen in tried:
        is_better = value is not None and (best is None or value < best)
        best = value if is_better else best
        kept.append((value, chosen if is_better else None))
    return kept


def search(program: str, path: str, name: str, seed: int, trials: int) -> list:
    if name == "opentuner":
        return by_opentuner(path, seed, trials)
    if name in OPTUNA:
        return by_optuna(path, name, seed, trials)
    return by_bayloom(program, path, name, seed, trials)


class Kept:
    """A file of JSON lines: what was done, and is not done again."""

    def __init__(self, path: str):
        self.path = path
        self.lines = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.lines = [json.loads(line) for line in file]

    def find(self, **keys) -> Optional[dict]:
        return next((line for line in self.lines
                     if all(line.get(key) == value for key, value in keys.items())), None)

    def add(self, **line) -> dict:
        self.lines.append(line)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        return line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenarios", nargs="+")
    parser.add_argument("--optimizers", default="bayesian,random,tpe,opentuner")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--at", default="30,100,300", help="numbers of trials to report")
    parser.add_argument("--again", type=int, default=0, metavar="N",
                        help="evaluate each search's best N times more, after each of --at")
    parser.add_argument("--again-by", nargs="+", metavar="SCENARIO",
                        help="by these scenarios' evaluators, one for each scenario in order")
    parser.add_argument("--bayloom", default=os.path.join(HERE, "../../build/release/bin/bayloom"))
    parser.add_argument("--out", default="all_flags.jsonl")
    arguments = parser.parse_args()
    evaluators = arguments.again_by or arguments.scenarios
    if len(evaluators) != len(arguments.scenarios):
        parser.error("--again-by: one scenario for each that is searched")
    if arguments.again_by and not arguments.again:
        parser.error("--again-by needs --again")
    kept = Kept(arguments.out)
    names = arguments.optimizers.split(",")
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    runs = {}
    for seed in seeds:
        for path in arguments.scenarios:
            for name in names:
                keys = {"scenario": os.path.basename(path), "optimizer": name, "seed": seed,
                        "trials": arguments.trials}
                run = kept.find(**keys)
                if run is None:
                    tried = search(arguments.bayloom, path, name, seed, arguments.trials)
                    run = kept.add(**keys, tried=without_others(tried))
                    print(*keys.values(), file=sys.stderr, flush=True)
                runs[path, name, seed] = run["tried"]
    for path, evaluator in zip(arguments.scenarios, evaluators):
        for at in map(int, arguments.at.split(",")):
            if at <= arguments.trials:
                report(path, evaluator, names, seeds, runs, at, arguments, kept)


def report(path: str, evaluator: str, names: list, seeds: range, runs: dict, at: int, arguments,
           kept: Kept) -> None:
    of_path = {f"{name} {seed}": runs[path, name, seed] for name in names for seed in seeds}
    best = {key: tried[place][0] for key, tried in of_path.items()
            if (place := best_of(tried, at)) is not None}
    default = {key: tried[0][0] for key, tried in of_path.items()}
    what = "as the searches saw it"
    if arguments.again:
        keys = {"scenario": os.path.basename(path), "by": os.path.basename(evaluator),
                "again": arguments.again, "at": at, "trials": arguments.trials,
                "searches": sorted(of_path)}
        line = kept.find(**keys)
        if line is None:
            line = kept.add(**keys, medians=evaluate_again(evaluator, of_path, at,
                                                            arguments.again))
        best = line["medians"]
        default = dict.fromkeys(of_path, best.get("default"))
        what = f"evaluated {arguments.again} times again in turns by {os.path.basename(evaluator)}"
    print(f"\n{os.path.basename(path)} after {at} trials, over -O3, {what}: median (of each seed)")
    for name in names:
        ratios = [best[key] / default[key] if best.get(key) and default.get(key) else None
                  for key in (f"{name} {seed}" for seed in seeds)]
        known = [ratio for ratio in ratios if ratio is not None]
        print(f"{name:18}", text_of(statistics.median(known) if known else None),
              f"({' '.join(map(text_of, ratios))})")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("stopped; the same command goes on", file=sys.stderr)
        sys.exit(130)
