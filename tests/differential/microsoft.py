# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Operators of com.microsoft in the table, of which only onnxruntime is a judge."""

import numpy as np

import judges
from drawing import Node
from operators import operators, scale_and_zero

F = np.float32


def fused(d, op, inputs, attributes=None, outputs=1):
    if judges.onnxruntime is None or d.opset < 13:
        raise judges.Undrawable
    return Node(op, inputs, attributes or {}, outputs=outputs, domain="com.microsoft")


def floats(d, *shape, constant=False):
    return d.new(d.array(F, shape, -1, 1), constant=constant)


@operators("BiasGelu", "FastGelu", "QuickGelu")
def activation(d, op):
    x = floats(d, *d.shape(2, 3, 1))
    bias = floats(d, x.array.shape[-1], constant=None)
    return fused(d, op, [x] if op == "QuickGelu" else [x, bias if op == "BiasGelu" or d.chance(0.5) else None])


@operators("SkipLayerNormalization", "SkipSimplifiedLayerNormalization")
def skip_normalization(d, op):
    shape = (d.integer(1, 2), d.integer(1, 3), d.integer(2, 8))
    x, skip, gamma = floats(d, *shape), floats(d, *shape), floats(d, shape[2], constant=None)
    beta = [floats(d, shape[2]) if d.chance(0.5) else None] if op == "SkipLayerNormalization" else []
    bias = floats(d, shape[2]) if d.chance(0.5) else None
    return fused(d, op, [x, skip, gamma, *beta, bias], {"epsilon": 0.001})


@operators("FusedMatMul")
def fused_matmul(d, op):
    batch, (m, k, n) = d.shape(0, 1, 1), (d.extent(1) for _ in range(3))
    ta, tb = d.integer(0, 1), d.integer(0, 1)
    a, b = floats(d, *batch, *((k, m) if ta else (m, k))), floats(d, *batch, *((n, k) if tb else (k, n)), constant=None)
    return fused(d, op, [a, b], {"transA": ta, "transB": tb, "alpha": d.one_of([None, 0.5])})


@operators("CropAndResize")
def crop_and_resize(d, op):
    x = floats(d, 2, 1, d.integer(2, 6), d.integer(2, 6))
    corners = d.random.integers(-1, 5, (3, 2)) / 4
    regions = np.concatenate([corners, corners + d.random.integers(1, 5, (3, 2)) / 4], 1).astype(F)
    return fused(d, op, [x, d.new(regions), d.new(d.random.integers(0, 2, 3).astype(np.int32)),
                         d.new(np.array([d.integer(1, 5), d.integer(1, 5)], np.int32), constant=True)],
                 {"mode": d.one_of([None, "nearest"]), "extrapolation_value": d.one_of([None, 9.0])})


@operators("QLinearAdd", "QLinearMul")
def quantized_pair(d, op):
    kind, shape = d.one_of([np.int8, np.uint8]), d.shape(1, 3, 1)
    a = d.new(d.array(kind, shape, -60, 60), constant=False)
    b = d.new(d.array(kind, d.broadcastable(shape), -60, 60))
    parameters = [scale_and_zero(d, None, kind, None) for _ in range(3)]
    scale = d.known(np.asarray(np.pi, F))  # no ties: onnxruntime adds the zero point before it rounds
    return fused(d, op, [a, *parameters[0], b, *parameters[1], scale, parameters[2][1]])


@operators("MatMulIntegerToFloat")
def integer_to_float(d, op):
    m, k, n = d.extent(1), d.extent(1), d.extent(1)
    a = d.new(d.array(np.uint8, (m, k), 0, 200), constant=False)
    b = d.new(d.array(d.one_of([np.int8, np.uint8]), (k, n), -60, 60))
    zeros = [d.known(np.asarray(7, v.array.dtype)) if d.chance(0.6) else None for v in (a, b)]
    bias = floats(d, n) if d.chance(0.5) else None
    return fused(d, op, [a, b, d.known(np.asarray(0.5, F)), d.known(np.asarray(0.25, F)), *zeros, bias])


@operators("MultiHeadAttention")
def multi_head_attention(d, op):
    batch, heads, size, queries, keys = (d.integer(1, 2), d.integer(1, 3), d.integer(1, 4), d.integer(1, 3), d.integer(1, 5))
    width = heads * size
    q, k, v = floats(d, batch, queries, width), floats(d, batch, keys, width), floats(d, batch, keys, width)
    bias = floats(d, 3 * width, constant=None) if d.chance(0.4) else None
    score_bias = floats(d, 1, heads, queries, keys) if d.chance(0.4) else None
    return fused(d, op, [q, k, v, bias, None, score_bias], {"num_heads": heads, "scale": d.one_of([None, 0.5])})


@operators("GroupQueryAttention")
def group_query_attention(d, op):
    batch, shared, group, size = d.integer(1, 3), d.integer(1, 2), d.integer(1, 3), 8
    heads, past = shared * group, d.one_of([0, 0, 1, 3, 6])
    tokens = 1 if past else d.integer(1, 4)
    lengths = [past + tokens - 1] * batch
    q, k, v = (floats(d, batch, tokens, n * size) for n in (heads, shared, shared))
    cache = [floats(d, batch, shared, past, size) if past else None for _ in range(2)]
    known = d.chance(0.6)
    lengths = d.new(np.array(lengths, np.int32), constant=known)
    total = d.new(np.asarray(past + tokens, np.int32), constant=True)
    rotary = d.chance(0.4)
    angles = d.random.uniform(0, 3, (16, size // 2)).astype(F)
    caches = [d.new(f(angles), constant=True) for f in (np.cos, np.sin)] if rotary else [None, None]
    return fused(d, op, [q, k, v, *cache, lengths, total, *caches],
                 {"num_heads": heads, "kv_num_heads": shared, "do_rotary": 1 if rotary else None,
                  "rotary_interleaved": d.one_of([None, 1]) if rotary else None, "softcap": d.one_of([None, None, 2.0]),
                  "local_window_size": d.one_of([None, None, 2])}, outputs=3)


@operators("MatMulNBits")
def few_bits(d, op):
    m, k, n, block = d.integer(1, 3), d.integer(1, 3) * 16, d.integer(1, 4), 16
    blocks = k // block
    x = floats(d, m, k)
    weights = d.new(d.array(np.uint8, (n, blocks, block // 2), 0, 255), constant=True)
    scales = d.new(d.array(F, (n * blocks,), 0.125, 1), constant=True)
    zeros = d.new(d.array(np.uint8, (n * -(-blocks // 2),), 0, 255), constant=True) if d.chance(0.5) else None
    return fused(d, op, [x, weights, scales, zeros], {"K": k, "N": n, "bits": 4, "block_size": block})
