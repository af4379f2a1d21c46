// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/pretrain/pool_measurement.h"

#include <gtest/gtest.h>

#include <numeric>

#include "bayloom/base/result.h"
#include "bayloom/base/system_error.h"
#include "bayloom/pretrain/pool_sampling.h"
#include "bayloom/tensor/operators.h"
#include "tests/pretrain/pretending_evaluator.h"
#include "tests/temporary_folder.h"

namespace bayloom::pretrain {
namespace {

TEST(PoolMeasurement, TrialsAreKnownAfterwards) {
  const TemporaryFolder folder;
  record::Store store(folder / "pool.db");
  record::ProgramPool pool(folder / "pool.db");
  base::ThreadPool threads(1);
  const target::Target target;
  const sketch::SpaceGenerator space(tensor::MatmulWorkload(32, 32, 32), target);
  const record::TaskId task = store.AddTask(space.workload());
  pool.PutIntoGroup("dense", task, 1);
  SampleIntoPool(space, task, pool, {.programs = 30}, threads);
  EXPECT_EQ(GroupedTasks(pool), std::vector<record::TaskId>{task});

  PretendingEvaluator evaluator;
  PoolMeasurement measurement(store, pool, target, evaluator, "pool",
                              [&] { return evaluator.evaluated >= 15; });
  std::vector<int64_t> places(20);
  std::iota(places.begin(), places.end(), int64_t{5});
  int observed = 0;
  run::RunObserver observer;
  observer.on_trial = [&](const run::RunStatus& status, const trial::Outcome&) {
    EXPECT_EQ(status.trials, ++observed);
    EXPECT_EQ(status.max_trials, 20);
  };
  const std::map<int64_t, trial::Outcome> outcomes = measurement.Measure(task, places, observer);
  EXPECT_EQ(observed, 15) << "it goes on though it was stopped";
  EXPECT_EQ(outcomes.size(), 15u);
  const std::map<int64_t, trial::Outcome> measured = MeasuredPrograms(store, pool, task, target);
  ASSERT_EQ(measured.size(), 15u);
  for (const auto& [place, outcome] : measured) {
    EXPECT_EQ(outcome.value, outcomes.at(place).value);
    EXPECT_EQ(outcome.value,
              PretendingEvaluator::SecondsOf(pool.At(task, std::vector<int64_t>{place})[0].hash));
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
  EXPECT_TRUE(MeasuredPrograms(store, pool, task, target::Target{}).empty());
  evaluator.is_broken = false;
  EXPECT_EQ(measurement.Measure(task, std::vector<int64_t>{0, 1}).size(), 2u);
}

}  // namespace
}  // namespace bayloom::pretrain
