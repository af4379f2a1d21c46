// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bayloom/base/result.h"
#include "bayloom/search/context_table.h"
#include "bayloom/search/context_tree.h"
#include "bayloom/search/durable_study.h"
#include "bayloom/search/scenario.h"
#include "bayloom/search/scenario_search.h"
#include "tests/message_of.h"
#include "tests/temporary_folder.h"

namespace bayloom::search {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kTiles = R"(
name: tiles
parameters: {tile: [8, 16, 32], level: [-O2, -O3]}
contexts: {M: [1, 64, 4096], layout: [row, column]}
constraints: [tile <= 8 * M]
known: [{tile: 8, level: -O3}, {tile: 32, level: -O2, M: 64}]
minimize: seconds
evaluator: {command: './run {tile} {level} {M} {layout}'}
budget: {trials: 60, time: 1m}
)";

TEST(Contexts, AreScenariosOfTheirOwn) {
  const Scenario scenario = ParseScenario(kTiles, "tiles.yaml");
  EXPECT_EQ(scenario.space->size(), 4);
  EXPECT_EQ(scenario.max_trials, 60);
  ASSERT_EQ(scenario.contexts.size(), 6u);
  const Scenario& third = scenario.contexts[2];
  EXPECT_EQ(third.name, "tiles M=64 layout=row");
  EXPECT_EQ(third.text, scenario.text);
  EXPECT_EQ(third.max_trials, std::nullopt);
  EXPECT_EQ(third.space->parameter(2).Describe(), "ordinal {64}");
  EXPECT_THAT(third.task, ElementsAre(testing::Pair("M", 64)));
  EXPECT_EQ(third.space->CountFeasible(), 6);
  EXPECT_EQ(scenario.contexts[0].space->CountFeasible(), 2) << "the constraint names M";
  EXPECT_EQ(third.known.size(), 2u);
  EXPECT_EQ(scenario.contexts[0].known.size(), 1u) << "the other one is of M=64";
  const optimizer::ContextOptions& context = *third.optimizer_options.context;
  EXPECT_EQ(context.joint, scenario.space);
  EXPECT_THAT(context.places, ElementsAre(2, 3));
  EXPECT_THAT(context.coordinates, ElementsAre(1, 0));
}

TEST(Contexts, AreReadAgainByTheirName) {
  const Scenario one = ParseScenario(kTiles, "tiles.yaml", "tiles M=4096 layout=column");
  EXPECT_EQ(one.space->parameter(2).Describe(), "ordinal {4096}");
  EXPECT_TRUE(one.contexts.empty());
  EXPECT_EQ(ParseScenario(kTiles, "tiles.yaml", "else").contexts.size(), 6u);
}

TEST(Contexts, AreSizesOfAKernel) {
  const Scenario scenario = ParseScenario(
      "parameters: {tile: [8, 16]}\ncontexts: {n: [10, 20]}\n"
      "evaluator: {kernel: a.c, arguments: ['inout float x[n][k]', int n], sizes: {k: 3}}",
      "a.yaml");
  const auto& size = scenario.contexts[1].evaluator.kernel->sizes.at(0);
  EXPECT_EQ(space::ToString(size.at("n")), "20");
  EXPECT_EQ(space::ToString(size.at("k")), "3");
}

TEST(Contexts, RefuseWhatTheyCannotBe) {
  const auto refusal = [](const std::string& contexts, const std::string& more = "") {
    return MessageOf([&] {
      ParseScenario("parameters: {tile: [8, 16]}\n" + more + "contexts: " + contexts, "a.yaml");
    });
  };
  EXPECT_THAT(refusal("{}"), HasSubstr("at least one context"));
  EXPECT_THAT(refusal("{M: 7}"), HasSubstr("a.yaml:2:15: contexts.M: expected a list"));
  EXPECT_THAT(refusal("{M: [1, 1]}"), HasSubstr("contexts.M"));
  EXPECT_THAT(refusal("{tile: [1, 2]}"), HasSubstr("tile"));
  EXPECT_THAT(refusal("{M: [1, 2]}", "fidelity: {parameter: f, values: [1, 2]}\n"),
              HasSubstr("no fidelities"));
  const Scenario scenario = ParseScenario(kTiles, "tiles.yaml");
  EXPECT_THAT(MessageOf([&] {
                const Study study(scenario, optimizer::MakeOptimizer("random", scenario.space, {}));
              }),
              HasSubstr("'tiles' has contexts"));
}

/// Recorded values of x = 0 .. 19 in contexts 1, 2, 4, ..: the best x grows with the context.
class RecordedContextsTest : public testing::Test {
 protected:
  static double ValueAt(int x, int size) {
    return size * (1 + 0.05 * std::abs(x - 4 * std::log2(size)));
  }
  RecordedContextsTest() {
    nlohmann::json results = nlohmann::json::array();
    for (const int size : {1, 2, 4, 8, 16}) {
      for (int x = 0; x < 20; ++x) {
        results.push_back({{"configuration", {{"x", x}, {"size", size}}},
                           {"objectives", {"time"}},
                           {"invalidity", x == 19 ? "runtime" : "correct"},
                           {"measurements", {{{"name", "time"}, {"value", ValueAt(x, size)}}}}});
      }
    }
    std::ofstream(folder_ / "space.json") << nlohmann::json{{"results", results}};
    scenario_ = ParseScenario(
        "name: line\nparameters: {x: {type: integer, range: [0, 19]}}\n"
        "contexts: {size: [1, 2, 4, 8, 16]}\nminimize: time\n"
        "evaluator: {recorded: space.json}",
        folder_ / "line.yaml");
  }
  std::vector<SearchMember> Members() const {
    std::vector<SearchMember> members;
    for (const Scenario& context : scenario_.contexts) {
      members.push_back({context, folder_ / "line.db"});
    }
    return members;
  }
  SearchOptions Options(int64_t trials) const {
    SearchOptions options;
    options.run.budget.trials = trials;
    return options;
  }

