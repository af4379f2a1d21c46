#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Real tunings under several schedulers: how soon each reaches sequential's lowest latency.

    python3 benchmarks/scheduling/compare.py --trials 1000 --seeds 3 resnet18.onnx bert_tiny.onnx

Every tuning has a database of its own in the folder of --out, so that a run that was stopped goes
on where it was; `bayloom report --html` draws it. Machines drift by more from one tuning to the next
than schedulers differ: when all are done, the best programs that each had found on its way are
timed again, in turns (bayloom-remeasure), and latencies are sums of those times; a task that has
had no trial yet counts with the first program that it came to have. The mean over the trials is that
of the latencies after each step, over the lowest of all tunings of the network. Only the standard
library is needed.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys

# Programs of other tunings are no part of what is measured here.
os.environ["BAYLOOM_STORE"] = "off"

# Of two latencies this near, neither is lower: measurements wander by as much.
TOLERANCE = 1.005
# How often a tuning's best programs are looked at.
STEPS = 48
# The latency of a network while some task has no program.
UNTRIED = math.inf
SCHEDULERS = "sequential,round-robin,linear,gradient,dynatune"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--bayloom", default="build/release/bin/bayloom")
    parser.add_argument("--remeasure", default="build/release/bin/bayloom-remeasure")
    parser.add_argument("--schedulers", default=SCHEDULERS, help="sequential is always run")
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--strategy", default="bayes")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("schedulers"))
    return parser.parse_args()


def output_of(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


def database_of(options, model, scheduler, seed):
    return options.out / f"{model.stem}-{scheduler}-{seed}.db"


def tune(options, model, scheduler, seed):
    """Tunes unless that was done before; what `bayloom report` says of the session."""
    database = database_of(options, model, scheduler, seed)
    done = database.with_suffix(".done")
    if not done.exists():
        shown = output_of([
            options.bayloom, "tune", model, "--trials", options.trials, "--seed", seed,
            "--scheduler", scheduler, "--strategy", options.strategy,
            "--threads", options.threads, "--db", database, "--resume", "--json"])
        done.write_text(shown)
    (report,) = json.loads(output_of([options.bayloom, "report", database, "--json"]))
    return report


def read_curves(path):
    return {(run["scheduler"], run["seed"]): run["seconds"] for run in json.loads(path.read_text())}


def remeasure(options, model, tunings):
    """The network's seconds after each of options.steps, by scheduler and seed; what was timed
    already, unless that is of other tunings or of some that were done again since."""
    result = options.out / f"{model.stem}-{options.trials}.json"
    databases = [database_of(options, model, *tuning) for tuning in tunings]
    last = max(database.with_suffix(".done").stat().st_mtime for database in databases)
    if (not result.exists() or result.stat().st_mtime < last
            or not set(tunings) <= read_curves(result).keys()):
        output_of([options.remeasure, model, *databases, "--by", "scheduler", "--rounds", 3,
                   "--reference", "sequential", "--threads", options.threads, "--untried-by-first",
                   "--after", ",".join(map(str, options.steps)), "--json", result])
    return read_curves(result)


def reaching(options, curve, latency):
    """The first of options.steps at or below the latency, within the tolerance."""
    for step, seconds in zip(options.steps, curve):
        if seconds is not None and seconds <= latency * TOLERANCE:
            return step
    return None


def seconds_after(report, trials):
    """Of tuning, when so many trials were done."""
    after = (point[1] for point in report["latency_after"] if point[0] >= trials)
    return min(after, default=report["seconds"])


def compare(options, report, curve, sequential_report, sequential_curve, lowest_of_all):
    lowest = sequential_curve[-1]
    if lowest is None:
        sys.exit(f"{report['model']}: {options.trials} trials leave tasks without a program")
    before = reaching(options, sequential_curve, lowest)
    now = reaching(options, curve, lowest)
    phases = report["phases"]
    return {
        "latency": curve[-1],
        "latency_ratio": curve[-1] and curve[-1] / lowest,
        "mean_ratio": (None if None in curve else statistics.fmean(curve) / lowest_of_all),
        "seconds": report["seconds"],
        "sooner_in_trials": before / now if now else None,
        "sooner_in_seconds": (seconds_after(sequential_report, before) / seconds_after(report, now)
                              if now else None),
        "scheduler_share": phases["schedule"] / sum(phases.values()),
    }


def middle(rows, key, missing=0.0):
    return statistics.median(missing if row[key] is None else row[key] for row in rows)


def main():
    options = arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    options.steps = [max(1, options.trials * (k + 1) // STEPS) for k in range(STEPS)]
    schedulers = ["sequential"] + [n for n in options.schedulers.split(",") if n != "sequential"]
    seeds = range(1, options.seeds + 1)
    results = []
    print(f"{'network':<16} {'scheduler':<20} {'latency':>10} {'/ seq.':>7} {'mean':>7} "
          f"{'sooner, trials':>15} {'seconds':>8} {'own time':>9}")
    for model in options.models:
        reports = {(name, seed): tune(options, model, name, seed)
                   for seed in seeds for name in schedulers}
        curves = remeasure(options, model, reports.keys())
        lowest = min((seconds for curve in curves.values() for seconds in curve if seconds),
                     default=None)
        for name in schedulers:
            runs = [compare(options, reports[name, seed], curves[name, seed],
                            reports["sequential", seed], curves["sequential", seed], lowest)
                    for seed in seeds]
            print(f"{model.stem:<16} {name:<20} {1e3 * middle(runs, 'latency', UNTRIED):>7.3f} ms "
                  f"{middle(runs, 'latency_ratio', UNTRIED):>7.3f} "
                  f"{middle(runs, 'mean_ratio', UNTRIED):>7.3f} "
                  f"{middle(runs, 'sooner_in_trials'):>14.2f}x "
                  f"{middle(runs, 'sooner_in_seconds'):>7.2f}x "
                  f"{100 * middle(runs, 'scheduler_share'):>7.2f} %", flush=True)
            results.append({"network": model.stem, "scheduler": name, "runs": runs})
    (options.out / "schedulers.json").write_text(json.dumps(results, indent=1) + "\n")
    print("0.00x: sequential's latency was not reached.")


if __name__ == "__main__":
    main()
