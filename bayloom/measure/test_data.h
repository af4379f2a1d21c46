// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "bayloom/tensor/interpreter.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::measure {

/// Where random floats are drawn from, uniformly. Not every workload has values everywhere.
enum class DataRange : uint8_t {
  kSymmetric,  ///< [-1, 1): signs matter, sums cancel
  kPositive,   ///< [0.1, 1): roots, logarithms, quotients
  kAboveOne,   ///< [1.1, 2): what is left
};

/// Random row-major tensors for Workload::Parameters(); outputs are zero. Integers are small;
/// those that are used as indices stay within the dimensions they index.
std::vector<tensor::HostTensor> MakeArguments(const tensor::Workload& workload, uint64_t seed,
                                              DataRange range);

}  // namespace bayloom::measure
