// Tables 6 to 9 of "BaCO: A Fast and Portable Bayesian Compiler Optimization Framework" (Hellsten
// et al., 2023) on compilers whose tuning spaces were run completely: how good the best
// configuration found with a third, two thirds and all of the budget is, and how much sooner one
// optimizer reaches what the others end with. Searches are replayed from the records, with many
// seeds.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "bayloom/base/result.h"
#include "bayloom/base/thread_pool.h"
#include "bayloom/external/recorded_space.h"
#include "bayloom/external/scenario.h"
#include "bayloom/space/configuration_json.h"
#include "benchmarks/simulate/simulation.h"

namespace bayloom {
namespace {

struct TableOptions {
  std::vector<std::string> scenarios;
  std::vector<std::string> optimizers;
  std::string ours = "bayesian";
  int seeds = 30;
  int threads = 1;
};

struct Benchmark {
  RecordedTask task;  ///< values as optimizers see them: less is better
  bool maximize = false;
  int budget = 0;
  double initial = 0;  ///< relative performance of the scenario's default, 0 where it fails
};

/// How near a value is to the best there is: 1 is the best, 0.5 is half as fast.
double RelativePerformance(const Benchmark& benchmark, double value) {
  if (!std::isfinite(value)) return 0;
  return benchmark.maximize ? value / benchmark.task.optimum : benchmark.task.optimum / value;
}

/// Reads NAME.yaml and the record NAME_T4.json.gz beside it.
Benchmark LoadBenchmark(const std::string& path) {
  const std::string record =
      (std::filesystem::path(path).parent_path() / std::filesystem::path(path).stem()).string() +
      "_T4.json.gz";
  const Scenario scenario = LoadScenario(path);
  const RecordedSpace recorded = RecordedSpace::Load(record, scenario.objective);
  Benchmark benchmark;
  benchmark.maximize = scenario.maximize;
  benchmark.budget = static_cast<int>(scenario.max_trials.value_or(60));
  RecordedTask& task = benchmark.task;
  task.name = scenario.name;
  task.space = scenario.space;
  task.optimum = std::numeric_limits<double>::infinity();
  scenario.space->ForEach([&](const Configuration& c) {
    Outcome outcome = recorded.OutcomeOf(ToJson(*scenario.space, c));
    if (benchmark.maximize) outcome.value = -outcome.value;
    if (outcome.ok()) task.optimum = std::min(task.optimum, outcome.value);
    task.outcomes.emplace(c, std::move(outcome));
    return true;
  });
  if (static_cast<int64_t>(task.outcomes.size()) != recorded.size()) {
    throw InputError(fmt::format("{}: the space has {} configurations, but {} are recorded", record,
                                 task.outcomes.size(), recorded.size()));
  }
  if (const auto& start = scenario.default_configuration) {
    const Outcome& outcome = task.outcomes.at(*start);
    if (outcome.ok()) benchmark.initial = RelativePerformance(benchmark, outcome.value);
  }
  return benchmark;
}

/// Relative performance after so many evaluations (index 0: after one), mean of the seeds.
using MeanCurve = std::vector<double>;

MeanCurve Measure(const Benchmark& benchmark, const std::string& optimizer,
                  const TableOptions& options, ThreadPool& pool) {
  std::vector<Curve> curves(static_cast<size_t>(options.seeds));
  pool.ParallelFor(options.seeds, [&](int64_t seed) {
    const OptimizerOptions seeded = {.seed = static_cast<uint64_t>(seed) + 1};
    curves[static_cast<size_t>(seed)] =
        Simulate(benchmark.task, optimizer, seeded, benchmark.budget, 1);
  });
  MeanCurve mean(static_cast<size_t>(benchmark.budget), 0.0);
  for (const Curve& curve : curves) {
    for (size_t i = 0; i < curve.improvements.size(); ++i) {
      const double reached = RelativePerformance(benchmark, curve.improvements[i].value);
      const int until = i + 1 < curve.improvements.size() ? curve.improvements[i + 1].trial
                                                          : benchmark.budget + 1;
      for (int trial = curve.improvements[i].trial; trial < until; ++trial) {
        mean[static_cast<size_t>(trial) - 1] += reached / options.seeds;
      }
    }
  }
  return mean;
}

/// The budget over the evaluations until `ours` is as good as `theirs` ends; NaN if that is never.
double Factor(const MeanCurve& ours, const MeanCurve& theirs) {
  constexpr double kRounding = 1e-12;
  const auto reached = std::find_if(ours.begin(), ours.end(), [&](double performance) {
    return performance >= theirs.back() - kRounding;
  });
  if (reached == ours.end()) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(ours.size()) / static_cast<double>(reached - ours.begin() + 1);
}

/// "4.62", or "-" where there is no number.
std::string Cell(double number) { return std::isnan(number) ? "-" : fmt::format("{:.2f}", number); }

void PrintRow(const std::string& name, const std::vector<std::string>& cells) {
  fmt::print("| {}", name);
  for (const std::string& cell : cells) fmt::print(" | {}", cell);
  fmt::print(" |\n");
}

struct Results {
  std::vector<Benchmark> benchmarks;
  std::vector<std::vector<MeanCurve>> curves;  ///< of each benchmark, of each optimizer
};

/// One table: a row a benchmark, a column an optimizer, and the mean of the columns.
template <typename CellOf>
void PrintTable(const std::string& title, const Results& results,
                const std::vector<std::string>& columns, const CellOf& cell_of) {
  fmt::print("\n{}\n\n", title);
  PrintRow("benchmark", columns);
  PrintRow("---", std::vector<std::string>(columns.size(), "---"));
  std::vector<double> sums(columns.size(), 0.0);
  std::vector<int> counts(columns.size(), 0);
  for (size_t b = 0; b < results.benchmarks.size(); ++b) {
    std::vector<std::string> cells;
    for (size_t column = 0; column < columns.size(); ++column) {
      const double number = cell_of(b, column);
      cells.push_back(Cell(number));
      if (std::isnan(number)) continue;
      sums[column] += number;
      ++counts[column];
    }
    PrintRow(results.benchmarks[b].task.name, cells);
  }
  std::vector<std::string> means;
  for (size_t column = 0; column < columns.size(); ++column) {
    means.push_back(Cell(sums[column] / counts[column]));
  }
  PrintRow("mean", means);
}

void PrintSpaces(const Results& results) {
  fmt::print("| benchmark | parameters | configurations | fail | budget | default |\n");
  PrintRow("---", std::vector<std::string>(5, "---"));
  for (const Benchmark& b : results.benchmarks) {
    int64_t failing = 0;
    for (const auto& [configuration, outcome] : b.task.outcomes) failing += outcome.ok() ? 0 : 1;
    PrintRow(b.task.name,
             {std::to_string(b.task.space->size()), std::to_string(b.task.outcomes.size()),
              std::to_string(failing), std::to_string(b.budget), Cell(b.initial)});
  }
}

void Run(const TableOptions& options) {
  ThreadPool pool(options.threads);
  Results results;
  for (const std::string& path : options.scenarios) {
    results.benchmarks.push_back(LoadBenchmark(path));
    results.curves.emplace_back();
    for (const std::string& optimizer : options.optimizers) {
      results.curves.back().push_back(Measure(results.benchmarks.back(), optimizer, options, pool));
    }
  }
  PrintSpaces(results);
  for (const auto& [share, name] : {std::pair(1, "a third"), {2, "two thirds"}, {3, "all"}}) {
    PrintTable(fmt::format("Relative performance with {} of the budget, mean of {} seeds:", name,
                           options.seeds),
               results, options.optimizers, [&, thirds = share](size_t b, size_t column) {
                 const int trials = std::max(1, results.benchmarks[b].budget * thirds / 3);
                 return results.curves[b][column][static_cast<size_t>(trials) - 1];
               });
  }
  const auto ours = std::find(options.optimizers.begin(), options.optimizers.end(), options.ours);
  if (ours == options.optimizers.end()) return;
  const auto index = static_cast<size_t>(ours - options.optimizers.begin());
  PrintTable(fmt::format("How many times sooner {} reaches what the others end with:", *ours),
             results, options.optimizers, [&](size_t b, size_t column) {
               return Factor(results.curves[b][index], results.curves[b][column]);
             });
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  bayloom::TableOptions options;
  for (std::string_view name : bayloom::OptimizerNames()) options.optimizers.emplace_back(name);
  CLI::App app(
      "Prints how good the configurations are that optimizers find on recorded compilers with "
      "parts "
      "of the budget, relative to the best there is, and how much sooner one of them finds them.",
      "bayloom-compilers");
  app.add_option("scenarios", options.scenarios, "Scenarios, each with NAME_T4.json.gz beside it")
      ->required();
  app.add_option("--optimizers", options.optimizers)->delimiter(',')->capture_default_str();
  app.add_option("--ours", options.ours, "The optimizer that the others are compared to")
      ->capture_default_str();
  app.add_option("--seeds", options.seeds, "Searches each")->capture_default_str();
  app.add_option("--threads", options.threads, "Searches at a time")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    bayloom::Run(options);
  } catch (const bayloom::InputError& error) {
    fmt::print(stderr, "bayloom-compilers: {}\n", error.what());
    return 2;
  }
  return 0;
}
