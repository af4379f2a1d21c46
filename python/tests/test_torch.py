# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""The backend of torch.compile."""

import warnings

import pytest

torch = pytest.importorskip("torch", reason="scripts/setup --torch installs torch")
pytest.importorskip("onnxscript")

import bayloom.torch  # noqa: E402
import bayloom.torch_network  # noqa: E402

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
    """The compiled networks that were loaded, with their numbers of calls after the check."""
    networks = []
    load = bayloom.torch_network.load

    def recording(*arguments):
        network = load(*arguments)
        networks.append(-1)
        place = len(networks) - 1

        class Counting:
            outputs = network.outputs

            def __call__(self, *arrays, **named):
                networks[place] += 1
                return network(*arrays, **named)
        return Counting()

    monkeypatch.setattr(bayloom.torch_network, "load", recording)
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
        with pytest.warns(UserWarning, match="not those that were compiled"):
            assert close(compiled(image), model(image)) and loaded == [3, 1]
    assert compiled(image)[1].requires_grad


def test_leaves_to_torch_what_it_cannot_compile(loaded):
    def values(x):
        return torch.linalg.svdvals(x) + 1

    x = torch.randn(4, 4)
    compiled = torch.compile(values, backend=bayloom.torch.backend)
    with torch.no_grad(), pytest.warns(UserWarning, match="aten._linalg_svd.default: ONNX has no"):
        assert close([compiled(x)], [values(x)])
    assert loaded == []


def test_leaves_training_to_torch(loaded):
    model = Small().eval()
    compiled = torch.compile(model, backend=bayloom.torch.backend)
    with pytest.warns(UserWarning, match="under torch.no_grad"):
        compiled(torch.randn(1, 3, 8, 8))[1].sum().backward()
    assert model.head.weight.grad is not None and loaded == []


CHANGES = {
    "in place": lambda weight: weight.mul_(2),
    "by data": lambda weight: weight.data.mul_(2),
    "by NumPy": lambda weight: weight.detach().numpy().__imul__(2),
    "other memory": lambda weight: setattr(weight, "data", weight.data * 2),
}


@pytest.mark.parametrize("change", CHANGES)
def test_sees_changed_parameters(change, loaded):
    model = torch.nn.Linear(4, 4).eval()
    compiled = torch.compile(model, backend=bayloom.torch.backend, options=OPTIONS)
    x = torch.randn(2, 4)
    with torch.no_grad():
        compiled(x)
        CHANGES[change](model.weight)
        with pytest.warns(UserWarning, match="leaves a call to torch"):
            assert close([compiled(x)], [model(x)])
    assert loaded == [1]


def test_layers_of_one_class_have_their_own_parameters(loaded):
    layers = [torch.nn.Linear(4, 4).eval() for _ in range(2)]
    x = torch.randn(2, 4)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for layer in layers:
            compiled = torch.compile(layer, backend=bayloom.torch.backend, options=OPTIONS)
            assert close([compiled(x)], [layer(x)])


def test_prints_nothing(loaded, capfd):
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU()).eval()
    with torch.no_grad():
        torch.compile(model, backend=bayloom.torch.backend, options=OPTIONS)(torch.ones(2, 4))
    assert capfd.readouterr() == ("", "") and loaded == [1]


def test_keeps_libraries_for_later_processes(loaded, monkeypatch, tmp_path):
    monkeypatch.setenv("BAYLOOM_STORE", str(tmp_path / "store" / "programs.db"))
    compiled_models = []
    compile_model = bayloom.torch_network.compile_model
    monkeypatch.setattr(bayloom.torch_network, "compile_model",
                        lambda *given, **named: (compiled_models.append(given),
                                                 compile_model(*given, **named))[1])
    model = torch.nn.Linear(4, 4).eval()
    x = torch.randn(2, 4)

    def results():
        torch.compiler.reset()  # what a process remembers
        with torch.no_grad():
            return torch.compile(model, backend=bayloom.torch.backend, options=OPTIONS)(x)

    assert close([results(), results()], [model(x), model(x)])
    assert len(compiled_models) == 1 and loaded == [1, 1]
    model.weight.data[3, 3] += 1  # another network
    assert close([results()], [model(x)]) and len(compiled_models) == 2


def test_unknown_options_are_refused(loaded):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(Exception, match="no option 'trials'; there are db, effort, largest, threads"):
            torch.compile(lambda x: x + 1, backend=bayloom.torch.backend,
                          options={"trials": 3})(torch.zeros(2))
