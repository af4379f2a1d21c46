#include <fmt/format.h>

#include <CLI/App.hpp>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/cli/at_least_one.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/scenario_option.h"
#include "bayloom/cli/search_together.h"
#include "bayloom/cli/write_file.h"
#include "bayloom/external/recorded_space.h"
#include "bayloom/external/scenario_overrides.h"
#include "bayloom/report/format.h"
#include "bayloom/report/search_progress.h"
#include "bayloom/report/search_report.h"
#include "bayloom/scheduling/task_scheduler.h"
#include "bayloom/tuning/earlier_searches.h"
#include "bayloom/tuning/recorded_search.h"

namespace bayloom {
namespace {

constexpr int64_t kDefaultTrials = 100;

struct SearchOptions {
  ScenarioOption scenario;
  std::vector<std::string> others;  ///< scenarios that share the budget with the first
  TogetherOptions together;
  std::string command;
  std::string recorded;
  std::vector<std::string> transfer;  ///< databases
  std::string transfer_method = "weighted";
  int jobs = 1;
  std::string out;
  std::string csv;
  std::string chart;
  bool json = false;
};

/// What --transfer's databases teach the optimizer beforehand.
void Learn(const SearchOptions& options, Scenario& scenario) {
  if (scenario.optimizer != "bayesian") {
    throw InputError("--transfer: only the bayesian optimizer learns from earlier searches, not " +
                     scenario.optimizer);
  }
  TransferOptions& transfer = scenario.optimizer_options.transfer;
  transfer =
      LearnFromSearches(options.transfer, ParseTransferMethod(options.transfer_method), scenario);
  if (transfer.tasks.empty()) {
    throw InputError(fmt::format(
        "--transfer: there is no earlier search for '{}' of another scenario with parameters of "
        "the same names",
        scenario.objective));
  }
}

Scenario LoadWithOverrides(const SearchOptions& options) {
  Scenario scenario = options.scenario.Load();
  if (!options.command.empty()) OverrideCommand(options.command, scenario);
  if (!options.recorded.empty()) OverrideRecorded(options.recorded, scenario);
  if (scenario.evaluator.kind == EvaluatorKind::kNone) {
    throw InputError(
        fmt::format("'{}' does not say how a configuration is evaluated: give it an "
                    "'evaluator', or use --command or --recorded (or 'bayloom serve', "
                    "to be asked and told)",
                    options.scenario.path));
  }
  if (!scenario.max_trials && !scenario.max_seconds) scenario.max_trials = kDefaultTrials;
  if (!options.transfer.empty()) Learn(options, scenario);
  return scenario;
}

/// "4,362", "1.4e+11", "infinitely many".
std::string FormatSize(double configurations) {
  if (std::isinf(configurations)) return "infinitely many";
  if (configurations < 1e7) return FormatCount(static_cast<int64_t>(configurations));
  return fmt::format("{:.3g}", configurations);
}

std::string_view Explain(SearchEnd end) {
  switch (end) {
    case SearchEnd::kTrials:
      return "all trials done";
    case SearchEnd::kTime:
      return "time is up";
    case SearchEnd::kExhausted:
      return "every configuration was tried";
    case SearchEnd::kStopped:
      return "stopped; --resume goes on from here";
  }
  return "";
}

void Export(const SearchOptions& options, const Scenario& scenario, const Search& search,
            SearchRecords& records, SearchId id) {
  if (!options.out.empty()) WriteFile(options.out, SearchSummary(scenario, search).dump(2) + "\n");
  if (options.csv.empty() && options.chart.empty()) return;
  const std::vector<SearchTrial> trials = ReadSearchTrials(*scenario.space, records, id);
  if (!options.csv.empty()) WriteFile(options.csv, TrialsCsv(scenario, trials));
  if (!options.chart.empty()) WriteFile(options.chart, SearchChart(scenario, trials).ToSvg());
}

void PrintResult(const SearchOptions& options, const Scenario& scenario, const Search& search,
                 SearchEnd end) {
  if (options.json) {
    nlohmann::json summary = SearchSummary(scenario, search);
    summary["end"] = Explain(end);
    fmt::print("{}\n", summary.dump(2));
  } else if (const auto& best = search.best()) {
    fmt::print("{}: {} trials in {}, {} of them without a value\n\n{} = {} (trial {})\n{}",
               Explain(end), FormatCount(search.trials()), FormatSeconds(search.elapsed()),
               FormatCount(search.trials() - search.feasible_trials()), scenario.objective,
               FormatValue(best->outcome.value), best->ordinal,
               ConfigurationText(*scenario.space, best->configuration));
  }
  if (!search.best() && search.last()) {
    throw CheckFailed(fmt::format("none of {} trials has a value; of the last one: {}",
                                  search.trials(), search.last()->outcome.reason));
  }
}

/// Several scenarios. --trials and --time limit all of them together.
void RunTogether(const SearchOptions& options) {
  if (!options.command.empty() || !options.recorded.empty() || !options.out.empty() ||
      !options.csv.empty() || !options.chart.empty()) {
    throw InputError(
        "--command, --recorded, --out, --csv and --chart are about one scenario, not several");
  }
  SearchOptions each = options;
  each.scenario.trials.reset();
  each.scenario.time.clear();
  std::vector<Scenario> scenarios = {LoadWithOverrides(each)};
  for (const std::string& path : options.others) {
    each.scenario.path = path;
    scenarios.push_back(LoadWithOverrides(each));
  }
  TogetherOptions together = options.together;
  together.jobs = options.jobs;
  together.trials = options.scenario.trials;
  together.time = options.scenario.time;
  together.seed = static_cast<uint64_t>(options.scenario.seed.value_or(0));
  together.database = options.scenario.database;
  together.resume = options.scenario.resume;
  together.json = options.json;
  SearchTogether(scenarios, together);
}

void RunSearchCommand(const SearchOptions& options) {
  if (!options.others.empty()) return RunTogether(options);
  const Scenario scenario = LoadWithOverrides(options);
  const auto evaluators = MakeEvaluators(scenario.space, scenario.evaluator, options.jobs);
  SearchRecords records(options.scenario.DatabaseFor(scenario));
  RecordedSearch recorded(scenario, records, options.scenario.resume);
  Search& search = recorded.search();
  fmt::print(stderr,
             "{} search {}: {} parameter{}, {} configurations, {} optimizer, records in {}\n",
             recorded.resumed() ? "Resuming" : "Beginning", recorded.record().id,
             scenario.space->size(), scenario.space->size() == 1 ? "" : "s",
             FormatSize(scenario.space->CountFeasible()), scenario.optimizer, records.path());
  CatchStopSignals();
  const SearchLimits limits = {scenario.max_trials, scenario.max_seconds, StopRequested};
  if (limits.trials && search.trials() >= *limits.trials) {
    fmt::print(stderr, "Its {} trials are done already; more --trials go on\n",
               FormatCount(search.trials()));
  }
  SearchProgress progress(stderr, search, limits, scenario.objective);
  const SearchEnd end = RunSearch(search, evaluators, limits, [&progress] { progress.Trial(); });
  progress.End();
  if (end != SearchEnd::kStopped) recorded.Finish();
  Export(options, scenario, search, records, recorded.record().id);
  PrintResult(options, scenario, search, end);
}

}  // namespace

void AddSearchCommand(CLI::App& app) {
  auto options = std::make_shared<SearchOptions>();
  CLI::App* search =
      app.add_subcommand("search", "Tune anything that a command line can build and time");
  options->scenario.AddTo(*search);
  search->add_option("--jobs,-j", options->jobs, "Configurations to evaluate at the same time")
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
      ->add_option("--scheduler", options->together.scheduler,
                   "How several scenarios share the budget")
      ->check(CLI::IsMember(TaskSchedulerNames()))
      ->capture_default_str();
  search
      ->add_option("--weights", options->together.weights,
                   "How much an improvement of each counts; default all alike")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::PositiveNumber);
  search
      ->add_option("--slot", options->together.trials_per_slot,
                   "Trials a scenario gets at one turn")
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

}  // namespace bayloom
