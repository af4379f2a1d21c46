// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/warp_matrices.h"

#include <algorithm>

#include "bayloom/tensor/access.h"

namespace bayloom::tensor {
namespace {

bool MovesInRow(const Access& access, BufferId buffer, const std::vector<DigitId>& digits) {
  if (access.is_write || access.buffer != buffer || access.indices.empty()) return false;
  const std::optional<Affine>& row = access.indices.back();
  return row &&
         std::ranges::any_of(digits, [&](DigitId digit) { return row->CoefficientOf(digit) != 0; });
}

}  // namespace

std::optional<MatrixStage> MatrixStageOf(const Program& program, BufferId buffer) {
  std::optional<MatrixStage> stage;
  for (const BlockId reader : program.ReadersOf(buffer)) {
    for (const LoopId loop : program.LoopsAround(NodeRef::Block(reader))) {
      if (program.loops[loop].kind != LoopKind::kTensorized) continue;
      if (!stage) stage.emplace();
      stage->for_groups |= program.blocks[reader].annotations.contains(kWarpGroups);
      for (const Access& access : AccessesOf(program, reader)) {
        stage->along_depth |= MovesInRow(access, buffer, program.loops[loop].digits);
      }
    }
  }
  return stage;
}

}  // namespace bayloom::tensor
