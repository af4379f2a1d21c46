#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Modules of torchvision, timm and transformers under torch.compile(backend="bayloom"), as they are
used: whether they compute what torch does, and how much of them is compiled.

    build/venv/bin/pip install torch torchvision timm transformers onnxscript
    PYTHONPATH=build/release/python BAYLOOM_PROGRAM=build/release/bin/bayloom \
        build/venv/bin/python benchmarks/python/torch_modules.py --out torch_modules.jsonl

Each module has random weights and a small input, and is run in each of these ways, against itself
without torch.compile:

  eval       once, in float32
  again      the same in a second process, which finds the libraries of the first one
  dynamic    with dynamic=True, at three sizes
  train      two calls in train mode under no_grad from the same random numbers, then one in eval
             mode; buffers (running statistics) have to be those of torch, too
  bfloat16   the module converted to bfloat16

"difference" is the largest from torch's result over its largest number (of several results: the
worst), "nodes" counts the operators of the graphs that torch captured, "compiled" those of them
that are in networks, and "left" says why others are not. A module in one way is a line of --out,
and a process; run again, the program does what is missing. Libraries stay in a folder beside
--out, of the suffix .stores. --table prints what --out has.
"""

import argparse
import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import warnings

WAYS = ["eval", "again", "dynamic", "train", "bfloat16"]
TOLERANCE = {"bfloat16": 3e-2}  # of others: 1e-4


def _image(pixels):
    def inputs(batch):
        import torch
        return {"x": torch.randn(batch, 3, pixels, pixels)}
    return inputs


def _torchvision(name, pixels=64, **options):
    def make():
        import torchvision
        return torchvision.models.get_model(name, weights=None, **options)
    return make, _image(pixels)


def _timm(name, pixels=64, **options):
    def make():
        import timm
        return timm.create_model(name, pretrained=False, **options)
    return make, _image(pixels)


def _tokens(length):
    import torch
    return {"input_ids": torch.randint(0, 500, (2, length)),
            "attention_mask": torch.ones(2, length, dtype=torch.int64)}


def _transformers(model, inputs=lambda size: _tokens(8 * size), **options):
    def make():
        import transformers
        kind = getattr(transformers, model)
        return kind(kind.config_class(**options))
    return make, inputs


def _speech(size):
    import torch
    return {"input_values": torch.randn(1, 1600 * size)}


def _pixels(pixels):
    def inputs(batch):
        import torch
        return {"pixel_values": torch.randn(batch, 3, pixels, pixels)}
    return inputs


def _translation(size):
    return {**_tokens(8 * size), "decoder_input_ids": _tokens(4 * size)["input_ids"]}


_SMALL = {"vocab_size": 500, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
          "intermediate_size": 128}

# Name: what makes it, and its inputs for a size: images of a batch, tokens, samples.
MODULES = {
    "resnet18": _torchvision("resnet18"),
    "mobilenet_v2": _torchvision("mobilenet_v2"),
    "mobilenet_v3_small": _torchvision("mobilenet_v3_small"),
    "efficientnet_b0": _torchvision("efficientnet_b0"),
    "densenet121": _torchvision("densenet121"),
    "shufflenet_v2_x0_5": _torchvision("shufflenet_v2_x0_5"),
    "regnet_y_400mf": _torchvision("regnet_y_400mf"),
    "convnext_tiny": _torchvision("convnext_tiny"),
    "swin_t": _torchvision("swin_t"),
    "vit_b_16": _torchvision("vit_b_16", 32, image_size=32),
    "lraspp_mobilenet_v3_large": _torchvision("lraspp_mobilenet_v3_large", weights_backbone=None),
    "r3d_18": (_torchvision("r3d_18")[0], lambda batch: {"x": _video(batch)}),
    "timm_vit_tiny": _timm("vit_tiny_patch16_224", img_size=64),
    "timm_deit_tiny": _timm("deit_tiny_distilled_patch16_224", img_size=64),
    "timm_mixer_s32": _timm("mixer_s32_224", img_size=64),
    "timm_efficientformerv2_s0": _timm("efficientformerv2_s0", img_size=64),
    "timm_mobilevit_xxs": _timm("mobilevit_xxs"),
    "timm_coatnet_nano": _timm("coatnet_nano_rw_224", img_size=64),
    "timm_repvgg_a0": _timm("repvgg_a0"),
    "timm_ghostnet_100": _timm("ghostnet_100"),
    "timm_levit_128s": _timm("levit_128s", 224),
    "bert": _transformers("BertModel", **_SMALL),
    "distilbert": _transformers("DistilBertModel", vocab_size=500, dim=64, n_layers=2, n_heads=4,
                                hidden_dim=128),
    "roberta": _transformers("RobertaModel", **_SMALL, pad_token_id=1),
    "modernbert": _transformers("ModernBertModel", **_SMALL, pad_token_id=0, bos_token_id=1,
                                eos_token_id=2, cls_token_id=1, sep_token_id=2),
    "gpt2": _transformers("GPT2LMHeadModel", vocab_size=500, n_embd=64, n_layer=2, n_head=4),
    "llama": _transformers("LlamaForCausalLM", **_SMALL, num_key_value_heads=2),
    "qwen3": _transformers("Qwen3ForCausalLM", **_SMALL, num_key_value_heads=2, head_dim=16),
    "mixtral": _transformers("MixtralForCausalLM", **_SMALL, num_key_value_heads=2,
                             num_local_experts=4),
    "mamba": _transformers("MambaForCausalLM", lambda size: {"input_ids": _tokens(8 * size)["input_ids"]},
                           vocab_size=500, hidden_size=64, num_hidden_layers=2),
    "t5": _transformers("T5ForConditionalGeneration", _translation, vocab_size=500, d_model=64, d_kv=16,
                        d_ff=128, num_layers=2, num_heads=4),
    "whisper": _transformers("WhisperModel", lambda batch: _features(batch), vocab_size=500, d_model=64,
                             encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                             decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128,
                             max_source_positions=100, pad_token_id=0, bos_token_id=1, eos_token_id=2,
                             decoder_start_token_id=1),
    "wav2vec2": _transformers("Wav2Vec2Model", _speech, vocab_size=32, hidden_size=64,
                              num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
                              conv_dim=(64,) * 7, apply_spec_augment=False),
    "clip_vision": _transformers("CLIPVisionModel", _pixels(64), hidden_size=64, intermediate_size=128,
                                 num_hidden_layers=2, num_attention_heads=4, image_size=64,
                                 patch_size=16),
    "segformer": _transformers("SegformerForSemanticSegmentation", _pixels(64), num_labels=5),
}


def _video(batch):
    import torch
    return torch.randn(batch, 3, 4, 32, 32)


def _features(batch):
    import torch
    return {"input_features": torch.randn(batch, 80, 200),
            "decoder_input_ids": torch.randint(3, 500, (batch, 5))}


class Recorder:
    """Bayloom's backend, and what became of the operators of each graph."""

    def __init__(self):
        self.nodes, self.compiled, self.left = 0, 0, []

    def __call__(self, graph, inputs, **_):
        import bayloom.torch
        count = sum(node.op.startswith("call_") for node in graph.graph.nodes)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            run = bayloom.torch.backend(graph, inputs, options={"threads": 1, "effort": "none"})
        self.nodes += count  # of graphs that torch does not capture anew
        reasons = [str(w.message) for w in said if "bayloom" in str(w.message)]
        self.left += reasons
        part = next((m for m in (re.search(r"leaves (\d+) of (\d+) operators", r) for r in reasons) if m),
                    None)
        if part:  # of the operators into which torch divides those of the graph
            self.compiled += round(count * (1 - int(part[1]) / int(part[2])))
        elif getattr(run, "__self__", None) is not graph:
            self.compiled += count
        return run


