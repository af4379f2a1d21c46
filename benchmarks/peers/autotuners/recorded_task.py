# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Tuning spaces that were run completely, as the FAIR benchmark hub records them."""

import gzip
import json
import os


class Task:
    """A space that was run completely."""

    def __init__(self, path):
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
        self.optimum = min(v for v in self.values.values() if v is not None)

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
