// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module tensor: scalar expressions, workloads, loop programs, schedule primitives, traces, the
/// reference interpreter.
///
///     const Workload workload = ParseOperator("matmul:512,512,512");
///     Schedule schedule(workload, /*seed=*/0);
///     const tensor::BlockVar c = *schedule.GetBlock("c");
///     schedule.Split((*schedule.GetLoops(c))[0], std::vector<int64_t>{64, 8});
///     std::puts(tensor::Print(schedule.program()).c_str());
///
/// Reading order: `expr.h` and `workload.h` (what is computed); `program.h` and `digits.h`
/// (loops around blocks); `primitives.h` (how programs are changed); `schedule.h` and `trace.h`
/// (programs as decisions); `interpreter.h` (what a program means).

#include "bayloom/tensor/access.h"
#include "bayloom/tensor/async_copy.h"
#include "bayloom/tensor/comparison.h"
#include "bayloom/tensor/digits.h"
#include "bayloom/tensor/dot_product.h"
#include "bayloom/tensor/dtype.h"
#include "bayloom/tensor/evaluation_cost.h"
#include "bayloom/tensor/expr.h"
#include "bayloom/tensor/interpreter.h"
#include "bayloom/tensor/library_call.h"
#include "bayloom/tensor/loop_names.h"
#include "bayloom/tensor/loop_tree.h"
#include "bayloom/tensor/open_axis.h"
#include "bayloom/tensor/operator_shorthand.h"
#include "bayloom/tensor/operators.h"
#include "bayloom/tensor/primitives.h"
#include "bayloom/tensor/primitives/region.h"
#include "bayloom/tensor/primitives/split_iterator.h"
#include "bayloom/tensor/program.h"
#include "bayloom/tensor/quantized_operators.h"
#include "bayloom/tensor/scalar.h"
#include "bayloom/tensor/schedule.h"
#include "bayloom/tensor/simplify.h"
#include "bayloom/tensor/tile_registers.h"
#include "bayloom/tensor/trace.h"
#include "bayloom/tensor/warp_matrices.h"
#include "bayloom/tensor/workload.h"
#include "bayloom/tensor/workload_json.h"
#include "bayloom/tensor/workload_name.h"

namespace bayloom {

using tensor::Lower;
using tensor::ParseOperator;
using tensor::Program;
using tensor::Schedule;
using tensor::Workload;

}  // namespace bayloom
