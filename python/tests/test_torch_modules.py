# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""The backend of torch.compile beside torch itself: results, what they share, what is written."""

import copy
import re
import warnings

import pytest

torch = pytest.importorskip("torch", reason="scripts/setup --torch installs torch")
pytest.importorskip("onnxscript")

import bayloom.torch  # noqa: E402
import bayloom.torch_network  # noqa: E402

nn, F = torch.nn, torch.nn.functional
pytestmark = pytest.mark.usefixtures("bayloom_program")

COMPILED, IN_PART, LEFT = "compiled", "in part", "left to torch"


class Function(nn.Module):
    """A function with a buffer `state`."""

    def __init__(self, function, state=None):
        super().__init__()
        self.function = function
        self.register_buffer("state", state)

    def forward(self, *inputs):
        return self.function(self, *inputs)


def count(self, x):
    self.state += 1
    return x + self.state


def cache(self, x):
    self.state[:, 1:] = self.state[:, :-1].clone()
    self.state[:, 0] = x
    return self.state.sum(dim=1)


def index_cache(self, x, place):
    self.state.index_copy_(0, place, x)
    return self.state * 2


def add_in_place(self, x):
    x.add_(1)
    return x * 2


def write_through_view(self, x):
    x.view(-1)[1:3].mul_(3)
    return x.sum(dim=0) + 1


def swap_in_place(self, x, y):
    old = x.clone()
    x.copy_(y)
    y.copy_(old)
    return x - y


def branch(self, x):
    return x * 2 if x.sum() > 0 else x - 1


def loop(self, x):
    for i in range(3):
        x = torch.tanh(x) + i
    return x


def autocast_inside(self, x):
    with torch.autocast("cpu", torch.bfloat16):
        y = x @ x.T
    return y, x + 1


def grad_inside(self, x):
    with torch.enable_grad():
        return x * 3 + 1


def constant_indices(self, x):
    return self.state.scatter_add_(0, torch.tensor([0, 0, 1]), x) + 1


def singular_values(self, x):
    return (torch.linalg.svdvals((x @ x.T).relu() + 1) * 2 + 1).sin().cos()


def noise(self, x):
    self.state.add_(x.mean(0))
    first = torch.rand(4, 4) @ (x - self.state).T
    return (first + torch.rand_like(first)).relu().sin() + 1, torch.randn(2)


def branch_draws(self, x):
    drawn = torch.cond(x.sum() > -100, lambda y: y + torch.rand_like(y), lambda y: y - 1, (x,))
    return drawn.sin().cos().exp()


def random_layers():
    """As in training, or for Monte Carlo dropout."""
    return nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.GELU(), nn.Dropout(0.5),
                         nn.Linear(4, 4), nn.ReLU(), nn.Tanh(), nn.Dropout(0.2))


def image_layers():
    return nn.Sequential(conv(), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(1))


def transposed_strides(self, x):
    return x.t() * 2


def x(*shape, **options):
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape)), **options)


def conv():
    return nn.Conv2d(3, 4, 3, padding=1)


def encoder(**options):
    return nn.TransformerEncoder(
        nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, **options), 2,
        enable_nested_tensor=False)


class SelfAttention(nn.Module):
    def __init__(self, need_weights):
        super().__init__()
        self.attention, self.need_weights = nn.MultiheadAttention(8, 2, batch_first=True), need_weights

    def forward(self, x, mask=None):
        result = self.attention(x, x, x, attn_mask=mask, need_weights=self.need_weights)
        return result if self.need_weights else result[0]


CAUSAL = torch.ones(3, 3, dtype=torch.bool).triu(1)
PADDING = torch.tensor([[False, False, True], [False, False, False]])

