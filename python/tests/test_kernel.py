# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Kernels as users of Kernel Tuner tune them."""

import pytest

import bayloom

TUNE_PARAMS = {"block_x": [32, 64, 128, 256], "block_y": [1, 2, 4, 8], "use_pad": [0, 1]}


def kernel_time(p):
    if p["block_x"] == 256 and p["use_pad"]:
        raise RuntimeError("too many resources requested for launch")
    return {"time": abs(p["block_x"] * p["block_y"] - 256) + p["use_pad"] + 1, "power": 3}


def test_results_and_environment():
    results, env = bayloom.tune_kernel(
        kernel_time, TUNE_PARAMS,
        restrictions=["block_x * block_y <= 512", lambda p: p["block_x"] * p["block_y"] >= 64],
        metrics={"GFLOP/s": lambda p: 512 / p["time"]})
    allowed = [(x, y) for x in TUNE_PARAMS["block_x"] for y in TUNE_PARAMS["block_y"]
               if 64 <= x * y <= 512]
    assert len(results) == 2 * len(allowed) == env["feasible_configurations"]
    assert env["best_config"]["time"] == 1
    assert env["best_config"]["GFLOP/s"] == 512
    for result in results:
        assert (result["block_x"], result["block_y"]) in allowed
        if result["block_x"] == 256 and result["use_pad"]:
            assert result["time"] is None and "too many resources" in result["error"]
        else:
            assert result["power"] == 3


def test_budget_seed_and_cache():
    options = {"max_fevals": 6}
    first, _ = bayloom.tune_kernel(kernel_time, TUNE_PARAMS, strategy="random", seed=3,
                                   strategy_options=options, cache="k.db")
    same, _ = bayloom.tune_kernel(kernel_time, TUNE_PARAMS, strategy="random", seed=3,
                                  strategy_options=options)
    assert len(first) == 6 and first == same
    calls = []
    more, env = bayloom.tune_kernel(lambda p: calls.append(p) or kernel_time(p), TUNE_PARAMS,
                                    strategy="random", strategy_options={"max_fevals": 10},
                                    cache="k.db")
    assert more[:6] == first and len(more) == 10 and len(calls) == 4
    assert env["earlier_evaluations"] == 6


def test_higher_can_be_better():
    _, env = bayloom.tune_kernel(lambda p: p["a"], {"a": [1, 5, 3]}, objective="rate",
                                 objective_higher_is_better=True)
    assert env["best_config"] == {"a": 5, "rate": 5}


def test_unknown_strategies_are_refused():
    with pytest.raises(bayloom.InputError, match="brute"):
        bayloom.tune_kernel(kernel_time, TUNE_PARAMS, strategy="brute")
