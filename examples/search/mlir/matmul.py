# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Compiles a matrix product with MLIR 19 as a schedule in the transform dialect says, checks and
times it. Gets one configuration a line, answers with its milliseconds.

    python3 matmul.py WORK_FOLDER [SIZE]

WORK_FOLDER keeps what was compiled.
"""

import ctypes
import pathlib
import random
import sys

import compiler

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
        tile_sizes {tile} interchange = {order} : {handles}
    %micro, %inner:3 = transform.structured.tile_using_for %tile tile_sizes {micro} : {handles}
    {vectorize}
    {unroll}
    transform.yield
  }}
}}
"""

VECTORIZE = "transform.structured.vectorize %micro : !transform.any_op" + compiler.LOWER_VECTORS
UNROLL = """transform.loop.unroll %inner#2 {{factor = {unroll}}} : !transform.any_op"""
PASSES = ["--canonicalize", "--cse", "--loop-invariant-code-motion"]


def source(configuration, size):
    unroll = configuration["unroll"]
    schedule = SCHEDULE.format(
        tile=[configuration[name] for name in ("tile_m", "tile_n", "tile_k")],
        order=configuration["order"],
        micro=[configuration[name] for name in ("micro_m", "micro_n", "micro_k")],
        handles=compiler.handles(4),
        vectorize=VECTORIZE if configuration["vectorize"] == "yes" else "",
        unroll=UNROLL.format(unroll=unroll) if unroll > 1 else "",
    )
    return PAYLOAD.format(m=f"memref<{size}x{size}xf32>") + schedule


class Product:
    """A matrix product with whole numbers: it is exact."""

    def __init__(self, size):
        random.seed(size)
        self.size = size
        self.a = compiler.array([random.randint(-4, 4) for _ in range(size * size)])
        self.b = compiler.array([random.randint(-4, 4) for _ in range(size * size)])

    def measure(self, library):
        """Milliseconds of the fastest run, after a check of some of the product."""
        matmul = ctypes.CDLL(str(library)).matmul
        a, b, size = self.a, self.b, self.size
        c = (ctypes.c_float * (size * size))()
        matmul(a, b, c)
        for _ in range(200):
            i, j = random.randrange(size), random.randrange(size)
            if c[i * size + j] != sum(a[i * size + k] * b[k * size + j] for k in range(size)):
                raise compiler.Infeasible(f"wrong at {i}, {j}")
        return compiler.fastest(lambda: matmul(a, b, c))


def main():
    work = pathlib.Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 256
    compiler.serve(
        lambda configuration: compiler.compile_library(source(configuration, size), PASSES, work),
        Product(size).measure,
    )


if __name__ == "__main__":
    main()
