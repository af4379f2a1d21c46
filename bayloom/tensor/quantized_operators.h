// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "bayloom/tensor/operators.h"

namespace bayloom::tensor {

/// Layers of quantized networks: products of bytes are summed up in int32, and what comes out is
/// bytes again. Activations are of type `data`, int8 or uint8, weights of type `weights`.

struct QuantizedTypes {
  DType data = DType::kUInt8;
  DType weights = DType::kInt8;
};

/// round((sums + bias) * scale), half to even, clipped to what the type can hold. bias (int32) and
/// scale (float32) are constants with one element for each channel, the last axis.
Tensor Requantize(WorkloadBuilder& b, const std::string& name, const Tensor& sums, DType dtype);

/// y[m, n] from x[m, k] and the constant w[k, n], requantized.
Workload QuantizedMatmulWorkload(int64_t m, int64_t n, int64_t k, const QuantizedTypes& types = {});
/// As Conv2dWorkload, requantized; no groups and no further epilogue. Padding is 0.
Workload QuantizedConv2dWorkload(const Conv2dShape& shape, const QuantizedTypes& types = {});

}  // namespace bayloom::tensor
