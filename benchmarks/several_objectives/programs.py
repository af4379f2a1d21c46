#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""How small networks can be made for how much time, searched for by latency alone and by both.

    benchmarks/several_objectives/programs.py squeezenet1.1.onnx --trials 500 --seeds 3

The table has medians over the seeds: the time of the fastest programs, and the bytes that programs
take at least if the network may be slower than these by so much.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "build/release/bin/bayloom"
SLOWDOWNS = ("0%", "5%", "10%", "20%", "50%", "100%")


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments, "--json"], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def tuned(model, objective, trials, seed, folder):
    """The seconds of the fastest programs, and the bytes for each slowdown."""
    selection = [model, "--threads", "1", "--db", str(folder / f"{objective}-{seed}.db")]
    total = run("tune", *selection, "--trials", str(trials), "--seed", str(seed),
                "--objective", objective, "--no-store")["total"]
    sizes = [run("compile", *selection, "--prefer", "size", "--max-slowdown", slowdown,
                 "--out", str(folder), "--no-store")["variants"][0]["cost"]["size"]
             for slowdown in SLOWDOWNS]
    return total, sizes


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("models", nargs="+")
    parser.add_argument("--trials", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    print(f"{'network':<24}{'objective':<16}{'fastest':>10}" +
          "".join(f"{slowdown:>10}" for slowdown in SLOWDOWNS))
    for model in arguments.models:
        for objective in ("latency", "latency,size"):
            with tempfile.TemporaryDirectory() as folder:
                found = [tuned(model, objective, arguments.trials, seed, pathlib.Path(folder))
                         for seed in range(1, arguments.seeds + 1)]
            fastest = statistics.median(total for total, _ in found)
            sizes = [statistics.median(column) for column in zip(*(sizes for _, sizes in found))]
            print(f"{pathlib.Path(model).stem:<24}{objective:<16}{1000 * fastest:>7.2f} ms" +
                  "".join(f"{size / 1000:>7.0f} kB" for size in sizes), flush=True)


if __name__ == "__main__":
    main()
