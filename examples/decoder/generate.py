# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Prints tokens that a language model's decoder draws behind some others.

    python benchmarks/decoders/make_decoder.py tiny --bits 32 --out decoder.onnx
    python examples/decoder/generate.py decoder.onnx 17 200 3
"""

import sys

import bayloom

decoder = bayloom.Decoder(sys.argv[1], dims={"batch_size": 1, "sequence_length": "1,2..64",
                                             "past_sequence_length": "0..255"})
prompt = [int(token) for token in sys.argv[2:]]
for token in decoder.generate(prompt, max_tokens=20, temperature=0.8, top_k=40, seed=1):
    print(token)
