#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Networks of torchvision, timm and transformers under torch.compile: Bayloom's backend beside
inductor, with random weights.

    build/venv/bin/pip install torch torchvision timm transformers onnxscript
    PYTHONPATH=build/release/python BAYLOOM_PROGRAM=build/release/bin/bayloom \
        build/venv/bin/python benchmarks/python/torch_compile.py --threads 1 --out torch_compile.jsonl

For each network: the largest difference from what torch computes, over the largest output; the share
of the captured graphs' nodes that were compiled, and why others were not; and times of torch,
inductor and Bayloom, which take turns in one process, with inductor's and torch's over Bayloom's
as medians of the turns. Nothing is tuned: Bayloom's programs are those that an estimate chooses, as
they are with torch.compile(model, backend="bayloom") and no tuning before. --freezing lets inductor
take parameters for constants, as Bayloom does; it does not by default. --processor-time counts the
time that a processor worked instead of the time that passed, for a machine that does other work, too.

A network is a line of --out as soon as it is measured; run again, only those that are missing are
done. --table prints what --out has, as Markdown.
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
import warnings

PIXELS = 224
TOKENS = 64


def _image():
    import torch
    return torch.randn(1, 3, PIXELS, PIXELS)


def _torchvision(name):
    import torchvision
    return torchvision.models.get_model(name, weights=None), _image()


def _timm(name):
    import timm
    return timm.create_model(name, pretrained=False), _image()


