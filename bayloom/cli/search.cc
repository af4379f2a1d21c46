// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/cli/internal/at_least_one.h"
#include "bayloom/cli/internal/commands.h"
#include "bayloom/cli/internal/run_options.h"
#include "bayloom/cli/internal/scenario_option.h"
#include "bayloom/external/recorded_space.h"
#include "bayloom/external/scenario_overrides.h"
#include "bayloom/report/format.h"
#include "bayloom/report/progress_columns.h"
#include "bayloom/report/search_report.h"
#include "bayloom/scheduling/task_scheduler.h"
#include "bayloom/tuning/earlier_searches.h"
#include "bayloom/tuning/scenario_search.h"

namespace bayloom::cli {
namespace {

constexpr int64_t kDefaultTrials = 100;

struct SearchArguments {
  ScenarioOption scenario;
  std::vector<std::string> others;  ///< scenarios that share the budget with the first
  std::vector<double> weights;
  tuning::SearchOptions options;
  std::string command;
  std::string recorded;
  std::vector<std::string> transfer;  ///< databases
  std::string transfer_method = "weighted";
  std::string out;
  std::string csv;
  std::string chart;
  bool json = false;
};

/// What --transfer's databases teach the optimizer beforehand.
void Learn(const SearchArguments& arguments, external::Scenario& scenario) {
  if (scenario.optimizer != "bayesian") {
    throw InputError("--transfer: only the bayesian optimizer learns from earlier searches, not " +
                     scenario.optimizer);
  }
  optimizer::TransferOptions& transfer = scenario.optimizer_options.transfer;
  transfer = tuning::LearnFromSearches(
      arguments.transfer, optimizer::ParseTransferMethod(arguments.transfer_method), scenario);
  if (transfer.tasks.empty()) {
    throw InputError(fmt::format(
        "--transfer: there is no earlier search for '{}' of another scenario with parameters of "
        "the same names",
        scenario.objective));
  }
}

external::Scenario LoadWithOverrides(const SearchArguments& arguments) {
  external::Scenario scenario = arguments.scenario.Load();
  if (!arguments.command.empty()) external::OverrideCommand(arguments.command, scenario);
  if (!arguments.recorded.empty()) external::OverrideRecorded(arguments.recorded, scenario);
  if (scenario.evaluator.kind == external::EvaluatorKind::kNone) {
    throw InputError(
        fmt::format("'{}' does not say how a configuration is evaluated: give it an "
                    "'evaluator', or use --command or --recorded (or 'bayloom serve', "
                    "to be asked and told)",
                    arguments.scenario.path));
  }
  if (!scenario.max_trials && !scenario.max_seconds) scenario.max_trials = kDefaultTrials;
  if (!arguments.transfer.empty()) Learn(arguments, scenario);
  return scenario;
}

/// "4,362", "1.4e+11", "infinitely many".
std::string FormatSize(double configurations) {
  if (std::isinf(configurations)) return "infinitely many";
  if (configurations < 1e7) return report::FormatCount(static_cast<int64_t>(configurations));
  return fmt::format("{:.3g}", configurations);
}

std::vector<tuning::SearchMember> LoadMembers(const SearchArguments& arguments) {
  std::vector<tuning::SearchMember> members;
  SearchArguments each = arguments;
  const auto add = [&] {
    external::Scenario scenario = LoadWithOverrides(each);
    std::string database = arguments.scenario.DatabaseFor(scenario);
    members.push_back({std::move(scenario), std::move(database)});
  };
  if (arguments.others.empty()) {
    add();
    return members;
  }
  if (!arguments.command.empty() || !arguments.recorded.empty() || !arguments.out.empty() ||
      !arguments.csv.empty() || !arguments.chart.empty()) {
    throw InputError(
        "--command, --recorded, --out, --csv and --chart are about one scenario, not several");
  }
  const bool share = arguments.scenario.trials || !arguments.scenario.time.empty();
  each.scenario.trials.reset();
  each.scenario.time.clear();
  add();
  for (const std::string& path : arguments.others) {
    each.scenario.path = path;
    add();
  }
  if (!arguments.weights.empty() && arguments.weights.size() != members.size()) {
    throw InputError(
        fmt::format("--weights: {} for {} scenarios", arguments.weights.size(), members.size()));
  }
  for (size_t i = 0; i < members.size(); ++i) {
    if (!arguments.weights.empty()) members[i].weight = arguments.weights[i];
    // A budget of all together replaces those of each.
    if (share) members[i].scenario.max_trials.reset();
  }
  return members;
}

/// That of the command line; of a single scenario else its own.
trial::Budget BudgetOf(const SearchArguments& arguments,
                       const std::vector<tuning::SearchMember>& members) {
  trial::Budget budget = MakeBudget(arguments.scenario.trials, arguments.scenario.time);
  if (members.size() > 1) return budget;
  const external::Scenario& scenario = members[0].scenario;
  budget.trials = scenario.max_trials.value_or(trial::Budget::kUnlimited);
  if (scenario.max_seconds) budget.seconds = *scenario.max_seconds;
  return budget;
}

void PrintBeginning(const tuning::ScenarioSearch& search, const SearchArguments& arguments) {
  if (search.members().size() > 1) {
    fmt::print(stderr, "{} {} scenarios together, {} scheduler, slots of {} trials\n",
               arguments.options.resume ? "Resuming" : "Searching", search.members().size(),
               arguments.options.scheduler, arguments.options.trials_per_slot);
    return;
  }
  const tuning::SearchMember& member = search.members()[0];
  const space::Space& space = *member.scenario.space;
  fmt::print(stderr,
             "{} search {}: {} parameter{}, {} configurations, {} optimizer, records in {}\n",
             search.resumed(0) ? "Resuming" : "Beginning", search.record(0).id, space.size(),
             space.size() == 1 ? "" : "s", FormatSize(space.CountFeasible()),
             member.scenario.optimizer, member.database);
  const run::RunStatus status = search.Status();
  if (status.trials >= status.max_trials) {
    fmt::print(stderr, "Its {} trials are done already; more --trials go on\n",
               report::FormatCount(status.trials));
  }
}

void Export(const SearchArguments& arguments, const tuning::ScenarioSearch& search) {
  const external::Scenario& scenario = search.members()[0].scenario;
  if (!arguments.out.empty()) {
    base::WriteFile(arguments.out, report::SearchSummary(scenario, search.study(0)).dump(2) + "\n");
  }
  if (arguments.csv.empty() && arguments.chart.empty()) return;
  const std::vector<external::StudyTrial> trials = search.TrialsOf(0);
  if (!arguments.csv.empty()) base::WriteFile(arguments.csv, report::TrialsCsv(scenario, trials));
  if (!arguments.chart.empty()) {
    base::WriteFile(arguments.chart, report::SearchChart(scenario, trials).ToSvg());
  }
}

report::Table ResultTable(const tuning::ScenarioSearch& search) {
  const run::RunStatus status = search.Status();
  report::Table table(
      {"scenario", "weight", "slots", "trials", "objective", "best", "first / best"});
  for (int i = 0; i < std::ssize(search.members()); ++i) {
    const scheduling::TaskProgress& progress = status.tasks[i];
    const auto& best = search.study(i).best();
    const double value = best ? best->outcome.value : std::numeric_limits<double>::quiet_NaN();
    table.AddRow(
        {progress.name,
         {progress.weight, fmt::format("{:g}", progress.weight)},
         progress.slots(),
         progress.trials(),
         search.members()[i].scenario.objective,
         {value, report::FormatValue(value)},
         {1 / progress.best(), report::FormatRatio(best ? 1 / progress.best() : std::nan(""))}});
  }
  return table;
}

nlohmann::json SummaryOfAll(const tuning::ScenarioSearch& search,
                            const SearchArguments& arguments) {
  nlohmann::json shown = {{"scheduler", arguments.options.scheduler},
                          {"scenarios", nlohmann::json::array()},
                          {"slots", nlohmann::json::array()}};
  for (int i = 0; i < std::ssize(search.members()); ++i) {
    shown["scenarios"].push_back(
        report::SearchSummary(search.members()[i].scenario, search.study(i)));
    shown["scenarios"].back()["weight"] = search.members()[i].weight;
  }
  for (int slot : search.slots()) shown["slots"].push_back(search.members()[slot].scenario.name);
  return shown;
}

/// How much better the best is than the default configuration, or the first that worked.
std::string GainText(const tuning::ScenarioSearch& search) {
  const external::Study& study = search.study(0);
  if (!study.best()) return "";
  const bool has_default = search.members()[0].scenario.default_configuration.has_value();
  for (const external::StudyTrial& trial : search.TrialsOf(0)) {
    if (!trial.outcome.ok()) {
      if (has_default) return "";
      continue;
    }
    const double first = trial.outcome.value, best = study.best()->outcome.value;
    const double ratio = study.maximize() ? best / first : first / best;
    if (!(ratio > 0) || !std::isfinite(ratio)) return "";
    return fmt::format("{} better than the {} ({})\n", report::FormatRatio(ratio),
                       has_default ? "default" : "first", report::FormatValue(first));
  }
  return "";
}

void PrintResult(const SearchArguments& arguments, const tuning::ScenarioSearch& search,
                 trial::StopReason reason) {
  const bool is_single = search.members().size() == 1;
  if (arguments.json) {
    const tuning::SearchMember& member = search.members()[0];
    nlohmann::json summary = is_single ? report::SearchSummary(member.scenario, search.study(0))
                                       : SummaryOfAll(search, arguments);
    summary["end"] = trial::ToString(reason);
    fmt::print("{}\n", summary.dump(2));
    return;
  }
  const run::RunStatus status = search.Status();
  if (!is_single) {
    fmt::print("\n{}", ResultTable(search).Text());
    return;
  }
  const external::Scenario& scenario = search.members()[0].scenario;
  const auto& best = search.study(0).best();
  if (!best) return;
  fmt::print("{}: {} trials in {}, {} of them without a value\n\n{} = {} (trial {})\n{}{}",
             DescribeEnd(reason), report::FormatCount(status.trials),
             report::FormatSeconds(status.seconds),
             report::FormatCount(status.trials - status.feasible_trials), scenario.objective,
             report::FormatValue(best->outcome.value), best->ordinal, GainText(search),
             report::ConfigurationText(*scenario.space, best->configuration));
}

void RunSearchCommand(const SearchArguments& arguments) {
  std::vector<tuning::SearchMember> members = LoadMembers(arguments);
  tuning::SearchOptions options = arguments.options;
  options.budget = BudgetOf(arguments, members);
  options.resume = arguments.scenario.resume;
  options.seed = static_cast<uint64_t>(arguments.scenario.seed.value_or(0));
  tuning::ScenarioSearch search(std::move(members), options);
  PrintBeginning(search, arguments);
  report::RunProgress progress(stderr, search.Status(), report::SearchProgress(search));
  const trial::StopReason reason = search.Run(progress.Observer());
  progress.End();
  if (search.members().size() == 1) Export(arguments, search);
  PrintResult(arguments, search, reason);
  ThrowIfLost(reason, search.lost());
  const external::Study& study = search.study(0);
  if (search.members().size() == 1 && !study.best() && study.last()) {
    throw CheckFailed(fmt::format("none of {} trials has a value; of the last one: {}",
                                  study.trials(), study.last()->outcome.reason));
  }
}

}  // namespace

void AddSearchCommand(CLI::App& app) {
  auto options = std::make_shared<SearchArguments>();
  CLI::App* search =
      app.add_subcommand("search", "Tune anything that a command line can build and time");
  options->scenario.AddTo(*search);
  search
      ->add_option("--jobs,-j", options->options.jobs,
                   "Configurations to evaluate at the same time")
      ->check(AtLeastOne());
  CLI::Option* command = search->add_option("--command", options->command,
                                            "Evaluate by this command line; holes are {parameter}");
  search
      ->add_option("--recorded", options->recorded,
                   "Evaluate by looking up a recorded space (Kernel Tuner T4, .gz too)")
      ->excludes(command);
  search
      ->add_option("--transfer", options->transfer,
                   "Learn from the searches of other scenarios in this database; may be repeated")
      ->allow_extra_args(false);
  search
      ->add_option("--transfer-method", options->transfer_method,
                   "How: contextual, multitask, stacking, weighted, sum")
      ->capture_default_str();
  search->add_option("others", options->others, "More scenarios, to share the budget with it");
  search
      ->add_option("--scheduler", options->options.scheduler,
                   "How several scenarios share the budget")
      ->check(CLI::IsMember(scheduling::TaskSchedulerNames()))
      ->capture_default_str();
  search
      ->add_option("--weights", options->weights,
                   "How much an improvement of each counts; default all alike")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::PositiveNumber);
  search
      ->add_option("--slot", options->options.trials_per_slot, "Trials a scenario gets at one turn")
      ->check(AtLeastOne())
      ->capture_default_str();
  search->add_option("--out,-o", options->out, "Write the best configuration as JSON");
  search->add_option("--csv", options->csv, "Write all trials as CSV");
  search->add_option("--chart", options->chart, "Draw the best so far over the trials as SVG");
  search->add_flag("--json", options->json, "Print the result as JSON");
  search->footer(
      "A scenario says which parameters there are, how one configuration is evaluated and\n"
      "what is looked for. This one tunes a compiler's flags:\n"
      "\n"
      "  parameters:\n"
      "    level:  {type: categorical, values: [-O1, -O2, -O3]}\n"
      "    unroll: {type: ordinal, values: [1, 2, 4, 8, 16], scale: log, default: 4}\n"
      "  constraints:\n"
      "    - level != '-O1' or unroll <= 4\n"
      "  minimize: seconds\n"
      "  evaluator:\n"
      "    shell: g++ {level} --param max-unroll-times={unroll} {here}/app.cc -o {work}/app\n"
      "           && {work}/app\n"
      "    timeout: 30s\n"
      "  budget: {trials: 50}\n"
      "\n"
      "The command prints the value: a number, or JSON with a field of the objective's name.\n"
      "If it fails, crashes, hangs or prints anything else, the configuration is infeasible,\n"
      "the reason is kept and the search learns to stay away. docs/scenarios.md has all of it:\n"
      "six kinds of parameters, constraints, priors, processes that stay, recorded spaces.\n"
      "\n"
      "Every trial is recorded as it ends: stop when you like, even by kill -9, and go on\n"
      "with --resume. Without a budget in the scenario, 100 trials are made.\n"
      "\n"
      "Examples:\n"
      "  bayloom search flags.yaml\n"
      "  bayloom search flags.yaml --jobs 4 --time 10m --chart flags.svg --out best.json\n"
      "  bayloom search flags.yaml --resume --trials 200\n"
      "  bayloom search blur.yaml sort.yaml --scheduler dynatune --weights 2,1 --trials 300\n"
      "  bayloom search larger.yaml --transfer smaller.db\n"
      "  bayloom search T1.json --recorded A100_T4.json.gz --optimizer genetic\n"
      "  bayloom search hypermapper.json --command './run.sh {tile_size} {unroll}'");
  search->callback([options] { RunSearchCommand(*options); });
}

}  // namespace bayloom::cli
