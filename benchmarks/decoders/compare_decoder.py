#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0
"""A compiled decoder beside onnxruntime: greedy steps of both behind a prompt, then their times in turns.

    make_decoder.py tiny --form mamba --bits 32 --out mamba.onnx
    bayloom compile mamba.onnx --dim batch_size=1 --cache model --out lib
    compare_decoder.py mamba.onnx lib/libmamba.so --prompt 20 --steps 200

Prints a line of JSON: the largest difference of a logit relative to the largest one, at which step the
most likely tokens differ first (null: never), and tokens a second of both (medians).
"""

import argparse
import json
import statistics
import time

import numpy
import onnxruntime

import bayloom


class Session:
    """onnxruntime with the states of one generation: outputs become inputs."""

    def __init__(self, path, threads, held):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])
        self.fixed = {i.name: i for i in self.session.get_inputs()}
        self.held = held
        places = ("input_ids", "attention_mask", "position_ids", "cache_position", "write_indices",
                  "nonpad_kv_seqlen", "seqlens_k")
        states = [n for n in self.fixed if n not in places and n not in held]
        results = [o.name for o in self.session.get_outputs() if o.name != "logits"]
        self.next = dict(zip(states, results))
        self.reset()

    def reset(self):
        self.length, self.states = 0, {}
        for name in self.next:
            shape = [1 if d == "batch_size" else 0 if isinstance(d, str) else d
                     for d in self.fixed[name].shape]
            self.states[name] = numpy.zeros(shape, "float32")

    def step(self, ids):
        begin, end = self.length, self.length + len(ids)
        mask = self.fixed["attention_mask"].shape[1] if "attention_mask" in self.fixed else 0
        feed = {
            "input_ids": numpy.array([ids], "int64"),
            "attention_mask": (numpy.arange(mask if isinstance(mask, int) else end) < end)
                              .astype("int64")[None],
            "position_ids": numpy.arange(begin, end)[None],
            "cache_position": numpy.arange(begin, end),
            "write_indices": numpy.array([begin]),
            "nonpad_kv_seqlen": numpy.array([end]),
            "seqlens_k": numpy.array([[end - 1]], "int32"),
            **self.held, **self.states}
        outputs = self.session.run(["logits", *self.next.values()],
                                   {n: v for n, v in feed.items() if n in self.fixed})
        self.states = dict(zip(self.next, outputs[1:]))
        self.length = end
        return outputs[0].reshape(-1, outputs[0].shape[-1])[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("library")
    parser.add_argument("--prompt", type=int, default=16, help="tokens before the steps")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=0, help="of times in turns; 0: none")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    decoder = bayloom.Decoder(given.library, threads=given.threads)
    random = numpy.random.default_rng(0)
    held = {name: random.standard_normal(tensor.largest).astype(tensor.dtype)
            if tensor.dtype == "float32" else numpy.ones(tensor.largest, tensor.dtype)
            for name in decoder.held
            for tensor in [next(t for t in decoder.inputs if t.name == name)]}
    session = Session(given.model, given.threads, held)
    decoder.hold(held)
    prompt = random.integers(0, decoder.words, given.prompt).tolist()

    for token in prompt[:-1]:  # not all models take several
        session.step([token])
    decoder.step(prompt[:-1])
    token, largest, differs = prompt[-1], 0.0, None
    for step in range(given.steps):
        ours, theirs = decoder.step([token]), session.step([token])
        largest = max(largest, float(numpy.abs(ours - theirs).max() / numpy.abs(theirs).max()))
        token = int(theirs.argmax())
        if differs is None and token != int(ours.argmax()):
            differs = step
    result = {"largest_difference": largest, "differs_at": differs, "steps": given.steps}
    rates = {"bayloom": [], "onnxruntime": []}
    for _ in range(given.rounds):
        for name, side in (("bayloom", decoder), ("onnxruntime", session)):
            side.reset()
            for token in prompt:
                side.step([token])
            begin = time.perf_counter()
            for step in range(given.steps):
                side.step([step % decoder.words])
            rates[name].append(given.steps / (time.perf_counter() - begin))
    if given.rounds:
        result.update({name: round(statistics.median(all_), 1) for name, all_ in rates.items()})
    print(json.dumps(result))


if __name__ == "__main__":
    main()
