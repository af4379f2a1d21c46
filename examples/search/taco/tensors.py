# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Synthetic sparse tensors in the layouts of TACO: some shapes of sparsity that real ones have."""

import ctypes
import random


def uniform(rows, columns, count):
    """Every place is as likely as any other."""
    for _ in range(rows):
        yield random.sample(range(columns), count // rows)


def banded(rows, columns, count):
    """Everything is near the diagonal, as in discretized equations."""
    width = min(columns, 4 * count // rows)
    for row in range(rows):
        first = min(max(0, row * columns // rows - width // 2), columns - width)
        yield (first + place for place in random.sample(range(width), count // rows))


def powerlaw(rows, columns, count):
    """A few rows and columns have much of everything, as in graphs of people."""
    weights = [(rank + 1) ** -0.7 for rank in range(rows)]
    random.shuffle(weights)
    scale = count / sum(weights)
    for weight in weights:
        length = min(columns // 2, max(1, round(weight * scale)))
        row = set()
        while len(row) < length:
            row.add(int(columns * random.random() ** 2))
        yield row


def blocked(rows, columns, count, block=8):
    """Dense blocks at random places, as finite elements make them."""
    blocks = max(1, count // (rows * block))
    for row in range(0, rows, block):
        places = random.sample(range(columns // block), blocks)
        for _ in range(min(block, rows - row)):
            yield (block * place + i for place in places for i in range(block))


PATTERNS = {"uniform": uniform, "banded": banded, "powerlaw": powerlaw, "blocked": blocked}


def coordinates(pattern, dimensions, count, seed=1):
    """About `count` places, sorted. All modes but the first are laid out as columns."""
    random.seed(seed)
    columns = 1
    for size in dimensions[1:]:
        columns *= size
    places = []
    for row, filled in enumerate(PATTERNS[pattern](dimensions[0], columns, count)):
        for column in sorted(filled):
            place = []
            for size in reversed(dimensions[1:]):
                column, index = divmod(column, size)
                place.append(index)
            places.append((row, *reversed(place)))
    return places


class Tensor(ctypes.Structure):
    """taco_tensor_t of the C code that TACO writes. Values are small whole numbers, so that sums
    are exact in whatever order they are added."""

    _fields_ = [
        ("order", ctypes.c_int32),
        ("dimensions", ctypes.POINTER(ctypes.c_int32)),
        ("csize", ctypes.c_int32),
        ("mode_ordering", ctypes.POINTER(ctypes.c_int32)),
        ("mode_types", ctypes.POINTER(ctypes.c_int)),
        ("indices", ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p))),
        ("values", ctypes.POINTER(ctypes.c_double)),
        ("values_size", ctypes.c_int32),
    ]

    def __init__(self, dimensions, levels, values):
        """levels: for each mode None (dense) or its (positions, coordinates)."""
        order = len(dimensions)
        modes = []
        for level in levels:
            arrays = [(ctypes.c_int32 * len(array))(*array) for array in level or ()]
            modes.append((ctypes.c_void_p * 2)(*map(ctypes.addressof, arrays)))
            modes[-1].arrays = arrays  # ctypes does not keep what is only pointed to
        self.owned = (values, modes)
        super().__init__(
            order,
            (ctypes.c_int32 * order)(*dimensions),
            ctypes.sizeof(ctypes.c_double),
            (ctypes.c_int32 * order)(*range(order)),
            (ctypes.c_int * order)(*(int(level is not None) for level in levels)),
            (ctypes.POINTER(ctypes.c_void_p) * order)(
                *(ctypes.cast(mode, ctypes.POINTER(ctypes.c_void_p)) for mode in modes)
            ),
            ctypes.cast(values, ctypes.POINTER(ctypes.c_double)),
            len(values),
        )


def dense(dimensions):
    size = 1
    for dimension in dimensions:
        size *= dimension
    values = (ctypes.c_double * size)(*(random.randint(-4, 4) for _ in range(size)))
    return Tensor(dimensions, [None] * len(dimensions), values)


def sparse(pattern, layout, dimensions, count):
    """A tensor with one level a mode: d (dense) or s (only what is there), as "ds" for CSR."""
    places = coordinates(pattern, dimensions, count)
    levels = []
    parents = [0] * len(places)  # the node of each place in the level above
    parent_count = 1
    for mode, kind in enumerate(layout):
        if kind == "d":
            levels.append(None)
            parents = [p * dimensions[mode] + place[mode] for p, place in zip(parents, places)]
            parent_count *= dimensions[mode]
            continue
        positions, crd, nodes = [0] * (parent_count + 1), [], []
        last = None
        for parent, place in zip(parents, places):
            if (parent, place[mode]) != last:
                last = (parent, place[mode])
                crd.append(place[mode])
                positions[parent + 1] += 1
            nodes.append(len(crd) - 1)
        for parent in range(parent_count):
            positions[parent + 1] += positions[parent]
        levels.append((positions, crd))
        parents, parent_count = nodes, len(crd)
    values = (ctypes.c_double * len(places))(*(random.randint(1, 4) for _ in places))
    return Tensor(dimensions, levels, values)
