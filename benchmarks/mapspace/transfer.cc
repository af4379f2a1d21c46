/// How many evaluations a search needs on an accelerator it has not seen, with searches on others
/// of its kind to learn from (Kannan 2023, fig. 7).

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
  std::vector<std::string> methods = {"none",     "contextual", "multitask",
                                      "stacking", "weighted",   "sum"};
  int64_t seeds = 20;
  int64_t stored = 25;
  int64_t evaluations = 60;
  /// Which of the five is the one not seen.
  int unseen = 0;
  std::string json;
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

double Quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  return values[static_cast<size_t>(std::lround(q * static_cast<double>(values.size() - 1)))];
}

/// The model, keeping all it was asked.
class Recorder final : public MappingEvaluator {
 public:
  Recorder(const AnalyticalModel& model, EarlierMappings& store)
      : evaluator_(MakeModelEvaluator(model, MapObjective::kEnergy)), store_(store) {}

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
                                   int unseen, int64_t stored, uint64_t seed) {
  std::vector<EarlierMappings> store;
  for (int i = 0; i < static_cast<int>(family.size()); ++i) {
    if (i == unseen) continue;
    const Architecture& architecture = family[static_cast<size_t>(i)];
    const Mapspace mapspace(problem, architecture);
    const AnalyticalModel model(problem, architecture);
    EarlierMappings& earlier =
        store.emplace_back(EarlierMappings{architecture.name, problem, architecture, {}, {}});
    Recorder recorder(model, earlier);
    MapperOptions options;
    options.seed = 1000 * seed + static_cast<uint64_t>(i);
    options.max_evaluations = stored;
    RunMapper("bayesian", mapspace, model, recorder, options);
  }
  return store;
}

double RandomPrunedMedian(const Mapspace& mapspace, const AnalyticalModel& model,
                          MappingEvaluator& evaluator, int64_t seeds) {
  std::vector<double> values;
  for (int64_t seed = 1; seed <= seeds; ++seed) {
    MapperOptions options;
    options.seed = static_cast<uint64_t>(seed);
    options.max_evaluations = 4000;
    values.push_back(RunMapper("random-pruned", mapspace, model, evaluator, options).value);
  }
  return Quantile(values, 0.5);
}

void Run(const Arguments& arguments) {
  const Problem problem = ParseProblem(arguments.op);
  const std::vector<Architecture> family = Family();
  const Architecture& unseen = family.at(static_cast<size_t>(arguments.unseen));
  const Mapspace mapspace(problem, unseen);
  const AnalyticalModel model(problem, unseen);
  const auto evaluator = MakeModelEvaluator(model, MapObjective::kEnergy);
  const double target = RandomPrunedMedian(mapspace, model, *evaluator, arguments.seeds);
  fmt::print("{} on {}, {} evaluations on each of the four others, {} seeds\n", problem.Describe(),
             unseen.name, arguments.stored, arguments.seeds);
  fmt::print("target, the median of random-pruned after 4,000: {:.4g} pJ a MAC\n", target);
  nlohmann::json raw = {{"op", arguments.op},
                        {"unseen", unseen.name},
                        {"stored", arguments.stored},
                        {"target", target}};
  for (const std::string& method : arguments.methods) {
    std::vector<double> first, tenth, last, needed;
    for (int64_t seed = 1; seed <= arguments.seeds; ++seed) {
      MapperOptions options;
      options.seed = static_cast<uint64_t>(seed);
      options.max_evaluations = arguments.evaluations;
      if (method != "none") {
        options.earlier = Store(problem, family, arguments.unseen, arguments.stored, options.seed);
        options.transfer = ParseTransferMethod(method);
      }
      const MapperResult result = RunMapper("bayesian", mapspace, model, *evaluator, options);
      first.push_back(result.BestAfter(1));
      tenth.push_back(result.BestAfter(10));
      last.push_back(result.value);
      needed.push_back(INFINITY);
      nlohmann::json improvements = nlohmann::json::array();
      for (const MapperResult::Improvement& improvement : result.improvements) {
        improvements.push_back({improvement.evaluations, improvement.value});
        if (improvement.value > target || std::isfinite(needed.back())) continue;
        needed.back() = static_cast<double>(improvement.evaluations);
      }
      raw["methods"][method].push_back(improvements);
    }
    fmt::print(
        "{:<10} to target: {:g} ({:g} .. {:g})  after 1: {:.4g}  after 10: {:.4g}  after "
        "{}: {:.4g}\n",
        method, Quantile(needed, 0.5), Quantile(needed, 0.25), Quantile(needed, 0.75),
        Quantile(first, 0.5), Quantile(tenth, 0.5), arguments.evaluations, Quantile(last, 0.5));
    std::fflush(stdout);
  }
  if (!arguments.json.empty()) std::ofstream(arguments.json) << raw << "\n";
}

}  // namespace
}  // namespace bayloom

int main(int argc, char** argv) {
  bayloom::Arguments arguments;
  CLI::App app("Compares ways to learn from searches on other accelerators");
  app.add_option("--op", arguments.op)->capture_default_str();
  app.add_option("--methods", arguments.methods)->delimiter(',');
  app.add_option("--seeds", arguments.seeds)->capture_default_str();
  app.add_option("--stored", arguments.stored, "Evaluations on each of the others")
      ->capture_default_str();
  app.add_option("--evaluations", arguments.evaluations)->capture_default_str();
  app.add_option("--unseen", arguments.unseen, "Which of the five is new, 0 to 4")
      ->capture_default_str()
      ->check(CLI::Range(0, 4));
  app.add_option("--json", arguments.json, "Write how every search got on into this file");
  CLI11_PARSE(app, argc, argv);
  try {
    bayloom::Run(arguments);
  } catch (const bayloom::InputError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
