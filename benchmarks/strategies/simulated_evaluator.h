#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bayloom/base/hash.h"
#include "bayloom/base/random.h"
#include "bayloom/cost/throughput_model.h"
#include "bayloom/feature/program_features.h"
#include "bayloom/tuning/evaluator.h"

namespace bayloom {

/// Runs programs, at once, on a machine that behaves as a model of throughput says, which was
/// trained on measurements of a real one (`bayloom pretrain`); with a noise of one percent.
class SimulatedEvaluator final : public Evaluator {
 public:
  explicit SimulatedEvaluator(const std::string& model_file) : model_(ReadModelFile(model_file)) {}

  double Evaluate(const Workload& workload, std::span<const Candidate> candidates,
                  const EvaluationContext& context, const Report& report) override {
    std::vector<FeatureMatrix> features;
    for (const Candidate& candidate : candidates) {
      features.push_back(ExtractFeatures(candidate.program));
    }
    std::vector<const FeatureMatrix*> pointers;
    for (const FeatureMatrix& one : features) pointers.push_back(&one);
    const std::vector<double> shares = model_->Predict(pointers);
    for (size_t i = 0; i < candidates.size() && !context.stop(); ++i) {
      RandomStream random(Hasher().Add(candidates[i].hash).Add(uint64_t{1}).Digest());
      Outcome outcome;
      outcome.value = workload.Flops() / (kFlopsPerSecond * std::max(shares[i], kLeastShare)) *
                      std::exp(0.01 * random.Normal());
      report(static_cast<int>(i), outcome);
    }
    return 0;
  }

 private:
  /// Of a program whose share of the best throughput is 1.
  static constexpr double kFlopsPerSecond = 1e11;
  static constexpr double kLeastShare = 0.01;

  std::unique_ptr<ThroughputModel> model_;
};

}  // namespace bayloom
