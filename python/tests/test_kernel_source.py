# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Kernels by their source, under Kernel Tuner's call."""

import ctypes.util
import json

import pytest

import bayloom

numpy = pytest.importorskip("numpy")
pytestmark = pytest.mark.usefixtures("bayloom_program")

SOURCE = """
extern "C" float add(float *c, const float *a, const float *b, int n) {
  for (int i = 0; i < n - fault; i += step)
    for (int j = i; j < n - fault && j < i + step; ++j) c[j] = a[j] + b[j];
  return 1 + 0.5f * step;
}
"""
TUNE_PARAMS = {"step": [1, 2, 4], "fault": [0, 1]}


def add_arguments(size=1000):
    a, b = (numpy.random.default_rng(seed).random(size).astype(numpy.float32) for seed in (1, 2))
    return [numpy.zeros_like(a), a, b, numpy.int32(size)]


def test_the_call_of_kernel_tuner(capsys):
    arguments = add_arguments()
    results, env = bayloom.tune_kernel(
        "add", SOURCE, 1000, arguments, TUNE_PARAMS, restrictions=["step * (1 + fault) <= 4"],
        answer=[arguments[1] + arguments[2], None, None, None], compiler_options=["-O2"],
        metrics={"GFLOP/s": lambda p: 1e-6 / p["time"], "half": "time / 2"})
    assert len(results) == 5
    right = [result for result in results if "error" not in result]
    assert sorted(result["step"] for result in right) == [1, 2, 4]
    for result in right:
        assert result["time"] == 1 + 0.5 * result["step"], "what the function returned"
        assert result["half"] == result["time"] / 2 and result["GFLOP/s"] > 0
        assert len(result["times"]) >= 7
        assert result["compile_time"] > 0 and result["framework_time"] == 0
    wrong = [result for result in results if result["fault"]]
    assert all("was never written" in result["error"] or "expected" in result["error"]
               for result in wrong)
    assert env["best_config"]["step"] == 1
    assert "best of 5 configurations by time" in capsys.readouterr().out


def test_a_metric_may_be_the_objective_and_rates_are_maximized():
    _, env = bayloom.tune_kernel("add", SOURCE, 1000, add_arguments(), {"step": [1, 2], "fault": [0]},
                                 metrics={"steps/s": lambda p: p["step"]}, objective="steps/s",
                                 quiet=True)
    assert env["best_config"]["step"] == 2


def test_the_cache_is_kernel_tuners():
    call = ("add", SOURCE, 1000, add_arguments(), {"step": [1, 2], "fault": [0]})
    results, env = bayloom.tune_kernel(*call, cache="add.json", quiet=True)
    with open("add.json", encoding="utf-8") as file:
        cache = json.load(file)
    assert cache["tune_params_keys"] == ["step", "fault"] and set(cache["cache"]) == {"1,0", "2,0"}
    cache["cache"]["2,0"]["time"] = 0.125
    with open("add.json", "w", encoding="utf-8") as file:  # as it is where it was interrupted
        file.write(json.dumps(cache)[:-2] + ",")
    again, env = bayloom.tune_kernel(*call, cache="add.json", quiet=True)
    assert sorted(result["time"] for result in again) == [0.125, 1.5]
    simulated, _ = bayloom.tune_kernel(
        "add", SOURCE, 1000, add_arguments(), {"step": [1, 2, 4], "fault": [0]}, cache="add.json",
        simulation_mode=True, quiet=True)
    assert len([each for each in simulated if "error" in each]) == 1
    bayloom.store_results("stored.json", "add", SOURCE, call[4], 1000, again, env, top=5)
    with open("stored.json", encoding="utf-8") as file:
        stored = json.load(file)
    assert [each["tunable_parameters"]["step"] for each in stored["data"]] == [2]
    assert stored["data"][0]["problem_size"] == "1000"


def test_strategies_by_their_names(capfd):
    _, env = bayloom.tune_kernel("add", SOURCE, 1000, add_arguments(), TUNE_PARAMS,
                                 strategy="pso", strategy_options={"popsize": 3, "max_fevals": 2})
    assert env["evaluations"] == 2
    assert ("strategy 'pso' is Kernel Tuner's: 'bayesian' runs instead, without popsize"
            in capfd.readouterr().err)
    with pytest.raises(bayloom.InputError, match="no strategy 'psoo'"):
        bayloom.tune_kernel("add", SOURCE, 1000, add_arguments(), TUNE_PARAMS, strategy="psoo")


def test_a_function_may_verify():
    seen = []

    def verify(answer, result, atol):
        seen.append(result[0].copy())
        return numpy.allclose(result[0], answer[0], atol=atol)

    arguments = add_arguments()
    answer = [arguments[1] + arguments[2], None, None, None]
    results, _ = bayloom.tune_kernel("add", SOURCE, 1000, arguments,
                                     {"step": [2], "fault": [0, 1]}, answer=answer, verify=verify,
                                     quiet=True)
    assert [("error" in result) for result in sorted(results, key=lambda r: r["fault"])] == [
        False, True]
    assert len(seen) == 2 and seen[0].shape == (1000,)


def test_run_kernel_gives_what_the_kernel_writes():
    arguments = add_arguments(16)
    results = bayloom.run_kernel("add", SOURCE, 16, arguments, {"step": 4, "fault": 0})
    assert numpy.array_equal(results[0], arguments[1] + arguments[2])
    assert numpy.array_equal(results[1], arguments[1]) and results[3] == 16
    with pytest.raises(bayloom.Infeasible, match="no_such"):
        bayloom.run_kernel("add", SOURCE.replace("step;", "no_such;"), 16, arguments,
                           {"step": 4, "fault": 0})


def test_what_is_not_taken_is_refused():
    with pytest.raises(bayloom.InputError, match="does not take 'observers'"):
        bayloom.tune_kernel("add", SOURCE, 16, add_arguments(), TUNE_PARAMS, observers=[1])
    with pytest.raises(bayloom.InputError, match="CUDA"):
        bayloom.tune_kernel("f", "__global__ void f() {}", 16, [], {"a": [1]})
    with pytest.raises(bayloom.InputError, match="argument 0 is list"):
        bayloom.tune_kernel("add", SOURCE, 16, [[1, 2]], TUNE_PARAMS)


OPENCL = """
__kernel void scale(__global float *y, __global const float *x, int n) {
  for (int t = 0; t < tile; ++t) {
    int i = get_group_id(0) * block_size_x * tile + t * block_size_x + get_local_id(0);
    if (i < n) y[i] = 2 * x[i];
  }
}
"""


@pytest.mark.parametrize("form", ["text", "functions"])
def test_opencl(form):
    if ctypes.util.find_library("OpenCL") is None:
        pytest.skip("OpenCL is not installed")
    n = 1000
    x = numpy.arange(n, dtype=numpy.float32)
    functions = form == "functions"
    results, _ = bayloom.tune_kernel(
        "scale", (lambda config: OPENCL) if functions else OPENCL,
        (lambda config: (n,)) if functions else n,
        [numpy.zeros_like(x), x, numpy.int32(n)], {"block_size_x": [32, 64], "tile": [1, 4]},
        grid_div_x=[lambda p: p["block_size_x"] * p["tile"]] if functions
        else ["block_size_x", "tile"],
        answer=[2 * x, None, None], quiet=True)
    assert len(results) == 4 and all("error" not in result for result in results), results
    assert all(result["time"] > 0 for result in results)
