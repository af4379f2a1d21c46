// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/experimental/selection/farthest_first.h"
#include "bayloom/experimental/selection/selections.h"

namespace bayloom::experimental {
namespace {

class CoreSetSelection final : public cost::SelectionMethod {
 public:
  std::string name() const override { return "core-set"; }
  cost::SelectionNeeds needs() const override { return {.representation = true}; }
  std::vector<int> Select(const cost::SelectionTask& task, int count,
                          base::RandomStream&) const override {
    const cost::DenseRows& open = task.representation;
    const cost::DenseRows& measured = task.measured_representation;
    return TraverseFarthestFirst(
        task.count(), measured.rows, count, 0,
        [&](int i, int anchor) { return SquaredDistance(open, i, measured, anchor); },
        [&](int i, int j) { return SquaredDistance(open, i, open, j); });
  }
};

}  // namespace

std::unique_ptr<cost::SelectionMethod> MakeCoreSetSelection() {
  return std::make_unique<CoreSetSelection>();
}

}  // namespace bayloom::experimental
