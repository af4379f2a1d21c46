"""Latency of tuned models beside onnxruntime's, in turns, and the difference of their outputs.

    build/venv/bin/python benchmarks/peers/onnxruntime/compare.py --threads 2 \\
        --bayloom build/release/bin/bayloom resnet18.onnx mobilenet_v2.onnx

Expects MODEL.db beside every model, written by 'bayloom tune'. Each turn times both sides for
--seconds; the ratio is onnxruntime's time over Bayloom's, turn by turn: above 1 Bayloom is
faster. Prints the median ratio with its extremes.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import onnx.numpy_helper
import onnxruntime

from latency import random_inputs


def open_session(model, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Idle workers must not take a core from the other side's turn.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def peer_latency(session, inputs, seconds):
    for _ in range(3):
        session.run(None, inputs)
    times, end = [], time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        session.run(None, inputs)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def bayloom(arguments):
    result = subprocess.run(arguments, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"compare.py: {' '.join(arguments)}\n{result.stderr}")
    return json.loads(result.stdout)


def save_tensors(folder, kind, arrays):
    for i, array in enumerate(arrays):
        tensor = onnx.numpy_helper.from_array(numpy.ascontiguousarray(array))
        (folder / f"{kind}_{i}.pb").write_bytes(tensor.SerializeToString())


def check_outputs(program, model, session, inputs, threads):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        save_tensors(folder, "input", inputs.values())
        save_tensors(folder, "output", session.run(None, inputs))
        bayloom([program, "run", model, "--threads", str(threads), "--data", name, "--json"])


def compare(model, arguments):
    session = open_session(model, arguments.threads)
    inputs = random_inputs(session, seed=0)
    check_outputs(arguments.bayloom, model, session, inputs, arguments.threads)
    ours, peers = [], []
    for _ in range(arguments.turns):
        bench = bayloom([arguments.bayloom, "bench", model, "--threads", str(arguments.threads),
                         "--time", f"{arguments.seconds}s", "--json"])
        ours.append(bench["latency"]["seconds"])
        peers.append(peer_latency(session, inputs, arguments.seconds))
    ratios = sorted(p / o for p, o in zip(peers, ours))
    print(f"{pathlib.Path(model).stem:<16}{arguments.threads:>4}{statistics.median(ours) * 1e3:>12.2f}"
          f"{statistics.median(peers) * 1e3:>14.2f}{statistics.median(ratios):>8.2f}"
          f"   {ratios[0]:.2f} .. {ratios[-1]:.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+")
    parser.add_argument("--bayloom", default="build/release/bin/bayloom")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=2)
    arguments = parser.parse_args()
    print(f"onnxruntime {onnxruntime.__version__}; outputs agree within 1e-4 of the largest value")
    print(f"{'network':<16}{'thr':>4}{'Bayloom ms':>12}{'onnxrt ms':>14}{'ratio':>8}   of turns")
    for model in arguments.models:
        compare(model, arguments)


if __name__ == "__main__":
    main()
