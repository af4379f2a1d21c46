#include "bayloom/external/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "bayloom/external/line_server.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom {
namespace {

Scenario SmallScenario(const std::string& more = "") {
  return ParseScenario(
      "parameters:\n"
      "  x: {type: integer, range: [0, 9], default: 3}\n"
      "  y: {type: integer, range: [0, 9], default: 4}\n"
      "constraints: [x + y <= 12]\n" +
          more,
      "small.yaml");
}

/// Evaluates by a function of the values; nullopt is passed on.
class FunctionEvaluator final : public ConfigurationEvaluator {
 public:
  using Function = std::function<std::optional<Outcome>(int64_t, int64_t)>;
  FunctionEvaluator(std::shared_ptr<const Space> space, Function function)
      : space_(std::move(space)), function_(std::move(function)) {}
  std::optional<Outcome> Evaluate(const Configuration& configuration,
                                  const std::stop_token&) override {
    return function_(std::get<int64_t>(space_->ValueOf(configuration, 0)),
                     std::get<int64_t>(space_->ValueOf(configuration, 1)));
  }

 private:
  std::shared_ptr<const Space> space_;
  Function function_;
};

std::optional<Outcome> Bowl(int64_t x, int64_t y) {
  if (y == 0) return Outcome::Infeasible(Verdict::kCrash, "y is zero");
  Outcome outcome;
  outcome.value = std::pow(static_cast<double>(x) - 5, 2) + static_cast<double>(y);
  return outcome;
}

std::vector<std::unique_ptr<ConfigurationEvaluator>> Evaluators(
    const Scenario& scenario, int count, const FunctionEvaluator::Function& function) {
  std::vector<std::unique_ptr<ConfigurationEvaluator>> evaluators;
  for (int i = 0; i < count; ++i) {
    evaluators.push_back(std::make_unique<FunctionEvaluator>(scenario.space, function));
  }
  return evaluators;
}

std::unique_ptr<Optimizer> OptimizerOf(const Scenario& scenario) {
  return MakeOptimizer(scenario.optimizer, scenario.space, scenario.optimizer_options);
}

TEST(Search, TriesEveryConfigurationOnceAndRecordsBeforeItLearns) {
  const Scenario scenario = SmallScenario("optimizer: random\n");
  for (const int jobs : {1, 3}) {
    std::vector<SearchTrial> recorded;
    Search search(scenario, OptimizerOf(scenario),
                  [&](const SearchTrial& trial) { recorded.push_back(trial); });
    std::set<std::vector<double>> tried;
    const SearchEnd end = RunSearch(search, Evaluators(scenario, jobs, Bowl), {}, [&] {
      EXPECT_EQ(static_cast<int64_t>(recorded.size()), search.trials());
      EXPECT_TRUE(tried.insert(search.last()->configuration.coordinates).second);
    });
    EXPECT_EQ(end, SearchEnd::kExhausted);
    EXPECT_EQ(static_cast<double>(search.trials()), scenario.space->CountFeasible());
    EXPECT_EQ(search.trials() - search.feasible_trials(), 10);
    ASSERT_TRUE(search.best());
    EXPECT_EQ(search.best()->outcome.value, 1);
    // The scenario's default comes first.
    if (jobs == 1) {
      EXPECT_EQ(recorded[0].configuration.coordinates, (std::vector<double>{3, 4}));
    }
    for (size_t i = 0; i < recorded.size(); ++i) {
      EXPECT_EQ(recorded[i].ordinal, static_cast<int64_t>(i));
    }
  }
}

TEST(Search, MaximizesWhatIsToBeMaximized) {
  const Scenario scenario = SmallScenario("maximize: height\noptimizer: bayesian\n");
  Search search(scenario, OptimizerOf(scenario), [](const SearchTrial&) {});
  RunSearch(search, Evaluators(scenario, 1, Bowl), {.trials = 40, .seconds = {}, .stop = {}},
            [] {});
  EXPECT_EQ(search.trials(), 40);
  ASSERT_TRUE(search.best());
  // x = 0 and y = 9 give 34, the greatest of 85.
  EXPECT_GE(search.best()->outcome.value, 30);
}

TEST(Search, KeepsToItsLimits) {
  const Scenario scenario = SmallScenario();
  const auto slow = [](int64_t x, int64_t y) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return Bowl(x, y);
  };
  Search by_time(scenario, OptimizerOf(scenario), [](const SearchTrial&) {});
  EXPECT_EQ(RunSearch(by_time, Evaluators(scenario, 2, slow),
                      {.trials = {}, .seconds = 0.2, .stop = {}}, [] {}),
            SearchEnd::kTime);
  EXPECT_LT(by_time.trials(), 60);
  std::atomic<bool> stop = false;
  Search stopped(scenario, OptimizerOf(scenario), [](const SearchTrial&) {});
  EXPECT_EQ(RunSearch(stopped, Evaluators(scenario, 2, slow),
                      {.trials = {}, .seconds = {}, .stop = [&] { return stop.load(); }},
                      [&] { stop = stopped.trials() >= 3; }),
            SearchEnd::kStopped);
  EXPECT_LT(stopped.trials(), 10);
}

TEST(Search, GoesOnWhereItWas) {
  const Scenario scenario = SmallScenario("optimizer: random\n");
  std::vector<SearchTrial> recorded;
  const auto record = [&](const SearchTrial& trial) { recorded.push_back(trial); };
  Search first(scenario, OptimizerOf(scenario), record);
  RunSearch(first, Evaluators(scenario, 1, Bowl), {.trials = 20, .seconds = {}, .stop = {}}, [] {});
  ASSERT_EQ(recorded.size(), 20u);
  Search second(scenario, OptimizerOf(scenario), record);
  for (const SearchTrial& trial : std::vector<SearchTrial>(recorded)) second.Recall(trial);
  EXPECT_EQ(recorded.size(), 20u);
  EXPECT_EQ(second.best()->outcome.value, first.best()->outcome.value);
  EXPECT_GE(second.elapsed(), recorded.back().elapsed);
  RunSearch(second, Evaluators(scenario, 1, Bowl), {}, [] {});
  std::set<std::vector<double>> tried;
  for (const SearchTrial& trial : recorded) {
    EXPECT_TRUE(tried.insert(trial.configuration.coordinates).second);
  }
  EXPECT_EQ(static_cast<double>(tried.size()), scenario.space->CountFeasible());
}

TEST(Search, PassesOnWhatTheRecorderThrows) {
  const Scenario scenario = SmallScenario();
  Search search(scenario, OptimizerOf(scenario),
                [](const SearchTrial&) { throw InputError("the disk is full"); });
  EXPECT_THROW(RunSearch(search, Evaluators(scenario, 2, Bowl), {}, [] {}), InputError);
  EXPECT_EQ(search.trials(), 0);
}

TEST(LineServer, AsksAndTells) {
  const Scenario scenario = SmallScenario("minimize: seconds\nbudget: {trials: 4}\n");
  Search search(scenario, OptimizerOf(scenario), [](const SearchTrial&) {});
  LineServer server(scenario, search);
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
  EXPECT_EQ(search.feasible_trials(), 2);
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
  EXPECT_EQ(search.trials(), 4);
}

}  // namespace
}  // namespace bayloom
