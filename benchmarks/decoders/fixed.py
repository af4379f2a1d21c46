# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0
"""Decoders whose caches have a fixed capacity: inputs and outputs of one shape."""

import numpy
from onnx import TensorProto, helper

from growing import Genai
from writer import Writer


class Fixed(Writer):
    capacity = 256
    tokens = "sequence_length"

    def begin(self):
        self.take("input_ids", ["batch_size", self.tokens])
        self.give("logits", ["batch_size", self.tokens, self.family.words])

    def caches(self, layer):
        """The names of keys and values before the step and behind it."""
        shape = ["batch_size", self.family.kv_heads, self.capacity, self.family.head_size]
        return ([self.take(f"past_key_values.{layer}.{part}", shape, TensorProto.FLOAT)
                 for part in ("key", "value")],
                [self.give(f"present.{layer}.{part}", shape) for part in ("key", "value")])

    def seen(self, keys, last):
        """0 where a key is not behind the query's position, else a large negative number."""
        causal = self.node("LessOrEqual", [keys, last], "mask.causal")
        return self.node("Where", [causal, self.scalar(0.0), self.scalar(-3.4028234663852886e38)],
                         "mask")


class Static(Fixed):
    """As torch.export writes transformers' StaticCache: index_put at cache_position, by ScatterND on
    the cache with its positions first, and a causal mask of positions."""

    def begin(self):
        super().begin()
        self.take("cache_position", [self.tokens])
        ids = self.node("Unsqueeze", ["cache_position", self.ints(0)], "positions")
        self.rope = self.angles(ids)
        keys = self.constant("keys", numpy.arange(self.capacity))
        self.mask = self.seen(keys, self.node("Unsqueeze", [ids, self.ints(1, 3)], "queries"))
        self.places = self.node("Unsqueeze", ["cache_position", self.ints(1)], "places")

    def mix(self, x, layer):
        p = f"layers.{layer}.attn."
        q, k, v = self.heads(x, p, self.rope)
        past, present = self.caches(layer)
        for name, before, after, new in (("k", past[0], present[0], k), ("v", past[1], present[1], v)):
            self.write(p + name, before, after, new)
        return self.attend(q, *present, self.mask, p)

    def write(self, p, before, after, new):
        rows = self.node("Transpose", [before], p + ".rows", perm=[2, 0, 1, 3])
        added = self.node("Transpose", [new], p + ".added", perm=[2, 0, 1, 3])
        rows = self.node("ScatterND", [rows, self.places, added], p + ".put")
        self.node("Transpose", [rows], after, perm=[1, 2, 0, 3])


class StaticElements(Static):
    """The same by ScatterElements, as index_copy is written."""

    def write(self, p, before, after, new):
        if "elements" not in self.made:
            self.made["elements"] = True
            shape = self.node("Shape", [new], "elements.shape")
            column = self.node("Reshape", ["cache_position", self.ints(1, 1, -1, 1)], "column")
            self.node("Expand", [column, shape], "elements")
        self.node("ScatterElements", [before, "elements", new], after, axis=2)


class TensorScatter(Fixed):
    """Operator set 24: TensorScatter and Attention with nonpad_kv_seqlen. A step takes one token."""

    opset, mode, tokens = 24, "linear", 1

    def begin(self):
        super().begin()
        self.take("position_ids", ["batch_size", self.tokens])
        self.take("write_indices", ["batch_size"])
        self.take("nonpad_kv_seqlen", ["batch_size"])
        self.rope = self.angles()

    def mix(self, x, layer):
        f, p = self.family, f"layers.{layer}.attn."
        q, k, v = self.heads(x, p, self.rope)
        past, present = self.caches(layer)
        for before, after, new in zip(past, present, (k, v)):
            self.node("TensorScatter", [before, new, "write_indices"], after, mode=self.mode)
        y = self.node("Attention", [q, *present, "", "", "", "nonpad_kv_seqlen"], p + "attend")
        y = self.node("Transpose", [y], p + "back", perm=[0, 2, 1, 3])
        y = self.node("Reshape", [y, self.ints(0, 0, f.heads * f.head_size)], p + "joined")
        return self.linear(y, p + "o", f.heads * f.head_size, f.hidden)


class Circular(TensorScatter):
    mode = "circular"


class GenaiFixed(Fixed):
    """GroupQueryAttention with past and present of one size, which runtimes give one buffer."""

    fuses_norms = True

    def begin(self):
        super().begin()
        self.take("seqlens_k", ["batch_size", 1], TensorProto.INT32)
        self.constant("total_length", numpy.array(self.capacity, numpy.int32))
        Genai.rotations(self, self.capacity)

    mix = Genai.mix
