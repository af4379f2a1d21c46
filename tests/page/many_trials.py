#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Makes a large database of a small one, to see how the report page fares: the trials of its first
run over and over, each time a little different. With RATE it goes on to add so many trials a second,
until it is stopped.

    tests/page/many_trials.py FROM.db TO.db TRIALS [RATE]
"""

import itertools
import random
import shutil
import sqlite3
import sys
import time


def repeated(rows, place):
    """The trials after those of `rows`, without end."""
    last = max(row[place["elapsed"]] for row in rows)
    choice = random.Random(1)
    for ordinal in itertools.count(len(rows)):
        row = list(rows[ordinal % len(rows)])
        row[place["id"]] = None
        row[place["ordinal"]] = ordinal
        row[place["elapsed"]] += last * (ordinal // len(rows))
        if row[place["value"]] is not None:
            row[place["value"]] *= 1 + choice.expovariate(4)
        if row[place["key"]]:
            row[place["key"]] = choice.getrandbits(62) + 1
        else:
            row[place["candidate"]] += " " * (ordinal // len(rows))  # the text identifies it
        yield row


def main():
    source, path, wanted = sys.argv[1], sys.argv[2], int(sys.argv[3])
    shutil.copy(source, path)
    database = sqlite3.connect(path)
    columns = [row[1] for row in database.execute("PRAGMA table_info(trials)")]
    rows = database.execute("SELECT * FROM trials WHERE run = 1 ORDER BY ordinal").fetchall()
    trials = repeated(rows, {name: i for i, name in enumerate(columns)})

    def add(count):
        database.executemany(f"INSERT INTO trials VALUES ({','.join('?' * len(columns))})",
                             itertools.islice(trials, count))
        database.commit()

    add(wanted - len(rows))
    if len(sys.argv) > 4:
        print(f"{wanted} trials; {sys.argv[4]} more a second", flush=True)
        while True:
            add(1)
            time.sleep(1 / float(sys.argv[4]))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
