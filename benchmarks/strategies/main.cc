// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// How many trials search strategies need: networks and operators are tuned by each strategy with
// several seeds, on this machine or on one that is simulated.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "bayloom/base/result.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/base/thread_pool.h"
#include "bayloom/cli/options/model_option.h"
#include "bayloom/codegen/host.h"
#include "bayloom/experimental/strategy/rocke2024_search.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/measure/runner_main.h"
#include "bayloom/tuning/prior.h"
#include "bayloom/tuning/tuning_subject.h"
#include "benchmarks/run_tool.h"
#include "benchmarks/strategies/comparison.h"
#include "benchmarks/strategies/tuning_run.h"

namespace bayloom {
namespace {

struct StrategiesOptions {
  std::vector<std::string> subjects;
  std::vector<std::string> strategies = {"evolutionary",  "rocke2024:naive",    "rocke2024:heap",
                                         "rocke2024:lru", "rocke2024:heap+lru", "bayes"};
  std::string reference = "evolutionary";
  int seeds = 3, first_seed = 1;
  int tasks = 0;
  int runs_at_once = 1;
  std::vector<std::string> learn_from;
  std::string json;
  TuningRunOptions run;
  experimental::Rocke2024Options rocke;
};

tuning::TuningSubject Load(const std::string& subject) {
  if (!subject.ends_with(".onnx")) return tuning::OperatorSubject(subject);
  cli::ModelOption model;
  model.path = subject;
  return tuning::NetworkSubject(std::filesystem::path(subject).filename().string(), model.Load());
}

/// The tasks with the most work, if not all are wanted.
std::vector<tuning::TaskSpec> Heaviest(std::vector<tuning::TaskSpec> specs, int count) {
  if (count <= 0 || count >= std::ssize(specs)) return specs;
  const auto work = [](const tuning::TaskSpec& spec) {
    return spec.weight * spec.workload.Flops();
  };
  std::stable_sort(
      specs.begin(), specs.end(),
      [&](const tuning::TaskSpec& a, const tuning::TaskSpec& b) { return work(a) > work(b); });
  specs.erase(specs.begin() + count, specs.end());
  return specs;
}

std::vector<TuningRun> RunAll(const tuning::TuningSubject& subject,
                              const StrategiesOptions& options, base::ThreadPool& pool) {
  const std::vector<tuning::TaskSpec> specs = Heaviest(subject.specs, options.tasks);
  const int count = static_cast<int>(options.strategies.size());
  std::vector<TuningRun> runs(static_cast<size_t>(options.seeds * count));
  pool.ParallelFor(std::ssize(runs), [&](int64_t i) {
    TuningRunOptions run = options.run;
    run.subject = subject.name;
    run.seed = options.first_seed + static_cast<int>(i) / count;
    run.strategy = options.strategies[static_cast<size_t>(i % count)];
    runs[static_cast<size_t>(i)] = Tune(specs, run);
    const TuningRun& done = runs[static_cast<size_t>(i)];
    fmt::print(stderr, "{} {} seed {}: {:.4g} ms after {} trials, {:.0f} s\n", subject.name,
               done.strategy, done.seed, done.final_seconds() * 1e3, done.trials,
               done.phases.Total());
  });
  return runs;
}

std::string Trials(double count, int most) {
  return count > most ? fmt::format(">{}", most) : fmt::format("{:.0f}", count);
}

void Run(const StrategiesOptions& given) {
  StrategiesOptions options = given;
  if (!options.learn_from.empty()) {
    const target::Target target = codegen::TargetNamed(options.run.target, options.run.threads);
    const tuning::TrialPrior prior = tuning::LearnFromDatabases(options.learn_from, target);
    options.run.prior = prior.stored.bytes;
    fmt::print(stderr, "prior: {} trials of {} tasks, {} bytes\n", prior.stored.trials,
               prior.stored.tasks, prior.stored.bytes.size());
  }
  experimental::RegisterRocke2024(options.rocke);
  const bool imagined = options.run.estimated || !options.run.simulated_machine.empty();
  base::ThreadPool pool(imagined ? options.runs_at_once : 1);
  if (options.run.estimated) fmt::print("times are estimated, not measured\n");
  nlohmann::json results = nlohmann::json::array();
  fmt::print("{:<22}{:<16}{:>10}{:>8}{:>9}{:>9}{:>8}{:>9}{:>7}{:>7}\n", "subject", "strategy", "ms",
             "ratio", "trials", "theirs", "share", "refused", "rmse", "score");
  for (const std::string& name : options.subjects) {
    const std::vector<TuningRun> runs = RunAll(Load(name), options, pool);
    for (const Comparison& c : Compare(runs, options.reference)) {
      fmt::print("{:<22}{:<16}{:>10.4g}{:>8.3f}{:>9}{:>9}{:>8.2f}{:>9.3f}{:>7.3f}{:>7.3f}\n",
                 c.subject, c.strategy, c.seconds * 1e3, c.ratio,
                 Trials(c.trials_to_reference, options.run.trials),
                 Trials(c.reference_trials, options.run.trials), c.strategy_share, c.refused,
                 c.rmse, c.score);
    }
    std::fflush(stdout);
    for (const TuningRun& run : runs) results.push_back(ToJson(run));
  }
  if (options.json.empty()) return;
  std::FILE* file = std::fopen(options.json.c_str(), "w");
  if (file == nullptr) throw InputError(options.json + ": cannot write");
  fmt::print(file, "{}\n", results.dump());
  std::fclose(file);
}

/// For ablations.
void AddStrategyOptions(CLI::App& app, StrategiesOptions& options) {
  strategy::BayesOptions& bayes = options.run.bayes;
  app.add_option("--first-surrogate-weight", bayes.first_surrogate_weight)->capture_default_str();
  app.add_option("--last-surrogate-weight", bayes.last_surrogate_weight)->capture_default_str();
  app.add_option("--first-curiosity", bayes.first_curiosity)->capture_default_str();
  app.add_option("--last-curiosity", bayes.last_curiosity)->capture_default_str();
  app.add_option("--trusts-informed-scores", bayes.trusts_informed_scores)->capture_default_str();
  app.add_option("--half-way-at", bayes.half_way_at)->capture_default_str();
  app.add_option("--shortlist", bayes.shortlist)->capture_default_str();
  app.add_option("--epsilon", bayes.epsilon)->capture_default_str();
  app.add_option("--first-epsilon", bayes.first_epsilon)->capture_default_str();
  app.add_option("--trade-off", options.rocke.trade_off, "kappa or xi of rocke2024");
  app.add_option("--memory-limit", options.rocke.memory_limit)->capture_default_str();
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  if (const std::optional<int> code = bayloom::measure::RunAsRunner(argc, argv)) return *code;
  bayloom::StrategiesOptions options;
  CLI::App app(
      "Tunes with several strategies and counts the trials each needs. Of a line, `ratio` is the "
      "reference's final latency over the strategy's, `trials` those the strategy needs to the "
      "reference's final latency, `theirs` those the reference needs to the strategy's, `share` "
      "the strategy's part of the tuning time, `refused` that of the proposed schedules that are "
      "infeasible; `rmse` and `score` are the cost model's.",
      "bayloom-strategies");
  app.add_option("subjects", options.subjects, "Models (*.onnx) and operators (as tune --op)")
      ->required();
  app.add_option("--strategies", options.strategies)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  app.add_option("--reference", options.reference)->capture_default_str();
  app.add_option("--seeds", options.seeds, "Tunings each")->capture_default_str();
  app.add_option("--first-seed", options.first_seed, "Of that many")->capture_default_str();
  app.add_option("--trials", options.run.trials, "Programs measured a tuning")
      ->capture_default_str();
  app.add_option("--scheduler", options.run.scheduler)->capture_default_str();
  app.add_option("--tasks", options.tasks, "Only so many tasks of a model, those of most work");
  app.add_option("--threads", options.run.threads, "Threads that tuned code uses")
      ->capture_default_str();
  app.add_option("--simulate", options.run.simulated_machine,
                 "A model of throughput (bayloom pretrain) that stands for the machine");
  app.add_option("--target", options.run.target, "As of bayloom tune")->capture_default_str();
  app.add_flag("--estimated", options.run.estimated,
               "Of a GPU: take times from the estimate, as of an imaginary device");
  app.add_flag("--unknown-limits", options.run.unknown_limits,
               "Of a GPU: design spaces that know nothing of its limits, as other tuners have");
  app.add_flag("--tight", options.run.tight, "Refuse nearly all programs, as accelerators do");
  app.add_option("--learn-from", options.learn_from,
                 "Begin with what tunings recorded in these databases teach")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--runs-at-once", options.runs_at_once, "Simulated tunings at a time")
      ->capture_default_str();
  app.add_option("--db", options.run.database,
                 "Where trials are recorded; what is there already is not done again")
      ->capture_default_str();
  bayloom::AddStrategyOptions(app, options);
  app.add_option("--json", options.json, "Also write all curves to this file");
  bayloom::base::CatchStopSignals();
  return bayloom::RunTool(app, argc, argv, [&] { bayloom::Run(options); });
}
