#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Seconds and megabytes that other autotuners take to build a space of 1.4e11 combinations.

The counterpart of `bench_space --benchmark_filter=Build`: the same parameters and constraints, of
which 3.6e8 combinations are feasible. Each tuner gets so much memory and time and no more. Optuna
is not here: it has no constraints between parameters.

    build/venv/bin/python benchmarks/peers/autotuners/build_space.py --tuners kernel-tuner
    PYTHONPATH=baco build/baco/bin/python benchmarks/peers/autotuners/build_space.py --tuners baco
"""

import argparse
import json
import math
import multiprocessing
import os
import re
import resource
import sys
import tempfile
import time

PARAMETERS = {
    "MWG": [8 * i for i in range(1, 17)], "NWG": [8 * i for i in range(1, 17)],
    "KWG": [8 * i for i in range(1, 9)],
    **{name: list(range(1, 17)) for name in ("MDIMC", "NDIMC", "MDIMA", "NDIMB")},
    **{name: [1, 2, 4, 8] for name in ("KWI", "VWM", "VWN")},
    **{name: [0, 1] for name in ("STRM", "STRN", "SA", "SB")}}
CONSTRAINTS = [
    "KWG % KWI == 0", "MWG % (MDIMC * VWM) == 0", "NWG % (NDIMC * VWN) == 0",
    "MWG % (MDIMA * VWM) == 0", "NWG % (NDIMB * VWN) == 0",
    "KWG % ((MDIMC * NDIMC) / MDIMA) == 0", "KWG % ((MDIMC * NDIMC) / NDIMB) == 0",
    "(SA * KWG * MWG + SB * KWG * NWG) * 4 <= 32768"]


def build_with_kernel_tuner():
    from kernel_tuner.searchspace import Searchspace
    return Searchspace(PARAMETERS, CONSTRAINTS, 1024).size


def build_with_baco():
    from baco.param.space import Space
    from baco.util.file import read_settings_file
    parameters = {name: {"parameter_type": "ordinal", "values": values}
                  for name, values in PARAMETERS.items()}
    for constraint in CONSTRAINTS:
        used = [name for name in PARAMETERS if name in re.findall(r"\w+", constraint)]
        owner = parameters[used[-1]]
        owner.setdefault("constraints", []).append(constraint)
        dependencies = owner.setdefault("dependencies", [])
        dependencies += [name for name in used[:-1] if name not in dependencies]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scenario.json")
        with open(path, "w") as file:
            json.dump({"application_name": "space", "optimization_objectives": ["time"],
                       "run_directory": folder, "input_parameters": parameters}, file)
        sys.stdout.write_to_logfile = lambda text: None  # where it logs
        space = Space(read_settings_file(path))
    return math.prod(len(tree.get_leaves()) for tree in space.chain_of_trees.trees)


TUNERS = {"kernel-tuner": build_with_kernel_tuner, "baco": build_with_baco}


def build(tuner, gigabytes, pipe):
    resource.setrlimit(resource.RLIMIT_AS, (gigabytes << 30, gigabytes << 30))
    start = time.monotonic()
    try:
        said = f"built, {TUNERS[tuner]():.3g} configurations"
    except MemoryError:
        said = f"out of memory ({gigabytes} GB)"
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    pipe.send(f"{said}: {time.monotonic() - start:.1f} s, {megabytes} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tuners", default="kernel-tuner")
    parser.add_argument("--gigabytes", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=100)
    arguments = parser.parse_args()
    for tuner in arguments.tuners.split(","):
        here, there = multiprocessing.Pipe()
        process = multiprocessing.Process(target=build, args=(tuner, arguments.gigabytes, there))
        process.start()
        if here.poll(arguments.seconds):
            print(f"{tuner:<16}{here.recv()}", flush=True)
        elif process.is_alive():
            with open(f"/proc/{process.pid}/status") as file:
                peak = next(line.split()[1] for line in file if line.startswith("VmHWM"))
            print(f"{tuner:<16}not within {arguments.seconds:.0f} s, {int(peak) >> 10} MB so far",
                  flush=True)
        process.kill()
        process.join()


if __name__ == "__main__":
    sys.exit(main())
