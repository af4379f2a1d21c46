# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""`triton.autotune` replaced: against a table of times, and under Triton's interpreter."""

import importlib
import os
import subprocess
import sys

import pytest
import triton_interface

import bayloom

BLOCKS, WARPS, STAGES = [16, 32, 64, 128, 256], [2, 4, 8], [1, 2, 3, 4, 5]


def time_of(block, num_warps, num_stages, n):
    """Milliseconds; the best block grows with n."""
    best = min(256, max(16, n // 8))
    return 1 + abs(block.bit_length() - best.bit_length()) + 0.3 * abs(num_warps - 4) \
        + 0.2 * abs(num_stages - 3)


class Device:
    """Times a configuration by the table, and counts."""

    def __init__(self):
        self.timed = []
        self.config = None

    def bench(self, call, quantiles):
        call()
        self.timed.append(self.config)
        if self.config["block"] == 256 and self.config["num_stages"] == 5:
            return [float("inf")] * len(quantiles)  # more than the device has
        return [time_of(**self.config)] * len(quantiles)


@pytest.fixture
def triton(monkeypatch):
    yield triton_interface.install(monkeypatch)
    sys.modules.pop("bayloom.triton", None)


@pytest.fixture
def device():
    return Device()


def tuned(triton, device, **options):
    def scale(x, n, block, num_warps=None, num_stages=None):
        for i in range(len(x)):
            x[i] += 1

    class Watched(triton.jit):
        def run(self, *args, **kwargs):
            device.config = {"block": kwargs["block"], "num_warps": kwargs["num_warps"],
                             "num_stages": kwargs["num_stages"], "n": args[1]}
            return super().run(*args, **kwargs)

    ours = importlib.import_module("bayloom.triton")
    options.setdefault("configs", [
        triton.Config({"block": block}, num_warps=warps, num_stages=stages)
        for block in BLOCKS for warps in WARPS for stages in STAGES])
    return ours.autotune(key=["n"], do_bench=device.bench, **options)(Watched(scale))


def best_of(kernel, n, x=None):
    kernel[(1,)]([0] * 4 if x is None else x, n)
    return kernel.best_config.all_kwargs()


def test_finds_the_best_without_timing_all(triton, device):
    kernel = tuned(triton, device, seed=1)
    best = best_of(kernel, 1024)
    assert (best["block"], best["num_warps"], best["num_stages"]) == (128, 4, 3)
    assert len(device.timed) == 32 + (75 - 32) // 10
    best_of(kernel, 1024)
    assert len(device.timed) == 36, "the key is known"


def test_another_key_begins_with_what_was_best(triton, device):
    kernel = tuned(triton, device, max_trials=20)
    best_of(kernel, 1024)
    device.timed.clear()
    assert best_of(kernel, 512)["block"] == 64
    assert len(device.timed) == 20
    assert time_of(**device.timed[0]) < 4, "not a random one"


def test_the_store_is_for_the_next_process(triton, device):
    first = best_of(tuned(triton, device, store="times.db", max_trials=12), 256)
    again = Device()
    assert best_of(tuned(triton, again, store="times.db", max_trials=12), 256) == first
    assert again.timed == []
    assert "scale@" in bayloom.open("times.db").run_records()[0]["name"]


def test_constraints_name_parameters_and_keys(triton, device):
    kernel = tuned(triton, device, constraints=["block <= n // 4", lambda num_stages: num_stages < 4])
    assert best_of(kernel, 128)["block"] == 16
    assert {timed["block"] for timed in device.timed} == {16, 32}
    assert max(timed["num_stages"] for timed in device.timed) == 3
    with pytest.raises(bayloom.InputError, match="contradict each other"):
        best_of(kernel, 8)


def test_values_may_be_given_in_place_of_configs(triton, device):
    kernel = tuned(triton, device, configs={"block": BLOCKS, "num_warps": WARPS, "num_stages": [3]})
    assert best_of(kernel, 256)["block"] == 32
    assert len(device.timed) == 15, "all of few"


def test_tritons_pruning_holds(triton, device):
    def prune(configs, named, **_):
        return [config for config in configs if config.kwargs["block"] < named["n"]]

    kernel = tuned(triton, device, prune_configs_by={"early_config_prune": prune})
    assert best_of(kernel, 64)["block"] == 16
    assert max(timed["block"] for timed in device.timed) < 64


def test_arguments_are_reset_before_the_call_that_counts(triton, device):
    x = [0] * 4
    best_of(tuned(triton, device, max_trials=3, reset_to_zero=["x"]), 64, x)
    assert x == [1] * 4


def test_errors_cost_one_trial_unless_all_have_them(triton, device):
    ours = importlib.import_module("bayloom.triton")

    def kernel_of(blocks):
        def scale(x, n, block):
            device.config = {"block": block, "num_warps": 4, "num_stages": 3, "n": n}

        return ours.autotune(configs={"block": blocks}, key=["n"], do_bench=fail)(triton.jit(scale))

    def fail(call, quantiles):
        call()
        if device.config["block"] < 64:
            raise RuntimeError("misaligned")
        return [time_of(**device.config)] * len(quantiles)

    assert best_of(kernel_of([16, 32, 64, 128]), 64)["block"] == 64
    with pytest.raises(RuntimeError, match="misaligned"):
        best_of(kernel_of([16, 32]), 64)


def test_under_the_interpreter():
    """Needs triton and torch; with both, no device."""
    pytest.importorskip("triton", reason="triton is not installed")
    pytest.importorskip("torch", reason="Triton's interpreter needs torch")
    program = '''
import torch, triton, triton.language as tl
import bayloom.triton

@bayloom.triton.autotune(configs=[triton.Config({"BLOCK": block}) for block in (16, 64, 256)],
                         key=["n"], constraints=["BLOCK <= n"])
@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)

x, y, out = torch.rand(200), torch.rand(200), torch.empty(200)
add[lambda meta: (triton.cdiv(200, meta["BLOCK"]),)](x, y, out, 200)
assert torch.allclose(out, x + y)
assert add.best_config.kwargs["BLOCK"] in (16, 64)
'''
    # A file: Triton reads the source of its kernels.
    with open("interpreted.py", "w", encoding="utf-8") as file:
        file.write(program)
    package = os.path.dirname(os.path.dirname(bayloom.__file__))
    run = subprocess.run([sys.executable, "interpreted.py"], capture_output=True, text=True,
                         env={**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": package})
    assert run.returncode == 0, run.stderr
