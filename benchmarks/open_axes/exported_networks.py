# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Networks with open sizes, exported with random weights as their packages' users export them.

Each function of NETWORKS gives a Network; `write` makes an ONNX file of it.
"""

import dataclasses
import inspect
import os
import pathlib
import shutil
import sys
from typing import Any, Callable, Mapping, Optional

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "real_models"))

SEED = 0


@dataclasses.dataclass
class Network:
    """`inputs` are named examples, `axes` the names of their open dimensions. `own_export` writes the
    file in place of torch.onnx.export: the package's own way."""

    model: Any
    inputs: Mapping[str, Any]
    axes: Mapping[str, Mapping[int, str]]
    outputs: Optional[list] = None
    own_export: Optional[Callable[[str], None]] = None


def write(name: str, exporter: str, path: str) -> None:
    """Exports by `exporter`: "dynamo" (torch.export), "legacy" (TorchScript) or "package"."""
    import torch
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    network = NETWORKS[name].make()
    if exporter == "package":
        network.own_export(path)
        return
    options: dict = {"input_names": list(network.inputs), "output_names": network.outputs}
    if exporter == "dynamo":
        shapes = tuple(dict(network.axes.get(name, {})) for name in network.inputs)
        is_variadic = inspect.getfullargspec(network.model.forward).varargs is not None
        options.update(dynamo=True, dynamic_shapes=(shapes,) if is_variadic else shapes)
    else:
        options.update(dynamo=False, dynamic_axes={k: dict(v) for k, v in network.axes.items()})
    with torch.no_grad():
        torch.onnx.export(network.model.eval(), tuple(network.inputs.values()), path,
                          external_data=False, **options)


@dataclasses.dataclass
class Case:
    """How a network is made, which sizes it is compiled for (as of bayloom.compile's `dims`), by
    which exporters it is exported, and the bounds of integer inputs."""

    make: Callable[[], Network]
    dims: Mapping[str, str]
    exporters: tuple = ("dynamo", "legacy")
    words: int = 1000


