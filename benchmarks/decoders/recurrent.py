# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0
"""Decoders with states of fixed size, which each step replaces."""

import numpy
from onnx import TensorProto

from growing import Optimum
from writer import Writer


def state(writer, name, layer, shape):
    """The names of a state before and after a step."""
    return (writer.take(f"past_{name}.{layer}", ["batch_size", *shape], TensorProto.FLOAT),
            writer.give(f"present_{name}.{layer}", ["batch_size", *shape]))


class Mamba(Writer):
    """Selective state spaces (Gu and Dao 2023) in the form of one step: a causal convolution over
    the last few tokens, and 16 numbers for each channel that decay and grow by what the token
    says."""

    kernel, states = 4, 16

    def begin(self):
        self.take("input_ids", ["batch_size", 1])
        self.give("logits", ["batch_size", 1, self.family.words])

    def mix(self, x, layer):
        f, p, states = self.family, f"layers.{layer}.mixer.", self.states
        inner, rank = 2 * f.hidden, -(-f.hidden // 16)
        both = self.linear(x, p + "in", f.hidden, 2 * inner)
        x, gate = self.node("Split", [both], p + "split", outputs=2, axis=-1, num_outputs=2)
        x = self.node("Reshape", [x, self.ints(0, inner, 1)], p + "column")
        x = self.silu(self.convolve(x, layer, inner), p + "act")
        row = self.node("Reshape", [x, self.ints(0, 1, inner)], p + "row")
        parts = self.linear(row, p + "x", inner, rank + 2 * states)
        step, b, c = self.node("Split", [parts, self.ints(rank, states, states)], p + "parts",
                               outputs=3, axis=-1)
        step = self.linear(step, p + "dt", rank, inner)
        bias = self.constant(p + "dt.bias", self.random.uniform(-4, -2, inner).astype(numpy.float32))
        step = self.node("Softplus", [self.node("Add", [step, bias], p + "dt.sum")], p + "step")
        step = self.node("Reshape", [step, self.ints(0, inner, 1)], p + "steps")
        decay = self.constant(p + "a", -numpy.tile(
            numpy.arange(1, states + 1, dtype=numpy.float32), (inner, 1)))
        decay = self.node("Exp", [self.node("Mul", [step, decay], p + "da")], p + "decay")
        past, present = state(self, "ssm", layer, [inner, states])
        added = self.node("Mul", [self.node("Mul", [step, x], p + "dx"), b], p + "added")
        self.node("Add", [self.node("Mul", [past, decay], p + "kept"), added], present)
        column = self.node("Reshape", [c, self.ints(0, states, 1)], p + "c")
        y = self.node("MatMul", [present, column], p + "read")
        skip = self.constant(p + "d", numpy.ones((inner, 1), numpy.float32))
        y = self.node("Add", [y, self.node("Mul", [x, skip], p + "skip")], p + "y")
        y = self.node("Reshape", [y, self.ints(0, 1, inner)], p + "y.row")
        y = self.node("Mul", [y, self.silu(gate, p + "gate")], p + "gated")
        return self.linear(y, p + "out", inner, f.hidden)

    def convolve(self, x, layer, inner):
        """x [batch, inner, 1] with the tokens before it."""
        p = f"layers.{layer}.conv."
        past, present = state(self, "conv", layer, [inner, self.kernel])
        kept = self.node("Slice", [past, self.ints(1), self.ints(self.kernel), self.ints(2)],
                         p + "kept")
        self.node("Concat", [kept, x], present, axis=2)
        weights = self.constant(p + "w", self.weights(self.kernel, inner))
        product = self.node("Mul", [present, weights], p + "product")
        return self.node("ReduceSum", [product, self.ints(2)], p + "sum", keepdims=1)

    def silu(self, x, name):
        return self.node("Mul", [x, self.node("Sigmoid", [x], name + ".sigmoid")], name)

    def behind_mixing(self, x, layer):
        return x


class Hybrid(Optimum):
    """Gated short convolutions, and attention in every third layer. Any number of tokens."""

    kernel = 3

    def mix(self, x, layer):
        if layer % 3 == 1:
            return super().mix(x, layer)
        f, p = self.family, f"layers.{layer}.conv."
        parts = self.linear(x, p + "in", f.hidden, 3 * f.hidden)
        turned = self.node("Transpose", [parts], p + "turned", perm=[0, 2, 1])
        b, c, x = self.node("Split", [turned], p + "split", outputs=3, axis=1, num_outputs=3)
        past, present = state(self, "conv", layer, [f.hidden, self.kernel - 1])
        x = self.node("Concat", [past, self.node("Mul", [b, x], p + "bx")], p + "all", axis=2)
        self.node("Slice", [x, self.ints(1 - self.kernel), self.ints(2**31), self.ints(2)], present)
        weights = self.weights(self.kernel, f.hidden)[:, None, :]
        x = self.node("Conv", [x, self.constant(p + "w", weights)], p + "conv", group=f.hidden)
        x = self.node("Transpose", [self.node("Mul", [c, x], p + "gated")], p + "back",
                      perm=[0, 2, 1])
        return self.linear(x, p + "out", f.hidden, f.hidden)
