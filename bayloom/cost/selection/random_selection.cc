// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>

#include "bayloom/cost/selection/selection.h"

namespace bayloom::cost {
namespace {

class RandomSelection final : public SelectionMethod {
 public:
  std::string name() const override { return "random"; }
  std::vector<int> Select(const SelectionTask& task, int count,
                          base::RandomStream& random) const override {
    std::vector<int> order(task.count());
    std::iota(order.begin(), order.end(), 0);
    random.Shuffle(order);
    order.resize(std::min(count, task.count()));
    return order;
  }
};

}  // namespace

std::unique_ptr<SelectionMethod> MakeRandomSelection() {
  return std::make_unique<RandomSelection>();
}

}  // namespace bayloom::cost
