#include "bayloom/tuning/shared_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "bayloom/base/result.h"
#include "bayloom/external/scenario.h"

namespace bayloom {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(RelativeCostTest, ComparesWithTheFirstValueWhateverUnitAndGoal) {
  EXPECT_EQ(RelativeCost(3, 6, /*maximize=*/false), 0.5);
  EXPECT_EQ(RelativeCost(12, 6, false), 2);
  EXPECT_EQ(RelativeCost(12, 6, /*maximize=*/true), 0.5);
  EXPECT_EQ(RelativeCost(3, 6, true), 2);
  EXPECT_EQ(RelativeCost(-12, -6, false), 0.5);
  EXPECT_EQ(RelativeCost(-3, -6, true), 0.5);
}

TEST(RelativeCostTest, OrdersWhatHasNoRatio) {
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

/// Looks a value up in a function of x.
class FunctionEvaluator final : public ConfigurationEvaluator {
 public:
  FunctionEvaluator(std::shared_ptr<const Space> space, std::function<Outcome(double)> function)
      : space_(std::move(space)), function_(std::move(function)) {}
  std::optional<Outcome> Evaluate(const Configuration& configuration,
                                  const std::stop_token&) override {
    return function_(std::stod(ToString(space_->ValueOf(configuration, 0))));
  }

 private:
  std::shared_ptr<const Space> space_;
  std::function<Outcome(double)> function_;
};

Outcome Value(double value) {
  Outcome outcome;
  outcome.value = value;
  return outcome;
}

class SharedSearchTest : public testing::Test {
 protected:
  /// A search over x = 0 .. 9999.
  void Add(const std::string& name, std::function<Outcome(double)> function, double weight = 1,
           std::vector<SearchTrial> earlier = {}) {
    scenarios_.push_back(ParseScenario("name: " + name +
                                           "\nparameters: {x: {type: integer, range: [0, 9999]}}\n"
                                           "minimize: value\noptimizer: random\n",
                                       name));
    const Scenario& scenario = scenarios_.back();
    OptimizerOptions options;
    options.seed = scenarios_.size() + 100 * earlier.size();
    searches_.emplace_back(scenario, MakeOptimizer("random", scenario.space, options),
                           [](const SearchTrial&) {});
    for (const SearchTrial& trial : earlier) searches_.back().Recall(trial);
    evaluators_.emplace_back();
    evaluators_.back().push_back(
        std::make_unique<FunctionEvaluator>(scenario.space, std::move(function)));
    tasks_.push_back({name, weight, &searches_.back(), evaluators_.back(), std::nullopt, earlier});
  }

  std::deque<Scenario> scenarios_;
  std::deque<Search> searches_;
  std::deque<std::vector<std::unique_ptr<ConfigurationEvaluator>>> evaluators_;
  std::vector<SharedSearchTask> tasks_;
};

/// Falls over five orders of magnitude as x nears a point.
Outcome Steep(double x) { return Value(1 + std::abs(x - 4321)); }
Outcome Flat(double) { return Value(7); }

TEST_F(SharedSearchTest, SpendsTheCommonBudgetWhereItHelps) {
  Add("flat", Flat);
  int n = 0;
  Add(
      "falling", [&](double) { return Value(10 + 4500.0 / (45 + ++n)); }, /*weight=*/5);
  SharedSearch search(tasks_, {.max_trials = 323});
  int observed = 0;
  EXPECT_EQ(search.Run([&](int) { ++observed; }), SearchEnd::kTrials);
  EXPECT_EQ(observed, 323);
  EXPECT_EQ(search.trials(), 323);
  EXPECT_EQ(searches_[0].trials() + searches_[1].trials(), 323);
  EXPECT_EQ(search.progress()[0].best(), 1);
  EXPECT_LT(search.progress()[1].best(), 0.5);
  EXPECT_GT(searches_[1].trials(), searches_[0].trials());
}

TEST_F(SharedSearchTest, GoesOnWhereEarlierRunsEnded) {
  std::vector<SearchTrial> earlier;
  Add("steep", Steep);
  for (const Configuration& x : searches_[0].Ask(20)) {
    earlier.push_back({std::ssize(earlier), x, Value(50.0 - static_cast<double>(earlier.size())),
                       0.5 * static_cast<double>(earlier.size())});
  }
  tasks_.clear();
  Add("again", Steep, 1, earlier);
  Add("flat", Flat);
  SharedSearch search(tasks_, {.scheduler = "round-robin", .max_trials = 60});
  EXPECT_EQ(search.trials(), 20);
  EXPECT_EQ(search.progress()[0].slot_ends, (std::vector<int>{8, 16, 20}));
  EXPECT_DOUBLE_EQ(search.progress()[0].best(), 31.0 / 50);
  EXPECT_EQ(search.Run([](int) {}), SearchEnd::kTrials);
  EXPECT_EQ(search.trials(), 60);
  EXPECT_EQ(search.choices(), (std::vector<int>{1, 1, 1, 0, 1}));
}

TEST_F(SharedSearchTest, EndsWhenEachHasItsOwnLimitOrTheTimeIsUpOrItIsStopped) {
  Add("flat", Flat);
  Add("steep", Steep);
  for (SharedSearchTask& task : tasks_) task.max_trials = 20;
  SharedSearch limited(tasks_, {});
  EXPECT_EQ(limited.Run([](int) {}), SearchEnd::kExhausted);
  EXPECT_EQ(limited.trials(), 40);
  SharedSearch late(tasks_, {.max_seconds = 0});
  EXPECT_EQ(late.Run([](int) {}), SearchEnd::kTime);
  SharedSearch stopped(tasks_, {.stop = [] { return true; }});
  EXPECT_EQ(stopped.Run([](int) {}), SearchEnd::kStopped);
}

TEST_F(SharedSearchTest, BearsScenariosThatOnlyFail) {
  Add("broken", [](double) { return Outcome::Infeasible(Verdict::kCrash, "always"); });
  Add("steep", Steep);
  SharedSearch search(tasks_, {.max_trials = 64});
  EXPECT_EQ(search.Run([](int) {}), SearchEnd::kTrials);
  EXPECT_EQ(search.progress()[0].best(), kInfinity);
  EXPECT_LT(search.progress()[1].best(), 1);
}

}  // namespace
}  // namespace bayloom
