// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/selection/score_spread.h"
#include "bayloom/experimental/selection/selections.h"

namespace bayloom::experimental {
namespace {

class OutputDiversitySelection final : public cost::SelectionMethod {
 public:
  std::string name() const override { return "output-diversity"; }
  std::vector<int> Select(const cost::SelectionTask& task, int count,
                          base::RandomStream&) const override {
    return cost::SpreadScores(task.scores, task.measured_scores, count,
                              cost::ScoreDistance::kPlain);
  }
};

}  // namespace

std::unique_ptr<cost::SelectionMethod> MakeOutputDiversitySelection() {
  return std::make_unique<OutputDiversitySelection>();
}

}  // namespace bayloom::experimental
