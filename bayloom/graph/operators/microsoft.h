// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

#include "bayloom/graph/operators/operator.h"

/// Operators of the domain com.microsoft: what the optimizer and the quantizers of onnxruntime put
/// in place of ONNX's own operators. They are written as compositions of those.
namespace bayloom::graph::microsoft {

inline constexpr std::string_view kDomain = "com.microsoft";

std::span<const Operator> ActivationOperators();
std::span<const Operator> AttentionOperators();
std::span<const Operator> BlockQuantizationOperators();
std::span<const Operator> ConvolutionOperators();
std::span<const Operator> EmbeddingOperators();
std::span<const Operator> ExpertOperators();
std::span<const Operator> MatmulOperators();
std::span<const Operator> NormalizationOperators();
std::span<const Operator> QuantizationOperators();
std::span<const Operator> QuantizedMatmulOperators();
std::span<const Operator> RefusedOperators();
std::span<const Operator> ShapeOperators();

}  // namespace bayloom::graph::microsoft
