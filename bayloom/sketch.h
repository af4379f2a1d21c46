// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Module sketch: rules that turn a workload into design spaces; postprocessors; validation.
///
/// Reading order: `pattern.h` (what a workload is); `default_schedule.h`; `rules/` (tiling of
/// one reduction); `design_space.h` (all spaces of a task); `gpu/gpu_spaces.h`; `derivations/`
/// (other algorithms for the same).

#include "bayloom/sketch/analysis.h"
#include "bayloom/sketch/default_schedule.h"
#include "bayloom/sketch/derivations/derivations.h"
#include "bayloom/sketch/design_space.h"
#include "bayloom/sketch/gpu/gpu_spaces.h"
#include "bayloom/sketch/pattern.h"
#include "bayloom/sketch/rows_for_pool.h"
#include "bayloom/sketch/rules/rules.h"
#include "bayloom/tensor.h"
