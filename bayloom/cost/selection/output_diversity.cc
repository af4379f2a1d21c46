// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/internal/selection/score_spread.h"
#include "bayloom/cost/selection/selection.h"

namespace bayloom::cost {
namespace {

class OutputDiversitySelection final : public SelectionMethod {
 public:
  std::string name() const override { return "output-diversity"; }
  std::vector<int> Select(const SelectionTask& task, int count,
                          base::RandomStream&) const override {
    return SpreadScores(task.scores, task.measured_scores, count, ScoreDistance::kPlain);
  }
};

}  // namespace

std::unique_ptr<SelectionMethod> MakeOutputDiversitySelection() {
  return std::make_unique<OutputDiversitySelection>();
}

}  // namespace bayloom::cost
