#!/usr/bin/env python3
"""Counts the evaluations that Kernel Tuner's strategies and Optuna need on recorded spaces.

The counterpart of `bayloom-simulate`: the same files (a T4 record with its T1.json beside it), the
same measure (evaluations until a value within 10, 5 and 1 % of the optimum was found; median and
quartiles over the seeds), the same JSON.

    python3 -m venv build/venv && build/venv/bin/pip install kernel_tuner==1.4.0 optuna
    build/venv/bin/python benchmarks/peers/autotuners/simulate.py --seeds 30 A100_T4.json.gz

What is known to the tuner: the parameters and the conditions of the T1 file. Configurations that
break a condition and configurations asked for again cost nothing.
"""

import argparse
import contextlib
import gzip
import io
import json
import os
import random
import sys
import tempfile
import time
import warnings

SHARES = (0.10, 0.05, 0.01)
KERNEL_TUNER = ["random_sample", "simulated_annealing", "genetic_algorithm", "diff_evo", "pso",
                "greedy_ils", "mls", "dual_annealing", "firefly_algorithm", "bayes_opt",
                "hybrid_vndx", "adaptive_tabu_greywolf"]
OPTUNA = ["optuna-tpe", "optuna-tpe-multivariate"]


class Task:
    """A space that was run completely."""

    def __init__(self, path):
        folder = os.path.dirname(os.path.abspath(path))
        self.name = f"{os.path.basename(folder)}/{os.path.basename(path).split('_')[0]}"
        with open(os.path.join(folder, "T1.json")) as file:
            t1 = json.load(file)
        space = t1["ConfigurationSpace"]
        self.parameters = {p["Name"]: eval(p["Values"]) for p in space["TuningParameters"]}
        self.conditions = [c["Expression"] for c in space["Conditions"]]
        self.problem_size = t1["KernelSpecification"]["ProblemSize"]
        with gzip.open(path, "rt") as file:
            results = json.load(file)["results"]
        self.values = {}  # configuration as a tuple -> time, None where it failed
        for result in results:
            value = None
            if result["invalidity"] == "correct":
                value = next(m["value"] for m in result["measurements"] if m["name"] == "time")
            key = tuple(result["configuration"][name] for name in self.parameters)
            self.values[key] = value
        self.optimum = min(v for v in self.values.values() if v is not None)

    def curve(self, configurations):
        """Improvements [[trial, value], ...] and the number of trials, each configuration once."""
        improvements, met, best = [], set(), float("inf")
        for key in configurations:
            if key in met or key not in self.values:
                continue
            met.add(key)
            value = self.values[key]
            if value is not None and value < best:
                best = value
                improvements.append([len(met), value])
        return improvements, len(met)

    def write_cache(self, path):
        """The records as a cache file of Kernel Tuner."""
        entries = {}
        for key, value in self.values.items():
            entry = dict(zip(self.parameters, key))
            entry["time"] = "RuntimeFailedConfig" if value is None else value
            for part in ("compile_time", "verification_time", "benchmark_time", "framework_time",
                         "strategy_time"):
                entry[part] = 0.0
            entries[",".join(str(k) for k in key)] = entry
        with open(path, "w") as file:
            json.dump({"device_name": "recorded", "kernel_name": "recorded",
                       "problem_size": self.problem_size,
                       "tune_params_keys": list(self.parameters), "tune_params": self.parameters,
                       "objective": "time", "cache": entries}, file)


def run_kernel_tuner(task, strategy, seed, trials, cache):
    """The configurations that were evaluated, in order."""
    import kernel_tuner
    import numpy
    random.seed(seed)
    numpy.random.seed(seed)
    # A strategy that repeats itself ends by the number of new configurations.
    with contextlib.redirect_stdout(io.StringIO()):
        results, _ = kernel_tuner.tune_kernel(
            "recorded", "__global__ void recorded() {}", tuple(task.problem_size), [],
            task.parameters, restrictions=task.conditions, lang="CUDA", strategy=strategy,
            strategy_options={"max_fevals": min(trials, len(task.values))}, cache=cache,
            simulation_mode=True, quiet=True, objective="time")
    return [tuple(r[name] for name in task.parameters) for r in results]


def run_optuna(task, multivariate, seed, trials):
    """Parameters by the ranks of their values; broken conditions and repetitions are free."""
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler(seed=seed, multivariate=multivariate,
                                         constant_liar=False)
    study = optuna.create_study(sampler=sampler)
    evaluated = {}
    for _ in range(20 * trials):
        if len(evaluated) >= trials or task.optimum in evaluated.values():
            break
        trial = study.ask()
        key = tuple(values[trial.suggest_int(name, 0, len(values) - 1)] if len(values) > 1
                    else values[0] for name, values in task.parameters.items())
        if key not in task.values or task.values[key] is None:
            if key in task.values:
                evaluated.setdefault(key, None)
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            continue
        evaluated.setdefault(key, task.values[key])
        study.tell(trial, task.values[key])
    return list(evaluated)


def quartiles(counts, trials):
    counts = sorted(float("inf") if c is None else c for c in counts)
    text = [f">{trials}" if c == float("inf") else str(c)
            for c in (counts[q * (len(counts) - 1) // 4] for q in (2, 1, 3))]
    return f"{text[0]} ({text[1]} .. {text[2]})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("records", nargs="+", help="T4 files, gzipped, each with its T1.json beside it")
    parser.add_argument("--optimizers", default=",".join(KERNEL_TUNER + OPTUNA))
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--trials", type=int, default=500)
    parser.add_argument("--json", help="also write all curves to this file")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")

    rows = []
    print(f"{'space':<20}{'optimizer':<26}{'within 10 %':<22}{'within 5 %':<22}{'within 1 %':<22}"
          "ms/trial")
    for path in arguments.records:
        task = Task(path)
        with tempfile.TemporaryDirectory() as folder:
            cache = os.path.join(folder, "cache.json")
            task.write_cache(cache)
            for optimizer in arguments.optimizers.split(","):
                runs = []
                for seed in range(1, arguments.seeds + 1):
                    start = time.monotonic()
                    if optimizer in OPTUNA:
                        met = run_optuna(task, optimizer.endswith("multivariate"), seed,
                                         arguments.trials)
                    else:
                        met = run_kernel_tuner(task, optimizer, seed, arguments.trials, cache)
                    seconds = time.monotonic() - start
                    improvements, trials = task.curve(met)
                    reached = [next((t for t, v in improvements if v <= task.optimum * (1 + s)),
                                    None) for s in SHARES]
                    runs.append({"trials": trials, "improvements": improvements,
                                 "trials_to_reach": reached, "seconds_asking": seconds})
                columns = "".join(
                    f"{quartiles([r['trials_to_reach'][i] for r in runs], arguments.trials):<22}"
                    for i in range(len(SHARES)))
                milliseconds = 1e3 * sum(r["seconds_asking"] for r in runs) / sum(
                    r["trials"] for r in runs)
                print(f"{task.name:<20}{optimizer:<26}{columns}{milliseconds:.2f}", flush=True)
                rows.append({"space": task.name, "optimizer": optimizer, "optimum": task.optimum,
                             "batch": 1, "max_trials": arguments.trials, "shares": SHARES,
                             "runs": runs})
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(rows, file)


if __name__ == "__main__":
    sys.exit(main())
