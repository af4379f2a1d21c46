#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Makes a large database of a small one, to see how the report page fares: the trials of its first
run over and over, each time a little different.

    tests/page/many_trials.py FROM.db TO.db TRIALS
"""

import random
import shutil
import sqlite3
import sys


def main():
    source, path, wanted = sys.argv[1], sys.argv[2], int(sys.argv[3])
    shutil.copy(source, path)
    database = sqlite3.connect(path)
    columns = [row[1] for row in database.execute("PRAGMA table_info(trials)")]
    place = {name: i for i, name in enumerate(columns)}
    rows = database.execute("SELECT * FROM trials WHERE run = 1 ORDER BY ordinal").fetchall()
    last = max(row[place["elapsed"]] for row in rows)
    choice = random.Random(1)
    made = []
    for ordinal in range(len(rows), wanted):
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
        made.append(row)
    database.executemany(f"INSERT INTO trials VALUES ({','.join('?' * len(columns))})", made)
    database.commit()


if __name__ == "__main__":
    main()
