# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""What the programs that kill tunings and searches share: kill with SIGKILL at random moments, resume,
and compare the records with those before."""

import argparse
import random
import sqlite3
import subprocess
import sys
import time


def parse_options(description, longest, **others):
    """Each of `others` is an option with its default."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("bayloom", help="the program")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--longest", type=float, default=longest,
                        help="seconds between kills, at most")
    parser.add_argument("--seed", type=int, default=1)
    for name, default in others.items():
        parser.add_argument("--" + name, type=type(default), default=default)
    options = parser.parse_args()
    random.seed(options.seed)
    return options


def read_rows(database, query):
    connection = sqlite3.connect(database)
    try:
        return connection.execute(query).fetchall()
    except sqlite3.OperationalError:  # killed before there was a schema
        return []
    finally:
        connection.close()


def find_fault(before, now):
    """What is wrong with the records after a kill, or None. A row begins with the number of its
    session or search, its own number there, and what must not be repeated."""
    if now[: len(before)] != before:
        return "a trial was lost or changed"
    if len({(row[0], row[2]) for row in now}) != len(now):
        return "a trial was repeated"
    if [row[1] for row in now] != list(range(len(now))):
        return "the trials' numbers have gaps"
    if len({row[0] for row in now}) > 1:
        return "a second one was begun instead of resuming"
    return None


def kill_repeatedly(command, database, query, options, find_more=lambda rows: None):
    """The rows in the end; exits where one of them was lost, changed or repeated."""
    rows = []
    for kill in range(1, options.kills + 1):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.uniform(0, options.longest))
        if process.poll() is not None:
            sys.exit(f"before kill {kill} it ended by itself with {process.returncode}")
        process.kill()
        process.wait()
        now = read_rows(database, query)
        fault = find_fault(rows, now) or find_more(now)
        if fault:
            sys.exit(f"after kill {kill}: {fault}")
        rows = now
    return rows
