/// How many evaluations a search needs on an accelerator it has not seen, with searches on others
/// of its kind to learn from (Kannan 2023, fig. 7).

#include <fmt/format.h>

#include <string>
#include <vector>

#include "benchmarks/mapspace/mapper_comparison.h"

namespace bayloom {
namespace {

struct Arguments : ComparisonArguments {
  Arguments() { evaluations = 30; }

  std::vector<std::string> methods = {"none",     "contextual", "multitask",
                                      "stacking", "weighted",   "sum"};
  int64_t stored = 25;
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

/// The model, keeping all it was asked.
class Recorder final : public MappingEvaluator {
 public:
  Recorder(const AnalyticalModel& model, MapObjective objective, EarlierMappings& store)
      : evaluator_(MakeModelEvaluator(model, objective)), store_(store) {}

  Outcome Evaluate(const Mapping& mapping) override {
    Outcome outcome = evaluator_->Evaluate(mapping);
    store_.mappings.push_back(mapping);
    store_.values.push_back(outcome.value);
    return outcome;
  }

 private:
  std::unique_ptr<MappingEvaluator> evaluator_;
  EarlierMappings& store_;
};

/// A short bayesian search on each of the others.
std::vector<EarlierMappings> Store(const Problem& problem, const std::vector<Architecture>& family,
                                   const Arguments& arguments, int64_t seed) {
  std::vector<EarlierMappings> store;
  for (int i = 0; i < static_cast<int>(family.size()); ++i) {
    if (i == arguments.unseen) continue;
    const Architecture& architecture = family[static_cast<size_t>(i)];
    const Mapspace mapspace(problem, architecture);
    const AnalyticalModel model(problem, architecture);
    EarlierMappings& earlier =
        store.emplace_back(EarlierMappings{architecture.name, problem, architecture, {}, {}});
    Recorder recorder(model, ParseMapObjective(arguments.objective), earlier);
    MapperOptions options = arguments.Options(1000 * seed + i);
    options.max_evaluations = arguments.stored;
    RunMapper("bayesian", mapspace, model, recorder, options);
  }
  return store;
}

nlohmann::json Compare(const Arguments& arguments) {
  const Problem problem = ParseProblem(arguments.op);
  const std::vector<Architecture> family = Family();
  const Architecture& unseen = family.at(static_cast<size_t>(arguments.unseen));
  const Mapspace mapspace(problem, unseen);
  const AnalyticalModel model(problem, unseen);
  const auto evaluator = MakeModelEvaluator(model, ParseMapObjective(arguments.objective));
  const double target = TargetOf(arguments, RunRandomPruned(mapspace, model, arguments));
  fmt::print(
      "{} on {}, {} evaluations on each of the four others, {} seeds; medians [quartiles] of the "
      "best {}\ntarget {:.4g}\n",
      problem.Describe(), unseen.name, arguments.stored, arguments.seeds, arguments.objective,
      target);
  nlohmann::json raw = {{"unseen", unseen.name}, {"stored", arguments.stored}, {"target", target}};
  std::vector<std::vector<EarlierMappings>> stores;
  for (int64_t seed = 1; seed <= arguments.seeds; ++seed) {
    stores.push_back(Store(problem, family, arguments, seed));
  }
  for (const std::string& method : arguments.methods) {
    SeededResults results;
    for (int64_t seed = 1; seed <= arguments.seeds; ++seed) {
      MapperOptions options = arguments.Options(seed);
      if (method != "none") {
        options.earlier = stores[static_cast<size_t>(seed - 1)];
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
  CLI::App app("Compares ways to learn from searches on other accelerators");
  arguments.AddTo(app);
  app.add_option("--methods", arguments.methods)->delimiter(',')->allow_extra_args(false);
  app.add_option("--stored", arguments.stored, "Evaluations on each of the others")
      ->capture_default_str();
  app.add_option("--unseen", arguments.unseen, "Which of the five is new, 0 to 4")
      ->capture_default_str()
      ->check(CLI::Range(0, 4));
  return bayloom::RunComparison(app, argc, argv, arguments, [&] { return Compare(arguments); });
}
