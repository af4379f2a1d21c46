// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/study.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "bayloom/base/system_error.h"
#include "bayloom/search/line_server.h"
#include "bayloom/search/study_task.h"
#include "bayloom/space/configuration_json.h"
#include "bayloom/trial/inline_evaluator.h"
#include "bayloom/trial/threaded_evaluator.h"
#include "tests/trial/list_store.h"

namespace bayloom::search {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Scenario SmallScenario(const std::string& more = "") {
  return ParseScenario(
      "parameters:\n"
      "  x: {type: integer, range: [0, 9], default: 3}\n"
      "  y: {type: integer, range: [0, 9], default: 4}\n"
      "constraints: [x + y <= 12]\n" +
          more,
      "small.yaml");
}

trial::Outcome Bowl(const space::Configuration& c) {
  const double x = c.coordinates[0], y = c.coordinates[1];
  if (y == 0) return trial::Outcome::Infeasible(trial::Verdict::kCrash, "y is zero");
  return trial::Outcome::Feasible(std::pow(x - 5, 2) + y);
}

/// Evaluates by a function in so many threads, and in this one if there is to be one.
std::unique_ptr<trial::Evaluator<space::Configuration>> Jobs(
    int jobs, trial::Outcome (*function)(const space::Configuration&)) {
  if (jobs == 1) return std::make_unique<trial::InlineEvaluator<space::Configuration>>(function);
  using Threaded = trial::ThreadedEvaluator<space::Configuration>;
  return std::make_unique<Threaded>(std::vector<Threaded::Function>(
      static_cast<size_t>(jobs), [=](const space::Configuration& c, const std::stop_token&) {
        return std::optional(function(c));
      }));
}

std::unique_ptr<optimizer::Optimizer> OptimizerOf(const Scenario& scenario) {
  return optimizer::MakeOptimizer(scenario.optimizer, scenario.space, scenario.optimizer_options);
}

trial::Budget Trials(int64_t trials) {
  trial::Budget budget;
  budget.trials = trials;
  return budget;
}

/// `seconds` on a clock that shows `now`.
trial::Budget Seconds(double seconds, const double& now) {
  trial::Budget budget;
  budget.seconds = seconds;
  budget.clock = [&now] { return now; };
  return budget;
}

trial::Budget StopWhen(std::function<bool()> stop) {
  trial::Budget budget;
  budget.stop = std::move(stop);
  return budget;
}

TEST(StudyTest, TrialsOfLowerFidelitiesAreNeitherTheBestNorStopTheSearch) {
  const Scenario scenario = SmallScenario(
      "fidelity: {parameter: size, values: [1, 10]}\n"
      "budget: {target: 2, plateau: 2}\n");
  ASSERT_EQ(scenario.space->size(), 3);
  EXPECT_EQ(scenario.default_configuration->coordinates, (std::vector<double>{3, 4, 1}));
  Study study(scenario, OptimizerOf(scenario));
  EXPECT_EQ(study.Ask(1)[0], *scenario.default_configuration);
  study.Tell({{3, 4, 1}}, trial::Outcome::Feasible(8), 1);
  for (double x : {4, 5, 6}) study.Tell({{x, 4, 0}}, trial::Outcome::Feasible(0.5), 1);
  EXPECT_EQ(study.trials(), 4);
  EXPECT_EQ(study.best()->ordinal, 0);
  EXPECT_EQ(study.front().size(), 1u);
  EXPECT_FALSE(study.stop().HasReachedTarget());
  EXPECT_FALSE(study.stop().HasConverged());
  study.Tell({{5, 2, 1}}, trial::Outcome::Feasible(2), 1);
  EXPECT_EQ(study.best()->ordinal, 4);
  EXPECT_TRUE(study.stop().HasReachedTarget());
}

trial::StopReason RunStudy(
    Study& study, trial::Evaluator<space::Configuration>& evaluator, trial::Budget budget = {},
    const std::function<void(const run::RunStatus&, const trial::Outcome&)>& on_trial = {}) {
  StudyTask task(study, evaluator);
  run::ScheduledRun<space::Configuration> run({.budget = std::move(budget)});
  run.AddTask(task, {});
  return run.Run({.on_trial = on_trial, .on_slot = {}});
}

/// Has no room left.
class FullStore final : public trial::TrialStore {
 public:
  void Add(const trial::TrialRecord&) override { throw SystemError("the disk is full"); }
  void Flush() override {}
};

TEST(Study, AsksForWhatIsKnownToBeGoodFirst) {
  const Scenario scenario = SmallScenario("known: [{x: 7, y: 1}, {x: 1}]\noptimizer: random\n");
  Study study(scenario, OptimizerOf(scenario));
  const std::vector<space::Configuration> asked = study.Ask(4);
  ASSERT_EQ(asked.size(), 4u);
  EXPECT_EQ(asked[0].coordinates, (std::vector<double>{3, 4}));  // the default
  EXPECT_EQ(asked[1].coordinates, (std::vector<double>{7, 1}));
  EXPECT_EQ(asked[2].coordinates, (std::vector<double>{1, 4}));
  EXPECT_EQ(std::ranges::count(asked, asked[3]), 1);
}

TEST(Study, WhatIsKnownMustBeInTheSpace) {
  const auto message = [](const std::string& known) -> std::string {
    try {
      SmallScenario("known: [" + known + "]\n");
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message("{x: 9, y: 9}"), testing::HasSubstr("breaks a constraint"));
  EXPECT_THAT(message("{x: 19}"), testing::HasSubstr("parameter 'x'"));
  EXPECT_THAT(message("{z: 1}"), testing::HasSubstr("there is no parameter 'z'"));
  EXPECT_EQ(message("{x: 8}"), "");
}

TEST(Study, HandsOutTheDefaultFirstAndEveryConfigurationOnce) {
  const Scenario scenario = SmallScenario("optimizer: random\n");
  Study study(scenario, OptimizerOf(scenario));
  std::set<std::vector<double>> asked;
  EXPECT_TRUE(study.Ask(0).empty());
  for (std::vector<space::Configuration> more = study.Ask(7); !more.empty(); more = study.Ask(7)) {
    if (asked.empty()) {
      EXPECT_EQ(more[0].coordinates, (std::vector<double>{3, 4}));
    }
    for (const space::Configuration& c : more) EXPECT_TRUE(asked.insert(c.coordinates).second);
  }
  EXPECT_EQ(static_cast<double>(asked.size()), scenario.space->CountFeasible());
}

TEST(Study, SaysThatDefaultsAreNotAllowed) {
  const Scenario scenario = ParseScenario(
      "parameters:\n  x: {type: integer, range: [0, 9], default: 3}\nconstraints: [x > 4]", "f");
  Study study(scenario, OptimizerOf(scenario));
  EXPECT_THAT(study.TakeNotices(),
              testing::ElementsAre("the defaults are not tried: the constraints do not allow x=3"));
  EXPECT_THAT(study.TakeNotices(), testing::IsEmpty());
}

TEST(Study, IsToldInAnyOrderAndRefusesWhatItWasTold) {
  const Scenario scenario = SmallScenario("optimizer: random\n");
  trial::ListStore store;
  Study study(scenario, OptimizerOf(scenario), &store);
  const std::vector<space::Configuration> asked = study.Ask(3);
  ASSERT_EQ(asked.size(), 3u);
  for (const size_t i : {2u, 0u, 1u}) {
    EXPECT_TRUE(study.Tell(asked[i], trial::Outcome::Feasible(static_cast<double>(i)), 1.5));
    EXPECT_EQ(study.last()->configuration, asked[i]);
  }
  EXPECT_FALSE(study.Tell(asked[0], trial::Outcome::Feasible(-1), 2));
  EXPECT_EQ(store.trials.size(), 3u);
  EXPECT_EQ(study.trials(), 3);
  EXPECT_EQ(study.elapsed(), 1.5);
  EXPECT_EQ(study.best()->configuration, asked[0]);
  EXPECT_EQ(study.best()->ordinal, 1);
  EXPECT_EQ(store.trials[0].candidate, space::ToJson(*scenario.space, asked[2]).dump());
  EXPECT_EQ(store.trials[0].proposer, "random");
  EXPECT_EQ(store.trials[0].outcome.value, 2);
  EXPECT_EQ(store.trials[0].elapsed, 1.5);
}

TEST(StudyTask, TriesEveryConfigurationOnceAndRecordsBeforeItLearns) {
  const Scenario scenario = SmallScenario("optimizer: random\n");
  for (const int jobs : {1, 3}) {
    trial::ListStore store;
    Study study(scenario, OptimizerOf(scenario), &store);
    std::set<std::vector<double>> tried;
    const auto evaluator = Jobs(jobs, Bowl);
    const trial::StopReason end = RunStudy(
        study, *evaluator, {}, [&](const run::RunStatus& status, const trial::Outcome& outcome) {
          EXPECT_EQ(std::ssize(store.trials), study.trials());
          EXPECT_EQ(status.trials, study.trials());
          EXPECT_EQ(outcome.ok(), study.last()->outcome.ok());
          EXPECT_TRUE(tried.insert(study.last()->configuration.coordinates).second);
        });
    EXPECT_EQ(end, trial::StopReason::kExhausted);
    EXPECT_EQ(static_cast<double>(study.trials()), scenario.space->CountFeasible());
    EXPECT_EQ(study.trials() - study.feasible_trials(), 10);
    ASSERT_TRUE(study.best());
    EXPECT_EQ(study.best()->outcome.value, 1);
    if (jobs == 1) {
      EXPECT_EQ(nlohmann::json::parse(store.trials[0].candidate),
                (nlohmann::json{{"x", 3}, {"y", 4}}));
    }
  }
}

// Two values of a billion satisfy this, which neither drawing nor solving finds.
TEST(StudyTask, GivingUpIsNotHavingTriedEverything) {
  const Scenario scenario = ParseScenario(
      "parameters:\n"
      "  x: {type: integer, range: [1, 1000000000]}\n"
      "constraints: ['x & 536870911 == 123456']\n",
      "hidden.yaml");
  Study study(scenario, OptimizerOf(scenario));
  EXPECT_EQ(RunStudy(study, *Jobs(1, Bowl), Trials(10)), trial::StopReason::kGaveUp);
  EXPECT_EQ(study.trials(), 0);
  LineServer server(scenario, study);
  EXPECT_EQ(nlohmann::json::parse(server.Answer(R"({"ask": 1})")),
            (nlohmann::json{{"configurations", nlohmann::json::array()}, {"end", "gave-up"}}));
}

TEST(StudyTask, MaximizesWhatIsToBeMaximized) {
  const Scenario scenario = SmallScenario("maximize: height\noptimizer: bayesian\n");
  trial::ListStore store;
  Study study(scenario, OptimizerOf(scenario), &store);
  RunStudy(study, *Jobs(1, Bowl), Trials(40));
  EXPECT_EQ(study.trials(), 40);
  ASSERT_TRUE(study.best());
  // x = 0 and y = 9 give 34, the greatest of 85.
  EXPECT_GE(study.best()->outcome.value, 30);
  // The store has values as they were answered.
  double greatest = 0;
  for (const trial::TrialRecord& trial : store.trials) {
    if (trial.outcome.ok()) greatest = std::max(greatest, trial.outcome.value);
  }
  EXPECT_EQ(greatest, study.best()->outcome.value);
}

TEST(StudyTask, KeepsToItsBudget) {
  const Scenario scenario = SmallScenario();
  Study by_trials(scenario, OptimizerOf(scenario));
  EXPECT_EQ(RunStudy(by_trials, *Jobs(3, Bowl), Trials(7)), trial::StopReason::kTrials);
  EXPECT_EQ(by_trials.trials(), 7);
  const auto jobs = Jobs(2, Bowl);
  double now = 0;
  Study by_time(scenario, OptimizerOf(scenario));
  EXPECT_EQ(RunStudy(by_time, *jobs, Seconds(0.2, now),
                     [&](const run::RunStatus&, const trial::Outcome&) { now += 0.02; }),
            trial::StopReason::kTime);
  EXPECT_GE(by_time.trials(), 10);
  EXPECT_LT(by_time.trials(), 20);
  bool stop = false;
  Study stopped(scenario, OptimizerOf(scenario));
  EXPECT_EQ(RunStudy(stopped, *jobs, StopWhen([&] { return stop; }),
                     [&](const run::RunStatus& status, const trial::Outcome&) {
                       stop = status.trials >= 3;
                     }),
            trial::StopReason::kStopped);
  EXPECT_LT(stopped.trials(), 10);
}

TEST(StudyTask, GoesOnWhereItWas) {
  const Scenario scenario = SmallScenario("optimizer: random\n");
  trial::ListStore store;
  std::vector<StudyTrial> told;
  Study first(scenario, OptimizerOf(scenario), &store);
  const auto evaluator = Jobs(1, Bowl);
  RunStudy(first, *evaluator, Trials(20),
           [&](const run::RunStatus&, const trial::Outcome&) { told.push_back(*first.last()); });
  ASSERT_EQ(store.trials.size(), 20u);

  Study second(scenario, OptimizerOf(scenario), &store);
  StudyTask task(second, *evaluator);
  run::ScheduledRun<space::Configuration> run({.budget = Trials(30)});
  const int index = run.AddTask(task, {});
  for (const StudyTrial& trial : told) {
    second.Learn(trial.configuration, trial.outcome, trial.elapsed);
    run.Restore(index, task.ValueOf(trial.configuration, trial.outcome), trial.elapsed);
  }
  run.RestoreSlotEnd(index);
  EXPECT_EQ(store.trials.size(), 20u) << "what is learnt of is recorded already";
  EXPECT_EQ(second.best()->outcome.value, first.best()->outcome.value);
  EXPECT_EQ(second.best()->ordinal, first.best()->ordinal);
  EXPECT_GE(second.elapsed(), told.back().elapsed);
  EXPECT_EQ(run.Run(), trial::StopReason::kTrials);
  EXPECT_EQ(store.trials.size(), 30u) << "the budget is that of both runs";
  EXPECT_GE(store.trials.back().elapsed, told.back().elapsed);
  RunStudy(second, *evaluator);
  std::set<std::string> tried;
  for (const trial::TrialRecord& trial : store.trials) {
    EXPECT_TRUE(tried.insert(trial.candidate).second);
  }
  EXPECT_EQ(static_cast<double>(tried.size()), scenario.space->CountFeasible());
}

TEST(StudyTask, PassesOnWhatTheStoreThrows) {
  const Scenario scenario = SmallScenario();
  for (const int jobs : {1, 2}) {
    FullStore store;
    Study study(scenario, OptimizerOf(scenario), &store);
    EXPECT_THROW(RunStudy(study, *Jobs(jobs, Bowl)), SystemError);
    EXPECT_EQ(study.trials(), 0);
  }
}

TEST(StudyTask, TellsTheSchedulerOfRatiosToTheFirstValue) {
  const Scenario scenario = SmallScenario("maximize: height\n");
  Study study(scenario, OptimizerOf(scenario));
  const auto evaluator = Jobs(1, Bowl);
  StudyTask task(study, *evaluator);
  const std::vector<space::Configuration> c = study.Ask(3);
  const run::TrialValue failed = task.Tell(
      space::Configuration(c[0]), trial::Outcome::Infeasible(trial::Verdict::kCrash, "why"), 0);
  EXPECT_FALSE(failed.feasible);
  EXPECT_EQ(failed.cost, kInfinity);
  EXPECT_EQ(task.Tell(space::Configuration(c[1]), trial::Outcome::Feasible(6), 0).cost, 1);
  EXPECT_EQ(task.Tell(space::Configuration(c[2]), trial::Outcome::Feasible(12), 0).cost, 0.5);
}

TEST(RelativeCost, ComparesWithTheFirstValueWhateverUnitAndGoal) {
  EXPECT_EQ(RelativeCost(3, 6, /*maximize=*/false), 0.5);
  EXPECT_EQ(RelativeCost(12, 6, false), 2);
  EXPECT_EQ(RelativeCost(12, 6, /*maximize=*/true), 0.5);
  EXPECT_EQ(RelativeCost(3, 6, true), 2);
  EXPECT_EQ(RelativeCost(-12, -6, false), 0.5);
  EXPECT_EQ(RelativeCost(-3, -6, true), 0.5);
}

TEST(RelativeCost, OrdersWhatHasNoRatio) {
  for (const double first : {-2.0, 0.0, 2.0}) {
    for (const bool maximize : {false, true}) {
      double last = kInfinity;
      for (double value = -5; value <= 5; value += 0.5) {
        const double cost = RelativeCost(maximize ? value : -value, first, maximize);
        EXPECT_GT(cost, 0);
        EXPECT_LE(cost, last) << value << " after " << first;
        last = cost;
      }
    }
  }
}

TEST(LineServer, AsksAndTells) {
  const Scenario scenario = SmallScenario("minimize: seconds\nbudget: {trials: 4}\n");
  trial::ListStore store;
  Study study(scenario, OptimizerOf(scenario), &store);
  LineServer server(scenario, study);
  const auto answer = [&](const std::string& line) {
    return nlohmann::json::parse(server.Answer(line));
  };
  const nlohmann::json asked = answer(R"({"ask": 2})")["configurations"];
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0], (nlohmann::json{{"x", 3}, {"y", 4}}));
  EXPECT_EQ(answer(R"({"tell": {"x": 3, "y": 4}, "value": 8})")["trials"], 1);
  EXPECT_EQ(answer(R"({"tell": {"x": 5, "y": 1}, "seconds": 1.5})")["best"]["value"], 1.5);
  const nlohmann::json failed =
      answer(R"({"tell": {"x": 1, "y": 1}, "feasible": false, "reason": "no memory"})");
  EXPECT_EQ(failed["trials"], 3);
  EXPECT_EQ(failed["best"]["configuration"], (nlohmann::json{{"x", 5}, {"y", 1}}));
  EXPECT_EQ(study.feasible_trials(), 2);
  for (const char* value : {"true", "[1]", R"("3")", "{}"}) {
    const nlohmann::json refused =
        answer(fmt::format(R"({{"tell": {{"x": 0, "y": 9}}, "value": {}}})", value));
    EXPECT_THAT(refused.value("error", ""), testing::HasSubstr("'value' is a number, not"))
        << value;
  }
  // One trial is left in the budget.
  EXPECT_EQ(answer(R"({"ask": 5})")["configurations"].size(), 1u);
  EXPECT_EQ(answer(R"({"tell": {"x": 0, "y": 9}, "value": null})")["trials"], 4);
  EXPECT_EQ(answer(R"({"ask": 1})")["configurations"].size(), 0u);
  for (const char* line :
       {"", "{", "[]", "7", "{}", R"({"ask": 0})", R"({"ask": "two"})",
        R"({"tell": 3, "value": 1})", R"({"tell": {"x": 3}, "value": {}})",
        R"({"tell": {"x": 99, "y": 1}, "value": 1})", R"({"tell": {"x": 9, "y": 9}, "value": 1})",
        R"({"tell": {"x": 2, "y": 2}})", R"({"tell": {"x": 3, "y": 4}, "value": 1})", "\xff\xfe"}) {
    EXPECT_TRUE(answer(line).contains("error") || answer(line).contains("trials")) << line;
  }
  EXPECT_TRUE(answer(R"({"tell": {"x": 9, "y": 9}, "value": 1})").contains("error"));
  EXPECT_EQ(study.trials(), 4);
  EXPECT_EQ(store.trials.size(), 4u);
}

