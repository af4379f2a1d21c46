#include "bayloom/cost/random_model.h"

namespace bayloom {

std::vector<double> RandomModel::Predict(std::span<const FeatureMatrix* const> programs) {
  std::vector<double> scores(programs.size());
  for (double& score : scores) score = random_.Uniform();
  return scores;
}

BatchMetrics RandomModel::Update(std::span<const Sample> batch) {
  std::vector<double> scores(batch.size());
  for (double& score : scores) score = random_.Uniform();
  for (const Sample& sample : batch) bests_.Add(sample);
  return EvaluateBatch(scores, batch, bests_);
}

}  // namespace bayloom
