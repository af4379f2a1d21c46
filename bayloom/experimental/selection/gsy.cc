// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/selection/score_spread.h"
#include "bayloom/experimental/selection/selections.h"

namespace bayloom::experimental {
namespace {

class GsySelection final : public cost::SelectionMethod {
 public:
  std::string name() const override { return "gsy"; }
  std::vector<int> Select(const cost::SelectionTask& task, int count,
                          base::RandomStream&) const override {
    return cost::SpreadScores(task.scores, task.measured_labels, count,
                              cost::ScoreDistance::kPlain);
  }
};

}  // namespace

std::unique_ptr<cost::SelectionMethod> MakeGsySelection() {
  return std::make_unique<GsySelection>();
}

}  // namespace bayloom::experimental
