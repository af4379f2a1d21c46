# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Kills every long subcommand at random moments and goes on with it, again and again.

    python3 benchmarks/reliability/kill.py build/release/bin/bayloom --kills 500

After each kill
- nothing is lost, changed or repeated: the records of before are there as they were, none twice,
  without gaps, and the database is sound;
- nothing is left running: no process that the command started, daemons included, is there;
- nothing is left behind: the next start removes the work folders of the killed one.
In the end each command is stopped by SIGTERM, which leaves no folder and exits with 143.
"""

import argparse
import collections
import os
import pathlib
import random
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid

# Programs of other tunings are no part of what is measured here.
os.environ["BAYLOOM_STORE"] = "off"

# It leaves a daemon behind each time, in a session of its own, as careless scripts do.
EVALUATOR = "setsid sleep 1000 & echo {x} > {work}/x; sleep 0.0{y}; cat {work}/x"
SCENARIO = """
name: NAME
parameters: {x: {type: integer, range: [0, 999999999]}, y: {type: integer, range: [1, 9]}}
minimize: seconds
optimizer: random
evaluator: EVALUATOR
"""
WORKER = """
import json, os, subprocess, sys
subprocess.Popen(["setsid", "sleep", "1000"])
for line in sys.stdin:
    print(json.loads(line)["x"], flush=True)
