// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>
#include <vector>

#include "bayloom/tensor/workload.h"

namespace bayloom::tensor {

/// What tells a workload from others, for people: its operators, the extents of its main stage and
/// what is not usual about it.
///
///     conv+relu 1x28x28x128 over 3x3x64, stride 2
///     matmul+add 128x128 over 512, residual
///     matmul 12x128x64 over 128, float16
///
/// It depends on what is computed alone: a task is called the same wherever it is shown.
std::string NameOf(const Workload& workload);

/// The names of workloads that are listed together, no two the same if the workloads are not:
/// where NameOf does not tell some apart, digits of their StructuralHash follow ("... #3f2a").
std::vector<std::string> NamesOf(std::span<const Workload* const> workloads);

}  // namespace bayloom::tensor
