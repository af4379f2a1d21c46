// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// Tables 6 to 9 of "BaCO: A Fast and Portable Bayesian Compiler Optimization Framework" (Hellsten
// et al., 2023) on compilers whose tuning spaces were run completely: how good the best
// configuration found with a third, two thirds and all of the budget is, and how many times fewer
// evaluations one optimizer needs to reach what the others end with. Searches are replayed from the
// records, with many seeds.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/base/thread_pool.h"
#include "bayloom/experimental/register.h"
#include "bayloom/search/recorded_space.h"
#include "bayloom/search/scenario.h"
#include "bayloom/search/study.h"
#include "bayloom/space/configuration_json.h"
#include "benchmarks/result_file.h"
#include "benchmarks/run_tool.h"

namespace bayloom {
namespace {

struct TableOptions {
  std::vector<std::string> scenarios;
  std::vector<std::string> optimizers;
  std::string ours = "bayesian";
  std::string metric;  ///< of all permutations; empty: what the scenario says
  int seeds = 30;
  int threads = 1;
  double noise = 0;    ///< standard deviation of the logarithm of what a trial sees of a value
  int repeated = 0;    ///< of the best, how many are evaluated again before one is chosen
  std::string result;  ///< a file to write; empty: none
};

struct Benchmark {
  search::Scenario scenario;
  std::unordered_map<space::Configuration, trial::Outcome> outcomes;  ///< of all configurations
  double best = std::numeric_limits<double>::quiet_NaN();
  int budget = 0;
};

/// How near a value is to the best there is: 1 is the best, 0.5 is half as fast.
double RelativePerformance(const Benchmark& benchmark, double value) {
  return benchmark.scenario.objectives[0].maximize ? value / benchmark.best
                                                   : benchmark.best / value;
}

/// The scenario at the path, as if its permutations, which say nothing of it, had that metric.
search::Scenario LoadWithMetric(const std::string& path, const std::string& metric) {
  if (metric.empty()) return search::LoadScenario(path);
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::string type = "type: permutation";
  for (size_t at = text.find(type); at != std::string::npos; at = text.find(type, at + 1)) {
    text.insert(at + type.size(), ", metric: " + metric);
  }
  return search::ParseScenario(text, path);
}

/// Reads NAME.yaml and the record NAME_T4.json.gz beside it.
Benchmark LoadBenchmark(const std::string& path, const std::string& metric) {
  const std::filesystem::path file(path);
  const std::string record = (file.parent_path() / (file.stem().string() + "_T4.json.gz")).string();
  Benchmark benchmark;
  benchmark.scenario = LoadWithMetric(path, metric);
  const search::Scenario& scenario = benchmark.scenario;
  const search::RecordedSpace recorded =
      search::RecordedSpace::Load(record, {scenario.objectives[0].name});
  benchmark.best = scenario.objectives[0].maximize ? recorded.Max() : recorded.Min();
  benchmark.budget = static_cast<int>(scenario.max_trials.value_or(60));
  scenario.space->ForEach([&](const space::Configuration& c) {
    benchmark.outcomes.emplace(c, recorded.OutcomeOf(space::ToJson(*scenario.space, c)));
    return true;
  });
  if (static_cast<int64_t>(benchmark.outcomes.size()) == recorded.size()) return benchmark;
  throw InputError(fmt::format("{}: the space has {} configurations, but {} are recorded", record,
                               benchmark.outcomes.size(), recorded.size()));
}

/// Relative performance of the best configuration after so many evaluations (index 0: after one);
/// 0 while nothing works.
using Curve = std::vector<double>;

/// What trials see of recorded values, and which of them is chosen by that.
class NoisyTrials {
 public:
  NoisyTrials(const Benchmark& benchmark, const TableOptions& options, uint64_t seed)
      : benchmark_(benchmark), options_(options), random_(seed) {}

  trial::Outcome Evaluate(const space::Configuration& configuration) {
    const trial::Outcome& outcome = benchmark_.outcomes.at(configuration);
    trial::Outcome seen = outcome;
    if (outcome.ok()) {
      seen.value = See(outcome.value);
      trials_.emplace_back(Cost(seen.value), outcome.value);
    }
    return seen;
  }

  /// How good what is chosen in the end really is; what is evaluated again takes the place of the
  /// last trials.
  double Chosen() {
    const size_t again = static_cast<size_t>(options_.repeated * kRounds);
    std::vector<std::pair<double, double>> best(trials_);
    if (best.size() > 2 * again) best.resize(best.size() - again);
    std::ranges::sort(best);
    if (best.empty()) return 0;
    if (options_.repeated == 0) return RelativePerformance(benchmark_, best[0].second);
    best.resize(std::min(best.size(), static_cast<size_t>(options_.repeated)));
    for (auto& [cost, value] : best) {
      std::array<double, kRounds> costs;
      for (double& one : costs) one = Cost(See(value));
      std::ranges::sort(costs);
      cost = costs[kRounds / 2];
    }
    return RelativePerformance(benchmark_, std::ranges::min(best).second);
  }

