#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Networks with open sizes as PyTorch exports them: one library for all sizes beside onnxruntime.

    build/venv/bin/pip install -r benchmarks/real_models/requirements.txt
    PYTHONPATH=build/release/python BAYLOOM_PROGRAM=build/release/bin/bayloom \
        build/venv/bin/python benchmarks/open_axes/exported.py --folder build/exported

Each network of exported_networks.py is exported by each of its exporters, compiled once for all its
sizes and run at random ones: the smallest, the largest and --sizes others. A size is "right" where
all outputs have the shapes of onnxruntime's and differ by at most 1e-4 of the largest number of
each (whole numbers: not at all).

Files stay in --folder; results.jsonl there has a line for each network that was made and compiled
("compile_s", or "error" with the message) and one for each size. Run again, the program does what is
missing. --time SECONDS measures both in turns at each size, for so long, with one thread, and adds
"bayloom_ms" and "onnxruntime_ms", medians of the turns. --table prints what results.jsonl has.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
TOLERANCE = 1e-4


def cases():
    sys.path.insert(0, str(HERE))
    from exported_networks import NETWORKS
    return NETWORKS


def random_sizes(dims, count):
    """The smallest, the largest and some others: of each dimension that has a range, a length."""
    import numpy
    random = numpy.random.default_rng(0)
    ranges = {}
    for name, text in dims.items():
        if ".." in text:
            first, last, step = (text.replace("..", ":") + ":1").split(":")[:3]
            ranges[name] = range(int(first), int(last) + 1, int(step))
    chosen = [{name: r[0] for name, r in ranges.items()}, {name: r[-1] for name, r in ranges.items()}]
    space = math.prod(map(len, ranges.values()))
    while len(chosen) < min(count + 2, space):
        # Short ones as often as long ones.
        size = {name: r[int(len(r) ** random.random() + random.random() - 1e-9) % len(r)]
                for name, r in ranges.items()}
        if size not in chosen:
            chosen.append(size)
    return chosen


def lengths_of(dims, size):
    """All dimensions by their names, those with one length and sums of others among them."""
    lengths = dict(size)
    for name, text in dims.items():
        if text.isdigit():
            lengths[name] = int(text)
        elif ".." not in text:
            lengths[name] = sum(lengths[term] if term in lengths else int(term) for term in text.split("+"))
    return lengths


def random_inputs(session, lengths, words, seed):
    """By the inputs' types and names; onnxruntime describes them."""
    import numpy
    random = numpy.random.default_rng(seed)
    inputs = {}
    for given in session.get_inputs():
        shape = [lengths[d] if isinstance(d, str) else d for d in given.shape]
        if "mask" in given.name:
            value = numpy.ones(shape, "int64")
            if shape[0] > 1:  # of several texts, all but the first are shorter
                for row in value[1:]:
                    row[random.integers(1, shape[1] + 1):] = 0
        elif given.type == "tensor(int64)":
            value = random.integers(0, words, shape)
        else:
            value = random.standard_normal(shape).astype("float32")
        inputs[given.name] = value
    return inputs


def difference(ours, theirs):
    """The largest one, over the largest number; infinite where shapes differ."""
    import numpy
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return math.inf
    if theirs.dtype.kind != "f":
        return 0.0 if numpy.array_equal(ours, theirs) else math.inf
    if theirs.size == 0:
        return 0.0
    if not (numpy.isfinite(ours) == numpy.isfinite(theirs)).all():
        return math.inf
    return float(numpy.abs(ours - theirs).max() / max(numpy.abs(theirs).max(), 1e-30))


def in_turns(ways, seconds, turns=5):
    """The median of each way's calls in its turns, in milliseconds."""
    times = {name: [] for name in ways}
    for call in ways.values():
        call()
    for _ in range(turns):
        for name, call in ways.items():
            calls, end = [], time.perf_counter() + seconds / turns / len(ways)
            while not calls or time.perf_counter() < end:
                begin = time.perf_counter()
                call()
                calls.append(time.perf_counter() - begin)
            times[name].append(statistics.median(calls))
    return {f"{name}_ms": round(1e3 * statistics.median(of), 4) for name, of in times.items()}


