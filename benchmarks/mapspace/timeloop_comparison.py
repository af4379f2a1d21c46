#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0
"""Mappings of networks' layers found by bayloom map and by Timeloop's own mapper, by Timeloop's model.

    git clone --branch v2.0 https://github.com/NVlabs/timeloop
    cd timeloop && ln -s ../pat-public/src/pat src/pat && sed -i "s/'-Werror', //" src/SConscript
    scons -j1 build/timeloop-model build/timeloop-mapper
    benchmarks/mapspace/timeloop_comparison.py --timeloop timeloop/build --bayloom build/release/bin/bayloom \\
        --arch cosa/src/cosa/configs/arch/simba.yaml --constraints cosa/src/cosa/configs/mapspace/mapspace.yaml

Timeloop reads the problem and the architecture that bayloom writes for it, with all energies, and the
same constraints. Its mapper runs in one thread, until so many mappings in a row were no better
(--victory) or did not fit (--timeout), or its time is up; then it ends as with Ctrl-C, with the best
so far. Bayloom's best mapping is evaluated by timeloop-model: energies and cycles here are all
Timeloop's, and that bayloom's model says the same is checked.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import resource
import shlex
import signal
import subprocess
import tempfile
import time

import yaml

from network_layers import (Bayloom, add_arguments, evaluations_to_reach, largest, name_of, processor_seconds,
                            say_ratios, say_total, value_of, write_problem)


def stats_of(file):
    """Energy and cycles, as bayloom's model has them; None where there is no such file."""
    if not file.exists():
        return None
    text = file.read_text()
    return {"energy_pj": float(re.search(r"^Total topology energy: ([\d.e+]+) pJ", text, re.M)[1]),
            "cycles": int(re.search(r"^Max topology cycles: (\d+)", text, re.M)[1])}


