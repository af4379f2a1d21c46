// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

/// How many evaluations a search needs with earlier ones to learn from: on an accelerator it has
/// not seen, with searches on others of its kind (Kannan 2023, fig. 7); of an operation it has not
/// seen, with others on the same accelerator; with a rehearsal on a rough model.

#include <fmt/format.h>

#include <string>
#include <vector>

#include "bayloom/experimental/register.h"
#include "bayloom/trial/inline_evaluator.h"
#include "benchmarks/mapspace/mapper_comparison.h"

namespace bayloom {
namespace {

struct Arguments : ComparisonArguments {
  Arguments() { evaluations = 30; }

  std::vector<std::string> methods = {"none",     "contextual", "multitask",
                                      "stacking", "weighted",   "sum"};
  int64_t stored = 25;
  std::vector<std::string> ops;
  int64_t rehearse = 0;
  /// Which of the five is the one not seen.
  int unseen = 0;
};

/// GEMMINI with memories of other sizes, whose energies follow.
mapspace::Architecture Sized(int64_t registers, int64_t accumulator, int64_t scratchpad) {
  mapspace::Architecture architecture = mapspace::ShippedArchitecture("gemmini");
  architecture.name = fmt::format("gemmini-{}-{}-{}", registers, accumulator, scratchpad);
  const int64_t words[] = {registers, accumulator, scratchpad};
  for (int l = 0; l < 3; ++l) {
    mapspace::StorageLevel& level = architecture.levels[static_cast<size_t>(l)];
    level.words = words[l];
    level.access_energy_pj = mapspace::SramAccessEnergy(level.words / level.block_words,
                                                        level.word_bits * level.block_words);
  }
  return architecture;
}

std::vector<mapspace::Architecture> Family() {
  return {Sized(256, 16384, 262144), Sized(64, 4096, 65536), Sized(128, 32768, 131072),
          Sized(512, 8192, 524288), Sized(1024, 65536, 1048576)};
}

/// What was searched earlier: the same problem on the others of the family, or others that the
/// arguments name on the same architecture.
std::vector<mapspace::EarlierMappings> EarlierTasks(const mapspace::Problem& problem,
                                                    const Arguments& arguments) {
  const std::vector<mapspace::Architecture> family = Family();
  std::vector<mapspace::EarlierMappings> tasks;
  for (int i = 0; i < std::ssize(family) && arguments.ops.empty(); ++i) {
    const mapspace::Architecture& other = family[static_cast<size_t>(i)];
    if (i != arguments.unseen) tasks.push_back({other.name, problem, other, {}, {}});
  }
  const mapspace::Architecture& unseen = family.at(static_cast<size_t>(arguments.unseen));
  for (const std::string& op : arguments.ops) {
    tasks.push_back({op, mapspace::ParseProblem(op), unseen, {}, {}});
  }
  return tasks;
}

/// A short bayesian search for each of them.
std::vector<mapspace::EarlierMappings> Store(const mapspace::Problem& problem,
                                             const Arguments& arguments, int64_t seed) {
  std::vector<mapspace::EarlierMappings> store = EarlierTasks(problem, arguments);
  for (mapspace::EarlierMappings& task : store) {
    const mapspace::Mapspace mapspace(task.problem, task.architecture);
    const mapspace::AnalyticalModel model(task.problem, task.architecture);
    const mapspace::MapObjective objective = mapspace::ParseMapObjective(arguments.objective);
    trial::InlineEvaluator<mapspace::Mapping> evaluator([&](const mapspace::Mapping& mapping) {
      const trial::Outcome outcome = mapspace::EvaluateByModel(model, {{objective}}, mapping);
      if (outcome.ok()) {
        task.mappings.push_back(mapping);
        task.values.push_back(outcome.value);
      }
      return outcome;
    });
    mapspace::MapperOptions options = arguments.Options(1000 * seed + (&task - store.data()));
    options.run.budget.trials = arguments.stored;
    mapspace::RunMapper("bayesian", mapspace, model, evaluator, options);
  }
  return store;
}

/// An architecture to whose model all memories on the chip cost the same: what a rehearsal can be
/// like whose model is not the simulator.
mapspace::Architecture Rough(mapspace::Architecture architecture) {
  for (mapspace::StorageLevel& level : architecture.levels) {
    if (level.words != 0) level.access_energy_pj = static_cast<double>(level.block_words);
  }
  return architecture;
}

/// What a search learns from.
std::vector<mapspace::EarlierMappings> Lessons(const mapspace::Mapspace& mapspace,
                                               const Arguments& arguments, int64_t seed) {
  if (arguments.rehearse == 0) return Store(mapspace.problem(), arguments, seed);
  const mapspace::AnalyticalModel rough(mapspace.problem(), Rough(mapspace.architecture()));
  return {mapspace::WarmStartFromModel(mapspace, rough,
                                       mapspace::ParseMapObjective(arguments.objective),
                                       arguments.rehearse, static_cast<uint64_t>(seed))};
}

nlohmann::json Compare(const Arguments& arguments) {
  const mapspace::Problem problem = mapspace::ParseProblem(arguments.op);
  const mapspace::Architecture unseen = Family().at(static_cast<size_t>(arguments.unseen));
  const mapspace::Mapspace mapspace(problem, unseen);
  const mapspace::AnalyticalModel model(problem, unseen);
  const auto evaluator =
      mapspace::MakeModelEvaluator(model, {mapspace::ParseMapObjective(arguments.objective)});
  const double target = TargetOf(arguments, RunRandomPruned(mapspace, model, arguments));
  fmt::print("{} on {}, {} seeds; medians [quartiles] of the best {}\ntarget {:.4g}\n",
             problem.Describe(), unseen.name, arguments.seeds, arguments.objective, target);
  nlohmann::json raw = {{"unseen", unseen.name}, {"stored", arguments.stored}, {"target", target}};
  std::vector<std::vector<mapspace::EarlierMappings>> lessons;
  for (int64_t seed = arguments.first_seed; seed < arguments.EndSeed(); ++seed) {
    lessons.push_back(Lessons(mapspace, arguments, seed));
  }
  for (const std::string& method : arguments.methods) {
    SeededResults results;
    for (int64_t seed = arguments.first_seed; seed < arguments.EndSeed(); ++seed) {
      mapspace::MapperOptions options = arguments.Options(seed);
      if (method != "none") {
        options.earlier = lessons[static_cast<size_t>(seed - arguments.first_seed)];
        options.transfer = method;
      }
      results.push_back(mapspace::RunMapper("bayesian", mapspace, model, *evaluator, options));
    }
    PrintResults(method, results, target);
    raw["methods"][method] = ToJson(results, problem);
  }
  return raw;
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  bayloom::experimental::Register();
  bayloom::Arguments arguments;
  CLI::App app("Compares ways to learn from earlier searches", "bench_map_transfer");
  arguments.AddTo(app);
  app.add_option("--methods", arguments.methods)->delimiter(',')->allow_extra_args(false);
  app.add_option(
      "--ops", arguments.ops,
      "Learn from these operations on the same accelerator, not from other accelerators");
  app.add_option("--warm-start-model", arguments.rehearse,
                 "Learn instead from so many evaluations of a model to which all memories on the "
                 "chip cost the same");
  app.add_option("--stored", arguments.stored, "Evaluations of each of the earlier tasks")
      ->capture_default_str();
  app.add_option("--unseen", arguments.unseen, "Which of the five is new, 0 to 4")
      ->capture_default_str()
      ->check(CLI::Range(0, 4));
  return bayloom::RunComparison(app, argc, argv, arguments, [&] { return Compare(arguments); });
}
