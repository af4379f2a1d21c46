// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/target/target.h"
#include "bayloom/tensor/program.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::measure {

/// Programs that may compute what all others of the workload are compared with (Reference), the one
/// to be tried first in front: the default schedule, and the loops as they are defined.
std::vector<tensor::Program> ReferencePrograms(const tensor::Workload& workload,
                                               const target::Target& target);

}  // namespace bayloom::measure
