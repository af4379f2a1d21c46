#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Counts the evaluations that Kernel Tuner's strategies, Optuna, SMAC3, HEBO and BaCO need on recorded
spaces.

The counterpart of `bayloom-simulate`: the same files (a T4 record with its T1.json beside it, or a
scenario with its T4 record), the same measure (evaluations until a value within 10, 5 and 1 % of the optimum was found; median and
quartiles over the seeds), the same JSON.

    python3 -m venv build/venv && build/venv/bin/pip install kernel_tuner==1.4.0 optuna smac pyyaml
    build/venv/bin/python benchmarks/peers/autotuners/simulate.py --seeds 30 A100_T4.json.gz

BaCO is no package; it runs from a checkout (`--optimizers baco`, PYTHONPATH=baco) in an environment
with numpy<2, torch, botorch 0.9, gpytorch 1.11, GPy, networkx, numexpr, jsonschema and graphviz. HEBO
(`--optimizers hebo`) needs numpy<1.25; Debian's torch and the package HEBO do.

What is known to the tuner: the parameters and the conditions of the T1 file. Configurations that
break a condition and configurations asked for again cost nothing.

With --runs each search is added to a file of JSON lines as soon as it ends, and what is there is not
done again; seeds are the outer loop, so that an interrupted comparison has as many searches of each
space. A search that a tool ends with an exception of its own is printed and left out.
compare_spaces.py reads that file.
"""

import argparse
import contextlib
import json
import os
import sys
import tempfile
import time
import warnings

from recorded_task import Task
from searchers import KERNEL_TUNER, OPTUNA, search

SHARES = (0.10, 0.05, 0.01)


def quartiles(counts, trials):
    counts = sorted(float("inf") if c is None else c for c in counts)
    text = [f">{trials}" if c == float("inf") else str(c)
            for c in (counts[q * (len(counts) - 1) // 4] for q in (2, 1, 3))]
    return f"{text[0]} ({text[1]} .. {text[2]})"


def run_of(task, optimizer, seed, trials, cache):
    """One search, as a run of the JSON."""
    start = time.monotonic()
    met = search(optimizer, task, seed, trials, cache)
    seconds = time.monotonic() - start
    improvements, count = task.curve(met)
    reached = [next((t for t, v in improvements if v <= task.optimum * (1 + s)), None)
               for s in SHARES]
    return {"trials": count, "improvements": improvements, "trials_to_reach": reached,
            "seconds_asking": seconds}


def add_runs(arguments):
    """Adds to --runs what is not there, until --minutes are over."""
    done = set()
    if os.path.exists(arguments.runs):
        with open(arguments.runs) as file:
            for line in map(json.loads, file):
                done.add((line["space"], line["optimizer"], line["seed"], line["max_trials"]))
    end = time.monotonic() + 60 * arguments.minutes
    with contextlib.ExitStack() as stack, open(arguments.runs, "a") as out:
        tasks = []
        for path in arguments.records:
            task = Task(path)
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            task.write_cache(os.path.join(folder, "cache.json"))
            tasks.append((task, os.path.join(folder, "cache.json")))
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
            for name in arguments.optimizers.split(","):
                optimizer, _, limit = name.partition(":")
                trials = int(limit or arguments.trials)
                for task, cache in tasks:
                    if (task.name, optimizer, seed, trials) in done:
                        continue
                    if time.monotonic() > end:
                        return
                    try:
                        run = run_of(task, optimizer, seed, trials, cache)
                    except Exception as error:  # a tool's own; the others go on
                        print(f"{task.name:<28}{optimizer:<26}{seed:<5}ended with "
                              f"{type(error).__name__}: {error}", flush=True)
                        continue
                    line = {"space": task.name, "optimizer": optimizer, "seed": seed,
                            "max_trials": trials, "optimum": task.optimum, **run}
                    out.write(json.dumps(line) + "\n")
                    out.flush()
                    print(f"{task.name:<28}{optimizer:<26}{seed:<5}{run['trials_to_reach']} "
                          f"{run['seconds_asking']:.1f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("records", nargs="+",
                        help="T4 files, gzipped, each with its T1.json beside it")
    parser.add_argument("--optimizers", default=",".join(KERNEL_TUNER + OPTUNA))
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--trials", type=int, default=500)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--json", help="also write all curves to this file")
    parser.add_argument("--runs", help="add each search to this file of JSON lines, nothing else; then an "
                        "optimizer may have its own number of trials (smac:100)")
    parser.add_argument("--minutes", type=float, default=1e9,
                        help="with --runs: begin no search after so long")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.runs:
        return add_runs(arguments)

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
                for seed in range(arguments.first_seed,
                                  arguments.first_seed + arguments.seeds):
                    runs.append(run_of(task, optimizer, seed, arguments.trials, cache))
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
