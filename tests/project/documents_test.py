#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Runs the commands that README and docs show, as a newcomer would: in a home of its own, with the
defaults on, the store of known programs among them.

    documents_test.py BIN SOURCE

Each command is run as it is written, but that tunings and searches get few trials. What needs a
device, a second machine, a service or a file of the reader's own is named at the end with the reason.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

DOCUMENTS = ["README.md", "docs/kernels.md", "docs/learning.md", "docs/libraries.md", "docs/models.md", "docs/one_node.md",
             "docs/report_page.md", "docs/scenarios.md", "docs/scheduling.md", "docs/workers.md"]
MODELS = ["resnet18", "squeezenet1.1", "mobilenet_v2"]
TRIALS = "6"
SKIPPED = [
    (r"^\./|^cmake |^scripts/|^pip |^tar ", "builds or installs"),
    (r"\bssh |^scp |docker |srun |^ray |--ray ", "needs another machine or a service"),
    (r"\bcuda\b|gpus", "needs a GPU"),
    (r"\bbert\.onnx|decoder\.onnx|static\.onnx|detector\.onnx|kernel\.yaml|blur\.yaml|flags\.yaml --resume|"
     r"spmm\.json|T1\.json|chip\.yaml|classify\.c", "needs a file of the reader's own"),
    (r"--max-size 400k|one\.db --task", "needs the programs of a whole tuning"),
    (r"bayloom board|bayloom serve|bayloom learn", "goes on until it is stopped"),
]


def commands_of(text):
    """The commands of the blocks of a shell, lines that go on joined, comments left out."""
    for kind, block in re.findall(r"^```(sh|console)\n(.*?)^```$", text, re.M | re.S):
        for line in block.replace("\\\n", " ").splitlines():
            if kind == "console":
                if not line.startswith("$ "):
                    continue
                line = line[2:]
            line = re.sub(r"\s+#\s.*$", "", line).strip()
            if line:
                yield line


def with_few_trials(command):
    if not re.match(r"bayloom (tune|search)\b", command):
        return command
    if "--trials" in command:
        return re.sub(r"--trials \d+", "--trials " + TRIALS, command)
    return command + " --trials " + TRIALS


def main():
    programs, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    commands = [c for name in DOCUMENTS for c in commands_of((source / name).read_text())]
    with tempfile.TemporaryDirectory(prefix="bayloom-documents-") as folder:
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("BAYLOOM_", "XDG_"))}
        environment.update(HOME=folder, PATH=f"{programs}:{environment['PATH']}")
        work = pathlib.Path(folder) / "work"
        work.mkdir()
        (work / "examples").symlink_to(source / "examples")

        def run(command):
            return subprocess.run(["bash", "-c", command], cwd=work, env=environment, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=600)

        for model in MODELS:
            run("bayloom-models " + model).check_returncode()
        # The database that the pages on searches speak of.
        run("bayloom search examples/search/gcc_flags/flags.yaml --db flags.db --trials 6 --seed 1"
            ).check_returncode()
        failed, skipped, done = [], {}, 0
        for command in dict.fromkeys(commands):
            reason = next((why for pattern, why in SKIPPED if re.search(pattern, command)), None)
            if reason:
                skipped.setdefault(reason, []).append(command)
                continue
            begin = time.monotonic()
            result = run(with_few_trials(command))
            done += 1
            verdict = "ok  " if result.returncode == 0 else "FAIL"
            print(f"{verdict} {time.monotonic() - begin:5.1f} s  {command}", flush=True)
            if result.returncode != 0:
                failed.append(command)
                print(result.stdout)
    for reason, those in skipped.items():
        print(f"left out, {reason}: {len(those)}")
        for command in those:
            print("      " + shlex.join([command])[:150])
    print(f"{done} commands run, {len(failed)} of them failed")
    return 1 if failed or done < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
