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
                                          cache="model", dims=dims)
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


class Reference:
    """A model evaluated by its definition, step by step, its outputs being its next states."""

    def __init__(self, model, **held):
        reference = pytest.importorskip("onnx.reference")
        self.evaluator, self.held, self.length = reference.ReferenceEvaluator(model), held, 0
        states = [value for value in model.graph.input
                  if value.name.startswith("past_") and value.name not in held]
        self.names = [value.name for value in model.graph.input]
        self.states = {}
        for value in states:
            dims = [dim.dim_value or (0 if dim.dim_param == "past_sequence_length" else 1)
                    for dim in value.type.tensor_type.shape.dim]
            self.states[value.name] = numpy.zeros(dims, "float32")

    def step(self, token):
        end = self.length + 1
        feed = {"input_ids": numpy.array([[token]]), "cache_position": numpy.array([self.length]),
                "attention_mask": numpy.ones((1, end), "int64"),
                "position_ids": numpy.array([[self.length]]), **self.held, **self.states}
        logits, *states = self.evaluator.run(None, {n: feed[n] for n in self.names})
        self.states, self.length = dict(zip(self.states, states)), end
        return logits[0, -1]


def expect_greedy_steps(decoder, reference, count):
    """The tokens."""
    token, tokens = 7, []
    for _ in range(count):
        tokens.append(token)
        logits = decoder.step([token])
        numpy.testing.assert_allclose(logits, reference.step(token), rtol=1e-4, atol=1e-4)
        token = int(logits.argmax())
    return tokens


def test_replaces_states_and_begins_again(compiled):
    model, library = compiled("mamba", batch_size=1)
    decoder = bayloom.Decoder(library)
    assert decoder.capacity is None
    seen = expect_greedy_steps(decoder, Reference(model), 40)
    other = decoder.copy()
    with pytest.raises(bayloom.MachineError, match="so few tokens any more"):
        decoder.rewind(3)
    decoder.reset()
    decoder.step(seen)
    numpy.testing.assert_allclose(decoder.step([5]), other.step([5]), rtol=1e-4, atol=1e-4)


def test_replaces_some_states_and_lets_others_grow(compiled):
    model, library = compiled("hybrid", batch_size=1, sequence_length=1,
                              past_sequence_length="0..63")
    expect_greedy_steps(bayloom.Decoder(library), Reference(model), 60)


def test_a_window_slides_over_any_number_of_tokens(compiled):
    model, library = compiled("sliding", batch_size=1, sequence_length="1,2..8",
                              past_sequence_length="0..100")
    decoder, reference = bayloom.Decoder(library), Reference(model)
    assert decoder.capacity is None
    tokens = expect_greedy_steps(decoder, reference, 400)  # with the caches of all tokens
    other = decoder.copy()
    expected = other.step([3, 4, 5])
    with pytest.raises(bayloom.MachineError, match="so few tokens any more"):
        decoder.rewind(200)
    decoder.step([9])
    decoder.rewind(400)
    numpy.testing.assert_allclose(decoder.step([3, 4, 5]), expected, rtol=1e-4, atol=1e-4)
    decoder.reset()
    decoder.step(tokens)
    numpy.testing.assert_allclose(decoder.step([3, 4, 5]), expected, rtol=1e-4, atol=1e-4)


def test_caches_of_fixed_size_grow_up_to_it(compiled):
    model, library = compiled("static", batch_size=1, sequence_length=1)
    decoder = bayloom.Decoder(library)
    assert decoder.capacity == 256
    expect_greedy_steps(decoder, Reference(model), 256)
    with pytest.raises(bayloom.MachineError, match="so many tokens"):
        decoder.step([1])


def test_holds_what_is_the_same_in_all_steps(compiled):
    model, library = compiled("cross", batch_size=1, sequence_length=1,
                              past_sequence_length="0..63", encoder_sequence_length="1..12")
    decoder = bayloom.Decoder(library)
    with pytest.raises(bayloom.MachineError, match="was not set"):
        decoder.step([1])
    random = numpy.random.default_rng(3)
    for frames in (12, 5):
        held = {name: random.standard_normal((1, 2, frames, 16)).astype("float32")
                for name in decoder.held if "mask" not in name}
        held["encoder_attention_mask"] = (numpy.arange(frames) > 1).astype("int64")[None]
        decoder.hold(held)
        assert decoder.length == 0
        expect_greedy_steps(decoder, Reference(model, **held), 20)
    with pytest.raises(bayloom.InputError, match="no input that is held"):
        decoder.hold({"input_ids": held["encoder_attention_mask"]})
    with pytest.raises(bayloom.InputError, match="is given as float64"):
        decoder.hold({decoder.held[1]: numpy.zeros((1, 2, 5, 16))})
