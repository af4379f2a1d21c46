// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/xgboost_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "bayloom/base/random.h"
#include "bayloom/cost/metrics.h"
#include "bayloom/cost/random_model.h"

namespace bayloom::cost {
namespace {

/// Columns that vary in made-up programs.
constexpr int kFirst = feature::kBufferColumn, kLast = feature::kBufferColumn + 8;

/// A made-up program of a store that computes much and one that computes little. Their times
/// follow from some of their features, with two per cent of noise. Tasks differ in scale.
Sample MakeSample(base::RandomStream& random, uint64_t task) {
  Sample sample{.task = task, .features = {}, .seconds = {}};
  sample.features.rows = 2;
  sample.features.values.assign(2 * feature::kFeatureColumns, 0);
  double time = 0;
  for (int row = 0; row < 2; ++row) {
    float* values = sample.features.values.data() + row * feature::kFeatureColumns;
    values[static_cast<int>(feature::OpClass::kFloatMad)] = row == 0 ? 20 : 10;
    for (int column = kFirst; column < kLast; ++column) {
      values[column] = static_cast<float>(random.UniformInt(12));
    }
    const double steps =
        std::abs(values[kFirst] - 5) + values[kFirst + 1] * (values[kFirst + 2] > 4);
    time += (row == 0 ? 1 : 0.1) * (1 + 0.15 * steps);
  }
  sample.seconds = 1e-3 * static_cast<double>(task + 1) * time * (1 + 0.02 * random.Normal());
  return sample;
}

std::vector<Sample> MakeSamples(uint64_t seed, int count, int tasks = 1) {
  base::RandomStream random(seed);
  std::vector<Sample> samples;
  for (int i = 0; i < count; ++i) samples.push_back(MakeSample(random, i % tasks));
  return samples;
}

std::vector<double> Throughputs(const std::vector<Sample>& samples) {
  std::vector<double> throughputs;
  for (const Sample& sample : samples) throughputs.push_back(1 / *sample.seconds);
  return throughputs;
}

class BothEncodings : public testing::TestWithParam<RowEncoding> {};
INSTANTIATE_TEST_SUITE_P(XgboostModel, BothEncodings,
                         testing::Values(RowEncoding::kRowPerStore, RowEncoding::kRowPerProgram));

TEST_P(BothEncodings, RankProgramsThatWereNotSeen) {
  XgboostOptions options;
  options.trees.encoding = GetParam();
  XgboostModel model(options);
  const std::vector<Sample> training = MakeSamples(1, 800), held_out = MakeSamples(2, 300);
  model.Update(training);
  EXPECT_GT(SpearmanCorrelation(model.Predict(FeaturesOf(held_out)), Throughputs(held_out)), 0.9);
}

TEST(XgboostModel, BatchesAreScoredBeforeTheyAreLearntAndScoresGetBetter) {
  XgboostModel model;
  std::vector<BatchMetrics> history;
  for (int batch = 0; batch < 12; ++batch) {
    history.push_back(model.Update(MakeSamples(100 + batch, 64, /*tasks=*/2)));
  }
  EXPECT_EQ(history[0].training_samples, 0);
  EXPECT_LT(std::abs(history[0].spearman), 0.5);  // random scores
  EXPECT_EQ(history[11].training_samples, 11 * 64);
  EXPECT_GT(history[11].spearman, 0.8);
  EXPECT_GT(history[11].pairwise_accuracy, 0.8);
  EXPECT_LT(history[11].rmse, 0.5 * history[0].rmse);
}

TEST(XgboostModel, LearnsFromABoundedNumberOfSamples) {
  XgboostOptions options;
  options.max_samples = 200;
  XgboostModel model(options), resumed(options);
  int most = 0;
  for (int batch = 0; batch < 40; ++batch) {
    const std::vector<Sample> samples = MakeSamples(300 + batch, 32, /*tasks=*/2);
    model.Update(samples);
    resumed.Remember(samples);
    most = std::max(most, model.kept());
  }
  EXPECT_EQ(model.samples(), 40 * 32);
  EXPECT_LE(most, 250);
  EXPECT_GE(model.kept(), 200);
  const std::vector<Sample> held_out = MakeSamples(2, 300);
  const std::vector<double> scores = model.Predict(FeaturesOf(held_out));
  EXPECT_GT(SpearmanCorrelation(scores, Throughputs(held_out)), 0.7);
  EXPECT_EQ(resumed.Predict(FeaturesOf(held_out)), scores);
}

TEST(XgboostModel, ScoresAreRandomUntilEnoughIsKnown) {
  XgboostModel model;  // enough are 64
  const std::vector<Sample> samples = MakeSamples(3, 64);
  model.Update(std::span(samples).first(63));
  EXPECT_EQ(model.rounds(), 0);
  EXPECT_NE(model.Predict(FeaturesOf(samples)), model.Predict(FeaturesOf(samples)));
  model.Update(std::span(samples).last(1));
  EXPECT_GT(model.rounds(), 0);
  EXPECT_EQ(model.Predict(FeaturesOf(samples)), model.Predict(FeaturesOf(samples)));
}

TEST(XgboostModel, LearnsThatProgramsAreInfeasible) {
  std::vector<Sample> samples = MakeSamples(4, 600);
  for (Sample& sample : samples) {
    if (sample.features.values[kFirst + 3] > 8) sample.seconds.reset();
  }
  XgboostModel model;
  model.Update(std::span(samples).first(500));
  double feasible = 0, infeasible = 0;
  int feasible_count = 0, infeasible_count = 0;
  const std::vector<double> scores = model.Predict(FeaturesOf(samples));
  for (size_t i = 500; i < samples.size(); ++i) {
    (samples[i].seconds ? feasible : infeasible) += scores[i];
    ++(samples[i].seconds ? feasible_count : infeasible_count);
  }
  EXPECT_LT(infeasible / infeasible_count, 0.5 * feasible / feasible_count);
}

TEST(XgboostModel, SameSamplesGiveTheSameModelHoweverPredictionsAreGrouped) {
  XgboostModel a, b;
  for (int batch = 0; batch < 8; ++batch) {  // passes refits and extensions
    a.Update(MakeSamples(batch, 64));
    b.Update(MakeSamples(batch, 64));
  }
  const std::vector<Sample> samples = MakeSamples(9, 100);
  const std::vector<double> together = a.Predict(FeaturesOf(samples));
  EXPECT_EQ(together, b.Predict(FeaturesOf(samples)));
  for (size_t i = 0; i < samples.size(); ++i) {
    const feature::FeatureMatrix* one = &samples[i].features;
    EXPECT_EQ(a.Predict({&one, 1})[0], together[i]);
  }
}

TEST(XgboostModel, RememberedBatchesLeadToTheSameModelAsLearntOnes) {
  const std::vector<Sample> probes = MakeSamples(99, 50);
  for (int batches : {1, 4, 9, 14}) {
    XgboostModel learning, resumed;
    for (int batch = 0; batch < batches; ++batch) {
      learning.Predict(FeaturesOf(probes));
      learning.Update(MakeSamples(batch, 40));
      resumed.Remember(MakeSamples(batch, 40));
    }
    EXPECT_EQ(learning.Predict(FeaturesOf(probes)), resumed.Predict(FeaturesOf(probes)))
        << batches << " batches";
    EXPECT_EQ(learning.Update(MakeSamples(98, 40)).rmse, resumed.Update(MakeSamples(98, 40)).rmse);
    EXPECT_EQ(learning.Predict(FeaturesOf(probes)), resumed.Predict(FeaturesOf(probes)));
  }
}

TEST(XgboostModel, SavedTreesPredictTheSameInAnotherModel) {
  const std::vector<Sample> samples = MakeSamples(5, 200);
  XgboostModel model;
  EXPECT_EQ(model.Save(), "");
  model.Update(samples);
  XgboostModel other;
  ASSERT_TRUE(other.Load(model.Save()).ok());
  EXPECT_EQ(other.Predict(FeaturesOf(samples)), model.Predict(FeaturesOf(samples)));
  other.Update(samples);  // grows its own
  EXPECT_EQ(other.Predict(FeaturesOf(samples)), model.Predict(FeaturesOf(samples)));
}

TEST(XgboostModel, RefusesTreesOfAnotherEncoding) {
  XgboostModel model;
  model.Update(MakeSamples(5, 100));
  XgboostOptions options;
  options.trees.encoding = RowEncoding::kRowPerStore;
  XgboostModel other(options);
  EXPECT_FALSE(other.Load(model.Save()).ok());
  EXPECT_EQ(other.rounds(), 0);
}

TEST(XgboostModel, RefusesBytesThatAreNoTrees) {
  XgboostModel model;
  const Status status = model.Load("these are not trees");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message.find('\n'), std::string::npos);
  EXPECT_EQ(model.rounds(), 0);
}

TEST(XgboostModel, ProgramsWithoutRowsScoreZero) {
  XgboostModel model;
  model.Update(MakeSamples(6, 100));
  const feature::FeatureMatrix nothing;
  const feature::FeatureMatrix* program = &nothing;
  EXPECT_EQ(model.Predict({&program, 1}), std::vector<double>{0});
  EXPECT_TRUE(model.Predict({}).empty());
}

TEST(RandomModel, IsReproducibleAndKnowsNothing) {
  RandomModel a(7), b(7);
  const std::vector<Sample> samples = MakeSamples(8, 400);
  const BatchMetrics metrics = a.Update(samples);
  EXPECT_EQ(metrics.samples, 400);
  EXPECT_NEAR(metrics.pairwise_accuracy, 0.5, 0.1);
  b.Update(samples);
  EXPECT_EQ(a.Predict(FeaturesOf(samples)), b.Predict(FeaturesOf(samples)));
}

TEST(TaskBests, LabelsAreThroughputsRelativeToTheTasksBest) {
  TaskBests bests;
  bests.Add({.task = 1, .features = {}, .seconds = 2.0});
  bests.Add({.task = 1, .features = {}, .seconds = 0.5});
  bests.Add({.task = 2, .features = {}, .seconds = 8.0});
  bests.Add({.task = 2, .features = {}, .seconds = std::nullopt});
  EXPECT_DOUBLE_EQ(bests.Label(1, 2.0), 0.25);
  EXPECT_DOUBLE_EQ(bests.Label(1, 0.5), 1);
  EXPECT_DOUBLE_EQ(bests.Label(2, 8.0), 1);
  EXPECT_DOUBLE_EQ(bests.Label(2, std::nullopt), 0);
}

}  // namespace
}  // namespace bayloom::cost
