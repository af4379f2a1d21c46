# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Problems of several objectives, all minimized: five standard ones and two of tuning.

A problem has `parameters`, a dict of (low, high) for reals and of lists for the others, a
`reference` point for hypervolumes, and `evaluate(params)`, which gives the objectives or None where
a configuration does not work. `best` is the hypervolume of the true front, None where unknown.
"""

import gzip
import itertools
import json
import math
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Problem:
    def __init__(self, name, parameters, reference, evaluate, best=None):
        self.name, self.parameters, self.reference = name, parameters, reference
        self.evaluate, self.best = evaluate, best


def _reals(count, low=0.0, high=1.0):
    return {f"x{i}": (low, high) for i in range(count)}


def _zdt(shape):
    def evaluate(params):
        x = list(params.values())
        g = 1 + 9 * sum(x[1:]) / (len(x) - 1)
        return x[0], g * (1 - shape(x[0] / g))
    return evaluate


def _dtlz2(params):
    x = list(params.values())
    g = sum((v - 0.5) ** 2 for v in x[1:])
    return (1 + g) * math.cos(x[0] * math.pi / 2), (1 + g) * math.sin(x[0] * math.pi / 2)


def _branin_currin(params):
    a, b = params["x0"], params["x1"]
    u, v = 15 * a - 5, 15 * b
    branin = ((v - 5.1 / (4 * math.pi ** 2) * u ** 2 + 5 / math.pi * u - 6) ** 2
              + 10 * (1 - 1 / (8 * math.pi)) * math.cos(u) + 10)
    decay = 1 - math.exp(-1 / (2 * b)) if b > 0 else 1
    currin = (decay * (2300 * a ** 3 + 1900 * a ** 2 + 2092 * a + 60)
              / (100 * a ** 3 + 500 * a ** 2 + 4 * a + 20))
    return branin, currin


def _vehicle_safety(params):
    """Mass, acceleration and intrusion in a crash (Liao et al. 2008; Tanabe and Ishibuchi 2020)."""
    a, b, c, d, e = params.values()
    mass = 1640.2823 + 2.3573285 * a + 2.3220035 * b + 4.5688768 * c + 7.7213633 * d + 4.4559504 * e
    acceleration = (6.5856 + 1.15 * a - 1.0427 * b + 0.9738 * c + 0.8364 * d - 0.3695 * a * d
                    + 0.0861 * a * e + 0.3628 * b * d - 0.1106 * a ** 2 - 0.3437 * c ** 2
                    + 0.1764 * d ** 2)
    intrusion = (-0.0551 + 0.0181 * a + 0.1024 * b + 0.0421 * c - 0.0073 * a * b + 0.024 * b * c
                 - 0.0118 * b * d - 0.0204 * c * d - 0.008 * c * e - 0.0241 * b ** 2
                 + 0.0109 * d ** 2)
    return mass, acceleration, intrusion


def _convolution():
    """A recorded space of a GPU kernel: its time, and the results that a block has in registers."""
    path = ROOT / "examples/search/recorded/convolution_A4000_T4.json.gz"
    names = ["block_size_x", "block_size_y", "tile_size_x", "tile_size_y", "read_only",
             "use_padding", "use_shmem"]
    known, values = {}, {name: set() for name in names}
    for result in json.loads(gzip.decompress(path.read_bytes()))["results"]:
        key = tuple(result["configuration"][name] for name in names)
        for name, value in zip(names, key):
            values[name].add(value)
        if result["invalidity"] == "correct":
            known[key] = (result["measurements"][0]["value"], float(math.prod(key[:4])))

    def evaluate(params):
        return known.get(tuple(params[name] for name in names))

    reference = (6.0, 4096.0)
    return Problem("convolution", {name: sorted(of) for name, of in values.items()}, reference,
                   evaluate, best=_area(known.values(), reference))


def _mapping():
    """A matrix product on an array of 16 by 16: energy and cycles by the analytical model.

    Tiles are powers of two, first those that are spread over the array, then from the registers
    outwards, as long as something is left; orders are those of three of the levels.
    """
    dims, levels = "IJK", ["Registers", "AccumulationBuffer", "Scratchpad"]
    orders = ["".join(order) for order in itertools.permutations(dims)]
    parameters = {f"{dim}_{level}": list(range(3 if level == "Registers" else 6))
                  for level in levels for dim in dims}
    parameters |= {f"order_{level}": orders for level in levels}
    spatial = {"Scratchpad": 3, "AccumulationBuffer": 2}  # along the rows, and along the columns
    for level in spatial:
        parameters |= {f"spread_{level}": list(dims), f"power_{level}": list(range(5))}
    program = ROOT / "build/release/bin/bayloom"
    known = {}

    def text_of(params):
        left, lines, spread = dict.fromkeys(dims, 6), [], {}
        for level, split in spatial.items():
            chosen = params[f"spread_{level}"]
            power = min(left[chosen], params[f"power_{level}"])
            left[chosen] -= power
            factors = " ".join(f"{dim}={2 ** power if dim == chosen else 1}" for dim in dims)
            spread[level] = (f"  - {{target: {level}, type: spatial, factors: {factors}, "
                             f"permutation: {dims.replace(chosen, '')}{chosen}, split: {split}}}")
        for level in [*levels, "DRAM"]:
            powers = {dim: left[dim] if level == "DRAM" else
                      min(left[dim], params[f"{dim}_{level}"]) for dim in dims}
            left = {dim: left[dim] - powers[dim] for dim in dims}
            factors = " ".join(f"{dim}={2 ** powers[dim]}" for dim in dims)
            order = params.get(f"order_{level}", dims)
            lines.append(f"  - {{target: {level}, type: temporal, factors: {factors}, "
                         f"permutation: {order}}}")
            lines += [spread[level]] if level in spread else []
        return "mapping:\n" + "\n".join(reversed(lines)) + "\n"

    def evaluate(params):
        text = text_of(params)
        if text not in known:
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
                file.write(text)
                file.flush()
                ran = subprocess.run(
                    [program, "map", "--op", "matmul:64,64,64", "--arch", "gemmini16x16",
                     "--mapping",
                     file.name, "--json"], capture_output=True, text=True, check=False)
            if ran.returncode != 0 and not re.search("fit|words|capacity", ran.stderr):
                raise RuntimeError(ran.stderr)
            model = json.loads(ran.stdout)["model"] if ran.returncode == 0 else None
            known[text] = model and (model["pj_per_mac"], float(model["cycles"]))
        return known[text]

    return Problem("mapping", parameters, (60.0, 65536.0), evaluate)


def _area(points, reference):
    """The hypervolume of two objectives."""
    area, height = 0.0, reference[1]
    for x, y in sorted(points):
        if x < reference[0] and y < height:
            area += (reference[0] - x) * (height - y)
            height = y
    return area


def hypervolume(points, reference):
    """Of two or three objectives."""
    inside = [p for p in points if all(v < r for v, r in zip(p, reference))]
    if len(reference) == 2:
        return _area(inside, reference)
    volume, inside = 0.0, sorted(inside, key=lambda p: p[2])
    for i, point in enumerate(inside):
        upper = inside[i + 1][2] if i + 1 < len(inside) else reference[2]
        volume += (upper - point[2]) * _area([p[:2] for p in inside[:i + 1]], reference[:2])
    return volume


def problems():
    """All of them, by name."""
    made = [
        Problem("zdt1", _reals(6), (11, 11), _zdt(math.sqrt), 121 - 1 / 3),
        Problem("zdt2", _reals(6), (11, 11), _zdt(lambda r: r ** 2), 121 - 2 / 3),
        Problem("dtlz2", _reals(6), (1.1, 1.1), _dtlz2, 1.21 - math.pi / 4),
        Problem("branin-currin", _reals(2), (18, 6), _branin_currin, 59.36011874867746),
        Problem("vehicle-safety", _reals(5, 1.0, 3.0), (1864.72022, 11.81993945, 0.2903999384),
                _vehicle_safety, 246.81607081187002),
        _convolution(),
        _mapping(),
    ]
    return {problem.name: problem for problem in made}
