// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/random_model.h"

namespace bayloom::cost {

BatchMetrics RandomModel::Update(std::span<const Sample> batch) {
  const std::vector<double> predicted = RandomScores(random_, batch.size());
  Remember(batch);
  return EvaluateBatch(predicted, batch, bests_);
}

void RandomModel::Remember(std::span<const Sample> batch) {
  for (const Sample& sample : batch) bests_.Add(sample);
  samples_ += static_cast<int>(batch.size());
  random_ = StreamAfter(seed_, samples_);
}

}  // namespace bayloom::cost
