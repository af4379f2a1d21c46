// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>

#include "bayloom/experimental/selection/selections.h"

namespace bayloom::experimental {
namespace {

class UncertaintySelection final : public cost::SelectionMethod {
 public:
  std::string name() const override { return "uncertainty"; }
  cost::SelectionNeeds needs() const override { return {.uncertainty = true}; }
  std::vector<int> Select(const cost::SelectionTask& task, int count,
                          base::RandomStream&) const override {
    std::vector<int> order(task.count());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return task.uncertainty[a] > task.uncertainty[b]; });
    order.resize(std::min(count, task.count()));
    return order;
  }
};

}  // namespace

std::unique_ptr<cost::SelectionMethod> MakeUncertaintySelection() {
  return std::make_unique<UncertaintySelection>();
}

}  // namespace bayloom::experimental
