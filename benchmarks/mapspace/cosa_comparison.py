#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0
"""Mappings of networks' layers found by bayloom map and by CoSA, by bayloom's model.

    python -m venv build/venv-cosa && build/venv-cosa/bin/pip install highspy numpy pyyaml
    git clone https://github.com/ucb-bar/cosa && git -C cosa checkout c4798a7
    build/venv-cosa/bin/python benchmarks/mapspace/cosa_comparison.py --cosa cosa \\
        --bayloom build/release/bin/bayloom --networks resnet50

Both map onto CoSA's own accelerator (configs/arch/simba.yaml) with its own rules of which memory
keeps what (configs/mapspace/mapspace.yaml). CoSA's formulation runs as it is, but calls HiGHS where
it calls Gurobi (gurobi_calls.py); the mapping that it writes is evaluated by bayloom's model, which
counts as Timeloop 2.0 does (--counting timeloop) with the energies of its public table. CoSA has an
objective of its own, a sum of logarithms of traffic, cycles and utilization; bayloom searches for
energy, delay and their product apart.
"""

import argparse
import importlib
import json
import logging
import math
import pathlib
import sys
import tempfile
import types

import numpy
import yaml

import gurobi_calls
from network_layers import (Bayloom, add_arguments, bounds_of, evaluations_to_reach, largest, name_of,
                            processor_seconds, say_ratios, say_total, value_of, write_problem)

OBJECTIVES = ("edp", "delay", "energy")


class Cosa:
    """CoSA from a checkout of its repository."""

    def __init__(self, folder, time_limit):
        sys.path.insert(0, str(folder / "src"))
        sys.modules["gurobipy"] = gurobi_calls
        gurobi_calls.OPTIONS["time_limit"] = time_limit
        numpy.math = math  # which numpy once had
        # Timeloop, which would evaluate the mapping, is not needed, nor is its version.
        sys.modules["cosa.check_timeloop_version"] = types.SimpleNamespace(check_timeloop_version=lambda: None)
        logging.disable(logging.CRITICAL)
        self.program = importlib.import_module("cosa.cosa")
        sys.modules["cosa.utils"].run_timeloop = lambda *files, **options: False
        configs = folder / "src" / "cosa" / "configs"
        self.architecture, self.mapspace = configs / "arch" / "simba.yaml", configs / "mapspace" / "mapspace.yaml"

    def search(self, shape, folder):
        """The mapping's file, what HiGHS says of the model, and processor seconds, those of building it included."""
        problem = folder / "cosa_problem.yaml"
        problem.write_text(yaml.safe_dump({"problem": bounds_of(shape) | {"shape": "cnn-layer"}}))
        before = len(gurobi_calls.SOLVED)
        begin = processor_seconds()
        try:
            self.program.run_timeloop(problem, self.architecture, self.mapspace, folder / "cosa")
        except RuntimeError as error:  # of gurobi_calls: nothing found in time
            print(f"   {name_of(shape)}: {error}")
        seconds = processor_seconds() - begin
        files = list((folder / "cosa").glob("**/map_16.yaml"))
        solved = gurobi_calls.SOLVED[before] if len(gurobi_calls.SOLVED) > before else None
        return files[0] if files else None, solved, seconds


def compare_layer(arguments, cosa, bayloom, shape, folder):
    """What each found; None where CoSA has no mapping that fits."""
    problem = write_problem(shape, folder / "problem.yaml")
    mapping, solved, seconds = cosa.search(shape, folder)
    row = {"layer": name_of(shape), "solved": solved and vars(solved), "CoSA seconds": seconds, "CoSA": None}
    try:
        row["CoSA"] = bayloom.evaluate(problem, mapping) if mapping else None
    except ValueError as error:
        row["refused"] = str(error)
    row["mapping"] = mapping.read_text() if mapping else None
    for search in arguments.searches:
        for objective in OBJECTIVES:
            found = bayloom.search(problem, objective, search, arguments.seed)
            theirs = row["CoSA"] and value_of(row["CoSA"], objective)
            row[search, objective] = Found(found, theirs, objective)
    return row


class Found:
    """What a search of bayloom's ended with, and its value over that of CoSA's mapping."""

    def __init__(self, found, theirs, objective):
        self.model, self.mapping, self.seconds = found["model"], found["mapping"]["compact"], found["seconds"]
        self.ratio = theirs and value_of(self.model, objective) / theirs
        self.reached_after = theirs and evaluations_to_reach(found, theirs)


def print_layer(arguments, count, row):
    solved, theirs = row["solved"], row["CoSA"]
    gap = "" if not solved or solved["is_optimal"] else f"  gap {100 * solved['gap']:.2f} %"
    if not theirs:
        print(f"{count:>2} {row['layer']:<34} CoSA's mapping does not fit: {row.get('refused', 'none')}{gap}")
        return
    print(f"{count:>2} {row['layer']:<34} {theirs['energy_pj'] / 1e6:>9.2f} {theirs['cycles']:>10,} "
          f"{row['CoSA seconds']:>7.1f}{gap}")
    for search in arguments.searches:
        edp, delay, energy = (row[search, objective] for objective in OBJECTIVES)
        print(f"{search:>37} {edp.model['energy_pj'] / 1e6:>9.2f} {edp.model['cycles']:>10,} "
              f"{edp.seconds:>7.1f}  {edp.ratio:>6.3f} {delay.ratio:>6.3f} {energy.ratio:>6.3f} "
              f"{edp.reached_after or 'never':>8}", flush=True)


def compare(arguments, cosa, bayloom, network):
    shapes = largest(network, arguments.layers, kinds=("conv", "product"))
    print(f"\n{network}, {len(shapes)} layers without depthwise ones: CoSA, then bayloom for edp\n"
          "layer                                        uJ     cycles seconds  ratio: edp, delay, energy; reached")
    rows = []
    for shape, count in shapes.items():
        with tempfile.TemporaryDirectory() as folder:
            row = compare_layer(arguments, cosa, bayloom, shape, pathlib.Path(folder))
        rows.append((count, row))
        print_layer(arguments, count, row)
    fitting = [(count, row) for count, row in rows if row["CoSA"]]
    say_total("CoSA", [(count, row["CoSA"]) for count, row in fitting])
    print(f"processor seconds of CoSA: {sum(row['CoSA seconds'] for _, row in rows):.1f}")
    for search in arguments.searches:
        print(search)
        for objective in OBJECTIVES:
            found = [(count, row[search, objective]) for count, row in fitting]
            say_ratios(f"  ratio of {objective}", [ours.ratio for _, ours in found])
            say_total(f"bayloom for {objective}", [(count, ours.model) for count, ours in found])
            print(f"  processor seconds: {sum(ours.seconds for _, ours in found):.1f}")
    return [{str(key): getattr(value, "__dict__", value) for key, value in row.items()} | {"count": count}
            for count, row in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_arguments(parser)
    parser.add_argument("--cosa", required=True, type=pathlib.Path, help="a checkout of its repository")
    parser.add_argument("--time-limit", type=float, default=300, help="seconds of HiGHS, for each layer")
    arguments = parser.parse_args()
    cosa = Cosa(arguments.cosa.resolve(), arguments.time_limit)
    bayloom = Bayloom(arguments.bayloom.resolve(), cosa.architecture, cosa.mapspace)
    rows = {network: compare(arguments, cosa, bayloom, network) for network in arguments.networks}
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
