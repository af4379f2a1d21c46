// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/tensor/program.h"

namespace bayloom::feature {

/// The loops around a block, from the outermost.
inline std::vector<tensor::LoopId> LoopsOf(const tensor::Program& program,
                                           const std::string& block) {
  return program.LoopsAround(tensor::NodeRef::Block(program.FindBlock(block)));
}

}  // namespace bayloom::feature
