// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "bayloom/experimental/selection/farthest_first.h"
#include "bayloom/experimental/selection/selections.h"

namespace bayloom::experimental {
namespace {

class IgsSelection final : public cost::SelectionMethod {
 public:
  std::string name() const override { return "igs"; }
  cost::SelectionNeeds needs() const override { return {.features = true}; }
  std::vector<int> Select(const cost::SelectionTask& task, int count,
                          base::RandomStream&) const override {
    return TraverseFarthestFirst(
        task.count(), task.measured_features.rows, count, MostCentralRow(task.features),
        [&](int i, int anchor) {
          return std::sqrt(SquaredDistance(task.features, i, task.measured_features, anchor)) *
                 std::abs(task.scores[i] - task.measured_labels[anchor]);
        },
        [&](int i, int j) {
          return std::sqrt(SquaredDistance(task.features, i, task.features, j)) *
                 std::abs(task.scores[i] - task.scores[j]);
        });
  }
};

}  // namespace

std::unique_ptr<cost::SelectionMethod> MakeIgsSelection() {
  return std::make_unique<IgsSelection>();
}

}  // namespace bayloom::experimental
