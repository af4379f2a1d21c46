# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Times ONNX's operators, each at two realistic sizes, in turns with onnxruntime: before any tuning,
or, with --trials, after it.

    build/venv/bin/python benchmarks/peers/onnxruntime/operator_table.py --out operators.jsonl \\
        --result benchmarks/results/operator_table.json
    build/venv/bin/python benchmarks/peers/onnxruntime/operator_table.py --only Col2Im,Resize

Both run on one thread in this process, by turns of some milliseconds; the ratio is the median over
the turns of onnxruntime's time over Bayloom's: above 1 Bayloom is faster. Outputs have to agree. A
case is a line of --out; run again, it goes on. What onnxruntime or Bayloom cannot run is listed with
the reason. The worst cases are printed last.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import onnx
import onnxruntime

import compiled
import latency
import operator_cases

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import result_file  # noqa: E402

TURN_SECONDS = 0.01
TOLERANCE = 2e-3  # of the largest output


def bound(session, inputs, outputs):
    """A function without arguments that runs the session on memory of its own."""
    binding = session.io_binding()
    for name, array in inputs.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
    for value, array in zip(session.get_outputs(), outputs):
        binding.bind_ortvalue_output(value.name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
    return lambda: session.run_with_iobinding(binding)


def seconds(function, runs):
    start = time.perf_counter()
    for _ in range(runs):
        function()
    return (time.perf_counter() - start) / runs


def runs_in_a_turn(function):
    first = seconds(function, 1)
    if first > TURN_SECONDS:
        return 1
    return max(1, int(TURN_SECONDS / max(min(seconds(function, 1) for _ in range(3)), 1e-7)))


def in_turns(ours, peer, duration):
    """Medians in milliseconds, and of the ratios of the turns."""
    our_runs, peer_runs = runs_in_a_turn(ours), runs_in_a_turn(peer)
    turns = []
    end = time.perf_counter() + duration
    while not turns or time.perf_counter() < end:
        turns.append((seconds(ours, our_runs), seconds(peer, peer_runs)))
    return {"bayloom_ms": round(1e3 * statistics.median(o for o, _ in turns), 4),
            "onnxruntime_ms": round(1e3 * statistics.median(p for _, p in turns), 4),
            "ratio": round(statistics.median(p / o for o, p in turns), 3)}


def error_of(actual, expected):
    """The largest difference, over the largest finite value."""
    worst = 0.0
    for a, b in zip(actual, expected):
        a, b = numpy.asarray(a, numpy.float64), numpy.asarray(b, numpy.float64)
        if a.size == 0:
            continue
        scale = max(float(numpy.abs(b[numpy.isfinite(b)]).max(initial=0)), 1e-30)
        different = ~((a == b) | (numpy.isnan(a) & numpy.isnan(b)))
        worst = max(worst, float(numpy.abs(a - b)[different].max(initial=0)) / scale)
    return worst


def tune(options, path):
    """Leaves a database beside the model, where compiling finds it."""
    command = [options.bayloom, "tune", str(path), "--threads", "1", "--trials", str(options.trials)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError(result.stderr.strip().splitlines()[-1])


def measure(options, case):
    """The row of a case; what is missing in it is said by `refused`."""
    inputs = case.inputs()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "case.onnx"
        onnx.save(case.model(), path)
        try:
            session = latency.open_session(str(path), 1)
            expected = session.run(None, inputs)
        except Exception as error:  # onnxruntime has no common class of its exceptions
            return {"refused": "onnxruntime: " + str(error).splitlines()[0][:160]}
        try:
            if options.trials:
                tune(options, path)
            network = compiled.Compiled(options.bayloom, path, folder, ["--threads", "1"])
        except RuntimeError as error:
            return {"refused": "Bayloom: " + str(error)[:160]}
        row = in_turns(network.bind(inputs), bound(session, inputs, expected), options.seconds)
        row["error"] = float(f"{error_of(network.outputs, expected):.1e}")
        return row


def rows_of(options, out):
    done = {}
    if out and out.exists():
        for line in out.read_text().splitlines():
            row = json.loads(line)
            done[row["operator"], row["batch"]] = row
    only = options.only.split(",") if options.only else None
    for batch in options.batches:
        for case in operator_cases.cases(batch):
            if only and case.op not in only:
                continue
            row = done.get((case.name, batch))
            if row is None:
                row = {"operator": case.name, "batch": batch, **measure(options, case)}
                if out:
                    with out.open("a") as file:
                        file.write(json.dumps(row) + "\n")
            print(describe(row), flush=True)
            yield row


def describe(row):
    name = f"{row['operator']:<36}{row['batch']:>3}"
    if "refused" in row:
        return f"{name}  {row['refused']}"
    wrong = "" if row["error"] <= TOLERANCE else f"  differs by {row['error']:.1g}"
    return f"{name}{row['bayloom_ms']:>11.4f}{row['onnxruntime_ms']:>11.4f}{row['ratio']:>8.2f}{wrong}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bayloom", default="build/release/bin/bayloom", help="the program")
    parser.add_argument("--only", metavar="NAMES", help="operators, with commas between")
    parser.add_argument("--trials", type=int, default=0, help="tune each case with so many first")
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 8], help="images or sequences")
    parser.add_argument("--seconds", type=float, default=0.5, help="of a case's turns")
    parser.add_argument("--out", type=pathlib.Path, help="a line for each case; goes on from it")
    parser.add_argument("--result", metavar="FILE", help="also write a result file")
    options = parser.parse_args()
    print(f"{'operator':<36}{'n':>3}{'Bayloom ms':>11}{'onnxrt ms':>11}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BAYLOOM_STORE"] = str(pathlib.Path(folder) / "store.db")
        rows = list(rows_of(options, options.out))
    timed = sorted((row for row in rows if "ratio" in row), key=lambda row: row["ratio"])
    slower = [row for row in timed if row["ratio"] < 1]
    print(f"{len(timed)} cases, {len(slower)} slower than onnxruntime; the slowest:")
    for row in slower[:20]:
        print(describe(row))
    if options.result:
        result_file.write(options.result, "Operators beside onnxruntime", timed,
                          peers={"onnxruntime": onnxruntime.__version__})


if __name__ == "__main__":
    main()
