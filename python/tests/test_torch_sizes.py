# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""The backend of torch.compile with sizes that differ from call to call."""

import math
import warnings

import pytest

torch = pytest.importorskip("torch", reason="scripts/setup --torch installs torch")
pytest.importorskip("onnxscript")

import bayloom.torch  # noqa: E402
import bayloom.torch_network  # noqa: E402

pytestmark = pytest.mark.usefixtures("bayloom_program")


class Gelu(torch.nn.Module):
    """As transformers' GPT-2 has it."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)

    def forward(self, x):
        x = self.layer(x)
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x.pow(3))))


class Reader(torch.nn.Module):
    """A layer of a transformer over token numbers of any length, with positions."""

    def __init__(self, causal=False):
        super().__init__()
        self.words, self.places = torch.nn.Embedding(50, 16), torch.nn.Embedding(512, 16)
        self.projected, self.out = torch.nn.Linear(16, 48), torch.nn.Linear(16, 5)
        self.causal = causal

    def forward(self, ids, mask):
        x = self.words(ids) + self.places(torch.arange(ids.shape[1]))
        q, k, v = (y.unflatten(-1, (2, 8)).transpose(1, 2)
                   for y in self.projected(x).chunk(3, dim=-1))
        scores = q @ k.transpose(2, 3) + (1.0 - mask[:, None, None, :]) * -1e4
        if self.causal:
            hidden = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).triu(1)
            scores = scores.masked_fill(hidden, -1e4)
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


@pytest.fixture
def ranges(monkeypatch):
    """The open sizes of each compilation, of which the second values are the largest lengths."""
    compilations = []
    compile_model = bayloom.torch_network.compile_model

    def recording(*given, dims, **named):
        compilations.append(list(dims.values()))
        return compile_model(*given, dims=dims, **named)

    monkeypatch.setattr(bayloom.torch_network, "compile_model", recording)
    torch.compiler.reset()
    torch.manual_seed(1)
    return compilations


def compiled(model, dynamic=None, **options):
    return torch.compile(model, backend=bayloom.torch.backend, dynamic=dynamic,
                         options={"threads": 1, "effort": "none", **options})


def text(batch, length):
    return torch.randint(0, 50, (batch, length)), (torch.rand(batch, length) < 0.8).float()


def assert_same(run, model, *inputs):
    """Compares a call with torch's own, which nothing may be left to."""
    with torch.no_grad(), warnings.catch_warnings():
        warnings.filterwarnings("error", message="bayloom")
        ours, theirs = run(*inputs), model(*inputs)
    ours, theirs = (x if isinstance(x, tuple) else (x,) for x in (ours, theirs))
    for a, b in zip(ours, theirs):
        if isinstance(a, torch.Tensor):
            assert (a.dtype, a.shape, a.stride()) == (b.dtype, b.shape, b.stride())
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)
        else:
            assert a == b
    assert len(ours) == len(theirs)


@pytest.mark.parametrize("causal", [False, True])
def test_compiles_once(causal, ranges):
    model = Reader(causal).eval()
    run = compiled(model, dynamic=True)
    for length in (37, 2, 3, 16, 33, 64, 90, 101, 127, 128):
        assert_same(run, model, *text(3, length))
    for batch in (2, 8):
        assert_same(run, model, *text(batch, 20))
    assert ranges == [["2..8", "2..128"]]
    ids, mask = text(3, 5)
    with pytest.warns(UserWarning, match="under torch.no_grad"):
        run(ids, mask).sum().backward()
    assert model.out.weight.grad is not None and len(ranges) == 1


class Halves(torch.nn.Module):
    """Features of half and of a quarter of an image, resized to the half."""

    def __init__(self):
        super().__init__()
        self.halve = torch.nn.Conv2d(3, 4, 3, stride=2, padding=1)
        self.quarter = torch.nn.Conv2d(4, 4, 3, stride=2, padding=1)

    def forward(self, image):
        half = self.halve(image).relu()
        small = self.quarter(half).relu()
        wide = torch.nn.functional.interpolate(small, size=half.shape[2:], mode="bilinear")
        return torch.cat([wide, half], dim=1)


def test_images_of_any_size(ranges):
    model = Halves().eval()
    run = compiled(model, dynamic=True)
    for height, width in ((37, 50), (40, 41), (64, 64), (127, 33)):
        assert_same(run, model, torch.randn(2, 3, height, width))
    assert len(ranges) == 1


def test_takes_the_largest_length_from_torch(ranges):
    model = Reader().eval()
    run = compiled(model)
    ids, mask = text(2, 7)
    for tensor in (ids, mask):
        torch._dynamo.mark_dynamic(tensor, 1, min=2, max=300)
    for inputs in ((ids, mask), text(2, 300)):
        assert_same(run, model, *inputs)
    assert ranges == [["2..300"]]


def test_compiles_again_for_larger_sizes(ranges):
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU()).eval()
    run = compiled(model, dynamic=True, largest=40)
    for length in (3, 40, 41, 82, 83, 5):
        assert_same(run, model, torch.randn(length, 4))
    assert ranges == [["2..40"], ["2..128"]]


def test_second_sizes_become_open(ranges):
    """What torch does unless it is told otherwise."""
    model = torch.nn.Linear(4, 8).eval()
    run = compiled(model)
    for length in (3, 9, 5, 32):
        assert_same(run, model, torch.randn(length, 4))
    assert ranges == [[], ["2..32"]]


def append(past, x):
    both = torch.cat([past, x * 2], dim=1)
    return both, both.transpose(0, 1) + 1, both.sum(dim=1)


def write(past, x):
    past.mul_(2)
    return past, x[:, 1:], past + x[:, :1], x.shape[1] * 3


@pytest.mark.parametrize("function", [append, write])
def test_shapes_strides_and_memory(function, ranges):
    run = compiled(function, dynamic=True)
    for past, new in ((5, 3), (2, 8), (10, 7)):
        inputs = torch.randn(2, past, 4), torch.randn(2, new, 4)
        others = tuple(x.clone() for x in inputs)
        assert_same(lambda *_: run(*inputs), lambda *_: function(*others))
        assert all(map(torch.equal, inputs, others))
    assert len(ranges) == 1


def test_leaves_other_numbers_to_torch(ranges):
    def scaled(x, factor):
        return x * factor + 1

    run = compiled(scaled, dynamic=True)
    with torch.no_grad(), pytest.warns(UserWarning, match="whole number.*dynamic=False"):
        assert torch.equal(run(torch.ones(3, 4), 7), torch.full((3, 4), 8.0))


def test_says_how_to_compile_several_sizes(ranges):
    def halves(x):
        return x.view(-1, 2, 4).flip(0).sum(1)

    run = compiled(halves, dynamic=True)
    with torch.no_grad(), pytest.warns(UserWarning, match="dynamic=False.*mark_static"):
        assert run(torch.ones(6, 4)).tolist() == [[2.0] * 4] * 3


def test_floats_that_torch_takes_for_dynamic(ranges):
    model = Gelu().eval()
    run = compiled(model, dynamic=True)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.filterwarnings("error", message="bayloom")
        for length in (3, 7, 2):
            given = torch.randn(length, 8)
            torch.testing.assert_close(run(given), model(given), rtol=1e-4, atol=1e-4)
    assert len(ranges) == 1
