#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Tunes kernels by Bayloom and by Kernel Tuner's strategies for the same time, with the same call.

    PYTHONPATH=build/release/python BAYLOOM_PROGRAM=build/release/bin/bayloom \\
        python benchmarks/kernels/compare.py --time 60 --seeds 1 2 --out compare.json

Needs NumPy, kernel-tuner and, for the kernels of OpenCL, pyopencl. At the end the winners of each kernel
are timed in turns by Bayloom: what counts are the ratios of these times.
"""

import argparse
import contextlib
import io
import json
import os
import pathlib
import statistics
import time

import numpy

import bayloom
from bayloom.kernel_source import KernelOptions, KernelProgram

HERE = pathlib.Path(__file__).parent
THREADS = sorted({1, 2, os.cpu_count() or 1})
FLAGS = ["-O3", "-march=native", "-ffast-math", "-fopenmp"]


def matmul():
    n = 384
    a, b = (numpy.random.default_rng(seed).standard_normal((n, n)).astype(numpy.float32)
            for seed in (1, 2))
    return {"kernel_name": "matmul", "kernel_source": str(HERE / "matmul.cc"), "problem_size": n,
            "arguments": [numpy.zeros_like(a), a, b, numpy.int32(n)],
            "tune_params": {"tile_i": [4, 8, 16, 32, 64, 128], "tile_j": [32, 64, 128, 192, 384],
                            "tile_k": [4, 8, 16, 32, 64, 128, 384], "rows": [1, 2, 4],
                            "nthreads": THREADS},
            "restrictions": ["tile_i % rows == 0"], "answer": [a @ b, None, None, None],
            "atol": 1e-2, "compiler_options": FLAGS, "lang": "C"}


def stencil():
    n = 1026
    x = numpy.random.default_rng(1).standard_normal((n, n)).astype(numpy.float32)
    return {"kernel_name": "stencil", "kernel_source": str(HERE / "stencil.cc"),
            "problem_size": n,
            "arguments": [numpy.zeros_like(x), x, numpy.zeros_like(x), numpy.int32(n)],
            "tune_params": {"block_i": [1, 4, 16, 64, 256, 1024],
                            "block_j": [16, 32, 64, 128, 256, 512, 1024],
                            "width": [4, 8, 16, 32], "nthreads": THREADS},
            "compiler_options": FLAGS, "lang": "C"}


def transpose():
    n = 2048
    x = numpy.random.default_rng(1).standard_normal((n, n)).astype(numpy.float32)
    return {"kernel_name": "transpose", "kernel_source": str(HERE / "transpose.cc"),
            "problem_size": n, "arguments": [numpy.zeros_like(x), x, numpy.int32(n)],
            "tune_params": {"block_i": [8, 16, 32, 64, 128, 256, 2048],
                            "block_j": [8, 16, 32, 64, 128, 256, 2048],
                            "inner": [4, 8, 16, 32], "buffered": [0, 1], "nthreads": THREADS},
            "restrictions": ["block_i >= inner", "block_j >= inner"],
            "answer": [numpy.ascontiguousarray(x.T), None, None], "compiler_options": FLAGS,
            "lang": "C"}


def convolution():
    width, height, edge = 1024, 1024, 7
    image = numpy.random.default_rng(1).standard_normal(
        (height + edge - 1, width + edge - 1)).astype(numpy.float32)
    weights = numpy.random.default_rng(2).standard_normal((edge, edge)).astype(numpy.float32)
    windows = numpy.lib.stride_tricks.sliding_window_view(image, (edge, edge))
    right = numpy.einsum("yxij,ij->yx", windows, weights).astype(numpy.float32)
    return {"kernel_name": "convolution", "kernel_source": str(HERE / "convolution.cl"),
            "problem_size": (width, height),
            "arguments": [numpy.zeros_like(right), image, weights, numpy.int32(width),
                          numpy.int32(height)],
            "tune_params": {"block_size_x": [1, 2, 4, 8, 16, 32, 64, 128],
                            "block_size_y": [1, 2, 4, 8, 16], "tile_size_x": [1, 2, 4, 8],
                            "tile_size_y": [1, 2, 4, 8], "use_local": [0, 1], "unroll": [0, 1]},
            "restrictions": ["block_size_x * block_size_y <= 512"],
            "grid_div_x": ["block_size_x", "tile_size_x"],
            "grid_div_y": ["block_size_y", "tile_size_y"],
            "answer": [right, None, None, None, None], "atol": 1e-2, "lang": "OpenCL"}


CASES = {case.__name__: case for case in (matmul, stencil, transpose, convolution)}


def run_bayloom(case, seconds, seed):
    results, env = bayloom.tune_kernel(**case, strategy="bayesian", seed=seed, quiet=True,
                                       strategy_options={"time_limit": seconds})
    return env["best_config"], len(results)


def run_kernel_tuner(strategy):
    def run(case, seconds, seed):
        import kernel_tuner  # pylint: disable=import-outside-toplevel
        numpy.random.seed(seed)
        options = {"time_limit": seconds}
        if strategy == "random_sample":
            options["fraction"] = 1
        with contextlib.redirect_stdout(io.StringIO()):
            results, env = kernel_tuner.tune_kernel(**case, strategy=strategy, quiet=True,
                                                    strategy_options=options, seed=seed)
        return env["best_config"], len(results)
    return run


def times_in_turns(case, configurations, rounds):
    """Milliseconds of each, taken once in each of several rounds."""
    names = list(case["tune_params"])
    kept = {key: value for key, value in case.items() if key != "restrictions"}
    times = [[] for _ in configurations]
    with KernelProgram(KernelOptions(**kept)) as program:
        for _ in range(rounds):
            for place, configuration in enumerate(configurations):
                answer = program({name: configuration[name] for name in names})
                times[place].append(answer["milliseconds"])
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernels", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--strategies", nargs="*",
                        default=["random_sample", "genetic_algorithm", "greedy_ils"])
    parser.add_argument("--time", type=float, default=60, help="seconds of each tuning")
    parser.add_argument("--seeds", type=int, nargs="*", default=[1])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--out", help="write the figures as JSON")
    arguments = parser.parse_args()
    tuners = {"bayloom": run_bayloom}
    tuners.update({name: run_kernel_tuner(name) for name in arguments.strategies})
    figures = []
    for name in arguments.kernels:
        for seed in arguments.seeds:
            found = {}
            for tuner, run in tuners.items():
                begun = time.monotonic()
                best, count = run(CASES[name](), arguments.time, seed)
                found[tuner] = (best, count, time.monotonic() - begun)
            times = times_in_turns(CASES[name](), [best for best, _, _ in found.values()],
                                   arguments.rounds)
            own = times[0]
            for (tuner, (best, count, seconds)), each in zip(found.items(), times):
                ratio = statistics.median(a / b for a, b in zip(each, own))
                figures.append({"kernel": name, "seed": seed, "tuner": tuner, "trials": count,
                                "seconds": seconds, "milliseconds": statistics.median(each),
                                "over_bayloom": ratio, "best": best})
                print(f"{name:12} seed {seed} {tuner:18} {count:5} trials in {seconds:5.1f} s  "
                      f"{statistics.median(each):8.4f} ms  {ratio:.3f} of Bayloom's", flush=True)
    if arguments.out:
        with open(arguments.out, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1, default=lambda value: value.item())


if __name__ == "__main__":
    main()
