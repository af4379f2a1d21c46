#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0
"""Proved optima of networks' layers, and how far from them other mappers end.

    benchmarks/mapspace/optimal_layers.py --bayloom build/release/bin/bayloom --out optima.jsonl
    benchmarks/mapspace/optimal_layers.py --out optima.jsonl --summary

Every distinct layer of the networks on every architecture, for every objective, is one line of the
file, written when it is done: bayloom map --mapper exact, with a limit, and the mappers --beside it.
A second call goes on from there, and adds mappers that are new. Proofs that ended for lack of processor time, because others used
the machine, are tried again. Seconds are those of the processor, of the whole program: start,
genetic's 4,000 evaluations and proof.
"""

import argparse
import json
import pathlib
import resource
import statistics
import subprocess

from network_layers import bert_base, mobilenet_v2, resnet50

ARCHITECTURES = ["gemmini", "gemmini16x16", "eyeriss-like", "tpu-like"]
OBJECTIVES = ["energy", "edp"]
STRETCH = 4  # seconds of the clock for one of the processor, at most
BESIDE = {"genetic": [100, 1000, 20000], "bayesian": [100, 1000]}


def operation_of(shape):
    kind, outputs, inputs, size, kernel, stride = shape
    if kind == "product" or (kernel == 1 and size == 1):
        return f"matmul:{size},{outputs},{inputs}"
    name = f"depthwise:{size * stride}x{size * stride}x{outputs}" if kind == "depthwise" else (
        f"conv2d:{size * stride}x{size * stride}x{inputs},{outputs}")
    return f"{name},{kernel}x{kernel},stride={stride},pad={kernel // 2}"


def gpt3(tokens, keys):
    """A block of GPT-3 6.7B (4,096 wide, 32 heads of 128) for so many tokens that see so many keys."""
    return [f"matmul:{tokens},4096,4096", f"matmul:{tokens},16384,4096", f"matmul:{tokens},4096,16384",
            f"matmul:{tokens},{keys},128,batch=32", f"matmul:{tokens},128,{keys},batch=32"]


def networks():
    bert = [operation_of(shape) for shape in bert_base()]
    return {"resnet50": [operation_of(shape) for shape in resnet50()],
            "mobilenet_v2": [operation_of(shape) for shape in mobilenet_v2()],
            "bert_base": bert + ["matmul:128,128,64,batch=12", "matmul:128,64,128,batch=12"],
            "gpt3_prefill": gpt3(2048, 2048), "gpt3_decode": gpt3(1, 2048)}


def search(arguments, operation, architecture, objective, *options):
    """What bayloom map says, with the processor's seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [arguments.bayloom, "map", "--op", operation, "--arch", architecture, "--objective", objective,
               "--mappings", arguments.mappings, "--seed", "1", "--json", *options]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(run.stdout) | {"cpu_seconds": round(seconds, 3)}


def best_after(improvements, evaluations):
    """None if nothing had been found by then."""
    values = [value for count, value in improvements if count <= evaluations]
    return values[-1] if values else None


def prove(arguments, key):
    operation, architecture, objective = key
    proof = search(arguments, *key, "--mapper", "exact", "--time", f"{STRETCH * arguments.limit}s")
    certificate = proof.get("certificate")
    return {"operation": operation, "architecture": architecture, "objective": objective,
            "mappings": arguments.mappings, "seconds": proof["cpu_seconds"], "limit": arguments.limit,
            "proved": bool(certificate and certificate["is_whole"] and proof["cpu_seconds"] <= arguments.limit),
            "value": certificate["value"] if certificate else None,
            "gap": certificate["gap"] if certificate else None,
            "made": certificate["partial_mappings"]["made"] if certificate else None}


def after_counts(arguments, key, mapper):
    counts = BESIDE[mapper]
    found = search(arguments, *key, "--mapper", mapper, "--evaluations", str(counts[-1]))
    return {str(count): best_after(found["improvements"], count) for count in counts}


def key_of(row):
    return row["operation"], row["architecture"], row["objective"]


def is_done(row):
    return row["proved"] or row["seconds"] > 0.9 * row["limit"]


def read(path):
    """The last row of each layer, architecture and objective."""
    if not path.exists():
        return {}
    return {key_of(row): row for row in map(json.loads, path.read_text().splitlines())}


def percent(values):
    """Median and most."""
    return f"{100 * statistics.median(values):.1f}, {100 * max(values):.1f}" if values else "-"


def summary(rows, operations):
    columns = [f"{mapper}, {count}" for mapper, counts in BESIDE.items() for count in counts]
    print("| architecture | objective | layers run | proved | median s | most s | " + " | ".join(columns) + " |")
    print("|" + "---|" * (6 + len(columns)))
    for architecture in ARCHITECTURES:
        for objective in OBJECTIVES:
            run = [rows[key] for key in ((op, architecture, objective) for op in operations) if key in rows]
            proved = [row for row in run if row["proved"]]
            if not run:
                continue
            cells = [architecture, objective, f"{len(run)} of {len(operations)}", len(proved)]
            seconds = [row["seconds"] for row in proved]
            cells += [f"{statistics.median(seconds):.2f}", f"{max(seconds):.1f}"] if seconds else ["-", "-"]
            for mapper, counts in BESIDE.items():
                for count in counts:
                    found = [(row.get(mapper, {}).get(str(count)), row["value"]) for row in proved]
                    cells.append(percent([value / best - 1 for value, best in found if value is not None]))
            print("| " + " | ".join(map(str, cells)) + " |")
    for row in rows.values():
        if not row["proved"]:
            gap = f"within {100 * row['gap']:.1f} %" if row["gap"] is not None else "nothing proved"
            print(f"\n{row['operation']} on {row['architecture']}, {row['objective']}: {gap} after {row['seconds']} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bayloom", default="bayloom")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--networks", nargs="*", default=list(networks()), choices=list(networks()))
    parser.add_argument("--architectures", nargs="*", default=ARCHITECTURES)
    parser.add_argument("--objectives", nargs="*", default=OBJECTIVES)
    parser.add_argument("--mappings", default="even")
    parser.add_argument("--beside", nargs="*", default=["genetic"], choices=list(BESIDE))
    parser.add_argument("--limit", type=int, default=60, help="seconds of the processor for a proof")
    parser.add_argument("--summary", action="store_true", help="print tables of what is done")
    arguments = parser.parse_args()
    operations = list(dict.fromkeys(op for name in arguments.networks for op in networks()[name]))
    rows = read(arguments.out)
    if arguments.summary:
        return summary(rows, operations)
    for architecture in arguments.architectures:
        for objective in arguments.objectives:
            for operation in operations:
                key = (operation, architecture, objective)
                row = rows.get(key)
                if row is None or not is_done(row):
                    row = (row or {}) | prove(arguments, key)
                elif all(mapper in row for mapper in arguments.beside):
                    continue
                for mapper in arguments.beside:
                    if mapper not in row:
                        row[mapper] = after_counts(arguments, key, mapper)
                with arguments.out.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                print(*key, row["proved"], row["seconds"], flush=True)


if __name__ == "__main__":
    main()
