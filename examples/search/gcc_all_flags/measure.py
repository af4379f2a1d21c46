#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Compiles a program and says how good the code is, as JSON.

    measure.py --work FOLDER [--instructions] PROGRAM.c -- FLAGS...

"ratio": its time over that with -O3, the median of rounds in which both run one after the other;
"instructions": millions that are executed, by valgrind. What the program prints must be what it
prints with -O3. What fails says at which stage.
"""

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys

ROUNDS = 7


def infeasible(stage: str, why: str) -> None:
    line = next((line for line in why.splitlines() if line.strip()), "")
    print(json.dumps({"feasible": False, "stage": stage, "reason": f"{stage}: {line[:200]}"}))
    sys.exit(0)


def build(program: str, flags: list, output: str) -> None:
    made = subprocess.run(["gcc", "-std=gnu11", "-w", *flags, program, "-o", output, "-lm"],
                          capture_output=True, text=True)
    if made.returncode != 0:
        infeasible("build", made.stderr)


def run(*command: str) -> subprocess.CompletedProcess:
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode != 0:
        infeasible("run", f"exit status {ran.returncode} {ran.stderr}")
    return ran


def seconds_of(program: str) -> float:
    """Of the processor, not of the clock: other processes matter less."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(program)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def instructions_of(program: str) -> float:
    counted = run("valgrind", "--tool=cachegrind", "--cache-sim=no",
                  "--cachegrind-out-file=/dev/null", program, "small").stderr
    count = re.search(r"I\s+refs:\s+([\d,]+)", counted)
    if not count:
        infeasible("run", counted)
    return int(count[1].replace(",", "")) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("program")
    parser.add_argument("flags", nargs="*")
    arguments = parser.parse_args()
    reference = os.path.join(arguments.work, "reference")
    if not os.path.exists(reference):
        build(arguments.program, ["-O3"], reference + ".new")
        os.rename(reference + ".new", reference)
    tried = os.path.join(arguments.work, "tried")
    build(arguments.program, arguments.flags, tried)
    if run(tried, "small").stdout != run(reference, "small").stdout:
        infeasible("check", "it prints something else than with -O3")
    if arguments.instructions:
        print(json.dumps({"instructions": instructions_of(tried)}))
        return
    rounds = [(seconds_of(tried), seconds_of(reference)) for _ in range(ROUNDS)]
    print(json.dumps({"ratio": statistics.median(own / plain for own, plain in rounds),
                      "seconds": statistics.median(own for own, _ in rounds)}))


if __name__ == "__main__":
    main()
