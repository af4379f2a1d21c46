// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/measured_sets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bayloom/codegen/host.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/tensor/operators.h"
#include "bayloom/tuning/restore.h"
#include "bayloom/tuning/task_programs.h"
#include "tests/temporary_folder.h"

namespace bayloom::tuning {
namespace {

/// Rows of an input times a matrix that is an input, too: programs read it in one form.
tensor::Workload ProductOfInputs() {
  tensor::WorkloadBuilder b("product");
  const tensor::BufferId rows = b.Size("rows", {1, 64});
  const tensor::Tensor x = b.Input("x", {64, 32});
  b.Bound(x, 0, rows);
  const tensor::Tensor y = tensor::Matmul(b, "matmul", x, b.Input("w", {32, 32}));
  b.Bound(y, 0, rows);
  tensor::Workload workload = b.Build({y});
  workload.points = {{64}, {8}, {1}};
  return workload;
}

class MeasuredSetsTest : public ::testing::Test {
 protected:
  MeasuredSetsTest() : space_(ProductOfInputs(), codegen::HostTarget(1)), store_(folder_ / "a.db") {
    task_ = store_.AddTask(space_.workload());
    target_ = store_.AddTarget(space_.target());
    run_ = store_.BeginRun({.name = "product", .target = target_}).id;
  }

  /// A program that took so long at 64, 8 and 1 rows.
  sketch::Candidate Record(uint64_t seed, const std::vector<double>& seconds) {
    sketch::Candidate candidate = *space_.Sample(0, base::RandomStream(seed));
    record::StoredTrial trial;
    trial.run = run_;
    trial.task = task_;
    trial.target = target_;
    trial.ordinal = store_.CountTrials(run_);
    trial.candidate = CandidateText(candidate);
    trial.key = candidate.hash;
    trial.proposer = "test";
    double logs = 0;
    measure::MeasurementDetails details;
    for (size_t p = 0; p < seconds.size(); ++p) {
      details.at_sizes.push_back({space_.workload().points[p], seconds[p]});
      logs += std::log(seconds[p]);
    }
    trial.outcome = trial::Outcome::Feasible(
        std::exp(logs / static_cast<double>(std::max<size_t>(seconds.size(), 1))));
    measure::SetDetails(trial.outcome, details);
    EXPECT_TRUE(store_.AddTrial(trial));
    return candidate;
  }

  std::vector<uint64_t> HashesOf(const MeasuredSet& set) {
    std::vector<uint64_t> hashes;
    for (const std::vector<int64_t>& point : space_.workload().points) {
      hashes.push_back(ProgramFor(point, set.largest, set.small).hash);
    }
    return hashes;
  }

  TemporaryFolder folder_;
  sketch::SpaceGenerator space_;
  record::Store store_;
  record::TaskId task_;
  record::TargetId target_;
  record::RunId run_;
};

TEST_F(MeasuredSetsTest, EachSizeHasTheProgramThatWasFastestThere) {
  const sketch::Candidate many = Record(1, {100e-6, 60e-6, 20e-6});
  const sketch::Candidate even = Record(2, {150e-6, 30e-6, 8e-6});
  const sketch::Candidate few = Record(3, {300e-6, 60e-6, 4e-6});
  const std::vector<MeasuredSet> sets = FastestSets(store_, space_, nullptr, 3);
  ASSERT_EQ(sets.size(), 1u) << "all read the same form";
  EXPECT_EQ(HashesOf(sets[0]), (std::vector<uint64_t>{many.hash, even.hash, few.hash}));
  EXPECT_EQ(sets[0].trial.key, many.hash);
  for (const SizeLoss& loss : LossesOf(store_, space_, sets[0])) {
    EXPECT_EQ(loss.seconds, loss.fastest);
  }
}

TEST_F(MeasuredSetsTest, WithoutTimesAtSizesThereIsNone) {
  Record(1, {});
  EXPECT_TRUE(FastestSets(store_, space_, nullptr, 3).empty());
}

TEST_F(MeasuredSetsTest, WhatAComparisonHasChosenIsUsed) {
  const sketch::Candidate many = Record(1, {100e-6, 40e-6, 20e-6});
  const sketch::Candidate other = Record(2, {120e-6, 45e-6, 18e-6});
  const sketch::Candidate few = Record(3, {300e-6, 60e-6, 4e-6});
  record::Repeat repeat;
  repeat.run = run_;
  repeat.after = store_.CountTrials(run_);
  repeat.task = task_;
  repeat.target = target_;
  repeat.trial_run = run_;
  repeat.trial = 1;
  repeat.outcome = trial::Outcome::Feasible(50e-6);
  repeat.outcome.Set(record::kChosen, 1);
  const std::vector<SmallCandidate> small = {{few, 0, 5}};
  NoteSmall(small, repeat.outcome);
  store_.AddRepeats({&repeat, 1});
  const std::optional<MeasuredSet> chosen = BestSet(store_, space_, other);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(HashesOf(*chosen), (std::vector<uint64_t>{other.hash, other.hash, few.hash}));
  EXPECT_EQ(chosen->small[0].up_to, 5);
  // Once another program is the best, what was chosen before says nothing.
  EXPECT_EQ(BestSet(store_, space_, many)->largest.hash, many.hash);
}

}  // namespace
}  // namespace bayloom::tuning
