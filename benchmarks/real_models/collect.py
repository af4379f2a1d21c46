# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Makes the models of models.json: takes them out of packages, and exports networks.

    build/venv/bin/python benchmarks/real_models/collect.py build/real_models

Each model is made in a process of its own. What is there is not made again; a model that cannot be
made is skipped with the reason, which stays in NAME.txt.
"""

import argparse
import pathlib
import re
import subprocess
import sys

import make_model


def missing_version(entry):
    """Why the package of an exported network is not the one that the list names, or nothing."""
    if entry["make"] in ("package", "tool"):
        return None
    import importlib.metadata
    for requirement in entry["source"].split():
        name, version = requirement.split("==")
        try:
            installed = importlib.metadata.version(name).split("+")[0]
        except importlib.metadata.PackageNotFoundError:
            return f"{name} is not installed"
        if installed != version:
            return f"{name} {version} is wanted, {installed} is installed"
    return None


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if re.match(r"\S*(Error|Exception|exit)\S*[:\s]", line)]
    return (lines or text.strip().splitlines() or ["no message"])[-1][:300]


def make(entry, options):
    """Nothing, or the reason why there is no model."""
    reason = missing_version(entry)
    if reason:
        return reason
    command = [sys.executable, make_model.HERE / "make_model.py", entry["name"], options.folder]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=options.seconds)
    except subprocess.TimeoutExpired:
        return f"not done in {options.seconds} s"
    if result.returncode != 0 or not (options.folder / f"{entry['name']}.onnx").exists():
        return last_line(result.stderr)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="where the models are written")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these models")
    parser.add_argument("--group", nargs="+", metavar="GROUP", help="models of these groups")
    parser.add_argument("--retry", action="store_true", help="try again what was skipped")
    parser.add_argument("--seconds", type=int, default=900, help="time limit of each model")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    made = skipped = 0
    for entry in make_model.read_list().values():
        if options.only and entry["name"] not in options.only:
            continue
        if options.group and entry["group"] not in options.group:
            continue
        model, note = (options.folder / f"{entry['name']}.{suffix}" for suffix in ("onnx", "txt"))
        if not model.exists() and (options.retry or not note.exists()):
            model.unlink(missing_ok=True)
            reason = make(entry, options)
            note.unlink(missing_ok=True)
            if reason:
                model.unlink(missing_ok=True)
                note.write_text(reason + "\n")
        made += model.exists()
        skipped += not model.exists()
        print(f"{entry['name']:<40} {'' if model.exists() else 'skipped: ' + note.read_text().strip()}",
              flush=True)
    print(f"{made} models, {skipped} skipped")


if __name__ == "__main__":
    main()
