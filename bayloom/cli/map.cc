#include <fmt/format.h>

#include <CLI/App.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/cli/at_least_one.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/duration.h"
#include "bayloom/mapspace/mapper.h"
#include "bayloom/mapspace/mapping_json.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "bayloom/report/format.h"
#include "bayloom/report/mapping_table.h"

namespace bayloom {
namespace {

/// Without --evaluations: what the model does in a second, or a patient person's simulator.
constexpr int64_t kModelEvaluations = 20000;
constexpr int64_t kSimulatorEvaluations = 100;

struct MapOptions {
  std::string op;
  std::string problem;
  std::string architecture;
  std::vector<std::string> constraints;
  std::string mapping;
  std::string mapper;
  std::string objective = "energy";
  std::string evaluator = "model";
  std::string tiles = "factorization";
  std::string orders = "permutation";
  std::string counting = "exact";
  std::optional<int64_t> evaluations;
  std::string time;
  int64_t victory = 0;
  uint64_t seed = 0;
  std::string out;
  bool json = false;
};

ReuseCounting ParseCounting(const std::string& text) {
  if (text == "exact") return ReuseCounting::kExact;
  if (text == "timeloop") return ReuseCounting::kTimeloop;
  throw InputError("--counting: '" + text + "' is neither exact nor timeloop");
}

Problem LoadProblem(const MapOptions& options) {
  if (options.op.empty() == options.problem.empty()) {
    throw InputError("map needs either --op, such as matmul:512,512,512, or --problem FILE");
  }
  return options.op.empty() ? ReadProblem(options.problem) : ParseProblem(options.op);
}

std::unique_ptr<MappingEvaluator> MakeEvaluator(const MapOptions& options,
                                                const AnalyticalModel& model,
                                                MapObjective objective) {
  if (options.evaluator == "model") return MakeModelEvaluator(model, objective);
  if (options.evaluator == "timeloop") {
    return MakeTimeloopEvaluator(model.problem(), model.architecture(), objective);
  }
  return MakeCommandEvaluator(model.problem(), model.architecture(), {options.evaluator});
}

MapperOptions MakeMapperOptions(const MapOptions& options) {
  MapperOptions mapper;
  mapper.seed = options.seed;
  mapper.max_evaluations = options.evaluations.value_or(
      options.evaluator == "model" ? kModelEvaluations : kSimulatorEvaluations);
  if (!options.time.empty()) mapper.max_seconds = ParseDuration(options.time, "--time");
  mapper.victory = options.victory;
  mapper.tiles = ParseTileEncoding(options.tiles);
  mapper.orders = ParseOrderEncoding(options.orders);
  mapper.stop = StopRequested;
  return mapper;
}

void WriteMapping(const std::string& name, const std::string& yaml) {
  std::ofstream file(name);
  if (file) file << yaml;
  file.close();
  if (!file) throw InputError("cannot write '" + name + "': " + std::strerror(errno));
}

/// A mapping and what the model says of it.
void PrintMapping(const Mapping& mapping, const AnalyticalModel& model, const MapOptions& options,
                  nlohmann::json about) {
  const Problem& problem = model.problem();
  const Architecture& architecture = model.architecture();
  const Evaluation evaluation = model.Evaluate(mapping);
  if (options.json) {
    about["problem"] = problem.Describe();
    about["architecture"] = architecture.name;
    about["mapping"] = ToJson(mapping, problem, architecture);
    about["model"] = ToJson(evaluation, mapping, problem, architecture);
    fmt::print("{}\n", about.dump(2));
    return;
  }
  fmt::print("{}\n{}\n{:.4g} pJ per multiply-accumulate, {} cycles, {:.1f} % of the multipliers\n",
             PrintLoopNest(mapping, problem, architecture),
             TrafficTable(evaluation, mapping, problem, architecture).Text(),
             evaluation.EnergyPerMac(), FormatCount(evaluation.cycles),
             100 * evaluation.utilization);
}

void EvaluateMapping(const MapOptions& options, const AnalyticalModel& model,
                     MappingEvaluator& evaluator) {
  const Mapping mapping = ReadMapping(options.mapping, model.problem(), model.architecture());
  const Outcome outcome = evaluator.Evaluate(mapping);
  if (!outcome.ok()) throw InputError(options.mapping + ": " + outcome.reason);
  PrintMapping(mapping, model, options,
               {{"objective", options.objective}, {"value", outcome.value}});
}

void Search(const MapOptions& options, const AnalyticalModel& model, MappingEvaluator& evaluator,
            const std::vector<Directive>& constraints) {
  const Mapspace mapspace(model.problem(), model.architecture(), constraints);
  const std::string mapper = !options.mapper.empty()        ? options.mapper
                             : options.evaluator == "model" ? "genetic"
                                                            : "bayesian";
  CatchStopSignals();
  const MapperResult result =
      RunMapper(mapper, mapspace, model, evaluator, MakeMapperOptions(options));
  if (!result.best) throw CheckFailed("no mapping was found that fits and can be evaluated");
  fmt::print(stderr, "{} on {}: {} mapper, {} evaluations of {} drawn in {} ({}), best {} {:.6g}\n",
             model.problem().Describe(), model.architecture().name, mapper,
             FormatCount(result.evaluations), FormatCount(result.drawn),
             FormatSeconds(result.seconds), ToString(result.end), options.objective, result.value);
  if (!options.out.empty()) {
    WriteMapping(options.out,
                 PrintMappingYaml(*result.best, model.problem(), model.architecture()));
  }
  nlohmann::json improvements = nlohmann::json::array();
  for (const MapperResult::Improvement& improvement : result.improvements) {
    improvements.push_back({improvement.evaluations, improvement.value});
  }
  PrintMapping(*result.best, model, options,
               {{"objective", options.objective},
                {"value", result.value},
                {"mapper", mapper},
                {"evaluations", result.evaluations},
                {"drawn", result.drawn},
                {"seconds", result.seconds},
                {"end", ToString(result.end)},
                {"improvements", improvements}});
}

void Map(const MapOptions& options) {
  std::vector<Directive> constraints;
  for (const std::string& file : options.constraints) {
    for (Directive& directive : ReadConstraints(file)) constraints.push_back(std::move(directive));
  }
  const MapObjective objective = ParseMapObjective(options.objective);
  const AnalyticalModel model(LoadProblem(options), LoadArchitecture(options.architecture),
                              ParseCounting(options.counting));
  const std::unique_ptr<MappingEvaluator> evaluator = MakeEvaluator(options, model, objective);
  if (options.mapping.empty()) return Search(options, model, *evaluator, constraints);
  EvaluateMapping(options, model, *evaluator);
}

}  // namespace

void AddMapCommand(CLI::App& app) {
  auto options = std::make_shared<MapOptions>();
  CLI::App* map = app.add_subcommand("map", "Map a tensor operation onto an accelerator");
  map->footer(
      "Examples:\n"
      "  bayloom map --op matmul:512,512,512 --arch gemmini\n"
      "  bayloom map --op conv2d:56x56x64,128,3x3,pad=1 --arch eyeriss-like --objective edp\n"
      "  bayloom map --problem layer.yaml --arch chip.yaml --evaluator 'my-simulator {mapping}'\n"
      "  bayloom map --op matmul:64,128,512 --arch gemmini --mapping mine.yaml");
  map->add_option("--op", options->op,
                  "The operation: matmul:M,N,K, conv2d:HxWxC,outputs,RxS or depthwise:HxWxC,RxS");
  map->add_option("--problem", options->problem, "The operation as Timeloop's YAML");
  map->add_option("--arch", options->architecture,
                  "gemmini, gemmini16x16, eyeriss-like, simba-like, or a file of Timeloop's YAML")
      ->required();
  map->add_option("--constraints", options->constraints, "Files of Timeloop's constraints");
  map->add_option("--mapping", options->mapping, "Evaluate this mapping; search nothing");
  map->add_option("--objective", options->objective, "What to minimize: energy, delay or edp")
      ->capture_default_str();
  map->add_option("--mapper", options->mapper,
                  "genetic (with the model), bayesian (with a simulator), annealing, "
                  "random-pruned, exhaustive, forest, ...");
  map->add_option("--evaluations", options->evaluations,
                  "Mappings to evaluate [20000 with the model, 100 with a simulator]")
      ->check(AtLeastOne());
  map->add_option("--time", options->time, "Or as long as this: 90, 10m, 1h30m");
  map->add_option("--victory", options->victory,
                  "Stop after so many evaluations without anything better")
      ->check(AtLeastOne());
  map->add_option("--seed", options->seed, "Of all random choices")->capture_default_str();
  map->add_option("--evaluator", options->evaluator,
                  "model, timeloop (timeloop-model), or a command with {mapping}, {problem} and "
                  "{arch} that prints the value last")
      ->capture_default_str();
  map->add_option("--tiles", options->tiles, "Encoding of tiles: factorization, integer, aspect")
      ->capture_default_str();
  map->add_option("--orders", options->orders,
                  "Encoding of loop orders: permutation, ranking, categorical")
      ->capture_default_str();
  map->add_option("--counting", options->counting, "Of data reuse: exact, or as timeloop counts")
      ->capture_default_str();
  map->add_option("--out,-o", options->out, "Write the best mapping as Timeloop's YAML");
  map->add_flag("--json", options->json, "Print JSON");
  map->callback([options] { Map(*options); });
}

}  // namespace bayloom
