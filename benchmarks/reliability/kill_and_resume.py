"""Kills a tuning with SIGKILL at random moments and resumes it, again and again. After each kill
the records are compared with those before: none may be lost, changed or repeated.

    python3 benchmarks/reliability/kill_and_resume.py build/release/bin/bayloom
"""

import argparse
import collections
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile
import time


def read_trials(database):
    connection = sqlite3.connect(database)
    try:
        return connection.execute(
            "SELECT session, ordinal, program_hash, verdict, seconds FROM trials ORDER BY id"
        ).fetchall()
    except sqlite3.OperationalError:  # killed before there was a schema
        return []
    finally:
        connection.close()


def find_fault(before, now):
    """What is wrong with the records after a kill, or None."""
    if now[: len(before)] != before:
        return "a trial was lost or changed"
    if len({(session, program) for session, _, program, _, _ in now}) != len(now):
        return "a trial was repeated"
    if [ordinal for _, ordinal, _, _, _ in now] != list(range(len(now))):
        return "the trials' numbers have gaps"
    if len({session for session, *_ in now}) > 1:
        return "a second session was begun"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bayloom", help="the program")
    parser.add_argument("--op", default="matmul:96,96,96,bias,relu")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--longest", type=float, default=4, help="seconds between kills, at most")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random.seed(options.seed)

    with tempfile.TemporaryDirectory() as folder:
        database = str(pathlib.Path(folder) / "records.db")
        command = [options.bayloom, "tune", "--op", options.op, "--db", database, "--resume"]
        command += ["--trials", "1000000"]
        trials = []
        for kill in range(1, options.kills + 1):
            tuner = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(random.uniform(0, options.longest))
            if tuner.poll() is not None:
                sys.exit(f"before kill {kill} the tuner ended by itself with {tuner.returncode}")
            tuner.kill()
            tuner.wait()
            now = read_trials(database)
            fault = find_fault(trials, now)
            if fault:
                sys.exit(f"after kill {kill}: {fault}")
            trials = now
    verdicts = collections.Counter(verdict for *_, verdict, _ in trials)
    print(f"{options.kills} kills, {len(trials)} trials ({dict(verdicts)}): none lost, none repeated")


if __name__ == "__main__":
    main()
