# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Tuning spaces that were run completely, as the FAIR benchmark hub records them, and the scenarios
of benchmarks/compilers."""

import ast
import gzip
import itertools
import json
import os


class Task:
    """A space that was run completely.

    Every parameter is a list of numbers. Of a scenario, a categorical one is the list of its values'
    places (named in `categorical`), and a permutation is replaced by the places of its items:
    `order` of four by `order_i0` .. `order_i3`, with conditions that all differ (`distinct`, beside
    `conditions`; `permutations` has the sizes)."""

    def __init__(self, path):
        self.categorical, self.permutations, self.distinct = set(), {}, []
        if path.endswith(".yaml"):
            self.read_scenario(path)
        else:
            self.read_t1(path)
        self.optimum = min(v for v in self.values.values() if v is not None)

    def read_t1(self, path):
        folder = os.path.dirname(os.path.abspath(path))
        self.name = f"{os.path.basename(folder)}/{os.path.basename(path).split('_')[0]}"
        with open(os.path.join(folder, "T1.json")) as file:
            t1 = json.load(file)
        space = t1["ConfigurationSpace"]
        self.parameters = {p["Name"]: eval(p["Values"]) for p in space["TuningParameters"]}
        self.conditions = [c["Expression"] for c in space["Conditions"]]
        self.problem_size = t1["KernelSpecification"]["ProblemSize"]
        with gzip.open(path, "rt") as file:
            results = json.load(file)["results"]
        self.values = {}  # configuration as a tuple -> time, None where it failed
        for result in results:
            value = None
            if result["invalidity"] == "correct":
                value = next(m["value"] for m in result["measurements"] if m["name"] == "time")
            key = tuple(result["configuration"][name] for name in self.parameters)
            self.values[key] = value

    def read_scenario(self, path):
        import yaml
        with open(path) as file:
            scenario = yaml.safe_load(file)
        self.name, self.problem_size = scenario["name"], [1024, 1024]
        self.parameters, names = {}, {}
        for name, parameter in scenario["parameters"].items():
            if parameter["type"] == "permutation":
                size = parameter["size"]
                self.permutations[name] = size
                places = [f"{name}_i{item}" for item in range(size)]
                self.parameters.update((place, list(range(size))) for place in places)
                self.distinct += [f"{a} != {b}" for a, b in itertools.combinations(places, 2)]
            elif parameter["type"] == "categorical":
                self.categorical.add(name)
                names[name] = [str(value) for value in parameter["values"]]
                self.parameters[name] = list(range(len(names[name])))
            else:
                self.parameters[name] = parameter["values"]
        self.conditions = [ast.unparse(Places(names).visit(ast.parse(text, mode="eval")))
                           for text in scenario["constraints"]]
        with gzip.open(path.removesuffix(".yaml") + "_T4.json.gz", "rt") as file:
            results = json.load(file)["results"]
        self.values = {}
        for result in results:
            chosen = dict(result["configuration"])
            for name in self.permutations:
                order = chosen.pop(name)
                chosen.update((f"{name}_i{item}", place) for place, item in enumerate(order))
            for name, values in names.items():
                chosen[name] = values.index(str(chosen[name]))
            value = None
            if result["invalidity"] == "correct":
                value = result["measurements"][0]["value"]
                value = 1 / value if "maximize" in scenario else value
            self.values[tuple(chosen[name] for name in self.parameters)] = value

    def curve(self, configurations):
        """Improvements [[trial, value], ...] and the number of trials, each configuration once."""
        improvements, met, best = [], set(), float("inf")
        for key in configurations:
            if key in met or key not in self.values:
                continue
            met.add(key)
            value = self.values[key]
            if value is not None and value < best:
                best = value
                improvements.append([len(met), value])
        return improvements, len(met)

    def write_cache(self, path):
        """The records as a cache file of Kernel Tuner."""
        entries = {}
        for key, value in self.values.items():
            entry = dict(zip(self.parameters, key))
            entry["time"] = "RuntimeFailedConfig" if value is None else value
            for part in ("compile_time", "verification_time", "benchmark_time", "framework_time",
                         "strategy_time"):
                entry[part] = 0.0
            entries[",".join(str(k) for k in key)] = entry
        with open(path, "w") as file:
            json.dump({"device_name": "recorded", "kernel_name": "recorded",
                       "problem_size": self.problem_size,
                       "tune_params_keys": list(self.parameters), "tune_params": self.parameters,
                       "objective": "time", "cache": entries}, file)


class Places(ast.NodeTransformer):
    """In comparisons with categorical parameters, replaces values by their places."""

    def __init__(self, names):
        self.names = names

    def visit_Compare(self, node):
        values = self.names.get(node.left.id) if isinstance(node.left, ast.Name) else None
        if values:
            node.comparators = [ast.Constant(values.index(str(constant.value)))
                                for constant in node.comparators]
        return node
