# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Language models: tokens in, tokens out."""

import ctypes
import os
import tempfile
from typing import Any, Container, Iterator, Mapping, Optional, Sequence, Union

from . import commands
from ._core import InputError
from .compiled import CompiledNetwork, Tensor, _buffers, _view


class Decoder:
    """A language model's decoder that remembers the tokens it has seen.

        decoder = bayloom.Decoder("lib/libqwen3.so")
        for token in decoder.generate([1, 2, 3], max_tokens=50, top_k=40, seed=1):
            print(token)

    `model` is a library of `bayloom.compile`, or an ONNX model, which is compiled first; `dims` and
    further options are as for `bayloom.compile`. Caches of fixed size become states that grow.
    Raises InputError for what is no decoder.
    """

    def __init__(self, model: Union[str, os.PathLike], threads: Optional[int] = None,
                 dims: Optional[Mapping] = None, **options: Any):
        if os.fspath(model).endswith(".so"):
            self._network = CompiledNetwork(model, threads)
        else:
            # The library stays loaded when its file is gone.
            with tempfile.TemporaryDirectory(prefix="bayloom-") as folder:
                options.setdefault("cache", "model")
                library = commands.compile(model, folder, threads=threads, dims=dims, **options)
                self._network = CompiledNetwork(library, threads)
        described = self._network.decoder
        if described is None:
            raise InputError(f"{model}: no decoder; 'bayloom check' says why")
        # Tokens that are remembered at most; None: there is no limit.
        self.capacity: Optional[int] = (described["capacity"] if described["capacity"] < 2**63 - 1
                                        else None)
        self.words: int = described["words"]
        function, pointer = self._network._function, ctypes.c_void_p
        self._step = function("step", ctypes.c_int, pointer, pointer, ctypes.c_size_t, pointer)
        self._length = function("length", ctypes.c_size_t, pointer)
        self._rewind = function("rewind", ctypes.c_int, pointer, ctypes.c_size_t)
        self._copy = function("copy", ctypes.c_int, pointer, pointer)
        self._held: Mapping[str, int] = described["held"]
        if self._held:
            self._set = function("set", ctypes.c_int, pointer, ctypes.c_int, pointer)

    @property
    def inputs(self) -> Sequence[Tensor]:
        """Of the network, in their order."""
        return self._network.inputs

    @property
    def held(self) -> Sequence[str]:
        """The inputs that are the same in all steps, which `hold` gives before the first one."""
        return list(self._held)

    def hold(self, values: Mapping[str, Any]) -> None:
        """Gives inputs that are the same in all steps, such as what an encoder has computed, as
        arrays of NumPy or tensors of torch. Forgets all tokens. Raises InputError for other inputs
        and types."""
        for name, value in values.items():
            if name not in self._held:
                raise InputError(f"'{name}' is no input that is held; those are {self.held}")
            tensor, view = self._network.inputs[self._held[name]], _view(value)
            if view.dtype != tensor.dtype or len(view.shape) != len(tensor.shape):
                raise InputError(f"{tensor} is given as {view.dtype}{list(view.shape)}")
            with self._network._lock:
                self._network._check(self._set(self._network._model, self._held[name],
                                               _buffers([view])))

    @property
    def length(self) -> int:
        """How many tokens are remembered."""
        return self._length(self._network._model)

    def step(self, ids: Sequence[int]) -> Any:
        """Takes tokens that follow those seen; the logits of the next word, an array of NumPy.
        Raises MachineError where there is no room for them."""
        import numpy
        tokens = numpy.ascontiguousarray(ids, "int64").reshape(-1)
        logits = numpy.empty(self.words, "float32")
        with self._network._lock:
            self._network._check(self._step(self._network._model, tokens.ctypes.data, tokens.size,
                                            logits.ctypes.data))
        return logits

    def rewind(self, length: int) -> None:
        """Forgets all but the first `length` tokens. Raises MachineError where the model has states
        that each step replaces, which can forget all tokens or none: `copy` keeps them."""
        if length < 0:
            raise InputError(f"a length of {length}")
        with self._network._lock:
            self._network._check(self._rewind(self._network._model, length))

    def reset(self) -> None:
        """Forgets all tokens."""
        self.rewind(0)

    def copy(self) -> "Decoder":
        """Another one that has seen the same tokens."""
        other = object.__new__(Decoder)
        other.__dict__.update(self.__dict__, _network=self._network.another())
        with self._network._lock:
            self._network._check(self._copy(self._network._model, other._network._model))
        return other

    def generate(self, ids: Sequence[int], max_tokens: Optional[int] = None, *,
                 top_k: Optional[int] = None, top_p: Optional[float] = None,
                 temperature: float = 0.0, seed: Optional[int] = None,
                 stop: Container[int] = ()) -> Iterator[int]:
        """The tokens that follow `ids` and those seen before, one by one: the most likely ones, or
        with a temperature above 0 drawn from the `top_k` most likely ones, or from as many as
        together have the probability `top_p`. Ends after a token in `stop`, after `max_tokens`, or
        when there is no more room."""
        import numpy
        random = numpy.random.default_rng(seed)
        logits = self.step(ids)
        made = 0
        while max_tokens is None or made < max_tokens:
            token = _choose(logits, top_k, top_p, temperature, random)
            yield token
            made += 1
            if token in stop or self.length == self.capacity:
                return
            if made != max_tokens:
                logits = self.step([token])


def _choose(logits: Any, top_k: Optional[int], top_p: Optional[float], temperature: float,
            random: Any) -> int:
    import numpy
    if temperature <= 0:
        return int(logits.argmax())
    order = numpy.argsort(-logits, kind="stable")[:top_k]
    weights = numpy.exp((logits[order].astype("float64") - logits[order[0]]) / temperature)
    weights /= weights.sum()
    if top_p is not None:
        count = int(numpy.searchsorted(weights.cumsum(), top_p)) + 1
        order, weights = order[:count], weights[:count] / weights[:count].sum()
    return int(random.choice(order, p=weights))
