#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""What earlier tunings of other networks are worth: trials until a network is tuned.

    python3 benchmarks/priors/leave_one_out.py --trials 240 --seeds 3 --folder priors \\
        squeezenet1.1.onnx resnet18.onnx mobilenet_v2.onnx bert_tiny.onnx

Each network is tuned from a cold start ('cold'), then with the store of programs that tuning the other
networks has filled: with the programs that it lends only ('adapted', the default), and with the model of
those networks' trials besides ('prior'). All have the same seeds, and every tuning a copy of the
store of its own. With --earlier, the folder of another version's programs, 'earlier' is a tuning by
that version, from a cold start.

Then the best programs that each had found on its way are timed again in turns (bayloom-remeasure), so
that neither the machine's drift nor lucky measurements count; a task that had no trial yet counts with
the first program that it came to have (an earlier version's has none until then). Sums of tasks by two
versions' measurers are not comparable: with --earlier all latencies of a version are multiplied by
what its whole networks take (bayloom bench, all tunings in turns) over the sums of their tasks, the
median of its tunings.

The end is the lowest latency of all tunings of the network; printed are the medians over seeds of the
trials until a tuning was within 1 % and 5 % of it, and of the latency after so many trials over that
end. A tuning that never came so close counts as having needed more than all trials.

Every step has files of its own in --folder: a run that was interrupted goes on where it was. Only the
standard library is needed.
"""

import argparse
import hashlib
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import result_file  # noqa: E402

ARMS = ["cold", "adapted", "prior"]
# By the programs of another version.
EARLIER = "earlier"
# How often a tuning's best programs are looked at.
STEPS = 48
# Of the tunings that fill stores.
DONOR_SEED = 1000


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", type=pathlib.Path, help="two networks or more")
    parser.add_argument("--bayloom", default="build/release/bin/bayloom")
    parser.add_argument("--remeasure", default="build/release/bin/bayloom-remeasure")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("priors"))
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=ARMS)
    parser.add_argument("--earlier", type=pathlib.Path,
                        help="where another version's bayloom and bayloom-remeasure are")
    parser.add_argument("--trials", type=int, default=240)
    parser.add_argument("--donor-trials", type=int, default=480, help="of each other network")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3, help="how often programs are timed again")
    parser.add_argument("--result", help="write the rows to this file")
    options = parser.parse_args()
    if len(options.models) < 2:
        parser.error("one network has no others to learn from")
    if options.trials < STEPS or options.seeds < 1:
        parser.error(f"--trials is at least {STEPS}, --seeds at least 1")
    if options.earlier:
        options.arms = options.arms + [EARLIER]
        options.earlier = options.earlier.resolve()
        # Files of one version are not those of the next.
        program = options.earlier / "bayloom"
        if not program.is_file():
            parser.error(f"--earlier: there is no {program}")
        options.version = hashlib.sha256(program.read_bytes()).hexdigest()[:8]
    return options


def run(command, store="off"):
    command = [str(part) for part in command]
    done = subprocess.run(command, capture_output=True, text=True,
                          env={**os.environ, "BAYLOOM_STORE": str(store)})
    if done.returncode != 0:
        sys.exit(f"leave_one_out.py: {' '.join(command)}\n{done.stderr.strip()}")
    return done


def remove(database):
    """With what belongs to it."""
    for left in database.parent.glob(database.name + "*"):
        left.unlink()


def once(path, make):
    """Has `make` write the file unless it is there; what is half done never has that name."""
    if not path.exists():
        half = path.with_suffix(".half")
        remove(half)
        make(half)
        half.rename(path)
    return path


def tune(options, model, seed, trials, database, store="off", *more):
    # Regions in two divisions would have tasks that the latency does not always count.
    return run([options.bayloom, "tune", model, "--trials", trials, "--seed", seed, "--threads",
                options.threads, "--db", database, "--divisions", "none", "--json", *more], store)


def named(options, arm):
    """The arm, as file names have it."""
    return f"{arm}-{options.version}" if arm == EARLIER else arm


def machine(options, arm):
    """A database that knows the machine, which all others of a version are copies of."""
    is_earlier = arm == EARLIER
    bayloom = options.earlier / "bayloom" if is_earlier else options.bayloom
    name = f"machine.{named(options, arm)}.db" if is_earlier else "machine.db"
    return once(options.folder / name, lambda half: run(
        [bayloom, "tune", "--op", "matmul:16,16,16", "--trials", 1, "--threads",
         options.threads, "--db", half]))


def donor(options, model):
    def make(half):
        shutil.copy(machine(options, "cold"), half)
        tune(options, model, DONOR_SEED, options.donor_trials, half)
        print(f"{model.stem}: tuned for the others", file=sys.stderr)
    return once(options.folder / f"{model.stem}.donor.db", make)


def store_without(options, model):
    """What the tunings of the other networks have kept."""
    def make(half):
        for other in options.models:
            if other == model:
                continue
            copy = options.folder / "copy.db"
            remove(copy)
            shutil.copy(donor(options, other), copy)
            # All trials are done: nothing is left to do but to keep what was found.
            tune(options, other, DONOR_SEED, options.donor_trials, copy, half, "--resume")
            remove(copy)
    return once(options.folder / f"{model.stem}.store.db", make)


def tuned(options, model, arm, seed):
    """The database of a tuning."""
    def make_earlier(half):
        shutil.copy(machine(options, arm), half)
        run([options.earlier / "bayloom", "tune", model, "--trials", options.trials, "--seed", seed,
             "--threads", options.threads, "--db", half])
        print(f"{model.stem}, {arm}, seed {seed}", file=sys.stderr)

    def make(half):
        store = options.folder / "store.copy.db"
        remove(store)
        if arm != "cold":
            shutil.copy(store_without(options, model), store)
        shutil.copy(machine(options, arm), half)
        answer = tune(options, model, seed, options.trials, half, store, "--learn-from",
                      "store" if arm == "prior" else "earlier")
        if ("prior: " in answer.stderr) != (arm == "prior"):
            sys.exit(f"leave_one_out.py: {model.stem}, {arm}: the prior is not as it should be")
        print(f"{model.stem}, {arm}, seed {seed}: "
              f"{1e3 * json.loads(answer.stdout)['total']:.4g} ms", file=sys.stderr)
    name = f"{model.stem}.{named(options, arm)}.{options.trials}.{seed}.db"
    return once(options.folder / name, make_earlier if arm == EARLIER else make)


def timings(options, model, runs, of):
    """The file of the latencies of these tunings: 'of' tasks or of whole networks."""
    arms = "-".join(dict.fromkeys(named(options, arm) for arm, _ in runs))
    return options.folder / f"{model.stem}.{arms}.{options.trials}.{options.seeds}.{of}.json"


def timed_in_turns(options, model, remeasure, runs, *more):
    """Seconds of the network after each of options.steps, of each run."""
    databases = [tuned(options, model, *one) for one in runs]
    timed = once(timings(options, model, runs, "tasks"), lambda half: run(
        [remeasure, model, *databases, "--rounds", options.rounds, "--threads",
         options.threads, "--after", ",".join(map(str, options.steps)), *more, "--json", half]))
    # What never ran is infinite, which JSON has no number for.
    return [[math.inf if s is None else s for s in result["seconds"]]
            for result in json.loads(timed.read_text())]


def network_latencies(options, model, runs):
    """Seconds of the whole network by each tuning's programs: medians of rounds in turns."""
    def make(half):
        rounds = [[] for _ in runs]
        for _ in range(options.rounds):
            for seconds, (arm, seed) in zip(rounds, runs):
                bayloom = options.earlier / "bayloom" if arm == EARLIER else options.bayloom
                answer = run([bayloom, "bench", model, "--db", tuned(options, model, arm, seed),
                              "--threads", options.threads, "--time", "1s", "--json"])
                seconds.append(json.loads(answer.stdout)["latency"]["seconds"])
        half.write_text(json.dumps([statistics.median(seconds) for seconds in rounds]))
    return json.loads(once(timings(options, model, runs, "whole"), make).read_text())


def curves(options, model):
    """What timed_in_turns says, by arm: a list for each seed.

    An earlier version's programs are timed by its own programs, right after the others.
    """
    runs = [(arm, seed) for seed in range(1, options.seeds + 1) for arm in options.arms]
    for one in runs:  # tunings take turns, so that a drift is everybody's
        tuned(options, model, *one)
    ours = [one for one in runs if one[0] != EARLIER]
    theirs = [one for one in runs if one[0] == EARLIER]
    found = timed_in_turns(options, model, options.remeasure, ours, "--untried-by-first")
    if theirs:
        found += timed_in_turns(options, model, options.earlier / "bayloom-remeasure", theirs)
        whole = network_latencies(options, model, ours + theirs)
        for place in slice(0, len(ours)), slice(len(ours), None):
            factor = statistics.median(seconds / curve[-1] for seconds, curve in
                                       zip(whole[place], found[place], strict=True))
            if factor > 0:  # not where the last latencies are infinite
                found[place] = [[factor * s for s in curve] for curve in found[place]]
    by_arm = {arm: [] for arm in options.arms}
    for (arm, _), seconds in zip(ours + theirs, found, strict=True):
        by_arm[arm].append(seconds)
    return by_arm


def trials_within(options, curve, bound):
    """Infinity if it never was as good as the bound. By other timings a curve may rise again."""
    return next((step for step, s in zip(options.steps, curve) if s <= bound), math.inf)


def rows_of(options, model):
    by_arm = curves(options, model)
    end = min(curve[-1] for found in by_arm.values() for curve in found)
    rows = []
    for arm, found in by_arm.items():
        row = {"network": model.stem, "start": arm, "end_ms": 1e3 * end}
        for percent in (5, 1):
            needed = [trials_within(options, c, (1 + percent / 100) * end) for c in found]
            middle = statistics.median(needed)
            row[f"trials_to_{percent}_percent"] = None if math.isinf(middle) else middle
            row[f"reached_{percent}_percent"] = sum(map(math.isfinite, needed))
        for part in (8, 4, 2, 1):
            place = max(0, STEPS // part - 1)
            ratio = statistics.median(curve[place] / end for curve in found)
            row[f"after_{options.steps[place]}"] = ratio if math.isfinite(ratio) else None
        rows.append(row)
    return rows


def show(options, rows):
    afters = [key for key in rows[0] if key.startswith("after_")]
    print(f"\nmedians of {options.seeds} seeds; latencies over the lowest of the network's tunings")
    print(f"{'network':16} {'start':7} {'to 5 %':>14} {'to 1 %':>14} "
          + " ".join(f"{'at ' + key[6:]:>7}" for key in afters))
    for row in rows:
        words = []
        for percent in (5, 1):
            trials = row[f"trials_to_{percent}_percent"]
            reached = row[f"reached_{percent}_percent"]
            text = f">{options.trials}" if trials is None else f"{trials:g}"
            words.append(f"{text} ({reached} of {options.seeds})")
        print(f"{row['network']:16} {row['start']:7} {words[0]:>14} {words[1]:>14} "
              + " ".join("      -" if row[key] is None else f"{row[key]:7.3f}" for key in afters))


def main():
    options = arguments()
    options.folder.mkdir(parents=True, exist_ok=True)
    options.steps = [options.trials * (k + 1) // STEPS for k in range(STEPS)]
    rows = []
    for model in options.models:
        rows += rows_of(options, model)
    show(options, rows)
    if options.result:
        result_file.write(options.result, "Trials with what earlier tunings teach", rows)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("stopped; the same command goes on", file=sys.stderr)
        sys.exit(130)
