// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/tensor/operators.h"

namespace bayloom {

/// The layer of tensor::Conv2dWorkload, which has its channels last, between activations in blocks
/// of `block` channels: x[n, ci / block, h, w, block], and so the result. Weights are in the order
/// of the loops. Without groups or depthwise; `block` divides both numbers of channels.
tensor::Workload BlockedConvolution(const tensor::Conv2dShape& shape, int64_t block);

}  // namespace bayloom
