// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/codegen/cpu/tile_emitter.h"

namespace bayloom::codegen {

/// Emits a loop and a vectorized one inside of it whose lanes are loaded across the outer loop's
/// steps (plan/cpu/across_plan.h). `tree` emits what is inside.
void EmitAcross(NestContext& nest, const plan::AcrossLoop& across, TreeEmitter& tree);

}  // namespace bayloom::codegen
