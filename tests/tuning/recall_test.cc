#include "bayloom/tuning/recall.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bayloom/sketch/plain_schedule.h"
#include "bayloom/tuning/choose_program.h"
#include "tests/temporary_folder.h"
#include "tests/tuning/simulated_evaluator.h"

namespace bayloom {
namespace {

class RecallTest : public testing::Test {
 protected:
  RecallTest() : space_(ConvolutionWorkload(), SimulatedTarget()), store_(folder_ / "tuning.db") {
    task_ = store_.AddTask(space_.workload());
    target_ = store_.AddTarget(space_.target());
    session_ = store_.BeginSession(target_, "convolution", "{}", 0);
  }

  Candidate Record(uint64_t seed, double seconds) {
    Candidate candidate = *space_.Sample(0, RandomStream(seed));
    Outcome outcome;
    outcome.value = seconds;
    store_.AddTrial({session_, task_, target_, store_.CountTrials(session_), "test", 0,
                     candidate.trace.ToJson().dump(), candidate.hash, outcome, 0});
    return candidate;
  }

  TemporaryFolder folder_;
  SpaceGenerator space_;
  Store store_;
  TaskId task_;
  TargetId target_;
  SessionId session_;
};

TEST_F(RecallTest, NothingIsRecalledFromAnEmptyStore) {
  EXPECT_FALSE(RecallBest(store_, space_).has_value());
  const ChosenProgram chosen = ChooseProgram(&store_, space_.workload(), space_.target());
  EXPECT_FALSE(chosen.measured.has_value());
  EXPECT_EQ(chosen.program.StructuralHash(),
            PlainSchedule(space_.workload(), space_.target()).StructuralHash());
}

TEST_F(RecallTest, TheFastestProgramIsMadeAnew) {
  Record(1, 3e-3);
  const Candidate fast = Record(2, 1e-3);
  Record(3, 2e-3);
  const std::optional<MeasuredCandidate> best = RecallBest(store_, space_);
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->candidate.hash, fast.hash);
  EXPECT_EQ(best->candidate.program.StructuralHash(), fast.hash);
  EXPECT_EQ(best->outcome.value, 1e-3);
  EXPECT_EQ(ChooseProgram(&store_, space_.workload(), space_.target()).program.StructuralHash(),
            fast.hash);
  EXPECT_FALSE(ChooseProgram(nullptr, space_.workload(), space_.target()).measured.has_value());
}

TEST_F(RecallTest, TrialsThatCannotBeMadeAnewAreRefusedAndPassedOver) {
  const Candidate good = Record(1, 2e-3);
  Trial trial = store_.TrialsOf(task_, target_).front();
  trial.ordinal = 1;
  trial.outcome.value = 1e-3;
  trial.program_hash = 42;
  EXPECT_FALSE(RecallCandidate(space_, trial).ok());
  store_.AddTrial(trial);
  trial.trace = "not even JSON";
  EXPECT_FALSE(RecallCandidate(space_, trial).ok());
  EXPECT_EQ(RecallBest(store_, space_)->candidate.hash, good.hash);
}

}  // namespace
}  // namespace bayloom
