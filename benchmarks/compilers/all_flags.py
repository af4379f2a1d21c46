#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Searches a scenario of all of gcc's flags by Bayloom's optimizers and by Optuna.

    python3 examples/search/gcc_all_flags/make_scenario.py --instructions sort.c > sort.json
    build/venv/bin/python benchmarks/compilers/all_flags.py --seeds 3 --trials 100 sort.json

All begin with the scenario's default, -O3. Optuna's samplers ask as the conditions say (define by
run). Prints the best value after some trials relative to the default's, for each seed and their
median ("-": there is none, or none of the default); everything is kept in --out as JSON lines, and
what is there is not searched again.
"""

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
from typing import Optional

HERE = os.path.dirname(os.path.abspath(__file__))
BAYLOOM = os.path.join(HERE, "../../build/release/bin/bayloom")


def by_bayloom(path: str, optimizer: str, seed: int, trials: int) -> list:
    """The values in order, None where there is none."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([BAYLOOM, "search", path, "--optimizer", optimizer, "--seed", str(seed),
                        "--trials", str(trials), "--db", f"{folder}/run.db", "--csv",
                        f"{folder}/run.csv"], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        with open(f"{folder}/run.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    with open(path, encoding="utf-8") as file:
        objective = json.load(file)["minimize"]
    return [float(row[objective]) if row["verdict"] == "ok" else None for row in rows]


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
    values = []
    with tempfile.TemporaryDirectory() as work:
        known = {"work": work}

        def objective(trial) -> float:
            chosen = dict(known)
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
            answer = evaluate(scenario["evaluator"]["command"], chosen)
            values.append(answer.get(scenario["minimize"]))
            if values[-1] is None:
                raise optuna.TrialPruned()
            return values[-1]

        study.optimize(objective, n_trials=trials)
    return values


def evaluate(command: list, chosen: dict) -> dict:
    arguments = []
    for argument in command:
        name = argument[argument.find("{") + 1:argument.find("}")] if "{" in argument else None
        if name is None:
            arguments.append(argument)
        elif name in chosen:
            arguments.append(argument.replace("{" + name + "}", str(chosen[name])))
    try:
        return json.loads(subprocess.run(arguments, capture_output=True, timeout=60,
                                         check=True).stdout)
    except (subprocess.SubprocessError, ValueError):
        return {}


def ratio_at(values: list, trials: int) -> Optional[float]:
    """The best value after some trials over the first; None where either is missing."""
    known = [value for value in values[:trials] if value is not None]
    return min(known) / values[0] if known and values[0] is not None else None


def text_of(ratio: Optional[float]) -> str:
    return "-" if ratio is None else f"{ratio:.4f}"


OPTUNA = ("tpe", "tpe-multivariate", "optuna-random")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenarios", nargs="+")
    parser.add_argument("--optimizers", default="bayesian,forest,genetic,random,tpe")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--at", default="30,100,300", help="numbers of trials to report")
    parser.add_argument("--out", default="all_flags.jsonl")
    arguments = parser.parse_args()
    runs = {}
    if os.path.exists(arguments.out):
        with open(arguments.out, encoding="utf-8") as file:
            for line in file:
                run = json.loads(line)
                runs[run["scenario"], run["optimizer"], run["seed"], run["trials"]] = run["values"]
    names = arguments.optimizers.split(",")
    for seed in range(1, arguments.seeds + 1):
        for path in arguments.scenarios:
            for name in names:
                key = (os.path.basename(path), name, seed, arguments.trials)
                if key in runs:
                    continue
                search = by_optuna if name in OPTUNA else by_bayloom
                runs[key] = search(path, name, seed, arguments.trials)
                with open(arguments.out, "a", encoding="utf-8") as file:
                    file.write(json.dumps(dict(zip(("scenario", "optimizer", "seed", "trials"), key),
                                               values=runs[key])) + "\n")
                print(*key, file=sys.stderr, flush=True)
    for path in arguments.scenarios:
        print(f"\n{os.path.basename(path)}: best value over that of -O3, median (of each seed)")
        for name in names:
            cells = []
            for at in map(int, arguments.at.split(",")):
                if at > arguments.trials:
                    continue
                ratios = [ratio_at(runs[os.path.basename(path), name, seed, arguments.trials], at)
                          for seed in range(1, arguments.seeds + 1)]
                known = [ratio for ratio in ratios if ratio is not None]
                cells.append(f"{at}: {text_of(statistics.median(known) if known else None)} "
                             f"({' '.join(map(text_of, ratios))})")
            print(f"{name:18}", " | ".join(cells))


if __name__ == "__main__":
    main()
