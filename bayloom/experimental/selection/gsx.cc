// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/experimental/selection/farthest_first.h"
#include "bayloom/experimental/selection/selections.h"

namespace bayloom::experimental {
namespace {

class GsxSelection final : public cost::SelectionMethod {
 public:
  std::string name() const override { return "gsx"; }
  cost::SelectionNeeds needs() const override { return {.features = true}; }
  std::vector<int> Select(const cost::SelectionTask& task, int count,
                          base::RandomStream&) const override {
    return TraverseFarthestFirst(
        task.count(), task.measured_features.rows, count, MostCentralRow(task.features),
        [&](int i, int anchor) {
          return SquaredDistance(task.features, i, task.measured_features, anchor);
        },
        [&](int i, int j) { return SquaredDistance(task.features, i, task.features, j); });
  }
};

}  // namespace

std::unique_ptr<cost::SelectionMethod> MakeGsxSelection() {
  return std::make_unique<GsxSelection>();
}

}  // namespace bayloom::experimental
