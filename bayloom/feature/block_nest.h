// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "bayloom/tensor/program.h"

namespace bayloom::feature {

/// The iterations around a block without those that do nothing: loops and digits of extent 1.
struct BlockNest {
  std::vector<tensor::LoopId> loops;  ///< outermost first
  std::vector<tensor::DigitId> axes;  ///< the loops' digits, slowest first
  std::vector<int64_t> extents;       ///< of the axes
  double iterations = 1;
  int64_t auto_unroll = 0;  ///< innermost annotation, on any loop

  /// Refills this nest, keeping its memory.
  void Assign(const tensor::Program& program, tensor::BlockId block);
};

}  // namespace bayloom::feature
