#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0
"""Which of Timeloop's public examples of version 0.4 are read, and whether their figures are the same.

    exercise_agreement.py --bayloom build/release/bin/bayloom --exercises DIR

DIR is a checkout of Accelergy-Project/timeloop-accelergy-exercises. Every architecture there is read
as its own run script reads it, templates included, and every reference output that belongs to it
evaluated with its own mapping: of dense examples accesses of every level and tensor, tiles, instances
and cycles are compared; sparse ones are sparse_agreement.py's. With --layers, all layer shapes are
read, too.
"""

import argparse
import json
import pathlib
import re
import subprocess
import tempfile

from sparse_agreement import Comparison, print_mapping, read_mapping

DESIGNS = "workspace/example_designs/example_designs"
TUTORIAL = "workspace/tutorial_exercises/01_accelergy_timeloop_2020_ispass"
TUTORIAL_2024 = "workspace/tutorial_exercises/02_interface_and_design_space_exploration_2024"
COUNTS = {"Scalar reads (per-instance)": "reads", "Scalar fills (per-instance)": "fills",
          "Scalar updates (per-instance)": "updates", "Utilized capacity": "tile_words"}


def examples(root):
    """(name, problem, architecture, variables, folders of reference outputs)."""
    top = root / DESIGNS / "top.yaml.jinja2"
    for arch in sorted((root / DESIGNS).rglob("arch.yaml")):
        name = str(arch.parent.relative_to(root / DESIGNS))
        yield name, top, top, {"architecture": name}, [arch.parent / "ref_outputs/default_problem"]
    for folder in sorted((root / TUTORIAL / "timeloop").glob("0*")):
        outputs = {stats.parent for stats in folder.rglob("*.stats.txt")}
        problem = next(folder.glob("prob/*.yaml"))
        for arch in sorted(folder.glob("arch/*.yaml")):
            yield f"tutorial {folder.name}", problem, arch, {}, sorted(outputs)
    both = root / TUTORIAL / "timeloop+accelergy"
    for kind, width, sums in (("intmac", 8, 16), ("fpmac", 32, 32)):
        variables = {"mac_class": kind, "input_weight_datawidth": width, "psum_datawidth": sums}
        yield (f"tutorial timeloop+accelergy, {kind}", next(both.glob("prob/*.yaml")),
               both / "arch/arch.yaml", variables, [both / "ref-output" / kind])
    for arch in sorted(both.glob("arch/eyeriss_like-*.yaml")):
        yield f"tutorial timeloop+accelergy, {arch.stem}", next(both.glob("prob/*.yaml")), arch, {}, []
    top = root / TUTORIAL_2024 / "top.yaml.jinja"
    yield "tutorial of 2024", top, top, {}, [root / TUTORIAL_2024 / "outputs"]


def run(bayloom, arguments, variables):
    defined = [f"{name}={value}" for name, value in variables.items()]
    command = [bayloom, *map(str, arguments)] + (["--define", *defined] if defined else [])
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout, "" if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def read_dense_stats(text):
    """{level: {"instances": n, "cycles": n, "tensors": {tensor: {count: n}}}}."""
    levels, level, tensor = {}, None, None
    for line in text.split("Networks\n")[0].splitlines():
        if header := re.match(r"^=== (\S+) ===", line):
            level, tensor = levels.setdefault(header[1], {"tensors": {}}), None
        elif level is None:
            continue
        elif found := re.match(r"^    (\w+):$", line):
            tensor = level["tensors"].setdefault(found[1], {})
        elif found := re.match(r"^ +([^:]+?) +: (\d+)$", line):
            if tensor is not None and found[1] in COUNTS:
                tensor[COUNTS[found[1]]] = int(found[2])
            elif tensor is not None and found[1] == "Utilized instances (max)":
                tensor["instances"] = int(found[2])
    return levels


