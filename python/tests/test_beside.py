# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""One process with torch and onnxruntime, which bring compilers and thread pools of their own."""

import importlib.util
import itertools
import os
import subprocess
import sys

import pytest

pytest.importorskip("onnx")

PROGRAM = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
import numpy
import bayloom, small_network

study = bayloom.Study({"tile": [8, 16, 32], "unroll": bayloom.Integer(1, 8)}, seed=1)
study.optimize(lambda trial: abs(trial["tile"] - 16) + trial["unroll"], n_trials=24)
assert study.best_params == {"tile": 16, "unroll": 1}

expected = small_network.write("small.onnx")
image = numpy.random.default_rng(2).standard_normal((4, 24)).astype("float32")
close = lambda a, b: numpy.allclose(a, b, rtol=1e-4, atol=1e-5)
assert bayloom.tune("small.onnx", trials=2, threads=1, seed=1).trials == 2
active, sums = bayloom.Session("small.onnx", threads=1).run(None, {"image": image})
assert close(active, expected(image)[0]) and close(sums, expected(image)[1])
if "onnxruntime" in sys.argv:
    session = sys.modules["onnxruntime"].InferenceSession("small.onnx")
    assert close(session.run(None, {"image": image})[0], active)
if "torch" in sys.argv:
    torch = sys.modules["torch"]
    network = bayloom.load(bayloom.compile("small.onnx", "lib", threads=1))
    assert close(network(torch.from_numpy(image))[0].numpy(), active)
    weights = torch.ones(8, 8, requires_grad=True)
    (weights @ weights).sum().backward()
"""


def test_no_compiler_is_loaded_with_the_package():
    code = ("import bayloom; maps = open('/proc/self/maps').read();"
            "assert '_core' in maps and 'LLVM' not in maps and 'xgboost' not in maps")
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("order", list(itertools.permutations(["torch", "onnxruntime", "bayloom"])),
                         ids="-".join)
def test_imported_before_and_after(order, bayloom_program, monkeypatch, request):
    there = [name for name in order if name == "bayloom" or importlib.util.find_spec(name)]
    if len(there) == 1:
        pytest.skip("neither torch nor onnxruntime is installed")
    monkeypatch.syspath_prepend(str(request.path.parent))
    done = subprocess.run([sys.executable, "-c", PROGRAM, *there], capture_output=True, text=True,
                          env={**os.environ,
                               "PYTHONPATH": ":".join(filter(None, sys.path))})
    assert done.returncode == 0, done.stderr
