#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0
"""Tokens a second of a decoder that 'bayloom compile' made: prompts, and steps behind so many tokens.

    bayloom compile qwen3.onnx --dim batch_size=1 --dim sequence_length=1,2..512 \\
        --dim past_sequence_length=0..8300 --last-row logits --out lib
    time_decoder.py lib/libqwen3.so --prompt 512 --depths 128,2048,8192

Prints a line of JSON for each: tokens a second as the median of the rounds, and their quartiles.
"""

import argparse
import json
import statistics
import time

import numpy

import bayloom


def rates(runs):
    quartiles = statistics.quantiles(runs, n=4)
    return {"tokens_per_second": round(quartiles[1], 2), "quartiles": [round(quartiles[0], 2),
                                                                       round(quartiles[2], 2)]}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--prompt", type=int, default=512, help="tokens of a prompt")
    parser.add_argument("--depths", default="128,2048", help="tokens before the steps that are timed")
    parser.add_argument("--steps", type=int, default=32, help="of a round")
    parser.add_argument("--rounds", type=int, default=5, help="at least 2")
    given = parser.parse_args()
    if given.rounds < 2:
        parser.error("--rounds: quartiles need two rounds")
    decoder = bayloom.Decoder(given.library)
    tokens = numpy.random.default_rng(0).integers(0, decoder.words, decoder.capacity)

    runs = []
    for _ in range(given.rounds):
        decoder.reset()
        begin = time.perf_counter()
        decoder.step(tokens[:given.prompt])
        runs.append(given.prompt / (time.perf_counter() - begin))
    print(json.dumps({"prompt": given.prompt, **rates(runs)}), flush=True)

    for depth in (int(d) for d in given.depths.split(",")):
        decoder.reset()
        decoder.step(tokens[:depth])
        runs = []
        for number in range(given.rounds + 1):
            decoder.rewind(depth)
            begin = time.perf_counter()
            for step in range(given.steps):
                decoder.step(tokens[depth + step:depth + step + 1])
            if number > 0:  # the first round's memory is new
                runs.append(given.steps / (time.perf_counter() - begin))
        print(json.dumps({"depth": depth, **rates(runs)}), flush=True)


if __name__ == "__main__":
    main()
