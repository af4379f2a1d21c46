// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// How many evaluations each optimizer needs on tuning spaces that were run completely: searches
// are replayed from the records, with many seeds.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "bayloom/base/result.h"
#include "bayloom/base/thread_pool.h"
#include "bayloom/experimental/register.h"
#include "benchmarks/run_tool.h"
#include "benchmarks/simulate/loop_order_task.h"
#include "benchmarks/simulate/simulation.h"

namespace bayloom {
namespace {

constexpr double kShares[] = {0.10, 0.05, 0.01};

constexpr std::string_view kLoopOrder = "loop-order";

struct SimulateOptions {
  std::vector<std::string> records;
  std::vector<std::string> optimizers;
  int seeds = 30;
  uint64_t first_seed = 1;
  int trials = 500;
  double until = 0;  ///< share of the optimum
  int batch = 1;
  int threads = 1;
  std::string json;
  space::PermutationMetric metric = space::PermutationMetric::kSpearman;
  optimizer::OptimizerOptions optimizer;
};

/// "31", or ">500" where the search ended before.
std::string Count(int trials, int max_trials) {
  return trials > max_trials ? fmt::format(">{}", max_trials) : std::to_string(trials);
}

/// "31 (20 .. 44)": median and quartiles.
std::string Quartiles(std::vector<int> counts, int max_trials) {
  std::sort(counts.begin(), counts.end());
  const auto at = [&](size_t quarter) {
    return Count(counts[quarter * (counts.size() - 1) / 4], max_trials);
  };
  return fmt::format("{} ({} .. {})", at(2), at(1), at(3));
}

nlohmann::json ToJson(const std::vector<Curve>& curves, const RecordedTask& task) {
  nlohmann::json runs = nlohmann::json::array();
  for (const Curve& curve : curves) {
    nlohmann::json improvements = nlohmann::json::array();
    for (const Curve::Point& p : curve.improvements) improvements.push_back({p.trial, p.value});
    nlohmann::json reached;
    for (double share : kShares) {
      const int count = curve.TrialsToReach(task.optimum, share);
      reached.push_back(count > curve.trials ? nlohmann::json() : nlohmann::json(count));
    }
    runs.push_back({{"trials", curve.trials},
                    {"improvements", improvements},
                    {"trials_to_reach", reached},
                    {"seconds_asking", curve.seconds_asking}});
  }
  return runs;
}

std::vector<Curve> SimulateSeeds(const RecordedTask& task, const std::string& optimizer,
                                 const SimulateOptions& options, base::ThreadPool& pool) {
  std::vector<Curve> curves(static_cast<size_t>(options.seeds));
  pool.ParallelFor(options.seeds, [&](int64_t seed) {
    optimizer::OptimizerOptions seeded = options.optimizer;
    seeded.seed = options.first_seed + static_cast<uint64_t>(seed);
    curves[static_cast<size_t>(seed)] =
        Simulate(task, optimizer, seeded, {options.trials, options.until}, options.batch);
  });
  return curves;
}

void Run(const SimulateOptions& options) {
  base::ThreadPool pool(options.threads);
  nlohmann::json results = nlohmann::json::array();
  fmt::print("{:<20}{:<16}{:<22}{:<22}{:<22}{}\n", "space", "optimizer", "within 10 %",
             "within 5 %", "within 1 %", "ms/trial");
  for (const std::string& path : options.records) {
    const RecordedTask task =
        path == kLoopOrder ? MakeLoopOrderTask(options.metric) : LoadRecordedTask(path);
    for (const std::string& optimizer : options.optimizers) {
      const std::vector<Curve> curves = SimulateSeeds(task, optimizer, options, pool);
      std::string columns;
      for (double share : kShares) {
        std::vector<int> counts;
        for (const Curve& c : curves) counts.push_back(c.TrialsToReach(task.optimum, share));
        columns += fmt::format("{:<22}", Quartiles(counts, options.trials));
      }
      double seconds = 0, trials = 0;
      for (const Curve& c : curves) {
        seconds += c.seconds_asking;
        trials += c.trials;
      }
      fmt::print("{:<20}{:<16}{}{:.2f}\n", task.name, optimizer, columns, 1e3 * seconds / trials);
      std::fflush(stdout);
      results.push_back({{"space", task.name},
                         {"optimizer", optimizer},
                         {"optimum", task.optimum},
                         {"batch", options.batch},
                         {"max_trials", options.trials},
                         {"shares", kShares},
                         {"runs", ToJson(curves, task)}});
    }
  }
  if (options.json.empty()) return;
  std::FILE* file = std::fopen(options.json.c_str(), "w");
  if (file == nullptr) throw InputError(options.json + ": cannot write");
  fmt::print(file, "{}\n", results.dump());
  std::fclose(file);
}

void AddSurrogateOptions(CLI::App& app, optimizer::BayesianOptions& options) {
  const std::map<std::string, acquisition::AcquisitionKind> acquisitions = {
      {"ei", acquisition::AcquisitionKind::kExpectedImprovement},
      {"pi", acquisition::AcquisitionKind::kProbabilityOfImprovement},
      {"bound", acquisition::AcquisitionKind::kConfidenceBound}};
  const std::map<std::string, model::ObjectiveScale> scales = {
      {"auto", model::ObjectiveScale::kAuto},
      {"linear", model::ObjectiveScale::kLinear},
      {"log", model::ObjectiveScale::kLog}};
  const std::map<std::string, optimizer::PendingPolicy> policies = {
      {"believer", optimizer::PendingPolicy::kBeliever}, {"liar", optimizer::PendingPolicy::kLiar}};
  const std::map<std::string, space::SamplingMethod> samplings = {
      {"uniform", space::SamplingMethod::kUniformLeaves},
      {"biased", space::SamplingMethod::kBiasedPath}};
  app.add_option("--acquisition", options.acquisition, "ei, pi or bound")
      ->transform(CLI::CheckedTransformer(acquisitions));
  app.add_option("--alternate-with-forest", options.alternate_with_forest)->capture_default_str();
  app.add_option("--noise-free", options.noise_free)->capture_default_str();
  app.add_option("--objective", options.objective, "auto, linear or log")
      ->transform(CLI::CheckedTransformer(scales));
  app.add_option("--pending", options.pending, "believer or liar")
      ->transform(CLI::CheckedTransformer(policies));
  app.add_option("--learn-feasibility", options.learn_feasibility)->capture_default_str();
  app.add_option("--feasibility-threshold", options.feasibility_threshold)->capture_default_str();
  app.add_option("--score-all-up-to", options.score_all_up_to)->capture_default_str();
  app.add_option("--random-candidates", options.random_candidates)->capture_default_str();
  app.add_option("--logarithms", options.features.logarithms)->capture_default_str();
  app.add_option("--halvings", options.features.halvings)->capture_default_str();
  app.add_option("--quantities", options.features.quantities)->capture_default_str();
  app.add_option("--hyperparameter-priors", options.hyperparameter_priors)->capture_default_str();
  app.add_option("--sampling", options.sampling, "uniform or biased")
      ->transform(CLI::CheckedTransformer(samplings));
  app.add_option("--local-searches", options.local_searches)->capture_default_str();
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  bayloom::experimental::Register();
  bayloom::SimulateOptions options;
  options.optimizers = bayloom::optimizer::Optimizers().AllNames();
  CLI::App app(
      "Counts the evaluations that optimizers need to come near the optimum of tuning spaces whose "
      "configurations were all recorded: median and quartiles over the seeds.",
      "bayloom-simulate");
  app.add_option("records", options.records,
                 "T4 files, each with its T1.json beside it; scenarios, each with its T4 file; or "
                 "loop-order, a made-up space")
      ->required();
  app.add_option("--optimizers", options.optimizers)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  app.add_option("--seeds", options.seeds, "Searches each")->capture_default_str();
  app.add_option("--first-seed", options.first_seed, "Of the seeds, which follow one another")
      ->capture_default_str();
  app.add_option("--trials", options.trials, "Evaluations a search, at most")
      ->capture_default_str();
  app.add_option(
         "--until", options.until,
         "Searches end within this share of the optimum; 0.01 leaves out what is not counted")
      ->capture_default_str();
  app.add_option("--batch", options.batch, "Evaluations asked for at a time")
      ->capture_default_str();
  app.add_option("--initial", options.optimizer.initial_samples, "Random trials at the start");
  app.add_option("--threads", options.threads, "Searches at a time")->capture_default_str();
  app.add_option("--json", options.json, "Also write all curves to this file");
  const std::map<std::string, bayloom::space::PermutationMetric> metrics = {
      {"spearman", bayloom::space::PermutationMetric::kSpearman},
      {"kendall", bayloom::space::PermutationMetric::kKendall},
      {"hamming", bayloom::space::PermutationMetric::kHamming},
      {"naive", bayloom::space::PermutationMetric::kNaive}};
  app.add_option("--metric", options.metric, "Of loop-order: spearman, kendall, hamming or naive")
      ->transform(CLI::CheckedTransformer(metrics));
  bayloom::AddSurrogateOptions(app, options.optimizer.bayesian);
  return bayloom::RunTool(app, argc, argv, [&] { bayloom::Run(options); });
}