TEST(LineServer, RefusesWhatIsNoNumberInAnyObjective) {
  const Scenario scenario = SmallScenario("minimize: [seconds, joules]\n");
  Study study(scenario, OptimizerOf(scenario));
  LineServer server(scenario, study);
  EXPECT_THAT(server.Answer(R"({"tell": {"x": 5, "y": 1}, "seconds": 1, "joules": "2"})"),
              testing::HasSubstr("'joules' is a number, not"));
  EXPECT_THAT(server.Answer(R"({"tell": {"x": 5, "y": 1}, "seconds": 1, "joules": 2})"),
              testing::Not(testing::HasSubstr("error")));
}

TEST(LineServer, RefusesWhatIsNestedTooDeep) {
  const Scenario scenario = SmallScenario("minimize: seconds\n");
  trial::ListStore store;
  Study study(scenario, OptimizerOf(scenario), &store);
  LineServer server(scenario, study);
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  for (const std::string& line :
       {deep, R"({"tell": {"x": 3, "y": 4}, "value": 1, "more": )" + deep + "}"}) {
    EXPECT_EQ(server.Answer(line),
              R"({"error":"expected a JSON object: it is nested more than 500 deep"})");
  }
  EXPECT_TRUE(store.trials.empty());
}

TEST(LineServer, KeepsATrialBeforeItAnswers) {
  const Scenario scenario = SmallScenario("minimize: seconds\n");
  FullStore store;
  Study study(scenario, OptimizerOf(scenario), &store);
  LineServer server(scenario, study);
  EXPECT_THROW((void)server.Answer(R"({"tell": {"x": 3, "y": 4}, "value": 8})"), SystemError);
  EXPECT_EQ(study.trials(), 0);
}

