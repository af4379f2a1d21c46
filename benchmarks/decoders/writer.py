# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes and constants of one graph, and the layers that all forms have."""

import numpy
from onnx import TensorProto, helper, numpy_helper


class Writer:
    """Nodes and constants of one graph. What is special to a form: `begin` before the layers, and what
    mixes the tokens of one."""

    opset = 21
    fuses_norms = False  # into operators of com.microsoft

    def __init__(self, family, bits, seed):
        self.family, self.bits = family, bits
        self.random = numpy.random.default_rng(seed)
        self.nodes, self.constants, self.made = [], [], {}
        self.inputs, self.outputs = [], []

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
        if self.fuses_norms:
            return self.node("SimplifiedLayerNormalization", [x, weight], name, axis=-1,
                             epsilon=1e-6)
        square = self.node("Pow", [x, self.scalar(2.0)], name + ".square")
        mean = self.node("ReduceMean", [square, self.ints(-1)], name + ".mean", keepdims=1)
        root = self.node("Sqrt", [self.node("Add", [mean, self.scalar(1e-6)], name + ".add")],
                         name + ".root")
        inverse = self.node("Reciprocal", [root], name + ".inverse")
        scaled = self.node("Mul", [x, inverse], name + ".scaled")
        return self.node("Mul", [weight, scaled], name)

    def angles(self, position_ids="position_ids"):
        """Cosines and sines of rotations, [batch, 1, sequence, head size]."""
        f = self.family
        inverse = 1 / f.theta ** (numpy.arange(0, f.head_size, 2) / f.head_size)
        table = self.constant("inverse_frequencies", inverse[None, :, None].astype(numpy.float32))
        ids = self.node("Unsqueeze", [position_ids, self.ints(1)], "rope.ids")
        ids = self.node("Cast", [ids], "rope.float", to=TensorProto.FLOAT)
        product = self.node("MatMul", [table, ids], "rope.product")
        turned = self.node("Transpose", [product], "rope.turned", perm=[0, 2, 1])
        both = self.node("Concat", [turned, turned], "rope.both", axis=-1)
        cos = self.node("Unsqueeze", [self.node("Cos", [both], "rope.cos"), self.ints(1)], "cos")
        sin = self.node("Unsqueeze", [self.node("Sin", [both], "rope.sin"), self.ints(1)], "sin")
        return cos, sin

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

    def heads(self, x, p, rope):
        """Queries, keys and values as [batch, heads, sequence, head size], rotated."""
        f, heads = self.family, []
        for name, y, count in zip("qkv", self.project(x, p), (f.heads, f.kv_heads, f.kv_heads)):
            y = self.node("Transpose", [self.split(y, p + name + "4", count)], p + name + "h",
                          perm=[0, 2, 1, 3])
            heads.append(y if name == "v" or rope is None else self.rotate(y, p + name + "r", *rope))
        return heads

    def attend(self, q, keys, values, mask, p):
        """Attention as products, a mask that is added, and softmax: [batch, sequence, hidden]."""
        f = self.family
        k = self.node("Transpose", [self.repeat(keys, p + "krep")], p + "kt", perm=[0, 1, 3, 2])
        scores = self.node("MatMul", [q, k], p + "scores")
        scores = self.node("Mul", [scores, self.scalar(float(1 / numpy.sqrt(f.head_size)))],
                           p + "scaled")
        if mask is not None:
            scores = self.node("Add", [scores, mask], p + "masked")
        weights = self.node("Softmax", [scores], p + "softmax", axis=-1)
        y = self.node("MatMul", [weights, self.repeat(values, p + "vrep")], p + "values")
        y = self.node("Transpose", [y], p + "back", perm=[0, 2, 1, 3])
        y = self.node("Reshape", [y, self.ints(0, 0, f.heads * f.head_size)], p + "joined")
        return self.linear(y, p + "o", f.heads * f.head_size, f.hidden)

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
        self.begin()
        for layer in range(f.layers):
            p = f"layers.{layer}."
            y = self.mix(self.norm(x, p + "norm1", f.hidden), layer)
            x = self.node("Add", [x, y], p + "add1")
            x = self.behind_mixing(x, layer)
        self.nodes.append(helper.make_node(
            "Identity", [self.linear(self.norm(x, "norm", f.hidden), "head", f.hidden, f.words)],
            ["logits"]))
        graph = helper.make_graph(self.nodes, "decoder", self.inputs, self.outputs, self.constants)
        return helper.make_model(
            graph, producer_name="bayloom-decoders", ir_version=10, opset_imports=[
                helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)])

    def behind_mixing(self, x, layer):
        p = f"layers.{layer}."
        y = self.gated(self.norm(x, p + "norm2", self.family.hidden), p + "mlp.")
        return self.node("Add", [x, y], p + "add2")

    # --- Inputs and outputs ---

    def take(self, name, shape, dtype=TensorProto.INT64):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def give(self, name, shape, dtype=TensorProto.FLOAT):
        self.outputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name
