# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""The backend of torch.compile."""

import warnings

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxscript")

import bayloom.torch  # noqa: E402

pytestmark = pytest.mark.usefixtures("bayloom_program")
OPTIONS = {"threads": 1, "effort": "none"}


class Small(torch.nn.Module):
    """With parameters, buffers, and two results."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.BatchNorm2d(8), torch.nn.ReLU())
        self.head = torch.nn.Linear(8, 4)

    def forward(self, image):
        features = self.layers(image)
        return features, self.head(features.mean(dim=(2, 3)))


@pytest.fixture
def loaded(monkeypatch):
    """The compiled networks that were loaded, with their numbers of calls."""
    networks = []
    load = bayloom.torch.load

    def recording(*arguments):
        network = load(*arguments)
        networks.append(0)
        place = len(networks) - 1

        def call(*arrays):
            networks[place] += 1
            return network(*arrays)
        return call

    monkeypatch.setattr(bayloom.torch, "load", recording)
    torch.compiler.reset()
    return networks


def close(a, b):
    return all(torch.allclose(x, y, rtol=1e-4, atol=1e-5) for x, y in zip(a, b))


def test_computes_what_torch_does(loaded):
    torch.manual_seed(1)
    model = Small().eval()
    compiled = torch.compile(model, backend=bayloom.torch.backend, options=OPTIONS, dynamic=False)
    with torch.no_grad():
        for _ in range(3):
            image = torch.randn(2, 3, 8, 8)
            assert close(compiled(image), model(image))
        assert loaded == [3]
        wide = torch.randn(1, 3, 8, 16)  # another shape: another library
        assert close(compiled(wide), model(wide)) and loaded == [3, 1]
        model.head.bias += 1  # no longer the constant that was compiled
        assert close(compiled(image), model(image)) and loaded == [3, 1]
    assert compiled(image)[1].requires_grad


def test_leaves_to_torch_what_it_cannot_compile(loaded):
    def values(x):
        return torch.linalg.svdvals(x) + 1

    x = torch.randn(4, 4)
    compiled = torch.compile(values, backend=bayloom.torch.backend)
    with torch.no_grad(), pytest.warns(UserWarning, match="leaves a graph to torch"):
        assert close([compiled(x)], [values(x)])
    assert loaded == []


def test_leaves_training_to_torch(loaded):
    model = Small().eval()
    compiled = torch.compile(model, backend=bayloom.torch.backend)
    with pytest.warns(UserWarning, match="under torch.no_grad"):
        compiled(torch.randn(1, 3, 8, 8))[1].sum().backward()
    assert model.head.weight.grad is not None and loaded == []


def test_unknown_options_are_refused(loaded):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(Exception, match="no option 'trials'; there are db, effort, threads"):
            torch.compile(lambda x: x + 1, backend=bayloom.torch.backend,
                          options={"trials": 3})(torch.zeros(2))
