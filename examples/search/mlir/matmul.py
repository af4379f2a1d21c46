"""Compiles a matrix product with MLIR 19 as a schedule in the transform dialect says, checks and
times it. Gets one configuration a line, answers with its milliseconds.

    python3 matmul.py WORK_FOLDER [SIZE]
"""

import ctypes
import json
import pathlib
import random
import shutil
import subprocess
import sys
import time

LOWERING = """--transform-interpreter --test-transform-dialect-erase-schedule --canonicalize --cse
--loop-invariant-code-motion --convert-vector-to-scf --convert-linalg-to-loops --lower-affine
--convert-scf-to-cf --expand-strided-metadata --lower-affine --convert-vector-to-llvm
--convert-arith-to-llvm --finalize-memref-to-llvm --convert-index-to-llvm
--convert-func-to-llvm=use-bare-ptr-memref-call-conv --convert-cf-to-llvm
--reconcile-unrealized-casts""".split()

PAYLOAD = """
func.func @matmul(%a: {m}, %b: {m}, %c: {m}) {{
  linalg.matmul ins(%a, %b : {m}, {m}) outs(%c : {m})
  return
}}
"""

SCHEDULE = """
module attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @__transform_main(%module: !transform.any_op {{transform.readonly}}) {{
    %product = transform.structured.match ops{{["linalg.matmul"]}} in %module
        : (!transform.any_op) -> !transform.any_op
    %tile, %outer:3 = transform.structured.tile_using_for %product
        tile_sizes {tile} interchange = {order}
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    %micro, %inner:3 = transform.structured.tile_using_for %tile tile_sizes {micro}
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    {vectorize}
    {unroll}
    transform.yield
  }}
}}
"""

VECTORIZE = """transform.structured.vectorize %micro : !transform.any_op
    %function = transform.structured.match ops{["func.func"]} in %module
        : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %function {
      transform.apply_patterns.vector.reduction_to_contract
      transform.apply_patterns.vector.transfer_permutation_patterns
    } : !transform.any_op
    transform.apply_patterns to %function {
      transform.apply_patterns.vector.lower_contraction lowering_strategy = "outerproduct"
      transform.apply_patterns.vector.lower_outerproduct
    } : !transform.any_op
    transform.apply_patterns to %function {
      transform.apply_patterns.vector.lower_transpose lowering_strategy = "shuffle_1d"
      transform.apply_patterns.canonicalization
    } : !transform.any_op"""

UNROLL = """transform.loop.unroll %inner#2 {{factor = {unroll}}} : !transform.any_op"""


class Infeasible(Exception):
    pass


def program(name):
    """Debian installs versioned names; others may not."""
    for candidate in (name + "-19", "/usr/lib/llvm-19/bin/" + name, name):
        if shutil.which(candidate):
            return candidate
    sys.exit(f"{name} of LLVM 19 is not installed")


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        words = (done.stderr.strip().splitlines() or ["no message"])[0]
        raise Infeasible(f"{pathlib.Path(command[0]).name}: {words}")


def compile_product(configuration, work, size):
    """The path of a shared library with `matmul(a, b, c)`."""
    order = configuration["order"]
    tile = [configuration[name] for name in ("tile_m", "tile_n", "tile_k")]
    micro = [configuration[name] for name in ("micro_m", "micro_n", "micro_k")]
    schedule = SCHEDULE.format(
        tile=tile,
        order=order,
        micro=micro,
        vectorize=VECTORIZE if configuration["vectorize"] == "yes" else "",
        unroll=UNROLL.format(unroll=configuration["unroll"]) if configuration["unroll"] > 1 else "",
    )
    source = work / "matmul.mlir"
    source.write_text(PAYLOAD.format(m=f"memref<{size}x{size}xf32>") + schedule)
    lowered, code, better = work / "lowered.mlir", work / "matmul.ll", work / "matmul.bc"
    run([program("mlir-opt"), str(source), *LOWERING, "-o", str(lowered)])
    run([program("mlir-translate"), "--mlir-to-llvmir", str(lowered), "-o", str(code)])
    run([program("opt"), "-O2", str(code), "-o", str(better)])
    run([program("llc"), "-O2", "-mcpu=native", "-relocation-model=pic", "-filetype=obj",
         str(better), "-o", str(work / "matmul.o")])
    # A new name every time: the loader keeps what it has loaded.
    library = work / f"matmul-{time.monotonic_ns()}.so"
    run(["cc", "-shared", str(work / "matmul.o"), "-o", str(library)])
    return library


def measure(library, size):
    """Milliseconds of the fastest run, after a check of some of the product."""
    matmul = ctypes.CDLL(str(library)).matmul
    random.seed(size)
    array = ctypes.c_float * (size * size)
    a = array(*(random.randint(-4, 4) for _ in range(size * size)))
    b = array(*(random.randint(-4, 4) for _ in range(size * size)))
    c = array()
    matmul(a, b, c)
    for _ in range(200):
        i, j = random.randrange(size), random.randrange(size)
        if c[i * size + j] != sum(a[i * size + k] * b[k * size + j] for k in range(size)):
            raise Infeasible(f"wrong at {i}, {j}")
    fastest = float("inf")
    for _ in range(10):
        begun = time.perf_counter()
        matmul(a, b, c)
        fastest = min(fastest, time.perf_counter() - begun)
    return fastest * 1e3


def main():
    work = pathlib.Path(sys.argv[1])
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 256
    for line in sys.stdin:
        try:
            library = compile_product(json.loads(line), work, size)
            answer = {"milliseconds": measure(library, size)}
            library.unlink()
        except (Infeasible, subprocess.TimeoutExpired) as error:
            answer = {"feasible": False, "reason": str(error)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
