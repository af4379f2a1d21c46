#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Random graphs of ONNX's operators, run in four ways and compared with what ONNX's reference
evaluator and onnxruntime, where it is installed, compute.

    compare.py EVALUATE_MODELS [--graphs N] [--seed K] [--only PATTERN] [--estimated SHARE] [--keep FOLDER]
    compare.py EVALUATE_MODELS --test corpus|random

Ways: folded when it is imported, interpreted, compiled with default programs, and, of a share of the
graphs, with programs that the estimate chooses. A graph is wrong where a way differs from all
judges. Wrong ones, crashes and internal errors are kept in FOLDER and end with 1; their seeds
bring them back. --test runs the cases of corpus/, or a bounded number of graphs, and ends with 77
where Python's onnx is not there, or is another version than the known one.
"""

import argparse
import collections
import fnmatch
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    from onnx import numpy_helper, parser as model_parser
except ImportError as error:
    print(f"skipped: {error}; 'pip install onnx' installs what this needs")
    sys.exit(77)

import drawing
from judges import Undrawable
from known_faults import FAULTS, KNOWN_VERSION
from operators import TABLE
import microsoft  # noqa: F401, adds to the table

WAYS = ("folded", "interpreted", "compiled")
CORPUS = pathlib.Path(__file__).parent / "corpus"


class Evaluator:
    """The program that runs models; begun again where it has crashed."""

    def __init__(self, path):
        self.path, self.process = path, None

    def ask(self, way, folder):
        if self.process is None:
            self.process = subprocess.Popen([self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, text=True)
        self.process.stdin.write(f"{way} {folder}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if answer:
            verdict, _, reason = answer.rstrip("\n").partition(" ")
            return verdict, reason
        code = self.process.wait()
        self.process = None
        return "crash", f"exit code {code}"


def write(folder, model, inputs, outputs):
    data = folder / "test_data_set_0"
    shutil.rmtree(folder, ignore_errors=True)
    data.mkdir(parents=True)
    onnx.save(model, folder / "model.onnx")
    for kind, arrays in (("input", inputs), ("output", outputs)):
        for i, array in enumerate(arrays):
            (data / f"{kind}_{i}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())


def known_fault(graph):
    """Why judges are not believed about a graph: of one of its nodes all are at fault. None: they are."""
    for node, names in zip(graph.nodes, graph.judged_by):
        faults = {fault.of: fault.reason for fault in FAULTS if fault.is_in(node, graph.opset)}
        if faults.keys() >= set(names):
            return "; ".join(f"{name}: {faults[name]}" for name in names)
    return None


def evaluate(evaluator, folder, model, inputs, opinions, ways):
    """The worst verdict of all ways, its reason and its way, by the judge that agrees best."""
    grades = ("passed", "refused", "wrong", "fault", "crash")
    best = None
    for outputs in opinions:
        write(folder, model, inputs, outputs)
        worst = max(((*evaluator.ask(way, folder), way) for way in ways), key=lambda v: grades.index(v[0]))
        if best is None or grades.index(worst[0]) < grades.index(best[0]):
            best = worst
        if best[0] in ("passed", "refused"):
            break
    return best


def reason_of(refusal):
    """A refusal without what differs from case to case."""
    text = refusal.partition("' (")[2] or refusal
    return re.sub("[0-9]+", "#", text)[:120]


def compare_random(options, folder, evaluator, table):
    counts, refusals, failures = collections.Counter(), {}, []
    seed = options.seed
    while sum(counts.values()) < options.graphs:
        seed += 1
        try:
            graph = drawing.draw(seed, table)
            model, inputs, opinions = graph.model()
        except Undrawable:
            continue
        ways = WAYS + (("estimated",) if graph.chance(options.estimated) else ())
        verdict, reason, way = evaluate(evaluator, folder, model, inputs, opinions, ways)
        operators = ", ".join(node.op_type for node in model.graph.node)
        if verdict == "wrong" and (fault := known_fault(graph)):
            verdict, reason = "faults of judges", fault
        counts[verdict] += 1
        if verdict == "refused":
            refusals.setdefault(reason_of(reason), []).append(seed)
        elif verdict not in ("passed", "faults of judges"):
            failures.append(seed)
            print(f"{verdict} ({way}): seed {seed}, operator set {graph.opset}, {operators}: {reason}", flush=True)
            if options.keep:
                shutil.copytree(folder, options.keep / f"{seed}", dirs_exist_ok=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    for reason, seeds in sorted(refusals.items(), key=lambda item: -len(item[1])):
        print(f"  {len(seeds):5} refused, such as seed {seeds[0]}: {reason}")
    return not failures


def array_of(text):
    return np.array(text["values"], dtype=text["type"]).reshape(text["shape"])


def compare_corpus(folder, evaluator):
    """Cases that were wrong once, with outputs that follow from the standard's text."""
    good = True
    for path in sorted(CORPUS.glob("*.json")):
        case = json.loads(path.read_text())
        model = model_parser.parse_model("\n".join(case["model"]))
        verdict, reason, way = evaluate(evaluator, folder, model, [array_of(a) for a in case["inputs"]],
                                        [[array_of(a) for a in case["outputs"]]], WAYS)
        if verdict != case.get("verdict", "passed"):
            good = False
            print(f"{path.name}: {verdict} ({way}): {reason}")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="evaluate_models")
    parser.add_argument("--graphs", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="*", help="pattern of operators' names")
    parser.add_argument("--estimated", type=float, default=0.02, help="share of graphs run with estimated programs")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for graphs that are not right")
    parser.add_argument("--test", choices=["corpus", "random"])
    options = parser.parse_args()
    table = {name: draw for name, draw in TABLE.items() if fnmatch.fnmatch(name, options.only)}
    with tempfile.TemporaryDirectory() as scratch:
        folder, evaluator = pathlib.Path(scratch) / "case", Evaluator(options.program)
        if options.test == "corpus":
            return 0 if compare_corpus(folder, evaluator) else 1
        if options.test == "random":
            options.graphs, options.estimated = 400, 0.0
            if not onnx.__version__.startswith(KNOWN_VERSION):
                print(f"skipped: the faults of onnx {onnx.__version__} are not known, but those of {KNOWN_VERSION}")
                return 77
        return 0 if compare_random(options, folder, evaluator, table) else 1


if __name__ == "__main__":
    sys.exit(main())
