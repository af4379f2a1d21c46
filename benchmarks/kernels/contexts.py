#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""How much of the best is found in 18 contexts with a share of all measurements.

    benchmarks/kernels/contexts.py BAYLOOM --trials 460 --seeds 10

The space is that of a fused mixture of experts on a GPU, for 1 to 4,096 rows: tiles, groups, warps and
stages. Times are a model's (rows of tiles, waves of blocks, bytes, shared memory, how well stages
hide latency), with a part of each configuration's own that the model does not explain, as records
of devices have it. `--recorded FILE` takes a recorded space in its place, a T4 file whose
configurations have the parameter of --context.

Compared are searches that learn of each other, searches each on its own and random ones, all in
turns with the same number of trials.
"""

import argparse
import hashlib
import itertools
import json
import math
import pathlib
import statistics
import subprocess
import tempfile

SIZES = [1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024, 1536, 2048, 3072, 4096]
SMALL = {"BLOCK_SIZE_M": [16, 32, 64, 128], "BLOCK_SIZE_N": [32, 64, 128, 256],
         "BLOCK_SIZE_K": [64, 128], "GROUP_SIZE_M": [1, 16], "num_warps": [4, 8],
         "num_stages": [2, 4]}
LARGE = {"BLOCK_SIZE_M": [16, 32, 64, 128, 256], "BLOCK_SIZE_N": [32, 64, 128, 256],
         "BLOCK_SIZE_K": [32, 64, 128, 256], "GROUP_SIZE_M": [1, 8, 16, 64],
         "num_warps": [4, 8], "num_stages": [2, 3, 4, 5]}
EXPERTS, TOP, WIDTH, DEPTH = 64, 6, 2816, 2048  # of the model
PROCESSORS, RATE, BANDWIDTH = 132, 8e14, 3.3e12


def own_part(*key) -> float:
    """From -1 to 1, the same for the same key."""
    digest = hashlib.sha256(repr(key).encode()).digest()
    return 2 * int.from_bytes(digest[:8], "big") / 2**64 - 1


def seconds(config: dict, rows: int):
    """The model's time; None where it does not run."""
    bm, bn, bk = (config[f"BLOCK_SIZE_{axis}"] for axis in "MNK")
    stages, warps = config["num_stages"], config["num_warps"]
    shared = 2 * stages * bk * (bm + bn)
    if shared > 227 * 1024 or bm * bn // (32 * warps) > 240:
        return None
    busy = EXPERTS * (1 - (1 - TOP / EXPERTS) ** rows)  # experts with a row
    per_expert = rows * TOP / busy
    row_tiles = busy * math.ceil(per_expert / bm)
    column_tiles = math.ceil(WIDTH / bn)
    blocks_at_once = max(1, min(227 * 1024 // shared, 64 // warps, 4))
    waves = math.ceil(row_tiles * column_tiles / (PROCESSORS * blocks_at_once))
    peak = RATE / PROCESSORS * min(1, bm / 64) ** 0.35 * min(1, bn / 128) ** 0.3
    peak *= 1 if (bm * bn >= 128 * 128) == (warps == 8) else 0.86
    compute = waves * blocks_at_once * 2 * bm * bn * DEPTH / peak
    reuse = min(config["GROUP_SIZE_M"], row_tiles / busy)
    traffic = 2 * DEPTH * (busy * WIDTH + row_tiles * bm * column_tiles / max(1, reuse) ** 0.7)
    memory = traffic / BANDWIDTH
    steps = DEPTH / bk
    latency = waves * steps * 6e-7 / (stages - 0.5) / math.sqrt(blocks_at_once)
    time = max(compute, memory) + 0.3 * min(compute, memory) + latency + 4e-6
    own = 0.03 * own_part(sorted(config.items())) + 0.02 * own_part(sorted(config.items()), rows)
    return time * (1 + own)


def modelled(parameters: dict) -> dict:
    """A recorded space (T4)."""
    results = []
    for values in itertools.product(*parameters.values()):
        config = dict(zip(parameters, values))
        for rows in SIZES:
            time = seconds(config, rows)
            results.append({
                "configuration": {**config, "M": rows}, "objectives": ["time"],
                "invalidity": "correct" if time else "runtime",
                "measurements": [{"name": "time", "value": 1e6 * time}] if time else []})
    return {"schema_version": "1.0.0", "metadata": {}, "results": results}


def value_of(record: dict):
    return next((m["value"] for m in record["measurements"] if m["name"] == "time"), None)


def shares(answer: dict, best: dict, context: str) -> list:
    """Of each context the exhaustive best over what was found, 0 where nothing was."""
    found = {row["context"][context]: row["value"] for row in answer["table"]}
    return [best[key] / found[key] if found.get(key) else 0 for key in best]


def search(program: str, folder: pathlib.Path, scenario: dict, seed: int) -> dict:
    path = folder / "scenario.json"
    path.write_text(json.dumps(scenario))
    run = subprocess.run([program, "search", str(path), "--seed", str(seed), "--json",
                          "--db", str(folder / f"{scenario['name']}-{seed}.db")],
                         check=True, capture_output=True, text=True)
    return json.loads(run.stdout)


def alone(program: str, folder: pathlib.Path, scenario: dict, seed: int, context: str) -> dict:
    """Searches of each context on its own, with the trials divided among them."""
    sizes = scenario["contexts"][context]
    rows = []
    for place, size in enumerate(sizes):
        trials = scenario["budget"]["trials"]
        one = {**scenario, "contexts": {context: [size]}, "name": f"alone-{size}",
               "budget": {"trials": trials * (place + 1) // len(sizes) - trials * place // len(sizes)}}
        rows += search(program, folder, one, seed * 1000 + place)["table"]
    return {"table": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--trials", type=int, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--large", action="store_true", help="2,560 configurations, not 256")
    parser.add_argument("--recorded", help="a T4 file in place of the model")
    parser.add_argument("--context", default="M")
    parser.add_argument("--methods", default="together,alone,random")
    parser.add_argument("--scheduler", default="round-robin")
    arguments = parser.parse_args()
    if arguments.recorded:
        space = json.loads(pathlib.Path(arguments.recorded).read_text())
    else:
        space = modelled(LARGE if arguments.large else SMALL)
    parameters: dict = {}
    best: dict = {}
    for record in space["results"]:
        for name, value in record["configuration"].items():
            values = parameters.setdefault(name, [])
            if value not in values:
                values.append(value)
        value, key = value_of(record), record["configuration"][arguments.context]
        if value is not None:
            best[key] = min(value, best.get(key, math.inf))
    contexts = {arguments.context: parameters.pop(arguments.context)}
    for values in parameters.values():
        values.sort()
    measurements = len(space["results"])
    print(f"{len(best)} contexts, {measurements} records; {arguments.trials} trials are "
          f"{100 * arguments.trials / measurements:.1f} %")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "space.json").write_text(json.dumps(space))
        scenario = {"name": "moe", "parameters": parameters, "contexts": contexts,
                    "minimize": "time", "budget": {"trials": arguments.trials},
                    "evaluator": {"recorded": str(folder / "space.json")}}
        for method in arguments.methods.split(","):
            means, worst, leaves = [], [], []
            for seed in range(1, arguments.seeds + 1):
                tried = {**scenario, "name": method}
                if method == "random":
                    tried["optimizer"] = "random"
                answer = (alone(arguments.program, folder, tried, seed, arguments.context)
                          if method == "alone" else
                          search(arguments.program, folder, tried, seed))
                found = shares(answer, best, arguments.context)
                means.append(statistics.mean(found))
                worst.append(min(found))
                if "loss" in answer:
                    leaves.append((answer["loss"]["leaves"], answer["loss"]["mean"]))
            text = ""
            if leaves:
                text = (f"; trees of {statistics.mean(n for n, _ in leaves):.1f} configurations lose "
                        f"{100 * (statistics.mean(loss for _, loss in leaves) - 1):.2f} %")
            print(f"{method:9} of the best {100 * statistics.mean(means):.2f} % in the mean, "
                  f"{100 * min(means):.2f} % in the worst of {arguments.seeds} seeds, "
                  f"{100 * min(worst):.1f} % in the worst context{text}", flush=True)


if __name__ == "__main__":
    main()
