// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "bayloom/tensor/interpreter.h"

namespace bayloom::graph {

/// Whether the part is what the whole begins with, in all dimensions.
bool IsCorner(const tensor::HostTensor& whole, const tensor::HostTensor& part);
/// What the whole begins with.
tensor::HostTensor CornerOf(const tensor::HostTensor& whole, const std::vector<int64_t>& shape);

}  // namespace bayloom::graph
