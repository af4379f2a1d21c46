#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0
"""Counts of sparse tensors beside those that Sparseloop's public repositories ship.

    sparse_agreement.py --bayloom build/release/bin/bayloom --exercises DIR --artifact DIR

DIR are checkouts of Accelergy-Project/timeloop-accelergy-exercises and of
Accelergy-Project/micro22-sparseloop-artifact. Every reference output there that belongs to inputs
which are there, too, is evaluated with its own mapping, and each figure of its statistics compared:
accesses of data and of metadata, actual, gated and skipped, what compressed tiles take, computes and
cycles. Figures whose dense counts differ are left out and counted: releases of Timeloop count
accesses of partial sums in different ways.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

SPARSELOOP = "workspace/example_designs/example_designs/sparseloop"
EVALUATION = "workspace/2022.micro.artifact/evaluation_setups"


def read_mapping(text):
    """The mapping of a timeloop map.txt as directives on levels of memory."""
    blocks, names = [], []
    for line in text.splitlines():
        header = re.match(r"^(\S+) \[ (.*)\] *$", line)
        loop = re.match(r"^[| ]*for (\w+) in \[0:(\d+)(?:,\d+)?\)( \(Spatial-([XY])\))?", line)
        if header:
            names.append((header[1], re.findall(r"(\w+):\d+", header[2])))
        elif line.startswith("---") and names:
            for name, keeps in names:
                blocks.append({"name": name, "keep": keeps, "loops": []})
            names = []
        elif loop and blocks:
            blocks[-1]["loops"].append((loop[1], int(loop[2]), loop[4]))
    levels, meshes = [], []
    for block in blocks:
        if not block["name"].startswith("inter_"):
            levels.append(block)
            meshes = []
            continue
        # Loops of a container run at the level outside; of a second one, at the container.
        if meshes:
            name = meshes[-1].removeprefix("inter_").removesuffix("_spatial")
            levels.append({"name": name, "keep": [], "loops": block["loops"]})
        else:
            levels[-1]["loops"] += block["loops"]
        meshes.append(block["name"])
    return levels


def print_mapping(levels, tensors, dimensions):
    directives = []
    for level in levels:
        bypass = [t for t in tensors if t not in level["keep"]]
        directives.append({"target": level["name"], "type": "bypass", "keep": level["keep"],
                           "bypass": bypass})
        for kind, loops in (("temporal", [l for l in level["loops"] if not l[2]]),
                            ("spatial", [l for l in level["loops"] if l[2]])):
            if kind == "spatial" and not loops:
                continue
            along = [l[0] for l in reversed(loops) if l[2] in (None, "X")]
            along_y = [l[0] for l in reversed(loops) if l[2] == "Y"]
            # Two loops of one dimension side by side are one for the counts.
            order = list(dict.fromkeys(along + along_y))
            order += [d for d in dimensions if d not in order]
            factors = dict.fromkeys(dimensions, 1)
            for name, count, _ in loops:
                factors[name] *= count
            directive = {"target": level["name"], "type": kind,
                         "factors": " ".join(f"{d}={f}" for d, f in factors.items()),
                         "permutation": ",".join(order)}
            if kind == "spatial":
                directive["split"] = len(dict.fromkeys(along))
            directives.append(directive)
    return yaml.safe_dump({"mapping": directives}, sort_keys=False)


def read_stats(text):
    """{level: {"cycles": n, "computes": {...}, "tensors": {tensor: {...}}}}."""
    stats, level, tensor, ranks_of = {}, None, None, None
    for line in text.split("Networks\n")[0].splitlines():
        if header := re.match(r"^=== (\S+) ===", line):
            level = stats.setdefault(header[1], {"tensors": {}, "computes": {}})
            tensor = None
            continue
        if level is None:
            continue
        if found := re.match(r"^    (\w+):$", line):
            tensor = level["tensors"].setdefault(found[1], {"actions": {}, "format": {}})
            continue
        if tensor is None:
            if found := re.match(r"^ +(Algorithmic|Actual|Gated|Skipped) Computes.*: (\d+)", line):
                level["computes"][found[1].lower()] = int(found[2])
            if found := re.match(r"^ +Cycles +: (\d+)", line):
                level["cycles"] = int(found[1])
            continue
        if found := re.match(r"^ +(Algorithmic|Actual|Gated|Skipped) scalar (\w+) \(.*: (\d+)", line):
            tensor["actions"][(found[2], found[1].lower())] = int(found[3])
        elif found := re.match(r"^ +(Actual|Gated|Skipped) scalar format (\w+) ", line):
            ranks_of = (found[2], found[1].lower())
        elif found := re.match(r"^ +Max utilized data storage capacity +: (\d+)", line):
            tensor["capacity"] = int(found[1])
        elif "Max utilized Repr" in line:
            ranks_of = ("capacity", "actual")
        elif found := re.match(r"^ +Rank (\d+) .*\((\d+), +(\d+)\)", line):
            tensor["format"].setdefault(ranks_of, {})[int(found[1])] = [int(found[2]), int(found[3])]
        elif found := re.match(r"^ +Representation format +: (.*)", line):
            tensor["formats"] = found[1].split()
    return stats


class Comparison:
    def __init__(self, name):
        self.name, self.equal, self.left_out, self.differ = name, 0, 0, []

    def check(self, what, ours, theirs):
        if ours == theirs:
            self.equal += 1
        else:
            self.differ.append(f"{what}: {ours} here, {theirs} there")


def compare(name, ours, theirs):
    result = Comparison(name)
    sparse = ours.get("sparse")
    if sparse is None:
        sys.exit(f"{name}: nothing is sparse")
    for level in sparse["levels"]:
        reference = theirs.get(level["name"])
        if reference is None:
            continue
        for tensor, counts in level["tensors"].items():
            there = reference["tensors"].get(tensor)
            if there is None:
                continue
            place = f"{level['name']} {tensor}"
            for kind in ("reads", "fills", "updates"):
                if counts[kind]["dense"] != there["actions"].get((kind, "algorithmic")):
                    result.left_out += 3
                    continue
                for action in ("actual", "gated", "skipped"):
                    result.check(f"{place} {kind} {action}", counts[kind][action],
                                 there["actions"][(kind, action)])
                for action in ("actual", "gated", "skipped"):
                    for rank, pair in there["format"].get((kind, action), {}).items():
                        mine = counts["ranks"][len(counts["ranks"]) - 1 - rank][kind][action]
                        result.check(f"{place} {kind} {action} rank {rank}", mine, pair)
            result.check(f"{place} capacity", counts["occupancy"], there["capacity"])
    arithmetic = next(level for level in theirs.values() if level["computes"])
    for action in ("actual", "gated", "skipped"):
        result.check(f"computes {action}", sparse["computes"][action], arithmetic["computes"][action])
    result.check("compute cycles", sparse["compute_cycles"], arithmetic["cycles"])
    return result


def evaluate(bayloom, problem, architecture, sparse, mapping, folder):
    command = [bayloom, "map", "--problem", problem, "--arch", architecture, "--mapping", mapping,
               "--counting", "timeloop", "--json"]
    if sparse:
        command += ["--sparse", sparse]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip().splitlines()[-1]
    return json.loads(done.stdout), ""


class Loader(yaml.SafeLoader):
    pass


Loader.add_multi_constructor("!", lambda loader, tag, node: loader.construct_mapping(node, True))


def shape_of(problem):
    shape = yaml.load(open(problem), Loader)["problem"]["shape"]
    spaces = shape.get("data-spaces") or shape["data_spaces"]
    return [space["name"] for space in spaces], shape["dimensions"]


def with_masks(problem, masks, scratch):
    """The problem with the paths of its data where they are here."""
    content = yaml.load(problem.read_text(), Loader)
    for density in content["problem"]["instance"]["densities"].values():
        density["data_file_path"] = str(masks.resolve() / pathlib.Path(density["data_file_path"]).name)
    file = pathlib.Path(scratch) / problem.name
    file.write_text(yaml.safe_dump(content))
    return file


def references(exercises, artifact, scratch):
    """(name, problem, architecture, sparse, map.txt, stats.txt) of everything there is."""
    if exercises:
        for folder in sorted((exercises / SPARSELOOP).iterdir()):
            out = folder / "ref_outputs" / "default_problem"
            if not (out / "timeloop-mapper.stats.txt").exists():
                continue
            yield ("exercises " + folder.name, folder / "problem.yaml", folder / "arch.yaml", None,
                   out / "timeloop-mapper.map.txt", out / "timeloop-mapper.stats.txt")
    if artifact:
        pe = artifact / EVALUATION / "fig12_eyerissv2_pe_setup"
        for folder in sorted((pe / "ref_outputs" / "uniform_only").glob("L*")):
            out = folder / "uniform" / "output"
            yield (f"fig. 12 {folder.name}",
                   pe / "workload" / "mobilenet0.5-sparse" / "uniform" / f"{folder.name}.yaml",
                   pe / "hardware-specs" / "designs" / "arch.yaml",
                   pe / "hardware-specs" / "configurations" / "SI-SW.yaml",
                   out / "timeloop-model.map.txt", out / "timeloop-model.stats.txt")
        masks = pe / "workload" / "mobilenet0.5-sparse" / "actual_data" / "actual_data_masks"
        for folder in sorted((pe / "ref_outputs" / "uniform_actual").glob("L*")):
            out = folder / "actual_data" / "output"
            yield (f"fig. 12 {folder.name} actual data",
                   with_masks(masks.parent / f"{folder.name}.yaml", masks, scratch),
                   pe / "hardware-specs" / "designs" / "arch.yaml",
                   pe / "hardware-specs" / "configurations" / "SI-SW.yaml",
                   out / "timeloop-model.map.txt", out / "timeloop-model.stats.txt")
        stc = artifact / EVALUATION / "fig15_stc_related_setup" / "ref_outputs"
        for stats in sorted(stc.rglob("timeloop-model.stats.txt")):
            folder = stats.parent.parent
            everything = folder / "aggregated_input.yaml"
            yield (f"fig. 15 {folder.parent.name} {folder.name}", everything, everything, None,
                   stats.parent / "timeloop-model.map.txt", stats)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bayloom", required=True)
    parser.add_argument("--exercises", type=pathlib.Path)
    parser.add_argument("--artifact", type=pathlib.Path)
    parser.add_argument("--show", type=int, default=3, help="differences to print of each")
    parser.add_argument("--only", default="", help="only references with this in their name")
    arguments = parser.parse_args()
    totals = Comparison("all")
    equal = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, problem, architecture, sparse, mapping, stats in references(
                arguments.exercises, arguments.artifact, folder):
            if arguments.only not in name:
                continue
            tensors, dimensions = shape_of(problem)
            file = pathlib.Path(folder) / "mapping.yaml"
            file.write_text(print_mapping(read_mapping(mapping.read_text()), tensors, dimensions))
            ours, why = evaluate(arguments.bayloom, problem, architecture, sparse, file, folder)
            if ours is None:
                print(f"{name:<62} refused: {why[-150:]}")
                refused += 1
                continue
            if "sparse" not in ours:
                print(f"{name:<62} dense: {ours['model']['cycles']} cycles")
                continue
            result = compare(name, ours, read_stats(stats.read_text()))
            cycles = int(re.search(r"^Cycles: (\d+)", stats.read_text(), re.M)[1])
            result.check("cycles", ours["model"]["cycles"], cycles)
            print(f"{name:<62} {result.equal} of {result.equal + len(result.differ)} equal, "
                  f"{result.left_out} left out; {ours['model']['cycles']} cycles, {cycles} there")
            for difference in result.differ[:arguments.show]:
                print(f"    {difference}")
            totals.equal += result.equal
            totals.differ += result.differ
            totals.left_out += result.left_out
            equal += not result.differ
    print(f"{totals.equal} of {totals.equal + len(totals.differ)} figures equal, {totals.left_out} "
          f"left out; {equal} references equal throughout, {refused} refused")


if __name__ == "__main__":
    main()
