# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Tunes models and times them in turns with onnxruntime and with their default programs.

    build/venv/bin/python benchmarks/peers/onnxruntime/compare.py --threads 2 --seeds 1 2 3 \\
        --trials 1000 --records build/networks resnet18.onnx mobilenet_v2.onnx

Every model is tuned once per seed; the records stay in --records, where an interrupted run goes
on. Outputs must equal onnxruntime's within --tolerance of their largest value; quantized models,
in which numbers are rounded to either of two levels, need a large one. Then come the turns: each
times every seed's program and onnxruntime for --seconds, one after the other. The ratio is
onnxruntime's time over Bayloom's of the same turn: above 1 Bayloom is faster. A seed's ratio is
the median over the turns; printed are the median seed and the extremes. With --openvino (PyPI's
package `openvino`), it takes part in every turn and has a ratio of its own.

    build/venv/bin/python benchmarks/peers/onnxruntime/compare.py --precision bf16 --openvino \\
        --tolerance 0.05 --seeds 1 resnet50.onnx

With --precision, Bayloom's programs and OpenVINO have products in that type (its
INFERENCE_PRECISION_HINT); onnxruntime stays in float32. Bayloom's own float32 programs are tuned
as well, take part in every turn, and have a ratio, too: what the type gains. So do, with --direct,
programs that were tuned without other algorithms (--derivations none), and with --earlier those of
another version of the program.

    build/venv/bin/python benchmarks/peers/onnxruntime/compare.py --direct --earlier ../v1/bayloom \\
        --openvino --seeds 1 vgg16.onnx
"""

import argparse
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import onnxruntime

import latency

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import result_file  # noqa: E402


@dataclasses.dataclass(frozen=True)
class Programs:
    """Whose programs for a model: of which version, in which precision, how tuned."""
    name: str
    bayloom: str
    precision: str = "f32"
    tuning: tuple = ()

    def in_precision(self):
        return [] if self.precision == "f32" else ["--precision", self.precision]


def programs_compared(options):
    """Those of the comparison, and Bayloom's others that take part in its turns."""
    others = []
    if options.precision != "f32":
        others.append(Programs("float32", options.bayloom))
    if options.direct:
        others.append(Programs("direct", options.bayloom, options.precision, ("--derivations", "none")))
    if options.earlier:
        others.append(Programs("earlier", options.earlier))
    return Programs(options.precision, options.bayloom, options.precision), others


def bayloom(arguments):
    # No store of the user's: earlier versions have no option for that.
    result = subprocess.run(arguments, capture_output=True, text=True,
                            env={**os.environ, "BAYLOOM_STORE": "off"})
    if result.returncode != 0:
        sys.exit(f"compare.py: {' '.join(arguments)}\n{result.stderr}")
    return json.loads(result.stdout) if "--json" in arguments else None


def bench(programs, model, database, options, *more):
    return bayloom([programs.bayloom, "bench", model, "--db", database, "--threads",
                    str(options.threads), "--time", f"{options.seconds}s", "--json",
                    *programs.in_precision(), *more])


def tune(programs, model, seed, options):
    """The records of one tuning, and the seconds that were spent on it now."""
    name = pathlib.Path(model).stem + ("" if programs.name == "f32" else f".{programs.name}")
    database = options.records / f"{name}.threads{options.threads}.seed{seed}.db"
    start = time.perf_counter()
    bayloom([programs.bayloom, "tune", model, "--trials", str(options.trials), "--seed", str(seed),
             "--threads", str(options.threads), "--db", str(database), "--resume",
             *programs.in_precision(), *programs.tuning])
    return str(database), time.perf_counter() - start


def check_outputs(programs, model, database, session, inputs, options):
    with tempfile.TemporaryDirectory() as folder:
        latency.save(pathlib.Path(folder), session, inputs)
        bayloom([programs.bayloom, "run", model, "--db", database, "--data", folder,
                 "--threads", str(options.threads), "--tolerance", str(options.tolerance),
                 "--json", *programs.in_precision()])


def ratios_of(peer, ours):
    """One a seed, ascending: the median over the turns of the peer's time over Bayloom's."""
    return sorted(statistics.median(p / o for p, o in zip(peer, times)) for times in ours)


