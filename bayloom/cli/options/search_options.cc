// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/cli/options/search_options.h"

#include "bayloom/cli/help.h"
#include "bayloom/cli/options/at_least_one.h"
#include "bayloom/cli/options/run_options.h"

namespace bayloom::cli {
namespace {

/// Several scenarios under one budget.
void AddSharing(SearchArguments& arguments, CLI::App& search) {
  Advanced(search.add_option("others", arguments.others,
                             "More scenarios, which share the budget with the first"));
  AddSchedulerOption(search, arguments.options.run.scheduler,
                     "How several scenarios share the budget");
  Advanced(search
               .add_option("--weights", arguments.weights,
                           "How much a relative improvement of each scenario counts")
               ->option_text("X,...")
               ->default_str("1 each")
               ->delimiter(',')
               ->allow_extra_args(false)
               ->check(CLI::PositiveNumber));
  Advanced(search
               .add_option("--batch", arguments.options.run.trials_per_slot,
                           "Trials of a scenario before the scheduler chooses again")
               ->option_text("N")
               ->check(AtLeastOne())
               ->default_str("8"));
}

/// What ends a search beside its budget.
void AddStopRules(ScenarioOption& scenario, CLI::App& search) {
  Advanced(search
               .add_option("--until-value", scenario.until_value,
                           "Stop at a value as good as this; of several objectives, one for each")
               ->option_text("X,...")
               ->delimiter(',')
               ->allow_extra_args(false));
  CLI::Option* plateau =
      Advanced(search
                   .add_option("--until-plateau", scenario.until_plateau,
                               "Stop after N trials in a row without an improvement")
                   ->option_text("N")
                   ->check(AtLeastOne()));
  Advanced(search
               .add_option("--plateau-gain", scenario.plateau_gain,
                           "What counts as an improvement for --until-plateau, in percent")
               ->option_text("P")
               ->needs(plateau)
               ->check(CLI::Range(0.0, 99.0))
               ->capture_default_str());
}

/// What becomes of a scenario's contexts.
void AddContexts(ContextOutput& contexts, CLI::App& search) {
  Advanced(search
               .add_option("--emit", contexts.files,
                           "Of contexts: write the table as FILE.json, .h, .c or .py; repeat it")
               ->option_text("FILE")
               ->allow_extra_args(false));
  Advanced(search
               .add_option("--leaves", contexts.max_leaves,
                           "Configurations that --emit has at most for all contexts")
               ->option_text("N")
               ->check(CLI::Range(1, 64))
               ->capture_default_str());
}

std::string Footer() {
  return WithDetails(
      "Examples:\n"
      "  bayloom search flags.yaml --resume --trials 200 --out best.json\n"
      "  bayloom search scale.c --param tile=8,16 --arg 'inout float a[4096]'",
      "\n"
      "  bayloom search matmul.c --param tile=8,16,32,64 --size n=512 \\\n"
      "      --arg 'in float a[n][n]' --arg 'in float b[n][n]' \\\n"
      "      --arg 'out float c[n][n]' --arg 'int n' --reference naive\n"
      "  bayloom search flags.yaml --until-value 0.25 --until-plateau 50\n"
      "  bayloom search blur.yaml sort.yaml --weights 2,1\n"
      "  bayloom search larger.yaml --learn-from smaller.db\n"
      "  bayloom search blur.yaml --learn-from gpu.db --learn-from A100_T4.json.gz\n"
      "  bayloom search T1.json --recorded A100_T4.json.gz --optimizer genetic\n"
      "  bayloom search hypermapper.json --command './run.sh {tile_size} {unroll}'\n"
      "\n"
      "A scenario names parameters, constraints, and a command that prints a value:\n"
      "\n"
      "  parameters:\n"
      "    level:  {type: categorical, values: [-O1, -O2, -O3]}\n"
      "    unroll: {type: ordinal, values: [1, 2, 4, 8, 16], scale: log, default: 4}\n"
      "  constraints:\n"
      "    - level != '-O1' or unroll <= 4\n"
      "  minimize: seconds\n"
      "  evaluator:\n"
      "    shell: g++ {level} --param max-unroll-times={unroll} {here}/app.cc\n"
      "           -o {work}/app && {work}/app\n"
      "    timeout: 30s\n"
      "  budget: {trials: 50}\n"
      "\n"
      "The command prints a number, or JSON with a field of the objective's name. With\n"
      "several objectives (minimize: [seconds, bytes], maximize: accuracy) it prints\n"
      "JSON with a field for each, and a Pareto front is searched for. A\n"
      "configuration whose command fails, crashes, runs out of time or prints anything\n"
      "else is infeasible; the reason is recorded. Every trial is recorded as it ends:\n"
      "interrupt at any time, even by kill -9, and continue with --resume.");
}

}  // namespace

search::SearchOptions SearchArguments::Options(
    std::span<const search::SearchMember> members) const {
  search::SearchOptions given = options;
  given.resume = scenario.resume;
  given.run.seed = static_cast<uint64_t>(scenario.seed.value_or(0));
  const double seconds_of_contexts = given.run.budget.seconds;
  given.run.budget = MakeBudget(scenario.trials, scenario.time);
  const bool times_kernels = std::ranges::any_of(members, [](const search::SearchMember& member) {
    return member.scenario.evaluator.kind == search::EvaluatorKind::kKernel;
  });
  const KernelDefaults defaults;
  given.jobs = jobs.value_or(times_kernels ? defaults.jobs : 1);
  given.repeat_baseline = times_kernels;
  given.repeat.candidates = repeat_best.value_or(times_kernels ? defaults.repeat_best : 0);
  given.repeat.rounds = rounds.value_or(times_kernels ? defaults.rounds : given.repeat.rounds);
  if (times_kernels && members[0].scenario.optimizer_options.context) {
    given.repeat.candidates = repeat_best.value_or(defaults.repeat_best_of_context);
    given.repeat.rounds = rounds.value_or(defaults.rounds_of_context);
  }
  if (!contexts.name.empty()) {
    given.run.budget.seconds = seconds_of_contexts;
    return given;
  }
  if (members.size() > 1) return given;
  const search::Scenario& only = members[0].scenario;
  given.run.budget.trials = only.max_trials.value_or(trial::Budget::kUnlimited);
  if (only.max_seconds) given.run.budget.seconds = *only.max_seconds;
  return given;
}

void AddSearchOptions(SearchArguments& arguments, CLI::App& search) {
  arguments.scenario.AddTo(search);
  search
      .add_option("--jobs,-j", arguments.jobs,
                  WithDetails("Configurations evaluated concurrently",
                              "; kernels are compiled so, by default\non all processors, up to 4, "
                              "and timed alone"))
      ->option_text("N")
      ->default_str("1")
      ->check(AtLeastOne());
  arguments.kernel.AddTo(search);
  arguments.workers.AddTo(search);
  Advanced(search.add_flag("--sandbox", arguments.sandbox,
                           "The evaluator gets no network and may only write to {work}"));
  CLI::Option* command =
      Advanced(search
                   .add_option("--command", arguments.command,
                               "Evaluate with this command; {parameter} is replaced by its value")
                   ->option_text("COMMAND"));
  Advanced(search
               .add_option("--recorded", arguments.recorded,
                           "Evaluate by lookup in a recorded space (Kernel Tuner T4, also .gz)")
               ->option_text("FILE")
               ->excludes(command));
  AddLearnFromSearches(arguments.learn_from, search);
  AddStopRules(arguments.scenario, search);
  AddSharing(arguments, search);
  AddContexts(arguments.contexts, search);
  search
      .add_option("--repeat-best", arguments.repeat_best,
                  WithDetails("At the end, evaluate the N best again, in turns",
                              "; of kernels 5 by\ndefault"))
      ->option_text("N")
      ->default_str("0")
      ->check(CLI::Range(0, 1000000));
  Advanced(
      search.add_option("--rounds", arguments.rounds, "Evaluations of each with --repeat-best")
          ->option_text("N")
          ->default_str("3; kernels: 7")
          ->check(AtLeastOne()));
  search.add_option("--out,-o", arguments.out, "Write the best configuration as JSON")
      ->option_text("FILE");
  search.add_option("--csv", arguments.csv, "Write all trials as CSV")->option_text("FILE");
  search.add_flag("--json", arguments.json, "Print JSON");
  search.footer(Footer());
}

}  // namespace bayloom::cli
