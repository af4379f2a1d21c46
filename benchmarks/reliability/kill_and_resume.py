# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Kills a tuning with SIGKILL at random moments and resumes it, again and again. After each kill
the records are compared with those before: none may be lost, changed or repeated.

    python3 benchmarks/reliability/kill_and_resume.py build/release/bin/bayloom
"""

import collections
import pathlib
import tempfile

import killing

QUERY = "SELECT session, ordinal, program_hash, verdict, seconds FROM trials ORDER BY id"


def main():
    options = killing.parse_options(__doc__, longest=4, op="matmul:96,96,96,bias,relu")
    with tempfile.TemporaryDirectory() as folder:
        database = str(pathlib.Path(folder) / "records.db")
        command = [options.bayloom, "tune", "--op", options.op, "--db", database, "--resume",
                   "--trials", "1000000"]
        trials = killing.kill_repeatedly(command, database, QUERY, options)
    verdicts = dict(collections.Counter(verdict for *_, verdict, _ in trials))
    print(f"{options.kills} kills, {len(trials)} trials ({verdicts}): none lost, none repeated")


if __name__ == "__main__":
    main()