  TemporaryFolder folder_;
  Scenario scenario_;
};

TEST_F(RecordedContextsTest, ShareABudgetAndMakeATable) {
  ScenarioSearch search(Members(), Options(50));
  EXPECT_TRUE(search.AreContexts());
  EXPECT_EQ(search.Run(), trial::StopReason::kTrials);
  const ContextTable table = TableOf(search, "line");
  ASSERT_EQ(table.rows.size(), 5u);
  EXPECT_THAT(table.contexts, ElementsAre("size"));
  EXPECT_EQ(table.rows[2].name, "size=4");
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(table.rows[i].trials, 10) << "in turns";
    ASSERT_TRUE(table.rows[i].best);
    EXPECT_LE(std::abs(table.rows[i].best->coordinates[0] - 4 * i), 1);
  }
  EXPECT_EQ(table.ValuesOf(*table.rows[0].best).size(), 1u) << "the context is left out";

  // A tree may have a leaf for each; with fewer it loses more, and never what it does not say.
  double before = 1;
  for (const int leaves : {5, 3, 2, 1}) {
    const ContextTree tree = MakeContextTree(table, leaves);
    EXPECT_LE(tree.Leaves(), leaves);
    EXPECT_GE(tree.MeanLoss(), before - 1e-3);
    before = tree.MeanLoss();
    for (size_t row = 0; row < 5; ++row) {
      if (!tree.losses[row]) continue;
      const double x = table.candidates[tree.chosen[row]].configuration.coordinates[0];
      EXPECT_NEAR(*tree.losses[row], ValueAt(static_cast<int>(x), 1 << row) / table.rows[row].value,
                  1e-9);
    }
  }
}

TEST_F(RecordedContextsTest, GoOnAfterAnInterruption) {
  { ScenarioSearch(Members(), Options(20)).Run(); }
  SearchOptions options = Options(50);
  options.resume = true;
  ScenarioSearch search(Members(), options);
  EXPECT_TRUE(search.resumed(3));
  EXPECT_EQ(search.Status().trials, 20);
  search.Run();
  EXPECT_EQ(search.study(3).trials(), 10);
  // What the database has of one of them is that context.
  record::Store store(folder_ / "line.db", record::Store::Mode::kReadOnly);
  const auto run = store.LastRun(record::RunKind::kSearch, "line size=8");
  ASSERT_TRUE(run);
  EXPECT_EQ(ScenarioOf(*run).space->parameter(1).Describe(), "ordinal {8}");
}

TEST_F(RecordedContextsTest, MayHaveAFileEach) {
  for (const int size : {1, 2}) {
    nlohmann::json results;
    for (int x = 0; x < 3; ++x) {
      results.push_back({{"configuration", {{"x", x}}},
                         {"objectives", {"time"}},
                         {"invalidity", "correct"},
                         {"measurements", {{{"name", "time"}, {"value", size * (x + 1)}}}}});
    }
    std::ofstream(folder_ / ("of_" + std::to_string(size) + ".json"))
        << nlohmann::json{{"results", results}};
  }
  scenario_ = ParseScenario(
      "parameters: {x: [0, 1, 2]}\ncontexts: {size: [1, 2]}\nminimize: time\n"
      "evaluator: {recorded: 'of_{size}.json'}",
      folder_ / "each.yaml");
  ScenarioSearch search(Members(), Options(6));
  search.Run();
  EXPECT_EQ(search.study(0).best()->outcome.value, 1);
  EXPECT_EQ(search.study(1).best()->outcome.value, 2);
}

TEST(ContextTree, AvoidsWhatFailsAndSaysWhatItDoesNotKnow) {
  const Scenario scenario =
      ParseScenario("parameters: {x: [0, 1, 2]}\ncontexts: {n: [1, 2, 4]}", "a.yaml");
  constexpr double kFails = std::numeric_limits<double>::infinity();
  ContextTable table;
  table.name = "a";
  table.contexts = {"n"};
  table.joint = scenario.space;
  for (int i = 0; i < 3; ++i) {
    table.rows.push_back({.name = "n=" + std::to_string(1 << i),
                          .place = {i},
                          .best = space::Configuration{{static_cast<double>(i), 0}},
                          .value = 1});
  }
  table.candidates = {{{{0, 0}}, {1, kFails, 1.5}},
                      {{{1, 0}}, {1.2, 1, std::nullopt}},
                      {{{2, 0}}, {std::nullopt, kFails, 1}}};
  const ContextTree three = MakeContextTree(table, 3);
  EXPECT_EQ(three.Leaves(), 3);
  EXPECT_DOUBLE_EQ(three.MeanLoss(), 1);
  const ContextTree two = MakeContextTree(table, 2);
  EXPECT_THAT(two.chosen, ElementsAre(1, 1, 2));
  int row = -1;
  EXPECT_DOUBLE_EQ(two.WorstLoss(row), 1.2);
  EXPECT_EQ(row, 0);
  const ContextTree one = MakeContextTree(table, 1);
  EXPECT_THAT(one.chosen, ElementsAre(1, 1, 1)) << "the others fail somewhere";
  EXPECT_EQ(one.Unknown(table), 1);
  table.candidates.erase(table.candidates.begin() + 1);
  EXPECT_THAT(MessageOf([&] { MakeContextTree(table, 1); }),
              HasSubstr("no tree of 1 leaves works"));
  table.candidates.clear();
  EXPECT_THAT(MessageOf([&] { MakeContextTree(table, 1); }), HasSubstr("nothing worked"));
}

}  // namespace
}  // namespace bayloom::search
