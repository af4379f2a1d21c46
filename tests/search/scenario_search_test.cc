// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/scenario_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>

#include "bayloom/base/result.h"
#include "bayloom/trial/inline_evaluator.h"
#include "tests/base/running_process.h"
#include "tests/temporary_folder.h"

namespace bayloom::search {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// x = 0 .. 9999, with more lines.
Scenario ScenarioOverX(const std::string& name, const std::string& more = "") {
  return ParseScenario("name: " + name +
                           "\nparameters: {x: {type: integer, range: [0, 9999]}}\n"
                           "minimize: value\noptimizer: random\n" +
                           more,
                       name);
}

/// Studies that share a budget, evaluated by functions of x.
class SharedBudgetTest : public ::testing::Test {
 protected:
  using Function = std::function<trial::Outcome(double)>;

  /// Adds a task to the run, for which MakeRun was called.
  int Add(const std::string& name, Function function, double weight = 1,
          int64_t max_trials = trial::Budget::kUnlimited) {
    const Scenario scenario = ScenarioOverX(name);
    optimizer::OptimizerOptions options;
    options.seed = studies_.size() + 1;
    Study& study = studies_.emplace_back(
        scenario, optimizer::MakeOptimizer("random", scenario.space, options));
    evaluators_.emplace_back([function = std::move(function)](const space::Configuration& c) {
      return function(c.coordinates[0]);
    });
    tasks_.emplace_back(study, evaluators_.back());
    scheduling::TaskProgress progress;
    progress.name = name;
    progress.weight = weight;
    return run_->AddTask(tasks_.back(), std::move(progress), max_trials);
  }
  void MakeRun(const std::string& scheduler, trial::Budget budget) {
    run_.emplace(
        run::RunOptions{.budget = std::move(budget), .scheduler = scheduler, .trials_per_slot = 8});
  }
  static trial::Budget Trials(int64_t trials) {
    trial::Budget budget;
    budget.trials = trials;
    return budget;
  }

  std::deque<Study> studies_;
  std::deque<trial::InlineEvaluator<space::Configuration>> evaluators_;
  std::deque<StudyTask> tasks_;
  std::optional<run::ScheduledRun<space::Configuration>> run_;
};

/// Falls over five orders of magnitude as x nears a point.
trial::Outcome Steep(double x) { return trial::Outcome::Feasible(1 + std::abs(x - 4321)); }
trial::Outcome Flat(double) { return trial::Outcome::Feasible(7); }

TEST_F(SharedBudgetTest, IsSpentWhereItHelps) {
  MakeRun("dynatune", Trials(323));
  Add("flat", Flat);
  int n = 0;
  Add(
      "falling", [&](double) { return trial::Outcome::Feasible(10 + 4500.0 / (45 + ++n)); },
      /*weight=*/5);
  int observed = 0;
  EXPECT_EQ(
      run_->Run({.on_trial = [&](const run::RunStatus&, const trial::Outcome&) { ++observed; },
                 .on_slot = {}}),
      trial::StopReason::kTrials);
  EXPECT_EQ(observed, 323);
  EXPECT_EQ(run_->Status().trials, 323);
  EXPECT_EQ(studies_[0].trials() + studies_[1].trials(), 323);
  EXPECT_EQ(run_->state().tasks()[0].best(), 1);
  EXPECT_LT(run_->state().tasks()[1].best(), 0.5);
  EXPECT_GT(studies_[1].trials(), studies_[0].trials());
}

TEST_F(SharedBudgetTest, EndsWhenEachHasItsOwnLimitOrTheTimeIsUpOrItIsStopped) {
  MakeRun("dynatune", {});
  Add("flat", Flat, 1, 20);
  Add("steep", Steep, 1, 20);
  EXPECT_EQ(run_->Run(), trial::StopReason::kTrials);
  EXPECT_EQ(run_->Status().trials, 40);
  trial::Budget late;
  late.seconds = 0;
  MakeRun("dynatune", late);
  Add("flat", Flat);
  EXPECT_EQ(run_->Run(), trial::StopReason::kTime);
  trial::Budget stopped;
  stopped.stop = [] { return true; };
  MakeRun("dynatune", stopped);
  Add("flat", Flat);
  EXPECT_EQ(run_->Run(), trial::StopReason::kStopped);
}

TEST_F(SharedBudgetTest, IsNotSpoiltByScenariosThatOnlyFail) {
  MakeRun("dynatune", Trials(64));
  Add("broken",
      [](double) { return trial::Outcome::Infeasible(trial::Verdict::kCrash, "always"); });
  Add("steep", Steep);
  EXPECT_EQ(run_->Run(), trial::StopReason::kTrials);
  EXPECT_EQ(run_->state().tasks()[0].best(), kNoLimit);
  EXPECT_LT(run_->state().tasks()[1].best(), 1);
}

class ScenarioSearchTest : public ::testing::Test {
 protected:
  SearchMember Member(const std::string& name, const std::string& shell = "echo {x}",
                      const std::string& more = "") {
    return {ScenarioOverX(name, "evaluator: {shell: '" + shell + "'}\n" + more),
            folder_ / (name + ".db")};
  }
  SearchOptions Options(int64_t trials, bool resume = false) {
    SearchOptions options;
    options.run.budget.trials = trials;
    options.resume = resume;
    options.run.scheduler = "round-robin";
    options.jobs = 2;
    return options;
  }