/// x is to be small and y great; what constraints leave of both is the front.
trial::Outcome TwoValues(const space::Configuration& c) {
  trial::Outcome outcome = trial::Outcome::Feasible(c.coordinates[0]);
  outcome.Set("high", c.coordinates[1] - std::abs(c.coordinates[0] - 2));
  return outcome;
}

TEST(Study, KeepsTheParetoSetOfSeveralObjectives) {
  const Scenario scenario = SmallScenario("minimize: low\nmaximize: high\noptimizer: random\n");
  trial::ListStore store;
  Study study(scenario, OptimizerOf(scenario), &store);
  std::vector<StudyTrial> trials;
  for (const space::Configuration& c : study.Ask(60)) {
    ASSERT_TRUE(study.Tell(c, TwoValues(c), 1));
    trials.push_back(*study.last());
  }
  ASSERT_GT(study.front().size(), 1U);
  const std::vector<Objective> objectives = scenario.objectives;
  for (size_t i = 1; i < study.front().size(); ++i) {
    EXPECT_LT(study.front()[i - 1].outcome.value, study.front()[i].outcome.value);
    EXPECT_LT(study.front()[i - 1].outcome.Get("high", 0), study.front()[i].outcome.Get("high", 0));
  }
  for (const StudyTrial& trial : trials) {
    const bool is_covered = std::ranges::any_of(study.front(), [&](const StudyTrial& member) {
      return member.outcome.value <= trial.outcome.value &&
             member.outcome.Get("high", 0) >= trial.outcome.Get("high", 0);
    });
    EXPECT_TRUE(is_covered);
  }
  std::vector<int64_t> online, afterwards;
  for (const StudyTrial& member : study.front()) online.push_back(member.ordinal);
  for (const StudyTrial& member : ParetoSet(trials, objectives)) {
    afterwards.push_back(member.ordinal);
  }
  EXPECT_EQ(online, afterwards);
}

