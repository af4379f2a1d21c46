// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/primitives/elementwise.h"

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/tensor/primitives/region.h"

namespace bayloom::tensor {

Result<std::vector<int>> ElementwiseIters(const Program& program, const Block& block, BufferId id) {
  const Buffer& buffer = program.buffers[id];
  std::vector<int> iters;
  bool elementwise = true;
  bool first = true;
  ForEachLoadOf(block.value, id, [&](const ExprNode& load) {
    std::vector<int> of_load;
    for (size_t d = 0; d < load.operands.size(); ++d) {
      const Expr& index = load.operands[d];
      if (index->op == ExprOp::kIter &&
          std::find(of_load.begin(), of_load.end(), index->index) == of_load.end()) {
        of_load.push_back(index->index);
      } else if (buffer.shape[d] == 1 && IsIntLiteral(index, 0)) {
        of_load.push_back(-1);
      } else {
        elementwise = false;
      }
    }
    elementwise = elementwise && (first || of_load == iters);
    iters = std::move(of_load);
    first = false;
  });
  if (!elementwise) {
    return Error{fmt::format("{} reads {} at something else than its own iterators", block.name,
                             buffer.name)};
  }
  return iters;
}

}  // namespace bayloom::tensor
