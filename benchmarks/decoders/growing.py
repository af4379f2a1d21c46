# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0
"""Decoders whose caches grow: past_key_values.N.key/value in, present.N.key/value out."""

import numpy
from onnx import TensorProto, helper

from writer import Writer

TOTAL = "past_sequence_length + sequence_length"


class Growing(Writer):
    def begin(self):
        self.take("input_ids", ["batch_size", "sequence_length"])
        self.take("attention_mask", ["batch_size", TOTAL])
        self.give("logits", ["batch_size", "sequence_length", self.family.words])

    def caches(self, layer):
        """The names of past and present keys and values."""
        f, names = self.family, []
        shape = lambda length: ["batch_size", f.kv_heads, length, f.head_size]
        for side, length, add in (
                ("past_key_values", "past_sequence_length",
                 lambda n, s: self.take(n, s, TensorProto.FLOAT)),
                ("present", TOTAL, self.give)):
            names.append([add(self.cache_name(side, layer, part), shape(length))
                          for part in ("key", "value")])
        return names

    def cache_name(self, side, layer, part):
        return f"{side}.{layer}.{part}"


class Optimum(Growing):
    """Attention as products, masks and softmax."""

    def begin(self):
        super().begin()
        self.take("position_ids", ["batch_size", "sequence_length"])
        self.rope, self.seen = self.angles(), self.mask()

    def mask(self):
        """What queries may not see, as a large negative number: [batch, 1, sequence, total]."""
        shape = self.node("Shape", ["attention_mask"], "mask.shape")
        total = self.node("Gather", [shape, self.constant("zero_d1", numpy.array(1))], "mask.total")
        zero = self.constant("zero", numpy.array(0))
        one = self.constant("one", numpy.array(1))
        keys = self.node("Range", [zero, total, one], "mask.keys")
        queries = self.node("Unsqueeze", ["position_ids", self.ints(1, 3)], "mask.queries")
        causal = self.node("LessOrEqual", [keys, queries], "mask.causal")
        given = self.node("Unsqueeze", ["attention_mask", self.ints(1, 2)], "mask.given")
        given = self.node("Cast", [given], "mask.bool", to=TensorProto.BOOL)
        seen = self.node("And", [causal, given], "mask.seen")
        return self.node("Where", [seen, self.scalar(0.0), self.scalar(-3.4028234663852886e38)],
                         "mask")

    def mix(self, x, layer):
        p = f"layers.{layer}.attn."
        q, k, v = self.heads(x, p, self.rope)
        past, present = self.caches(layer)
        self.node("Concat", [past[0], k], present[0], axis=2)
        self.node("Concat", [past[1], v], present[1], axis=2)
        return self.attend(q, *present, self.seen, p)


class Sliding(Optimum):
    """Each token sees the last `window` tokens only, in all layers, as Mistral's do. The mask counts
    from the first row of the caches, as transformers' masks do; positions are for rotations."""

    window = 64

    def mask(self):
        shape = self.node("Shape", ["attention_mask"], "mask.shape")
        total = self.node("Gather", [shape, self.constant("one", numpy.array(1))], "mask.total")
        shape = self.node("Shape", ["input_ids"], "ids.shape")
        tokens = self.node("Gather", [shape, "one"], "mask.tokens")
        keys = self.node("Range", [self.constant("zero", numpy.array(0)), total, "one"], "mask.keys")
        queries = self.node("Range", [self.node("Sub", [total, tokens], "mask.past"), total, "one"],
                            "mask.places")
        queries = self.node("Unsqueeze", [queries, self.ints(1)], "mask.queries")
        first = self.node("Sub", [queries, self.ints(self.window)], "mask.before")
        seen = self.node("And", [self.node("LessOrEqual", [keys, queries], "mask.causal"),
                                 self.node("Greater", [keys, first], "mask.near")], "mask.seen")
        return self.node("Where", [seen, self.scalar(0.0), self.scalar(-3.4028234663852886e38)],
                         "mask")


class Genai(Growing):
    """GroupQueryAttention, SimplifiedLayerNormalization and rotary tables."""

    fuses_norms = True

    def begin(self):
        super().begin()
        self.lengths_of_genai()

    def mix(self, x, layer):
        f, p = self.family, f"layers.{layer}.attn."
        past, present = self.caches(layer)
        self.nodes.append(helper.make_node(
            "GroupQueryAttention",
            [*self.project(x, p), *past, "seqlens_k", "total_length", "cos_cache", "sin_cache"],
            [p + "attend", *present], name=p + "attend", domain="com.microsoft",
            num_heads=f.heads, kv_num_heads=f.kv_heads, do_rotary=1,
            scale=float(1 / numpy.sqrt(f.head_size))))
        return self.linear(p + "attend", p + "o", f.heads * f.head_size, f.hidden)

    def lengths_of_genai(self, positions=4096 * 4):
        """What GroupQueryAttention reads of the mask, and tables of rotations."""
        total = self.node("ReduceSum", ["attention_mask", self.ints(1)], "mask.sum", keepdims=1)
        less = self.node("Sub", [total, self.ints(1)], "mask.less")
        self.node("Cast", [less], "seqlens_k", to=TensorProto.INT32)
        shape = self.node("Shape", ["attention_mask"], "mask.shape")
        total = self.node("Gather", [shape, self.constant("one", numpy.array(1))], "mask.total")
        self.node("Cast", [total], "total_length", to=TensorProto.INT32)
        self.rotations(positions)

    def rotations(self, positions):
        f = self.family
        inverse = 1 / f.theta ** (numpy.arange(0, f.head_size, 2) / f.head_size)
        angles = numpy.outer(numpy.arange(positions), inverse)
        self.constant("cos_cache", numpy.cos(angles).astype(numpy.float32))
        self.constant("sin_cache", numpy.sin(angles).astype(numpy.float32))