# Name: module, inputs, what becomes of it; in eval mode unless it says train.
CASES = {
    # What is written
    "counter": (lambda: Function(count, torch.zeros(1)), lambda: [x(2, 3)], COMPILED),
    "cache": (lambda: Function(cache, torch.zeros(2, 4)), lambda: [x(2)], COMPILED),
    "index_copy": (lambda: Function(index_cache, torch.zeros(4, 2)),
                   lambda: [x(1, 2), torch.tensor([2])], COMPILED),
    "input_in_place": (lambda: Function(add_in_place), lambda: [x(4, 8)], COMPILED),
    "through_a_view": (lambda: Function(write_through_view), lambda: [x(4, 8)], COMPILED),
    "two_inputs": (lambda: Function(swap_in_place), lambda: [x(4), x(4)], COMPILED),
    "one_input_twice": (lambda: Function(lambda self, a, b: a.add_(b) * 2),
                        lambda: [x(4)] * 2, None),
    "overlapping_inputs": (lambda: Function(lambda self, a, b: a.add_(1) + b),
                           lambda: (lambda whole: [whole[:4], whole[2:]])(x(6)), LEFT),
    "transposed_in_place": (lambda: Function(lambda self, a: a.t_() + 1), lambda: [x(2, 3)], None),
    "batch_norm_train": (lambda: nn.BatchNorm1d(4), lambda: [x(8, 4)], COMPILED),
    "batch_norm_bfloat16_train": (lambda: image_layers().bfloat16(),
                                  lambda: [x(2, 3, 6, 6).bfloat16()], COMPILED),
    "constant_indices": (lambda: Function(constant_indices, torch.zeros(4)), lambda: [x(3)],
                         COMPILED),
    "intermediate_in_place": (lambda: Function(lambda self, a: (a * 2).add_(1).relu_()),
                              lambda: [x(4, 4)], COMPILED),
    # What is shared
    "an_input": (lambda: Function(lambda self, a: (a, a + 1)), lambda: [x(2, 2)], COMPILED),
    "a_view": (lambda: Function(lambda self, a: (a.view(-1), a.t(), a * 2)), lambda: [x(2, 3)],
               COMPILED),
    "a_written_input": (lambda: Function(lambda self, a: (a.add_(1), a.sum())), lambda: [x(3)],
                        COMPILED),
    "two_views_of_one": (lambda: Function(lambda self, a: (lambda b: (b.view(-1), b.t()))(a * 2)),
                         lambda: [x(2, 3)], LEFT),
    "views_of_one": (lambda: Function(lambda self, a: ((a * 2 + 1).sin()).chunk(2, 1)),
                     lambda: [x(2, 4)], COMPILED),
    "one_twice": (lambda: Function(lambda self, a: (lambda b: (b, b))(a * 2)), lambda: [x(2, 3)],
                  COMPILED),
    "only_a_view": (lambda: Function(lambda self, a: a[1:]), lambda: [x(2, 3)], LEFT),
    "a_buffer": (lambda: Function(lambda self, a: (self.state, a + self.state), torch.ones(3)),
                 lambda: [x(3)], COMPILED),
    # Memory
    "transposed_result": (lambda: Function(transposed_strides), lambda: [x(2, 3)], COMPILED),
    "strided_input": (lambda: Function(lambda self, a: a + 1), lambda: [x(4, 6)[::2, 1::2]],
                      COMPILED),
    "expanded_input": (lambda: Function(lambda self, a: a.exp()), lambda: [x(1, 3).expand(4, 3)],
                       COMPILED),
    "negated_input": (lambda: Function(lambda self, a: a * 2),
                      lambda: [torch._neg_view(x(3))], None),
    "channels_last": (lambda: conv().to(memory_format=torch.channels_last),
                      lambda: [x(1, 3, 6, 6).to(memory_format=torch.channels_last)], COMPILED),
    "empty": (lambda: Function(lambda self, a: a * 2), lambda: [x(0, 3)], None),
    "scalar": (lambda: Function(lambda self, a: a * 2), lambda: [torch.tensor(3.0)], COMPILED),
    # Types
    "float64": (lambda: nn.Linear(4, 3).double(), lambda: [x(2, 4).double()], COMPILED),
    "float16": (lambda: nn.Linear(4, 3).half(), lambda: [x(2, 4).half()], COMPILED),
    "bfloat16": (lambda: nn.Linear(4, 3).bfloat16(), lambda: [x(2, 4).bfloat16()], COMPILED),
    "bfloat16_image": (lambda: image_layers().bfloat16(), lambda: [x(1, 3, 6, 6).bfloat16()],
                       COMPILED),
    "integers": (lambda: Function(lambda self, a: (a * 3 - 1, a > 2)), lambda: [torch.arange(6)],
                 COMPILED),
    "truth_values": (lambda: Function(lambda self, a: ~a), lambda: [x(4) > 0], COMPILED),
    "complex": (lambda: Function(lambda self, a: a * 2), lambda: [x(4).to(torch.complex64)], LEFT),
    "autocast_inside": (lambda: Function(autocast_inside), lambda: [x(4, 8)], None),
    "embedding": (lambda: nn.Embedding(5, 4), lambda: [torch.tensor([[1, 4], [0, 2]])], COMPILED),
    # Random numbers
    "rand_like": (lambda: Function(lambda self, a: a + torch.rand_like(a)), lambda: [x(8)], LEFT),
    "dropout_train": (lambda: nn.Dropout(0.5), lambda: [x(8)], LEFT),
    "layers_train": (random_layers, lambda: [x(8, 4)], IN_PART),
    "encoder_train": (lambda: encoder(), lambda: [x(2, 3, 8)], IN_PART),
    "noise": (lambda: Function(noise, torch.zeros(4)), lambda: [x(4, 4)], IN_PART),
    "branch_draws": (lambda: Function(branch_draws), lambda: [x(4)], IN_PART),
    "dropout_eval": (lambda: nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)), lambda: [x(2, 4)],
                     COMPILED),
    # Layers and control flow
    "singular_values": (lambda: Function(singular_values), lambda: [x(4, 4)], IN_PART),
    "convolution": (lambda: nn.Sequential(conv(), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2)),
                    lambda: [x(2, 3, 8, 8)], COMPILED),
    "encoder": (lambda: encoder(), lambda: [x(2, 3, 8)], COMPILED),
    "encoder_norm_first": (lambda: encoder(norm_first=True, activation="gelu"),
                           lambda: [x(2, 3, 8)], COMPILED),
    "encoder_causal": (lambda: encoder(), lambda: [x(2, 3, 8), CAUSAL], None),
    "encoder_padding": (lambda: encoder(), lambda: [x(2, 3, 8), None, PADDING], COMPILED),
    "attention": (lambda: SelfAttention(True), lambda: [x(2, 3, 8)], COMPILED),
    "attention_masked": (lambda: SelfAttention(False), lambda: [x(2, 3, 8), CAUSAL], COMPILED),
    "attention_dropout": (lambda: Function(lambda self, a: F.scaled_dot_product_attention(
        a, a, a, dropout_p=0.5)), lambda: [x(1, 2, 3, 8)], None),
    "branch": (lambda: Function(branch), lambda: [x(4)], None),
    "loop": (lambda: Function(loop), lambda: [x(4)], COMPILED),
    "sizes_of_values": (lambda: Function(lambda self, a: a[a > 0] * 2), lambda: [x(8)], None),
    "recurrent": (lambda: nn.GRU(4, 4), lambda: [x(3, 1, 4)], None),
    "grad_inside": (lambda: Function(grad_inside), lambda: [x(4)], None),
}


