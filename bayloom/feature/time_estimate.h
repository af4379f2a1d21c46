#pragma once

#include "bayloom/tensor/program.h"
#include "bayloom/tensor/target.h"

namespace bayloom {

/// What a program may take, in seconds, judged by its loops alone: vector operations, cache lines
/// that come from the next level, and how evenly jobs fall to cores. Its absolute size means
/// little, but programs of one workload come in nearly the order of their measured times when they
/// differ by much, before any program of the workload was measured (docs/benchmarks.md).
double EstimateTime(const Program& program, const Target& target);

}  // namespace bayloom
