# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0
"""Layers of networks, as problems, and what bayloom map says of them.

Shared by the comparisons with other mappers beside it. Networks are {(kind, output channels, input
channels, output size, kernel, stride): layers of these sizes}.
"""

import collections
import json
import math
import pathlib
import resource
import statistics
import subprocess

import yaml


def resnet50():
    layers = collections.Counter({("conv", 64, 3, 112, 7, 2): 1})
    channels = 64
    for stage, (planes, size, blocks) in enumerate([(64, 56, 3), (128, 28, 4), (256, 14, 6), (512, 7, 3)]):
        for block in range(blocks):
            stride = 2 if block == 0 and stage > 0 else 1
            layers["conv", planes, channels, size * stride, 1, 1] += 1
            layers["conv", planes, planes, size, 3, stride] += 1
            layers["conv", 4 * planes, planes, size, 1, 1] += 1
            if block == 0:
                layers["conv", 4 * planes, channels, size, 1, stride] += 1
            channels = 4 * planes
    layers["conv", 1000, 2048, 1, 1, 1] += 1
    return layers


def mobilenet_v2():
    layers = collections.Counter({("conv", 32, 3, 112, 3, 2): 1})
    channels, size = 32, 112
    for expansion, outputs, blocks, first_stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                                     (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            wide = channels * expansion
            if expansion > 1:
                layers["conv", wide, channels, size, 1, 1] += 1
            size //= stride
            layers["depthwise", wide, 1, size, 3, stride] += 1
            layers["conv", outputs, wide, size, 1, 1] += 1
            channels = outputs
    layers["conv", 1280, 320, 7, 1, 1] += 1
    layers["conv", 1000, 1280, 1, 1, 1] += 1
    return layers


def bert_base():
    """The products with weights, for 128 tokens: 128 positions of a 1x1 convolution."""
    return collections.Counter({("product", 768, 768, 128, 1, 1): 48, ("product", 3072, 768, 128, 1, 1): 12,
                                ("product", 768, 3072, 128, 1, 1): 12})


NETWORKS = {"resnet50": resnet50, "mobilenet_v2": mobilenet_v2, "bert_base": bert_base}


def rows_of(shape):
    """Of the output; a product has one row, of as many columns as it has rows."""
    return 1 if shape[0] == "product" else shape[3]


def name_of(shape):
    kind, k, c, size, kernel, stride = shape
    channels = f"{k}" if kind == "depthwise" else f"{k} x {c}"
    text = f"{channels}, {size}" if kind == "product" else f"{channels}, {size} x {size}, {kernel} x {kernel}"
    return text + (f", stride {stride}" if stride > 1 else "") + (", depthwise" if kind == "depthwise" else "")


def macs_of(shape):
    _, k, c, size, kernel, _ = shape
    return k * c * rows_of(shape) * size * kernel * kernel


def largest(network, count, kinds=("conv", "depthwise", "product")):
    """The layers with most multiplications, all of them counted; all layers for 0."""
    layers = {shape: layers for shape, layers in NETWORKS[network]().items() if shape[0] in kinds}
    order = sorted(layers, key=lambda shape: -macs_of(shape) * layers[shape])
    return {shape: layers[shape] for shape in (order[:count] if count else layers)}


# Timeloop's form.

def bounds_of(shape):
    """The seven dimensions and strides, by the names that CoSA and Timeloop's shapes have."""
    _, k, c, size, kernel, stride = shape
    return {"R": kernel, "S": kernel, "P": size, "Q": rows_of(shape), "C": c, "K": k, "N": 1,
            "Wstride": stride, "Hstride": stride, "Wdilation": 1, "Hdilation": 1}


def problem_of(shape):
    """As a problem in Timeloop's YAML. A depthwise layer has no C: K goes through inputs, too."""
    is_depthwise = shape[0] == "depthwise"
    channel = "K" if is_depthwise else "C"
    bounds = bounds_of(shape)
    axes = {"Weights": [[[name]] for name in ("R", "S", *([] if is_depthwise else ["C"]), "K")],
            "Inputs": [[["N"]], [[channel]], [["R", "Wdilation"], ["P", "Wstride"]],
                       [["S", "Hdilation"], ["Q", "Hstride"]]],
            "Outputs": [[["N"]], [["K"]], [["P"]], [["Q"]]]}
    spaces = [{"name": name, "projection": projection} for name, projection in axes.items()]
    spaces[-1]["read-write"] = True
    if is_depthwise:
        del bounds["C"]
    coefficients = [{"name": name, "default": 1} for name in bounds if len(name) > 1]
    dimensions = [name for name in bounds if len(name) == 1]
    form = {"name": "layer", "dimensions": dimensions, "coefficients": coefficients, "data-spaces": spaces}
    return {"shape": form} | bounds


def write_problem(shape, file):
    file.write_text(yaml.safe_dump({"problem": problem_of(shape)}, sort_keys=False, default_flow_style=None))
    return file


# bayloom.

SEARCHES = ("genetic:20000", "genetic:200000", "bayesian:200")


def add_arguments(parser):
    parser.add_argument("--bayloom", required=True, type=pathlib.Path)
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS), choices=list(NETWORKS))
    parser.add_argument("--searches", nargs="+", default=SEARCHES, metavar="MAPPER:EVALUATIONS",
                        help="of bayloom, for each layer; genetic:20000 is its default")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--layers", type=int, default=0, help="only so many, with most multiplications; 0: all")
    parser.add_argument("--json", type=pathlib.Path, help="a file for all figures")