def outcome(model, inputs):
    """Of two calls: the results, which of them share memory with what, and all that is written."""
    results = []
    for _ in range(2):
        returned = model(*inputs)
        results += list(returned) if isinstance(returned, (tuple, list)) else [returned]
    state = [value for value in [*inputs, *model.state_dict().values()] if value is not None]
    places = [value.untyped_storage().data_ptr() for value in [*state, *results]]
    shared = [places.index(place) if value.numel() else None
              for place, value in zip(places, [*state, *results])]
    return results, state, shared


def assert_same(ours, theirs):
    for a, b in zip(ours, theirs):
        assert (a.dtype, a.shape, a.stride()) == (b.dtype, b.shape, b.stride())
        tolerance = 2e-2 if a.dtype in (torch.bfloat16, torch.float16) else 1e-4
        torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)
    assert len(ours) == len(theirs)


@pytest.fixture
def loads(monkeypatch):
    """The libraries that are loaded."""
    loaded = []
    load = bayloom.torch_network.load
    monkeypatch.setattr(bayloom.torch_network, "load",
                        lambda *given: (loaded.append(given), load(*given))[1])
    torch.compiler.reset()
    return loaded


def compiled(model):
    return torch.compile(model, backend=bayloom.torch.backend, dynamic=False,
                         options={"threads": 1, "effort": "none"})


