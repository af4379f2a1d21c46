# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Runs one long search or tuning and watches what grows: memory, descriptors, time, the database.

    python3 benchmarks/reliability/soak.py build/release/bin/bayloom search --trials 100000
    python3 benchmarks/reliability/soak.py build/release/bin/bayloom search --optimizers forest
    python3 benchmarks/reliability/soak.py build/release/bin/bayloom tune --trials 10000
    python3 benchmarks/reliability/soak.py build/release/bin/bayloom map --trials 1000000

Each run is sampled at trials that are about a factor of two apart and at the end. For a sample,
`trials`, `seconds` since the start, milliseconds a trial since the sample before (of the clock and
of the processor, which does not count what other programs take), resident memory of the program
(not of its evaluators, compilers and runners), its open descriptors, threads and bytes of database
a trial are printed; `--result` writes all as JSON. A limit of time ends a run, so that a slow
optimizer shows its curve up to there.
"""

import argparse
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

OPTIMIZERS = ("random", "annealing", "genetic", "ensemble", "forest", "bayesian")
MAPPERS = ("random-pruned", "annealing", "genetic", "bayesian")
STRATEGIES = ("evolutionary", "bayes")
# Twelve parameters of four kinds; one answer in ten is a failure that the parameters decide.
SCENARIO = """
name: soak
parameters:
  tile_x: {type: ordinal, values: [1, 2, 4, 8, 16, 32, 64, 128], scale: log}
  tile_y: {type: ordinal, values: [1, 2, 4, 8, 16, 32, 64, 128], scale: log}
  tile_k: {type: ordinal, values: [1, 2, 4, 8, 16, 32, 64, 128], scale: log}
  unroll: {type: integer, range: [1, 64]}
  prefetch: {type: integer, range: [0, 255]}
  ratio: {type: real, range: [0.0, 1.0]}
  order: {type: permutation, size: 4}
  level: {type: categorical, values: [a, b, c, d]}
constraints:
  - tile_x * tile_y <= 4096
minimize: seconds
evaluator: {process: "python3 worker.py"}
"""
WORKER = """
import json, math, sys
for line in sys.stdin:
    c = json.loads(line)
    if (c["unroll"] * 7 + c["prefetch"]) % 10 == 0:
        print(json.dumps({"error": "does not build"}), flush=True)
        continue
    value = 1 + abs(math.log2(c["tile_x"] * c["tile_y"]) - 9) + abs(math.log2(c["tile_k"]) - 3)
    value += (c["unroll"] - 20) ** 2 / 500 + (c["prefetch"] - 100) ** 2 / 8000 + c["ratio"]
    value += 0.2 * "abcd".index(c["level"])
    print(value, flush=True)
"""


def count(database, table):
    try:
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
            return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    except sqlite3.OperationalError:  # not there yet
        return 0


def usage(pid):
    """Processor time, resident KiB, open descriptors and threads of a process."""
    folder = pathlib.Path("/proc") / str(pid)
    status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
    fields = (folder / "stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    return {"processor_seconds": ticks / os.sysconf("SC_CLK_TCK"),
            "memory_kib": int(status["VmRSS"].split()[0]),
            "descriptors": len(os.listdir(folder / "fd")), "threads": int(status["Threads"])}


def children(pid):
    text = (pathlib.Path("/proc") / str(pid) / "task" / str(pid) / "children").read_text()
    return [int(child) for child in text.split()]


def sample_of(process, database, trials, seconds):
    sample = {"trials": trials, "seconds": round(seconds, 1), **usage(process.pid)}
    sample["processes"] = len(children(process.pid))
    sample["database_bytes"] = sum(path.stat().st_size
                                   for path in database.parent.glob(database.name + "*"))
    return sample


def watch(command, folder, trials, seconds):
    """The samples of one run, and how it ended."""
    database = folder / "soak.db"
    start = time.monotonic()
    process = subprocess.Popen([*command, "--db", str(database)], cwd=folder,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=(folder / "log").open("w"))
    samples, mark, last = [], max(1, trials // 128), None
    while process.poll() is None:
        time.sleep(0.1 if time.monotonic() - start < 60 else 1)
        elapsed = time.monotonic() - start
        try:
            last = sample_of(process, database, count(database, "trials"), elapsed)
        except (OSError, KeyError):  # it ended meanwhile
            break
        if last["trials"] >= mark:
            samples.append(last)
            mark = max(2 * mark, last["trials"])
        if elapsed > seconds:
            process.send_signal(signal.SIGTERM)
            process.wait()
    code = process.wait()
    if last and (not samples or last["trials"] > 1.2 * samples[-1]["trials"]):
        samples.append(last)
    if code not in (0, 128 + signal.SIGTERM):
        sys.exit(f"{' '.join(command)}: {code}: {(folder / 'log').read_text()[-500:]}")
    return {"samples": samples, "exit_code": code,
            "trials": count(database, "trials"), "seconds": round(time.monotonic() - start, 1)}


def show(name, run):
    print(f"{name}: {run['trials']} trials in {run['seconds']} s, exit code {run['exit_code']}")
    print(f"{'trials':>10} {'s':>8} {'ms/trial':>9} {'processor':>10} {'MiB':>7} {'fds':>5} "
          f"{'threads':>8} {'B/trial':>8}")
    before = {"trials": 0, "seconds": 0, "processor_seconds": 0}
    for sample in run["samples"]:
        step = max(1, sample["trials"] - before["trials"])
        milliseconds, processor = (1000 * (sample[kind] - before[kind]) / step
                                   for kind in ("seconds", "processor_seconds"))
        print(f"{sample['trials']:>10} {sample['seconds']:>8} {milliseconds:>9.2f} "
              f"{processor:>10.2f} {sample['memory_kib'] / 1024:>7.1f} {sample['descriptors']:>5} "
              f"{sample['threads']:>8} {sample['database_bytes'] / max(1, sample['trials']):>8.0f}")
        before = sample
    sys.stdout.flush()


def command_of(options, name):
    if options.command == "search":
        return ["search", "scenario.yaml", "--optimizer", name, "--trials", str(options.trials)]
    if options.command == "map":
        return ["map", "--op", "conv2d:56x56x64,128,3x3,pad=1", "--arch", "eyeriss-like",
                "--mapper", name, "--evaluations", str(options.trials)]
    return ["tune", "--op", "conv2d:28x28x128,128,3x3,pad=1,bias,relu", "--strategy", name,
            "--trials", str(options.trials)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bayloom", help="the program")
    parser.add_argument("command", choices=("search", "tune", "map"))
    parser.add_argument("--trials", type=int, default=100000)
    parser.add_argument("--optimizers", nargs="+",
                        help="optimizers of search, strategies of tune, mappers of map")
    parser.add_argument("--minutes", type=float, default=60, help="limit of each run")
    parser.add_argument("--result", help="write the samples as JSON")
    options = parser.parse_args()
    names = options.optimizers or {"search": OPTIMIZERS, "tune": STRATEGIES,
                                   "map": MAPPERS}[options.command]
    bayloom = str(pathlib.Path(options.bayloom).resolve())
    runs = {}
    for name in names:
        with tempfile.TemporaryDirectory() as folder_name:
            folder = pathlib.Path(folder_name)
            (folder / "scenario.yaml").write_text(SCENARIO)
            (folder / "worker.py").write_text(WORKER)
            command = [bayloom, *command_of(options, name)]
            runs[name] = watch(command, folder, options.trials, 60 * options.minutes)
        show(name, runs[name])
        if options.result:
            pathlib.Path(options.result).write_text(json.dumps(runs, indent=1) + "\n")


if __name__ == "__main__":
    main()
