// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/base/hash.h"
#include "bayloom/base/random.h"
#include "bayloom/cost/model_file.h"
#include "bayloom/feature/program_features.h"
#include "bayloom/tuning/program_evaluator.h"

namespace bayloom {

/// Runs programs, at once, on a machine that behaves as a model of throughput says, which was
/// trained on measurements of a real one (`bayloom pretrain`); with a noise of one percent.
class SimulatedEvaluator final : public tuning::ProgramEvaluator {
 public:
  explicit SimulatedEvaluator(const std::string& model_file)
      : model_(cost::ReadModelFile(model_file)) {}

  int Capacity() const override { return kCapacity; }
  void Submit(trial::TrialId id, const tuning::ProgramTrial& trial) override {
    waiting_.emplace_back(id, &trial);
  }
  /// All at once: the model predicts many programs in little more time than one.
  std::vector<trial::FinishedTrial> Collect(double, const std::function<bool()>&) override {
    std::vector<feature::FeatureMatrix> features;
    for (const auto& [id, trial] : waiting_) {
      features.push_back(feature::ExtractFeatures(trial->candidate.program));
    }
    std::vector<const feature::FeatureMatrix*> pointers;
    for (const feature::FeatureMatrix& one : features) pointers.push_back(&one);
    const std::vector<double> shares = model_->Predict(pointers);
    std::vector<trial::FinishedTrial> finished;
    for (size_t i = 0; i < waiting_.size(); ++i) {
      const auto& [id, trial] = waiting_[i];
      base::RandomStream random(
          base::Hasher().Add(trial->candidate.hash).Add(uint64_t{1}).Digest());
      const double seconds = trial->workload->Flops() /
                             (kFlopsPerSecond * std::max(shares[i], kMinShare)) *
                             std::exp(0.01 * random.Normal());
      finished.push_back({id, trial::Outcome::Feasible(seconds), {}});
    }
    waiting_.clear();
    return finished;
  }
  void Cancel() override { waiting_.clear(); }
  void SetIncumbent(const tensor::Workload&, const tensor::Program&, double) override {}

 private:
  static constexpr int kCapacity = 1024;
  /// Of a program whose share of the best throughput is 1.
  static constexpr double kFlopsPerSecond = 1e11;
  static constexpr double kMinShare = 0.01;

  std::unique_ptr<cost::ThroughputModel> model_;
  std::vector<std::pair<trial::TrialId, const tuning::ProgramTrial*>> waiting_;
};

}  // namespace bayloom
