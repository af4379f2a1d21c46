// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// How many evaluations each mapper needs to be as good as a random search, over several seeds.

#include <fmt/format.h>

#include <string>
#include <vector>

#include "bayloom/experimental/register.h"
#include "benchmarks/mapspace/mapper_comparison.h"

namespace bayloom {
namespace {

struct Arguments : ComparisonArguments {
  std::vector<std::string> mappers = {"random-pruned", "genetic", "annealing", "bayesian"};
  int top_k = 0;
};

SeededResults RunSeeds(const std::string& mapper, const mapspace::Mapspace& mapspace,
                       const mapspace::AnalyticalModel& model, const Arguments& arguments) {
  SeededResults results;
  const auto evaluator =
      mapspace::MakeModelEvaluator(model, {mapspace::ParseMapObjective(arguments.objective)});
  for (int64_t seed = arguments.first_seed; seed < arguments.EndSeed(); ++seed) {
    mapspace::MapperOptions options = arguments.Options(seed);
    options.top_k = arguments.top_k;
    results.push_back(mapspace::RunMapper(mapper, mapspace, model, *evaluator, options));
  }
  return results;
}

nlohmann::json Compare(const Arguments& arguments) {
  const mapspace::Mapspace mapspace(mapspace::ParseProblem(arguments.op),
                                    mapspace::LoadArchitecture(arguments.architecture));
  const mapspace::AnalyticalModel model(mapspace.problem(), mapspace.architecture());
  fmt::print("{} on {}, {} seeds; medians [quartiles] of the best {}\n",
             mapspace.problem().Describe(), mapspace.architecture().name, arguments.seeds,
             arguments.objective);
  const SeededResults random = RunRandomPruned(mapspace, model, arguments);
  const double target = TargetOf(arguments, random);
  fmt::print("target {:.4g}\n", target);
  nlohmann::json raw = {
      {"architecture", arguments.architecture}, {"top_k", arguments.top_k}, {"target", target}};
  for (const std::string& mapper : arguments.mappers) {
    const SeededResults results =
        mapper == "random-pruned" ? random : RunSeeds(mapper, mapspace, model, arguments);
    PrintResults(mapper, results, target);
    raw["mappers"][mapper] = ToJson(results, mapspace.problem());
  }
  return raw;
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  bayloom::experimental::Register();
  bayloom::Arguments arguments;
  CLI::App app("Compares mappers by the evaluations they need", "bench_mappers");
  arguments.AddTo(app);
  app.add_option("--arch", arguments.architecture)->capture_default_str();
  app.add_option("--mappers", arguments.mappers)->delimiter(',')->allow_extra_args(false);
  app.add_option("--top-k", arguments.top_k, "Of the optimizers, search only so many parameters");
  return bayloom::RunComparison(app, argc, argv, arguments, [&] { return Compare(arguments); });
}
