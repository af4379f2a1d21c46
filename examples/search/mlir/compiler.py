# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Compiles what MLIR 19's transform dialect makes of a program, and times it: what the examples of
matrix product and convolution share.

The environment may say more:

    PREPARE  if set, programs are compiled but not run, and 0 is answered
"""

import ctypes
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

LOWERING = """--convert-vector-to-scf --convert-linalg-to-loops --lower-affine --convert-scf-to-cf
--expand-strided-metadata --lower-affine --convert-vector-to-llvm --convert-arith-to-llvm
--finalize-memref-to-llvm --convert-index-to-llvm
--convert-func-to-llvm=use-bare-ptr-memref-call-conv --convert-cf-to-llvm
--reconcile-unrealized-casts""".split()

# The end of a schedule that has vectorized the innermost tile.
LOWER_VECTORS = """
    %function = transform.structured.match ops{["func.func"]} in %module
        : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %function {
      transform.apply_patterns.vector.reduction_to_contract
      transform.apply_patterns.vector.transfer_permutation_patterns
      transform.apply_patterns.vector.cast_away_vector_leading_one_dim
    } : !transform.any_op
    transform.apply_patterns to %function {
      transform.apply_patterns.vector.lower_contraction lowering_strategy = "outerproduct"
      transform.apply_patterns.vector.lower_outerproduct
    } : !transform.any_op
    transform.apply_patterns to %function {
      transform.apply_patterns.vector.lower_transpose lowering_strategy = "shuffle_1d"
      transform.apply_patterns.canonicalization
    } : !transform.any_op"""


class Infeasible(Exception):
    pass


def handles(count):
    """The type of a transform operation that gives so many handles."""
    return "(!transform.any_op) -> (" + ", ".join(["!transform.any_op"] * count) + ")"


def program(name):
    """Debian installs versioned names; others may not."""
    for candidate in (name + "-19", "/usr/lib/llvm-19/bin/" + name, name):
        if shutil.which(candidate):
            return candidate
    sys.exit(f"{name} of LLVM 19 is not installed")


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        words = (done.stderr.strip().splitlines() or ["no message"])[0].split("rror: ")[-1]
        raise Infeasible(f"{pathlib.Path(command[0]).name}: {words}")


def compile_library(source, passes, folder):
    """The path of a shared library; what was built before is not built again."""
    key = hashlib.sha1((source + " ".join(passes)).encode()).hexdigest()[:16]
    library, failure = folder / (key + ".so"), folder / (key + ".failed")
    if failure.exists():
        raise Infeasible(failure.read_text())
    if library.exists():
        return library
    base = folder / f"{key}-{os.getpid()}"
    files = [base.with_suffix(end) for end in (".mlir", ".lowered", ".ll", ".bc", ".o")]
    written, lowered, code, better, machine = map(str, files)
    files[0].write_text(source)
    try:
        run([program("mlir-opt"), written, "--transform-interpreter",
             "--test-transform-dialect-erase-schedule", *passes, *LOWERING, "-o", lowered])
        run([program("mlir-translate"), "--mlir-to-llvmir", lowered, "-o", code])
        run([program("opt"), "-O2", code, "-o", better])
        run([program("llc"), "-O2", "-mcpu=native", "-relocation-model=pic", "-filetype=obj",
             better, "-o", machine])
        run(["cc", "-shared", machine, "-o", str(base)])
        base.rename(library)
    except (Infeasible, subprocess.TimeoutExpired) as error:
        failure.write_text(str(error))
        raise
    finally:
        for file in files:
            file.unlink(missing_ok=True)
    return library


def fastest(function, runs=10, enough=0.3):
    """Milliseconds of the fastest of some runs."""
    best, begun = float("inf"), time.perf_counter()
    for _ in range(runs):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
        if time.perf_counter() - begun > enough:
            break
    return best * 1e3


def array(values):
    return (ctypes.c_float * len(values))(*values)


def serve(build, measure):
    """Answers one configuration a line. build(configuration) gives a library's path, measure(path)
    milliseconds."""
    for line in sys.stdin:
        try:
            library = build(json.loads(line))
            answer = {"milliseconds": 0 if "PREPARE" in os.environ else measure(library)}
        except (Infeasible, subprocess.TimeoutExpired) as error:
            answer = {"feasible": False, "reason": str(error)}
        print(json.dumps(answer), flush=True)
