// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "bayloom/cost/pretrained_model.h"
#include "bayloom/feature/program_features.h"
#include "tests/temporary_folder.h"
#include "tests/tuning/simulated_evaluator.h"

namespace bayloom::tuning {
namespace {

constexpr int kSeeds = 4;

/// Random programs of a product that is not tuned here, as the simulated machine runs them.
std::vector<cost::Sample> Measurements() {
  const sketch::SpaceGenerator space(tensor::MatmulWorkload(384, 640, 256),
                                     strategy::SimulatedTarget());
  base::RandomStream random(1);
  std::vector<cost::Sample> samples;
  while (samples.size() < 400) {
    const Result<sketch::Candidate> candidate = space.Sample(0, random.Fork());
    if (!candidate) continue;
    samples.push_back({.task = 1,
                       .features = feature::ExtractFeatures(candidate->program),
                       .seconds = strategy::SimulatedMachine::Run(candidate->program)});
  }
  return samples;
}

std::shared_ptr<const cost::ThroughputModel> Trained(const std::vector<cost::Sample>& samples) {
  std::shared_ptr<cost::ThroughputModel> model = cost::CreateThroughputModel("xgboost", 1);
  model->Fit(samples);
  return model;
}

struct Tuned {
  double log_seconds = 0;  ///< of the best program, the mean over seeds
  int trusting = 0;        ///< sessions at whose end the model was still used
};

Tuned Tune(const std::string& strategy, const std::shared_ptr<const cost::ThroughputModel>& base,
           int trials) {
  Tuned tuned;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const TemporaryFolder folder;
    record::Store store(folder / "tuning.db");
    SimulatedEvaluator evaluator;
    std::unique_ptr<cost::CostModel> model = std::make_unique<cost::XgboostModel>();
    if (base) model = std::make_unique<cost::PretrainedModel>(base);
    SessionOptions options = QuickOptions();
    options.run.seed = seed;
    options.strategy = strategy;
    options.run.trials_per_slot = 16;
    options.run.budget.trials = trials;
    options.evolutionary.population = 256;
    const tensor::Workload product = tensor::MatmulWorkload(512, 512, 512);
    Session session(strategy::SimulatedTarget(), {{"matmul", product, 1}}, store, model.get(),
                    evaluator, options);
    session.Run();
    tuned.log_seconds += std::log(session.tasks()[0]->best()->outcome.value) / kSeeds;
    const auto* pretrained = dynamic_cast<const cost::PretrainedModel*>(model.get());
    tuned.trusting += pretrained && pretrained->Trusts(product.StructuralHash()) ? 1 : 0;
  }
  return tuned;
}

class PretrainedSession : public ::testing::TestWithParam<std::string> {
 protected:
  Tuned Run(const std::shared_ptr<const cost::ThroughputModel>& base, int trials) {
    return Tune(GetParam(), base, trials);
  }
};

TEST_P(PretrainedSession, ARightModelHelpsAndAWrongOneIsDropped) {
  std::vector<cost::Sample> samples = Measurements();
  const Tuned right = Run(Trained(samples), 48), scratch_48 = Run(nullptr, 48);
  EXPECT_GE(right.trusting, kSeeds - 1);
  EXPECT_LT(right.log_seconds, scratch_48.log_seconds);

  std::vector<double> seconds;
  for (const cost::Sample& sample : samples) seconds.push_back(*sample.seconds);
  const double product = *std::min_element(seconds.begin(), seconds.end()) *
                         *std::max_element(seconds.begin(), seconds.end());
  for (cost::Sample& sample : samples) sample.seconds = product / *sample.seconds;
  const Tuned wrong = Run(Trained(samples), 144), scratch = Run(nullptr, 144);
  EXPECT_LE(wrong.trusting, 1);
  EXPECT_LT(wrong.log_seconds, scratch.log_seconds + std::log(1.1));

  base::RandomStream random(2);
  random.Shuffle(seconds);
  for (size_t i = 0; i < samples.size(); ++i) samples[i].seconds = seconds[i];
  EXPECT_LT(Run(Trained(samples), 144).log_seconds, scratch.log_seconds + std::log(1.1));
}

INSTANTIATE_TEST_SUITE_P(Strategies, PretrainedSession, ::testing::Values("evolutionary", "bayes"));

}  // namespace
}  // namespace bayloom::tuning
