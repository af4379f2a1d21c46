// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/cost/cost_model.h"

namespace bayloom::cost {

/// Scores drawn uniformly from [0, 1): the baseline that every cost model has to beat.
class RandomModel final : public CostModel {
 public:
  explicit RandomModel(uint64_t seed) : seed_(seed), random_(seed) {}

  std::vector<double> Predict(std::span<const feature::FeatureMatrix* const> programs) override {
    return RandomScores(random_, programs.size());
  }
  BatchMetrics Update(std::span<const Sample> batch) override;
  void Remember(std::span<const Sample> batch) override;

 private:
  uint64_t seed_;
  int samples_ = 0;
  base::RandomStream random_;
  TaskBests bests_;
};

}  // namespace bayloom::cost