def compare_dense(name, ours, stats):
    result = Comparison(name)
    theirs = read_dense_stats(stats)
    for level in ours["model"]["levels"]:
        there = theirs.get(level["name"], {"tensors": {}})["tensors"]
        for tensor, counts in level["tensors"].items():
            for count, value in there.get(tensor, {}).items():
                mine = level["instances"] if count == "instances" else counts[count]
                result.check(f"{level['name']} {tensor} {count}", mine, value)
    result.check("cycles", ours["model"]["cycles"],
                 int(re.search(r"^Cycles: (\d+)", stats, re.M)[1]))
    return result


def shape_of(bayloom, problem, arch, variables):
    """Tensors and dimensions, as bayloom reads the problem."""
    out, why = run(bayloom, ["map", "--problem", problem, "--arch", arch, "--evaluations", 20,
                             "--counting", "timeloop", "--json"], variables)
    if why and "no mapping was found" not in why:
        return None, why
    return (json.loads(out) if out else None), ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bayloom", required=True)
    parser.add_argument("--exercises", type=pathlib.Path, required=True)
    parser.add_argument("--layers", action="store_true", help="read all layer shapes, too")
    parser.add_argument("--show", type=int, default=3, help="differences to print of each")
    arguments = parser.parse_args()
    read = equal = outputs = 0
    names = []
    totals = Comparison("all")
    for name, problem, arch, variables, folders in examples(arguments.exercises):
        names.append(name)
        found, why = shape_of(arguments.bayloom, problem, arch, variables)
        if why:
            print(f"{name:<62} refused: ...{why[-130:]}")
            continue
        read += 1
        if found is None:
            print(f"{name:<62} read; no mapping was found")
            continue
        tensors = sorted({t for level in found["mapping"]["levels"] for t in level["keep"]})
        dimensions = found["mapping"]["levels"][0]["order"]
        for folder in folders:
            stats = next(iter(folder.glob("timeloop-*.stats.txt")), None)
            mapping = next(iter(folder.glob("timeloop-*.map.txt")), None)
            file = next(iter(folder.glob("timeloop-*.map.yaml")), None)
            if stats is None or mapping is None:
                continue
            with tempfile.TemporaryDirectory() as scratch:
                if file is None:
                    file = pathlib.Path(scratch) / "mapping.yaml"
                    file.write_text(print_mapping(read_mapping(mapping.read_text()), tensors,
                                                  dimensions))
                out, why = run(arguments.bayloom, ["map", "--problem", problem, "--arch", arch,
                                                   "--mapping", file, "--counting", "timeloop",
                                                   "--json"], variables)
            label = name if len(folders) == 1 else f"{name} {folder.name}"
            if why:
                print(f"{label:<62} read; its mapping is refused: ...{why[-100:]}")
                continue
            ours = json.loads(out)
            if "sparse" in ours:
                print(f"{label:<62} read; sparse")
                continue
            outputs += 1
            result = compare_dense(label, ours, stats.read_text())
            print(f"{label:<62} {result.equal} of {result.equal + len(result.differ)} equal")
            for difference in result.differ[:arguments.show]:
                print(f"    {difference}")
            totals.equal += result.equal
            totals.differ += result.differ
            equal += not result.differ
    print(f"{read} of {len(names)} architectures read; of {outputs} dense outputs {equal} equal "
          f"throughout, {totals.equal} of {totals.equal + len(totals.differ)} figures")
    if arguments.layers:
        count_layers(arguments)


def count_layers(arguments):
    shapes = arguments.exercises / "workspace/example_designs/layer_shapes"
    files = sorted(file for file in shapes.rglob("*.yaml") if file.parent != shapes)
    refused = []
    for file in files:
        _, why = run(arguments.bayloom, ["map", "--problem", file, "--arch", "gemmini",
                                         "--evaluations", 1], {})
        if why and "no mapping was found" not in why:
            refused.append(why)
    print(f"{len(files) - len(refused)} of {len(files)} layer shapes read")
    for why in refused[:arguments.show]:
        print(f"    {why}")


if __name__ == "__main__":
    main()
