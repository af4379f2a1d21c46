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
  sliding   as optimum, but each token sees the last --window tokens only
  mamba     layers of Mamba alone, for one token: past_conv.N and past_ssm.N in, present_conv.N
            and present_ssm.N out, of the same shapes
  static    caches of --capacity rows, updated at cache_position by ScatterND, as torch.export
            writes transformers' StaticCache; static-elements: by ScatterElements
  tensor-scatter  the same by TensorScatter of operator set 24, Attention with nonpad_kv_seqlen,
            for one token; circular: with mode circular
  genai-fixed  GroupQueryAttention with past and present of --capacity rows
  hybrid    as LFM2: short convolutions, past_conv.N in and present_conv.N out, and in every third
            layer attention in the form optimum
  cross     of an encoder-decoder model: as optimum, with past_key_values.N.encoder.key/value and
            encoder_attention_mask besides, which stay the same

Weights are float32 (--bits 32), or MatMulNBits of 4 or 8 bits in blocks of 32.
"""

import argparse
import dataclasses

import onnx

import cross
import fixed
import growing
import recurrent
from families import FAMILIES

FORMS = {"optimum": growing.Optimum, "genai": growing.Genai, "sliding": growing.Sliding, "mamba": recurrent.Mamba,
         "hybrid": recurrent.Hybrid, "static": fixed.Static,
         "static-elements": fixed.StaticElements, "tensor-scatter": fixed.TensorScatter,
         "circular": fixed.Circular, "genai-fixed": fixed.GenaiFixed, "cross": cross.Cross}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("--form", choices=FORMS, default="optimum")
    parser.add_argument("--bits", type=int, choices=(4, 8, 32), default=4)
    parser.add_argument("--layers", type=int, help="in place of the family's number")
    parser.add_argument("--words", type=int, help="in place of the family's vocabulary")
    parser.add_argument("--capacity", type=int, help="rows of caches of fixed size (256)")
    parser.add_argument("--window", type=int, help="tokens that one sees, of the form sliding (64)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", required=True, help="the ONNX file")
    given = parser.parse_args()
    changes = {k: v for k, v in (("layers", given.layers), ("words", given.words)) if v}
    family = dataclasses.replace(FAMILIES[given.family], **changes)
    writer = FORMS[given.form](family, given.bits, given.seed)
    if given.window:
        writer.window = given.window
    if given.capacity:
        writer.capacity = given.capacity
    model = writer.model()
    large = model.ByteSize() > 1 << 30
    onnx.save(model, given.out, save_as_external_data=large)


if __name__ == "__main__":
    main()
