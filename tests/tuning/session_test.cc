#include "bayloom/tuning/session.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "bayloom/cost/random_model.h"
#include "bayloom/cost/xgboost_model.h"
#include "tests/temporary_folder.h"
#include "tests/tuning/simulated_evaluator.h"

namespace bayloom {
namespace {

class SessionTest : public testing::Test {
 protected:
  std::vector<uint64_t> HashesOf(SessionId session) {
    std::vector<uint64_t> hashes;
    for (const Trial& trial : store_.SessionTrials(session)) hashes.push_back(trial.program_hash);
    return hashes;
  }
  static std::vector<TaskSpec> OneTask() { return {TwoTasks()[0]}; }
  /// Four floats to compute: a few dozen programs.
  static std::vector<TaskSpec> TinyTask() { return {{"tiny", MatmulWorkload(2, 2, 1), 1}}; }

  TemporaryFolder folder_;
  Store store_{folder_ / "tuning.db"};
  SimulatedEvaluator evaluator_;
  SessionOptions options_ = QuickOptions();
};

TEST_F(SessionTest, UsesUpItsTrialsAndRecordsEachOnce) {
  options_.max_trials = 37;  // not a multiple of the slot
  Session session(SimulatedTarget(), TwoTasks(), store_, nullptr, evaluator_, options_);
  EXPECT_EQ(session.Run(), SessionEnd::kTrials);
  EXPECT_EQ(evaluator_.candidates, 37);
  const std::vector<Trial> trials = store_.SessionTrials(session.id());
  ASSERT_EQ(trials.size(), 37u);
  std::set<std::pair<TaskId, uint64_t>> distinct;
  for (const Trial& trial : trials) {
    EXPECT_TRUE(distinct.insert({trial.task, trial.program_hash}).second);
    EXPECT_EQ(trial.strategy, "bayes");
  }
  EXPECT_TRUE(store_.SessionOf(session.id()).finished);
}

TEST_F(SessionTest, TheBestOfATaskIsItsFastestTrial) {
  Session session(SimulatedTarget(), TwoTasks(), store_, nullptr, evaluator_, options_);
  session.Run();
  double total = 0;
  const SessionStatus status = session.Status();
  for (size_t i = 0; i < session.tasks().size(); ++i) {
    const TuningTask& task = session.tasks()[i];
    double fastest = std::numeric_limits<double>::infinity();
    for (const Trial& trial : store_.SessionTrials(session.id())) {
      if (trial.task == task.id && trial.outcome.ok()) {
        fastest = std::min(fastest, trial.outcome.value);
      }
    }
    ASSERT_TRUE(task.best);
    EXPECT_EQ(task.best->outcome.value, fastest);
    EXPECT_EQ(SimulatedMachine::Run(task.best->candidate.program), fastest);
    const TaskProgress& progress = status.tasks[i];
    EXPECT_EQ(progress.best(), fastest);
    EXPECT_EQ(progress.slot_ends.back(), progress.trials());
    EXPECT_TRUE(
        std::is_sorted(progress.best_after_trial.rbegin(), progress.best_after_trial.rend()));
    total += task.weight * fastest;
  }
  EXPECT_DOUBLE_EQ(status.total_seconds, total);
}

TEST_F(SessionTest, TheObserverHearsOfEveryTrialAndSlot) {
  options_.max_trials = 20;
  RandomModel model(1);
  Session session(SimulatedTarget(), OneTask(), store_, &model, evaluator_, options_);
  std::vector<int64_t> at_trial, at_slot;
  session.Run({.on_trial = [&](const SessionStatus& status,
                               const Outcome&) { at_trial.push_back(status.trials); },
               .on_slot =
                   [&](const SessionStatus& status) {
                     at_slot.push_back(status.trials);
                     EXPECT_TRUE(status.model);
                   }});
  EXPECT_EQ(at_trial.size(), 20u);
  EXPECT_EQ(at_trial.back(), 20);
  EXPECT_EQ(at_slot, (std::vector<int64_t>{8, 16, 20}));
}

TEST_F(SessionTest, KeepsTheModelsMetricsPerSlot) {
  options_.max_trials = 24;
  XgboostModel model;
  Session session(SimulatedTarget(), OneTask(), store_, &model, evaluator_, options_);
  session.Run();
  std::set<int64_t> slots;
  for (const Metric& metric : store_.MetricsOf(session.id())) {
    EXPECT_EQ(metric.task, session.tasks()[0].id);
    if (metric.name == "rmse") slots.insert(metric.batch);
  }
  EXPECT_EQ(slots, (std::set<int64_t>{0, 1, 2}));
}

TEST_F(SessionTest, RespectsTheLimitPerTask) {
  options_.max_trials_per_task = 12;
  Session session(SimulatedTarget(), TwoTasks(), store_, nullptr, evaluator_, options_);
  EXPECT_EQ(session.Run(), SessionEnd::kExhausted);
  for (const TaskProgress& progress : session.Status().tasks) EXPECT_EQ(progress.trials(), 12);
}

TEST_F(SessionTest, RespectsTheTimeBudgetAndAccountsForPhases) {
  double now = 100;
  options_.clock = [&] { return now; };
  options_.max_seconds = 31;
  class SlowEvaluator final : public SimulatedEvaluator {
   public:
    explicit SlowEvaluator(double& now) : now_(now) {}
    double Evaluate(const Workload&, std::span<const Candidate> batch,
                    const EvaluationContext& context, const Report& report) override {
      now_ += 3;  // compiling
      for (int i = 0; i < static_cast<int>(batch.size()) && !context.stop(); ++i) {
        now_ += 1;  // measuring
        report(i, Try(batch[i]));
      }
      return 3;
    }

   private:
    double& now_;
  } evaluator(now);
  Session session(SimulatedTarget(), TwoTasks(), store_, nullptr, evaluator, options_);
  EXPECT_EQ(session.Run(), SessionEnd::kTime);
  const SessionStatus status = session.Status();
  // Two slots of 3 + 8 seconds, then 3 + 6.
  EXPECT_EQ(status.trials, 22);
  EXPECT_EQ(status.seconds, 31);
  EXPECT_EQ(status.phases.compile, 9);
  EXPECT_EQ(status.phases.measure, 22);
  EXPECT_EQ(status.phases.OverheadShare(), 0);
}

TEST_F(SessionTest, StopsWhenAskedAndCanBeResumed) {
  bool stop = false;
  options_.stop = [&] { return stop; };
  evaluator_.after_report = [&](const Candidate&, const Outcome&) {
    if (evaluator_.candidates == 13) stop = true;
  };
  {
    Session session(SimulatedTarget(), TwoTasks(), store_, nullptr, evaluator_, options_);
    EXPECT_EQ(session.Run(), SessionEnd::kStopped);
    EXPECT_EQ(session.Status().trials, 13);
    EXPECT_FALSE(store_.SessionOf(session.id()).finished);
    options_.resume = session.id();
  }
  stop = false;
  Session session(SimulatedTarget(), TwoTasks(), store_, nullptr, evaluator_, options_);
  EXPECT_EQ(session.Status().trials, 13);
  EXPECT_EQ(session.Run(), SessionEnd::kTrials);
  EXPECT_EQ(evaluator_.candidates, 60);
  EXPECT_EQ(HashesOf(session.id()).size(), 60u);
}

TEST_F(SessionTest, EndsWhenTheDesignSpacesAreExhausted) {
  options_.max_trials = 100000;
  Session session(SimulatedTarget(), TinyTask(), store_, nullptr, evaluator_, options_);
  EXPECT_EQ(session.Run(), SessionEnd::kExhausted);
  EXPECT_LT(session.Status().trials, 5000);
  EXPECT_TRUE(session.Status().tasks[0].finished);
}

TEST_F(SessionTest, EqualWorkloadsAreOneTask) {
  std::vector<TaskSpec> specs = TwoTasks();
  specs.push_back(specs[0]);
  specs.back().weight = 5;
  Session session(SimulatedTarget(), std::move(specs), store_, nullptr, evaluator_, options_);
  ASSERT_EQ(session.tasks().size(), 2u);
  EXPECT_EQ(session.tasks()[0].weight, 6);
  EXPECT_EQ(session.Status().tasks[0].weight, 6);
}

TEST_F(SessionTest, EarlierSessionsAreLearntFromAndNotRepeated) {
  options_.max_trials = 24;
  Session first(SimulatedTarget(), OneTask(), store_, nullptr, evaluator_, options_);
  first.Run();
  options_.seed = 0;  // the same choices, were it not for what is known
  Session second(SimulatedTarget(), OneTask(), store_, nullptr, evaluator_, options_);
  EXPECT_EQ(second.Status().trials, 0);
  ASSERT_TRUE(second.tasks()[0].best);
  EXPECT_EQ(second.tasks()[0].best->outcome.value, first.tasks()[0].best->outcome.value);
  second.Run();
  const std::vector<uint64_t> hashes = HashesOf(second.id());
  EXPECT_EQ(hashes.size(), 24u);
  for (uint64_t known : HashesOf(first.id())) {
    EXPECT_EQ(std::count(hashes.begin(), hashes.end(), known), 0);
  }
  options_.use_earlier_sessions = false;
  Session third(SimulatedTarget(), OneTask(), store_, nullptr, evaluator_, options_);
  EXPECT_FALSE(third.tasks()[0].best);
  third.Run();
  EXPECT_EQ(HashesOf(third.id()), HashesOf(first.id()));
}

TEST_F(SessionTest, ChoicesDoNotDependOnTheNumberOfThreads) {
  std::vector<std::vector<uint64_t>> choices;
  options_.use_earlier_sessions = false;
  for (int threads : {1, 3}) {
    options_.threads = threads;
    XgboostModel model;
    Session session(SimulatedTarget(), TwoTasks(), store_, &model, evaluator_, options_);
    session.Run();
    choices.push_back(HashesOf(session.id()));
  }
  EXPECT_EQ(choices[0], choices[1]);
}

TEST_F(SessionTest, RefusesUnusableOptions) {
  auto make = [&](std::vector<TaskSpec> specs) {
    Session(SimulatedTarget(), std::move(specs), store_, nullptr, evaluator_, options_);
  };
  EXPECT_THROW(make({}), InputError);
  options_.strategy = "luck";
  EXPECT_THROW(make(OneTask()), InputError);
  options_ = QuickOptions();
  options_.scheduler = "fair";
  EXPECT_THROW(make(OneTask()), InputError);
  options_ = QuickOptions();
  options_.resume = 4711;
  EXPECT_THROW(make(OneTask()), InputError);
}

}  // namespace
}  // namespace bayloom
