#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Tables in Markdown of searches on many recorded spaces, ours beside the best of the others.

    python3 benchmarks/peers/autotuners/compare_spaces.py --ours ours/*.json --peers runs.jsonl

--ours are files of `bayloom-simulate --json`, --peers those of `simulate.py --runs`. The measure is
the median of the evaluations until a value within 10, 5 and 1 % of the optimum was found, where a
search that found none counts as one more than it was allowed. Where a median is such a count, the
cell says ">100", and the ratio of ours to it is an upper bound ("<0.41").

Printed are: of each space ours, the best strategy of Kernel Tuner for each share (at 5 % by name),
each other tuner, and the ratios of ours to the best of all others; then, of each other search, the
geometric mean of the ratios of ours to it over the spaces on which it ran, and, for searches that ran
with few seeds on many spaces, the same of all their searches: of each space the geometric mean of the
evaluations, where a search that did not get there counts as its limit (the lower one of the two), with
the factor by which a standard error changes it. That takes the devices of a kernel as one sample: their
spaces are alike, and searches with one seed begin alike on them.
"""

import argparse
import collections
import hashlib
import json
import math
import pathlib
import statistics
import sys

OTHERS = {"optuna-tpe": "Optuna TPE", "smac": "SMAC3", "hebo": "HEBO", "baco": "BaCO"}
SHARES = ("10 %", "5 %", "1 %")


class Count:
    """A median of evaluations; `over` where the searches ended before."""

    def __init__(self, counts, limit):
        ranked = sorted(limit + 1 if count is None else count for count in counts)
        median = ranked[(len(ranked) - 1) // 2]
        self.over = median > limit
        self.value = min(median, limit)

    def __str__(self):
        return f">{self.value}" if self.over else str(self.value)


class Ratio:
    """Of ours to another. Where the other one ended before, ours counts as no more than that: it is an
    upper bound ("<"), or both did not get there in so many ("~1.00")."""

    def __init__(self, ours, other):
        value = min(ours.value, other.value) if other.over else ours.value
        self.value = value / other.value
        self.sign = "<" if other.over and self.value < 1 else "~" if other.over else (
            ">" if ours.over else "")

    def __str__(self):
        return f"{self.sign}{self.value:.2f}"


def read(options):
    """Of each space and search: the medians for the shares, and the number of searches."""
    runs = collections.defaultdict(list)
    limits = {}
    for path in options.ours:
        for entry in json.loads(path.read_text()):
            key = entry["space"], "bayloom " + entry["optimizer"]
            runs[key] += [run["trials_to_reach"] for run in entry["runs"]]
            limits[key] = entry["max_trials"]
    for path in options.peers:
        for line in map(json.loads, path.read_text().splitlines()):
            key = line["space"], line["optimizer"]
            runs[key].append(line["trials_to_reach"])
            limits[key] = min(line["max_trials"], limits.get(key, math.inf))
    medians, reached = collections.defaultdict(dict), collections.defaultdict(dict)
    for (space, search), of_key in runs.items():
        reached[space][search] = of_key, limits[space, search]
        if len(of_key) >= options.least:
            medians[space][search] = ([Count([run[i] if run[i] is not None and
                                              run[i] <= limits[space, search] else None
                                              for run in of_key], limits[space, search])
                                       for i in range(len(SHARES))], len(of_key))
    return medians, reached


def mean_ratios(reached, spaces, ours, search):
    """For each share, of all searches: ours over the other's, geometric mean and standard error."""
    logs = [[] for _ in SHARES]
    for of_space in (reached[space] for space in spaces):
        limit = min(of_space[name][1] for name in (ours, search))
        for i in range(len(SHARES)):
            means = [sum(math.log(min(limit if run[i] is None else run[i], limit))
                         for run in of_space[name][0]) / len(of_space[name][0])
                     for name in (ours, search)]
            logs[i].append(means[0] - means[1])
    means = [statistics.mean(of_share) for of_share in logs]
    errors = []
    for mean, of_share in zip(means, logs):
        sums = collections.Counter()
        for space, log in zip(spaces, of_share):
            sums[space.partition("/")[0]] += log - mean
        errors.append(math.sqrt(sum(d * d for d in sums.values())) / len(of_share)
                      if len(sums) > 1 else math.nan)
    return [(math.exp(mean), math.exp(error)) for mean, error in zip(means, errors)]


def print_means(spaces, reached, ours):
    print("\n| search | spaces | searches of each | ours over it, all searches, 10 / 5 / 1 % |"
          " standard error, a factor of |\n|---|---|---|---|---|")
    for search in sorted({s for space in spaces for s in reached[space] if s != ours}):
        on = [space for space in spaces if search in reached[space]]
        seeds = sorted({len(reached[space][search][0]) for space in on})
        ratios = mean_ratios(reached, on, ours, search)
        print(f"| {title(search)} | {len(on)} | {span(seeds)} | "
              + " / ".join(f"{mean:.2f}" for mean, _ in ratios) + " | "
              + " / ".join(f"{error:.2f}" for _, error in ratios) + " |")


def span(counts):
    return f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def title(search):
    return OTHERS.get(search, search if search.startswith("bayloom ") else f"Kernel Tuner {search}")


def best(of_space, searches, share):
    """The name and the count of the search with the least median; None where there is none."""
    known = [(of_space[s][0][share].over, of_space[s][0][share].value, s)
             for s in searches if s in of_space]
    reached = [k for k in known if not k[0]]
    if not known:
        return None
    # What ended early may have needed fewer than what went on: the larger bound says more.
    name = min(reached)[2] if reached else max(known)[2]
    return name, of_space[name][0][share]


def cells(counts):
    return " / ".join("-" if count is None else str(count) for count in counts)


def is_kernel_tuner(search):
    return search not in OTHERS and not search.startswith("bayloom ")


def geometric(ratios):
    return math.exp(sum(math.log(r.value) for r in ratios) / len(ratios))


def order(space):
    return hashlib.sha256(space.encode()).hexdigest()


def print_spaces(half, spaces, medians, ours):
    shown = [name for name in OTHERS if any(name in medians[s] for s in spaces)]
    print(f"\n{half}\n\n| space | {ours} | Kernel Tuner's best | "
          + " | ".join(OTHERS[name] for name in shown) + " | ratio to the best |")
    print("|---" * (4 + len(shown)) + "|")
    all_ratios = [[] for _ in SHARES]
    for space in spaces:
        of_space = medians[space]
        mine = of_space[ours][0]
        tuner = [best(of_space, filter(is_kernel_tuner, of_space), i) for i in range(len(SHARES))]
        row = [space, cells(mine),
               f"{cells(t[1] for t in tuner)} ({tuner[1][0]})" if tuner[1] else ""]
        row += [cells(of_space[name][0]) if name in of_space else "" for name in shown]
        ratios = []
        for i in range(len(SHARES)):
            other = best(of_space, [s for s in of_space if not s.startswith("bayloom ")], i)
            ratios.append(Ratio(mine[i], other[1]) if other else None)
            if other:
                all_ratios[i].append(ratios[-1])
        print("| " + " | ".join(row + [cells(ratios)]) + " |")
    print("| geometric mean | " + "| " * (1 + len(shown)) + "| "
          + " / ".join(f"{geometric(r):.2f}" if r else "-" for r in all_ratios) + " |")
    print("\nmore than 1.1 times the best: " + ", ".join(
        f"{share}: {sum(r.value > 1.1 and r.sign != '<' for r in ratios)} of {len(ratios)}"
        for share, ratios in zip(SHARES, all_ratios)))


def print_searches(spaces, medians, ours):
    print("\n| search | spaces | searches of each | ours over it, 10 / 5 / 1 % |"
          " spaces on which it is ahead of ours by more than a tenth, 10 / 5 / 1 % |")
    print("|---|---|---|---|---|")
    rows = []
    for search in sorted({s for space in spaces for s in medians[space] if s != ours}):
        on = [medians[space] for space in spaces if search in medians[space]]
        ratios = [[Ratio(of[ours][0][i], of[search][0][i]) for of in on]
                  for i in range(len(SHARES))]
        seeds = sorted({of[search][1] for of in on})
        ahead = [sum(r.value > 1.1 and r.sign != "<" for r in of_share) for of_share in ratios]
        means = [geometric(of_share) for of_share in ratios]
        bounds = ["<" if any(r.sign == "<" for r in of_share) else "" for of_share in ratios]
        rows.append((means[1], f"| {title(search)} | {len(on)} | {span(seeds)} | " + " / ".join(f"{b}{m:.2f}" for b, m in zip(bounds, means))
                     + f" | {cells(ahead)} |"))
    for _, row in sorted(rows, reverse=True):
        print(row)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ours", nargs="+", type=pathlib.Path, required=True)
    parser.add_argument("--peers", nargs="+", type=pathlib.Path, required=True)
    parser.add_argument("--name", default="bayloom bayesian", help="which search is ours")
    parser.add_argument("--least", type=int, default=3, help="searches of a space, at least")
    parser.add_argument("--names", type=pathlib.Path,
                        help="what prepare_spaces.py printed: the halves of all its spaces")
    options = parser.parse_args()
    medians, reached = read(options)
    spaces = sorted((s for s in medians if options.name in medians[s]), key=order)
    halves = {"All spaces": spaces}
    if options.names:
        half_of = dict(reversed(line.split("\t"))
                       for line in options.names.read_text().splitlines())
        halves = {half: [s for s in spaces if half_of.get(s) == half]
                  for half in ("development", "set aside")}
    for half, of_half in halves.items():
        print_spaces(half, of_half, medians, options.name)
        print_searches(of_half, medians, options.name)
    print("\nAll:")
    if len(halves) > 1:
        print_searches(spaces, medians, options.name)
    print_means(spaces, reached, options.name)


if __name__ == "__main__":
    sys.exit(main())
