# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Decoders of language models: steps, going back, copies, generation."""

import importlib.util
import pathlib

import numpy
import pytest

import bayloom
from bayloom import program

_MAKE_DECODER = pathlib.Path(__file__).parents[2] / "benchmarks/decoders/make_decoder.py"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    onnx = pytest.importorskip("onnx")
    spec = importlib.util.spec_from_file_location("make_decoder", _MAKE_DECODER)
    make_decoder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_decoder)
    folder = tmp_path_factory.mktemp("decoder")
    writer = make_decoder.Writer(make_decoder.FAMILIES["tiny"], 32, "optimum", 0)
    onnx.save(writer.model(), folder / "tiny.onnx")
    try:
        program.executable()
    except program.CommandFailed as error:
        pytest.skip(str(error))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BAYLOOM_STORE", "off")
        return bayloom.compile(folder / "tiny.onnx", folder, threads=1, effort="none",
                               dims={"batch_size": 1, "sequence_length": "1,2..8",
                                     "past_sequence_length": "0..31"})


@pytest.fixture
def decoder(library):
    return bayloom.Decoder(library)


def test_steps_are_as_one_step_with_all_tokens(decoder):
    tokens = [3, 200, 17, 17, 90, 1, 2, 3, 4, 5, 6, 7]
    for token in tokens:
        one_by_one = decoder.step([token])
    assert decoder.length == len(tokens)
    decoder.reset()
    numpy.testing.assert_allclose(decoder.step(tokens), one_by_one, rtol=1e-4, atol=1e-5)


def test_copies_go_their_own_ways(decoder):
    decoder.step([1, 2, 3])
    other = decoder.copy()
    expected = other.copy().step([9])
    decoder.rewind(1)
    decoder.step([50])
    assert (decoder.length, other.length) == (2, 3)
    numpy.testing.assert_array_equal(other.step([9]), expected)


def test_generates_the_most_likely_tokens_until_it_is_full(decoder):
    tokens = list(decoder.generate([1, 2, 3]))
    assert len(tokens) == decoder.capacity - 3 + 1  # the last one is not seen
    decoder.reset()
    logits = decoder.step([1, 2, 3])
    for token in tokens:
        assert token == logits.argmax()
        if decoder.length < decoder.capacity:
            logits = decoder.step([token])


def test_draws_the_same_tokens_with_the_same_seed(decoder):
    def drawn(seed, **options):
        decoder.reset()
        return list(decoder.generate([5], max_tokens=12, temperature=1.0, seed=seed, **options))
    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    assert drawn(1, top_k=1) == drawn(2, top_p=0.0)


def test_ends_behind_a_token_to_stop_at(decoder):
    tokens = list(decoder.generate([1, 2, 3], max_tokens=8))
    decoder.reset()
    first = tokens.index(tokens[4])
    assert list(decoder.generate([1, 2, 3], stop={tokens[4]})) == tokens[:first + 1]


def test_says_what_it_cannot_do(decoder):
    with pytest.raises(bayloom.MachineError, match="so many tokens"):
        decoder.step(range(decoder.capacity + 1))
    with pytest.raises(bayloom.MachineError, match="none of the model's words"):
        decoder.step([decoder.words])
    with pytest.raises(bayloom.MachineError, match="fewer tokens"):
        decoder.rewind(1)
    assert decoder.length == 0
