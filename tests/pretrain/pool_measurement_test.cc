#include "bayloom/pretrain/pool_measurement.h"

#include <gtest/gtest.h>

#include "bayloom/base/result.h"
#include "bayloom/pretrain/pool_sampling.h"
#include "bayloom/tensor/operators.h"
#include "tests/temporary_folder.h"

namespace bayloom {
namespace {

/// Answers a time that follows from the program, and stops after so many.
class PretendingEvaluator final : public Evaluator {
 public:
  double Evaluate(const Workload&, std::span<const Candidate> candidates,
                  const EvaluationContext& context, const Report& report) override {
    for (size_t i = 0; i < candidates.size() && !context.stop(); ++i) {
      Outcome outcome;
      outcome.value = 1e-3 * static_cast<double>(candidates[i].hash % 100 + 1);
      ++evaluated;
      report(static_cast<int>(i), outcome);
    }
    return 0;
  }
  int evaluated = 0;
};

TEST(PoolMeasurement, TrialsAreKnownAfterwardsAndNothingIsMeasuredTwice) {
  const TemporaryFolder folder;
  Store store(folder / "pool.db");
  ProgramPool pool(folder / "pool.db");
  ThreadPool threads(1);
  const Target target;
  std::vector<TaskId> tasks;
  for (const int64_t size : {32, 64}) {
    const SpaceGenerator space(MatmulWorkload(size, size, size), target);
    tasks.push_back(store.AddTask(space.workload()));
    pool.PutIntoGroup("dense", tasks.back(), 1);
    SampleIntoPool(space, tasks.back(), pool, {.programs = 30}, threads);
  }
  EXPECT_EQ(GroupedTasks(pool), tasks);

  PretendingEvaluator evaluator;
  int left = 15;
  {
    PoolMeasurement measurement(store, pool, target, evaluator, "pool",
                                [&] { return left-- <= 0; });
    measurement.MeasureEach(20, 1, [](int64_t done, int64_t of) {
      EXPECT_LE(done, of);
      EXPECT_EQ(of, 40);
    });
  }
  EXPECT_LT(evaluator.evaluated, 40);
  EXPECT_EQ(
      CountMeasured(store, pool, tasks[0], target) + CountMeasured(store, pool, tasks[1], target),
      evaluator.evaluated);
  PoolMeasurement measurement(store, pool, target, evaluator, "pool", [] { return false; });
  measurement.MeasureEach(20, 1, [](int64_t, int64_t) {});
  EXPECT_EQ(evaluator.evaluated, 40);
  for (const TaskId task : tasks) {
    const std::map<int64_t, Outcome> measured = MeasuredPrograms(store, pool, task, target);
    EXPECT_EQ(measured.size(), 20u);
    for (const auto& [place, outcome] : measured) {
      const PoolProgram program = pool.At(task, std::vector<int64_t>{place})[0];
      EXPECT_EQ(outcome.value, 1e-3 * static_cast<double>(program.hash % 100 + 1));
    }
  }
}

TEST(PoolMeasurement, RefusesProgramsOfAnotherDesignSpace) {
  const TemporaryFolder folder;
  Store store(folder / "pool.db");
  ProgramPool pool(folder / "pool.db");
  const TaskId task = store.AddTask(MatmulWorkload(32, 32, 32));
  const std::vector<PoolProgram> programs = {
      {.hash = 1, .space = 0, .origin = "random", .trace = "{}", .features = {}}};
  pool.Add(task, programs);
  PretendingEvaluator evaluator;
  PoolMeasurement measurement(store, pool, Target{}, evaluator, "pool", [] { return false; });
  EXPECT_THROW(measurement.Measure(task, std::vector<int64_t>{0}), InputError);
}

}  // namespace
}  // namespace bayloom
