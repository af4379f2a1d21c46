// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/earlier_trials.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "bayloom/cost/metrics.h"
#include "bayloom/cost/pretrained_model.h"
#include "bayloom/tuning/tune.h"
#include "tests/temporary_folder.h"
#include "tests/tuning/simulated_evaluator.h"

namespace bayloom::tuning {
namespace {

target::Target OtherTarget() {
  target::Target other = strategy::SimulatedTarget();
  other.cores += 1;
  return other;
}

/// Random programs of a product as the simulated machine runs them.
std::vector<record::MeasuredSample> Measured(const tensor::Workload& workload, int count,
                                             uint64_t seed = 1) {
  const sketch::SpaceGenerator space(workload, strategy::SimulatedTarget());
  base::RandomStream random(seed);
  std::vector<record::MeasuredSample> samples;
  while (std::ssize(samples) < count) {
    const Result<sketch::Candidate> candidate = space.Sample(0, random.Fork());
    if (!candidate) continue;
    samples.push_back({.hash = candidate->hash,
                       .seconds = strategy::SimulatedMachine::Run(candidate->program),
                       .features = feature::ExtractFeatures(candidate->program)});
  }
  return samples;
}

class EarlierTrialsTest : public ::testing::Test {
 protected:
  record::TaskId TaskOf(const tensor::Workload& workload) {
    return *store_.FindTask(workload.StructuralHash());
  }
  std::vector<record::MeasuredSample> Kept(const tensor::Workload& workload) {
    return trials_.SamplesOf(TaskOf(workload), target_).samples;
  }
  std::vector<double> Scores(const TrialPrior& prior,
                             const std::vector<record::MeasuredSample>& samples) {
    std::vector<const feature::FeatureMatrix*> features;
    for (const record::MeasuredSample& sample : samples) features.push_back(&sample.features);
    return prior.model->Predict(features);
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "programs.db";
  record::Store store_{path_};
  record::SampleStore samples_{path_};
  EarlierTrials trials_{store_, samples_};
  target::Target target_ = strategy::SimulatedTarget();
  tensor::Workload product_ = tensor::MatmulWorkload(384, 640, 256);
  tensor::Workload other_product_ = tensor::MatmulWorkload(128, 96, 512);
};

TEST_F(EarlierTrialsTest, WhatIsLearntOfSomeTasksHoldsForOthers) {
  trials_.Add(target_, product_, Measured(product_, 200));
  trials_.Add(target_, other_product_, Measured(other_product_, 200));
  const std::optional<TrialPrior> prior = trials_.Learn(target_, /*keep=*/true);
  ASSERT_TRUE(prior.has_value());
  EXPECT_EQ(prior->stored.tasks, 2);
  EXPECT_GT(prior->stored.trials, 200);
  const std::vector<record::MeasuredSample> unknown =
      Measured(tensor::MatmulWorkload(512, 512, 512), 100, 7);
  std::vector<double> truth;
  for (const record::MeasuredSample& sample : unknown) truth.push_back(1 / *sample.seconds);
  EXPECT_GT(cost::PairwiseAccuracy(Scores(*prior, unknown), truth), 0.75);
}

TEST_F(EarlierTrialsTest, OtherTargetsTeachNothing) {
  trials_.Add(OtherTarget(), product_, Measured(product_, 300));
  EXPECT_FALSE(trials_.Learn(target_, true).has_value());
  EXPECT_TRUE(trials_.TasksOn(target_).empty());
  trials_.Add(target_, product_, Measured(product_, 300));
  const uint64_t alone = trials_.Learn(target_, false)->stored.hash;
  std::vector<record::MeasuredSample> wrong = Measured(other_product_, 300);
  for (record::MeasuredSample& sample : wrong) sample.seconds = 1 / *sample.seconds;
  trials_.Add(OtherTarget(), other_product_, std::move(wrong));
  EXPECT_EQ(trials_.Learn(target_, false)->stored.hash, alone);
}

TEST_F(EarlierTrialsTest, AFewTrialsAreNoPrior) {
  trials_.Add(target_, product_, Measured(product_, 60));
  EXPECT_FALSE(trials_.Learn(target_, true).has_value());
}

TEST_F(EarlierTrialsTest, TheSameSamplesGiveTheSameModelTrainedOrKept) {
  trials_.Add(target_, product_, Measured(product_, 300));
  const TrialPrior trained = *trials_.Learn(target_, false);
  EXPECT_FALSE(FindPrior(samples_, trained.stored.hash).has_value()) << "it was not to be kept";
  const TrialPrior again = *trials_.Learn(target_, true);
  EXPECT_EQ(again.stored.bytes, trained.stored.bytes);
  const TrialPrior kept = *trials_.Learn(target_, true);
  EXPECT_EQ(kept.stored.hash, trained.stored.hash);
  const std::vector<record::MeasuredSample> some = Measured(other_product_, 20);
  EXPECT_EQ(Scores(kept, some), Scores(trained, some));
}

TEST_F(EarlierTrialsTest, AModelIsTrainedAgainWhenThereIsMuchMoreToLearnFrom) {
  trials_.Add(target_, product_, Measured(product_, 300));
  const uint64_t first = trials_.Learn(target_, true)->stored.hash;
  trials_.Add(target_, product_, Measured(product_, 30, 2));
  EXPECT_EQ(trials_.Learn(target_, true)->stored.hash, first);
  trials_.Add(target_, other_product_, Measured(other_product_, 100));
  const TrialPrior second = *trials_.Learn(target_, true);
  EXPECT_NE(second.stored.hash, first);
  EXPECT_FALSE(FindPrior(samples_, first).has_value()) << "no use for it any more";
  EXPECT_TRUE(FindPrior(samples_, second.stored.hash).has_value());
}

TEST_F(EarlierTrialsTest, OfManyProgramsTheFastestAndASpreadOfTheOthersAreKept) {
  const std::vector<record::MeasuredSample> measured = Measured(product_, 400);
  trials_.Add(target_, product_, measured);
  const std::vector<record::MeasuredSample> kept = Kept(product_);
  EXPECT_EQ(std::ssize(kept), EarlierTrialsOptions().samples_per_task);
  std::vector<double> all, seconds;
  for (const record::MeasuredSample& sample : measured) all.push_back(*sample.seconds);
  for (const record::MeasuredSample& sample : kept) seconds.push_back(*sample.seconds);
  std::ranges::sort(all);
  std::ranges::sort(seconds);
  EXPECT_EQ(seconds.front(), all.front());
  EXPECT_GT(seconds.back(), 3 * seconds.front()) << "slow ones are needed, too";
  // Mostly fast ones (BALTO's bias): more of them than a random choice would have.
  const auto fast = [](const std::vector<double>& sorted, double bound) {
    return static_cast<double>(std::ranges::upper_bound(sorted, bound) - sorted.begin()) /
           static_cast<double>(sorted.size());
  };
  EXPECT_GT(fast(seconds, 3 * all.front()), fast(all, 3 * all.front()));
}

TEST_F(EarlierTrialsTest, AProgramMeasuredAgainTakesTheNewerTime) {
  std::vector<record::MeasuredSample> measured = Measured(product_, 10);
  trials_.Add(target_, product_, measured);
  measured.resize(1);
  measured[0].seconds = 77;
  trials_.Add(target_, product_, measured);
  const record::TaskSamples kept = trials_.SamplesOf(TaskOf(product_), target_);
  ASSERT_EQ(kept.samples.size(), 10U);
  EXPECT_EQ(kept.given, 10);
  const auto place =
      std::ranges::find(kept.samples, measured[0].hash, &record::MeasuredSample::hash);
  EXPECT_EQ(place->seconds, 77);
}

TEST_F(EarlierTrialsTest, TheStoreStaysWithinItsBytesAndTheNewestStay) {
  EarlierTrialsOptions options;
  options.bytes = 30'000;
  EarlierTrials bounded(store_, samples_, options);
  for (int i = 1; i <= 12; ++i) {
    const tensor::Workload product = tensor::MatmulWorkload(64 * i, 64, 64);
    bounded.Add(target_, product, Measured(product, 60));
    EXPECT_LE(samples_.Bytes(), options.bytes);
    ASSERT_FALSE(bounded.TasksOn(target_).empty());
    EXPECT_EQ(bounded.TasksOn(target_).back().id, TaskOf(product));
  }
  EXPECT_LT(bounded.TasksOn(target_).size(), 12U) << "the bound was never reached";
}

TEST_F(EarlierTrialsTest, ThousandsOfProgramsTakeSomeHundredBytesEach) {
  trials_.Add(target_, product_, Measured(product_, 128));
  EXPECT_LT(samples_.Bytes(), 128 * 1000);
}

/// Tunings on the simulated machine that begin with a prior.
class PriorTest : public EarlierTrialsTest {
 protected:
  PriorTest() {
    options_.run.budget.trials = 64;
    options_.run.seed = 3;
    options_.repeat.candidates = 0;
    options_.user_store = &user_store_;
  }
  Tuning Begin(record::Store& records) {
    return Tuning({.name = "two", .specs = TwoTasks()}, target_, records, evaluator_, options_);
  }
  /// What was tried, in order.
  std::vector<uint64_t> Run(record::Store& records) {
    Tuning tuning = Begin(records);
    tuning.Run();
    return TriedBy(records, tuning);
  }
  static std::vector<uint64_t> TriedBy(record::Store& records, const Tuning& tuning) {
    std::vector<uint64_t> tried;
    for (const record::StoredTrial& trial : records.TrialsOfRun(tuning.session().id())) {
      tried.push_back(trial.key);
    }
    return tried;
  }
  void Teach() {
    trials_.Add(target_, product_, Measured(product_, 150));
    trials_.Add(target_, other_product_, Measured(other_product_, 150));
    options_.learn_from = run::LearnFrom{.earlier = true, .store = true};
    ASSERT_TRUE(user_store_.Prior(target_).has_value());
  }

