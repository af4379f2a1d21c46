# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0
"""Decoders of encoder-decoder models: caches of their own that grow, and of what an encoder gave."""

from onnx import TensorProto

from growing import Optimum


class Cross(Optimum):
    """As optimum writes decoders with past: past_key_values.N.decoder.key/value grow,
    past_key_values.N.encoder.key/value [batch, heads, frames, size] stay the same. Frames that
    encoder_attention_mask hides have no weight."""

    def begin(self):
        super().begin()
        self.take("encoder_attention_mask", ["batch_size", "encoder_sequence_length"])
        given = self.node("Unsqueeze", ["encoder_attention_mask", self.ints(1, 2)], "frames")
        given = self.node("Cast", [given], "frames.bool", to=TensorProto.BOOL)
        self.frames = self.node(
            "Where", [given, self.scalar(0.0), self.scalar(-3.4028234663852886e38)], "frames.mask")

    def cache_name(self, side, layer, part):
        return f"{side}.{layer}.decoder.{part}"

    def mix(self, x, layer):
        f, p = self.family, f"layers.{layer}.cross."
        x = self.node("Add", [x, super().mix(x, layer)], p + "sum")
        y = self.norm(x, p + "norm", f.hidden)
        q = self.linear(y, p + "q", f.hidden, f.heads * f.head_size)
        q = self.node("Transpose", [self.split(q, p + "q4", f.heads)], p + "qh", perm=[0, 2, 1, 3])
        shape = ["batch_size", f.kv_heads, "encoder_sequence_length", f.head_size]
        k, v = (self.take(f"past_key_values.{layer}.encoder.{part}", shape, TensorProto.FLOAT)
                for part in ("key", "value"))
        return self.attend(q, k, v, self.frames, p)