def results_of(result):
    """The tensors of a result, in order; those of caches as well."""
    import torch
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, dict):
        result = list(result.values())
    if hasattr(result, "layers"):  # a cache of transformers
        return [x for layer in result.layers for x in (layer.keys, layer.values)]
    if isinstance(result, (list, tuple)):
        return [x for each in result for x in results_of(each)]
    if hasattr(result, "self_attention_cache"):
        return results_of([result.self_attention_cache, result.cross_attention_cache])
    return []


def difference(ours, theirs):
    ours, theirs = results_of(ours), results_of(theirs)
    if len(ours) != len(theirs) or not ours:
        return float("inf")
    return max(map(_difference, ours, theirs))


def _difference(a, b):
    if a.shape != b.shape or a.dtype != b.dtype:
        return float("inf")
    if b.numel() == 0:
        return 0.0
    a, b = a.double(), b.double()
    return ((a - b).abs().max() / b.abs().max().clamp(min=1e-30)).item()


def call(model, inputs):
    """With a single tensor by its place."""
    return model(inputs["x"]) if list(inputs) == ["x"] else model(**inputs)


def measure(name, way):
    import torch
    torch.set_num_threads(1)
    torch.manual_seed(0)
    make, inputs = MODULES[name]
    model = make().eval()
    if way == "bfloat16":
        model = model.bfloat16()
    theirs, recorder = copy.deepcopy(model), Recorder()
    run = torch.compile(model, backend=recorder, dynamic=way == "dynamic")
    calls = {"dynamic": [("eval", 2), ("eval", 3), ("eval", 5)],
             "train": [("train", 2), ("train", 2), ("eval", 2)]}.get(way, [("eval", 2)])
    differences = []
    begin = time.perf_counter()
    for seed, (mode, size) in enumerate(calls):
        torch.manual_seed(seed)
        given = inputs(size)
        if way == "bfloat16":
            given = {k: v.bfloat16() if v.is_floating_point() else v for k, v in given.items()}
        both = []
        for each, called in ((model, run), (theirs, theirs)):
            each.train(mode == "train")
            torch.manual_seed(10 + seed)
            with torch.no_grad():
                both.append(call(called, copy.deepcopy(given)))
            if len(both) == 1 and seed == 0:
                seconds = time.perf_counter() - begin
        differences.append(difference(*both))
        differences += [_difference(a, b) for a, b in zip(model.state_dict().values(),
                                                          theirs.state_dict().values())]
    worst = max(differences)
    return {"module": name, "way": way, "difference": worst,
            "right": worst <= TOLERANCE.get(way, 1e-4), "nodes": recorder.nodes,
            "compiled": recorder.compiled, "left": list(dict.fromkeys(recorder.left)),
            "first_call_s": round(seconds, 1)}