  TemporaryFolder folder_;
};

TEST_F(ScenarioSearchTest, GoesOnWhereEarlierRunsEndedAndTriesNothingTwice) {
  double best = 0;
  {
    ScenarioSearch first({Member("again")}, Options(20));
    EXPECT_FALSE(first.resumed(0));
    EXPECT_EQ(first.Run(), trial::StopReason::kTrials);
    best = first.study(0).best()->outcome.value;
  }
  ScenarioSearch search({Member("again"), Member("other")}, Options(60, true));
  EXPECT_TRUE(search.resumed(0));
  EXPECT_FALSE(search.resumed(1));
  EXPECT_EQ(search.Status().trials, 20);
  EXPECT_EQ(search.study(0).best()->outcome.value, best);
  EXPECT_EQ(search.Status().tasks[0].slot_ends, (std::vector<int>{8, 16, 20}));
  EXPECT_EQ(search.Run(), trial::StopReason::kTrials);
  EXPECT_EQ(search.Status().trials, 60);
  EXPECT_LE(search.study(0).best()->outcome.value, best);
  std::set<std::vector<double>> distinct;
  const std::vector<StudyTrial> trials = search.TrialsOf(0);
  EXPECT_EQ(std::ssize(trials), search.study(0).trials());
  for (const StudyTrial& trial : trials) {
    EXPECT_TRUE(distinct.insert(trial.configuration.coordinates).second);
    EXPECT_EQ(trial.outcome.value, trial.configuration.coordinates[0]);
  }
}

TEST_F(ScenarioSearchTest, KeepsALimitOfItsOwn) {
  ScenarioSearch search({Member("a", "echo {x}", "budget: {trials: 5}\n"), Member("b")},
                        Options(16));
  EXPECT_EQ(search.Run(), trial::StopReason::kTrials);
  EXPECT_EQ(search.study(0).trials(), 5);
  EXPECT_EQ(search.study(1).trials(), 11);
}

TEST_F(ScenarioSearchTest, AStopEndsItsCommands) {
  const std::string pid = folder_ / "pid";
  SearchOptions options = Options(1);
  options.run.budget.stop = [&] { return !base::WrittenLine(pid).empty(); };
  ScenarioSearch search({Member("slow", "echo $$ > " + pid + "; sleep 77; echo 1")},
                        std::move(options));
  EXPECT_EQ(search.Run(), trial::StopReason::kStopped);
  EXPECT_TRUE(base::EndsSoon(base::WrittenLine(pid)));
  EXPECT_EQ(search.Status().trials, 0);
  EXPECT_FALSE(record::Store(folder_ / "slow.db").RunOf(search.record(0).id).finished);
}

/// x = 0 .. 5; the first evaluation of each is good by luck, the smaller x the better, where really
/// the value is 10 - x. What was evaluated is in the file `log`.
class RepeatedSearchTest : public ScenarioSearchTest {
 protected:
  RepeatedSearchTest() { options_.repeat = {.candidates = 3, .rounds = 3}; }

  ScenarioSearch Search(const std::string& goal = "minimize") {
    const std::string log = folder_ / "log";
    return ScenarioSearch(
        {{ParseScenario("name: lucky\nparameters: {x: {type: integer, range: [0, 5]}}\n" + goal +
                            ": value\noptimizer: random\nevaluator: {shell: 'echo {x} >> " + log +
                            "; if [ $(grep -cx {x} " + log + ") = 1 ]; then echo 1.{x}; " +
                            "else echo $((10 - {x})); fi'}\n",
                        "lucky"),
          folder_ / "lucky.db"}},
        options_);
  }
  std::vector<int> Log() {
    std::ifstream in(folder_ / "log");
    return {std::istream_iterator<int>(in), {}};
  }

