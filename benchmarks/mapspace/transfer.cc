/// How many evaluations a search needs with earlier ones to learn from: on an accelerator it has
/// not seen, with searches on others of its kind (Kannan 2023, fig. 7); of an operation it has not
/// seen, with others on the same accelerator; with a rehearsal on a rough model.

#include <fmt/format.h>

#include <string>
#include <vector>

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
Architecture Sized(int64_t registers, int64_t accumulator, int64_t scratchpad) {
  Architecture architecture = ShippedArchitecture("gemmini");
  architecture.name = fmt::format("gemmini-{}-{}-{}", registers, accumulator, scratchpad);
  const int64_t words[] = {registers, accumulator, scratchpad};
  for (int l = 0; l < 3; ++l) {
    StorageLevel& level = architecture.levels[static_cast<size_t>(l)];
    level.words = words[l];
    level.access_energy_pj =
        SramAccessEnergy(level.words / level.block_words, level.word_bits * level.block_words);
  }
  return architecture;
}

std::vector<Architecture> Family() {
  return {Sized(256, 16384, 262144), Sized(64, 4096, 65536), Sized(128, 32768, 131072),
          Sized(512, 8192, 524288), Sized(1024, 65536, 1048576)};
}

/// What was searched earlier: the same problem on the others of the family, or others that the
/// arguments name on the same architecture.
std::vector<EarlierMappings> EarlierTasks(const Problem& problem, const Arguments& arguments) {
  const std::vector<Architecture> family = Family();
  std::vector<EarlierMappings> tasks;
  for (int i = 0; i < std::ssize(family) && arguments.ops.empty(); ++i) {
    const Architecture& other = family[static_cast<size_t>(i)];
    if (i != arguments.unseen) tasks.push_back({other.name, problem, other, {}, {}});
  }
  const Architecture& unseen = family.at(static_cast<size_t>(arguments.unseen));
  for (const std::string& op : arguments.ops) {
    tasks.push_back({op, ParseProblem(op), unseen, {}, {}});
  }
  return tasks;
}

/// A short bayesian search for each of them.
std::vector<EarlierMappings> Store(const Problem& problem, const Arguments& arguments,
                                   int64_t seed) {
  std::vector<EarlierMappings> store = EarlierTasks(problem, arguments);
  for (EarlierMappings& task : store) {
    const Mapspace mapspace(task.problem, task.architecture);
    const AnalyticalModel model(task.problem, task.architecture);
    const MapObjective objective = ParseMapObjective(arguments.objective);
    InlineEvaluator<Mapping> evaluator([&](const Mapping& mapping) {
      const Outcome outcome = EvaluateByModel(model, objective, mapping);
      if (outcome.ok()) {
        task.mappings.push_back(mapping);
        task.values.push_back(outcome.value);
      }
      return outcome;
    });
    MapperOptions options = arguments.Options(1000 * seed + (&task - store.data()));
    options.budget.trials = arguments.stored;
    RunMapper("bayesian", mapspace, model, evaluator, options);
  }
  return store;
}

/// An architecture to whose model all memories on the chip cost the same: what a rehearsal can be
/// like whose model is not the simulator.
Architecture Rough(Architecture architecture) {
  for (StorageLevel& level : architecture.levels) {
    if (level.words != 0) level.access_energy_pj = static_cast<double>(level.block_words);
  }
  return architecture;
}

/// What a search learns from.
std::vector<EarlierMappings> Lessons(const Mapspace& mapspace, const Arguments& arguments,
                                     int64_t seed) {
  if (arguments.rehearse == 0) return Store(mapspace.problem(), arguments, seed);
  const AnalyticalModel rough(mapspace.problem(), Rough(mapspace.architecture()));
  return {Rehearse(mapspace, rough, ParseMapObjective(arguments.objective), arguments.rehearse,
                   static_cast<uint64_t>(seed))};
}

nlohmann::json Compare(const Arguments& arguments) {
  const Problem problem = ParseProblem(arguments.op);
  const Architecture unseen = Family().at(static_cast<size_t>(arguments.unseen));
  const Mapspace mapspace(problem, unseen);
  const AnalyticalModel model(problem, unseen);
  const auto evaluator = MakeModelEvaluator(model, ParseMapObjective(arguments.objective));
  const double target = TargetOf(arguments, RunRandomPruned(mapspace, model, arguments));
  fmt::print("{} on {}, {} seeds; medians [quartiles] of the best {}\ntarget {:.4g}\n",
             problem.Describe(), unseen.name, arguments.seeds, arguments.objective, target);
  nlohmann::json raw = {{"unseen", unseen.name}, {"stored", arguments.stored}, {"target", target}};
  std::vector<std::vector<EarlierMappings>> lessons;
  for (int64_t seed = arguments.first_seed; seed < arguments.EndSeed(); ++seed) {
    lessons.push_back(Lessons(mapspace, arguments, seed));
  }
  for (const std::string& method : arguments.methods) {
    SeededResults results;
    for (int64_t seed = arguments.first_seed; seed < arguments.EndSeed(); ++seed) {
      MapperOptions options = arguments.Options(seed);
      if (method != "none") {
        options.earlier = lessons[static_cast<size_t>(seed - arguments.first_seed)];
        options.transfer = ParseTransferMethod(method);
      }
      results.push_back(RunMapper("bayesian", mapspace, model, *evaluator, options));
    }
    PrintResults(method, results, target);
    raw["methods"][method] = ToJson(results, problem);
  }
  return raw;
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  bayloom::Arguments arguments;
  CLI::App app("Compares ways to learn from earlier searches", "bench_map_transfer");
  arguments.AddTo(app);
  app.add_option("--methods", arguments.methods)->delimiter(',')->allow_extra_args(false);
  app.add_option(
      "--ops", arguments.ops,
      "Learn from these operations on the same accelerator, not from other accelerators");
  app.add_option("--rehearse", arguments.rehearse,
                 "Learn instead from so many evaluations of a model to which all memories on the "
                 "chip cost the same");
  app.add_option("--stored", arguments.stored, "Evaluations of each of the earlier tasks")
      ->capture_default_str();
  app.add_option("--unseen", arguments.unseen, "Which of the five is new, 0 to 4")
      ->capture_default_str()
      ->check(CLI::Range(0, 4));
  return bayloom::RunComparison(app, argc, argv, arguments, [&] { return Compare(arguments); });
}