TEST(Study, RefusesAnOutcomeThatLacksAnObjectiveBeforeItIsRecorded) {
  const Scenario scenario = SmallScenario("minimize: [low, high]\n");
  trial::ListStore store;
  Study study(scenario, OptimizerOf(scenario), &store);
  const space::Configuration c = study.Ask(1).at(0);
  EXPECT_THROW(study.Tell(c, trial::Outcome::Feasible(1), 1), InputError);
  EXPECT_EQ(study.trials(), 0);
  EXPECT_TRUE(study.Tell(c, TwoValues(c), 1));
}

/// Trials until the scenario's rules end the search of the bowl.
std::pair<trial::StopReason, int64_t> RunUntilStopped(const std::string& rules) {
  const Scenario scenario = SmallScenario("optimizer: random\n" + rules);
  Study study(scenario, OptimizerOf(scenario));
  const auto evaluator = Jobs(1, Bowl);
  StudyTask task(study, *evaluator);
  run::ScheduledRun<space::Configuration> run(run::RunOptions{});
  run.AddTask(task, {.name = "bowl"});
  const trial::StopReason reason = run.Run();
  return {reason, study.trials() - 1 - study.last_improvement()};
}

TEST(StopRules, ATargetAndAPlateauEndASearch) {
  // The trial that reaches the target is the last one.
  EXPECT_EQ(RunUntilStopped("budget: {target: 3}"),
            std::pair(trial::StopReason::kTarget, int64_t{0}));
  EXPECT_EQ(RunUntilStopped("budget: {plateau: 7}"),
            std::pair(trial::StopReason::kConverged, int64_t{7}));
  EXPECT_EQ(RunUntilStopped("budget: {target: -1}").first, trial::StopReason::kExhausted);
}

