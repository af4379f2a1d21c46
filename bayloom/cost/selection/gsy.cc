// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/internal/selection/score_spread.h"
#include "bayloom/cost/selection/selection.h"

namespace bayloom::cost {
namespace {

class GsySelection final : public SelectionMethod {
 public:
  std::string name() const override { return "gsy"; }
  std::vector<int> Select(const SelectionTask& task, int count,
                          base::RandomStream&) const override {
    return SpreadScores(task.scores, task.measured_labels, count, ScoreDistance::kPlain);
  }
};

}  // namespace

std::unique_ptr<SelectionMethod> MakeGsySelection() { return std::make_unique<GsySelection>(); }

}  // namespace bayloom::cost
