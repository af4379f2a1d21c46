#pragma once

#include <vector>

#include "bayloom/tensor/program.h"

namespace bayloom {

/// The iterations around a block without those that do nothing: loops and digits of extent 1.
struct BlockNest {
  std::vector<LoopId> loops;     ///< outermost first
  std::vector<DigitId> axes;     ///< the loops' digits, slowest first
  std::vector<int64_t> extents;  ///< of the axes
  double iterations = 1;
  int64_t auto_unroll = 0;  ///< innermost annotation, on whatever loop

  /// Refills this nest, keeping its memory.
  void Assign(const Program& program, BlockId block);
};

}  // namespace bayloom