"""
SIMULATOR = "setsid sleep 1000 & sleep 0.02; cksum < {mapping} | cut -d' ' -f1"
OPERATOR = "matmul:96,96,96,bias,relu"
MANY = "1000000"
SIGNALS = {"KILL": signal.SIGKILL, "HUP": signal.SIGHUP, "QUIT": signal.SIGQUIT}
# Other programs may use the processors meanwhile.
MAX_END_SECONDS = 30
MAX_BEGIN_SECONDS = 300
# In these a candidate may be wrong by itself.
COMPILED = ("tune", "pretrain")


def fail(case, text):
    sys.exit(f"{case.name}: {text}")


class Case:
    """A command that is killed, with its database and its folder for temporary files."""

    def __init__(self, name, folder, bayloom, arguments):
        self.name = name
        self.folder = folder / name
        self.folder.mkdir()
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.database = self.folder / "records.db"
        self.command = [bayloom, *arguments(self)]
        self.rows = []
        self.marker = ""

    def start(self):
        # Every process that the command starts has this in its environment.
        self.marker = uuid.uuid4().hex
        environment = dict(os.environ, TMPDIR=str(self.temporary), BAYLOOM_KILL_MARKER=self.marker)
        return subprocess.Popen(self.command, cwd=self.folder, env=environment,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=(self.folder / "log").open("w"))

    def log(self):
        return (self.folder / "log").read_text()[-500:]

    def running(self):
        """The processes that carry the marker, and what they run."""
        found = {}
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if self.marker.encode() in (process / "environ").read_bytes():
                    found[process.name] = (process / "cmdline").read_text().replace("\0", " ")
            except OSError:
                pass  # it ended meanwhile, or belongs to another user
        return found

    def check_processes(self):
        deadline = time.monotonic() + MAX_END_SECONDS
        while left := self.running():
            if time.monotonic() > deadline:
                for process in left:
                    os.kill(int(process), signal.SIGKILL)
                fail(self, f"left running: {left}")
            time.sleep(0.02)

    def check_records(self):
        if not self.database.exists():
            return
        connection = sqlite3.connect(self.database)
        try:
            if connection.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                fail(self, "the database is damaged")
            if connection.execute("PRAGMA foreign_key_check").fetchone():
                fail(self, "the database refers to what is not there")
            rows = connection.execute("SELECT run, ordinal, task, key, candidate, verdict, value "
                                      "FROM trials ORDER BY id").fetchall()
        except sqlite3.OperationalError:  # killed before there was a schema
            rows = []
        finally:
            connection.close()
        if rows[: len(self.rows)] != self.rows:
            fail(self, "a trial was lost or changed")
        if len({(row[0], *row[2:5]) for row in rows}) != len(rows):
            fail(self, "a trial was repeated")
        ordinals = collections.defaultdict(list)
        for row in rows:
            ordinals[row[0]].append(row[1])
        if any(numbers != list(range(len(numbers))) for numbers in ordinals.values()):
            fail(self, "the trials' numbers have gaps")
        self.rows = rows

    def check_verdicts(self):
        """What the machine did is not recorded as an answer: these evaluators all answer in order."""
        wrong = collections.Counter(row[5] for row in self.rows)
        del wrong["ok"]
        if wrong and not self.name.startswith(COMPILED):
            fail(self, f"trials without a value: {dict(wrong)}")

    def await_beginning(self, process):
        """Until there is another trial."""
        deadline = time.monotonic() + MAX_BEGIN_SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            if self.count_trials() > len(self.rows):
                return
            time.sleep(0.05)

    def count_trials(self):
        if not self.database.exists():
            return 0
        connection = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)
        try:
            return connection.execute("SELECT count(*) FROM trials").fetchone()[0]
        except sqlite3.OperationalError:  # there is no schema yet
            return 0
        finally:
            connection.close()

    def kill(self, longest, number):
        before = set(self.temporary.iterdir())
        process = self.start()
        if random.random() < 0.8:  # the others may be killed while they start
            self.await_beginning(process)
        time.sleep(random.uniform(0.05, longest))
        if process.poll() is not None:
            fail(self, f"it ended by itself with {process.returncode}: {self.log()}")
        process.send_signal(number)
        process.wait()
        self.check_processes()
        self.check_records()
        # Those of before go when a work folder is made, which a killed start may not have reached.
        left = set(self.temporary.iterdir())
        if left - before and left & before:
            fail(self, f"folders of a dead run are still there: {sorted(left & before)}")

    def finish(self):
        process = self.start()
        self.await_beginning(process)
        process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=60)
        if code != 128 + signal.SIGTERM:
            fail(self, f"stopped, it exits with {code}: {self.log()}")
        self.check_processes()
        self.check_records()
        self.check_verdicts()
        if left := list(self.temporary.iterdir()):
            fail(self, f"left behind: {left}")


def scenario(case, name, evaluator):
    path = case.folder / f"{name}.yaml"
    path.write_text(SCENARIO.replace("NAME", name).replace("EVALUATOR", evaluator))
    return str(path)


def common(case):
    return ["--db", str(case.database), "--resume"]


def search_command(case):
    path = scenario(case, "command", f'{{shell: "{EVALUATOR}"}}')
    return ["search", path, "--trials", MANY, "--jobs", "2", *common(case)]


def search_process(case):
    (case.folder / "worker.py").write_text(WORKER)
    path = scenario(case, "process", "{process: python3 worker.py}")
    return ["search", path, "--trials", MANY, "--jobs", "2", *common(case)]


def search_together(case):
    paths = [scenario(case, name, f'{{shell: "{EVALUATOR}"}}') for name in ("first", "second")]
    return ["search", *paths, "--batch", "4", "--trials", MANY, *common(case)]


def workers(options=""):
    """Two workers on this machine, which die or end with the command."""
    command = f"{shlex.quote(Case.bayloom)} worker --threads 1 {options}".strip()
    return ["--workers", command, "--workers", command]


def search_workers(case):
    path = scenario(case, "workers", f'{{shell: "{EVALUATOR}"}}')
    return ["search", path, "--trials", MANY, *workers("--jobs 2"), *common(case)]


def tune_workers(case):
    return [*tune("bayes")(case), *workers()]


def map_simulator(case):
    return ["map", "--op", "matmul:64,64,64", "--arch", "gemmini", "--evaluator", SIMULATOR,
            "--mapper", "random-pruned", "--jobs", "2", "--evaluations", MANY, *common(case)]


def map_model(case):
    return ["map", "--op", "matmul:64,64,64", "--arch", "gemmini", "--evaluations", MANY,
            *common(case)]


def tune(strategy):
    return lambda case: ["tune", "--op", OPERATOR, "--strategy", strategy, "--trials", MANY,
                         *common(case)]


def pretrain(case):
    subprocess.run([case.bayloom, "pretrain", "--db", str(case.database), "--pool-only",
                    "--families", "dense", "--tasks-per-family", "4",
                    "--programs-per-task", "1000"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return ["pretrain", "--db", str(case.database), "--from-pool", "--programs", "3000",
            "--rounds", "2",
            "--out", str(case.folder / "model")]


CASES = {
    "search-command": search_command,
    "search-process": search_process,
    "search-together": search_together,
    "map-simulator": map_simulator,
    "map-model": map_model,
    "tune-bayes": tune("bayes"),
    "tune-evolutionary": tune("evolutionary"),
    "pretrain": pretrain,
    "search-workers": search_workers,
    "tune-workers": tune_workers,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bayloom", help="the program")
    parser.add_argument("--kills", type=int, default=50, help="in all")
    parser.add_argument("--longest", type=float, default=2, help="seconds between kills, at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--signals", nargs="+", choices=SIGNALS, default=["KILL"])
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    options = parser.parse_args()
    random.seed(options.seed)
    bayloom = str(pathlib.Path(options.bayloom).resolve())
    Case.bayloom = bayloom
    with tempfile.TemporaryDirectory() as name:
        cases = [Case(case, pathlib.Path(name), bayloom, CASES[case]) for case in options.cases]
        kills = collections.Counter()
        for kill in range(options.kills):
            case = cases[kill % len(cases)]
            case.kill(options.longest, SIGNALS[options.signals[kill % len(options.signals)]])
            kills[case.name] += 1
        for case in cases:
            if kills[case.name]:
                case.finish()
                print(f"{case.name}: {kills[case.name]} kills, {len(case.rows)} trials")
        shutil.rmtree(name, ignore_errors=True)
    print(f"{options.kills} kills: nothing lost, repeated, left running or left behind")


if __name__ == "__main__":
    main()
