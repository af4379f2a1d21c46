// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/measure_evaluator.h"

#include <gtest/gtest.h>

#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/codegen/host.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/strategy/fresh_samples.h"
#include "bayloom/tensor/operators.h"
#include "tests/trial/evaluate_one.h"

namespace bayloom::tuning {
namespace {

measure::MeasureOptions Options() {
  measure::MeasureOptions options;
  options.runner.executable = BAYLOOM_TEST_RUNNER;
  options.timing.min_total_seconds = 1e-3;
  return options;
}

class MeasureEvaluatorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    base::ThreadPool pool(1);
    strategy::HashSet known;
    base::RandomStream random(1);
    for (const strategy::CandidatePtr& c : strategy::DrawUnknown(space_, 20, known, random, pool)) {
      trials_.push_back({&space_.workload(), *c});
    }
  }

  void SubmitAll() {
    for (size_t i = 0; i < trials_.size(); ++i) {
      evaluator_.Submit(static_cast<trial::TrialId>(i), trials_[i]);
    }
  }

  target::Target target_ = codegen::HostTarget(1);
  sketch::SpaceGenerator space_{tensor::MatmulWorkload(16, 16, 16), target_};
  std::vector<ProgramTrial> trials_;
  measure::Measurer measurer_{target_, Options()};
  MeasureEvaluator evaluator_{measurer_};
};

TEST_F(MeasureEvaluatorTest, MeasuresEveryCandidateInOrder) {
  SubmitAll();
  for (size_t i = 0; i < trials_.size(); ++i) {
    const trial::FinishedTrial finished = trial::CollectOne(evaluator_);
    EXPECT_EQ(finished.id, static_cast<trial::TrialId>(i));
    ASSERT_TRUE(finished.outcome && finished.outcome->ok()) << finished.lost;
    EXPECT_GT(finished.outcome->value, 0);
    EXPECT_LT(finished.outcome->value, 1);
  }
  EXPECT_GT(evaluator_.build_seconds(), 0);
  EXPECT_TRUE(evaluator_.Collect(0, [] { return false; }).empty());
}

TEST_F(MeasureEvaluatorTest, AStopOrACancelLosesNothingElse) {
  SubmitAll();
  EXPECT_TRUE(evaluator_.Collect(1, [] { return true; }).empty()) << "while compiling";
  EXPECT_EQ(trial::CollectOne(evaluator_).id, 0);
  EXPECT_TRUE(evaluator_.Collect(1, [] { return true; }).empty()) << "while running";
  const trial::FinishedTrial second = trial::CollectOne(evaluator_);
  EXPECT_EQ(second.id, 1);
  EXPECT_TRUE(second.outcome->ok()) << second.outcome->reason;
  evaluator_.Cancel();
  EXPECT_TRUE(evaluator_.Collect(1, [] { return false; }).empty());
  evaluator_.Submit(77, trials_[3]);
  const trial::FinishedTrial next = trial::CollectOne(evaluator_);
  EXPECT_EQ(next.id, 77);
  EXPECT_TRUE(next.outcome->ok()) << next.outcome->reason;
}

TEST_F(MeasureEvaluatorTest, CutsSlowCandidatesShortByTheBestOfAnEarlierRun) {
  evaluator_.SetIncumbent(space_.workload(), trials_[0].candidate.program, 1e-9);
  for (trial::TrialId i = 1; i < 4; ++i) evaluator_.Submit(i, trials_[i]);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(measure::DetailsOf(*trial::CollectOne(evaluator_).outcome).cut_short);
  }
}

TEST_F(MeasureEvaluatorTest, RepeatsInTheirOrderAndCompilesEachProgramOnce) {
  evaluator_.SetIncumbent(space_.workload(), trials_[0].candidate.program, 1);
  trials_[1].is_repeat = trials_[2].is_repeat = true;
  for (trial::TrialId i = 0; i < 6; ++i) evaluator_.Submit(i, trials_[1 + i % 2]);
  for (trial::TrialId i = 0; i < 6; ++i) {
    const trial::FinishedTrial finished = trial::CollectOne(evaluator_);
    EXPECT_EQ(finished.id, i);
    ASSERT_TRUE(finished.outcome && finished.outcome->ok()) << finished.lost;
    EXPECT_EQ(measure::DetailsOf(*finished.outcome).build_seconds > 0, i < 2);
  }
}

TEST_F(MeasureEvaluatorTest, LosesTrialsWithoutARunner) {
  measure::MeasureOptions options = Options();
  options.runner.executable = "/nonexistent/runner";
  measure::Measurer measurer(target_, options);
  MeasureEvaluator evaluator(measurer);
  evaluator.Submit(0, trials_[0]);
  const trial::FinishedTrial trial = trial::CollectOne(evaluator);
  EXPECT_FALSE(trial.outcome);
  EXPECT_NE(trial.lost.find("/nonexistent/runner"), std::string::npos) << trial.lost;
}

}  // namespace
}  // namespace bayloom::tuning
