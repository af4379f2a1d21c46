#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Checks workflows without running them: they are YAML, jobs wait for jobs that there are, commands are valid
for the shell and call programs of this tree with options that these know.

    workflows_test.py SOURCE
"""

import pathlib
import re
import subprocess
import sys

try:
    import yaml
except ImportError:
    print("skipped: there is no PyYAML")
    sys.exit(77)

PROGRAM = re.compile(r"(?:^|[\s;&|(])(?:\./)?((?:scripts/\w+|check))\b([^\n;&|]*)")
OPTION = re.compile(r"(?<=\s)--[a-z][a-z-]*")


def problems_of_command(source: pathlib.Path, command: str) -> list:
    problems = []
    text = re.sub(r"\$\{\{.*?\}\}", "value", command)
    shell = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True)
    if shell.returncode != 0:
        problems.append(shell.stderr.strip())
    for name, arguments in PROGRAM.findall(text):
        program = source / name
        if not program.is_file() or not program.stat().st_mode & 0o100:
            problems.append(f"there is no program {name}")
            continue
        known = program.read_text()
        problems += [f"{name} knows no {option}" for option in OPTION.findall(arguments)
                     if option not in known]
    return problems


def problems_of(source: pathlib.Path, path: pathlib.Path) -> list:
    jobs = yaml.safe_load(path.read_text())["jobs"]
    problems = []
    for name, job in jobs.items():
        needs = job.get("needs", [])
        problems += [f"{name} needs {other}, which is no job"
                     for other in ([needs] if isinstance(needs, str) else needs) if other not in jobs]
        if "runs-on" not in job:
            problems.append(f"{name} runs on no machine")
        for step in job["steps"]:
            if ("run" in step) == ("uses" in step):
                problems.append(f"{name} has a step that does not run or use one thing: {step}")
            problems += [f"{name}: {problem}" for problem in problems_of_command(source, step.get("run", ""))]
    return [f"{path.relative_to(source)}: {problem}" for problem in problems]


def main() -> None:
    source = pathlib.Path(sys.argv[1]).resolve()
    workflows = sorted((source / ".github/workflows").glob("*.yml"))
    assert workflows, "no workflows"
    problems = [problem for path in workflows for problem in problems_of(source, path)]

    # The check itself finds what it is for.
    assert problems_of_command(source, "scripts/no_such_script") == ["there is no program scripts/no_such_script"]
    assert problems_of_command(source, "scripts/pack --chekc") == ["scripts/pack knows no --chekc"]
    assert problems_of_command(source, "for x in; do") != []
    assert problems_of_command(source, "scripts/setup --portable && ./check release") == []

    sys.exit("\n".join(problems) or 0)


if __name__ == "__main__":
    main()
