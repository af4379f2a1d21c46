#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Trials a second of a search on a local Ray cluster whose trials take a known time, and what each
trial costs beyond that.

    benchmarks/python/ray_workers.py [--workers 1 2 3] [--milliseconds 50] [--trials 120]

Beside them, the same search with as many local processes (`--workers 'bayloom worker'`), without Ray.
The time is that between the first and the last trial in the database. Needs bayloom and ray.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile

from ray.cluster_utils import Cluster

import bayloom
from bayloom import program

SCENARIO = """
parameters: {{x: {{type: integer, range: [1, 100000]}}}}
minimize: value
evaluator: {{shell: "sleep {seconds}; echo {{x}}"}}
optimizer: random
"""


def rate(folder, name, arguments, options):
    """Seconds between the ends of the trials after the first of each worker."""
    database = os.path.join(folder, name + ".db")
    done = subprocess.run(
        [program.executable(), "search", os.path.join(folder, "sleep.yaml"), "--seed", "1",
         "--trials", str(options.trials), "--db", database, *arguments],
        capture_output=True, text=True, env={**os.environ, "BAYLOOM_PYTHON": sys.executable})
    if done.returncode != 0:
        sys.exit(done.stderr)
    elapsed = sorted(trial["elapsed"] for trial in bayloom.open(database).trial_records())
    return (len(elapsed) - 1) / (elapsed[-1] - elapsed[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--milliseconds", type=float, default=50)
    parser.add_argument("--trials", type=int, default=120)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print("workers   through        trials a second   ms beyond the trial")
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "sleep.yaml"), "w") as file:
            file.write(SCENARIO.format(seconds=options.milliseconds / 1000))
        for workers in options.workers:
            cluster = Cluster(initialize_head=True,
                              head_node_args={"num_cpus": 1, "include_dashboard": False})
            for _ in range(workers):
                cluster.add_node(num_cpus=1, resources={"bayloom": 1})
            ways = {"ray": ["--ray", cluster.address],
                    "processes": ["--workers", f"{program.executable()} worker"] * workers,
                    "--jobs": ["--jobs", str(workers)]}
            rates = {name: [] for name in ways}
            for repeat in range(options.repeats):
                for name, arguments in ways.items():
                    rates[name].append(rate(folder, f"{name.strip('-')}-{workers}-{repeat}",
                                            arguments, options))
            for name, all_rates in rates.items():
                middle = statistics.median(all_rates)
                beyond = 1000 * workers / middle - options.milliseconds
                print(f"{workers:7}   {name:12} {middle:17.1f} {beyond:20.1f}", flush=True)
            cluster.shutdown()


if __name__ == "__main__":
    main()
