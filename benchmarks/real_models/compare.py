# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Runs the models of collect.py untuned and compares their outputs with onnxruntime's.

    build/venv/bin/python benchmarks/real_models/compare.py build/real_models --result models.json

Every model is imported as it was exported, with values for its open dimensions only, and runs once
on random inputs, in a process of its own. Compared is the largest difference over the largest output
of onnxruntime: "equal" is at most 1e-4, with float16 1e-2. "close" is above that, but no more than twice
what onnxruntime's own outputs differ by without graph optimizations, or with inputs that are some
roundings away: rounding decides there, as in quantized models. "response" is how far the outputs move
with other random inputs: of a model that hardly responds, equal outputs say little.

Rows stay in FOLDER/compared, one file each; --again compares anew.
"""

import argparse
import collections
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import make_model

sys.path.insert(0, str(make_model.HERE.parent))
import result_file  # noqa: E402

TOLERANCE, FLOAT16_TOLERANCE = 1e-4, 1e-2


def start(command, folder, seconds):
    """Exit status (None: out of time), output, message and seconds of a process."""
    begin = time.perf_counter()
    try:
        result = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, "", f"not done in {seconds} s", time.perf_counter() - begin
    return result.returncode, result.stdout, result.stderr.strip(), time.perf_counter() - begin


def shape_options(entry, shapes):
    """--dim for dimensions that the list names, --shape for inputs whose open ones have no names."""
    options = [f"--dim={name}={value}" for name, value in entry.get("dims", {}).items()]
    if not options:
        options = [f"--shape={name}={'x'.join(map(str, shape))}" for name, shape in shapes.items() if shape]
    return options + [f"--freeze={name}={value}" for name, value in entry.get("freeze", {}).items()]


def judge(row, reference, errors):
    """Sets the outcome of a model that ran."""
    row["error"] = max(errors, default=0.0)
    bound = FLOAT16_TOLERANCE if reference["float16"] else TOLERANCE
    row["outcome"] = "equal" if row["error"] <= bound else (
        "close" if row["error"] <= 2 * max(reference["spread"], reference["nudged"]) else "different")


def reference(entry, model, options):
    """onnxruntime's inputs and outputs in a folder, which is kept, and what reference.py says of them;
    or the message of its error."""
    folder = options.folder.resolve() / "reference" / entry["name"]
    kept = folder / "reference.json"
    keys = ("dims", "shapes", "values", "bounds", "freeze")
    setting = json.dumps({key: entry[key] for key in keys if key in entry})
    if not kept.exists() or json.loads(kept.read_text())["setting"] != setting:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        status, text, message, _ = start([sys.executable, make_model.HERE / "reference.py", model, folder,
                                          setting], folder, options.seconds)
        if status != 0:
            return folder, (message.splitlines() or [f"status {status}"])[-1]
        kept.write_text(json.dumps({**json.loads(text), "setting": setting}))
    return folder, json.loads(kept.read_text())


def compare(entry, options):
    model = (options.folder / f"{entry['name']}.onnx").resolve()
    row = {key: entry[key] for key in ("name", "group", "source")}
    folder, expected = reference(entry, model, options)
    if isinstance(expected, str):
        return {**row, "outcome": "no reference", "message": expected}
    row.update({key: expected[key] for key in ("spread", "nudged", "response")})
    with tempfile.TemporaryDirectory() as scratch:
        status, text, message, row["seconds"] = start(
            [options.bayloom, "run", model, "--data", folder, "--tolerance", "1e300", "--json", "--threads", "1",
             *shape_options(entry, expected["shapes"]), *options.options], scratch, options.seconds)
    if status == 0 or (status == 1 and text.startswith("[")):  # 1: integers differ
        # JSON has no infinity: such an error is written as null.
        errors = [float("inf") if e["relative error"] is None else e["relative error"] for e in json.loads(text)]
        judge(row, expected, errors)
        return row
    row["message"] = (message.splitlines() or [""])[-1].replace(f"{model.parent}/", "")
    if status is None:
        row["outcome"] = "out of time"
    elif status < 0 or len(message.splitlines()) != 1:
        row.update(outcome="crash", status=status)
    else:
        row["outcome"] = "refused"
    return row


def print_tables(rows):
    outcomes = ["equal", "close", "different", "refused", "crash", "out of time", "no reference"]
    groups = collections.defaultdict(collections.Counter)
    for row in rows:
        groups[row["group"]][row["outcome"]] += 1
        groups["all"][row["outcome"]] += 1
    groups["all"] = groups.pop("all", collections.Counter())
    print("| group | models | " + " | ".join(outcomes) + " |\n|---|" + "---:|" * (len(outcomes) + 1))
    for group, counts in groups.items():
        print(f"| {group} | {counts.total()} | " + " | ".join(str(counts[o]) for o in outcomes) + " |")
    print("\n| model | outcome | error | unoptimized | nudged | response | s | message |\n"
          "|---|---|---:|---:|---:|---:|---:|---|")
    for row in sorted(rows, key=lambda row: outcomes.index(row["outcome"])):
        numbers = [f"{row[key]:.1e}" if key in row else "" for key in ("error", "spread", "nudged", "response")]
        print(f"| {row['name']} | {row['outcome']} | {' | '.join(numbers)} | {row.get('seconds', 0):.1f} "
              f"| {row.get('message', '')} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="the models of collect.py")
    parser.add_argument("--bayloom", default="build/release/bin/bayloom", help="the program")
    parser.add_argument("--options", nargs="+", default=[], help="further options of `bayloom run`")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these models")
    parser.add_argument("--group", nargs="+", metavar="GROUP", help="models of these groups")
    parser.add_argument("--outcome", nargs="+", help="with --again: only those that came out like this")
    parser.add_argument("--again", action="store_true", help="compare anew")
    parser.add_argument("--seconds", type=int, default=600, help="time limit of each process")
    parser.add_argument("--result", metavar="FILE", help="also write a result file")
    options = parser.parse_args()
    options.bayloom = pathlib.Path(options.bayloom).resolve()
    kept = options.folder / "compared"
    kept.mkdir(exist_ok=True)
    rows = []
    for entry in make_model.read_list().values():
        file = kept / f"{entry['name']}.json"
        old = json.loads(file.read_text()) if file.exists() else None
        chosen = ((not options.only or entry["name"] in options.only)
                  and (not options.group or entry["group"] in options.group))
        if not chosen or not (options.folder / f"{entry['name']}.onnx").exists():
            continue
        if old is None or (options.again and (not options.outcome or old["outcome"] in options.outcome)):
            old = compare(entry, options)
            file.write_text(json.dumps(old) + "\n")
            print(f"{old['name']}: {old['outcome']} {old.get('error', '')} {old.get('message', '')}",
                  file=sys.stderr, flush=True)
        rows.append(old)
    print_tables(rows)
    if options.result:
        import onnxruntime
        result_file.write(options.result, "Models as they are exported", rows,
                          {"onnxruntime": onnxruntime.__version__})


if __name__ == "__main__":
    main()
