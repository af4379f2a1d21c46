# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""The cases of compare_operators.py: an operator, its inputs and its attributes each."""

import dataclasses

import numpy as np

MICROSOFT = "com.microsoft"


@dataclasses.dataclass
class Case:
    name: str
    operator: str
    inputs: list  # arrays; None where an optional input is absent
    attributes: dict = dataclasses.field(default_factory=dict)
    domain: str = ""
    opset: int = 17
    constants: tuple = ()  # inputs that are known at compile time
    outputs: tuple = (0,)  # which outputs are compared
    tolerance: float = 2e-5
    reference: bool = False  # ONNX's reference evaluator instead of onnxruntime


RANDOM = np.random.default_rng(17)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def uniform(low, high, *shape):
    return RANDOM.uniform(low, high, shape).astype(np.float32)


def bytes_of(*shape, low=0, high=256, dtype=np.uint8):
    return RANDOM.integers(low, high, shape).astype(dtype)


def signed(*shape):
    return bytes_of(*shape, low=-128, high=128, dtype=np.int8)


def scalar(value, dtype=np.float32):
    return np.array(value, dtype)


def ints(*values, dtype=np.int64):
    return np.array(values, dtype)


def microsoft(name, operator, inputs, attributes=None, **options):
    return Case(f"ms_{name}", operator, inputs, attributes or {}, MICROSOFT, **options)


def rotation_caches(rows, half):
    angles = uniform(0, 3, rows, half)
    return np.cos(angles), np.sin(angles)


def quantized(*shape):
    """A tensor of bytes, its scale and its zero point."""
    return [bytes_of(*shape), scalar(0.02), scalar(120, np.uint8)]


