// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>

#include "bayloom/cost/selection/selection.h"

namespace bayloom::cost {
namespace {

class GreedySelection final : public SelectionMethod {
 public:
  std::string name() const override { return "greedy"; }
  std::vector<int> Select(const SelectionTask& task, int count,
                          base::RandomStream&) const override {
    std::vector<int> order(task.count());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return task.scores[a] > task.scores[b]; });
    order.resize(std::min(count, task.count()));
    return order;
  }
};

}  // namespace

std::unique_ptr<SelectionMethod> MakeGreedySelection() {
  return std::make_unique<GreedySelection>();
}

}  // namespace bayloom::cost
