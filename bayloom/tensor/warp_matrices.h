// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "bayloom/tensor/program.h"

namespace bayloom::tensor {

/// Annotation of a product: four neighbouring warps of a GPU multiply its matrices together, read
/// from shared memory (target/wgmma_instruction.h). The program's meaning is the same; code
/// generation decides whether they can.
inline constexpr char kWarpGroups[] = "warp_groups";

/// An operand of a product of matrices, staged in shared memory.
struct MatrixStage {
  bool along_depth = false;  ///< rows run along the depth of the product, its tensorized loop
  bool for_groups = false;   ///< of warps (kWarpGroups): rows are not padded
};

/// Nullopt for buffers that are not read below a tensorized loop. Rows of those that are are padded
/// in shared memory (target::PaddedRowBytes), or lie in panels.
std::optional<MatrixStage> MatrixStageOf(const Program& program, BufferId buffer);

}  // namespace bayloom::tensor
