#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0
"""Networks of papers on depth-first schedules, mapped by bayloom map --fuse.

    build/venv/bin/python benchmarks/mapspace/depth_first_comparison.py --bayloom build/release/bin/bayloom

"Fused-Layer CNN Accelerators" (Alwani et al., MICRO 2016) says for the first five convolutions of
VGGNet-E, with the two pools between them and 32-bit words: 77 MB of feature maps go to and from
the memory layer by layer and 3.6 MB fused, with 362 KB of buffers for what neighbouring tiles
share. Printed are the words that bayloom counts on an accelerator where only traffic costs energy,
with buffers of several sizes. Weights are among them: the paper does not count them.

DeFiNES (Mei et al., HPCA 2023) maps FSRCNN onto an accelerator like Meta's prototype, here
depth_first/meta_prototype.yaml. Its figures are those of its own program (main_artifact.py with
df_modes = ((True, True),), df_x_tilesizes = (60, 960), df_y_tilesizes = (72, 540) and
loma_lpf_limit = 6): tiles of 60 x 72, and of the whole image, which is layer by layer.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

import onnx

MEBIBYTE = 2**20
WORD_BYTES = 4
ARCHITECTURES = pathlib.Path(__file__).parent / "depth_first"


def convolution(channels, kernel=3, pad=0):
    return {"channels": channels, "kernel": kernel, "stride": 1, "pad": pad}


POOL = {"channels": 0, "kernel": 2, "stride": 2, "pad": 0}
VGG_E = [convolution(64, pad=1), convolution(64, pad=1), POOL, convolution(128, pad=1),
         convolution(128, pad=1), POOL, convolution(256, pad=1)]
FSRCNN = [convolution(56, 5), convolution(12, 1), convolution(12), convolution(12),
          convolution(12), convolution(12), convolution(56, 1), convolution(16)]
DEFINES = {"tiles of 60 x 72": (2.155, 20.2), "the whole image": (20.27, 29.0)}  # mJ, M cycles


def make_model(path, layers, channels, rows, columns):
    """A chain of layers with weights of zeros. The words of all weights."""
    helper = onnx.helper
    nodes, weights, words, value = [], [], 0, "image"
    inputs = [helper.make_tensor_value_info(value, onnx.TensorProto.FLOAT,
                                            [1, channels, rows, columns])]
    for number, layer in enumerate(layers):
        window = {"kernel_shape": [layer["kernel"]] * 2, "strides": [layer["stride"]] * 2,
                  "pads": [layer["pad"]] * 4}
        output = f"layer{number}"
        if layer["channels"]:
            shape = [layer["channels"], channels, layer["kernel"], layer["kernel"]]
            count = shape[0] * shape[1] * shape[2] * shape[3]
            words += count
            weights.append(helper.make_tensor(f"weights{number}", onnx.TensorProto.FLOAT, shape,
                                              bytes(WORD_BYTES * count), raw=True))
            nodes.append(helper.make_node("Conv", [value, f"weights{number}"], [output], **window))
            channels = layer["channels"]
        else:
            nodes.append(helper.make_node("MaxPool", [value], [output], **window))
        rows, columns = ((size + 2 * layer["pad"] - layer["kernel"]) // layer["stride"] + 1
                         for size in (rows, columns))
        value = output
    result = helper.make_tensor_value_info(value, onnx.TensorProto.FLOAT,
                                           [1, channels, rows, columns])
    graph = helper.make_graph(nodes, "chain", inputs, [result], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8),
              path)
    return words


def run(bayloom, model, architecture, evaluations):
    done = subprocess.run([bayloom, "map", str(model), "--arch", str(architecture), "--fuse",
                           "--evaluations", str(evaluations), "--seed", "1", "--json"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def groups_text(mapped):
    """Operators of each group, with its tile and the most that it holds at a time."""
    groups = []
    for group in mapped["groups"]:
        tile = "x".join(str(axis["size"]) for axis in group.get("tile", []))
        held = f" ({tile}, {mebibytes(group['peak_words']):.2f} MiB)" if tile else ""
        groups.append(f"{len(group['operators'])}{held}")
    return " + ".join(groups)


def mebibytes(words):
    return WORD_BYTES * words / MEBIBYTE


def fused_layers(bayloom, sizes, folder):
    architecture = (ARCHITECTURES / "traffic_only.yaml").read_text()
    model = folder / "vgg_e.onnx"
    weights = make_model(model, VGG_E, 3, 224, 224)
    print(f"VGGNet-E, five convolutions and two pools; {mebibytes(weights):.2f} MiB of weights")
    print(f"{'buffer':>9}  {'all traffic':>11}  {'layer by layer':>14}  groups")
    for size in sizes:
        path = folder / f"{size}.yaml"
        path.write_text(architecture.replace("SIZE", str(size)))
        mapped = run(bayloom, model, path, 2000)
        print(f"{size:>5} KiB  {mebibytes(mapped['totals']['dram_words']):>7.2f} MiB  "
              f"{mebibytes(mapped['layer_by_layer']['dram_words']):>10.2f} MiB  "
              f"{groups_text(mapped)}", flush=True)


def defines(bayloom, folder):
    model = folder / "fsrcnn.onnx"
    make_model(model, FSRCNN, 1, 554, 974)
    mapped = run(bayloom, model, ARCHITECTURES / "meta_prototype.yaml", 4000)
    print("\nFSRCNN, 560 x 960                 mJ  million cycles")
    for name, part in (("fused", "totals"), ("layer by layer", "layer_by_layer")):
        print(f"bayloom, {name:<18} {mapped[part]['energy_pj'] / 1e9:>8.3f} "
              f"{mapped[part]['cycles'] / 1e6:>9.1f}")
    for name, (energy, cycles) in DEFINES.items():
        print(f"DeFiNES, {name:<18} {energy:>8.3f} {cycles:>9.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bayloom", default="build/release/bin/bayloom")
    parser.add_argument("--kib", nargs="+", type=int, metavar="SIZE",
                        default=[512, 1024, 2048, 2560, 3072, 4096],
                        help="sizes of the buffer for VGGNet-E")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fused_layers(arguments.bayloom, arguments.kib, pathlib.Path(folder))
        defines(arguments.bayloom, pathlib.Path(folder))


if __name__ == "__main__":
    main()
