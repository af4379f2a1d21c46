// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/strategy/bayes/task_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "bayloom/strategy/bayes/decision_rows.h"
#include "tests/strategy/search_fixture.h"

namespace bayloom::strategy {
namespace {

TEST(DecisionRowsTest, EqualDecisionsAreEqualRowsAndOthersDiffer) {
  base::ThreadPool pool(1);
  base::RandomStream random(7);
  const sketch::SpaceGenerator generator(ConvolutionWorkload(), SimulatedTarget());
  const std::vector<CandidatePtr> samples = DrawFresh(generator, 60, random, pool);
  const DecisionRows rows(generator);
  const model::RowMatrix matrix = rows(samples);
  ASSERT_EQ(matrix.cols(), rows.columns());
  EXPECT_GE(matrix.minCoeff(), 0);
  EXPECT_LE(matrix.maxCoeff(), 1);
  for (size_t i = 0; i < samples.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const bool same = samples[i]->space == samples[j]->space &&
                        samples[i]->trace.decisions() == samples[j]->trace.decisions();
      const double distance =
          (matrix.row(static_cast<Eigen::Index>(i)) - matrix.row(static_cast<Eigen::Index>(j)))
              .norm();
      EXPECT_EQ(distance < 1e-12, same);
    }
  }
}

TEST(TaskModelTest, RanksUnseenProgramsAndDoubtsWhatItDidNotSee) {
  base::ThreadPool pool(1);
  base::RandomStream random(3);
  const sketch::SpaceGenerator generator(ConvolutionWorkload(), SimulatedTarget());
  HashSet known;
  const std::vector<CandidatePtr> programs = DrawUnknown(generator, 160, known, random, pool);
  std::vector<ScoredCandidate> rated;
  for (const CandidatePtr& program : programs) {
    rated.push_back({1 / SimulatedMachine::Run(program->program), program});
  }
  std::sort(rated.begin(), rated.begin() + 120,
            [](const ScoredCandidate& a, const ScoredCandidate& b) { return a.rating > b.rating; });
  const DecisionRows rows(generator);
  const std::vector<double> nothing_expected(120, 0.0);
  TaskModel model(rows, std::span(rated).first(120), nothing_expected, random);
  const Posterior beliefs = model.Predict(std::span(programs).subspan(120));
  int right = 0, pairs = 0;
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < i; ++j) {
      ++pairs;
      right += (beliefs.mean[i] < beliefs.mean[j]) == (rated[static_cast<size_t>(120 + i)].rating <
                                                       rated[static_cast<size_t>(120 + j)].rating);
    }
  }
  EXPECT_GT(right, pairs * 2 / 3);
  EXPECT_LT(model.Predict({&programs[0], 1}).deviation[0], beliefs.deviation.mean());

  const double before = beliefs.deviation[0];
  model.ConditionOn(programs[120]);
  EXPECT_LT(model.Predict({&programs[120], 1}).deviation[0], before);
}

TEST(TaskModelTest, PredictsAsBeforeAnyTrialWhereItCannotBeFitted) {
  base::ThreadPool pool(1);
  base::RandomStream random(3);
  const sketch::SpaceGenerator generator(ConvolutionWorkload(), SimulatedTarget());
  HashSet known;
  const std::vector<CandidatePtr> programs = DrawUnknown(generator, 8, known, random, pool);
  const DecisionRows rows(generator);
  const TaskModel fresh(rows, {}, {}, random);
  for (const size_t tried : {2, 8}) {  // conditioned, fitted
    std::vector<ScoredCandidate> rated;
    for (size_t i = 0; i < tried; ++i) {
      rated.push_back({std::numeric_limits<double>::infinity(), programs[i]});
    }
    TaskModel model(rows, rated, std::vector<double>(tried, 0.0), random);
    EXPECT_EQ(model.Predict(programs).mean, fresh.Predict(programs).mean);
    EXPECT_EQ(model.Predict(programs).deviation, fresh.Predict(programs).deviation);
    model.ConditionOn(programs[0]);
    EXPECT_LT(model.Predict(programs).deviation[0], fresh.Predict(programs).deviation[0]);
  }
}

TEST(TaskModelTest, PredictsByHowMuchProgramsDifferFromWhatWasExpected) {
  base::ThreadPool pool(1);
  base::RandomStream random(3);
  const sketch::SpaceGenerator generator(ConvolutionWorkload(), SimulatedTarget());
  HashSet known;
  const std::vector<CandidatePtr> programs = DrawUnknown(generator, 60, known, random, pool);
  std::vector<ScoredCandidate> rated;
  std::vector<double> expected;
  for (const CandidatePtr& program : programs) {
    rated.push_back({1 / SimulatedMachine::Run(program->program), program});
  }
  KeepBest(rated, rated.size());
  for (const ScoredCandidate& one : rated)
    expected.push_back(one.rating / rated.front().rating - 0.25);
  const DecisionRows rows(generator);
  const TaskModel model(rows, rated, expected, random);
  const Posterior beliefs = model.Predict(programs);
  EXPECT_NEAR(beliefs.mean.minCoeff(), 0.25, 1e-6);
  EXPECT_NEAR(beliefs.mean.maxCoeff(), 0.25, 1e-6);
}

}  // namespace
}  // namespace bayloom::strategy
