#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0
"""Mappings of networks' layers found by bayloom map and by ZigZag, by ZigZag's cost model.

    python -m venv build/venv-zigzag && build/venv-zigzag/bin/pip install zigzag-dse six
    build/venv-zigzag/bin/python benchmarks/mapspace/zigzag_comparison.py \\
        --bayloom build/release/bin/bayloom --hardware tpu_like eyeriss_like --networks resnet50

Both read the same two files: an accelerator that ZigZag ships and a workload of the network's
distinct layers. ZigZag searches temporal mappings with LOMA and, with --spatial free, spatial ones
of its own; with --spatial given, both unroll output channels along D1 and input channels along D2.
The mapping that bayloom finds for a layer, its loops and the memories that hold their tiles, is
evaluated by ZigZag's cost model as ZigZag's own are: energies and cycles here are all ZigZag's. What
bayloom's model says of its mapping is printed beside.
"""

import argparse
import collections
import json
import logging
import math
import pathlib
import subprocess
import tempfile
import time

import yaml
import zigzag
from zigzag.datatypes import LayerDim, LayerOperand
from zigzag.mapping.temporal_mapping import TemporalMapping, TemporalMappingType
from zigzag.stages.evaluation.cost_model_evaluation import CostModelStage
from zigzag.stages.main import MainStage
from zigzag.stages.mapping.spatial_mapping_conversion import SpatialMappingConversionStage
from zigzag.stages.mapping.spatial_mapping_generation import SpatialMappingGeneratorStage
from zigzag.stages.mapping.temporal_mapping_generator_stage import TemporalMappingGeneratorStage
from zigzag.stages.parser.accelerator_parser import AcceleratorParserStage
from zigzag.stages.parser.workload_parser import WorkloadParserStage
from zigzag.stages.results.reduce_stages import MinimalEDPStage, MinimalEnergyStage, MinimalLatencyStage
from zigzag.stages.stage import Stage
from zigzag.stages.workload_iterator import WorkloadStage

from network_layers import NETWORKS, geometric_mean

INPUTS = pathlib.Path(zigzag.__file__).parent / "inputs"
LINKS = {"O": "O", "W": "I2", "I": "I1"}
OPERANDS = {"Outputs": "O", "Weights": "W", "Inputs": "I"}
REDUCE = {"energy": MinimalEnergyStage, "delay": MinimalLatencyStage, "edp": MinimalEDPStage}


def workload(shapes, output_bits):
    layers = []
    for number, (kind, k, c, size, kernel, stride) in enumerate(shapes):
        layer = {"id": number, "name": f"layer{number}", "operator_type": "Conv",
                 "dimension_relations": [f"ix={stride}*ox+1*fx", f"iy={stride}*oy+1*fy"],
                 "operand_precision": {"W": 8, "I": 8, "O": output_bits, "O_final": output_bits},
                 "operand_source": {"I": number, "W": number}}
        if kind != "depthwise":
            rows = 1 if kind == "product" else size
            layer |= {"equation": "O[b][k][oy][ox]+=W[k][c][fy][fx]*I[b][c][iy][ix]",
                      "loop_dims": ["B", "K", "C", "OY", "OX", "FY", "FX"],
                      "loop_sizes": [1, k, c, rows, size, kernel, kernel]}
        else:
            layer |= {"equation": "O[b][g][oy][ox]+=W[g][fy][fx]*I[b][g][iy][ix]",
                      "loop_dims": ["B", "G", "OY", "OX", "FY", "FX"],
                      "loop_sizes": [1, k, size, size, kernel, kernel]}
        layers.append(layer)
    return layers


# ZigZag.

class GivenTemporalMapping(Stage):
    """In place of a search: the loops of every memory level, by layer and operand."""

    def __init__(self, list_of_callables, *, layer, loops, **kwargs):
        super().__init__(list_of_callables, **kwargs)
        self.layer, self.loops = layer, loops

    def run(self):
        mapping = {LayerOperand(operand): [[(LayerDim(name), size) for name, size in level] for level in levels]
                   for operand, levels in self.loops[self.layer.name].items()}
        kwargs = self.kwargs | {"layer": self.layer,
                                "temporal_mapping": TemporalMapping(mapping, self.layer, TemporalMappingType.UNEVEN)}
        yield from self.list_of_callables[0](self.list_of_callables[1:], **kwargs).run()


class GivenSpatialMapping(Stage):
    """In place of a search: the layer's own spatial mapping, as it is."""

    def __init__(self, list_of_callables, *, accelerator, layer, **kwargs):
        super().__init__(list_of_callables, **kwargs)
        self.accelerator, self.layer = accelerator, layer

    def run(self):
        self.layer.spatial_mapping.initialize_oa_dims(self.accelerator.operational_array.dimension_sizes)
        kwargs = self.kwargs | {"accelerator": self.accelerator, "layer": self.layer}
        yield from SpatialMappingConversionStage(self.list_of_callables, **kwargs).run()


