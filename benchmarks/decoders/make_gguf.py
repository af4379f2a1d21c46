#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a decoder of the same shape as make_decoder.py does as a GGUF file for llama.cpp: random
weights in Q4_0, the table of words and the norms in float32.

    make_gguf.py qwen3-0.6b --words 32000 --out qwen3.gguf
    llama-bench -m qwen3.gguf -t 2 -p 512 -n 32 -d 128,2048

Needs the package gguf.
"""

import argparse
import dataclasses

import gguf
import numpy

from families import FAMILIES

BLOCK = 32


def q4_0(random, rows, columns):
    """Random blocks: a float16 scale and 32 levels."""
    blocks = numpy.empty((rows, columns // BLOCK), [("scale", numpy.float16), ("q", numpy.uint8, 16)])
    blocks["scale"] = random.uniform(0.5, 1.5, blocks.shape) / numpy.sqrt(columns) / 4.6
    blocks["q"] = random.integers(0, 256, (*blocks.shape, 16), numpy.uint8)
    return blocks.view(numpy.uint8).reshape(rows, -1)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family", choices=[n for n, f in FAMILIES.items() if not f.experts])
    parser.add_argument("--words", type=int)
    parser.add_argument("--out", required=True)
    given = parser.parse_args()
    f = FAMILIES[given.family]
    if given.words:
        f = dataclasses.replace(f, words=given.words)
    random = numpy.random.default_rng(0)
    w = gguf.GGUFWriter(given.out, "qwen3" if f.normalizes_heads else "llama")
    w.add_context_length(16384)
    w.add_embedding_length(f.hidden)
    w.add_block_count(f.layers)
    w.add_feed_forward_length(f.inner)
    w.add_head_count(f.heads)
    w.add_head_count_kv(f.kv_heads)
    w.add_key_length(f.head_size)
    w.add_value_length(f.head_size)
    w.add_layer_norm_rms_eps(1e-6)
    w.add_rope_freq_base(f.theta)
    w.add_rope_dimension_count(f.head_size)
    w.add_vocab_size(f.words)
    w.add_tokenizer_model("none")
    w.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_0)

    def matrix(name, rows, columns):
        w.add_tensor(name, q4_0(random, rows, columns), raw_dtype=gguf.GGMLQuantizationType.Q4_0)

    def norm(name, size):
        w.add_tensor(name, numpy.ones(size, numpy.float32))

    w.add_tensor("token_embd.weight",
                 0.02 * random.standard_normal((f.words, f.hidden), numpy.float32))
    for layer in range(f.layers):
        p = f"blk.{layer}."
        norm(p + "attn_norm.weight", f.hidden)
        matrix(p + "attn_q.weight", f.heads * f.head_size, f.hidden)
        matrix(p + "attn_k.weight", f.kv_heads * f.head_size, f.hidden)
        matrix(p + "attn_v.weight", f.kv_heads * f.head_size, f.hidden)
        if f.normalizes_heads:
            norm(p + "attn_q_norm.weight", f.head_size)
            norm(p + "attn_k_norm.weight", f.head_size)
        matrix(p + "attn_output.weight", f.hidden, f.heads * f.head_size)
        norm(p + "ffn_norm.weight", f.hidden)
        matrix(p + "ffn_gate.weight", f.inner, f.hidden)
        matrix(p + "ffn_up.weight", f.inner, f.hidden)
        matrix(p + "ffn_down.weight", f.hidden, f.inner)
    norm("output_norm.weight", f.hidden)
    matrix("output.weight", f.words, f.hidden)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


if __name__ == "__main__":
    main()
