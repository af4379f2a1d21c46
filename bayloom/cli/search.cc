// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/next_commands.h"
#include "bayloom/cli/options/run_options.h"
#include "bayloom/cli/options/search_options.h"
#include "bayloom/cli/output.h"
#include "bayloom/cli/repeated_text.h"
#include "bayloom/kernel/kernel_evaluator.h"
#include "bayloom/measure/load_monitor.h"
#include "bayloom/report/context_report.h"
#include "bayloom/report/format.h"
#include "bayloom/report/pareto_table.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/progress_columns.h"
#include "bayloom/report/run_summary.h"
#include "bayloom/report/search_report.h"
#include "bayloom/scheduling/task_scheduler.h"
#include "bayloom/search/recorded_space.h"
#include "bayloom/search/remote_configurations.h"
#include "bayloom/search/scenario_overrides.h"
#include "bayloom/search/scenario_search.h"
#include "bayloom/space/configuration_json.h"

namespace bayloom::cli {
namespace {

constexpr int64_t kDefaultTrials = 100, kTrialsOfContext = 20;

/// What the command line says of how configurations are evaluated.
void OverrideEvaluator(const SearchArguments& arguments, search::Scenario& scenario) {
  if (!arguments.command.empty()) search::OverrideCommand(arguments.command, scenario);
  if (!arguments.recorded.empty()) search::OverrideRecorded(arguments.recorded, scenario);
  if (arguments.sandbox) scenario.evaluator.sandbox = true;
}

search::Scenario LoadWithOverrides(const SearchArguments& arguments) {
  const bool is_source = arguments.kernel.IsSource(arguments.scenario.path);
  search::Scenario scenario = arguments.scenario.Load(
      is_source ? arguments.kernel.ScenarioText(arguments.scenario.path) : "");
  OverrideEvaluator(arguments, scenario);
  for (search::Scenario& context : scenario.contexts) OverrideEvaluator(arguments, context);
  if (scenario.evaluator.kind == search::EvaluatorKind::kNone) {
    throw InputError(
        fmt::format("'{}' does not say how a configuration is evaluated: give it an "
                    "'evaluator', or use --command or --recorded (or 'bayloom serve', "
                    "to be asked and told)",
                    arguments.scenario.path));
  }
  if (!scenario.max_trials && !scenario.max_seconds) {
    scenario.max_trials = scenario.contexts.empty()
                              ? kDefaultTrials
                              : kTrialsOfContext * std::ssize(scenario.contexts);
  }
  arguments.learn_from.Teach(arguments.scenario.DatabaseFor(scenario), scenario);
  return scenario;
}

/// The contexts of a scenario, which share its budget and its database.
std::vector<search::SearchMember> ContextsOf(search::Scenario scenario,
                                             SearchArguments& arguments) {
  if (!arguments.out.empty() || !arguments.csv.empty() || !arguments.weights.empty()) {
    throw InputError(
        "--out, --csv and --weights are not for contexts; --emit FILE.json writes their table");
  }
  for (const std::string& file : arguments.contexts.files) report::CheckContextFile(file);
  arguments.contexts.name = scenario.name;
  arguments.scenario.trials = scenario.max_trials;
  const std::string database = arguments.scenario.DatabaseFor(scenario);
  std::vector<search::SearchMember> members;
  for (search::Scenario& context : scenario.contexts) {
    members.push_back({std::move(context), database});
  }
  arguments.options.run.budget.seconds =
      scenario.max_seconds.value_or(std::numeric_limits<double>::infinity());
  return members;
}

/// Notes in the arguments what a scenario with contexts says of all of them.
std::vector<search::SearchMember> LoadMembers(SearchArguments& arguments) {
  std::vector<search::SearchMember> members;
  SearchArguments each = arguments;
  const auto add = [&] {
    search::Scenario scenario = LoadWithOverrides(each);
    if (!scenario.contexts.empty()) {
      if (!arguments.others.empty()) {
        throw InputError(fmt::format("'{}' has contexts: it is searched alone",
                                     base::SingleLine(scenario.name)));
      }
      members = ContextsOf(std::move(scenario), arguments);
      return;
    }
    std::string database = arguments.scenario.DatabaseFor(scenario);
    members.push_back({std::move(scenario), std::move(database)});
  };
  if (arguments.others.empty()) {
    add();
    if (arguments.contexts.name.empty() && !arguments.contexts.files.empty()) {
      throw InputError("--emit writes the table of a scenario's contexts, and there are none");
    }
    return members;
  }
  if (!arguments.command.empty() || !arguments.recorded.empty() || !arguments.out.empty() ||
      !arguments.csv.empty()) {
    throw InputError("--command, --recorded, --out and --csv are about one scenario, not several");
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

void PrintBeginning(const search::ScenarioSearch& search, const SearchArguments& arguments) {
  if (search.AreContexts()) {
    Say("{}", arguments.contexts.Beginning(search));
    return;
  }
  if (search.members().size() > 1) {
    Say("{} {} scenarios together, {} scheduler, slots of {} trials\n",
        arguments.options.resume ? "Resuming" : "Searching", search.members().size(),
        search.run_options().scheduler, search.run_options().trials_per_slot);
    return;
  }
  const search::SearchMember& member = search.members()[0];
  const space::Space& space = *member.scenario.space;
  Say("{} search {}: {} parameter{}, {} configurations, {} optimizer, records in {}\n",
      search.resumed(0) ? "Resuming" : "Beginning", search.record(0).id, space.size(),
      space.size() == 1 ? "" : "s", report::SizeText(space), member.scenario.optimizer,
      base::SingleLine(member.database, 200));
  const run::RunStatus status = search.Status();
  if (status.trials >= status.max_trials) {
    Say("Its {} trials are done already; more --trials go on\n",
        report::FormatCount(status.trials));
  }
}

/// What was found in one scenario; where the best were evaluated again, they decide which it is.
nlohmann::json SummaryOf(const search::ScenarioSearch& search, int member) {
  const search::Scenario& scenario = search.members()[member].scenario;
  nlohmann::json summary = report::SearchSummary(scenario, search.study(member));
  const std::vector<search::RepeatedConfiguration> repeated = search.RepeatedOf(member);
  for (const search::RepeatedConfiguration& each : repeated) {
    nlohmann::json values = nlohmann::json::array();
    for (const trial::Outcome& outcome : each.outcomes) values.push_back(outcome.value);
    summary["repeated"].push_back({{"trial", each.trial.ordinal},
                                   {"baseline", each.is_baseline},
                                   {"first", each.trial.outcome.value},
                                   {"median", each.median},
                                   {"spread", each.spread},
                                   {"values", values}});
  }
  if (!repeated.empty() && repeated[0].ok) {
    summary["best"] = {
        {"value", repeated[0].median},
        {"trial", repeated[0].trial.ordinal},
        {"configuration", space::ToJson(*scenario.space, repeated[0].trial.configuration)}};
    if (const auto gain = GainInTurns(search.study(member), repeated)) {
      summary["gain"] = {{"ratio", gain->ratio},
                         {"low", gain->low},
                         {"high", gain->high},
                         {"rounds", gain->rounds}};
    }
  }
  return summary;
}

void Export(const SearchArguments& arguments, const search::ScenarioSearch& search) {
  const search::Scenario& scenario = search.members()[0].scenario;
  if (!arguments.out.empty()) {
    base::WriteFile(arguments.out, report::JsonText(SummaryOf(search, 0)) + "\n");
  }
  if (!arguments.csv.empty()) {
    base::WriteFile(arguments.csv, report::TrialsCsv(scenario, search.TrialsOf(0)));
  }
}

report::Table ResultTable(const search::ScenarioSearch& search) {
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
         search.members()[i].scenario.objectives[0].name,
         {value, report::FormatValue(value)},
         {1 / progress.best(), report::FormatRatio(best ? 1 / progress.best() : std::nan(""))}});
  }
  return table;
}

nlohmann::json SummaryOfAll(const search::ScenarioSearch& search) {
  nlohmann::json shown = {{"scheduler", search.run_options().scheduler},
                          {"scenarios", nlohmann::json::array()},
                          {"slots", nlohmann::json::array()}};
  for (int i = 0; i < std::ssize(search.members()); ++i) {
    shown["scenarios"].push_back(SummaryOf(search, i));
    shown["scenarios"].back()["weight"] = search.members()[i].weight;
  }
  for (int slot : search.slots()) shown["slots"].push_back(search.members()[slot].scenario.name);
  return shown;
}

/// The search with its records on the command line, resumed.
std::vector<std::string> ResumedSearch(const SearchArguments& arguments) {
  std::vector<std::string> line = {"search", arguments.scenario.path};
  line.insert(line.end(), arguments.others.begin(), arguments.others.end());
  const auto add = [&](const std::string& option, const std::string& value) {
    if (value.empty()) return;
    line.push_back(option);
    line.push_back(value);
  };
  add("--optimizer", arguments.scenario.optimizer.value_or(""));
  const std::vector<std::string> kernel = arguments.kernel.Arguments();
  line.insert(line.end(), kernel.begin(), kernel.end());
  add("--command", arguments.command);
  add("--recorded", arguments.recorded);
  const std::vector<std::string> sources = arguments.learn_from.Arguments();
  line.insert(line.end(), sources.begin(), sources.end());
  if (arguments.sandbox) line.push_back("--sandbox");
  add("--scheduler", arguments.options.run.scheduler);
  if (!arguments.weights.empty()) {
    add("--weights", fmt::format("{}", fmt::join(arguments.weights, ",")));
  }
  const std::vector<std::string> workers = arguments.workers.Arguments();
  line.insert(line.end(), workers.begin(), workers.end());
  if (arguments.jobs) add("--jobs", std::to_string(*arguments.jobs));
  const ScenarioOption& scenario = arguments.scenario;
  add("--until-value", fmt::format("{}", fmt::join(scenario.until_value, ",")));
  if (scenario.until_plateau) {
    add("--until-plateau", std::to_string(*scenario.until_plateau));
    if (scenario.plateau_gain > 0) add("--plateau-gain", fmt::format("{}", scenario.plateau_gain));
  }
  for (const std::string& file : arguments.contexts.files) add("--emit", file);
  add("--db", arguments.scenario.database);
  line.push_back("--resume");
  return line;
}

bool LooksUpValues(const search::SearchMember& member) {
  return member.scenario.evaluator.kind == search::EvaluatorKind::kRecorded;
}

/// What cannot be had with workers.
void CheckForWorkers(const SearchArguments& arguments,
                     const std::vector<search::SearchMember>& members) {
  if (arguments.jobs.value_or(1) > 1) {
    throw InputError("--jobs: say it to each worker, 'bayloom worker --jobs N'");
  }
  for (const search::SearchMember& member : members) {
    if (LooksUpValues(member)) {
      throw InputError((arguments.recorded.empty() ? base::SingleLine(member.scenario.name)
                                                   : std::string("--recorded")) +
                       ": values are looked up here; leave out --workers");
    }
    if (std::isfinite(member.scenario.evaluator.timeout_over_best)) {
      throw InputError(fmt::format(
          "--workers: the scenario '{}' has a timeout that is a multiple of the best's time, which "
          "workers do not know; give it a time, such as 'timeout: 30s'",
          base::SingleLine(member.scenario.name)));
    }
  }
}

NextCommands CommandsAfter(const SearchArguments& arguments, const search::ScenarioSearch& search,
                           trial::StopReason reason) {
  NextCommands next;
  const auto resume = [&](const std::vector<std::string>& more, const std::string& purpose) {
    std::vector<std::string> line = ResumedSearch(arguments);
    line.insert(line.end(), more.begin(), more.end());
    next.Add(line, purpose);
  };
  const std::string trials = std::to_string(2 * search.Status().trials);
  if (trial::CanResume(reason)) {
    resume({}, "go on from here");
  } else if (reason != trial::StopReason::kExhausted) {
    resume({"--trials", trials}, "more trials");
  }
  if (std::ranges::none_of(search.members(), LooksUpValues) && search.RepeatedOf(0).empty() &&
      search.study(0).objectives().size() == 1) {
    resume({"--trials", std::to_string(search.Status().trials), "--repeat-best", "5"},
           "whether the best was only lucky");
  }
  std::set<std::string> databases;
  for (const search::SearchMember& member : search.members()) databases.insert(member.database);
  for (const std::string& database : databases) {
    next.Add({"show", database}, "what was found");
    next.Add({"report", database}, "how the search went");
  }
  return next;
}

std::string EndText(const search::ScenarioSearch& search, trial::StopReason reason) {
  const run::RunStatus status = search.Status();
  return fmt::format("{}: {} trials in {}, {} of them without a value", DescribeEnd(reason),
                     report::FormatCount(status.trials), report::FormatSeconds(status.seconds),
                     report::FormatCount(status.trials - status.feasible_trials));
}

/// What was found for several objectives.
void PrintFront(const SearchArguments& arguments, const search::ScenarioSearch& search,
                trial::StopReason reason) {
  const std::vector<search::StudyTrial>& front = search.study(0).front();
  fmt::print("{}\n\nPareto front, {} trial{}:\n{}{}", EndText(search, reason), front.size(),
             front.size() == 1 ? "" : "s",
             report::ParetoTable(search.members()[0].scenario, front).Text(),
             CommandsAfter(arguments, search, reason).Text());
}

void PrintResult(const SearchArguments& arguments, const search::ScenarioSearch& search,
                 trial::StopReason reason) {
  const bool are_contexts = search.AreContexts();
  const bool is_single = search.members().size() == 1 && !are_contexts;
  if (arguments.json) {
    nlohmann::json summary = are_contexts ? arguments.contexts.Json(search)
                             : is_single  ? SummaryOf(search, 0)
                                          : SummaryOfAll(search);
    summary["end"] = trial::ToString(reason);
    fmt::print("{}\n", report::JsonText(summary));
    return;
  }
  if (are_contexts) {
    fmt::print("{}\n{}{}", EndText(search, reason), arguments.contexts.Result(search),
               CommandsAfter(arguments, search, reason).Text());
    return;
  }
  if (!is_single) {
    fmt::print("\n{}", ResultTable(search).Text());
    for (int i = 0; i < std::ssize(search.members()); ++i) {
      const std::vector<search::RepeatedConfiguration> repeated = search.RepeatedOf(i);
      if (!repeated.empty()) fmt::print("\n{}", search.members()[i].scenario.name);
      fmt::print("{}", RepeatedText(repeated));
    }
    fmt::print("{}", CommandsAfter(arguments, search, reason).Text());
    return;
  }
  const search::Scenario& scenario = search.members()[0].scenario;
  const auto& best = search.study(0).best();
  if (!best) return;
  if (scenario.objectives.size() > 1) {
    PrintFront(arguments, search, reason);
    return;
  }
  const std::vector<search::RepeatedConfiguration> repeated = search.RepeatedOf(0);
  const bool is_confirmed = !repeated.empty() && repeated[0].ok;
  const search::StudyTrial& shown = is_confirmed ? repeated[0].trial : *best;
  fmt::print("{}\n", EndText(search, reason));
  fmt::print("{}", RepeatedText(repeated));
  const double value = is_confirmed ? repeated[0].median : best->outcome.value;
  fmt::print("\n{} = {} (trial {}{})\n{}{}{}", base::SingleLine(scenario.objectives[0].name),
             report::FormatValue(value), shown.ordinal,
             is_confirmed ? ", the median of its repeats" : "", GainText(search, repeated),
             report::ConfigurationText(*scenario.space, shown.configuration),
             CommandsAfter(arguments, search, reason).Text());
}

/// Says beside the progress that other programs disturb what its commands may time.
trial::StopReason RunWithProgress(search::ScenarioSearch& search, int jobs,
                                  const WorkersOption& workers,
                                  const std::vector<kernel::KernelEvaluator*>& kernels) {
  report::RunProgress progress(stderr, search.Status(), report::SearchProgress(search));
  const WorkersOption::NotesInto notes(workers, progress);
  std::optional<measure::LoadMonitor> load;
  if (workers.empty() && !std::ranges::all_of(search.members(), LooksUpValues)) {
    load.emplace(measure::LoadMonitorOptions{.threads = jobs});
  }
  run::RunObserver observer = progress.Observer();
  observer.on_trial = [&](const run::RunStatus& status, const trial::Outcome& last) {
    if (load && load->Look()) progress.Note(measure::DescribeBusy(load->last()));
    progress.Trial(status, last);
  };
  const trial::StopReason reason = search.Run(observer, [&](const run::RepeatStatus& status) {
    for (kernel::KernelEvaluator* const kernel : kernels) kernel->BeginRepeats();
    progress.Activity(fmt::format("evaluating the best again: {} of {}", status.done, status.all));
  });
  progress.End();
  if (load && load->WasMostlyBusy()) Say("{}\n", measure::DescribeWasBusy(load->Average()));
  return reason;
}

void RunSearchCommand(SearchArguments arguments) {
  std::vector<search::SearchMember> members = LoadMembers(arguments);
  search::SearchOptions options = arguments.Options(members);
  std::vector<kernel::KernelEvaluator*> kernels;
  options.make_evaluator = [&](const search::Scenario& scenario) {
    auto evaluator = kernel::KernelEvaluatorMaker(options.jobs)(scenario);
    if (evaluator != nullptr) {
      kernels.push_back(static_cast<kernel::KernelEvaluator*>(evaluator.get()));
    }
    return evaluator;
  };
  std::unique_ptr<remote::WorkerPool> pool;
  if (!arguments.workers.empty()) {
    CheckForWorkers(arguments, members);
    pool = arguments.workers.Connect();
    options.make_evaluator = [&](const search::Scenario& scenario) {
      return search::MakeRemoteEvaluator(*pool, scenario, arguments.command);
    };
  }
  search::ScenarioSearch search(std::move(members), options);
  PrintBeginning(search, arguments);
  const trial::StopReason reason =
      RunWithProgress(search, options.jobs, arguments.workers, kernels);
  if (!search.AreContexts() && search.members().size() == 1) Export(arguments, search);
  PrintResult(arguments, search, reason);
  ThrowIfLost(reason, search.lost());
  if (reason == trial::StopReason::kGaveUp) {
    throw CheckFailed(fmt::format(
        "gave up after {} trials: no further configuration that satisfies the constraints was "
        "found, although there may be more",
        search.Status().trials));
  }
  const search::Study& study = search.study(0);
  bool are_hopeless = true;
  for (int i = 0; i < std::ssize(search.members()); ++i) {
    are_hopeless = are_hopeless && !search.study(i).best();
  }
  if (search.AreContexts() && are_hopeless && study.last()) {
    throw CheckFailed(fmt::format("none of {} trials has a value; of the last one in {}: {}",
                                  search.Status().trials, search.members()[0].scenario.name,
                                  study.last()->outcome.reason));
  }
  if (search.members().size() == 1 && !study.best() && study.feasible_trials() > 0) {
    throw CheckFailed(fmt::format("none of {} trials has a value at the last fidelity",
                                  report::FormatCount(study.trials())));
  }
  if (search.members().size() == 1 && !study.best() && study.last()) {
    throw CheckFailed(fmt::format("none of {} trials has a value; of the last one: {}",
                                  study.trials(), study.last()->outcome.reason));
  }
}

}  // namespace

void AddSearchCommand(CLI::App& app) {
  auto options = std::make_shared<SearchArguments>();
  CLI::App* search =
      app.add_subcommand("search", "Tune the parameters of any program, compiler or kernel");
  AddSearchOptions(*options, *search);
  search->callback([options] { RunSearchCommand(*options); });
}

}  // namespace bayloom::cli