def run_zigzag(stages, accelerator, layers, mapping, **options):
    """The cost of every layer."""
    stages = [WorkloadParserStage, AcceleratorParserStage, WorkloadStage, *stages, CostModelStage]
    run = MainStage(stages, accelerator=str(accelerator), workload=layers, mapping=str(mapping),
                    temporal_mapping_type=TemporalMappingType.UNEVEN, **options)
    return [cost for cost, _ in run.run()]


def search_zigzag(arguments, accelerator, layers, mapping, **options):
    reduce = REDUCE[arguments.objective]
    costs, seconds = [], []
    for layer in layers:
        begin = time.perf_counter()
        try:
            costs += run_zigzag([reduce, SpatialMappingGeneratorStage, reduce, TemporalMappingGeneratorStage],
                                accelerator, [layer], mapping, loma_lpf_limit=arguments.lpf_limit,
                                loma_show_progress_bar=False, nb_mappings_generated=3, **options)
        except Exception as error:
            print(f"    {layer['name']}: ZigZag finds nothing: {type(error).__name__}")
            costs.append(None)
        seconds.append(time.perf_counter() - begin)
    return costs, seconds


# bayloom.

def search_bayloom(arguments, accelerator, network, constraints):
    command = [arguments.bayloom, "map", str(network), "--arch", str(accelerator), "--objective",
               arguments.objective, "--evaluations", str(arguments.evaluations), "--seed", str(arguments.seed),
               "--json"]
    if constraints:
        command += ["--constraints", str(constraints)]
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    if done.returncode != 0 and not done.stdout:
        raise SystemExit(done.stderr.strip())
    return json.loads(done.stdout), seconds


def loops_of(mapping):
    """{operand: [[(dimension, size)] of every memory that keeps it, innermost first]}."""
    loops = {operand: [] for operand in OPERANDS.values()}
    since = {operand: [] for operand in OPERANDS.values()}
    for level in mapping["levels"]:
        own = [(name, level["temporal"][name]) for name in level["order"] if name in level["temporal"]]
        for tensor, operand in OPERANDS.items():
            since[operand] += own
            if tensor in level["keep"]:
                loops[operand].append(since[operand])
                since[operand] = []
    return loops


def spatial_of(mapping, dimensions):
    """{"D1": ["K, 32"], ...}: what runs along x, and along y."""
    along = {"D1": [], "D2": []}
    for level in mapping["levels"]:
        for name, size in level["spatial"].items():
            along["D2" if name in level["along_y"] else "D1"].append(f"{name}, {size}")
    return {axis: loops or [f"{dimensions[1]}, 1"] for axis, loops in along.items()}


def evaluate_by_zigzag(accelerator, layers, mappings, folder, **options):
    """ZigZag's cost of every mapping that bayloom found."""
    entries = [{"name": layer["name"], "spatial_mapping": spatial_of(mapping, layer["loop_dims"]),
                "memory_operand_links": LINKS} for layer, mapping in zip(layers, mappings)]
    entries.append({"name": "default", "memory_operand_links": LINKS})
    file = folder / "found.yaml"
    file.write_text(yaml.safe_dump(entries))
    loops = {layer["name"]: loops_of(mapping) for layer, mapping in zip(layers, mappings)}
    return run_zigzag([GivenSpatialMapping, GivenTemporalMapping], accelerator, layers, file, loops=loops, **options)


# Comparison.

def value_of(cost, objective):
    if objective == "energy":
        return cost.energy_total
    return cost.latency_total2 * (cost.energy_total if objective == "edp" else 1)


def write_files(arguments, hardware, layers, folder):
    """The accelerator, which YAML that ZigZag ships repeats a key of, the network, and the spatial mapping."""
    accelerator = yaml.safe_load((INPUTS / "hardware" / f"{hardware}.yaml").read_text())
    files = {name: folder / f"{name}.yaml" for name in (hardware, "network", "mapping", "constraints")}
    files[hardware].write_text(yaml.safe_dump(accelerator, sort_keys=False))
    files["network"].write_text(yaml.safe_dump(layers, sort_keys=False))
    entry = {"name": "default", "memory_operand_links": LINKS}
    if arguments.spatial == "given":
        d1, d2 = accelerator["operational_array"]["sizes"]
        entry["spatial_mapping"] = {"D1": [f"K, {d1}"], "D2": [f"C, {d2}"]}
        memories = accelerator["memories"].items()
        outside = next(name for name, memory in memories if memory["served_dimensions"])
        rest = "B=1 OY=1 OX=1 FY=1 FX=1"
        files["constraints"].write_text(yaml.safe_dump({"constraints": [
            {"target": outside, "type": "spatial", "factors": rest, "permutation": "K,C", "split": 1}]}))
    files["mapping"].write_text(yaml.safe_dump([entry]))
    return files[hardware], files["network"], files["mapping"], (
        files["constraints"] if arguments.spatial == "given" else None)


