# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Whatever the machine refuses, a search ends with one line or goes on, and nothing that the machine
did is recorded as an answer.

    fault_injection_test.py BAYLOOM FAIL_CALLS_LIBRARY [--all] [--calls CALL ...]
"""

import argparse
import errno
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile

TRIALS = 8
SCENARIO = """
name: faults
parameters: {x: {type: integer, range: [0, 999]}}
minimize: seconds
optimizer: random
evaluator: {KIND}
"""
KINDS = {
    "command": "{shell: 'echo {x}'}",
    "process": "{process: [sh, -c, 'while read -r x; do echo 5; done']}",
}
# The calls, what they fail with, and which of them fail in the short run.
FAULTS = {
    "posix_spawn": (errno.EAGAIN, [1, 2, 5]),
    "pipe2": (errno.EMFILE, [1, 4, 9, 20]),
    "mkdtemp": (errno.ENOSPC, [1, 2]),
    "memfd_create": (errno.ENFILE, [1]),
    "open": (errno.EMFILE, [1, 3, 6, 10, 15, 25]),
    "write": (errno.ENOSPC, [1, 2, 5]),
    "pwrite64": (errno.ENOSPC, [1, 2, 5, 9, 20, 40]),
    "fsync": (errno.EIO, [1, 2]),
    "fdatasync": (errno.EIO, [1, 3, 6]),
    "malloc": (errno.ENOMEM, [1000, 5000, 12000, 20000, 22000, 23000]),
}


def run(command, **options):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120, **options)


class Faults:
    def __init__(self, bayloom, library, folder):
        self.bayloom, self.library, self.folder = bayloom, library, folder
        self.scenarios = {}
        for kind, evaluator in KINDS.items():
            self.scenarios[kind] = folder / f"{kind}.yaml"
            self.scenarios[kind].write_text(SCENARIO.replace("{KIND}", evaluator))

    def check(self, kind, order):
        """A search under a fault, then the rest of it without."""
        what = f"{kind}, {order}"
        database = self.folder / "faults.db"
        for file in self.folder.glob("faults.db*"):
            file.unlink()
        command = [self.bayloom, "search", str(self.scenarios[kind]), "--trials", str(TRIALS),
                   "--jobs", "2", "--db", str(database)]
        faulty = run(command, env=dict(os.environ, LD_PRELOAD=self.library, BAYLOOM_FAIL=order))
        lines = faulty.stderr.splitlines()
        if faulty.returncode not in (0, 1, 2):
            sys.exit(f"{what}: exit code {faulty.returncode}\n{faulty.stderr}")
        if faulty.returncode != 0 and not lines[-1].startswith("bayloom: "):
            sys.exit(f"{what}: exit code {faulty.returncode} without a reason\n{faulty.stderr}")
        if "internal error" in faulty.stderr:
            sys.exit(f"{what}: {faulty.stderr}")
        resumed = run([*command, "--resume"])
        if resumed.returncode != 0:
            sys.exit(f"{what}: it cannot be resumed\n{resumed.stderr}")
        verdicts = [verdict for verdict, in sqlite3.connect(database).execute(
            "SELECT verdict FROM trials WHERE run = (SELECT max(id) FROM runs)")]
        if verdicts != ["ok"] * TRIALS:
            sys.exit(f"{what}: the records are {verdicts}\n{faulty.stderr}")
        return faulty.returncode

    def check_log(self, redirection):
        """Standard error that cannot be written changes nothing."""
        for kind, scenario in self.scenarios.items():
            database = self.folder / f"{kind}-log.db"
            result = subprocess.run(
                ["bash", "-c", f'"$@" {redirection}', "bash", self.bayloom, "search",
                 str(scenario), "--trials", str(TRIALS), "--db", str(database)],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=120)
            if result.returncode != 0:
                sys.exit(f"{redirection}: exit code {result.returncode}")

    def check_failing_output(self):
        """What is wrong with the input is said by the exit code alone, then."""
        result = subprocess.run(["bash", "-c", '"$@" 2> /dev/full', "bash", self.bayloom, "search",
                                 str(self.folder / "missing.yaml")], timeout=120)
        if result.returncode != 2:
            sys.exit(f"a missing scenario and a full log: exit code {result.returncode}")

    def check_limits(self):
        """Limits that an administrator set: of address space, open files, processes."""
        database = self.folder / "limits.db"
        tune = [self.bayloom, "tune", "--op", "matmul:16,16,16", "--trials", "4", "--db",
                str(database)]
        search = [self.bayloom, "search", str(self.scenarios["command"]), "--trials", "600",
                  "--jobs", "400", "--db", str(self.folder / "jobs.db")]
        for limit, command, code in [("-v 8000000", tune, 0), ("-n 1024", search, 2),
                                     ("-Sn 256", search, 0)]:
            result = run(["bash", "-c", f'ulimit {limit}; exec "$@"', "bash", *command])
            if result.returncode != code:
                sys.exit(f"ulimit {limit}: exit code {result.returncode}\n{result.stderr}")
        wrong = sqlite3.connect(self.folder / "jobs.db").execute(
            "SELECT count(*) FROM trials WHERE verdict != 'ok'").fetchone()[0]
        if wrong:
            sys.exit(f"ulimit -Sn 256: {wrong} trials without a value")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bayloom", help="the program")
    parser.add_argument("library", help="fail_calls as it was built")
    parser.add_argument("--all", action="store_true", help="each of the first 60 calls in turn")
    parser.add_argument("--calls", nargs="*", choices=FAULTS, default=list(FAULTS))
    options = parser.parse_args()
    bayloom, library = (str(pathlib.Path(path).resolve())
                        for path in (options.bayloom, options.library))
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    ends, runs = {}, 0
    with tempfile.TemporaryDirectory() as name:
        faults = Faults(bayloom, library, pathlib.Path(name))
        for call in options.calls:
            error, numbers = FAULTS[call]
            if options.all:
                step = 97 if call == "malloc" else 1
                numbers = range(1, 61 * step, step)
            for first in numbers:
                for kind in KINDS:
                    for count in (1, 1000000):
                        code = faults.check(kind, f"{call} {first} {count} {error}")
                        ends[code] = ends.get(code, 0) + 1
                        runs += 1
        for seconds in (-10 ** 9, 10 ** 9):
            for first in (1, 5, 20):
                if faults.check("command", f"clock {first} 1 {seconds}") != 0:
                    sys.exit("a clock that jumps ends a search")
        for redirection in ("2> /dev/full", "2>&-", "2> >(true)", "<&- 2>&-"):
            faults.check_log(redirection)
        faults.check_failing_output()
        faults.check_limits()
    print(f"{runs} faults: exit codes {ends}; nothing was recorded that the machine did")


if __name__ == "__main__":
    main()
