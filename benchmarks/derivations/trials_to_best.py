# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Counts the trials that a search needs with several derivations and with each alone.

    python3 benchmarks/derivations/trials_to_best.py --trials 200 --seeds 3 --threads 1

Tunes each operator with all derivations, with none, and with each by itself, several seeds of each,
in turns. For every choice: the best time that its searches found, over the best of all choices; how
many of the searches came within --within of the best of all choices, and the median of the trials
that those needed. A choice that cannot come so close shows in the second number. Every search has a
database and a store of programs of its own, so that none learns from another. The last lines say
for each operator what all derivations together need, and what the best alone; --result has them, and
all rows, as JSON. The command above takes some ten minutes on a quiet machine: 30 searches.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import result_file  # noqa: E402

OPERATORS = ["conv2d:56x56x64,64,3x3,pad=1,bias,relu", "conv2d:14x14x256,256,3x3,pad=1,bias,relu"]
CHOICES = ["all", "none", "winograd-2x2", "winograd-4x4", "winograd-6x6"]


def bayloom(options, *arguments):
    command = [options.bayloom, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"trials_to_best.py: {' '.join(command)}\n{result.stderr}")
    return result.stdout


def best_after_trial(options, operator, choice, seed):
    """The best time after each trial of a search, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BAYLOOM_STORE"] = str(pathlib.Path(folder) / "store.db")
        database = pathlib.Path(folder) / "search.db"
        bayloom(options, "tune", "--op", operator, "--derivations", choice, "--seed", seed,
                "--trials", options.trials, "--threads", options.threads, "--db", database)
        records = pathlib.Path(folder) / "records.jsonl"
        bayloom(options, "records", "export", database, "--out", records)
        lines = [json.loads(line) for line in records.read_text().splitlines()]
    trials = sorted((line for line in lines if line["type"] == "trial"),
                    key=lambda line: line["ordinal"])
    curve, best = [], float("inf")
    for trial in trials:
        if trial["verdict"] == "ok":
            best = min(best, trial["seconds"])
        curve.append(best)
    return curve


def trials_within(curve, bound):
    """Trials until the search was as good as the bound; None if it never was."""
    return next((count for count, best in enumerate(curve, 1) if best <= bound), None)


def study(options, operator):
    curves = {choice: [] for choice in options.choices}
    for seed in range(1, options.seeds + 1):
        for choice in options.choices:
            print(f"seed {seed} of {options.seeds}, {choice}", file=sys.stderr)
            curves[choice].append(best_after_trial(options, operator, choice, seed))
    best = min(curve[-1] for found in curves.values() for curve in found)
    if best == float("inf"):
        sys.exit(f"trials_to_best.py: no trial of {operator} has a time")
    rows = []
    for choice, found in curves.items():
        needed = [trials_within(curve, (1 + options.within) * best) for curve in found]
        reached = [count for count in needed if count is not None]
        rows.append({
            "operator": operator,
            "derivations": choice,
            "best_ms": 1e3 * min(curve[-1] for curve in found),
            "over_best": min(curve[-1] for curve in found) / best,
            "median_over_best": statistics.median(curve[-1] for curve in found) / best,
            "searches": len(found),
            "reached": len(reached),
            "median_trials": statistics.median(reached) if reached else None,
        })
    return rows


def in_words(row):
    if not row["reached"]:
        return f"no search of {row['searches']}"
    return f"{row['reached']} of {row['searches']} searches, after {row['median_trials']:g} trials"


def summary(options, rows):
    """Of one operator: all derivations together, beside the one that is best alone."""
    alone = [row for row in rows if row["derivations"] != "all"]
    together = [row for row in rows if row["derivations"] == "all"]
    parts = [("all derivations", row) for row in together]
    if alone:
        best = min(alone, key=lambda row: row["best_ms"])
        name = best["derivations"]
        parts.append(("no derivation" if name == "none" else f"{name} alone", best))
    words = "; ".join(f"{name}: {in_words(row)}" for name, row in parts)
    return f"{rows[0]['operator']}: within {100 * options.within:g} % of the best: {words}"


def show(rows):
    print(f"{'derivations':14} {'best':>10} {'over best':>9} {'median':>7} {'reached':>8} {'trials':>7}")
    for row in rows:
        trials = "-" if row["median_trials"] is None else f"{row['median_trials']:g}"
        print(f"{row['derivations']:14} {row['best_ms']:7.3f} ms {row['over_best']:9.3f} "
              f"{row['median_over_best']:7.3f} {row['reached']:>4} of {row['searches']} {trials:>7}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bayloom", default="build/release/bin/bayloom")
    parser.add_argument("--op", action="append", dest="operators", help="instead of the two below")
    parser.add_argument("--choices", nargs="+", default=CHOICES)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--within", type=float, default=0.05)
    parser.add_argument("--result", help="write the rows to this file")
    options = parser.parse_args()
    if options.trials < 1 or options.seeds < 1:
        parser.error("--trials and --seeds are at least 1")
    rows, summaries = [], []
    for operator in options.operators or OPERATORS:
        found = study(options, operator)
        print(f"\n{operator}")
        show(found)
        rows += found
        summaries.append(summary(options, found))
    print("\n" + "\n".join(summaries))
    if options.result:
        result_file.write(options.result, "Trials to the best, by derivations", rows,
                          note="\n".join(summaries))


if __name__ == "__main__":
    main()
