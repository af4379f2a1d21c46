# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Times models before any trial, in turns with onnxruntime.

    build/venv/bin/python benchmarks/zero_trials/compare.py --threads 2 resnet18.onnx bert_base.onnx

For each model: onnxruntime's time over Bayloom's (above 1 Bayloom is faster), as the median over
the turns; the seconds that `bayloom compile` takes until the library is there, the model's import
included; and with --tuned DIR, which holds MODEL.db of `bayloom tune`, the time of the tuned network
over that of the default one. Outputs must equal onnxruntime's. A store of programs of its own, which
holds only the measured machine, takes the place of the user's.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers" / "onnxruntime"))
import latency  # noqa: E402
import result_file  # noqa: E402


def bayloom(options, *arguments):
    command = [options.bayloom, *map(str, arguments), "--threads", str(options.threads)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"compare.py: {' '.join(command)}\n{result.stderr}")
    return result.stdout


def bench(options, model, database):
    answer = bayloom(options, "bench", model, "--db", database, "--time", f"{options.seconds}s",
                     "--effort", options.effort, "--json")
    return json.loads(answer)["latency"]["seconds"]


def compile_seconds(options, model, database, folder):
    start = time.perf_counter()
    bayloom(options, "compile", model, "--db", database, "--out", folder, "--effort",
            options.effort)
    return time.perf_counter() - start


def check_outputs(options, model, database, session, inputs, folder):
    latency.save(pathlib.Path(folder), session, inputs)
    bayloom(options, "run", model, "--db", database, "--data", folder, "--effort", options.effort)


def empty_database(options, folder):
    """A database without records: what `--db` names must exist."""
    path = pathlib.Path(folder) / "empty.db"
    bayloom(options, "tune", "--op", "matmul:8,8,8", "--trials", 1, "--db", path, "--no-store")
    return path


def compare(options, model):
    stem = pathlib.Path(model).stem
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BAYLOOM_STORE"] = str(pathlib.Path(folder) / "store.db")
        empty = empty_database(options, folder)
        session = latency.open_session(model, options.threads)
        inputs = latency.random_inputs(session, seed=0)
        check_outputs(options, model, empty, session, inputs, folder)
        seconds = compile_seconds(options, model, empty, folder)
        tuned_database = options.tuned / f"{stem}.db" if options.tuned else None
        ours, peers, tuned = [], [], []
        for _ in range(options.turns):
            ours.append(bench(options, model, empty))
            peers.append(statistics.median(
                latency.measure(lambda: session.run(None, inputs), options.seconds)))
            if tuned_database and tuned_database.exists():
                tuned.append(bench(options, model, tuned_database))
    row = {"network": stem, "threads": options.threads,
           "bayloom_ms": round(1e3 * statistics.median(ours), 4),
           "onnxruntime_ms": round(1e3 * statistics.median(peers), 4),
           "ratio": round(statistics.median(p / o for p, o in zip(peers, ours)), 4),
           "compile_s": round(seconds, 2)}
    if tuned:
        row["tuned_over_default"] = round(
            statistics.median(t / o for t, o in zip(tuned, ours)), 4)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", help="ONNX files")
    parser.add_argument("--bayloom", default="build/release/bin/bayloom", help="the program")
    parser.add_argument("--tuned", type=pathlib.Path, metavar="DIR", help="databases of tunings")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--effort", default="normal")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=1, help="measuring time of each in a turn")
    parser.add_argument("--result", metavar="FILE", help="also write a result file")
    options = parser.parse_args()
    rows = []
    print(f"{'network':<20}{'Bayloom ms':>12}{'onnxrt ms':>11}{'ratio':>7}{'compile s':>11}"
          f"{'tuned/untuned':>15}")
    for model in options.models:
        row = compare(options, model)
        rows.append(row)
        print(f"{row['network']:<20}{row['bayloom_ms']:>12.3f}{row['onnxruntime_ms']:>11.3f}"
              f"{row['ratio']:>7.2f}{row['compile_s']:>11.1f}"
              f"{row.get('tuned_over_default', float('nan')):>15.2f}", flush=True)
    mean = math.exp(statistics.fmean(math.log(row["ratio"]) for row in rows))
    print(f"geometric mean of the ratios: {mean:.3f}")
    if options.result:
        result_file.write(options.result, "Networks before any trial beside onnxruntime", rows,
                          peers={"onnxruntime": onnxruntime.__version__})


if __name__ == "__main__":
    main()