def padding(batch, length):
    mask = np.ones((batch, length), np.int32)
    mask[-1, length // 2:] = 0
    return mask


def microsoft_activations():
    x, bias = floats(2, 3, 8), floats(8)
    return [
        microsoft("gelu", "Gelu", [x]),
        microsoft("bias_gelu", "BiasGelu", [x, bias]),
        microsoft("fast_gelu", "FastGelu", [x]),
        microsoft("fast_gelu_bias", "FastGelu", [x, bias]),
        microsoft("quick_gelu", "QuickGelu", [x], {"alpha": 1.5}),
    ]


def microsoft_normalizations():
    x, skip, row = floats(2, 5, 16), floats(2, 5, 16), floats(16)
    ids = RANDOM.integers(0, 12, (2, 5)).astype(np.int32)
    segments = RANDOM.integers(0, 2, (2, 5)).astype(np.int32)
    tables = [floats(12, 16), floats(9, 16), floats(2, 16)]
    return [
        microsoft("skip_layer_normalization", "SkipLayerNormalization",
                  [x, skip, row, floats(16), floats(16)], {"epsilon": 1e-5}, outputs=(0, 3)),
        microsoft("skip_layer_normalization_broadcast", "SkipLayerNormalization",
                  [x, floats(1, 5, 16), row], {"epsilon": 1e-5}),
        microsoft("skip_simplified_layer_normalization", "SkipSimplifiedLayerNormalization",
                  [x, skip, row, floats(16)], {"epsilon": 1e-5}, outputs=(0, 3)),
        Case("simplified_layer_normalization", "SimplifiedLayerNormalization", [x, row],
             {"epsilon": 1e-5}, opset=13, outputs=(0, 1)),
        microsoft("embed_layer_normalization", "EmbedLayerNormalization",
                  [ids, segments, *tables, row, floats(16), padding(2, 5)], {"epsilon": 1e-5},
                  outputs=(0, 1)),
        microsoft("embed_layer_normalization_no_segments", "EmbedLayerNormalization",
                  [ids, None, tables[0], tables[1], None, row, floats(16)], {"epsilon": 1e-5},
                  outputs=(0, 1)),
        microsoft("q_embed_layer_normalization", "QEmbedLayerNormalization",
                  [ids, segments, bytes_of(12, 16), bytes_of(9, 16), bytes_of(2, 16),
                   bytes_of(16), bytes_of(16), padding(2, 5),
                   scalar(0.02), scalar(0.03), scalar(0.01), scalar(0.02), scalar(0.01),
                   scalar(128, np.uint8), scalar(100, np.uint8), scalar(3, np.uint8),
                   scalar(10, np.uint8), scalar(128, np.uint8)], {"epsilon": 1e-5},
                  outputs=(0, 1)),
    ]


def microsoft_quantized():
    a, b = quantized(2, 3, 8, 8), quantized(2, 3, 8, 8)
    y = [scalar(0.05), scalar(128, np.uint8)]
    image = quantized(1, 4, 6, 6)
    close = {"tolerance": 1 / 200}  # one level where a tie is rounded otherwise
    return [
        microsoft("qlinear_add", "QLinearAdd", a + b + y, **close),
        microsoft("qlinear_add_broadcast", "QLinearAdd", a + quantized(3, 1, 8) + y, **close),
        microsoft("qlinear_mul", "QLinearMul", a + b + y, **close),
        microsoft("qlinear_sigmoid", "QLinearSigmoid",
                  a + [scalar(1 / 256), scalar(0, np.uint8)], **close),
        microsoft("qlinear_leaky_relu", "QLinearLeakyRelu", a + y, {"alpha": 0.2}, **close),
        microsoft("qlinear_softmax", "QLinearSoftmax", a + [scalar(1 / 256), scalar(0, np.uint8)],
                  {"axis": -1, "opset": 13}, **close),
        microsoft("qlinear_softmax_old", "QLinearSoftmax",
                  a + [scalar(1 / 256), scalar(0, np.uint8)], {"axis": 2, "opset": 11}, **close),
        microsoft("qlinear_global_average_pool", "QLinearGlobalAveragePool", image + y, {},
                  **close),
        microsoft("qlinear_global_average_pool_last", "QLinearGlobalAveragePool", image + y,
                  {"channels_last": 1}, **close),
        microsoft("qlinear_average_pool", "QLinearAveragePool", image + y,
                  {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [2, 2]}, **close),
        microsoft("qlinear_concat", "QLinearConcat", y + a + b, {"axis": 1}, **close),
        microsoft("qlinear_where", "QLinearWhere",
                  [RANDOM.integers(0, 2, (2, 3, 8, 8)).astype(bool)] + a + b + y, **close),
        microsoft("qlinear_conv_last", "QLinearConv",
                  quantized(1, 6, 6, 4) + [signed(5, 4, 3, 3), scalar(0.01), scalar(0, np.int8)]
                  + y, {"channels_last": 1, "pads": [1, 1, 1, 1]}, **close),
        microsoft("qgemm", "QGemm",
                  quantized(5, 16) + [signed(16, 7), uniform(0.01, 0.02, 7), signed(7),
                                      RANDOM.integers(-99, 99, (7,)).astype(np.int32)]
                  + [scalar(0.5), scalar(100, np.uint8)], **close),
        microsoft("qgemm_float", "QGemm",
                  quantized(16, 5) + [signed(7, 16), scalar(0.01), scalar(3, np.int8)],
                  {"transA": 1, "transB": 1, "alpha": 0.5}),
        microsoft("matmul_integer_to_float", "MatMulIntegerToFloat",
                  [bytes_of(2, 5, 16), signed(16, 7), scalar(0.02), uniform(0.01, 0.02, 7),
                   scalar(120, np.uint8), signed(7), floats(7)]),
        microsoft("dynamic_quantize_matmul", "DynamicQuantizeMatMul",
                  [floats(2, 5, 16), signed(16, 7), uniform(0.01, 0.02, 7), signed(7), floats(7)],
                  tolerance=1e-2),
        microsoft("dequantize_linear", "DequantizeLinear", a),
        microsoft("quantize_linear", "QuantizeLinear", [floats(3, 4)] + y, **close),
    ]


def microsoft_products():
    a, b = floats(2, 3, 5, 8), floats(2, 3, 8, 4)
    packed4, packed2, packed8 = bytes_of(7, 3, 8), bytes_of(7, 3, 4), bytes_of(7, 3, 16)
    scales = uniform(0.1, 0.2, 7, 3)
    sizes = {"N": 7, "K": 40, "block_size": 16}
    return [
        microsoft("fused_matmul", "FusedMatMul", [a, b], {"alpha": 0.5}),
        microsoft("fused_matmul_transposed", "FusedMatMul",
                  [floats(2, 3, 8, 5), floats(2, 3, 4, 8)],
                  {"alpha": 0.5, "transA": 1, "transB": 1}),
        microsoft("fused_matmul_batch", "FusedMatMul", [floats(5, 2, 3, 8), floats(8, 2, 3, 4)],
                  {"transBatchA": 1, "transBatchB": 1}),
        microsoft("fused_matmul_batch_transposed", "FusedMatMul",
                  [floats(8, 2, 3, 5), floats(4, 2, 3, 8)],
                  {"transBatchA": 1, "transBatchB": 1, "transA": 1, "transB": 1}),
        microsoft("transpose_matmul", "TransposeMatMul", [floats(2, 8, 5), floats(2, 8, 4)],
                  {"transA": 1}),
        microsoft("fused_gemm", "FusedGemm", [floats(5, 8), floats(4, 8), floats(4)],
                  {"transB": 1, "alpha": 0.5, "beta": 2.0, "activation": "LeakyRelu",
                   "activation_alpha": 0.3}),
        microsoft("fused_conv", "FusedConv",
                  [floats(1, 3, 7, 7), floats(4, 3, 3, 3), floats(4), floats(1, 4, 7, 7)],
                  {"pads": [1, 1, 1, 1], "activation": "Relu"}),
        microsoft("fused_conv_clip", "FusedConv",
                  [floats(1, 3, 7, 7), floats(4, 3, 3, 3), floats(4)],
                  {"activation": "Clip", "activation_params": [-0.5, 0.75]}),
        microsoft("nhwc_max_pool", "NhwcMaxPool", [signed(1, 6, 6, 5)],
                  {"kernel_shape": [3, 3], "strides": [2, 2]}),
        microsoft("matmul_nbits_4", "MatMulNBits", [floats(2, 5, 40), packed4, scales.ravel()],
                  sizes | {"bits": 4}, constants=(1, 2)),
        microsoft("matmul_nbits_4_run_time", "MatMulNBits",
                  [floats(5, 40), packed4, scales.ravel(), bytes_of(14), None, floats(7)],
                  sizes | {"bits": 4}),
        microsoft("matmul_nbits_4_float_zeros", "MatMulNBits",
                  [floats(5, 40), packed4, scales, uniform(0, 15, 7, 3)], sizes | {"bits": 4},
                  constants=(1, 2, 3)),
        microsoft("matmul_nbits_4_groups", "MatMulNBits",
                  [floats(5, 48), packed4, scales.ravel(), None,  # onnxruntime ignores zero points here
                   RANDOM.integers(0, 3, 48).astype(np.int32)],
                  {"N": 7, "K": 48, "block_size": 16, "bits": 4},
                  constants=(1, 2, 4)),
        microsoft("matmul_nbits_2", "MatMulNBits", [floats(5, 40), packed2, scales.ravel()],
                  sizes | {"bits": 2}, constants=(1, 2)),
        microsoft("matmul_nbits_8", "MatMulNBits",
                  [floats(5, 40), packed8, scales.ravel(), bytes_of(21)], sizes | {"bits": 8},
                  constants=(1, 2, 3)),
        microsoft("gather_block_quantized", "GatherBlockQuantized",
                  [bytes_of(9, 24), RANDOM.integers(-9, 9, (2, 4)), uniform(0.1, 0.2, 9, 3)],
                  {"bits": 4, "block_size": 16, "quantize_axis": 1, "gather_axis": 0},
                  constants=(0, 2)),
        microsoft("gather_block_quantized_zeros", "GatherBlockQuantized",
                  [bytes_of(9, 24), RANDOM.integers(0, 9, (2, 4)), uniform(0.1, 0.2, 9, 3),
                   bytes_of(9, 2)],
                  {"bits": 4, "block_size": 16, "quantize_axis": 1, "gather_axis": 0},
                  constants=(0, 2, 3)),
    ]


def microsoft_attention():
    x, weights, bias = floats(2, 6, 16), floats(16, 48), floats(48)
    heads = {"num_heads": 4}
    q, k, v = floats(2, 6, 16), floats(2, 9, 16), floats(2, 9, 24)
    past = floats(2, 2, 4, 3, 4)
    return [
        microsoft("attention", "Attention", [x, weights, bias], heads),
        microsoft("attention_mask", "Attention", [x, weights, bias, padding(2, 6)], heads),
        microsoft("attention_mask_length", "Attention",
                  [x, weights, bias, ints(6, 3, dtype=np.int32)], heads),
        microsoft("attention_mask_ends", "Attention",
                  [x, weights, bias, ints(6, 5, 1, 2, dtype=np.int32)], heads),
        microsoft("attention_causal", "Attention", [x, weights, bias],
                  heads | {"unidirectional": 1, "scale": 0.3}),
        microsoft("attention_past", "Attention", [x, weights, bias, padding(2, 9), past],
                  heads | {"unidirectional": 1}, outputs=(0, 1)),
        microsoft("attention_bias", "Attention",
                  [x, weights, bias, None, None, floats(1, 4, 6, 6)], heads),
        microsoft("attention_sizes", "Attention", [x, floats(16, 40), floats(40)],
                  heads | {"qkv_hidden_sizes": [16, 16, 8]}),
        microsoft("q_attention", "QAttention",
                  [bytes_of(2, 6, 16), signed(16, 48), bias, scalar(0.02), uniform(0.005, 0.01, 48),
                   ints(6, 3, dtype=np.int32), scalar(120, np.uint8), signed(48)], heads,
                  tolerance=1e-4),
        microsoft("multi_head_attention", "MultiHeadAttention", [q, k, v], heads),
        microsoft("multi_head_attention_bias", "MultiHeadAttention",
                  [q, k, v, floats(56), padding(2, 9)], heads),
        microsoft("multi_head_attention_heads", "MultiHeadAttention",
                  [q, floats(2, 4, 9, 4), floats(2, 4, 9, 4)], heads),
        microsoft("multi_head_attention_past", "MultiHeadAttention",
                  [q, floats(2, 6, 16), floats(2, 6, 16), None, None, floats(2, 1, 6, 9),
                   floats(2, 4, 3, 4), floats(2, 4, 3, 4)], heads | {"unidirectional": 1},
                  outputs=(0, 1, 2)),
        *group_query_attention(),
    ]


def group_query_attention():
    heads = {"num_heads": 4, "kv_num_heads": 2}
    cos, sin = rotation_caches(16, 8)

    def case(name, tokens, past, lengths, total, attributes=None, extra=(), outputs=(0, 1, 2)):
        inputs = [floats(2, tokens, 64), floats(2, tokens, 32), floats(2, tokens, 32),
                  floats(2, 2, past, 16), floats(2, 2, past, 16),
                  np.array(lengths, np.int32), scalar(total, np.int32), *extra]
        return microsoft(f"group_query_attention_{name}", "GroupQueryAttention", inputs,
                         heads | (attributes or {}), constants=(6,), outputs=outputs)

    rotary = {"do_rotary": 1}
    prompt = case("prompt", 6, 0, (5, 5), 6, rotary, (cos, sin))
    packed = microsoft("group_query_attention_packed", "GroupQueryAttention",
                       [floats(2, 6, 128), None, None, floats(2, 2, 0, 16), floats(2, 2, 0, 16),
                        ints(5, 5, dtype=np.int32), scalar(6, np.int32), cos, sin],
                       heads | rotary, constants=(6,), outputs=(0, 1, 2))
    return [
        prompt, packed,
        case("token", 1, 7, (7, 7), 8, rotary, (cos, sin)),
        case("token_interleaved", 1, 7, (7, 7), 8, rotary | {"rotary_interleaved": 1}, (cos, sin)),
        case("tokens", 1, 7, (7, 7), 8, {"softcap": 2.0, "scale": 0.4}),
        case("window", 6, 0, (5, 5), 6, {"local_window_size": 2}),
        case("token_window", 1, 9, (9, 9), 10, {"local_window_size": 4}),
        case("smooth", 1, 7, (7, 7), 8, {"smooth_softmax": 1}),
        case("sink", 1, 7, (7, 7), 8, {}, (None, None, None, None, floats(4))),
        case("bias", 1, 7, (7, 7), 8, {}, (None, None, None, floats(1, 4, 1, 8))),
        case("ragged", 1, 7, (7, 4), 8, rotary, (cos, sin)),
    ]


def microsoft_rest():
    cos, sin = rotation_caches(10, 4)
    return [
        microsoft("rotary_embedding", "RotaryEmbedding",
                  [floats(2, 5, 24), RANDOM.integers(0, 10, (2, 5)), cos, sin]),
        microsoft("rotary_embedding_offset", "RotaryEmbedding",
                  [floats(2, 3, 5, 8), ints(4), cos, sin], {"interleaved": 1}),
        microsoft("rotary_embedding_partial", "RotaryEmbedding",
                  [floats(2, 5, 30), ints(2), cos, sin],
                  {"num_heads": 3, "rotary_embedding_dim": 8}),
        microsoft("pad", "Pad", [floats(2, 3), ints(1, 0, 0, 2), scalar(0.5)], constants=(1,)),
        microsoft("expand_dims", "ExpandDims", [floats(2, 3), scalar(1, np.int32)],
                  constants=(1,)),
        microsoft("trilu", "Trilu", [floats(4, 5), scalar(1, np.int64)], {"upper": 0},
                  constants=(1,)),
        microsoft("gather_nd", "GatherND", [floats(3, 4, 2), RANDOM.integers(0, 3, (5, 2))]),
        microsoft("unfold", "UnfoldTensor", [floats(2, 9)], {"size": 3, "step": 2}),
        microsoft("cdist", "CDist", [floats(5, 8), floats(4, 8)], {"metric": "euclidean"}),
        microsoft("grid_sample", "GridSample", [floats(2, 3, 5, 6), uniform(-1.4, 1.4, 2, 4, 7, 2)],
                  {"padding_mode": "reflection"}, tolerance=1e-4),
        microsoft("crop_and_resize", "CropAndResize",
                  [floats(2, 3, 8, 9), uniform(-0.2, 1.2, 5, 4), ints(0, 1, 1, 0, 1, dtype=np.int32),
                   ints(4, 3, dtype=np.int32)], {"extrapolation_value": 2.0}, constants=(3,),
                  tolerance=1e-4),
    ]


def attention():
    q4, k4, v4 = floats(2, 3, 4, 8), floats(2, 3, 6, 8), floats(2, 3, 6, 10)
    q3, k3, v3 = floats(2, 4, 24), floats(2, 6, 24), floats(2, 6, 30)
    heads = {"q_num_heads": 3, "kv_num_heads": 3}
    grouped = [floats(2, 9, 4, 8), floats(2, 3, 6, 8), floats(2, 3, 6, 10)]
    mask = RANDOM.integers(0, 2, (4, 6)).astype(bool)
    hidden = mask.copy()
    hidden[2] = False
    past = [floats(2, 3, 5, 8), floats(2, 3, 5, 10)]

    def case(name, inputs, attributes=None, opset=23, **options):
        return Case(f"attention_{name}", "Attention", inputs, attributes or {}, opset=opset,
                    reference=True, **options)

    return [
        case("4d", [q4, k4, v4]),
        case("3d", [q3, k3, v3], heads | {"scale": 0.2}),
        case("grouped", grouped, {"is_causal": 1}),
        case("bool_mask", [q4, k4, v4, mask]),
        case("hidden_row", [q4, k4, v4, hidden]),
        case("float_mask", [q4, k4, v4, floats(2, 1, 4, 6)], {"softcap": 3.0}),
        case("short_mask", [q4, k4, v4, floats(4, 5)]),
        case("past", [q4, k4, v4, None, *past], {"is_causal": 1}, outputs=(0, 1, 2)),
        case("past_3d", [q3, k3, v3, floats(2, 3, 4, 11), *past], heads, outputs=(0, 1, 2)),
        *[case(f"qk_{mode}", [q4, k4, v4, mask],
               {"qk_matmul_output_mode": mode, "softcap": 2.0 if mode else 0.0}, outputs=(0, 3))
          for mode in (0, 1, 3)],
        case("lengths", [q4, k4, v4, None, None, None, ints(6, 3)], {"is_causal": 1}, opset=24),
        case("window", [q4, k4, v4], {"left_window_size": 2, "right_window_size": 1}, opset=25),
    ]


def sequences():
    cos, sin = rotation_caches(10, 4)
    cache, update = floats(2, 3, 8, 4), floats(2, 3, 2, 4)
    x = floats(2, 3, 5, 8)
    return [
        Case("rotary_embedding", "RotaryEmbedding",
             [x, cos, sin, RANDOM.integers(0, 10, (2, 5))], opset=23),
        Case("rotary_embedding_3d", "RotaryEmbedding",
             [floats(2, 5, 30), floats(2, 5, 4), floats(2, 5, 4)],
             {"num_heads": 3, "rotary_embedding_dim": 8, "interleaved": 1}, opset=23),
        Case("rms_normalization", "RMSNormalization", [x, floats(8)], opset=23),
        Case("rms_normalization_axis", "RMSNormalization", [x, floats(3, 5, 8)], {"axis": 1},
             opset=23),
        Case("swish", "Swish", [x], {"alpha": 0.7}, opset=24, reference=True),
        Case("tensor_scatter", "TensorScatter", [cache, update, ints(0, 5)], opset=24),
        Case("tensor_scatter_circular", "TensorScatter", [cache, update, ints(7, 6)],
             {"mode": "circular"}, opset=24),
        Case("group_normalization", "GroupNormalization", [floats(2, 6, 5, 4), floats(6), floats(6)],
             {"num_groups": 3}, opset=21),
        Case("dynamic_quantize_linear", "DynamicQuantizeLinear", [x], opset=13,
             outputs=(0, 1, 2)),
        Case("mean_variance_normalization", "MeanVarianceNormalization", [x], opset=13),
        *[Case(f"bitwise_{name.lower()}", f"Bitwise{name}",
               [RANDOM.integers(-99, 99, (3, 4)).astype(np.int32) for _ in range(count)], opset=18)
          for name, count in (("And", 2), ("Or", 2), ("Xor", 2), ("Not", 1))],
        Case("det", "Det", [floats(3, 4, 4)], opset=22, tolerance=1e-4),
        Case("det_singular", "Det", [np.ones((2, 3, 3), np.float32)], opset=22),
    ]


def images():
    image, volume = floats(2, 3, 5, 6), floats(2, 2, 4, 5, 6)
    grids = {"2d": uniform(-1.5, 1.5, 2, 4, 7, 2), "3d": uniform(-1.5, 1.5, 2, 3, 4, 2, 3)}
    cases = []
    for mode in ("linear", "nearest", "cubic"):
        for padding in ("zeros", "border", "reflection"):
            for corners in (0, 1):
                name = f"grid_sample_{mode}_{padding}_{corners}"
                attributes = {"mode": mode, "padding_mode": padding, "align_corners": corners}
                cases.append(Case(name, "GridSample", [image, grids["2d"]], attributes, opset=20,
                                  tolerance=1e-4))
                if mode != "cubic":
                    cases.append(Case(f"{name}_3d", "GridSample", [volume, grids["3d"]],
                                      attributes, opset=20, tolerance=1e-4))
    rois = np.array([[0, 0, 7, 7], [1, 2, 5, 6.5], [-1, 0, 12, 3], [3, 3, 3.2, 3.3]], np.float32)
    batches = ints(0, 1, 1, 0)
    regions = floats(2, 3, 9, 8)
    for mode in ("avg", "max"):
        for transform in ("half_pixel", "output_half_pixel"):
            for ratio in (2, 0):
                cases.append(Case(
                    f"roi_align_{mode}_{transform}_{ratio}", "RoiAlign", [regions, rois, batches],
                    {"mode": mode, "coordinate_transformation_mode": transform,
                     "sampling_ratio": ratio, "output_height": 3, "output_width": 2},
                    opset=16, constants=(1,) if ratio == 0 else (), tolerance=1e-4,
                    reference=mode == "max"))
    cases += [
        Case("roi_align_run_time", "RoiAlign", [regions, np.clip(rois, 0, 8), batches],
             {"output_height": 3, "output_width": 2, "spatial_scale": 0.9}, opset=16,
             tolerance=1e-4),
        Case("max_roi_pool", "MaxRoiPool",
             [regions, np.array([[0, 0, 0, 7, 7], [1, 1, 2, 5, 6], [0, 3, 3, 3, 3]], np.float32)],
             {"pooled_shape": [3, 2], "spatial_scale": 0.8}),
        Case("deform_conv", "DeformConv",
             [floats(1, 4, 6, 6), floats(6, 2, 3, 3), uniform(-2, 2, 1, 36, 6, 6), floats(6),
              uniform(0, 1, 1, 18, 6, 6)],
             {"group": 2, "offset_group": 2, "pads": [1, 1, 1, 1]}, opset=19, tolerance=1e-4,
             reference=True),
        Case("affine_grid", "AffineGrid", [floats(2, 2, 3), ints(2, 3, 4, 5)], {}, opset=20,
             constants=(1,)),
        Case("affine_grid_3d", "AffineGrid", [floats(2, 3, 4), ints(2, 3, 4, 5, 6)],
             {"align_corners": 1}, opset=20, constants=(1,)),
        Case("col2im", "Col2Im", [floats(1, 12, 6), ints(6, 7), ints(2, 2)],
             {"strides": [2, 3], "dilations": [1, 1]}, opset=18, constants=(1, 2)),
        Case("col2im_overlapping", "Col2Im", [floats(1, 18, 20), ints(5, 6), ints(3, 3)],
             {"pads": [0, 1, 1, 0]}, opset=18, constants=(1, 2)),
        Case("center_crop_pad", "CenterCropPad", [floats(5, 4, 3), ints(2, 7)], {"axes": [0, -1]},
             opset=18, constants=(1,)),
        Case("max_unpool", "MaxUnpool",
             [floats(1, 1, 2, 2), ints(5, 7, 13, 15).reshape(1, 1, 2, 2)],
             {"kernel_shape": [2, 2], "strides": [2, 2]}, opset=11),
        Case("max_unpool_shape", "MaxUnpool",
             [floats(1, 1, 2, 2), ints(5, 7, 13, 15).reshape(1, 1, 2, 2), ints(1, 1, 5, 5)],
             {"kernel_shape": [2, 2], "strides": [2, 2]}, opset=11, constants=(2,),
             reference=True),
    ]
    return cases


def spectra():
    real, complex_ = floats(2, 10, 1), floats(2, 10, 2)
    return [
        Case("dft_real", "DFT", [real], opset=20),
        Case("dft_onesided", "DFT", [real], {"onesided": 1}, opset=20),
        Case("dft_complex_length", "DFT", [complex_, scalar(13, np.int64)], opset=20,
             constants=(1,)),
        Case("dft_inverse", "DFT", [complex_, scalar(8, np.int64)], {"inverse": 1}, opset=20,
             constants=(1,)),
        Case("dft_axis", "DFT", [floats(4, 5, 3, 2), None, scalar(0, np.int64)], opset=20,
             constants=(2,)),
        Case("dft_17", "DFT", [floats(2, 5, 6, 1)], {"axis": 2, "onesided": 1}),
        Case("dft_inverse_onesided", "DFT", [floats(2, 6, 2)], {"inverse": 1, "onesided": 1},
             opset=20, reference=True),
        Case("stft", "STFT", [floats(2, 40, 1), scalar(7, np.int64), floats(16)],
             constants=(1,)),
        Case("stft_length", "STFT",
             [floats(2, 40, 1), scalar(5, np.int64), None, scalar(12, np.int64)],
             {"onesided": 0}, constants=(1, 3)),
        *[Case(f"{name.lower()}_window_{periodic}", f"{name}Window", [scalar(9, np.int64)],
               {"periodic": periodic}, constants=(0,), tolerance=1e-6)
          for name in ("Hann", "Hamming", "Blackman") for periodic in (0, 1)],
        Case("mel_weight_matrix", "MelWeightMatrix",
             [scalar(8, np.int64), scalar(64, np.int64), scalar(8192, np.int64), scalar(20.0),
              scalar(4000.0)], constants=(0, 1, 2, 3, 4)),
    ]


CASES = [
    *microsoft_activations(),
    *microsoft_normalizations(),
    *microsoft_quantized(),
    *microsoft_products(),
    *microsoft_attention(),
    *microsoft_rest(),
    *attention(),
    *sequences(),
    *images(),
    *spectra(),
]
