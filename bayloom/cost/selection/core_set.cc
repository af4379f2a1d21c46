// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/internal/selection/farthest_first.h"
#include "bayloom/cost/selection/selection.h"

namespace bayloom::cost {
namespace {

class CoreSetSelection final : public SelectionMethod {
 public:
  std::string name() const override { return "core-set"; }
  SelectionNeeds needs() const override { return {.representation = true}; }
  std::vector<int> Select(const SelectionTask& task, int count,
                          base::RandomStream&) const override {
    const DenseRows& open = task.representation;
    const DenseRows& measured = task.measured_representation;
    return TraverseFarthestFirst(
        task.count(), measured.rows, count, 0,
        [&](int i, int anchor) { return SquaredDistance(open, i, measured, anchor); },
        [&](int i, int j) { return SquaredDistance(open, i, open, j); });
  }
};

}  // namespace

std::unique_ptr<SelectionMethod> MakeCoreSetSelection() {
  return std::make_unique<CoreSetSelection>();
}

}  // namespace bayloom::cost
