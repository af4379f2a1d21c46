# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0
"""benchmarks/gpu/ratios and scripts/gpu_peers, as far as they need no GPU: gpu_figures.py SOURCE"""

import importlib.machinery
import importlib.util
import json
import math
import pathlib
import subprocess
import sys
import tempfile

source = pathlib.Path(sys.argv[1])
sys.dont_write_bytecode = True


def load(path):
    loader = importlib.machinery.SourceFileLoader(path.name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(path.name, loader))
    loader.exec_module(module)
    return module


def check_ratios(folder):
    figures = [
        {"subject": "matmul:1024,1024,1024", "tuned": {"total": 2e-4}},
        {"subject": "matmul:64,64,64", "tuned": {"total": 4e-6}},
        {"subject": "matmul:64,64,64,dtype=float16,sum=float32", "tuned": {"total": 1e-6}},
        {"subject": "alone", "tuned": {"total": 1}},
        {"subject": "net.onnx", "bench": {"latency": {"seconds": 3e-3}}},
    ]
    peers = [
        {"subject": "matmul:1024,1024,1024", "library": "cuBLAS", "way": "mm", "seconds": 1e-4},
        {"subject": "matmul:64,64,64", "library": "cuBLAS", "way": "mm", "seconds": 8e-6},
        {"subject": "matmul:64,64,64,dtype=float16,sum=float32", "library": "cuBLAS", "way": "mm",
         "seconds": 3e-6},
        {"subject": "net.onnx", "library": "PyTorch", "way": "eager", "seconds": 6e-3},
    ]
    for name, lines in (("figures", figures), ("peers", peers)):
        text = "".join(json.dumps(line) + "\n" for line in lines) + '{"subject": "cut o'
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    out = folder / "ratios.json"
    done = subprocess.run([source / "benchmarks/gpu/ratios", folder, "--json", out], check=True,
                          capture_output=True, text=True)
    ratios = json.loads(out.read_text(encoding="utf-8"))
    assert set(ratios) == {"matmul, float32", "matmul, float16", "networks"}, ratios
    assert math.isclose(ratios["matmul, float32"]["geometric_mean"], 1), ratios
    assert math.isclose(ratios["matmul, float16"]["geometric_mean"], 3), ratios
    assert math.isclose(ratios["networks"]["ratios"]["net.onnx"], 2), ratios
    assert "left out: 1 without a peer, 0 without ours" in done.stdout, done.stdout


def check_peers(folder):
    peers = load(source / "scripts/gpu_peers")
    operator = peers.parse_operator("conv2d:56x28x64,128,3x5,stride=2,pad=1x2,bias,relu,dtype=tf32")
    assert operator["extents"] == ["56x28x64", "128", "3x5"] and operator["pad"] == [1, 2], operator
    assert operator["stride"] == [2, 2] and operator["bias"] and not operator["residual"], operator
    assert operator["dtype"] == "tf32", operator
    for line in ("matmul:8,8", "conv3d:8", "matmul:8,8,8,round"):
        assert peers.parse_operator(line) is None, line
    # Every operator that is compared by default is understood.
    script = (source / "scripts/record_gpu").read_text(encoding="utf-8")
    function = script[script.index('sizes="'):script.index("prepare=\n")]
    figures = subprocess.run(["bash", "-c", function + "\ndefault_figures"], check=True,
                             capture_output=True, text=True).stdout.split()
    assert len(figures) > 30 and len(set(figures)) == len(figures), figures
    assert all(peers.parse_operator(line) for line in figures), figures
    # After a line that was cut off the next is a line.
    out = folder / "cut.jsonl"
    out.write_bytes(b'{"subject": "a"}\n{"subj')
    with open(out, "a+b") as file:
        peers.end_line(file)
        file.write(b'{"subject": "b"}\n')
    assert peers.known_subjects(out) == {"a", "b"}, peers.known_subjects(out)


with tempfile.TemporaryDirectory() as scratch:
    check_ratios(pathlib.Path(scratch))
    check_peers(pathlib.Path(scratch))