  SearchOptions options_ = Options(6);
};

TEST_F(RepeatedSearchTest, TheBestAreEvaluatedInTurnsAndTheirMedianDecides) {
  ScenarioSearch search = Search();
  EXPECT_EQ(search.Run(), trial::StopReason::kTrials);
  const std::vector<int> log = Log();
  ASSERT_EQ(log.size(), 15u);
  EXPECT_EQ(std::vector<int>(log.begin() + 6, log.end()),
            (std::vector<int>{0, 1, 2, 0, 1, 2, 0, 1, 2}));
  const std::vector<RepeatedConfiguration> repeated = search.RepeatedOf(0);
  ASSERT_EQ(repeated.size(), 3u);
  EXPECT_EQ(repeated[0].trial.configuration.coordinates[0], 2);
  EXPECT_EQ(repeated[0].median, 8);
  EXPECT_EQ(repeated[0].spread, 0);
  EXPECT_EQ(repeated[0].outcomes.size(), 3u);
  EXPECT_DOUBLE_EQ(repeated[0].trial.outcome.value, 1.2) << "trials keep their outcomes";
  EXPECT_EQ(search.study(0).best()->configuration.coordinates[0], 0);
  EXPECT_EQ(search.study(0).trials(), 6);
}

TEST_F(RepeatedSearchTest, FollowsTheGoal) {
  ScenarioSearch search = Search("maximize");
  search.Run();
  EXPECT_EQ(search.RepeatedOf(0)[0].trial.configuration.coordinates[0], 3);
  EXPECT_EQ(search.RepeatedOf(0)[2].trial.configuration.coordinates[0], 5);
}

TEST_F(RepeatedSearchTest, IsStoppedAndResumed) {
  bool stop = false;
  options_.run.budget.stop = [&] { return stop; };
  {
    ScenarioSearch search = Search();
    EXPECT_EQ(search.Run({}, [&](const run::RepeatStatus& s) { stop = s.done == 4; }),
              trial::StopReason::kStopped);
    EXPECT_FALSE(record::Store(folder_ / "lucky.db").RunOf(search.record(0).id).finished);
  }
  const size_t before = Log().size();
  EXPECT_GE(before, 10u);
  stop = false;
  options_.resume = true;
  ScenarioSearch search = Search();
  EXPECT_EQ(search.Run(), trial::StopReason::kTrials);
  EXPECT_EQ(Log().size(), before + 5);
  EXPECT_EQ(search.RepeatedOf(0)[0].outcomes.size(), 3u);
  EXPECT_EQ(search.Run(), trial::StopReason::kTrials);
  EXPECT_EQ(Log().size(), before + 5) << "what is known is not evaluated again";
}

TEST_F(RepeatedSearchTest, WhatWasComparedBeforeMoreTrialsDoesNotDecideAnyMore) {
  options_ = Options(4);
  options_.repeat = {.candidates = 3, .rounds = 1};
  Search().Run();
  options_ = Options(6, /*resume=*/true);
  ScenarioSearch search = Search();
  EXPECT_EQ(search.Run(), trial::StopReason::kTrials);
  EXPECT_EQ(Log().size(), 9u);
  EXPECT_TRUE(search.RepeatedOf(0).empty());
}

TEST_F(RepeatedSearchTest, WhatFailsOnceIsTheLast) {
  options_.repeat.rounds = 1;
  ScenarioSearch search({Member("fails", "echo {x} >> " + (folder_ / "log") + "; [ $(wc -l < " +
                                             (folder_ / "log") + ") = 7 ] || echo {x}")},
                        options_);
  search.Run();
  const std::vector<RepeatedConfiguration> repeated = search.RepeatedOf(0);
  ASSERT_EQ(repeated.size(), 3u);
  EXPECT_TRUE(repeated[1].ok);
  EXPECT_FALSE(repeated[2].ok);
  EXPECT_EQ(repeated[2].trial.ordinal, search.study(0).best()->ordinal);
  EXPECT_TRUE(std::isnan(repeated[2].median));
}

TEST_F(RepeatedSearchTest, ARecordedSpaceIsRefused) {
  SearchMember member = Member("recorded");
  member.scenario.evaluator.kind = EvaluatorKind::kRecorded;
  try {
    ScenarioSearch search({member}, options_);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "scenario 'recorded' looks its values up in a recorded space: evaluated again, "
                 "configurations have the same");
  }
}

TEST_F(ScenarioSearchTest, RefusesWhatCannotBeSearchedTogether) {
  EXPECT_THROW(ScenarioSearch({}, Options(5)), InputError);
  EXPECT_THROW(ScenarioSearch({Member("a"), Member("a")}, Options(5)), InputError);
  EXPECT_THROW(ScenarioSearch({{ScenarioOverX("none"), folder_ / "none.db"}}, Options(5)),
               InputError);
}

}  // namespace
}  // namespace bayloom::search
