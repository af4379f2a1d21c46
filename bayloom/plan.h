// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module plan: what code will be generated for a program, before any is.
///
///     const Result<plan::CpuPlan> plan = plan::MakeCpuPlan(program, target);
///     for (const auto& [loop, tile] : plan->tiles) ...  // sums that are kept in registers
///
/// Reading order: `memory_plan.h` and `vector_plan.h` (buffers, lanes);
/// `cpu/accumulator_plan.h` with `cpu/tile_cost.h` (sums in registers); `cpu/epilogue_plan.h`,
/// `cpu/fold_plan.h`, `cpu/dot_plan.h`, `cpu/tile_product.h` (what becomes of a tile);
/// `cpu/cpu_plan.h` (all of it); `gpu/gpu_plan.h`.

#include "bayloom/plan/cpu/cpu_plan.h"
#include "bayloom/plan/cpu/guard.h"
#include "bayloom/plan/cpu/load_lines.h"
#include "bayloom/plan/cpu/scale_blocks.h"
#include "bayloom/plan/cpu/sum_blocks.h"
#include "bayloom/plan/gpu/gpu_plan.h"