 private:
  static constexpr int kRounds = 3;  // as those of `bayloom search --repeat-best`

  double See(double value) { return value * std::exp(options_.noise * random_.Normal()); }
  double Cost(double value) const {
    return benchmark_.scenario.objectives[0].maximize ? -value : value;
  }

  const Benchmark& benchmark_;
  const TableOptions& options_;
  base::RandomStream random_;
  std::vector<std::pair<double, double>> trials_;  ///< the cost as it was seen, and the value
};

/// One search as `bayloom search` makes it: the scenario's default comes first.
Curve Replay(const Benchmark& benchmark, const std::string& optimizer, const TableOptions& options,
             uint64_t seed) {
  search::Study study(benchmark.scenario, optimizer::MakeOptimizer(
                                              optimizer, benchmark.scenario.space, {.seed = seed}));
  NoisyTrials trials(benchmark, options, seed);
  Curve curve;
  while (static_cast<int>(curve.size()) < benchmark.budget) {
    for (const space::Configuration& c : study.Ask(1)) study.Tell(c, trials.Evaluate(c), 0);
    curve.push_back(trials.Chosen());
  }
  return curve;
}

/// The mean of all seeds.
Curve Measure(const Benchmark& benchmark, const std::string& optimizer, const TableOptions& options,
              base::ThreadPool& pool) {
  std::vector<Curve> curves(static_cast<size_t>(options.seeds));
  pool.ParallelFor(options.seeds, [&](int64_t i) {
    curves[static_cast<size_t>(i)] =
        Replay(benchmark, optimizer, options, static_cast<uint64_t>(i) + 1);
  });
  Curve mean(static_cast<size_t>(benchmark.budget), 0.0);
  for (const Curve& curve : curves) {
    for (size_t i = 0; i < mean.size(); ++i) mean[i] += curve[i] / options.seeds;
  }
  return mean;
}

/// The budget over the evaluations until `ours` is as good as `theirs` ends; NaN if that is never.
double Factor(const Curve& ours, const Curve& theirs) {
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
  std::vector<std::vector<Curve>> curves;  ///< of each benchmark, of each optimizer
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
    PrintRow(results.benchmarks[b].scenario.name, cells);
  }
  std::vector<std::string> means;
  for (size_t column = 0; column < columns.size(); ++column) {
    means.push_back(Cell(sums[column] / counts[column]));
  }
  PrintRow("mean", means);
}

void PrintSpaces(const Results& results) {
  PrintRow("benchmark", {"parameters", "configurations", "fail", "budget", "default"});
  PrintRow("---", std::vector<std::string>(5, "---"));
  for (const Benchmark& b : results.benchmarks) {
    int64_t failing = 0;
    for (const auto& [configuration, outcome] : b.outcomes) failing += outcome.ok() ? 0 : 1;
    const auto& start = b.scenario.default_configuration;
    const trial::Outcome usual = start ? b.outcomes.at(*start) : trial::Outcome();
    PrintRow(b.scenario.name,
             {std::to_string(b.scenario.space->size()), std::to_string(b.outcomes.size()),
              std::to_string(failing), std::to_string(b.budget),
              Cell(RelativePerformance(b, usual.value))});
  }
}

/// What the optimizer had after so many thirds of the budget.
double PerformanceAfter(const Results& results, size_t benchmark, size_t optimizer, int thirds) {
  const int trials = std::max(1, results.benchmarks[benchmark].budget * thirds / 3);
  return results.curves[benchmark][optimizer][static_cast<size_t>(trials) - 1];
}

/// The figures of one benchmark, or means of them all, by the names of their columns.
using ResultRow = nlohmann::ordered_json;

ResultRow SpaceRow(const Benchmark& benchmark) {
  int64_t failing = 0;
  for (const auto& [configuration, outcome] : benchmark.outcomes) failing += outcome.ok() ? 0 : 1;
  ResultRow row = {{"benchmark", benchmark.scenario.name},
                   {"parameters", benchmark.scenario.space->size()},
                   {"configurations", benchmark.outcomes.size()},
                   {"failing", failing},
                   {"budget", benchmark.budget}};
  const auto& start = benchmark.scenario.default_configuration;
  if (start) row["default"] = RelativePerformance(benchmark, benchmark.outcomes.at(*start).value);
  return row;
}

/// The means of numbers that every row has; a factor that is never reached has none.
ResultRow MeanRow(const ResultRow& rows) {
  ResultRow mean = {{"benchmark", "mean"}};
  std::map<std::string, int> counts;
  for (const ResultRow& row : rows) {
    for (const auto& [name, value] : row.items()) {
      if (!value.is_number_float()) continue;
      mean[name] = mean.value(name, 0.0) + value.get<double>();
      ++counts[name];
    }
  }
  for (const auto& [name, count] : counts) mean[name] = mean[name].get<double>() / count;
  return mean;
}

/// All tables as rows: performance after each third of the budget, and factors of `ours`.
ResultRow ResultRows(const Results& results, const TableOptions& options) {
  const auto name_of = [&](size_t optimizer) {
    std::string name = options.optimizers[optimizer];
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
  };
  const auto ours = std::find(options.optimizers.begin(), options.optimizers.end(), options.ours);
  ResultRow rows = ResultRow::array();
  for (size_t b = 0; b < results.benchmarks.size(); ++b) {
    ResultRow row = SpaceRow(results.benchmarks[b]);
    for (const auto& [thirds, share] : {std::pair(1, "third"), {2, "two_thirds"}, {3, "full"}}) {
      for (size_t i = 0; i < options.optimizers.size(); ++i) {
        row[name_of(i) + "_" + share] = PerformanceAfter(results, b, i, thirds);
      }
    }
    for (size_t i = 0; i < options.optimizers.size() && ours != options.optimizers.end(); ++i) {
      const auto index = static_cast<size_t>(ours - options.optimizers.begin());
      if (i == index) continue;
      const double factor = Factor(results.curves[b][index], results.curves[b][i]);
      row["factor_over_" + name_of(i)] = std::isnan(factor) ? ResultRow() : ResultRow(factor);
    }
    rows.push_back(std::move(row));
  }
  rows.push_back(MeanRow(rows));
  return rows;
}

Results Run(const TableOptions& options) {
  base::ThreadPool pool(options.threads);
  Results results;
  for (const std::string& path : options.scenarios) {
    results.benchmarks.push_back(LoadBenchmark(path, options.metric));
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
                 return PerformanceAfter(results, b, column, thirds);
               });
  }
  const auto ours = std::find(options.optimizers.begin(), options.optimizers.end(), options.ours);
  if (ours == options.optimizers.end()) return results;
  const auto index = static_cast<size_t>(ours - options.optimizers.begin());
  std::vector<std::string> others = options.optimizers;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(index));
  PrintTable(fmt::format("How many times fewer evaluations {} needs to reach what the others end "
                         "with:",
                         *ours),
             results, others, [&](size_t b, size_t column) {
               const size_t other = column < index ? column : column + 1;
               return Factor(results.curves[b][index], results.curves[b][other]);
             });
  return results;
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  bayloom::experimental::Register();
  bayloom::TableOptions options;
  options.optimizers = bayloom::optimizer::Optimizers().AllNames();
  CLI::App app(
      "Prints how good the configurations are that optimizers find on recorded compilers with "
      "parts of the budget, relative to the best there is, and how many times fewer evaluations "
      "one "
      "of them needs.",
      "bayloom-compilers");
  app.add_option("scenarios", options.scenarios, "Scenarios, each with NAME_T4.json.gz beside it")
      ->required();
  app.add_option("--optimizers", options.optimizers)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  app.add_option("--ours", options.ours, "The optimizer that the others are compared to")
      ->capture_default_str();
  app.add_option("--metric", options.metric,
                 "Of all permutations: spearman, kendall, hamming or naive")
      ->check(CLI::IsMember({"spearman", "kendall", "hamming", "naive"}));
  app.add_option("--seeds", options.seeds, "Searches each")->capture_default_str();
  app.add_option("--threads", options.threads, "Searches at a time")->capture_default_str();
  app.add_option("--noise", options.noise,
                 "Trials see values times exp(N(0, NOISE)); tables say how good what is chosen is");
  app.add_option("--repeat-best", options.repeated,
                 "So many of the best are evaluated again, three times each, in place of the last "
                 "trials");
  app.add_option("--result", options.result, "Also write a result file");
  return bayloom::RunTool(app, argc, argv, [&] {
    const bayloom::Results results = bayloom::Run(options);
    if (options.result.empty()) return;
    bayloom::WriteResult(
        options.result,
        {"Search on recorded spaces of real compilers",
         {},
         "The spaces were recorded with Yosys 0.23, nextpnr 0.4, LLVM 19 and TACO.",
         ResultRows(results, options)},
        argc, argv);
  });
}