def seconds_of(process):
    """Processor seconds of a process that runs, its threads together."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Timeloop:
    """The programs of a build of it."""

    def __init__(self, build, arguments):
        self.build, self.arguments = build.resolve(), arguments
        libraries = f"{self.build}:{os.environ.get('LD_LIBRARY_PATH', '')}"
        self.environment = os.environ | {"LD_LIBRARY_PATH": libraries}

    def evaluate(self, files, mapping, folder):
        subprocess.run([self.build / "timeloop-model", *files, mapping], cwd=folder, env=self.environment,
                       capture_output=True)
        return stats_of(folder / "timeloop-model.stats.txt")

    def search(self, files, folder):
        """The best that its mapper finds, why it ended, and processor seconds."""
        mapper = {"algorithm": self.arguments.algorithm, "optimization-metrics": [self.arguments.objective],
                  "num-threads": 1, "search-size": 0, "victory-condition": self.arguments.victory,
                  "timeout": self.arguments.timeout}
        settings = folder / "mapper.yaml"
        settings.write_text(yaml.safe_dump({"mapper": mapper}))
        begin = processor_seconds(resource.RUSAGE_CHILDREN)
        with open(folder / "mapper.txt", "w") as said:
            process = subprocess.Popen([self.build / "timeloop-mapper", *files, settings], cwd=folder,
                                       env=self.environment, stdout=said, stderr=said)
            while process.poll() is None:
                time.sleep(0.2)
                if seconds_of(process) > self.arguments.time_limit:
                    process.send_signal(signal.SIGINT)
                    process.wait()
        seconds = processor_seconds(resource.RUSAGE_CHILDREN) - begin
        text = (folder / "mapper.txt").read_text()
        end = ("time" if "global termination flag" in text else "victory" if "since the last upgrade" in text
               else "timeout" if "since the last valid" in text else text[-200:])
        return stats_of(folder / "timeloop-mapper.stats.txt"), end, seconds


def files_for_timeloop(arguments, problem, folder):
    """The problem and the architecture, with its constraints, as bayloom writes them for a simulator,
    and the other constraints."""
    files = [folder / "timeloop_problem.yaml", folder / "timeloop_arch.yaml", folder / "timeloop_constraints.yaml"]
    copy = " && ".join(f"cp {hole} {shlex.quote(str(file))}" for hole, file in zip(("{problem}", "{arch}"), files))
    command = [arguments.bayloom.resolve(), "map", "--problem", problem, "--arch", arguments.arch, "--mapper", "random-pruned",
               "--evaluations", "1", "--evaluator", copy + " && echo 1"]
    if arguments.constraints:
        command += ["--constraints", arguments.constraints]
    subprocess.run(command, check=True, capture_output=True)
    if arguments.constraints:
        given = yaml.safe_load(arguments.constraints.read_text())
        given = given.get("mapspace") or given["constraints"]
        rules = given["constraints"] if isinstance(given, dict) else given
        files[2].write_text(yaml.safe_dump({"mapspace": {"constraints": rules}}))
    return [file for file in files if file.exists()]


def compare_layer(arguments, timeloop, bayloom, shape, folder):
    problem = write_problem(shape, folder / "problem.yaml")
    files = files_for_timeloop(arguments, problem, folder)
    theirs, end, seconds = timeloop.search(files, folder)
    row = {"layer": name_of(shape), "Timeloop": theirs, "end": end, "seconds": seconds, "bayloom": {}}
    for search in arguments.searches:
        mapping = folder / "mapping.yaml"
        found = bayloom.search(problem, arguments.objective, search, arguments.seed, "--out", mapping)
        judged = timeloop.evaluate(files[:2], mapping, folder)
        agrees = (judged["cycles"] == found["model"]["cycles"]
                  and abs(judged["energy_pj"] / found["model"]["energy_pj"] - 1) < 1e-6)
        value = theirs and value_of(theirs, arguments.objective)
        row["bayloom"][search] = {
            "judged": judged, "agrees": agrees, "mapping": found["mapping"]["compact"], "seconds": found["seconds"],
            "ratio": theirs and value_of(judged, arguments.objective) / value,
            "reached after": theirs and evaluations_to_reach(found, value)}
    return row


def print_layer(arguments, count, row):
    theirs = row["Timeloop"]
    figures = f"{theirs['energy_pj'] / 1e6:>9.2f} {theirs['cycles']:>10,}" if theirs else f"{'nothing':>20}"
    print(f"{count:>2} {row['layer']:<36} {figures} {row['seconds']:>7.1f}  {row['end']}")
    for search, ours in row["bayloom"].items():
        judged = ours["judged"]
        ratio = f"{ours['ratio']:>6.3f} {ours['reached after'] or 'never':>8}" if theirs else ""
        print(f"{search:>39} {judged['energy_pj'] / 1e6:>9.2f} {judged['cycles']:>10,} {ours['seconds']:>7.1f}  "
              f"{ratio}{'' if ours['agrees'] else '  models differ'}", flush=True)


def compare(arguments, timeloop, bayloom, network):
    shapes = largest(network, arguments.layers)
    print(f"\n{network}, {len(shapes)} layers, {arguments.objective}: Timeloop, then bayloom\n"
          "layer                                          uJ     cycles seconds  ratio  reached")
    rows = []
    for shape, count in shapes.items():
        with tempfile.TemporaryDirectory() as folder:
            row = compare_layer(arguments, timeloop, bayloom, shape, pathlib.Path(folder))
        rows.append((count, row))
        print_layer(arguments, count, row)
    found = [(count, row) for count, row in rows if row["Timeloop"]]
    say_total("Timeloop", [(count, row["Timeloop"]) for count, row in found])
    ends = collections.Counter(row["end"] for _, row in rows)
    print(f"processor seconds of Timeloop: {sum(row['seconds'] for _, row in rows):.1f}; ended by {dict(ends)}")
    for search in arguments.searches:
        ours = [(count, row["bayloom"][search]) for count, row in found]
        say_ratios(f"{search}, ratio of {arguments.objective}",
                   [figure["ratio"] for _, figure in ours])
        say_total("bayloom", [(count, figure["judged"]) for count, figure in ours])
        print(f"processor seconds: {sum(row['bayloom'][search]['seconds'] for _, row in rows):.1f}")
    return [row | {"count": count} for count, row in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_arguments(parser)
    parser.add_argument("--timeloop", required=True, type=pathlib.Path, help="the folder with its programs")
    parser.add_argument("--arch", required=True, help="as of bayloom map")
    parser.add_argument("--constraints", type=pathlib.Path)
    parser.add_argument("--objective", default="edp", choices=["energy", "delay", "edp"])
    parser.add_argument("--algorithm", default="random-pruned", help="of Timeloop's mapper")
    parser.add_argument("--victory", type=int, default=500, help="of Timeloop's mapper")
    parser.add_argument("--timeout", type=int, default=0, help="of Timeloop's mapper; 0: none")
    parser.add_argument("--time-limit", type=float, default=600, help="processor seconds of its mapper, a layer")
    arguments = parser.parse_args()
    timeloop = Timeloop(arguments.timeloop, arguments)
    bayloom = Bayloom(arguments.bayloom.resolve(), arguments.arch, arguments.constraints)
    rows = {network: compare(arguments, timeloop, bayloom, network) for network in arguments.networks}
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