  SimulatedEvaluator evaluator_;
  UserStore user_store_{path_, UserStore::Mode::kWrite,
                        [](const std::string& warning) { ADD_FAILURE() << warning; }};
  TuneOptions options_;
};

TEST_F(PriorTest, ChangesTheChoicesAndTheSamePriorAndSeedMakeTheSame) {
  record::Store without(folder_ / "without.db"), one(folder_ / "one.db"), two(folder_ / "two.db");
  const std::vector<uint64_t> cold = Run(without);
  Teach();
  const std::vector<uint64_t> first = Run(one);
  EXPECT_NE(first, cold);
  EXPECT_EQ(Run(two), first);
}

TEST_F(PriorTest, AStoppedSessionGoesOnWithThePriorItWasBegunWith) {
  Teach();
  record::Store whole(folder_ / "whole.db"), parts(folder_ / "parts.db");
  const std::vector<uint64_t> expected = Run(whole);
  options_.run.budget.stop = [this] { return evaluator_.candidates >= 64 + 2 + 32; };
  EXPECT_EQ(Begin(parts).Run(), trial::StopReason::kStopped);
  options_.run.budget.stop = [] { return false; };
  options_.resume = true;
  // The user's store has another one by now.
  trials_.Add(target_, product_, Measured(product_, 300, 5));
  trials_.Add(target_, other_product_, Measured(other_product_, 300, 5));
  Tuning resumed = Begin(parts);
  ASSERT_TRUE(resumed.resumed());
  ASSERT_TRUE(resumed.prior().has_value());
  resumed.Run();
  EXPECT_EQ(TriedBy(parts, resumed), expected);
}

TEST_F(PriorTest, ASessionBegunWithoutGoesOnWithout) {
  record::Store whole(folder_ / "whole.db"), parts(folder_ / "parts.db");
  const std::vector<uint64_t> expected = Run(whole);
  options_.run.budget.stop = [this] { return evaluator_.candidates >= 64 + 2 + 32; };
  Begin(parts).Run();
  options_.run.budget.stop = [] { return false; };
  options_.resume = true;
  Teach();
  EXPECT_THROW(Begin(parts), InputError) << "it was begun with less to learn from";
  options_.learn_from.reset();
  Tuning resumed = Begin(parts);
  EXPECT_FALSE(resumed.prior().has_value());
  resumed.Run();
  EXPECT_EQ(TriedBy(parts, resumed), expected);
}

TEST_F(PriorTest, DatabasesOfTuningsTeachWhatTheStoreDoes) {
  options_.run.budget.trials = 128;
  const std::string path = folder_ / "earlier.db", few = folder_ / "few.db";
  record::Store earlier(path), next(folder_ / "next.db");
  Run(earlier);
  options_.run.budget.trials = 16;
  options_.learn_from = run::LearnFrom{.files = {path}};
  const Tuning tuning = Begin(next);
  ASSERT_TRUE(tuning.prior().has_value());
  EXPECT_EQ(tuning.prior()->stored.tasks, 2);
  record::Store empty(few);
  options_.learn_from->files = {few};
  EXPECT_THROW(Begin(next), InputError);
  options_.learn_from = run::LearnFrom{.store = true, .files = {path}};
  EXPECT_THROW(Begin(next), InputError) << "two models";
}

TEST_F(PriorTest, LearningFromNothingRepeatsWhatAnEarlierSessionTried) {
  record::Store records(folder_ / "records.db");
  const std::vector<uint64_t> first = Run(records);
  const std::vector<uint64_t> second = Run(records);
  options_.learn_from = run::LearnFrom();
  EXPECT_NE(second, first);
  EXPECT_EQ(Run(records), first);
}

TEST_F(PriorTest, ARightPriorIsTrustedAndAPlantedWrongOneIsNot) {
  for (const bool is_wrong : {false, true}) {
    for (const tensor::Workload& product : {product_, other_product_}) {
      std::vector<record::MeasuredSample> samples = Measured(product, 300, is_wrong ? 5 : 4);
      if (is_wrong) {
        for (record::MeasuredSample& sample : samples) sample.seconds = 1e-8 / *sample.seconds;
      }
      trials_.Add(is_wrong ? OtherTarget() : target_, product, std::move(samples));
    }
    const TrialPrior prior = *trials_.Learn(is_wrong ? OtherTarget() : target_, false);
    cost::PretrainedModel model(prior.model);
    record::Store records(folder_ / (is_wrong ? "wrong.db" : "right.db"));
    SessionOptions options = QuickOptions();
    options.run.budget.trials = 144;
    options.run.trials_per_slot = 16;
    const tensor::Workload tuned = tensor::MatmulWorkload(512, 512, 512);
    Session session(target_, {{"matmul", tuned, 1}}, records, &model, evaluator_, options);
    session.Run();
    EXPECT_EQ(model.Trusts(tuned.StructuralHash()), !is_wrong);
  }
}

TEST_F(PriorTest, WhatATuningMeasuredIsMadeAgainForTheNext) {
  record::Store records(folder_ / "tuned.db");
  Tuning tuning = Begin(records);
  tuning.Run();
  base::ThreadPool threads(2);
  for (const auto& task : tuning.session().tasks()) {
    const std::vector<record::MeasuredSample> all =
        MeasuredSamples(records, task->space(), 1000, threads);
    EXPECT_EQ(std::ssize(all),
              std::ssize(records.TrialsOf(task->id(), *records.FindTarget(target_))));
    const std::vector<record::MeasuredSample> few =
        MeasuredSamples(records, task->space(), 8, threads);
    EXPECT_EQ(few.size(), 8U);
    EXPECT_TRUE(std::ranges::any_of(few, [&](const record::MeasuredSample& sample) {
      return sample.seconds == task->best()->outcome.value;
    }));
    for (const record::MeasuredSample& sample : few) EXPECT_GT(sample.features.rows, 0);
  }
}

}  // namespace
}  // namespace bayloom::tuning
