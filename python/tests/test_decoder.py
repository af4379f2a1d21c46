# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Decoders of language models: steps, going back, copies, generation."""

import pathlib

import numpy
import pytest

import bayloom
from bayloom import program

_DECODERS = pathlib.Path(__file__).parents[2] / "benchmarks/decoders"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Compiles a tiny decoder in a form of make_decoder.py; the model and the library."""
    onnx = pytest.importorskip("onnx")
    try:
        program.executable()
    except program.CommandFailed as error:
        pytest.skip(str(error))

    def compile_form(form, **dims):
        folder = tmp_path_factory.mktemp(form)
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(_DECODERS)
            patch.setenv("BAYLOOM_STORE", "off")
            import families
            import make_decoder
            model = make_decoder.FORMS[form](families.FAMILIES["tiny"], 32, 0).model()
            onnx.save(model, folder / "tiny.onnx")
            return model, bayloom.compile(folder / "tiny.onnx", folder, threads=1, effort="none",
                                          dims=dims)
    return compile_form


@pytest.fixture(scope="module")
def library(compiled):
    return compiled("optimum", batch_size=1, sequence_length="1,2..8",
                    past_sequence_length="0..31")[1]


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


def test_replaces_states_and_begins_again(compiled):
    reference = pytest.importorskip("onnx.reference")
    model, library = compiled("mamba", batch_size=1)
    decoder = bayloom.Decoder(library)
    assert decoder.capacity is None
    evaluator = reference.ReferenceEvaluator(model)
    states = {value.name: numpy.zeros([dim.dim_value or 1 for dim in value.type.tensor_type.shape.dim],
                                      "float32") for value in model.graph.input[1:]}
    token, seen = 7, []
    for _ in range(20):
        outputs = evaluator.run(None, {"input_ids": numpy.array([[token]]), **states})
        logits, states = outputs[0], dict(zip(states, outputs[1:]))
        seen.append(token)
        stepped = decoder.step([token])
        numpy.testing.assert_allclose(stepped, logits[0, 0], rtol=1e-4, atol=1e-4)
        token = int(stepped.argmax())
    with pytest.raises(bayloom.MachineError, match="all of its tokens only"):
        decoder.rewind(3)
    decoder.reset()
    numpy.testing.assert_allclose(decoder.step(seen), stepped, rtol=1e-4, atol=1e-4)
