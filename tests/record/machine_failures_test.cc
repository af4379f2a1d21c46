// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/machine_failures.h"

#include <gtest/gtest.h>

#include "bayloom/record/run_trials.h"
#include "tests/record/sample.h"
#include "tests/temporary_folder.h"

namespace bayloom::record {
namespace {

using trial::Outcome;
using trial::Verdict;

/// Ten configurations, of which those with an odd number failed, some by the machine.
class MachineFailures : public testing::Test {
 protected:
  MachineFailures() {
    const char* reasons[] = {"Too many open files", "exit code 1: no such flag",
                             "cannot start a process: Resource temporarily unavailable",
                             "was killed by the system", "no shared memory for the task's data"};
    for (int i = 0; i < 10; ++i) {
      StoredTrial trial = MakeConfiguration(run_, i, i);
      if (i % 2 == 1) trial.outcome = Outcome::Infeasible(Verdict::kCrash, reasons[i / 2]);
      EXPECT_TRUE(store_.AddTrial(trial));
    }
    store_.SetFinished(run_, true);
    store_.SaveState(run_, "state", {});
  }

  static std::string Edited(const RunRecord& run, std::span<const int64_t> ordinals) {
    std::string text = run.state;
    for (const int64_t ordinal : ordinals) text += " " + std::to_string(ordinal);
    return text;
  }

  TemporaryFolder folder_;
  Store store_{folder_ / "a.db"};
  const RunId run_ = store_.BeginRun(SampleSearch("flags")).id;
  const RunId other_ = store_.BeginRun(SampleSearch("other")).id;
};

TEST_F(MachineFailures, AreCountedByReason) {
  const std::vector<MachineFailure> failures = FindMachineFailures(store_);
  ASSERT_EQ(failures.size(), 4u);
  for (const MachineFailure& failure : failures) {
    EXPECT_EQ(failure.run, run_);
    EXPECT_EQ(failure.trials, 1);
    EXPECT_NE(failure.reason, "exit code 1: no such flag");
  }
  EXPECT_EQ(store_.CountTrials(run_), 10);
}

TEST_F(MachineFailures, AreTakenOutAndTheirCandidatesCanBeTriedAgain) {
  EXPECT_EQ(RemoveMachineFailures(store_, Edited), 4);
  EXPECT_EQ(RemoveMachineFailures(store_, Edited), 0);
  EXPECT_TRUE(FindMachineFailures(store_).empty());
  const std::vector<StoredTrial> trials = store_.TrialsOfRun(run_);
  ASSERT_EQ(trials.size(), 6u);
  for (size_t i = 0; i < trials.size(); ++i) {
    EXPECT_EQ(trials[i].ordinal, static_cast<int64_t>(i));
    if (trials[i].outcome.ok()) continue;
    EXPECT_EQ(trials[i].outcome.reason, "exit code 1: no such flag");
  }
  EXPECT_EQ(store_.RunOf(run_).state, "state 1 5 7 9");
  EXPECT_FALSE(store_.RunOf(run_).finished);
  EXPECT_EQ(store_.RunOf(other_).state, "");
  // A resumed run goes on behind the last trial, and the candidates are new to it.
  RunTrials resumed(store_, std::make_shared<RunOrdinals>(store_, run_));
  for (const int i : {1, 5, 7, 9}) resumed.Add(MakeConfiguration(run_, i, i));
  resumed.Flush();
  EXPECT_EQ(store_.CountTrials(run_), 10);
}

}  // namespace
}  // namespace bayloom::record