def compare(arguments, hardware, network, folder):
    shapes = NETWORKS[network]()
    if arguments.spatial == "given":
        shapes = {shape: count for shape, count in shapes.items() if shape[0] != "depthwise"}
    if arguments.layers:
        step = math.ceil(len(shapes) / arguments.layers)
        shapes = dict(list(shapes.items())[::step])
    layers = workload(shapes, arguments.output_bits[hardware])
    accelerator, file, mapping, constraints = write_files(arguments, hardware, layers, folder)
    options = {"access_same_data_considered_as_no_access": not arguments.every_access}
    ours, ours_seconds = search_bayloom(arguments, accelerator, file, constraints)
    theirs, their_seconds = search_zigzag(arguments, accelerator, layers, mapping, **options)
    found = {layer["name"]: layer for layer in ours["layers"] if "mapping" in layer}
    rows, skipped = [], 0
    for layer, count, cost in zip(layers, shapes.values(), theirs):
        if cost is None or layer["name"] not in found:
            skipped += 1
            continue
        entry = found[layer["name"]]
        judged = evaluate_by_zigzag(accelerator, [layer], [entry["mapping"]], folder, **options)[0]
        rows.append((layer, count, entry["model"], judged, cost))
    print(f"\n{network} on {hardware}, spatial mappings {arguments.spatial}, {arguments.objective}: "
          f"{len(rows)} layers, {skipped} left out")
    print("layer                                  bayloom uJ  (own model)    ZigZag uJ   ratio   cycles ratio")
    ratios, totals = [], collections.Counter()
    for layer, count, model, judged, cost in rows:
        ratio = value_of(judged, arguments.objective) / value_of(cost, arguments.objective)
        ratios.append(ratio)
        totals.update({"bayloom": count * judged.energy_total, "ZigZag": count * cost.energy_total,
                       "bayloom cycles": count * judged.latency_total2,
                       "ZigZag cycles": count * cost.latency_total2, "own cycles": count * model["cycles"]})
        sizes = "x".join(str(size) for size in layer["loop_sizes"][1:])
        print(f"{count:>2} {sizes:<34} {judged.energy_total / 1e6:>11.2f} {model['energy_pj'] / 1e6:>12.2f} "
              f"{cost.energy_total / 1e6:>12.2f} {ratio:>7.3f} {judged.latency_total2 / cost.latency_total2:>14.3f}")
    agreement = [model["energy_pj"] / judged.energy_total for _, _, model, judged, _ in rows]
    print(f"ratio of {arguments.objective}: geometric mean {geometric_mean(ratios):.3f} "
          f"[{min(ratios):.2f} .. {max(ratios):.2f}], bayloom at most 1 % above in "
          f"{sum(ratio <= 1.01 for ratio in ratios)} of {len(ratios)} layers")
    print(f"network: energy {totals['bayloom'] / 1e9:.3f} mJ and {totals['ZigZag'] / 1e9:.3f} mJ, cycles "
          f"{totals['bayloom cycles']:.4g} and {totals['ZigZag cycles']:.4g}, by bayloom's model "
          f"{totals['own cycles']:.4g}")
    print(f"energy by bayloom's model over ZigZag's, same mappings: {min(agreement):.3f} to {max(agreement):.3f}, "
          f"geometric mean {geometric_mean(agreement):.3f}")
    print(f"seconds: bayloom {ours_seconds:.1f} for all layers ({arguments.evaluations} mappings a layer), "
          f"ZigZag {sum(their_seconds):.1f} ({min(their_seconds):.2f} to {max(their_seconds):.2f} a layer)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bayloom", required=True)
    parser.add_argument("--hardware", nargs="+", default=["tpu_like", "eyeriss_like"])
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS), choices=list(NETWORKS))
    parser.add_argument("--objective", default="energy", choices=list(REDUCE))
    parser.add_argument("--spatial", default="free", choices=["free", "given"])
    parser.add_argument("--evaluations", type=int, default=20000, help="of bayloom, on average a layer")
    parser.add_argument("--lpf-limit", type=int, default=6, help="of LOMA: loops that it permutes")
    parser.add_argument("--every-access", action="store_true",
                        help="count reads of words that a memory's output still holds, as bayloom does")
    parser.add_argument("--layers", type=int, default=0, help="only so many of the distinct layers; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    # As wide as the registers of outputs.
    arguments.output_bits = collections.defaultdict(lambda: 16, {"eyeriss_like": 24})
    logging.disable(logging.CRITICAL)
    for hardware in arguments.hardware:
        for network in arguments.networks:
            with tempfile.TemporaryDirectory() as folder:
                compare(arguments, hardware, network, pathlib.Path(folder))


if __name__ == "__main__":
    main()
