// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cost/pretrained_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "bayloom/base/result.h"
#include "bayloom/cost/metrics.h"
#include "bayloom/cost/model_file.h"
#include "tests/temporary_folder.h"

namespace bayloom::cost {
namespace {

/// A program whose time rises with its two telling features; of the second, `twist` decides how.
Sample MadeUp(base::RandomStream& random, uint64_t task, double twist = 1) {
  Sample sample{.task = task, .features = {}, .seconds = {}};
  sample.features.rows = 1;
  sample.features.values.assign(feature::kFeatureColumns, 0);
  const double x = 3 * random.Uniform(), y = random.Uniform();
  sample.features.values[3] = static_cast<float>(x);
  sample.features.values[60] = static_cast<float>(y);
  sample.seconds = std::exp(twist * (x + 0.5 * y));
  return sample;
}

std::vector<Sample> MadeUpBatch(uint64_t seed, uint64_t task, int count, double twist = 1) {
  base::RandomStream random(seed);
  std::vector<Sample> batch;
  for (int i = 0; i < count; ++i) batch.push_back(MadeUp(random, task, twist));
  return batch;
}

std::shared_ptr<const ThroughputModel> Trained(const std::string& name, int count = 150) {
  const std::shared_ptr<ThroughputModel> model = CreateThroughputModel(name, 1);
  model->Fit(MadeUpBatch(1, 1, count));
  return model;
}

/// Rank correlation of the predictions with true throughputs.
double Quality(std::span<const double> scores, std::span<const Sample> batch) {
  std::vector<double> truth;
  for (const Sample& sample : batch) truth.push_back(1 / *sample.seconds);
  return SpearmanCorrelation(scores, truth);
}

class ThroughputModels : public testing::TestWithParam<std::string> {};

TEST_P(ThroughputModels, LearnAndSurviveSaving) {
  const auto model = Trained(GetParam());
  EXPECT_EQ(model->name(), GetParam());
  const std::vector<Sample> test = MadeUpBatch(2, 9, 100);
  const std::vector<double> scores = model->Predict(FeaturesOf(test));
  EXPECT_GT(Quality(scores, test), 0.9);

  const TemporaryFolder folder;
  const std::string path = folder / "a.model";
  WriteModelFile(*model, path);
  EXPECT_EQ(ReadModelFile(path)->Predict(FeaturesOf(test)), scores);
  const EncodedRows rows = model->Represent(FeaturesOf(test));
  EXPECT_EQ(rows.values.size(), 100u * rows.columns);

  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  EXPECT_THROW(ReadModelFile(path), InputError);
  std::ofstream(path) << "no model";
  EXPECT_THROW(ReadModelFile(path), InputError);
  std::filesystem::remove(path);
  EXPECT_THROW(ReadModelFile(path), InputError);
}

TEST_P(ThroughputModels, TheSameSamplesGiveTheSameModel) {
  EXPECT_EQ(Trained(GetParam(), 30)->Save(), Trained(GetParam(), 30)->Save());
}

INSTANTIATE_TEST_SUITE_P(All, ThroughputModels, testing::ValuesIn(ThroughputModelNames()));

TEST(PretrainedModel, ScoresFromTheFirstTrialOn) {
  PretrainedModel model(Trained("xgboost"));
  const std::vector<Sample> batch = MadeUpBatch(2, 5, 64);
  EXPECT_GT(Quality(model.PredictFor(5, FeaturesOf(batch)), batch), 0.9);
  const BatchMetrics metrics = model.Update(batch);
  EXPECT_GT(metrics.spearman, 0.9);
  EXPECT_TRUE(model.Trusts(5));
}

TEST(PretrainedModel, LearnsWhatTheBaseGotWrong) {
  // Times on this machine follow the features more steeply than where the base was trained.
  PretrainedModel model(Trained("xgboost"));
  const std::vector<Sample> test = MadeUpBatch(3, 5, 200, 2);
  const auto error = [&] {
    TaskBests bests;
    for (const Sample& sample : test) bests.Add(sample);
    std::vector<double> truth;
    for (const Sample& sample : test) truth.push_back(bests.Label(5, sample.seconds));
    return RootMeanSquareError(model.PredictFor(5, FeaturesOf(test)), truth);
  };
  const double before = error();
  model.Update(MadeUpBatch(4, 5, 128, 2));
  EXPECT_TRUE(model.Trusts(5));
  EXPECT_LT(error(), 0.6 * before);
}

TEST(PretrainedModel, FallsBackWhereTheBaseIsWrong) {
  PretrainedModel model(Trained("xgboost"));
  model.Update(MadeUpBatch(2, 5, 64, -1));  // everything is the other way round
  EXPECT_FALSE(model.Trusts(5));
  EXPECT_TRUE(model.Trusts(6));
  model.Update(MadeUpBatch(4, 5, 64, -1));
  const std::vector<Sample> test = MadeUpBatch(3, 5, 200, -1);
  EXPECT_GT(Quality(model.PredictFor(5, FeaturesOf(test)), test), 0.8);
  // A machine on which most tasks are wrong.
  model.Update(MadeUpBatch(5, 6, 32, -1));
  model.Update(MadeUpBatch(6, 7, 32, 1));
  EXPECT_TRUE(model.Trusts(7));
  EXPECT_FALSE(model.Trusts(8));
}

TEST(PretrainedModel, JudgesSmallBatchesTogether) {
  PretrainedModel model(Trained("xgboost"));
  model.Update(MadeUpBatch(10, 5, 3, -1));
  EXPECT_TRUE(model.Trusts(5));  // three pairs say nothing yet
  for (uint64_t seed = 11; seed < 14; ++seed) model.Update(MadeUpBatch(seed, 5, 3, -1));
  EXPECT_FALSE(model.Trusts(5));
}

TEST(PretrainedModel, JudgesTasksOfFewTrialsTogether) {
  // Of each task five programs, too few to tell of one.
  PretrainedModel wrong(Trained("xgboost")), right(Trained("xgboost"));
  EXPECT_TRUE(wrong.Trusts(10));
  EXPECT_EQ(wrong.ExplorationCount(10), 1);
  for (uint64_t task = 10; task < 14; ++task) {
    wrong.Update(MadeUpBatch(task, task, 5, -1));
    right.Update(MadeUpBatch(task, task, 5));
  }
  for (const uint64_t task : {10, 99}) {
    EXPECT_FALSE(wrong.Trusts(task));
    EXPECT_TRUE(right.Trusts(task));
    EXPECT_EQ(wrong.ExplorationCount(task), 0);
    EXPECT_EQ(right.ExplorationCount(task), 0);
  }
}

TEST(PretrainedModel, AsksMoreOfATaskWhereAllOthersSpeakAgainstIt) {
  // The times of most programs say nothing: some two thirds of the pairs are in order.
  std::vector<Sample> noisy = MadeUpBatch(2, 5, 60);
  base::RandomStream random(7);
  for (size_t i = 0; i < noisy.size(); ++i) {
    if (i % 4 != 0) noisy[i].seconds = MadeUp(random, 5).seconds;
  }

  PretrainedModel right(Trained("xgboost")), wrong(Trained("xgboost"));
  right.Update(noisy);
  EXPECT_TRUE(right.Trusts(5));
  wrong.Update(noisy);
  for (uint64_t task = 10; task < 16; ++task) wrong.Update(MadeUpBatch(task, task, 5, -1));
  EXPECT_FALSE(wrong.Trusts(5));
}

TEST(PretrainedModel, IsNotJudgedByProgramsThatAreAlike) {
  PretrainedModel model(Trained("xgboost"));
  std::vector<Sample> alike = MadeUpBatch(2, 5, 64, -1);
  std::sort(alike.begin(), alike.end(),
            [](const Sample& a, const Sample& b) { return a.seconds < b.seconds; });
  for (size_t i = 0; i < alike.size(); ++i) alike[i].seconds = 1 + 0.001 * static_cast<double>(i);
  model.Update(alike);
  EXPECT_TRUE(model.Trusts(5));
  model.Update(MadeUpBatch(3, 5, 64, -1));
  EXPECT_FALSE(model.Trusts(5));
}

TEST(PretrainedModel, RememberingIsUpdatingWithoutMetrics) {
  PretrainedModel updated(Trained("xgboost")), reminded(Trained("xgboost"));
  for (uint64_t seed = 10; seed < 14; ++seed) {
    updated.Update(MadeUpBatch(seed, seed % 2, 32));
    reminded.Remember(MadeUpBatch(seed, seed % 2, 32));
  }
  const std::vector<Sample> test = MadeUpBatch(3, 1, 50);
  EXPECT_EQ(updated.PredictFor(1, FeaturesOf(test)), reminded.PredictFor(1, FeaturesOf(test)));
}

}  // namespace
}  // namespace bayloom::cost
