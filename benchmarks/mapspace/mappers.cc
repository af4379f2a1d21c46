/// How many evaluations each mapper needs to be as good as a random search, over several seeds.

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/mapper.h"

namespace bayloom {
namespace {

struct Arguments {
  std::string op = "matmul:512,512,512";
  std::string architecture = "gemmini";
  std::string objective = "energy";
  std::vector<std::string> mappers = {"random-pruned", "genetic", "annealing", "bayesian"};
  std::string tiles = "factorization";
  std::string orders = "permutation";
  int64_t seeds = 20;
  int64_t evaluations = 300;
  /// The value to reach; 0: the median of random-pruned after 4,000.
  double target = 0;
  int top_k = 0;
  std::string json;
};

double Quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  return values[static_cast<size_t>(std::lround(q * static_cast<double>(values.size() - 1)))];
}

/// Evaluations until the value was at most the target; infinity if never.
double EvaluationsTo(const MapperResult& result, double target) {
  for (const MapperResult::Improvement& improvement : result.improvements) {
    if (improvement.value <= target) return static_cast<double>(improvement.evaluations);
  }
  return INFINITY;
}

std::vector<MapperResult> RunSeeds(const std::string& mapper, const Mapspace& mapspace,
                                   const AnalyticalModel& model, const Arguments& arguments,
                                   int64_t evaluations) {
  std::vector<MapperResult> results;
  const auto evaluator = MakeModelEvaluator(model, ParseMapObjective(arguments.objective));
  for (int64_t seed = 1; seed <= arguments.seeds; ++seed) {
    MapperOptions options;
    options.seed = static_cast<uint64_t>(seed);
    options.max_evaluations = evaluations;
    options.tiles = ParseTileEncoding(arguments.tiles);
    options.orders = ParseOrderEncoding(arguments.orders);
    options.top_k = arguments.top_k;
    options.objective = ParseMapObjective(arguments.objective);
    results.push_back(RunMapper(mapper, mapspace, model, *evaluator, options));
  }
  return results;
}

nlohmann::json ToJson(const std::vector<MapperResult>& results) {
  nlohmann::json seeds = nlohmann::json::array();
  for (const MapperResult& result : results) {
    nlohmann::json improvements = nlohmann::json::array();
    for (const MapperResult::Improvement& improvement : result.improvements) {
      improvements.push_back({improvement.evaluations, improvement.value});
    }
    seeds.push_back({{"evaluations", result.evaluations}, {"improvements", improvements}});
  }
  return seeds;
}

void PrintMapper(const std::string& name, const std::vector<MapperResult>& results, double target) {
  const auto quantiles = [&](const auto& figure) {
    std::vector<double> figures;
    for (const MapperResult& result : results) figures.push_back(figure(result));
    return fmt::format("{:8.4g} {:8.4g} {:8.4g}", Quantile(figures, 0.25), Quantile(figures, 0.5),
                       Quantile(figures, 0.75));
  };
  fmt::print("{:<14}", name);
  for (const int64_t count : {30, 60, 100, 300, 1000, 4000}) {
    if (count > results[0].evaluations && count != 30) continue;
    fmt::print(" {:>4}: {}", count,
               quantiles([&](const MapperResult& result) { return result.BestAfter(count); }));
  }
  fmt::print("  to target: {}  {:.3g} ms each\n",
             quantiles([&](const MapperResult& result) { return EvaluationsTo(result, target); }),
             1000 * results[0].seconds / static_cast<double>(results[0].evaluations));
}

void Run(Arguments arguments) {
  const Mapspace mapspace(ParseProblem(arguments.op), LoadArchitecture(arguments.architecture));
  const AnalyticalModel model(mapspace.problem(), mapspace.architecture());
  fmt::print("{} on {}, {} seeds; columns are quartiles of the best {} after so many evaluations\n",
             mapspace.problem().Describe(), mapspace.architecture().name, arguments.seeds,
             arguments.objective);
  const std::vector<MapperResult> random =
      RunSeeds("random-pruned", mapspace, model, arguments, 4000);
  if (arguments.target == 0) {
    std::vector<double> values;
    for (const MapperResult& result : random) values.push_back(result.value);
    arguments.target = Quantile(values, 0.5);
  }
  fmt::print("target {:.4g}\n", arguments.target);
  nlohmann::json raw = {{"op", arguments.op},
                        {"architecture", arguments.architecture},
                        {"objective", arguments.objective},
                        {"tiles", arguments.tiles},
                        {"orders", arguments.orders},
                        {"top_k", arguments.top_k},
                        {"target", arguments.target}};
  for (const std::string& mapper : arguments.mappers) {
    const std::vector<MapperResult> results =
        mapper == "random-pruned"
            ? random
            : RunSeeds(mapper, mapspace, model, arguments, arguments.evaluations);
    PrintMapper(mapper, results, arguments.target);
    raw["mappers"][mapper] = ToJson(results);
  }
  if (!arguments.json.empty()) std::ofstream(arguments.json) << raw << "\n";
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  bayloom::Arguments arguments;
  CLI::App app("Compares mappers by the evaluations they need");
  app.add_option("--op", arguments.op)->capture_default_str();
  app.add_option("--arch", arguments.architecture)->capture_default_str();
  app.add_option("--objective", arguments.objective)->capture_default_str();
  app.add_option("--mappers", arguments.mappers)->delimiter(',');
  app.add_option("--tiles", arguments.tiles)->capture_default_str();
  app.add_option("--orders", arguments.orders)->capture_default_str();
  app.add_option("--seeds", arguments.seeds)->capture_default_str();
  app.add_option("--evaluations", arguments.evaluations)->capture_default_str();
  app.add_option("--target", arguments.target, "The median of random-pruned at 4,000 if not given");
  app.add_option("--top-k", arguments.top_k, "Of the optimizers, search only so many parameters");
  app.add_option("--json", arguments.json, "Write how every search got on into this file");
  CLI11_PARSE(app, argc, argv);
  try {
    bayloom::Run(arguments);
  } catch (const bayloom::InputError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
