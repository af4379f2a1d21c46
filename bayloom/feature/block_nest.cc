// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/block_nest.h"

#include <algorithm>

namespace bayloom::feature {

void BlockNest::Assign(const tensor::Program& program, tensor::BlockId block) {
  loops.clear();
  axes.clear();
  extents.clear();
  iterations = 1;
  auto_unroll = 0;
  for (tensor::NodeRef node = program.blocks[block].parent; node.is_loop();
       node = program.loops[node.id].parent) {
    const tensor::Loop& loop = program.loops[node.id];
    if (auto_unroll == 0) auto_unroll = loop.unroll_max_step;
    const size_t axes_below = axes.size();
    for (auto digit = loop.digits.rbegin(); digit != loop.digits.rend(); ++digit) {
      const int64_t extent = program.digit_extents[*digit];
      if (extent == 1) continue;
      axes.push_back(*digit);
      extents.push_back(extent);
      iterations *= static_cast<double>(extent);
    }
    if (axes.size() > axes_below) loops.push_back(node.id);
  }
  std::reverse(loops.begin(), loops.end());
  std::reverse(axes.begin(), axes.end());
  std::reverse(extents.begin(), extents.end());
}

}  // namespace bayloom::feature