def _module(forward: Callable, **parts: Any) -> Any:
    """A module of parts and a function of these and the inputs."""
    import torch

    class Module(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for name, part in parts.items():
                setattr(self, name, part)

        def forward(self, *inputs):
            return forward(self, *inputs)

    return Module()


def _tokens(batch=2, length=24):
    import torch
    return torch.randint(0, 1000, (batch, length))


def _text_encoder(model: Any) -> Network:
    """Of a model of transformers that takes tokens and a mask."""
    import torch
    wrapped = _module(lambda self, ids, mask: self.model(input_ids=ids, attention_mask=mask)[0],
                      model=model)
    axes = {0: "batch", 1: "sequence"}
    return Network(wrapped, {"input_ids": _tokens(), "attention_mask": torch.ones(2, 24).long()},
                   {"input_ids": axes, "attention_mask": axes})


def _bert() -> Network:
    import transformers
    return _text_encoder(transformers.BertModel(transformers.BertConfig()))


def _modernbert() -> Network:
    import transformers
    return _text_encoder(transformers.ModernBertModel(transformers.ModernBertConfig(
        num_hidden_layers=8)))


def _t5():
    import transformers
    return transformers.T5ForConditionalGeneration(transformers.T5Config(
        d_kv=64, d_ff=2048, d_model=512, num_layers=6, num_heads=8))


def _t5_encoder() -> Network:
    return _text_encoder(_t5().encoder)


def _t5_decoder() -> Network:
    import torch
    model = _t5()
    wrapped = _module(
        lambda self, ids, states, mask: self.head(self.decoder(
            input_ids=ids, encoder_hidden_states=states, encoder_attention_mask=mask,
            use_cache=False)[0]), decoder=model.decoder, head=model.lm_head)
    return Network(wrapped, {"input_ids": _tokens(1, 5), "encoder_hidden_states": torch.randn(1, 9, 512),
                             "encoder_attention_mask": torch.ones(1, 9).long()},
                   {"input_ids": {1: "sequence"}, "encoder_hidden_states": {1: "source"},
                    "encoder_attention_mask": {1: "source"}})


def _with_past(model: Any, layers: int, heads: int, size: int) -> Network:
    """A decoder as it goes on behind keys and values of what was before."""
    import torch
    import transformers

    def forward(self, ids, mask, *past):
        cache = transformers.DynamicCache(config=self.model.config)
        for i in range(layers):
            cache.update(past[2 * i], past[2 * i + 1], i)
        result = self.model(input_ids=ids, attention_mask=mask, past_key_values=cache, use_cache=True)
        present = [x for layer in result.past_key_values.layers for x in (layer.keys, layer.values)]
        return (result.logits, *present)

    names = [f"past_key_values.{i}.{part}" for i in range(layers) for part in ("key", "value")]
    inputs = {"input_ids": _tokens(1, 5), "attention_mask": torch.ones(1, 12).long()}
    inputs.update({name: torch.randn(1, heads, 7, size) for name in names})
    axes = {"input_ids": {1: "sequence"}, "attention_mask": {1: "total"}}
    axes.update({name: {2: "past"} for name in names})
    return Network(_module(forward, model=model), inputs, axes,
                   ["logits"] + [name.replace("past_key_values", "present") for name in names])


def _gpt2() -> Network:
    import transformers
    return _with_past(transformers.GPT2LMHeadModel(transformers.GPT2Config()), 12, 12, 64)


def _qwen3() -> Network:
    import transformers
    return _with_past(transformers.Qwen3ForCausalLM(transformers.Qwen3Config(
        vocab_size=8000, hidden_size=512, intermediate_size=1536, num_hidden_layers=6,
        num_attention_heads=8, num_key_value_heads=2, head_dim=64)), 6, 2, 64)


def _sentences() -> Network:
    """An embedding of each text: the mean over its tokens, of length 1."""
    import torch
    import torch.nn.functional as F
    import transformers

    def forward(self, ids, mask):
        tokens = self.model(input_ids=ids, attention_mask=mask)[0]
        kept = mask.unsqueeze(-1).to(tokens.dtype)
        return F.normalize((tokens * kept).sum(1) / kept.sum(1).clamp(min=1e-9), dim=1)

    network = _text_encoder(transformers.BertModel(transformers.BertConfig(
        hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536)))
    return dataclasses.replace(network, model=_module(forward, model=network.model.model))


def _segformer() -> Network:
    import torch
    import transformers
    model = transformers.SegformerForSemanticSegmentation(transformers.SegformerConfig())
    image = torch.randn(1, 3, 96, 128)
    wrapped = _module(lambda self, x: self.model(x)[0], model=model)
    return Network(_lively(wrapped, image), {"pixel_values": image},
                   {"pixel_values": {2: "height", 3: "width"}})


def _dinov2() -> Network:
    """Its positions are resized to the image."""
    import torch
    import transformers
    model = transformers.Dinov2Model(transformers.Dinov2Config(
        hidden_size=384, num_hidden_layers=4, num_attention_heads=6, image_size=224))
    image = torch.randn(1, 3, 112, 140)
    wrapped = _module(lambda self, x: self.model(x)[0], model=model)
    return Network(_lively(wrapped, image), {"pixel_values": image},
                   {"pixel_values": {2: "height", 3: "width"}})


def _whisper_parts():
    import transformers
    return transformers.WhisperModel(transformers.WhisperConfig()).encoder


def _whisper() -> Network:
    import torch
    wrapped = _module(lambda self, x: self.model(x)[0], model=_whisper_parts())
    return Network(wrapped, {"input_features": torch.randn(2, 80, 3000)},
                   {"input_features": {0: "batch"}})


def _whisper_frames() -> Network:
    """The encoder for as many frames as there are, as programs for short utterances have it."""
    import torch
    import torch.nn.functional as F

    def forward(self, x):
        encoder = self.model
        x = F.gelu(encoder.conv2(F.gelu(encoder.conv1(x)))).permute(0, 2, 1)
        x = x + encoder.embed_positions.weight[:x.shape[1]]
        for layer in encoder.layers:
            x = layer(x, None)
            x = x[0] if isinstance(x, tuple) else x
        return encoder.layer_norm(x)

    return Network(_module(forward, model=_whisper_parts()), {"input_features": torch.randn(1, 80, 300)},
                   {"input_features": {2: "frames"}})


def _wav2vec2() -> Network:
    import torch
    import transformers
    wrapped = _module(lambda self, x: self.model(x)[0],
                      model=transformers.Wav2Vec2ForCTC(transformers.Wav2Vec2Config()))
    return Network(wrapped, {"input_values": torch.randn(1, 8000)}, {"input_values": {1: "length"}})


def _recogniser() -> Network:
    import networks
    import torch
    return Network(_lively(networks.TextRecognizer(), torch.randn(1, 1, 32, 128)),
                   {"image": torch.randn(1, 1, 32, 128)}, {"image": {3: "width"}})


def _tagger() -> Network:
    import networks
    return Network(networks.Tagger(words=1000), {"words": _tokens(1, 16)}, {"words": {1: "steps"}})


def _resnet50() -> Network:
    import torch
    import torchvision
    image = torch.randn(2, 3, 224, 224)
    return Network(_lively(torchvision.models.resnet50(weights=None), image), {"image": image},
                   {"image": {0: "batch"}})


def _unet() -> Network:
    import segmentation_models_pytorch
    import torch
    image = torch.randn(1, 3, 96, 128)
    model = segmentation_models_pytorch.Unet("resnet18", encoder_weights=None)
    return Network(_lively(model, image), {"image": image}, {"image": {2: "height", 3: "width"}})


def _unet_padded() -> Network:
    """Ronneberger et al. 2015 with borders: each doubled image is padded to the size of the one that
    it is joined to, so that images may have any size."""
    import torch
    import torch.nn.functional as F
    from torch import nn

    def block(inside, outside):
        layers = []
        for i in (inside, outside):
            layers += [nn.Conv2d(i, outside, 3, padding=1), nn.BatchNorm2d(outside), nn.ReLU()]
        return nn.Sequential(*layers)

    widths = [24, 48, 96, 192]
    down = nn.ModuleList(block(i, o) for i, o in zip([3, *widths], widths))
    up = nn.ModuleList(nn.ConvTranspose2d(i, i // 2, 2, stride=2) for i in widths[:0:-1])
    after = nn.ModuleList(block(i, i // 2) for i in widths[:0:-1])

    def forward(self, x):
        kept = []
        for layer in self.down:
            x = layer(F.max_pool2d(x, 2) if kept else x)
            kept.append(x)
        for double, layer, other in zip(self.up, self.after, kept[-2::-1]):
            x = double(x)
            dy, dx = other.shape[2] - x.shape[2], other.shape[3] - x.shape[3]
            x = F.pad(x, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
            x = layer(torch.cat([other, x], dim=1))
        return self.last(x)

    image = torch.randn(1, 3, 96, 130)
    model = _module(forward, down=down, up=up, after=after, last=nn.Conv2d(widths[0], 2, 1))
    return Network(_lively(model, image), {"image": image}, {"image": {2: "height", 3: "width"}})


def _yolo(nms=False) -> Network:
    import torch
    from ultralytics import YOLO
    image = torch.randn(1, 3, 320, 320)
    yolo = YOLO("yolo11n.yaml")
    _lively(yolo.model, image)

    def own_export(path):
        folder = pathlib.Path(path + ".parts")
        folder.mkdir(exist_ok=True)
        yolo.ckpt_path = yolo.model.pt_path = str(folder / "model.pt")
        shutil.move(yolo.export(format="onnx", imgsz=320, dynamic=True, nms=nms, simplify=False), path)
        shutil.rmtree(folder)

    def forward(self, x):
        return self.model(x)[0] if isinstance(self.model(x), tuple) else self.model(x)

    for module in yolo.model.modules():
        if hasattr(module, "dynamic"):
            module.dynamic, module.export, module.format = True, True, "onnx"
    return Network(_module(forward, model=yolo.model), {"images": image},
                   {"images": {2: "height", 3: "width"}}, own_export=own_export)


def _detector() -> Network:
    """Boxes and scores of a one-stage detector, the best of which are kept, for one image."""
    import torch
    import torchvision
    from torch import nn
    layers, channels = [], 3
    for width in (16, 32, 64, 96):
        layers += [nn.Conv2d(channels, width, 3, stride=2, padding=1), nn.BatchNorm2d(width), nn.SiLU()]
        channels = width

    def forward(self, image):
        features = self.body(image)
        height, width = features.shape[2:]
        y, x = torch.meshgrid(torch.arange(height, device=image.device),
                              torch.arange(width, device=image.device), indexing="ij")
        centre = torch.stack([x, y], -1).reshape(-1, 2).to(image.dtype) * 16 + 8
        found = self.head(features)[0].flatten(1).t()
        size = found[:, :4].exp() * 16
        boxes = torch.cat([centre - size[:, :2], centre + size[:, 2:]], 1)
        scores, labels = found[:, 4:].sigmoid().max(1)
        kept = torchvision.ops.batched_nms(boxes, scores, labels, 0.5)[:100]
        return boxes[kept], scores[kept], labels[kept]

    image = torch.randn(1, 3, 128, 160)
    model = _module(forward, body=nn.Sequential(*layers), head=nn.Conv2d(channels, 4 + 8, 1))
    return Network(_lively(model, image), {"image": image}, {"image": {2: "height", 3: "width"}})


def _torchvision_detector(name) -> Network:
    import torch
    import torchvision
    image = torch.rand(1, 3, 320, 320)
    model = torchvision.models.get_model(name, weights=None, weights_backbone=None)
    wrapped = _module(lambda self, x: tuple(self.model(x)[0].values()), model=model)
    return Network(_lively(wrapped), {"image": image}, {"image": {2: "height", 3: "width"}})


def _lively(model: Any, *inputs: Any) -> Any:
    """With weights with which outputs depend on inputs."""
    from make_model import enliven
    enliven(model, inputs)
    return model


NETWORKS = {
    "bert_base": Case(_bert, {"batch": "1..4", "sequence": "1..256"}),
    "modernbert": Case(_modernbert, {"batch": "1", "sequence": "1..256"}),
    "t5_encoder": Case(_t5_encoder, {"batch": "1", "sequence": "1..256"}),
    "t5_decoder": Case(_t5_decoder, {"sequence": "1..64", "source": "1..128"}),
    "gpt2_past": Case(_gpt2, {"sequence": "1..32", "past": "0..256", "total": "past+sequence"}),
    "qwen3_past": Case(_qwen3, {"sequence": "1..32", "past": "0..256", "total": "past+sequence"}),
    "sentences": Case(_sentences, {"batch": "1..8", "sequence": "1..128"}),
    "segformer": Case(_segformer, {"height": "64..256:32", "width": "64..256:32"}),
    "dinov2": Case(_dinov2, {"height": "56..224:14", "width": "56..224:14"}),
    "whisper_tiny": Case(_whisper, {"batch": "1..4"}),
    "whisper_tiny_frames": Case(_whisper_frames, {"frames": "2..1500"}),
    "wav2vec2": Case(_wav2vec2, {"length": "400..32000"}),
    "recogniser": Case(_recogniser, {"width": "32..320:4"}),
    "yolo11n": Case(_yolo, {"batch": "1", "height": "64..384:32", "width": "64..384:32"},
                    ("dynamo", "legacy", "package")),
    "yolo11n_nms": Case(lambda: _yolo(True), {"batch": "1", "height": "64..384:32", "width": "64..384:32"},
                        ("package",)),
    "unet_resnet18": Case(_unet, {"height": "32..256:32", "width": "32..256:32"}),
    "unet_padded": Case(_unet_padded, {"height": "32..200", "width": "32..200"}),
    "detector": Case(_detector, {"height": "32..256", "width": "32..256"}),
    "ssdlite": Case(lambda: _torchvision_detector("ssdlite320_mobilenet_v3_large"),
                    {"height": "64..480", "width": "64..480"}),
    "fasterrcnn": Case(lambda: _torchvision_detector("fasterrcnn_mobilenet_v3_large_320_fpn"),
                       {"height": "64..480", "width": "64..480"}),
    "tagger": Case(_tagger, {"steps": "1..64"}),
    "resnet50": Case(_resnet50, {"batch": "1..8"}),
}


if __name__ == "__main__":
    os.environ.setdefault("YOLO_OFFLINE", "true")
    write(*sys.argv[1:])