def compare(model, options):
    """One row: latencies in seconds, ratios of the seeds."""
    programs, others = programs_compared(options)
    tunings = [tune(programs, model, seed, options) for seed in options.seeds]
    others = [(other, tune(other, model, options.seeds[0], options)[0], []) for other in others]
    session = latency.open_session(model, options.threads)
    inputs = latency.random_inputs(session, seed=0)
    for database, _ in tunings:
        check_outputs(programs, model, database, session, inputs, options)
    openvino = (latency.open_openvino(model, options.threads, options.precision)[0]
                if options.openvino else None)
    ours, peers, openvinos = [[] for _ in tunings], [], []
    error = None
    for _ in range(options.turns):
        for times, (database, _) in zip(ours, tunings):
            report = bench(programs, model, database, options)
            times.append(report["latency"]["seconds"])
            if options.precision != "f32":
                error = report["precision"]["networks"][0]["error"]
        for other, database, times in others:
            times.append(bench(other, model, database, options)["latency"]["seconds"])
        durations = latency.measure(lambda: session.run(None, inputs), options.seconds)
        peers.append(statistics.median(durations))
        if openvino:
            durations = latency.measure(lambda: openvino(inputs), options.seconds)
            openvinos.append(statistics.median(durations))
    untuned = bench(programs, model, tunings[0][0], options, "--untuned")
    row = {
        "model": pathlib.Path(model).stem,
        "threads": options.threads,
        "tuning_seconds": statistics.median(seconds for _, seconds in tunings),
        "seconds": statistics.median(statistics.median(times) for times in ours),
        "onnxruntime_seconds": statistics.median(peers),
        "ratios": ratios_of(peers, ours),
        "gain": untuned["gain"]["ratio"],
    }
    row["ratio"] = statistics.median(row["ratios"])
    if openvino:
        row["openvino_seconds"] = statistics.median(openvinos)
        row["openvino_ratio"] = statistics.median(ratios_of(openvinos, ours))
    if options.precision != "f32":
        row["precision"] = options.precision
        row["precision_error"] = error
    row["others"] = {other.name: {"seconds": statistics.median(times),
                                  "ratio": statistics.median(ratios_of(times, ours))}
                     for other, _, times in others}
    return row


def result_row(row):
    openvino = {"openvino_ms": round(row["openvino_seconds"] * 1e3, 4),
                "openvino_ratio": round(row["openvino_ratio"], 4)} if "openvino_ratio" in row else {}
    precision = {"precision": row["precision"], "error": row["precision_error"]} if "precision" in row else {}
    others = {key: value for name, other in row["others"].items()
              for key, value in ((f"{name}_ms", round(other["seconds"] * 1e3, 4)),
                                 (f"{name}_ratio", round(other["ratio"], 4)))}
    return {"network": row["model"], "threads": row["threads"],
            "tuning_s": round(row["tuning_seconds"], 1),
            "bayloom_ms": round(row["seconds"] * 1e3, 4),
            "onnxruntime_ms": round(row["onnxruntime_seconds"] * 1e3, 4),
            "ratio": round(row["ratio"], 4), "ratio_low": round(row["ratios"][0], 4),
            "ratio_high": round(row["ratios"][-1], 4), "default_ratio": round(row["gain"], 4), **openvino,
            **precision, **others}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", help="ONNX files")
    parser.add_argument("--bayloom", default="build/release/bin/bayloom", help="the program")
    parser.add_argument("--records", type=pathlib.Path, default="build/networks", metavar="DIR")
    parser.add_argument("--trials", type=int, default=1000, help="trials a tuning")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3], help="one tuning each")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=1, help="measuring time of each in a turn")
    parser.add_argument("--tolerance", type=float, default=1e-4,
                        help="of outputs, over their largest value")
    parser.add_argument("--precision", choices=["f32", "bf16", "f16"], default="f32",
                        help="of Bayloom's products and of OpenVINO")
    parser.add_argument("--openvino", action="store_true", help="compare with OpenVINO as well")
    parser.add_argument("--direct", action="store_true",
                        help="time Bayloom's programs without other algorithms as well")
    parser.add_argument("--earlier", metavar="PROGRAM",
                        help="another version of bayloom, which tunes in float32 and is timed as well")
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
    parser.add_argument("--result", metavar="FILE", help="also write a result file")
    options = parser.parse_args()
    rows = []
    options.records.mkdir(parents=True, exist_ok=True)
    if not options.json:
        print(f"onnxruntime {onnxruntime.__version__}, {options.threads} threads, "
              f"{options.trials} trials, seeds {options.seeds}")
        print(f"{'network':<16}{'tuning s':>9}{'Bayloom ms':>12}{'onnxrt ms':>11}{'ratio':>7}"
              f"   {'of seeds':<14}{'untuned/tuned':>14}"
              + (f"{'OpenVINO ms':>13}{'ratio':>7}" if options.openvino else "")
              + "".join(f"{other.name + ' ms':>12}{'ratio':>7}" for other in programs_compared(options)[1])
              + (f"{'error':>10}" if options.precision != "f32" else ""))
    for model in options.models:
        row = compare(model, options)
        rows.append(row)
        if options.json:
            print(json.dumps(row), flush=True)
            continue
        spread = f"{row['ratios'][0]:.2f} .. {row['ratios'][-1]:.2f}"
        print(f"{row['model']:<16}{row['tuning_seconds']:>9.0f}{row['seconds'] * 1e3:>12.2f}"
              f"{row['onnxruntime_seconds'] * 1e3:>11.2f}{row['ratio']:>7.2f}   {spread:<14}"
              f"{row['gain']:>14.1f}", end="", flush=True)
        if options.openvino:
            print(f"{row['openvino_seconds'] * 1e3:>13.2f}{row['openvino_ratio']:>7.2f}", end="")
        for other in row["others"].values():
            print(f"{other['seconds'] * 1e3:>12.2f}{other['ratio']:>7.2f}", end="")
        if "precision" in row:
            print(f"{row['precision_error']:>10.1e}", end="")
        print(flush=True)
    if options.result:
        result_file.write(options.result, "Networks beside onnxruntime", list(map(result_row, rows)),
                          {"onnxruntime": onnxruntime.__version__})


if __name__ == "__main__":
    main()