@pytest.mark.parametrize("name", CASES)
def test_is_as_torch(name, loads):
    make, inputs, expected = CASES[name]
    torch.manual_seed(1)
    model = make().train(name.endswith("_train"))
    ours, theirs = model, copy.deepcopy(model)
    with torch.no_grad(), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        torch.manual_seed(2)
        results, state, shared = outcome(compiled(ours), inputs())
        torch.manual_seed(2)
        their_results, their_state, their_shared = outcome(theirs, inputs())
    assert_same(results, their_results)
    assert_same(state, their_state)
    assert shared == their_shared
    reasons = [str(each.message) for each in said if "bayloom" in str(each.message)]
    if expected == COMPILED:
        assert loads and reasons == []
    elif expected == IN_PART:
        assert loads and len(reasons) == 1
        assert re.match(r"bayloom leaves \d+ of \d+ operators to torch: [\w., ]+: \w", reasons[0])
    elif expected == LEFT:
        assert reasons and all("leaves a graph to torch: " in reason and "\n" not in reason
                               and "\x1b" not in reason for reason in reasons)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, torch.enable_grad])
def test_modes_of_gradients(mode, loads):
    model = nn.Linear(4, 2).eval()
    run = compiled(model)
    for context in (mode, torch.no_grad, mode):
        with context(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours, theirs = run(torch.ones(3, 4)), model(torch.ones(3, 4))
        assert torch.allclose(ours, theirs, atol=1e-5)
        assert (ours.requires_grad, ours.is_inference()) == (theirs.requires_grad,
                                                             theirs.is_inference())


def test_train_and_eval_of_one_model(loads):
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    other, run = copy.deepcopy(model), compiled(model)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for training in (False, True, False):
            model.train(training), other.train(training)
            torch.testing.assert_close(run(x(8, 4)), other(x(8, 4)), rtol=1e-4, atol=1e-4)
            assert_same(list(model.state_dict().values()), list(other.state_dict().values()))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("make, shape", [
    (lambda: nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.GELU()), (2, 8)),
    (image_layers, (1, 3, 6, 6))], ids=["layers", "image"])
def test_autocast_outside(make, shape, dtype, loads):
    model = make().eval()
    run = compiled(model)
    with torch.no_grad(), warnings.catch_warnings(), torch.autocast("cpu", dtype):
        warnings.filterwarnings("error", message="bayloom")
        ours, theirs = run(x(*shape)), model(x(*shape))
    assert ours.dtype == theirs.dtype == dtype and loads
    torch.testing.assert_close(ours, theirs, rtol=2e-2, atol=2e-2)
    with torch.no_grad():
        torch.testing.assert_close(run(x(*shape)), model(x(*shape)), rtol=1e-4, atol=1e-4)


def test_parts_left_to_torch_are_not_converted_again(loads):
    """Which torch.autocast would do to operators that are called under it."""
    model = Function(lambda self, a: (torch.linalg.svdvals(a @ a.T) * 2 + 1).sin().float() @ a)
    run = compiled(model)
    with torch.no_grad(), warnings.catch_warnings(), torch.autocast("cpu", torch.bfloat16):
        warnings.simplefilter("ignore")
        ours, theirs = run(x(4, 4)), model(x(4, 4))
    assert ours.dtype == theirs.dtype
    torch.testing.assert_close(ours, theirs, rtol=5e-2, atol=5e-2)


def test_says_once_what_is_left(loads):
    run = compiled(Function(singular_values))
    with torch.no_grad(), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")
        for _ in range(3):
            run(x(4, 4))
    reasons = [str(each.message) for each in said if "bayloom" in str(each.message)]
    assert reasons == ["bayloom leaves 1 of 9 operators to torch: aten._linalg_svd.default: "
                       "ONNX has no operator for it"]
