#pragma once

#include "bayloom/base/random.h"
#include "bayloom/cost/cost_model.h"

namespace bayloom {

/// Scores drawn uniformly from [0, 1): the baseline that every cost model has to beat.
class RandomModel final : public CostModel {
 public:
  explicit RandomModel(uint64_t seed) : random_(seed) {}

  std::vector<double> Predict(std::span<const FeatureMatrix* const> programs) override;
  BatchMetrics Update(std::span<const Sample> batch) override;

 private:
  RandomStream random_;
  TaskBests bests_;
};

}  // namespace bayloom
