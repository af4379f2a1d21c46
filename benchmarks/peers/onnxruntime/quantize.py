# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Quantizes float32 ONNX models with onnxruntime's own tool, for measurements.

    build/venv/bin/pip install -r benchmarks/peers/onnxruntime/requirements.txt
    for model in resnet50 mobilenet_v2 bert_base; do build/release/bin/bayloom-models $model; done
    build/venv/bin/python benchmarks/peers/onnxruntime/quantize.py build/quantized \\
        resnet50.onnx mobilenet_v2.onnx bert_base.onnx --dynamic bert_base.onnx

It writes build/quantized/<model>_int8.onnx: static quantization, QDQ, weights in 8 bits with a scale
for each channel, ranges of activations from random inputs; and <model>_dynamic.onnx for those
behind --dynamic, whose activations are quantized while they run. Ranges of random inputs are those
of no real use: times are what the files are for, not accuracy.
"""

import argparse
import pathlib
import tempfile

import onnxruntime
from onnxruntime import quantization
from onnxruntime.quantization import shape_inference

from latency import random_inputs

TYPES = {"uint8": quantization.QuantType.QUInt8, "int8": quantization.QuantType.QInt8}


class RandomCalibration(quantization.CalibrationDataReader):
    """Batches of random inputs, as latency.py takes them."""

    def __init__(self, path, batches):
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        self.batches = iter([random_inputs(session, seed) for seed in range(batches)])

    def get_next(self):
        return next(self.batches, None)


def prepare(path, folder):
    """The model with batch normalization folded into convolutions and with shapes, as the tool wants
    it."""
    prepared = str(pathlib.Path(folder) / "prepared.onnx")
    shape_inference.quant_pre_process(str(path), prepared, skip_symbolic_shape=True)
    return prepared


def quantize_static(path, target, arguments):
    with tempfile.TemporaryDirectory() as folder:
        prepared = prepare(path, folder)
        quantization.quantize_static(
            prepared, str(target), RandomCalibration(prepared, arguments.batches),
            quant_format=quantization.QuantFormat[arguments.format],
            activation_type=TYPES[arguments.activations], weight_type=quantization.QuantType.QInt8,
            per_channel=True)


def quantize_dynamic(path, target):
    with tempfile.TemporaryDirectory() as folder:
        quantization.quantize_dynamic(prepare(path, folder), str(target), per_channel=False,
                                      weight_type=quantization.QuantType.QInt8)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="where the quantized models go")
    parser.add_argument("models", nargs="*", type=pathlib.Path, help="quantized statically")
    parser.add_argument("--dynamic", nargs="+", type=pathlib.Path, default=[], metavar="MODEL")
    parser.add_argument("--activations", choices=TYPES, default="uint8")
    parser.add_argument("--format", choices=["QDQ", "QOperator"], default="QDQ")
    parser.add_argument("--batches", type=int, default=4, help="random inputs for calibration")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for path in arguments.models:
        target = arguments.folder / f"{path.stem}_int8.onnx"
        quantize_static(path, target, arguments)
        print(target, flush=True)
    for path in arguments.dynamic:
        target = arguments.folder / f"{path.stem}_dynamic.onnx"
        quantize_dynamic(path, target)
        print(target, flush=True)


if __name__ == "__main__":
    main()
