# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Kills a search with SIGKILL at random moments and resumes it, again and again. What the evaluator
itself has written down is compared with the records: no trial that ended before a kill may be
lost, none may be recorded twice. The evaluator crashes, hangs, prints NaN and garbage now and then.

    python3 benchmarks/reliability/kill_search.py build/release/bin/bayloom
"""

import collections
import json
import pathlib
import sys
import tempfile

import killing

SCENARIO = """
name: killed
parameters:
  x: {type: integer, range: [0, 99]}
  y: {type: integer, range: [0, 99]}
  order: {type: permutation, size: 3}
constraints: [x + y < 150]
minimize: seconds
evaluator: {command: "python3 {here}/evaluate.py {x} {y} {order}", timeout: 0.5}
optimizer: OPTIMIZER
"""

EVALUATOR = """
import os, sys, time
x, y = int(sys.argv[1]), int(sys.argv[2])
with open(os.path.join(os.path.dirname(__file__), "begun.txt"), "a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
if x % 10 == 1: os.abort()
if x % 10 == 2: sys.exit("no such x")
if x == 30: time.sleep(60)
if x % 10 == 4: print("nan"); sys.exit()
if x % 10 == 5: os.write(1, os.urandom(1000)); sys.exit()
print((x - 50) ** 2 + (y - 20) ** 2)
"""


QUERY = """SELECT search, ordinal, configuration, verdict, value, reason FROM search_trials
           ORDER BY search, ordinal"""


def find_silent_failure(trials):
    if any(verdict != "ok" and not reason for *_, verdict, _, reason in trials):
        return "a failure has no reason"
    return None


def main():
    options = killing.parse_options(__doc__, longest=3, jobs=2, optimizer="bayesian")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "evaluate.py").write_text(EVALUATOR)
        scenario = folder / "killed.yaml"
        scenario.write_text(SCENARIO.replace("OPTIMIZER", options.optimizer))
        database = str(folder / "killed.db")
        command = [options.bayloom, "search", str(scenario), "--db", database, "--resume",
                   "--trials", "1000000", "--jobs", str(options.jobs)]
        trials = killing.kill_repeatedly(command, database, QUERY, options, find_silent_failure)
        begun = len((folder / "begun.txt").read_text().splitlines())
        lost = begun - len(trials)
        if lost > options.kills * 2 * options.jobs:
            sys.exit(f"{lost} of {begun} evaluations were begun and never recorded")
        recorded = {tuple(json.loads(trial[2])["order"]) for trial in trials}
    verdicts = dict(collections.Counter(verdict for *_, verdict, _, _ in trials))
    print(
        f"{options.kills} kills, {len(trials)} trials ({verdicts}) with {len(recorded)} orders:"
        f" none lost, none repeated; {lost} evaluations were cut off"
    )


if __name__ == "__main__":
    main()
