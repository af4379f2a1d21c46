#include <fmt/format.h>

#include <CLI/App.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/cli/at_least_one.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/map_options.h"
#include "bayloom/mapspace/mapper.h"
#include "bayloom/mapspace/mapping_json.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "bayloom/report/format.h"
#include "bayloom/report/mapping_table.h"

namespace bayloom {
namespace {

Problem LoadProblem(const MapOptions& options) {
  return options.op.empty() ? ReadProblem(options.problem) : ParseProblem(options.op);
}

/// A mapping, also into --out, and what the model says of it.
void DeliverMapping(const Mapping& mapping, const AnalyticalModel& model, const MapOptions& options,
                    nlohmann::json about) {
  const Problem& problem = model.problem();
  const Architecture& architecture = model.architecture();
  const Evaluation evaluation = model.Evaluate(mapping);
  if (!options.out.empty()) {
    WriteMapFile(options.out, PrintMappingYaml(mapping, problem, architecture));
  }
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
  DeliverMapping(mapping, model, options,
                 {{"objective", options.objective}, {"value", outcome.value}});
}

void Search(const MapOptions& options, const AnalyticalModel& model) {
  const Mapspace mapspace(model.problem(), model.architecture(), options.Constraints());
  const std::unique_ptr<SearchRecords> records = options.Records();
  const auto evaluator = options.Evaluator(model, records.get(), options.seed);
  MapperOptions search = options.Mapper();
  search.earlier = options.Earlier(mapspace, model);
  const std::string mapper = options.MapperName();
  CatchStopSignals();
  const MapperResult result = RunMapper(mapper, mapspace, model, *evaluator, search);
  if (!result.best) FailWithoutMapping(result.failure);
  fmt::print(stderr, "{} on {}: {} mapper, {} evaluations of {} drawn in {} ({}), best {} {:.6g}\n",
             model.problem().Describe(), model.architecture().name, mapper,
             FormatCount(result.evaluations), FormatCount(result.drawn),
             FormatSeconds(result.seconds), ToString(result.end), options.objective, result.value);
  nlohmann::json improvements = nlohmann::json::array();
  for (const MapperResult::Improvement& improvement : result.improvements) {
    improvements.push_back({improvement.evaluations, improvement.value});
  }
  DeliverMapping(*result.best, model, options,
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
  options.Check();
  const int subjects = static_cast<int>(!options.network.path.empty()) +
                       static_cast<int>(!options.op.empty()) +
                       static_cast<int>(!options.problem.empty());
  if (subjects != 1) {
    throw InputError(
        "map needs one of a network, such as resnet50.onnx, --op, such as matmul:512,512,512, and "
        "--problem FILE");
  }
  if (!options.network.path.empty()) {
    if (!options.mapping.empty()) throw InputError("--mapping is for one operation, not a network");
    return MapNetwork(options);
  }
  const AnalyticalModel model(LoadProblem(options), LoadArchitecture(options.architecture),
                              options.Counting());
  if (options.mapping.empty()) return Search(options, model);
  EvaluateMapping(options, model, *options.Evaluator(model));
}

}  // namespace

void AddMapCommand(CLI::App& app) {
  auto options = std::make_shared<MapOptions>();
  CLI::App* map =
      app.add_subcommand("map", "Map a tensor operation or a network onto an accelerator");
  options->network.AddTo(*map);
  map->footer(
      "Examples:\n"
      "  bayloom map --op matmul:512,512,512 --arch gemmini\n"
      "  bayloom map resnet50.onnx --arch eyeriss-like --out mappings\n"
      "  bayloom map --op conv2d:56x56x64,128,3x3,pad=1 --arch eyeriss-like --objective edp\n"
      "  bayloom map --problem layer.yaml --arch chip.yaml --evaluator 'my-simulator {mapping}'\n"
      "  bayloom map --op matmul:64,128,512 --arch gemmini --mapping mine.yaml");
  map->add_option(
      "--op", options->op,
      "The operation: matmul:M,N,K, conv2d:HxWxC,outputs,RxS or depthwise:HxWxC,RxS, and "
      "where needed ,stride=2,pad=1,dilation=2,batch=16");
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
                  "Mappings to evaluate, of a network for each layer [20000; 100 for "
                  "bayesian]")
      ->check(AtLeastOne());
  map->add_option("--time", options->time, "Or as long as this: 90, 10m, 1h30m");
  map->add_option("--victory", options->victory,
                  "Stop after so many evaluations without anything better")
      ->check(AtLeastOne());
  map->add_option("--seed", options->seed, "Of all random choices")->capture_default_str();
  map->add_option("--db", options->database, "Keep every evaluation in this database");
  map->add_flag("--resume", options->resume,
                "Go on with the database's last search of the same problem and architecture");
  map->add_option("--transfer", options->transfer,
                  "Learn from the searches in these databases (bayesian)");
  map->add_option("--transfer-method", options->transfer_method,
                  "How: contextual, multitask, stacking, weighted, sum")
      ->capture_default_str();
  map->add_option("--rehearse", options->rehearse,
                  "Before a simulator is asked, learn from so many evaluations of the model")
      ->check(AtLeastOne());
  map->add_option("--top-k", options->top_k,
                  "Search only so many parameters, those that matter most to the model")
      ->check(AtLeastOne());
  map->add_option("--evaluator", options->evaluator,
                  "model, timeloop (timeloop-model), or a command with {mapping}, {problem} and "
                  "{arch} that prints the value last")
      ->capture_default_str();
  map->add_option("--timeout", options->timeout,
                  "The longest that a simulator may take for one mapping")
      ->capture_default_str();
  map->add_option("--tiles", options->tiles,
                  "Encoding of tiles: divisor, factorization, integer, aspect")
      ->capture_default_str();
  map->add_option("--orders", options->orders,
                  "Encoding of loop orders: permutation, ranking, categorical")
      ->capture_default_str();
  map->add_option("--counting", options->counting, "Of data reuse: exact, or as timeloop counts")
      ->capture_default_str();
  map->add_option("--out,-o", options->out,
                  "Write the best mapping as Timeloop's YAML; of a network all, into this folder");
  map->add_option("--scheduler", options->scheduler,
                  "Divides evaluations between a network's layers: gradient, round-robin")
      ->capture_default_str();
  map->add_flag("--json", options->json, "Print JSON");
  map->callback([options] { Map(*options); });
}

}  // namespace bayloom
