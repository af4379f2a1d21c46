// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "bayloom/tensor/trace.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::explain {

/// A decision in the workload's own names: "tile of k in matmul: 2 x 12", "parallel_jobs of matmul:
/// 32", "where relu is computed: loop 3". `step` is a sampling step that is decided.
std::string DecisionText(const tensor::Trace& trace, int step, const tensor::Workload& workload);

}  // namespace bayloom::explain
