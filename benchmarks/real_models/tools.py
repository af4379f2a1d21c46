# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""What onnxruntime's tools make of a model: quantized, float16 and optimized models."""

import numpy
import onnx
import onnxruntime
from onnxruntime import quantization


class RandomCalibration(quantization.CalibrationDataReader):
    """A few normal inputs for a model with one float input of static shape."""

    def __init__(self, path, samples=4):
        value = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).get_inputs()[0]
        random = numpy.random.default_rng(0)
        self.items = iter([{value.name: random.standard_normal(value.shape).astype(numpy.float32)}
                           for _ in range(samples)])

    def get_next(self):
        return next(self.items, None)


def static_quantization(source, target, **options):
    quantization.quantize_static(source, target, RandomCalibration(str(source)), **options)


def quantize_qdq(source, target):
    static_quantization(source, target, quant_format=quantization.QuantFormat.QDQ, per_channel=True)


def quantize_qoperator(source, target):
    static_quantization(source, target, quant_format=quantization.QuantFormat.QOperator)


def quantize_dynamic(source, target):
    quantization.quantize_dynamic(source, target)


def quantize_4bit(source, target):
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
    quantizer = MatMulNBitsQuantizer(onnx.load(source), block_size=32, is_symmetric=True)
    quantizer.process()
    quantizer.model.save_model_to_file(str(target), False)


def float16(source, target):
    from onnxruntime.transformers.float16 import convert_float_to_float16
    onnx.save(convert_float_to_float16(onnx.load(source)), target)


def float16_keep_types(source, target):
    from onnxruntime.transformers.float16 import convert_float_to_float16
    onnx.save(convert_float_to_float16(onnx.load(source), keep_io_types=True), target)


def optimize(source, target):
    """The graph that onnxruntime itself runs, with its fused operators."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(target)
    onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def optimize_transformer(source, target):
    from onnxruntime.transformers.optimizer import optimize_model
    optimize_model(str(source), model_type="bert", num_heads=12, hidden_size=384,
                   opt_level=0).save_model_to_file(str(target))