def in_a_process(name, way, store):
    """One that crashes loses one line."""
    store.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([sys.executable, __file__, "--measure", name, way], capture_output=True,
                          text=True, check=False, env={**os.environ, "BAYLOOM_STORE": str(store / "store.db")})
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    return {"module": name, "way": way, "right": False,
            "error": [*done.stderr.strip().splitlines(), ""][-1] or f"ended with {done.returncode}"}


def table(rows):
    """A line for each module: of each way the difference, and the share that is compiled."""
    known = {(row["module"], row["way"]): row for row in rows}
    lines = ["| module | " + " | ".join(WAYS) + " | first call, second process |", "|" + "---|" * 7]
    for name in dict.fromkeys(row["module"] for row in rows):
        cells = []
        for way in WAYS:
            row = known.get((name, way))
            cells.append("" if row is None else f"**{row['error']}**" if "error" in row else
                         ("{}{:.0e}{}, {:.0f} %".format(*(("", "") if row["right"] else ("**", "**"))[:1],
                                                        row["difference"], "" if row["right"] else "**",
                                                        100 * row["compiled"] / max(row["nodes"], 1))))
        first = [known.get((name, way), {}).get("first_call_s") for way in ("eval", "again")]
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {first[0]} s, {first[1]} s |")
    reasons = {}
    for row in rows:
        for reason in row.get("left", []):
            short = re.sub(r"^bayloom leaves (a graph|\d+ of \d+ operators) to torch: ", "", reason)
            reasons.setdefault(short, {})[f"{row['module']} ({row['way']})"] = None
    lines += ["", "| left to torch | in |", "|---|---|"]
    lines += [f"| {reason} | {', '.join(where)} |" for reason, where in reasons.items()]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modules", nargs="+", default=list(MODULES), choices=list(MODULES), metavar="NAME")
    parser.add_argument("--ways", nargs="+", default=WAYS, choices=WAYS)
    parser.add_argument("--out", default="torch_modules.jsonl", type=pathlib.Path)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(*options.measure)))
        return
    out = options.out
    rows = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    if options.table:
        print(table(rows))
        return
    for name in options.modules:
        for way in options.ways:
            if any((row["module"], row["way"]) == (name, way) for row in rows):
                continue
            rows.append(in_a_process(name, way, out.with_suffix(".stores") / name))
            with out.open("a") as file:
                file.write(json.dumps(rows[-1]) + "\n")
            print(json.dumps(rows[-1])[:400], flush=True)


if __name__ == "__main__":
    main()
