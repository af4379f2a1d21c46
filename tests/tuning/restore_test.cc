// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/restore.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bayloom/sketch/default_schedule.h"
#include "bayloom/tuning/tuned_network.h"
#include "tests/temporary_folder.h"
#include "tests/tuning/simulated_evaluator.h"

namespace bayloom::tuning {
namespace {

class RestoreTest : public ::testing::Test {
 protected:
  RestoreTest()
      : space_(strategy::ConvolutionWorkload(), strategy::SimulatedTarget()),
        store_(folder_ / "tuning.db") {
    task_ = store_.AddTask(space_.workload());
    target_ = store_.AddTarget(space_.target());
    record::RunRecord run;
    run.name = "convolution";
    run.target = target_;
    run_ = store_.BeginRun(run).id;
  }

  sketch::Candidate Record(uint64_t seed, double seconds) {
    sketch::Candidate candidate = *space_.Sample(0, base::RandomStream(seed));
    record::StoredTrial trial;
    trial.run = run_;
    trial.task = task_;
    trial.target = target_;
    trial.ordinal = store_.CountTrials(run_);
    trial.candidate = CandidateText(candidate);
    trial.key = candidate.hash;
    trial.proposer = "test";
    trial.outcome = trial::Outcome::Feasible(seconds);
    store_.AddTrial(trial);
    return candidate;
  }

  /// Without choosing by estimate.
  ChosenProgram Choose(record::Store* store) {
    base::ThreadPool pool(1);
    return ChooseProgram(space_.workload(), space_.target(),
                         {.store = store, .untuned = {.population = 0}}, pool);
  }

  TemporaryFolder folder_;
  sketch::SpaceGenerator space_;
  record::Store store_;
  record::TaskId task_;
  record::TargetId target_;
  record::RunId run_;
};

TEST_F(RestoreTest, NothingIsRestoredFromAnEmptyStore) {
  EXPECT_FALSE(RestoreBest(store_, space_).has_value());
  const ChosenProgram chosen = Choose(&store_);
  EXPECT_FALSE(chosen.measured.has_value());
  EXPECT_EQ(chosen.source, ProgramSource::kPlain);
  EXPECT_EQ(chosen.program.StructuralHash(),
            sketch::DefaultSchedule(space_.workload(), space_.target()).StructuralHash());
}

TEST_F(RestoreTest, TheFastestProgramIsMadeAnew) {
  Record(1, 3e-3);
  const sketch::Candidate fast = Record(2, 1e-3);
  Record(3, 2e-3);
  const std::optional<MeasuredCandidate> best = RestoreBest(store_, space_);
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->candidate.hash, fast.hash);
  EXPECT_EQ(best->candidate.program.StructuralHash(), fast.hash);
  EXPECT_EQ(best->outcome.value, 1e-3);
  EXPECT_EQ(Choose(&store_).source, ProgramSource::kTuned);
  EXPECT_EQ(Choose(&store_).program.StructuralHash(), fast.hash);
  EXPECT_FALSE(Choose(nullptr).measured.has_value());
}

TEST_F(RestoreTest, TrialsThatCannotBeMadeAnewAreRefusedAndPassedOver) {
  const sketch::Candidate good = Record(1, 2e-3);
  record::StoredTrial trial = store_.TrialsOf(task_, target_).front();
  trial.ordinal = 1;
  trial.outcome.value = 1e-3;
  trial.key = 42;
  EXPECT_FALSE(RestoreCandidate(space_, trial).ok());
  store_.AddTrial(trial);
  trial.candidate = "not even JSON";
  EXPECT_FALSE(RestoreCandidate(space_, trial).ok());
  EXPECT_EQ(RestoreBest(store_, space_)->candidate.hash, good.hash);
}

TEST_F(RestoreTest, TheBestOfADesignSpaceThatIsNoMoreIsStillMadeAnew) {
  const sketch::SpaceGenerator fewer(space_.workload(), space_.target(), {},
                                     *sketch::DerivationChoice::Parse("none"));
  std::optional<sketch::Candidate> lost;
  for (size_t space = 0; space < space_.spaces().size() && !lost; ++space) {
    if (fewer.SpaceOf(space_.spaces()[space]) >= 0) continue;
    lost = *space_.Sample(static_cast<int>(space), base::RandomStream(1));
  }
  ASSERT_TRUE(lost);
  Record(1, 2e-3);
  record::StoredTrial trial = store_.TrialsOf(task_, target_).front();
  trial.ordinal = 1;
  trial.outcome.value = 1e-3;
  trial.candidate = CandidateText(*lost);
  trial.key = lost->hash;
  store_.AddTrial(trial);
  EXPECT_FALSE(RestoreCandidate(fewer, trial).ok());  // a search cannot go on from it
  EXPECT_EQ(RestoreBest(store_, fewer)->candidate.hash, lost->hash);
}

}  // namespace
}  // namespace bayloom::tuning
