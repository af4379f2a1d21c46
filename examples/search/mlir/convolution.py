# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Compiles a convolution with MLIR 19 as a schedule in the transform dialect says, checks and times
it. Gets one configuration a line, answers with its milliseconds.

    python3 convolution.py WORK_FOLDER

WORK_FOLDER keeps what was compiled.
"""

import ctypes
import pathlib
import random
import sys

import compiler

SIZE, IN, OUT, WINDOW = 28, 64, 64, 3  # 28 x 28 x 64, 3 x 3
PADDED = SIZE + WINDOW - 1

# On tensors, not on buffers: only there MLIR can make a row of a convolution one-dimensional, which
# is what it can vectorize.
PAYLOAD = f"""
!input = tensor<1x{PADDED}x{PADDED}x{IN}xf32>
!filter = tensor<{WINDOW}x{WINDOW}x{IN}x{OUT}xf32>
!output = tensor<1x{SIZE}x{SIZE}x{OUT}xf32>
func.func @convolution(%input: !input, %filter: !filter, %output: !output) -> !output {{
  %result = linalg.conv_2d_nhwc_hwcf
      {{dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}}
      ins(%input, %filter : !input, !filter) outs(%output : !output) -> !output
  return %result : !output
}}
"""

# Of the seven loops (image, y, x, filter, window y, window x, channel) four are tiled for caches, in
# any order, and all but the first for registers, where the three that reduce are in any order.
SCHEDULE = """
module attributes {{transform.with_named_sequence}} {{
  transform.named_sequence @__transform_main(%module: !transform.any_op {{transform.readonly}}) {{
    %convolution = transform.structured.match ops{{["linalg.conv_2d_nhwc_hwcf"]}} in %module
        : (!transform.any_op) -> !transform.any_op
    %tile, %outer:4 = transform.structured.tile_using_for %convolution
        tile_sizes {tile} interchange = {order} : {five}
    %micro, %inner:6 = transform.structured.tile_using_for %tile
        tile_sizes {micro} interchange = {inner} : {seven}
    %row = transform.structured.decompose %micro : {one}
    {vectorize}
    {unroll}
    transform.yield
  }}
}}
"""

VECTORIZE = "transform.structured.vectorize %row : !transform.any_op" + compiler.LOWER_VECTORS
UNROLL = """transform.loop.unroll %inner#5 {{factor = {unroll}}} : !transform.any_op"""
BUFFERIZE = """--one-shot-bufferize=bufferize-function-boundaries=1
function-boundary-type-conversion=identity-layout-map"""
# Copies of a tile to itself go away step by step.
PASSES = [BUFFERIZE.replace("\n", " "), "--drop-equivalent-buffer-results",
          *["--cse", "--canonicalize"] * 4, "--loop-invariant-code-motion"]


def source(configuration):
    tile_y, tile_x, tile_f, tile_c = (configuration["tile_" + axis] for axis in "yxfc")
    micro_x, micro_f, micro_c = (configuration["micro_" + axis] for axis in "xfc")
    unroll = configuration["unroll"]
    schedule = SCHEDULE.format(
        tile=[0, tile_y, tile_x, tile_f, 0, 0, tile_c],
        order=[0, *((1, 2, 3, 6)[item] for item in configuration["order"]), 4, 5],
        micro=[0, 1, micro_x, micro_f, 1, 1, micro_c],
        inner=[0, 1, 2, 3, *(4 + item for item in configuration["inner"])],
        one=compiler.handles(1),
        five=compiler.handles(5),
        seven=compiler.handles(7),
        vectorize=VECTORIZE if configuration["vectorize"] == "yes" else "",
        unroll=UNROLL.format(unroll=unroll) if unroll > 1 else "",
    )
    return PAYLOAD + schedule


class Convolution:
    """A convolution with whole numbers: it is exact."""

    def __init__(self):
        random.seed(1)
        self.input = compiler.array([random.randint(-4, 4) for _ in range(PADDED * PADDED * IN)])
        self.filter = compiler.array([random.randint(-4, 4) for _ in range(WINDOW**2 * IN * OUT)])

    def expected(self, y, x, f):
        total = 0
        for dy in range(WINDOW):
            for dx in range(WINDOW):
                place = ((y + dy) * PADDED + x + dx) * IN
                weight = (dy * WINDOW + dx) * IN * OUT + f
                total += sum(self.input[place + c] * self.filter[weight + c * OUT]
                             for c in range(IN))
        return total

    def measure(self, library):
        """Milliseconds of the fastest run, after a check of some of the output."""
        convolution = ctypes.CDLL(str(library)).convolution
        output = (ctypes.c_float * (SIZE * SIZE * OUT))()
        convolution(self.input, self.filter, output)
        for _ in range(60):
            y, x, f = random.randrange(SIZE), random.randrange(SIZE), random.randrange(OUT)
            if output[(y * SIZE + x) * OUT + f] != self.expected(y, x, f):
                raise compiler.Infeasible(f"wrong at {y}, {x}, {f}")
        return compiler.fastest(lambda: convolution(self.input, self.filter, output))


def main():
    work = pathlib.Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    compiler.serve(
        lambda configuration: compiler.compile_library(source(configuration), PASSES, work),
        Convolution().measure,
    )


if __name__ == "__main__":
    main()