TEST(StopRules, SmallGainsDoNotEndAPlateau) {
  const std::vector<Objective> one = {{"speed", true}};
  StopRuleWatch watch({.target = {}, .plateau_trials = 3, .plateau_gain = 0.1}, one);
  watch.Add(pareto::Point{-100}, true);
  for (double speed : {105, 109}) watch.Add(pareto::Point{-speed}, true);
  EXPECT_FALSE(watch.HasConverged());
  watch.Add(pareto::Point{-111}, true);  // together more than a tenth
  watch.Add(std::nullopt, false);
  watch.Add(pareto::Point{-112}, true);
  EXPECT_FALSE(watch.HasConverged());
  watch.Add(pareto::Point{-112}, true);
  EXPECT_TRUE(watch.HasConverged());
}

TEST(StopRules, OneTrialMustReachTheTargetsOfAllObjectives) {
  StopRuleWatch watch({.target = {1, 10}}, {{"low", false}, {"high", true}});
  watch.Add(pareto::Point{0, -9}, true);
  watch.Add(pareto::Point{2, -11}, true);
  EXPECT_FALSE(watch.HasReachedTarget());
  watch.Add(pareto::Point{1, -10}, true);
  EXPECT_TRUE(watch.HasReachedTarget());
}

}  // namespace
}  // namespace bayloom::search