def processor_seconds(who=resource.RUSAGE_SELF):
    """Of this process, or of those that it ran and that have ended; unlike the clock's, they hardly
    depend on what else runs."""
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


class Bayloom:
    """bayloom map of one problem at a time, its model counting as Timeloop does."""

    def __init__(self, program, architecture, constraints=None, options=()):
        self.command = [str(program), "map", "--arch", str(architecture), "--counting", "timeloop", "--json", *options]
        if constraints:
            self.command += ["--constraints", str(constraints)]

    def run(self, problem, *arguments):
        begin = processor_seconds(resource.RUSAGE_CHILDREN)
        done = subprocess.run([*self.command, "--problem", str(problem), *map(str, arguments)],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise ValueError(done.stderr.strip())
        return json.loads(done.stdout) | {"seconds": processor_seconds(resource.RUSAGE_CHILDREN) - begin}

    def evaluate(self, problem, mapping):
        return self.run(problem, "--mapping", mapping)["model"]

    def search(self, problem, objective, search, seed, *others):
        """With a search such as "genetic:20000"."""
        mapper, evaluations = search.split(":")
        return self.run(problem, "--objective", objective, "--mapper", mapper, "--evaluations", evaluations,
                        "--seed", seed, *others)


def value_of(model, objective):
    """Of what bayloom's model says of a mapping."""
    return {"energy": model["energy_pj"], "delay": model["cycles"],
            "edp": model["energy_pj"] * model["cycles"]}[objective]


def evaluations_to_reach(found, value):
    """How many evaluations a search took to be at least as good; None if it never was."""
    for evaluations, best in found["improvements"]:
        if best <= value * (1 + 1e-9):
            return evaluations
    return None


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def say_ratios(what, ratios):
    if not ratios:
        return
    print(f"{what}: geometric mean {geometric_mean(ratios):.3f} [{min(ratios):.2f} .. {max(ratios):.2f}], "
          f"at most 1 % above in {sum(ratio <= 1.01 for ratio in ratios)} of {len(ratios)} layers")


def say_total(who, models):
    """Of (count, model) of every layer."""
    energy = sum(count * model["energy_pj"] for count, model in models) / 1e9
    cycles = sum(count * model["cycles"] for count, model in models) / 1e6
    print(f"these layers, {who}: {energy:.3f} mJ, {cycles:.3f} million cycles, product {energy * cycles:.3f}")
