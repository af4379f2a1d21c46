#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a language model's decoder as an ONNX file: real shapes, random weights.

    make_decoder.py qwen3-0.6b --form optimum --bits 4 --out qwen3.onnx

Forms are those that exporters write:

  optimum   input_ids, attention_mask, position_ids and past_key_values.N.key/value in,
            logits and present.N.key/value out; attention as products, masks and softmax
  genai     the same interface with GroupQueryAttention, SimplifiedLayerNormalization and
            rotary tables, as onnxruntime-genai's model builder writes

Weights are float32 (--bits 32), or MatMulNBits of 4 or 8 bits in blocks of 32.
"""

import argparse
import dataclasses

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


@dataclasses.dataclass(frozen=True)
class Family:
    """What a model's configuration says: sizes, and what its layers do otherwise than Llama's."""

    layers: int
    hidden: int
    inner: int
    heads: int
    kv_heads: int
    head_size: int
    words: int
    theta: float = 10000.0
    normalizes_heads: bool = False
    experts: int = 0
    experts_used: int = 2


FAMILIES = {
    "tiny": Family(2, 64, 128, 4, 2, 16, 256),
    "tiny-qwen": Family(2, 64, 128, 4, 2, 32, 256, normalizes_heads=True),
    "smollm2-360m": Family(32, 960, 2560, 15, 5, 64, 49152),
    "llama-3.2-1b": Family(16, 2048, 8192, 32, 8, 64, 128256, 500000.0),
    "qwen3-0.6b": Family(28, 1024, 3072, 16, 8, 128, 151936, 1e6, True),
    "moe-8": Family(16, 1024, 1536, 16, 8, 64, 32000, experts=8),
    "tiny-moe": Family(2, 64, 96, 4, 2, 16, 256, experts=4),
    "qwen3-1.7b": Family(28, 2048, 6144, 16, 8, 128, 151936, 1e6, True),
}


class Writer:
    """Nodes and constants of one graph."""

    def __init__(self, family, bits, form, seed):
        self.family, self.bits, self.form = family, bits, form
        self.random = numpy.random.default_rng(seed)
        self.nodes, self.constants, self.made = [], [], {}

    def constant(self, name, values):
        if name not in self.made:
            self.made[name] = True
            self.constants.append(numpy_helper.from_array(numpy.ascontiguousarray(values), name))
        return name

    def ints(self, *values):
        name = "i_" + "_".join(str(v).replace("-", "m") for v in values)
        return self.constant(name, numpy.array(values, numpy.int64))

    def scalar(self, value):
        return self.constant(f"f_{value}", numpy.array(value, numpy.float32))

    def node(self, operator, inputs, name, outputs=1, domain="", **attributes):
        names = [name] if outputs == 1 else [f"{name}.{i}" for i in range(outputs)]
        self.nodes.append(
            helper.make_node(operator, inputs, names, name=name, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def weights(self, k, n):
        scale = 1 / numpy.sqrt(k)
        return self.random.standard_normal((n, k), numpy.float32) * numpy.float32(scale)

    def linear(self, x, name, k, n):
        """x [..., k] times random weights [k, n]."""
        if self.bits == 32:
            return self.node("MatMul", [x, self.constant(name + ".w", self.weights(k, n).T)], name)
        block = 32
        blocks = -(-k // block)
        levels = self.random.integers(0, 256, (n, blocks, block * self.bits // 8), numpy.uint8)
        spread = 2.0**self.bits / numpy.sqrt(12)
        scales = self.random.uniform(0.5, 1.5, n * blocks).astype(numpy.float32)
        scales *= numpy.float32(1 / numpy.sqrt(k) / spread)
        scales = scales.astype(numpy.float16).astype(numpy.float32)  # as converters store them
        return self.node(
            "MatMulNBits",
            [x, self.constant(name + ".q", levels), self.constant(name + ".s", scales)],
            name, domain="com.microsoft", K=k, N=n, bits=self.bits, block_size=block,
            accuracy_level=4)

    def norm(self, x, name, size):
        weight = self.constant(
            name + ".w", 1 + 0.1 * self.random.standard_normal(size).astype(numpy.float32))
        if self.form == "genai":
            return self.node("SimplifiedLayerNormalization", [x, weight], name, axis=-1,
                             epsilon=1e-6)
        square = self.node("Pow", [x, self.scalar(2.0)], name + ".square")
        mean = self.node("ReduceMean", [square, self.ints(-1)], name + ".mean", keepdims=1)
        root = self.node("Sqrt", [self.node("Add", [mean, self.scalar(1e-6)], name + ".add")],
                         name + ".root")
        inverse = self.node("Reciprocal", [root], name + ".inverse")
        scaled = self.node("Mul", [x, inverse], name + ".scaled")
        return self.node("Mul", [weight, scaled], name)

    # --- Positions and masks of the form that spells them out ---

    def angles(self):
        f = self.family
        inverse = 1 / f.theta ** (numpy.arange(0, f.head_size, 2) / f.head_size)
        table = self.constant("inverse_frequencies", inverse[None, :, None].astype(numpy.float32))
        ids = self.node("Unsqueeze", ["position_ids", self.ints(1)], "rope.ids")
        ids = self.node("Cast", [ids], "rope.float", to=TensorProto.FLOAT)
        product = self.node("MatMul", [table, ids], "rope.product")
        turned = self.node("Transpose", [product], "rope.turned", perm=[0, 2, 1])
        both = self.node("Concat", [turned, turned], "rope.both", axis=-1)
        cos = self.node("Unsqueeze", [self.node("Cos", [both], "rope.cos"), self.ints(1)], "cos")
        sin = self.node("Unsqueeze", [self.node("Sin", [both], "rope.sin"), self.ints(1)], "sin")
        return cos, sin

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

    def rotate(self, x, name, cos, sin):
        half = self.family.head_size // 2
        low = self.node("Slice", [x, self.ints(0), self.ints(half), self.ints(3)], name + ".low")
        high = self.node("Slice", [x, self.ints(half), self.ints(2**31), self.ints(3)],
                         name + ".high")
        turned = self.node("Concat", [self.node("Neg", [high], name + ".neg"), low],
                           name + ".half", axis=-1)
        return self.node("Add", [self.node("Mul", [x, cos], name + ".cos"),
                                 self.node("Mul", [turned, sin], name + ".sin")], name)

    def split(self, x, name, heads):
        y = self.node("Reshape", [x, self.ints(0, 0, heads, self.family.head_size)], name + ".split")
        return y

    def repeat(self, x, name):
        """Every head of keys or values for the queries that share it."""
        f = self.family
        groups = f.heads // f.kv_heads
        if groups == 1:
            return x
        shape = self.node("Shape", [x], name + ".shape")
        batch = self.node("Slice", [shape, self.ints(0), self.ints(1)], name + ".batch")
        total = self.node("Slice", [shape, self.ints(2), self.ints(3)], name + ".total")
        wide = self.node("Unsqueeze", [x, self.ints(2)], name + ".wide")
        target = self.node("Concat", [batch, self.ints(f.kv_heads), self.ints(groups), total,
                                      self.ints(f.head_size)], name + ".target", axis=0)
        wide = self.node("Expand", [wide, target], name + ".expand")
        flat = self.node("Concat", [batch, self.ints(f.heads), total, self.ints(f.head_size)],
                         name + ".flat", axis=0)
        return self.node("Reshape", [wide, flat], name)

    # --- Layers ---

    def project(self, x, p):
        f = self.family
        q = self.linear(x, p + "q", f.hidden, f.heads * f.head_size)
        k = self.linear(x, p + "k", f.hidden, f.kv_heads * f.head_size)
        v = self.linear(x, p + "v", f.hidden, f.kv_heads * f.head_size)
        if f.normalizes_heads:
            parts = []
            for name, y, heads in (("q", q, f.heads), ("k", k, f.kv_heads)):
                y = self.norm(self.split(y, p + name, heads), p + name + "_norm", f.head_size)
                parts.append(self.node("Reshape", [y, self.ints(0, 0, heads * f.head_size)],
                                       p + name + ".joined"))
            q, k = parts
        return q, k, v

    def attention(self, x, layer, rope, mask):
        f, p = self.family, f"layers.{layer}.attn."
        q, k, v = self.project(x, p)
        past = [f"past_key_values.{layer}.{part}" for part in ("key", "value")]
        present = [f"present.{layer}.{part}" for part in ("key", "value")]
        width = f.heads * f.head_size
        if self.form == "genai":
            self.nodes.append(helper.make_node(
                "GroupQueryAttention",
                [q, k, v, *past, "seqlens_k", "total_length", "cos_cache", "sin_cache"],
                [p + "attend", *present], name=p + "attend", domain="com.microsoft",
                num_heads=f.heads, kv_num_heads=f.kv_heads, do_rotary=1,
                scale=float(1 / numpy.sqrt(f.head_size))))
            return self.linear(p + "attend", p + "o", width, f.hidden)
        heads = []
        for name, y, count in (("q", q, f.heads), ("k", k, f.kv_heads), ("v", v, f.kv_heads)):
            y = self.node("Transpose", [self.split(y, p + name + "4", count)], p + name + "h",
                          perm=[0, 2, 1, 3])
            heads.append(y if name == "v" else self.rotate(y, p + name + "r", *rope))
        q, k, v = heads
        self.node("Concat", [past[0], k], present[0], axis=2)
        self.node("Concat", [past[1], v], present[1], axis=2)
        k = self.node("Transpose", [self.repeat(present[0], p + "krep")], p + "kt",
                      perm=[0, 1, 3, 2])
        scores = self.node("MatMul", [q, k], p + "scores")
        scores = self.node("Mul", [scores, self.scalar(float(1 / numpy.sqrt(f.head_size)))],
                           p + "scaled")
        weights = self.node("Softmax", [self.node("Add", [scores, mask], p + "masked")],
                            p + "softmax", axis=-1)
        y = self.node("MatMul", [weights, self.repeat(present[1], p + "vrep")], p + "values")
        y = self.node("Transpose", [y], p + "back", perm=[0, 2, 1, 3])
        y = self.node("Reshape", [y, self.ints(0, 0, width)], p + "joined")
        return self.linear(y, p + "o", width, f.hidden)

    def experts(self, x, p):
        """Few of several gated layers for each token, gates interleaved."""
        f, block = self.family, 32
        logits = self.node("MatMul", [x, self.constant(
            p + "router.w", self.weights(f.hidden, f.experts).T)], p + "router")
        flat = self.node("Reshape", [logits, self.ints(-1, f.experts)], p + "logits")
        inputs = [x, flat]
        for name, k, n in (("fc1", f.hidden, 2 * f.inner), ("fc2", f.inner, f.hidden)):
            levels = self.random.integers(0, 256, (f.experts, n, k * self.bits // 8), numpy.uint8)
            spread = 2.0**self.bits / numpy.sqrt(12)
            scales = self.random.uniform(0.5, 1.5, (f.experts, n, k // block))
            scales = (scales / numpy.sqrt(k) / spread).astype(numpy.float16).astype(numpy.float32)
            inputs += [self.constant(p + name, levels), self.constant(p + name + ".s", scales), ""]
        return self.node("QMoE", inputs[:-1], p + "experts", domain="com.microsoft",
                         k=f.experts_used, activation_type="swiglu", swiglu_fusion=1,
                         expert_weight_bits=self.bits, block_size=block, accuracy_level=4)

    def gated(self, x, p):
        f = self.family
        if f.experts:
            return self.experts(x, p)
        gate = self.linear(x, p + "gate", f.hidden, f.inner)
        up = self.linear(x, p + "up", f.hidden, f.inner)
        silu = self.node("Mul", [gate, self.node("Sigmoid", [gate], p + "sigmoid")], p + "silu")
        return self.linear(self.node("Mul", [silu, up], p + "product"), p + "down", f.inner,
                           f.hidden)

    def model(self):
        f = self.family
        table = self.constant("embedding", 0.02 * self.random.standard_normal(
            (f.words, f.hidden), numpy.float32).astype(numpy.float32))
        x = self.node("Gather", [table, "input_ids"], "embed")
        rope = mask = None
        if self.form == "genai":
            self.lengths_of_genai()
        else:
            rope, mask = self.angles(), self.mask()
        for layer in range(f.layers):
            p = f"layers.{layer}."
            y = self.attention(self.norm(x, p + "norm1", f.hidden), layer, rope, mask)
            x = self.node("Add", [x, y], p + "add1")
            y = self.gated(self.norm(x, p + "norm2", f.hidden), p + "mlp.")
            x = self.node("Add", [x, y], p + "add2")
        self.nodes.append(helper.make_node(
            "Identity", [self.linear(self.norm(x, "norm", f.hidden), "head", f.hidden, f.words)],
            ["logits"]))
        return self.finish()

    def lengths_of_genai(self, positions=4096 * 4):
        """What GroupQueryAttention reads of the mask, and tables of rotations."""
        f = self.family
        total = self.node("ReduceSum", ["attention_mask", self.ints(1)], "mask.sum", keepdims=1)
        less = self.node("Sub", [total, self.ints(1)], "mask.less")
        self.node("Cast", [less], "seqlens_k", to=TensorProto.INT32)
        shape = self.node("Shape", ["attention_mask"], "mask.shape")
        total = self.node("Gather", [shape, self.constant("one", numpy.array(1))], "mask.total")
        self.node("Cast", [total], "total_length", to=TensorProto.INT32)
        inverse = 1 / f.theta ** (numpy.arange(0, f.head_size, 2) / f.head_size)
        angles = numpy.outer(numpy.arange(positions), inverse)
        self.constant("cos_cache", numpy.cos(angles).astype(numpy.float32))
        self.constant("sin_cache", numpy.sin(angles).astype(numpy.float32))

    def finish(self):
        f = self.family
        value = helper.make_tensor_value_info
        ints = lambda name, *shape: value(name, TensorProto.INT64, ["batch_size", *shape])
        total = "past_sequence_length + sequence_length"
        inputs = [ints("input_ids", "sequence_length"), ints("attention_mask", total)]
        if self.form != "genai":
            inputs.append(ints("position_ids", "sequence_length"))
        outputs = [value("logits", TensorProto.FLOAT, ["batch_size", "sequence_length", f.words])]
        for layer in range(f.layers):
            for part in ("key", "value"):
                shape = lambda n: ["batch_size", f.kv_heads, n, f.head_size]
                inputs.append(value(f"past_key_values.{layer}.{part}", TensorProto.FLOAT,
                                    shape("past_sequence_length")))
                outputs.append(value(f"present.{layer}.{part}", TensorProto.FLOAT, shape(total)))
        graph = helper.make_graph(self.nodes, "decoder", inputs, outputs, self.constants)
        return helper.make_model(
            graph, producer_name="bayloom-decoders", ir_version=10,
            opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("--form", choices=("optimum", "genai"), default="optimum")
    parser.add_argument("--bits", type=int, choices=(4, 8, 32), default=4)
    parser.add_argument("--layers", type=int, help="in place of the family's number")
    parser.add_argument("--words", type=int, help="in place of the family's vocabulary")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", required=True, help="the ONNX file")
    given = parser.parse_args()
    changes = {k: v for k, v in (("layers", given.layers), ("words", given.words)) if v}
    family = dataclasses.replace(FAMILIES[given.family], **changes)
    model = Writer(family, given.bits, given.form, given.seed).model()
    large = model.ByteSize() > 1 << 30
    onnx.save(model, given.out, save_as_external_data=large)


if __name__ == "__main__":
    main()
