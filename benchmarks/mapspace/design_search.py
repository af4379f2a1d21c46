#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Compares searches for architectures under a limit of area.

For every space and seed, optimizers and random designs get the same number of designs; the shipped
architectures are evaluated in the same way. Values are energy times delay, the geometric mean of
the networks'.

    benchmarks/mapspace/design_search.py build/release/bin/bayloom resnet18.onnx mobilenet_v2.onnx
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import tempfile

SHIPPED = ["eyeriss-like", "simba-like", "gemmini16x16"]


def search(arguments, space, optimizer, seed, folder):
    """The JSON that one search prints."""
    line = [
        arguments.bayloom, "design", str(space), "--networks", *arguments.networks,
        "--budget", f"area={arguments.area}mm2", "--technology", arguments.technology,
        "--trials", str(arguments.trials), "--evaluations", str(arguments.evaluations),
        "--optimizer", optimizer, "--seed", str(seed), "--json",
        "--db", f"{folder}/{space.stem}-{optimizer}-{seed}.db", "--compare", *SHIPPED,
    ]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(line)}\n{done.stderr}")
    return json.loads(done.stdout)


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bayloom")
    parser.add_argument("networks", nargs="+")
    parser.add_argument("--spaces", nargs="+", type=pathlib.Path, default=[
        pathlib.Path(__file__).parents[2] / "examples/design" / f"{name}.yaml" for name in ("eyeriss", "gemmini", "simba")])
    parser.add_argument("--optimizers", nargs="+", default=["bayesian", "genetic", "random"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--evaluations", type=int, default=300)
    parser.add_argument("--area", default="2")
    parser.add_argument("--technology", default="45nm")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for space in arguments.spaces:
            compared, seconds = {}, []
            print(f"{space.stem}: {arguments.trials} designs, {arguments.area} mm2 at "
                  f"{arguments.technology}, {arguments.seeds} seeds", flush=True)
            for optimizer in arguments.optimizers:
                results = [search(arguments, space, optimizer, seed, folder)
                           for seed in range(1, arguments.seeds + 1)]
                values = [result["best"]["value"] for result in results]
                seconds += [result["seconds_per_design"] for result in results]
                for result in results:
                    for design in result["compared"]:
                        compared.setdefault(design["name"], []).append(design)
                within = statistics.fmean(result["feasible_trials"] for result in results)
                print(f"  {optimizer:<14} {geometric_mean(values):.4g}  (best {min(values):.4g}, "
                      f"worst {max(values):.4g})  {within:.0f} within the limit", flush=True)
            for name, designs in compared.items():
                values = [design["value"] for design in designs]
                print(f"  {name:<14} {geometric_mean(values):.4g}  "
                      f"({designs[0]['area_mm2']:.3g} mm2)")
            print(f"  {statistics.median(seconds):.3g} s a design, in the median")


if __name__ == "__main__":
    main()
