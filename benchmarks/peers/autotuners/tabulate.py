#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Makes a result file of searches on recorded spaces: evaluations until the optimum is near.

    python3 benchmarks/peers/autotuners/tabulate.py ours.json peers.json --peer 'Kernel Tuner=1.4' \\
        --result benchmarks/results/recorded_spaces.json

Reads what `bayloom-simulate --json` and `simulate.py --json` wrote: a row per optimizer, with the
median and the quartiles for every space and share of the optimum. A space's name in the fields is
that of its device, or of its folder with --folders (`convolution/A100` gives `A100_5`,
`dedispersion/A100` with `--folders dedispersion` gives `dedispersion_1`).
"""

import argparse
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import result_file  # noqa: E402

OURS = ("random", "chain-of-trees", "annealing", "genetic", "ensemble", "forest", "bayesian")
PEERS = {"optuna-tpe": "Optuna TPE", "optuna-tpe-multivariate": "Optuna multivariate TPE",
         "baco": "BaCO"}


def search_name(optimizer):
    """bayloom-simulate's are Bayloom's; simulate.py's others are strategies of Kernel Tuner."""
    if optimizer in OURS:
        return f"Bayloom {optimizer}"
    return PEERS.get(optimizer, f"Kernel Tuner {optimizer}")


def quartiles(counts, limit):
    """Median and quartiles; ">limit" where the search ended before."""
    ranked = sorted(float("inf") if count is None else count for count in counts)
    at = [ranked[quarter * (len(ranked) - 1) // 4] for quarter in (2, 1, 3)]
    return [f">{limit}" if count == float("inf") else count for count in at]


def fields_of(entry, folders):
    folder, _, device = entry["space"].partition("/")
    space = folder if folder in folders else device
    fields = {}
    for i, share in enumerate(entry["shares"]):
        reached = [run["trials_to_reach"][i] for run in entry["runs"]]
        name = f"{space}_{round(100 * share)}"
        for suffix, count in zip(("", "_low", "_high"), quartiles(reached, entry["max_trials"])):
            fields[name + suffix] = count
    return fields


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+", type=pathlib.Path, help="JSON of the two programs")
    parser.add_argument("--folders", nargs="*", default=["dedispersion"],
                        help="spaces named by their folders")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=VERSION")
    parser.add_argument("--result", required=True, metavar="FILE")
    options = parser.parse_args()
    rows = {}
    for path in options.runs:
        for entry in json.loads(path.read_text()):
            name = search_name(entry["optimizer"])
            row = rows.setdefault(name, {"search": name, "seeds": len(entry["runs"]),
                                         "max_evaluations": entry["max_trials"]})
            row.update(fields_of(entry, options.folders))
    # Spaces that a search was not run on have no value.
    columns = dict.fromkeys(key for row in rows.values() for key in row)
    result_file.write(options.result,
                      "Evaluations until the optimum is near, on recorded GPU kernels",
                      [{**columns, **row} for row in rows.values()],
                      dict(peer.split("=", 1) for peer in options.peer),
                      note="A count such as '>300' means that the search ended before.")


if __name__ == "__main__":
    main()
