// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/pretrain/pool_measurement.h"

#include <gtest/gtest.h>

#include <deque>
#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"
#include "bayloom/pretrain/pool_sampling.h"
#include "bayloom/tensor/operators.h"
#include "tests/temporary_folder.h"

namespace bayloom::pretrain {
namespace {

/// Answers a time that follows from the program.
class PretendingEvaluator final : public tuning::ProgramEvaluator {
 public:
  int Capacity() const override { return 7; }
  void Submit(trial::TrialId id, const tuning::ProgramTrial& trial) override {
    waiting_.emplace_back(id, &trial);
  }
  std::vector<trial::FinishedTrial> Collect(double, const std::function<bool()>&) override {
    if (waiting_.empty()) return {};
    const auto [id, trial] = waiting_.front();
    waiting_.pop_front();
    ++evaluated;
    if (is_broken) return {{id, std::nullopt, "the disk is full"}};
    return {{id,
             trial::Outcome::Feasible(1e-3 * static_cast<double>(trial->candidate.hash % 100 + 1)),
             {}}};
  }
  void Cancel() override { waiting_.clear(); }
  void SetIncumbent(const tensor::Workload&, const tensor::Program&, double) override {}

  int evaluated = 0;
  bool is_broken = false;

 private:
  std::deque<std::pair<trial::TrialId, const tuning::ProgramTrial*>> waiting_;
};

TEST(PoolMeasurement, TrialsAreKnownAfterwardsAndNothingIsMeasuredTwice) {
  const TemporaryFolder folder;
  record::Store store(folder / "pool.db");
  record::ProgramPool pool(folder / "pool.db");
  base::ThreadPool threads(1);
  const target::Target target;
  std::vector<record::TaskId> tasks;
  for (const int64_t size : {32, 64}) {
    const sketch::SpaceGenerator space(tensor::MatmulWorkload(size, size, size), target);
    tasks.push_back(store.AddTask(space.workload()));
    pool.PutIntoGroup("dense", tasks.back(), 1);
    SampleIntoPool(space, tasks.back(), pool, {.programs = 30}, threads);
  }
  EXPECT_EQ(GroupedTasks(pool), tasks);

  PretendingEvaluator evaluator;
  {
    PoolMeasurement measurement(store, pool, target, evaluator, "pool",
                                [&] { return evaluator.evaluated >= 15; });
    int observed = 0;
    EXPECT_EQ(
        measurement.MeasureEach(20, 1,
                                {.on_trial =
                                     [&](const run::RunStatus& status, const trial::Outcome&) {
                                       EXPECT_EQ(status.trials, ++observed);
                                       EXPECT_EQ(status.max_trials, 40);
                                     },
                                 .on_slot = {}}),
        trial::StopReason::kStopped);
    EXPECT_EQ(observed, 15);
  }
  EXPECT_EQ(evaluator.evaluated, 15);
  EXPECT_EQ(
      CountMeasured(store, pool, tasks[0], target) + CountMeasured(store, pool, tasks[1], target),
      evaluator.evaluated);
  PoolMeasurement measurement(store, pool, target, evaluator, "pool", [] { return false; });
  EXPECT_EQ(measurement.MeasureEach(20, 1), trial::StopReason::kTrials);
  EXPECT_EQ(evaluator.evaluated, 40);
  for (const record::TaskId task : tasks) {
    const std::map<int64_t, trial::Outcome> measured = MeasuredPrograms(store, pool, task, target);
    EXPECT_EQ(measured.size(), 20u);
    for (const auto& [place, outcome] : measured) {
      const record::PoolProgram program = pool.At(task, std::vector<int64_t>{place})[0];
      EXPECT_EQ(outcome.value, 1e-3 * static_cast<double>(program.hash % 100 + 1));
    }
  }
}

TEST(PoolMeasurement, RefusesProgramsOfAnotherDesignSpace) {
  const TemporaryFolder folder;
  record::Store store(folder / "pool.db");
  record::ProgramPool pool(folder / "pool.db");
  const record::TaskId task = store.AddTask(tensor::MatmulWorkload(32, 32, 32));
  const std::vector<record::PoolProgram> programs = {
      {.hash = 1, .space = 0, .origin = "random", .trace = "{}", .features = {}}};
  pool.Add(task, programs);
  PretendingEvaluator evaluator;
  PoolMeasurement measurement(store, pool, target::Target{}, evaluator, "pool",
                              [] { return false; });
  EXPECT_THROW(measurement.Measure(task, std::vector<int64_t>{0}), InputError);
}

TEST(PoolMeasurement, SaysWhyProgramsCannotBeMeasured) {
  const TemporaryFolder folder;
  record::Store store(folder / "pool.db");
  record::ProgramPool pool(folder / "pool.db");
  base::ThreadPool threads(1);
  const sketch::SpaceGenerator space(tensor::MatmulWorkload(32, 32, 32), target::Target{});
  const record::TaskId task = store.AddTask(space.workload());
  SampleIntoPool(space, task, pool, {.programs = 10}, threads);
  PretendingEvaluator evaluator;
  evaluator.is_broken = true;
  PoolMeasurement measurement(store, pool, target::Target{}, evaluator, "pool",
                              [] { return false; });
  EXPECT_THROW(measurement.Measure(task, std::vector<int64_t>{0, 1}), SystemError);
  EXPECT_EQ(CountMeasured(store, pool, task, target::Target{}), 0);
  evaluator.is_broken = false;
  EXPECT_EQ(measurement.Measure(task, std::vector<int64_t>{0, 1}).size(), 2u);
}

}  // namespace
}  // namespace bayloom::pretrain