def _transformers(make):
    """A model that takes the numbers of words and gives one tensor."""
    import torch
    import transformers

    class First(torch.nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = model

        def forward(self, words):
            return self.model(words)[0]

    return First(make(transformers)), torch.randint(0, 1000, (1, TOKENS))


def _bert(package):
    return package.BertModel(package.BertConfig(
        vocab_size=1000, hidden_size=256, num_hidden_layers=4, num_attention_heads=4,
        intermediate_size=1024))


def _distilbert(package):
    return package.DistilBertModel(package.DistilBertConfig(
        vocab_size=1000, dim=384, n_layers=3, n_heads=6, hidden_dim=1536))


def _gpt2(package):
    return package.GPT2LMHeadModel(package.GPT2Config(
        vocab_size=1000, n_embd=384, n_layer=3, n_head=6, use_cache=False))


# The three of transformers are smaller than those of their papers.
MODELS = {
    "squeezenet1_1": lambda: _torchvision("squeezenet1_1"),
    "mobilenet_v2": lambda: _torchvision("mobilenet_v2"),
    "resnet18": lambda: _torchvision("resnet18"),
    "shufflenet_v2_x1_0": lambda: _torchvision("shufflenet_v2_x1_0"),
    "vit_tiny_patch16_224": lambda: _timm("vit_tiny_patch16_224"),
    "convnext_atto": lambda: _timm("convnext_atto"),
    "efficientnet_b0": lambda: _timm("efficientnet_b0"),
    "bert": lambda: _transformers(_bert),
    "distilbert": lambda: _transformers(_distilbert),
    "gpt2": lambda: _transformers(_gpt2),
}


class Recorder:
    """Bayloom's backend, and what became of the nodes of each graph."""

    def __init__(self, threads):
        self.options = {"threads": threads}
        self.compiled, self.left, self.reasons = 0, 0, []

    def __call__(self, graph, inputs, **_):
        import bayloom.torch
        count = sum(node.op.startswith("call_") for node in graph.graph.nodes)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            run = bayloom.torch.backend(graph, inputs, options=self.options)
        if getattr(run, "__self__", None) is graph:
            self.left += count
            self.reasons += [str(w.message) for w in said if "leaves a graph" in str(w.message)]
        else:
            self.compiled += count
        return run


def call_seconds(model, given, seconds, clock):
    """The median of the calls in so many seconds, of three at least."""
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        begin = clock()
        model(given)
        times.append(clock() - begin)
    return statistics.median(times)


def difference(result, expected):
    """The largest, over the largest output."""
    return ((result - expected).abs().max() / expected.abs().max()).item()


def measure(name, options):
    import torch
    import torch._inductor.config
    torch.set_num_threads(options.threads)
    torch._inductor.config.freezing = options.freezing
    torch.manual_seed(0)
    model, given = MODELS[name]()
    model.eval()
    recorder = Recorder(options.threads)
    row = {"model": name, "threads": options.threads, "freezing": options.freezing,
           "processor_time": options.processor_time, "torch": torch.__version__}
    with torch.no_grad():
        expected = model(given)
        ways = {"torch": model}
        for way, backend in (("bayloom", recorder), ("inductor", "inductor")):
            compiled = torch.compile(model, backend=backend, dynamic=False)
            begin = time.perf_counter()
            row[f"{way}_difference"] = difference(compiled(given), expected)
            row[f"{way}_compile_s"] = round(time.perf_counter() - begin, 1)
            ways[way] = compiled
        row |= {"nodes": recorder.compiled + recorder.left, "compiled": recorder.compiled,
                "reasons": recorder.reasons}
        row |= times(ways, given, options)
        row["bayloom_difference"] = max(row["bayloom_difference"],
                                        difference(ways["bayloom"](given), expected))
    return row


def times(ways, given, options):
    clock = time.process_time if options.processor_time else time.perf_counter
    seconds = {way: [] for way in ways}
    for way in ways.values():
        call_seconds(way, given, 0, clock)
    for _ in range(options.turns):
        for name, way in ways.items():
            seconds[name].append(call_seconds(way, given, options.seconds, clock))
    row = {f"{name}_ms": round(1e3 * statistics.median(of), 4) for name, of in seconds.items()}
    for peer in ("torch", "inductor"):
        ratios = sorted(p / b for p, b in zip(seconds[peer], seconds["bayloom"]))
        row[f"{peer}_over_bayloom"] = [round(r, 4) for r in (
            ratios[len(ratios) // 4], statistics.median(ratios), ratios[-1 - len(ratios) // 4])]
    return row


def table(rows):
    lines = ["| network | nodes compiled | difference | inductor's | over Bayloom's time: inductor | "
             "torch | Bayloom | compiled in | inductor in |", "|" + "---|" * 9]
    for row in rows:
        if "error" in row:
            lines.append(f"| {row['model']} | {row['error']} |" + " |" * 7)
            continue
        ratios = ["{1:.2f} ({0:.2f} .. {2:.2f})".format(*row[f"{peer}_over_bayloom"])
                  for peer in ("inductor", "torch")]
        lines.append(
            f"| {row['model']} | {row['compiled']} of {row['nodes']} | "
            f"{row['bayloom_difference']:.1e} | {row['inductor_difference']:.1e} | "
            f"{' | '.join(ratios)} | {row['bayloom_ms']:.2f} ms | {row['bayloom_compile_s']:.0f} s | "
            f"{row['inductor_compile_s']:.0f} s |")
    return "\n".join(lines)


def in_a_process(name, options):
    """One that crashes loses one network."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, __file__, "--measure", name, "--threads", str(options.threads),
             "--turns", str(options.turns), "--seconds", str(options.seconds),
             *(["--freezing"] if options.freezing else []),
             *(["--processor-time"] if options.processor_time else [])],
            capture_output=True, text=True, check=False,
            env={**os.environ, "BAYLOOM_STORE": os.path.join(folder, "store.db"),
                 "TORCHINDUCTOR_CACHE_DIR": folder})
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    return {"model": name, "error": [*done.stderr.strip().splitlines(), ""][-1]
            or f"ended with {done.returncode}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--turns", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each in a turn")
    parser.add_argument("--freezing", action="store_true")
    parser.add_argument("--processor-time", action="store_true", help="with one thread only")
    parser.add_argument("--out", default="torch_compile.jsonl", help="a line for each network")
    parser.add_argument("--table", action="store_true", help="print what --out has, as Markdown")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.processor_time and options.threads != 1:
        parser.error("--processor-time is for --threads 1")
    if options.measure:
        print(json.dumps(measure(options.measure, options)))
        return
    out = pathlib.Path(options.out)
    rows = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    if options.table:
        print(table(rows))
        return
    for name in options.models:
        if any(row["model"] == name and "error" not in row for row in rows):
            continue
        rows.append(in_a_process(name, options))
        with out.open("a") as file:
            file.write(json.dumps(rows[-1]) + "\n")
        print(table(rows[-1:]).splitlines()[-1], flush=True)


if __name__ == "__main__":
    main()
