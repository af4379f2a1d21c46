// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bayloom/tensor/workload.h"

namespace bayloom::pretrain {

/// Kinds of operators of neural networks: "conv2d", "conv2d-grouped", "conv2d-dilated",
/// "depthwise", "dense", "batch-matmul", "pooling", "softmax", "layer-norm", "elementwise".
std::vector<std::string> FamilyNames();

/// Up to `count` different workloads of a family, of extents that networks have and of at most
/// about a billion operations each; fewer if there are hardly more. Throws InputError for a name
/// there is not.
std::vector<tensor::Workload> DrawFamily(const std::string& family, int count, uint64_t seed);

}  // namespace bayloom::pretrain
