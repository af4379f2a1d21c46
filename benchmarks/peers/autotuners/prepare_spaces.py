#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Writes public recorded spaces in one form: a folder a kernel, with T1.json and T4 files.

    python3 benchmarks/peers/autotuners/prepare_spaces.py --hub benchmark_hub --ktt KTT --out spaces

Reads a checkout of the FAIR benchmark hub (T4 files and Kernel Tuner's cache files), one of KTT
(the complete record of its Coulomb sum) and the scenarios of benchmarks/compilers. Defaults are
left out, so that no search begins with a configuration that others are not told of. The list of
names, in the order of their SHA-256, is printed: the first half is the development half.

A file whose records are not exactly the configurations that the conditions leave is an error; one
that the checkout lacks is named and left out.
"""

import argparse
import gzip
import hashlib
import itertools
import json
import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
COMPILERS = HERE.parents[1] / "compilers"

# Folder, where its T1 file is in the hub, where its records are, and which.
T4_FILES = [
    ("convolution-milo", "kernels/convolution_milo.json", "cachefiles/convolution_milo",
     ["A100", "A4000", "A6000", "MI250X", "W6600", "W7800"]),
    ("dedispersion-milo", "kernels/dedispersion_milo.json", "cachefiles/dedispersion_milo",
     ["A100", "A4000", "A6000", "MI250X", "W6600", "W7800"]),
    ("gemm-milo", "kernels/gemm_milo.json", "cachefiles/gemm_milo",
     ["A100", "A4000", "A6000", "MI250X", "W6600", "W7700", "W7800"]),
    ("hotspot-milo", "kernels/hotspot_milo.json", "cachefiles/hotspot_milo",
     ["A100", "A4000", "A6000", "MI250X", "MI50", "W6600", "W7800"]),
]
CACHES = [
    ("convolution", ["RTX_2080_Ti", "RTX_3060_laptop", "RTX_3090", "RTX_Titan"]),
    ("convolution_milo", ["a4000", "mi50"]),
    ("gemm", ["RTX_2080_Ti", "RTX_3060_laptop", "RTX_3090", "RTX_Titan"]),
    ("hotspot_milo", ["a4000", "mi50"]),
    ("pnpoly", ["RTX_2080_Ti", "RTX_3060_laptop", "RTX_3090", "RTX_Titan"]),
]
# What the hub's programs say of the spaces of cache files, which name no conditions.
CONDITIONS = {
    "convolution": ["block_size_x * block_size_y >= 64", "block_size_x * block_size_y <= 1024",
                    "tile_size_x * tile_size_y < 30"],
    "convolution_milo": ["use_padding == 0 or block_size_x % 32 != 0",
                         "block_size_x * block_size_y <= 1024",
                         "(block_size_x * tile_size_x + 14) * (block_size_y * tile_size_y + 14)"
                         " < 12 * 1024"],
    "gemm": ["KWG % KWI == 0", "MWG % (MDIMC * VWM) == 0", "NWG % (NDIMC * VWN) == 0",
             "MWG % (MDIMA * VWM) == 0", "NWG % (NDIMB * VWN) == 0",
             "KWG % ((MDIMC * NDIMC) / MDIMA) == 0", "KWG % ((MDIMC * NDIMC) / NDIMB) == 0"],
    "pnpoly": [],
}


def t1_of(parameters, conditions):
    """A T1 file with what a search on a recorded space needs."""
    return {"General": {"FormatVersion": 1},
            "ConfigurationSpace": {
                "TuningParameters": [{"Name": name, "Type": "int", "Values": str(values)}
                                     for name, values in parameters.items()],
                "Conditions": [{"Expression": text,
                                "Parameters": [name for name in parameters
                                               if re.search(rf"\b{name}\b", text)]}
                               for text in conditions]},
            "KernelSpecification": {"ProblemSize": [1024, 1024]}}


def feasible(parameters, conditions):
    compiled = [compile(text, text, "eval") for text in conditions]
    return {values for values in itertools.product(*parameters.values())
            if all(eval(code, {}, dict(zip(parameters, values))) for code in compiled)}


def write(folder, device, parameters, conditions, values, places, names):
    """`values`: of each configuration a time, or None. Configurations that break a condition are
    left out; one without a record is an error."""
    wanted = places.setdefault(folder.name, feasible(parameters, conditions))
    if wanted - set(values):
        raise SystemExit(f"{folder.name}/{device}: {len(wanted - set(values))} of {len(wanted)} "
                         f"configurations are not recorded")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "T1.json").write_text(json.dumps(t1_of(parameters, conditions), indent=1))
    results = []
    for key in sorted(wanted):
        value = values[key]
        results.append({"configuration": dict(zip(parameters, key)),
                        "invalidity": "runtime" if value is None else "correct",
                        "correctness": 0 if value is None else 1,
                        "measurements": [] if value is None else
                        [{"name": "time", "value": value, "unit": "ms"}],
                        "objectives": ["time"], "times": {}})
    with gzip.open(folder / f"{device}_T4.json.gz", "wt") as file:
        json.dump({"schema_version": "1.0.0", "metadata": {"timeunit": "milliseconds"},
                   "results": results}, file)
    known = [value for value in values.values() if value is not None]
    names.append(f"{folder.name}/{device}")
    print(f"{names[-1]}: {len(wanted)} configurations, {len(wanted) - sum(values[k] is not None for k in wanted)} "
          f"fail, {sum(v <= 1.05 * min(known) for v in known)} within 5 %", file=sys.stderr)


def from_t4(hub, out, places, names):
    for folder, t1_path, records, devices in T4_FILES:
        for device in devices:
            path = hub / records / f"{device}_T4.json.gz"
            if not path.exists():
                print(f"{folder}/{device}: not in the checkout", file=sys.stderr)
                continue
            space = json.loads((hub / t1_path).read_text())["ConfigurationSpace"]
            parameters = {p["Name"]: eval(p["Values"]) for p in space["TuningParameters"]}
            values = {}
            with gzip.open(path, "rt") as file:
                for result in json.load(file)["results"]:
                    value = None
                    if result["invalidity"] == "correct":
                        value = next(m["value"] for m in result["measurements"]
                                     if m["name"] == "time")
                    values[tuple(result["configuration"][name] for name in parameters)] = value
            write(out / folder, device, parameters,
                  [c["Expression"] for c in space["Conditions"]], values, places, names)


def from_caches(hub, out, places, names):
    for folder, devices in CACHES:
        for device in devices:
            path = (hub / "currently_unused/cachefiles/KernelTuner data" / folder
                    / f"{device}.json.gz")
            short = device.replace("_laptop", "").replace("_", "-")
            target = out / {"convolution_milo": "convolution-first"}.get(folder, folder)
            if not path.exists():
                print(f"{target.name}/{short}: not in the checkout", file=sys.stderr)
                continue
            with gzip.open(path, "rt") as file:
                text = file.read().rstrip()
            try:
                cache = json.loads(text)
            except ValueError:  # one that was left open
                cache = json.loads(text.rstrip(",") + "}}")
            parameters = cache["tune_params"]
            values = {}
            for entry in cache["cache"].values():
                time = entry["time"]
                valid = isinstance(time, (int, float)) and time < 1e19
                values[tuple(entry[name] for name in parameters)] = time if valid else None
            try:
                write(target, short, parameters, CONDITIONS[folder], values, places, names)
            except SystemExit as problem:
                print(problem, file=sys.stderr)


def from_ktt(ktt, out, places, names):
    path = ktt / "Examples/CoulombSum3d/coulomb_2080_full_search_space.json"
    script = ktt / "Examples/CoulombSum3d/CoulombSum3dCudaScript-full-search.json"
    if not path.exists():
        print("coulomb/RTX-2080: not in the checkout", file=sys.stderr)
        return
    space = json.loads(script.read_text())["ConfigurationSpace"]
    parameters = {p["Name"]: eval(p["Values"]) for p in space["TuningParameters"]}
    values = {}
    for result in json.loads(path.read_text())["Results"]:
        chosen = {p["Name"]: p["Value"] for p in result["Configuration"]}
        values[tuple(chosen[name] for name in parameters)] = (
            result["TotalDuration"] if result["Status"] == "Ok" else None)
    write(out / "coulomb", "RTX-2080", parameters, [c["Expression"] for c in space["Conditions"]],
          values, places, names)


def from_compilers(out, names):
    """Scenarios without their defaults, beside copies of their records."""
    folder = out / "compilers"
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(COMPILERS.glob("*.yaml")):
        text = re.sub(r", default: (\[[^]]*\]|[^},]*)", "", path.read_text())
        (folder / path.name).write_text(text)
        shutil.copy(path.with_name(f"{path.stem}_T4.json.gz"), folder)
        names.append(re.search(r"^name: (\S+)", text, re.MULTILINE)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hub", type=pathlib.Path, required=True)
    parser.add_argument("--ktt", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    names, places = [], {}
    from_t4(options.hub, options.out, places, names)
    from_caches(options.hub, options.out, places, names)
    from_ktt(options.ktt, options.out, places, names)
    from_compilers(options.out, names)
    ranked = sorted(names, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    for place, name in enumerate(ranked):
        print("development" if place < (len(ranked) + 1) // 2 else "set aside", name, sep="\t")


if __name__ == "__main__":
    main()
