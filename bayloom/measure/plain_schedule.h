#pragma once

#include "bayloom/tensor/program.h"
#include "bayloom/tensor/target.h"
#include "bayloom/tensor/workload.h"

namespace bayloom {

/// The workload lowered without tuning, but not foolishly: outermost spatial loops in parallel,
/// reductions around a vectorized innermost spatial loop, wherever the primitives allow it.
Program PlainSchedule(const Workload& workload, const Target& target);

}  // namespace bayloom
