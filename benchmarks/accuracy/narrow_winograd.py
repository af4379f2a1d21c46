# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Errors of 3x3 convolutions in bfloat16: direct sums, and Winograd's algorithm by tile sizes.

    python3 benchmarks/accuracy/narrow_winograd.py [--channels 64 256 512] [--seeds 3] [--result FILE]

Factors are stored in bfloat16, everything else is computed in float64: images and weights for direct sums;
transformed images (of rounded ones) and transformed weights for Winograd's algorithm (Lavin and Gray
2016). Errors are those of the convolution of what was not rounded: the largest over the largest
output, and the root mean square over that of the outputs. Needs numpy.
"""

import argparse
import pathlib
import statistics
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import result_file  # noqa: E402

OUTPUTS = 12  # along each axis; a multiple of all tiles
# Per tile: the matrices of the input's, the weights' and the output's transform.
TRANSFORMS = {
    2: ([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]],
        [[1, 0, 0], [1 / 2, 1 / 2, 1 / 2], [1 / 2, -1 / 2, 1 / 2], [0, 0, 1]],
        [[1, 1, 1, 0], [0, 1, -1, -1]]),
    4: ([[4, 0, -5, 0, 1, 0], [0, -4, -4, 1, 1, 0], [0, 4, -4, -1, 1, 0],
         [0, -2, -1, 2, 1, 0], [0, 2, -1, -2, 1, 0], [0, 4, 0, -5, 0, 1]],
        [[1 / 4, 0, 0], [-1 / 6, -1 / 6, -1 / 6], [-1 / 6, 1 / 6, -1 / 6],
         [1 / 24, 1 / 12, 1 / 6], [1 / 24, -1 / 12, 1 / 6], [0, 0, 1]],
        [[1, 1, 1, 1, 1, 0], [0, 1, -1, 2, -2, 0], [0, 1, 1, 4, 4, 0], [0, 1, -1, 8, -8, 1]]),
}


def rounded(x):
    """To the nearest bfloat16, ties to even."""
    bits = numpy.ascontiguousarray(x, numpy.float32).view(numpy.uint32)
    even = (bits + 0x7FFF + ((bits >> 16) & 1)) & numpy.uint32(0xFFFF0000)
    return even.astype(numpy.uint32).view(numpy.float32).astype(numpy.float64)


def direct(image, weights):
    return sum(numpy.einsum("kc,chw->khw", weights[:, :, i, j],
                            image[:, i:i + OUTPUTS, j:j + OUTPUTS])
               for i in range(3) for j in range(3))


def winograd(image, weights, tile):
    """Of a rounded image: transformed factors are rounded, sums are not."""
    of_input, of_weights, of_output = (numpy.array(matrix) for matrix in TRANSFORMS[tile])
    factors = rounded(numpy.einsum("ia,kcab,jb->kcij", of_weights, weights, of_weights))
    result = numpy.zeros((weights.shape[0], OUTPUTS, OUTPUTS))
    for row in range(0, OUTPUTS, tile):
        for column in range(0, OUTPUTS, tile):
            part = image[:, row:row + tile + 2, column:column + tile + 2]
            data = rounded(numpy.einsum("ia,cab,jb->cij", of_input, part, of_input))
            sums = numpy.einsum("kcij,cij->kij", factors, data)
            result[:, row:row + tile, column:column + tile] = numpy.einsum(
                "ia,kab,jb->kij", of_output, sums, of_output)
    return result


def errors(channels, seed):
    """Per algorithm: the largest and the root mean square error."""
    random = numpy.random.default_rng(seed)
    image = numpy.maximum(random.standard_normal((channels, OUTPUTS + 2, OUTPUTS + 2)), 0)
    weights = random.standard_normal((32, channels, 3, 3))
    exact = direct(image, weights)

    def error(actual):
        difference = actual - exact
        return (numpy.abs(difference).max() / numpy.abs(exact).max(),
                numpy.sqrt((difference**2).mean() / (exact**2).mean()))

    found = {"direct": error(direct(rounded(image), rounded(weights)))}
    for tile in TRANSFORMS:
        found[f"winograd-{tile}x{tile}"] = error(winograd(rounded(image), weights, tile))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--channels", type=int, nargs="+", default=[64, 256, 512])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--result", help="write the rows to this file")
    options = parser.parse_args()
    rows = []
    print(f"{'channels':>8} {'algorithm':14} {'largest':>8} {'rms':>8}")
    for channels in options.channels:
        runs = [errors(channels, seed) for seed in range(1, options.seeds + 1)]
        for algorithm in runs[0]:
            largest, rms = (statistics.median(run[algorithm][i] for run in runs) for i in (0, 1))
            print(f"{channels:8} {algorithm:14} {largest:8.1e} {rms:8.1e}")
            rows.append({"channels": channels, "algorithm": algorithm, "largest_error": largest,
                         "rms_error": rms})
    if options.result:
        result_file.write(options.result, "Errors of convolutions in bfloat16", rows)


if __name__ == "__main__":
    main()
