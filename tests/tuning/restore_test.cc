// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/restore.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bayloom/sketch/default_schedule.h"
#include "bayloom/tuning/tuned_network.h"
#include "bayloom/tuning/zero_trial_program.h"
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
    return Record(*space_.Sample(0, base::RandomStream(seed)), seconds);
  }
  sketch::Candidate Record(sketch::Candidate candidate, double seconds) {
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

  /// What the session's end measured in turns: its first trial, and the default program once.
  void Compare(double first, double untuned) {
    for (const bool is_default : {false, true}) {
      record::Repeat repeat;
      repeat.run = run_;
      repeat.after = store_.CountTrials(run_);
      repeat.task = task_;
      repeat.target = target_;
      repeat.trial_run = is_default ? 0 : run_;
      repeat.outcome = trial::Outcome::Feasible(is_default ? untuned : first);
      store_.AddRepeats({&repeat, 1});
    }
  }

  /// Without choosing by estimate.
  ChosenProgram Choose(record::Store* store) {
    base::ThreadPool pool(1);
    return ChooseProgram(space_.workload(), space_.target(),
                         {.store = store, .zero_trials = {.population = 0}}, pool);
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

TEST_F(RestoreTest, ThePlainProgramIsACandidateLikeOthers) {
  const sketch::Candidate plain = DefaultCandidate(space_);
  Record(1, 2e-3);
  Record(plain, 1e-3);
  EXPECT_TRUE(IsPlain(*RestoreCandidate(space_, store_.TrialsOf(task_, target_).back())));
  EXPECT_FALSE(IsPlain(*RestoreCandidate(space_, store_.TrialsOf(task_, target_).front())));
  EXPECT_EQ(RestoreBest(store_, space_)->candidate.hash, plain.hash);
  EXPECT_EQ(Choose(&store_).source, ProgramSource::kTuned);
  EXPECT_EQ(Choose(&store_).measured->value, 1e-3);
}

TEST_F(RestoreTest, ThePlainProgramIsTakenWhereItWasClearlyFaster) {
  const sketch::Candidate tried = Record(1, 2e-3);
  Compare(3e-3, 2.95e-3);  // no more than measurements err by
  EXPECT_EQ(RestoreBest(store_, space_)->candidate.hash, tried.hash);
  Record(2, 9e-3);  // later, so that the next comparison is another
  Compare(3e-3, 1.5e-3);
  const MeasuredCandidate best = *RestoreBest(store_, space_);
  EXPECT_TRUE(IsPlain(best.candidate));
  EXPECT_NEAR(best.outcome.value, 1e-3, 1e-9) << "half of what the trial took";
  EXPECT_EQ(Choose(&store_).program.StructuralHash(), DefaultCandidate(space_).hash);
}

TEST_F(RestoreTest, ThePlainProgramHasToBeFasterEachTimeThatItWasTimed) {
  const sketch::Candidate tried = Record(1, 2e-3);
  Compare(3e-3, 1.5e-3);
  record::Repeat slower = store_.RepeatsOf(run_).back();
  ASSERT_EQ(slower.trial_run, 0);
  ++slower.round;
  slower.outcome.value = 3.2e-3;
  store_.AddRepeats({&slower, 1});
  EXPECT_EQ(RestoreBest(store_, space_)->candidate.hash, tried.hash);
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
