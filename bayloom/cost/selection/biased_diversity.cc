// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <limits>

#include "bayloom/cost/selection/score_spread.h"
#include "bayloom/cost/selection/selection.h"

namespace bayloom::cost {
namespace {

class BiasedDiversitySelection final : public SelectionMethod {
 public:
  explicit BiasedDiversitySelection(const SelectionOptions& options) : options_(options) {}

  std::string name() const override { return "biased-diversity"; }
  std::vector<int> Select(const SelectionTask& task, int count,
                          base::RandomStream&) const override {
    const bool mostly_slow = Divergence(task.measured_labels) > options_.divergence_threshold;
    return SpreadScores(task.scores, task.measured_scores, count,
                        mostly_slow ? ScoreDistance::kWeighted : ScoreDistance::kPlain);
  }

 private:
  SelectionOptions options_;
};

}  // namespace

std::unique_ptr<SelectionMethod> MakeBiasedDiversitySelection(const SelectionOptions& options) {
  return std::make_unique<BiasedDiversitySelection>(options);
}

double Divergence(std::span<const double> labels) {
  if (labels.empty()) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (const double label : labels) sum -= std::log(std::max(label, kMinLabel));
  return sum / static_cast<double>(labels.size());
}

}  // namespace bayloom::cost
