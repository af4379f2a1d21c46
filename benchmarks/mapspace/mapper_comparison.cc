// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/mapspace/mapper_comparison.h"

#include <fmt/format.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "bayloom/base/result.h"
#include "benchmarks/run_tool.h"

namespace bayloom {
namespace {

constexpr int64_t kRandomPruned = 4000;
/// Searches are looked at after so many evaluations, those that go on for longer and at their end.
constexpr int64_t kMarks[] = {1, 10, 30, 60, 100, 300, 1000, kRandomPruned};

/// Evaluations until the value was at most the target; infinity if never.
double EvaluationsTo(const mapspace::MapperResult& result, double target) {
  for (const mapspace::MapperResult::Improvement& improvement : result.improvements) {
    if (improvement.value <= target) return static_cast<double>(improvement.evaluations);
  }
  return INFINITY;
}

double Quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  return values[static_cast<size_t>(std::lround(q * static_cast<double>(values.size() - 1)))];
}

template <typename Figure>
std::string Quartiles(const SeededResults& results, const Figure& figure) {
  std::vector<double> figures;
  for (const mapspace::MapperResult& result : results) figures.push_back(figure(result));
  return fmt::format("{:.4g} [{:.4g}, {:.4g}]", Quantile(figures, 0.5), Quantile(figures, 0.25),
                     Quantile(figures, 0.75));
}

}  // namespace

void ComparisonArguments::AddTo(CLI::App& app) {
  app.add_option("--op", op)->capture_default_str();
  app.add_option("--objective", objective)->capture_default_str();
  app.add_option("--tile-encoding", tiles)->capture_default_str();
  app.add_option("--order-encoding", orders)->capture_default_str();
  app.add_option("--seeds", seeds)->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--first-seed", first_seed, "To run some seeds now and others later")
      ->capture_default_str();
  app.add_option("--evaluations", evaluations)->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--target", target, "The median of random-pruned at 4,000 if not given");
  app.add_option("--json", json, "Write the progress of every search into this file");
}

mapspace::MapperOptions ComparisonArguments::Options(int64_t seed) const {
  mapspace::MapperOptions options;
  options.run.seed = static_cast<uint64_t>(seed);
  options.run.budget.trials = evaluations;
  options.tiles = tiles;
  options.orders = orders;
  options.objectives = {mapspace::ParseMapObjective(objective)};
  return options;
}

SeededResults RunRandomPruned(const mapspace::Mapspace& mapspace,
                              const mapspace::AnalyticalModel& model,
                              const ComparisonArguments& arguments) {
  SeededResults results;
  const auto evaluator =
      mapspace::MakeModelEvaluator(model, {mapspace::ParseMapObjective(arguments.objective)});
  for (int64_t seed = arguments.first_seed; seed < arguments.EndSeed(); ++seed) {
    mapspace::MapperOptions options = arguments.Options(seed);
    options.run.budget.trials = kRandomPruned;
    results.push_back(mapspace::RunMapper("random-pruned", mapspace, model, *evaluator, options));
  }
  return results;
}

double TargetOf(const ComparisonArguments& arguments, const SeededResults& random) {
  if (arguments.target != 0) return arguments.target;
  std::vector<double> values;
  for (const mapspace::MapperResult& result : random) values.push_back(result.value);
  return Quantile(values, 0.5);
}

void PrintResults(const std::string& name, const SeededResults& results, double target) {
  const mapspace::MapperResult& first = results.front();
  fmt::print(
      "{}: at the target after {} evaluations, {:.3g} ms each\n", name,
      Quartiles(results, [&](const mapspace::MapperResult& r) { return EvaluationsTo(r, target); }),
      1000 * first.seconds / static_cast<double>(first.evaluations));
  for (const int64_t mark : kMarks) {
    if (mark > first.evaluations) break;
    fmt::print("  {:>5}: {}\n", mark, Quartiles(results, [&](const mapspace::MapperResult& r) {
                 return r.BestAfter(mark);
               }));
  }
  std::fflush(stdout);
}

nlohmann::json ToJson(const SeededResults& results, const mapspace::Problem& problem) {
  nlohmann::json seeds = nlohmann::json::array();
  for (const mapspace::MapperResult& result : results) {
    nlohmann::json improvements = nlohmann::json::array();
    for (const mapspace::MapperResult::Improvement& improvement : result.improvements) {
      improvements.push_back({improvement.evaluations, improvement.value});
    }
    seeds.push_back({{"evaluations", result.evaluations},
                     {"seconds", result.seconds},
                     {"improvements", improvements},
                     {"best", result.best ? mapspace::PrintCompact(*result.best, problem) : ""}});
  }
  return seeds;
}

int RunComparison(CLI::App& app, int argc, char** argv, const ComparisonArguments& arguments,
                  const std::function<nlohmann::json()>& compare) {
  return RunTool(app, argc, argv, [&] {
    std::ofstream file;
    if (!arguments.json.empty()) {
      file.open(arguments.json);
      if (!file) throw InputError("cannot write " + arguments.json);
    }
    nlohmann::json raw = compare();
    if (arguments.json.empty()) return;
    raw["op"] = arguments.op;
    raw["objective"] = arguments.objective;
    raw["tiles"] = arguments.tiles;
    raw["orders"] = arguments.orders;
    if (!(file << raw << "\n" << std::flush)) throw InputError("cannot write " + arguments.json);
  });
}

}  // namespace bayloom
