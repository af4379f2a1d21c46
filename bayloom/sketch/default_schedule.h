// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/target/target.h"
#include "bayloom/tensor/program.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::sketch {

/// The workload as a simple compiler would make it, the default program that tuned ones are
/// compared with: stages inlined where that is free, outermost spatial loops in parallel,
/// reductions around a vectorized innermost spatial loop, wherever the primitives allow it.
/// Nothing is tiled and no layout is changed. On GPUs every element is computed by a thread of its
/// own.
tensor::Program DefaultSchedule(const tensor::Workload& workload, const target::Target& target);

}  // namespace bayloom::sketch
