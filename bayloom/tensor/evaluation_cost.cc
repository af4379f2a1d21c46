// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tensor/evaluation_cost.h"

#include <algorithm>
#include <vector>

namespace bayloom::tensor {
namespace {

int64_t CostOfOperation(const Expr& e) { return IsTranscendental(e->op) ? kTranscendentalCost : 1; }

/// The cost of a stage's value at indices that cost something themselves.
class CostAtIndices {
 public:
  CostAtIndices(BufferId buffer, const Expr& value, std::span<const int> iter_of_dimension)
      : buffer_(buffer), uses_(iter_of_dimension.size()) {
    Visit(value, [&](const Expr& e) {
      if (e->op != ExprOp::kIter) {
        fixed_ += CostOfOperation(e);
        return;
      }
      const auto d = std::find(iter_of_dimension.begin(), iter_of_dimension.end(), e->index);
      if (d == iter_of_dimension.end()) {
        ++fixed_;
      } else {
        ++uses_[d - iter_of_dimension.begin()];
      }
    });
  }

  int64_t In(const Expr& e) const {
    const bool inlined = e->op == ExprOp::kLoad && e->index == buffer_;
    int64_t cost = inlined ? fixed_ : CostOfOperation(e);
    for (size_t i = 0; i < e->operands.size() && cost <= kMaxInlinedCost; ++i) {
      cost += (inlined ? uses_[i] : 1) * In(e->operands[i]);
    }
    return std::min(cost, kMaxInlinedCost + 1);
  }

 private:
  BufferId buffer_;
  int64_t fixed_ = 0;          // of all but the iterators that indices take the place of
  std::vector<int64_t> uses_;  // of those, by dimension
};

}  // namespace

int64_t EvaluationCost(const Expr& e) {
  int64_t cost = CostOfOperation(e);
  for (const Expr& operand : e->operands) cost += EvaluationCost(operand);
  return cost;
}

int64_t CostAfterInlining(const Expr& reader, BufferId buffer, const Expr& value,
                          std::span<const int> iter_of_dimension) {
  return CostAtIndices(buffer, value, iter_of_dimension).In(reader);
}

int64_t CountLoads(const Expr& e, BufferId buffer) {
  int64_t loads = 0;
  Visit(e,
        [&](const Expr& inner) { loads += inner->op == ExprOp::kLoad && inner->index == buffer; });
  return loads;
}

}  // namespace bayloom::tensor
