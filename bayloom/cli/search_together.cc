#include "bayloom/cli/search_together.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "bayloom/base/result.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/cli/duration.h"
#include "bayloom/cli/scenario_option.h"
#include "bayloom/report/format.h"
#include "bayloom/report/search_progress.h"
#include "bayloom/report/search_report.h"
#include "bayloom/report/table.h"
#include "bayloom/tuning/recorded_search.h"
#include "bayloom/tuning/shared_search.h"

namespace bayloom {
namespace {

using Evaluators = std::vector<std::unique_ptr<ConfigurationEvaluator>>;

/// One scenario with what it takes to search it.
struct Member {
  const Scenario* scenario;
  Evaluators evaluators;
  std::unique_ptr<SearchRecords> records;
  std::unique_ptr<RecordedSearch> recorded;
};

Member MakeMember(const Scenario& scenario, const TogetherOptions& options) {
  ScenarioOption where;
  where.database = options.database;
  Member member;
  member.scenario = &scenario;
  member.evaluators = MakeEvaluators(scenario.space, scenario.evaluator, options.jobs);
  member.records = std::make_unique<SearchRecords>(where.DatabaseFor(scenario));
  member.recorded = std::make_unique<RecordedSearch>(scenario, *member.records, options.resume);
  return member;
}

std::vector<SharedSearchTask> TasksOf(const std::vector<Member>& members,
                                      const TogetherOptions& options) {
  std::vector<SharedSearchTask> tasks;
  for (size_t i = 0; i < members.size(); ++i) {
    const Member& member = members[i];
    tasks.push_back(
        {member.scenario->name, options.weights.empty() ? 1 : options.weights[i],
         &member.recorded->search(), member.evaluators, member.scenario->max_trials,
         ReadSearchTrials(*member.scenario->space, *member.records, member.recorded->record().id)});
    // A budget of all together replaces those of each.
    if (options.trials || !options.time.empty()) tasks.back().max_trials = std::nullopt;
  }
  return tasks;
}

Table ResultTable(const std::vector<Member>& members, const SharedSearch& search) {
  Table table({"scenario", "weight", "slots", "trials", "objective", "best", "first / best"});
  for (size_t i = 0; i < members.size(); ++i) {
    const TaskProgress& progress = search.progress()[i];
    const auto& best = members[i].recorded->search().best();
    const double value = best ? best->outcome.value : std::numeric_limits<double>::quiet_NaN();
    table.AddRow({progress.name,
                  {progress.weight, fmt::format("{:g}", progress.weight)},
                  progress.slots(),
                  progress.trials(),
                  members[i].scenario->objective,
                  {value, FormatValue(value)},
                  {1 / progress.best(), FormatRatio(best ? 1 / progress.best() : std::nan(""))}});
  }
  return table;
}

void PrintResult(const std::vector<Member>& members, const SharedSearch& search,
                 const TogetherOptions& options) {
  if (!options.json) {
    fmt::print("\n{}", ResultTable(members, search).Text());
    return;
  }
  nlohmann::json shown = {{"scheduler", options.scheduler},
                          {"scenarios", nlohmann::json::array()},
                          {"slots", nlohmann::json::array()}};
  for (size_t i = 0; i < members.size(); ++i) {
    shown["scenarios"].push_back(
        SearchSummary(*members[i].scenario, members[i].recorded->search()));
    shown["scenarios"].back()["weight"] = search.progress()[i].weight;
  }
  for (int choice : search.choices()) shown["slots"].push_back(members[choice].scenario->name);
  fmt::print("{}\n", shown.dump(2));
}

void Check(const std::vector<Scenario>& scenarios, const TogetherOptions& options) {
  if (!options.weights.empty() && options.weights.size() != scenarios.size()) {
    throw InputError(
        fmt::format("--weights: {} for {} scenarios", options.weights.size(), scenarios.size()));
  }
  std::set<std::string> names;
  for (const Scenario& scenario : scenarios) {
    if (!names.insert(scenario.name).second) {
      throw InputError(
          fmt::format("two scenarios are named '{}': give one another 'name'", scenario.name));
    }
  }
}

}  // namespace

void SearchTogether(const std::vector<Scenario>& scenarios, const TogetherOptions& options) {
  Check(scenarios, options);
  std::vector<Member> members;
  for (const Scenario& scenario : scenarios) members.push_back(MakeMember(scenario, options));
  CatchStopSignals();
  SharedSearchOptions shared;
  shared.scheduler = options.scheduler;
  shared.seed = options.seed;
  shared.trials_per_slot = options.trials_per_slot;
  shared.max_trials = options.trials;
  if (!options.time.empty()) shared.max_seconds = ParseDuration(options.time, "--time");
  shared.stop = StopRequested;
  SharedSearch search(TasksOf(members, options), shared);
  fmt::print(stderr, "{} {} scenarios together, {} scheduler, slots of {} trials\n",
             options.resume ? "Resuming" : "Searching", scenarios.size(), options.scheduler,
             options.trials_per_slot);
  std::map<int, int64_t> shown;  // the best trial that was shown of each
  const SearchEnd end = search.Run([&](int task) {
    const Search& turn = members[task].recorded->search();
    if (!turn.best() || shown[task] == turn.best()->ordinal + 1) return;
    shown[task] = turn.best()->ordinal + 1;
    fmt::print(stderr, "{:>7} trials  {:<30} {} = {}\n", search.trials(),
               members[task].scenario->name, members[task].scenario->objective,
               FormatValue(turn.best()->outcome.value));
  });
  if (end != SearchEnd::kStopped) {
    for (const Member& member : members) member.recorded->Finish();
  }
  PrintResult(members, search, options);
}

}  // namespace bayloom
