// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/App.hpp>
#include <set>
#include <string>

#include "bayloom/cli/options/design_options.h"
#include "bayloom/cli/options/map_options.h"
#include "bayloom/cli/options/search_options.h"
#include "bayloom/cli/options/tune_options.h"
#include "tests/accelerator/small_design_space.h"

namespace bayloom::cli {
namespace {

using testing::ElementsAre;

/// Parses a command line that gives each option of a command but those of `elsewhere`, which are no
/// options of the search, so that an option that is added comes here, too.
template <typename Arguments>
Arguments ParseAll(void (*add)(Arguments&, CLI::App&), const std::string& line,
                   const std::set<std::string>& elsewhere) {
  Arguments arguments;
  CLI::App app;
  app.set_help_flag();
  add(arguments, app);
  app.parse(line);
  for (const CLI::Option* option : app.get_options()) {
    const bool is_expected = option->count() > 0 || elsewhere.contains(option->get_name());
    EXPECT_TRUE(is_expected) << option->get_name() << " is not tested";
  }
  return arguments;
}

/// What each of these commands is told of its run.
void ExpectRun(const run::RunOptions& run, const std::string& scheduler) {
  EXPECT_EQ(run.budget.trials, 7);
  EXPECT_EQ(run.budget.seconds, 90);
  EXPECT_EQ(run.scheduler, scheduler);
  EXPECT_EQ(run.seed, 5u);
}

TEST(Options, OfTuneReachTheirFields) {
  const TuneArguments arguments =
      ParseAll(AddTuneOptions,
               "--trials 7 --time 90s --scheduler round-robin --seed 5 --until-gain 3%/min "
               "--strategy random --objective latency,size --derivations none --divisions none "
               "--learn-from model.bin --resume",
               {"model",
                "--op",
                "--dim",
                "--bound",
                "--sizes",
                "--shape",
                "--freeze",
                "--last-row",
                "--cache",
                "--activations",
                "--partial",
                "--db",
                "--json",
                "--workers",
                "--ray",
                "--ray-command",
                "--sandbox",
                "--precision",
                "--precision-tolerance",
                "--no-store",
                "--target",
                "--threads",
                "--device"});
  const tuning::TuneOptions options = arguments.Options();
  ExpectRun(options.run, "round-robin");
  EXPECT_DOUBLE_EQ(options.run.until_gain_per_minute, 0.03);
  EXPECT_EQ(options.strategy, "random");
  EXPECT_EQ(options.objectives, "latency,size");
  EXPECT_EQ(options.derivations, "none");
  EXPECT_EQ(options.divisions, "none");
  EXPECT_EQ(options.learn_from, (run::LearnFrom{.files = {"model.bin"}}));
  EXPECT_TRUE(options.resume);
}

TEST(Options, OfSearchReachTheirFields) {
  const SearchArguments arguments =
      ParseAll(AddSearchOptions,
               "a.yaml b.yaml --trials 7 --time 90s --scheduler round-robin --batch 3 --seed 5 "
               "--jobs 4 --repeat-best 2 --rounds 6 --resume --emit a.json --emit b.h --leaves 3",
               {"--optimizer",    "--db",
                "--workers",      "--ray",
                "--ray-command",  "--sandbox",
                "--command",      "--recorded",
                "--learn-from",   "--transfer-method",
                "--until-value",  "--until-plateau",
                "--plateau-gain", "--weights",
                "--out",          "--csv",
                "--json",         "--param",
                "--arg",          "--size",
                "--constraint",   "--function",
                "--compiler",     "--flags",
                "--reference",    "--problem-size",
                "--context"});
  const std::vector<search::SearchMember> members(2);
  const search::SearchOptions options = arguments.Options(members);
  ExpectRun(options.run, "round-robin");
  EXPECT_EQ(options.run.trials_per_slot, 3);
  EXPECT_EQ(options.jobs, 4);
  EXPECT_EQ(options.repeat.candidates, 2);
  EXPECT_EQ(options.repeat.rounds, 6);
  EXPECT_TRUE(options.resume);
  EXPECT_THAT(arguments.contexts.files, ElementsAre("a.json", "b.h"));
  EXPECT_EQ(arguments.contexts.max_leaves, 3);
}

TEST(Options, ASingleScenarioHasItsOwnBudget) {
  SearchArguments arguments;
  std::vector<search::SearchMember> members(1);
  members[0].scenario.max_trials = 11;
  members[0].scenario.max_seconds = 13;
  const run::RunOptions run = arguments.Options(members).run;
  EXPECT_EQ(run.budget.trials, 11);
  EXPECT_EQ(run.budget.seconds, 13);
}

TEST(Options, OfMapReachTheirFields) {
  const MapArguments arguments = ParseAll(
      AddMapOptions,
      "--evaluations 7 --time 90s --scheduler round-robin --seed 5 --objective energy,delay "
      "--victory 17 --mapper bayesian --db map.db --resume --evaluator timeloop --jobs 4 "
      "--arch gemmini --mappings uneven --sandbox --timeout 3s --counting timeloop --learn-from "
      "a.db "
      "--transfer-method "
      "weighted "
      "--warm-start-model 9 --top-k 2 --why --tile-encoding integer --order-encoding ranking",
      {"model",         "--bound",     "--dim",         "--sizes",
       "--shape",       "--freeze",    "--last-row",    "--cache",
       "--activations", "--op",        "--problem",     "--arch",
       "--constraints", "--define",    "--density",     "--sparse",
       "--occupancy",   "--word-bits", "--mapping",     "--check",
       "--certificate", "--fuse",      "--cores",       "--tile-evaluations",
       "--workers",     "--ray",       "--ray-command", "--out",
       "--json"});
  const accelerator::MapOptions options = arguments.Options(1);
  ExpectRun(options.search.run, "round-robin");
  EXPECT_THAT(options.search.objectives,
              ElementsAre(mapspace::MapObjective::kEnergy, mapspace::MapObjective::kDelay));
  EXPECT_EQ(options.search.victory, 17);
  EXPECT_EQ(options.search.tiles, "integer");
  EXPECT_EQ(options.search.orders, "ranking");
  EXPECT_EQ(options.search.transfer, "weighted");
  EXPECT_EQ(options.search.top_k, 2);
  EXPECT_EQ(options.mapper, "bayesian");
  EXPECT_EQ(options.database, "map.db");
  EXPECT_TRUE(options.resume);
  EXPECT_EQ(options.evaluator, "timeloop");
  EXPECT_EQ(options.simulator.jobs, 4);
  EXPECT_TRUE(options.simulator.sandbox);
  EXPECT_EQ(options.simulator.timeout_seconds, 3);
  EXPECT_EQ(options.counting, mapspace::ReuseCounting::kTimeloop);
  EXPECT_EQ(options.mappings, mapspace::MappingKind::kUneven);
  EXPECT_EQ(options.learn_from, (run::LearnFrom{.files = {"a.db"}}));
  EXPECT_EQ(options.rehearsal, 9);
}

TEST(Options, OfDesignReachTheirFields) {
  const DesignArguments arguments =
      ParseAll(AddDesignOptions,
               "chip.yaml --trials 7 --time 90s --seed 5 --objective edp,area "
               "--budget area=2mm2,cycles=9 --technology 7nm --evaluations 19 --optimizer random "
               "--db chips.db --resume --jobs 4",
               {"--networks", "--op", "--compare", "--designs", "--workers", "--ray",
                "--ray-command", "--out", "--json"});
  const accelerator::DesignOptions options = arguments.Options(
      accelerator::DesignSpace::Parse(accelerator::kSmallDesignSpace, "small.yaml"));
  ExpectRun(options.run, "");
  EXPECT_EQ(options.evaluation.objectives.size(), 2u);
  EXPECT_EQ(options.evaluation.limits.area_mm2, 2);
  EXPECT_EQ(options.evaluation.limits.cycles, 9);
  EXPECT_EQ(options.evaluation.evaluations, 19);
  EXPECT_EQ(options.technology, "7nm");
  EXPECT_EQ(options.optimizer, "random");
  EXPECT_EQ(options.database, "chips.db");
  EXPECT_TRUE(options.resume);
  EXPECT_EQ(options.jobs, 4);
}

}  // namespace
}  // namespace bayloom::cli
