# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Writes the result files that docs/performance.md is rendered from (see benchmarks/README.md)."""

import datetime
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys


def _field(path, key):
    """The rest of the first line that begins with `key`, without separators and quotes."""
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith(key):
            return line[len(key):].strip(' \t:="')
    return "unknown"


def _git(*arguments):
    result = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    return result.stdout.strip() if result.returncode == 0 else ""


def machine():
    # Names of virtual machines' processors say little.
    name, family, model = (_field("/proc/cpuinfo", key) for key in ("model name", "cpu family", "model\t"))
    return {"processor": f"{name}, family {family} model {model}",
            "cores": len(os.sched_getaffinity(0)),
            "system": _field("/etc/os-release", "PRETTY_NAME")}


def commit():
    """Of the working directory's tree."""
    changed = _git("status", "--porcelain", "--untracked-files=no")
    return (_git("rev-parse", "--short", "HEAD") or "unknown") + (" with changes" if changed else "")


def command_line():
    """How this program was started, from the root of the tree."""
    interpreter = os.path.relpath(sys.executable) if "build" in sys.executable else "python3"
    return shlex.join([interpreter, *sys.argv])


def write(path, title, rows, peers=None, note=None, commands=None):
    """Replaces the file at the path. Fields of rows are named with their units: bayloom_ms."""
    result = {"title": title, "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
              "commit": commit(), "machine": machine(), "command": commands or [command_line()],
              "peers": peers or {}, **({"note": note} if note else {})}
    head = re.sub(r"\n}$", "", json.dumps(result, indent=1))
    body = ",\n".join("  " + json.dumps(row) for row in rows)
    pathlib.Path(path).write_text(f'{head},\n "rows": [\n{body}\n ]\n}}\n')