def make(name, exporter, model):
    """Writes the model, unless it is there. Raises RuntimeError with the last line of what failed."""
    if model.exists():
        return
    done = subprocess.run([sys.executable, HERE / "exported_networks.py", name, exporter, model],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        model.unlink(missing_ok=True)
        said = [line for line in done.stderr.splitlines() if "Error" in line or "error" in line]
        raise RuntimeError("export: " + (said or ["no message"])[-1][:300])


def compile_case(name, exporter, options):
    import bayloom
    model = options.folder / f"{name}.{exporter}.onnx"
    row = {"network": name, "exporter": exporter}
    try:
        make(name, exporter, model)
        begin = time.perf_counter()
        library = bayloom.compile(model, options.folder / f"{name}.{exporter}", name=name,
                                  dims=used_dims(model, name), threads=1)
        row["compile_s"] = round(time.perf_counter() - begin, 1)
        row["library_mb"] = round(os.path.getsize(library) / 1e6, 1)
    except (RuntimeError, ValueError, OSError) as error:
        row["error"] = str(error).replace(f"{options.folder}/", "")
    return row


def used_dims(model, name):
    """Of the network's sizes, those that the exported model has."""
    import onnx
    found = {d.dim_param for i in onnx.load(model, load_external_data=False).graph.input
             for d in i.type.tensor_type.shape.dim}
    return {k: v for k, v in cases()[name].dims.items() if k in found}


def compare(name, exporter, options, done):
    """A row for each size that is not in `done`."""
    import bayloom
    import onnxruntime
    model = options.folder / f"{name}.{exporter}.onnx"
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, settings, ["CPUExecutionProvider"])
    library = bayloom.load(options.folder / f"{name}.{exporter}" / f"lib{name}.so", threads=1)
    dims, words = used_dims(model, name), cases()[name].words
    for number, size in enumerate(random_sizes(dims, options.sizes)):
        if json.dumps(size) in done:
            continue
        inputs = random_inputs(session, lengths_of(dims, size), words, number)
        row = {"network": name, "exporter": exporter, "size": size}
        try:
            expected = session.run(None, inputs)
            results = bayloom_call(library, inputs)()
            row["difference"] = max(map(difference, results, expected))
            row["right"] = row["difference"] <= TOLERANCE
            if options.time:
                row |= in_turns({"bayloom": bayloom_call(library, inputs),
                                 "onnxruntime": lambda: session.run(None, inputs)}, options.time)
        except Exception as error:  # of onnxruntime, too, whose types are not of one kind
            row |= {"right": False, "error": str(error).splitlines()[0][:300]}
        yield row


def bayloom_call(library, inputs):
    used = {tensor.name: inputs[tensor.name] for tensor in library.inputs}

    def call():
        result = library(**used)
        return result if isinstance(result, list) else [result]
    return call


def table(rows):
    lines = ["| network | exporter | sizes right | largest difference | compiled in | library | mean | worst |",
             "|" + "---|" * 8]
    of = {}
    for row in rows:
        of.setdefault((row["network"], row["exporter"]), []).append(row)
    for (name, exporter), those in of.items():
        head = next((r for r in reversed(those) if "size" not in r), {})
        sizes = list({json.dumps(r["size"]): r for r in those if "size" in r}.values())
        if "error" in head:
            lines.append(f"| {name} | {exporter} | {head['error']} |" + " |" * 5)
            continue
        differences = [r["difference"] for r in sizes if "difference" in r]
        ratios = [(r["onnxruntime_ms"] / r["bayloom_ms"], r["size"]) for r in sizes if "bayloom_ms" in r]
        cells = [name, exporter, f"{sum(r['right'] for r in sizes)} of {len(sizes)}",
                 f"{max(differences):.1e}" if differences else "", f"{head.get('compile_s', 0):.0f} s",
                 f"{head.get('library_mb', 0):.1f} MB", "", ""]
        if ratios:
            cells[-2] = f"{statistics.geometric_mean(r for r, _ in ratios):.2f}"
            worst = min(ratios, key=lambda r: r[0])
            cells[-1] = f"{worst[0]:.2f} ({'x'.join(map(str, worst[1].values()))})"
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def work(name, exporter, options):
    """What is missing of one network, in a process of its own: one that crashes loses itself only."""
    command = [sys.executable, __file__, "--folder", options.folder, "--sizes", str(options.sizes),
               "--time", str(options.time), "--only", name, exporter]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = [*done.stderr.strip().splitlines(), ""][-1]
        append(options.folder, {"network": name, "exporter": exporter,
                                "error": last or f"ended with {done.returncode}"})


def append(folder, row):
    with (folder / "results.jsonl").open("a") as file:
        file.write(json.dumps(row) + "\n")


def read(folder):
    file = folder / "results.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def only(name, exporter, options):
    rows = [r for r in read(options.folder) if (r["network"], r["exporter"]) == (name, exporter)]
    if not any("compile_s" in row for row in rows):
        append(options.folder, row := compile_case(name, exporter, options))
        if "error" in row:
            return
    done = {json.dumps(row["size"]) for row in rows if "size" in row
            and (not options.time or "bayloom_ms" in row)}
    for row in compare(name, exporter, options, done):
        append(options.folder, row)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, default="build/exported")
    parser.add_argument("--networks", nargs="+", metavar="NAME", default=None)
    parser.add_argument("--exporters", nargs="+", default=["dynamo", "legacy", "package"])
    parser.add_argument("--sizes", type=int, default=20, help="random ones")
    parser.add_argument("--time", type=float, default=0, metavar="SECONDS", help="of both, at each size")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--only", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.only:
        only(*options.only, options)
        return
    if not options.table:
        for name, case in cases().items():
            for exporter in case.exporters:
                if exporter in options.exporters and name in (options.networks or cases()):
                    work(name, exporter, options)
                    print(table([r for r in read(options.folder) if (r["network"], r["exporter"])
                                 == (name, exporter)]).splitlines()[-1], flush=True)
    else:
        print(table(read(options.folder)))


if __name__ == "__main__":
    main()
