# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Runs one long search or tuning and watches what grows: memory, descriptors, time, the database.

    python3 benchmarks/reliability/soak.py build/release/bin/bayloom search --trials 100000
    python3 benchmarks/reliability/soak.py build/release/bin/bayloom search --optimizers forest
    python3 benchmarks/reliability/soak.py build/release/bin/bayloom tune --trials 10000
    python3 benchmarks/reliability/soak.py build/release/bin/bayloom tune --trials 10000 \
        --model bert_tiny.onnx --folder soak
    python3 benchmarks/reliability/soak.py build/release/bin/bayloom map --trials 1000000

Each run is sampled at trials that are about a factor of two apart and before its end. For a sample,
`trials`, `seconds` since the start, milliseconds a trial since the sample before (of the clock and
of the processor, which does not count what other programs take), resident memory of the program
(not of its evaluators, compilers and runners), its open descriptors, threads and bytes of database
a trial are printed; `--result` writes all as JSON. A limit of time ends a run, so that a slow
optimizer shows its curve up to there.

With `--folder` the databases and samples stay there, and the same command goes on where the last
one ended, was stopped or was killed. A program that was started again has less to remember than
one that ran through, hence each sample says in which start it was taken; seconds and processor time
count from that start, and the first sample of a start is compared with the trials found there.
"""

import argparse
import contextlib
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

# Programs of other tunings are no part of what is measured here.
os.environ["BAYLOOM_STORE"] = "off"

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


class Run:
    """The samples of one optimizer, with those of earlier starts in the same folder."""

    def __init__(self, folder):
        self.database = folder / "soak.db"
        self.log = folder / "log"
        self._file = folder / "samples.json"
        found = json.loads(self._file.read_text()) if self._file.exists() else {"starts": []}
        self.starts = found["starts"]

    def write(self):
        replacement = self._file.with_suffix(".new")
        replacement.write_text(json.dumps({"starts": self.starts}, indent=1) + "\n")
        replacement.replace(self._file)

    def trials(self):
        return count(self.database, "trials")

    def watch(self, command, folder, trials, seconds):
        """Goes on to `trials` trials, or for `seconds`. Says whether the program ended well."""
        start = {"first": self.trials(), "samples": [], "exit_code": None}
        self.starts.append(start)
        resume = ["--resume"] if self.database.exists() else []
        begin = time.monotonic()
        with self.log.open("a") as log:
            # Ctrl-C is for this program alone, which stops the other in order.
            process = subprocess.Popen([*command, *resume, "--db", str(self.database)], cwd=folder,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=log, start_new_session=True)
        try:
            self._sample(process, start, trials, begin, seconds)
        finally:
            process.terminate()
            start["exit_code"] = process.wait()
            start["seconds"] = round(time.monotonic() - begin, 1)
            start["trials"] = self.trials()
            self.write()
        if start["exit_code"] in (0, 128 + signal.SIGTERM):
            return True
        print(f"{' '.join(command)}: {start['exit_code']}: {self.log.read_text()[-500:]}",
              file=sys.stderr)
        return False

    def _sample(self, process, start, trials, begin, seconds):
        samples, last = start["samples"], None
        first, mark = start["first"], max(1, trials // 128)
        try:
            while process.poll() is None:
                time.sleep(0.1 if time.monotonic() - begin < 60 else 1)
                elapsed = time.monotonic() - begin
                try:
                    now = sample_of(process, self.database, self.trials(), elapsed)
                except (OSError, KeyError):  # it ended meanwhile
                    continue
                if now["trials"] >= trials:  # it ends, and has closed some of its files
                    continue
                last = now
                if last["trials"] - first >= mark:
                    samples.append(last)
                    self.write()
                    mark = max(2 * mark, last["trials"] - first)
                if elapsed > seconds:
                    break
        finally:  # also where this program is stopped itself
            sampled = samples[-1]["trials"] - first if samples else 0
            if last and last["trials"] - first > 1.2 * sampled:
                samples.append(last)


def show(name, run):
    for number, start in enumerate(run.starts, 1):
        show_start(f"{name}, start {number}" if len(run.starts) > 1 else name, start)


def show_start(name, start):
    new_trials = start.get("trials", 0) - start["first"]
    print(f"{name}: {new_trials} trials in {start.get('seconds')} s, exit code "
          f"{start['exit_code']}")
    print(f"{'trials':>10} {'s':>8} {'ms/trial':>9} {'processor':>10} {'MiB':>7} {'fds':>5} "
          f"{'threads':>8} {'B/trial':>8}")
    before = {"trials": start["first"], "seconds": 0, "processor_seconds": 0}
    for sample in start["samples"]:
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
    subject = ([str(pathlib.Path(options.model).resolve())] if options.model else
               ["--op", "conv2d:28x28x128,128,3x3,pad=1,bias,relu"])
    return ["tune", *subject, "--strategy", name, "--trials", str(options.trials)]


def folder_of(options, name):
    """Where the files of one optimizer are, with its inputs, for a `with` statement."""
    if options.folder is None:
        return tempfile.TemporaryDirectory()
    folder = pathlib.Path(options.folder).resolve() / f"{options.command}-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    return contextlib.nullcontext(str(folder))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bayloom", help="the program")
    parser.add_argument("command", choices=("search", "tune", "map"))
    parser.add_argument("--trials", type=int, default=100000)
    parser.add_argument("--model", help="tune this network in place of one operator")
    parser.add_argument("--optimizers", nargs="+",
                        help="optimizers of search, strategies of tune, mappers of map")
    parser.add_argument("--minutes", type=float, default=60, help="limit of each run")
    parser.add_argument("--folder", help="keep the files here, and go on with what is there")
    parser.add_argument("--result", help="write the samples as JSON")
    options = parser.parse_args()
    names = options.optimizers or {"search": OPTIMIZERS, "tune": STRATEGIES,
                                   "map": MAPPERS}[options.command]
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda caught, frame: sys.exit(128 + caught))
    bayloom = str(pathlib.Path(options.bayloom).resolve())
    results, all_ended_well = {}, True
    for name in names:
        with folder_of(options, name) as folder_name:
            folder = pathlib.Path(folder_name)
            (folder / "scenario.yaml").write_text(SCENARIO)
            (folder / "worker.py").write_text(WORKER)
            run = Run(folder)
            if run.trials() < options.trials:
                command = [bayloom, *command_of(options, name)]
                all_ended_well &= run.watch(command, folder, options.trials, 60 * options.minutes)
        show(name, run)
        results[name] = run.starts
        if options.result:
            pathlib.Path(options.result).write_text(json.dumps(results, indent=1) + "\n")
    sys.exit(0 if all_ended_well else 1)


if __name__ == "__main__":
    main()
