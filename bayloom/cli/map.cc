// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/accelerator/remote_mappings.h"
#include "bayloom/base/file.h"
#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/map_cores.h"
#include "bayloom/cli/map_fused.h"
#include "bayloom/cli/options/at_least_one.h"
#include "bayloom/cli/options/map_options.h"
#include "bayloom/cli/options/run_options.h"
#include "bayloom/cli/output.h"
#include "bayloom/graph/graph.h"
#include "bayloom/mapspace/formats/layer_list.h"
#include "bayloom/mapspace/mapping_json.h"
#include "bayloom/mapspace/misfit.h"
#include "bayloom/mapspace/sparse/sparse_evaluation.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "bayloom/report/format.h"
#include "bayloom/report/map_table.h"
#include "bayloom/report/mapping_table.h"
#include "bayloom/report/printable.h"
#include "bayloom/report/progress_columns.h"
#include "bayloom/trial/evaluate_one.h"

namespace bayloom::cli {
namespace {

mapspace::Problem LoadProblem(const MapArguments& arguments) {
  mapspace::Problem problem =
      arguments.op.empty() ? mapspace::ReadProblem(arguments.problem, arguments.define.Variables())
                           : mapspace::ParseProblem(arguments.op);
  arguments.sparsity.ApplyTo(problem);
  return problem;
}

std::vector<accelerator::NetworkLayer> LoadLayers(const MapArguments& arguments) {
  const std::string& file = arguments.network.path;
  std::vector<accelerator::NetworkLayer> layers =
      mapspace::IsLayerList(file) ? accelerator::LayersOf(mapspace::ReadLayers(file))
                                  : accelerator::LayersOf(arguments.network.LoadGraph());
  std::vector<mapspace::Problem*> problems;
  for (accelerator::NetworkLayer& layer : layers) problems.push_back(&layer.problem);
  arguments.sparsity.ApplyTo(problems);
  return layers;
}

/// A mapping, also into --out, and what the evaluator and the model say of it.
void DeliverMapping(const mapspace::Mapping& mapping, double value,
                    const mapspace::AnalyticalModel& model, const MapArguments& arguments,
                    nlohmann::json about) {
  const mapspace::Problem& problem = model.problem();
  const mapspace::Architecture& architecture = model.architecture();
  const mapspace::Evaluation evaluation = model.Evaluate(mapping);
  const auto sparse = model.EvaluateSparse(mapping);
  if (!arguments.out.empty()) {
    base::WriteFile(arguments.out, mapspace::PrintMappingYaml(mapping, problem, architecture));
  }
  if (arguments.json) {
    about["objective"] = arguments.Options(1).ObjectiveNames();
    about["value"] = value;
    about["problem"] = problem.Describe();
    about["architecture"] = architecture.name;
    about["mapping"] = mapspace::ToJson(mapping, problem, architecture);
    about["model"] = mapspace::ToJson(evaluation, mapping, problem, architecture);
    if (sparse) about["sparse"] = mapspace::ToJson(*sparse, mapping, problem, architecture);
    fmt::print("{}\n", report::JsonText(about));
    return;
  }
  const bool is_model = arguments.evaluator == "model";
  fmt::print("{}\n{}\n", report::InLines(mapspace::PrintLoopNest(mapping, problem, architecture)),
             report::TrafficTable(evaluation, mapping, problem, architecture).Text());
  if (sparse) {
    fmt::print("{}\n{}\n", report::SparseTable(*sparse, mapping, problem, architecture).Text(),
               report::ComputesLine(*sparse));
  }
  if (!is_model) {
    fmt::print("evaluator: {} {}\nbuilt-in model: ", arguments.objectives[0],
               report::FormatValue(value));
  }
  fmt::print("{:.4g} pJ per multiply-accumulate, {} cycles, {:.1f} % of the multipliers\n",
             evaluation.EnergyPerMac(), report::FormatCount(evaluation.cycles),
             100 * evaluation.utilization);
}

/// --mapping: evaluates one and searches nothing.
void EvaluateMapping(const MapArguments& arguments) {
  const accelerator::MapOptions options = arguments.Options(1);
  const mapspace::AnalyticalModel model(LoadProblem(arguments), arguments.LoadArchitecture(),
                                        options.counting);
  const mapspace::Mapping mapping = mapspace::ReadMapping(
      arguments.mapping, model.problem(), model.architecture(), arguments.define.Variables());
  const auto evaluator = accelerator::MakeMappingEvaluator(model, options);
  const std::optional<trial::Outcome> outcome =
      trial::EvaluateOne(*evaluator, mapping, options.search.run.budget.stop);
  if (!outcome) throw CheckFailed("stopped before the mapping was evaluated");
  if (!outcome->ok()) throw InputError(arguments.mapping + ": " + outcome->reason);
  DeliverMapping(mapping, outcome->value, model, arguments, nlohmann::json::object());
}

/// Has the run's mappings evaluated by the workers, if there are any; they outlive the run.
std::unique_ptr<remote::WorkerPool> Delegate(const MapArguments& arguments,
                                             accelerator::MapOptions& options) {
  if (arguments.workers.empty()) return nullptr;
  std::unique_ptr<remote::WorkerPool> pool = arguments.workers.Connect();
  options.make_evaluator = [&pool = *pool](const mapspace::AnalyticalModel& model,
                                           const accelerator::MapOptions& of) {
    return accelerator::MakeRemoteMappingEvaluator(pool, model, of);
  };
  return pool;
}

trial::StopReason RunWithProgress(accelerator::NetworkMapping& run, const WorkersOption& workers) {
  report::RunProgress progress(stderr, run.Status(), report::MappingProgress(run));
  const WorkersOption::NotesInto notes(workers, progress);
  const trial::StopReason reason = run.Run(progress.Observer());
  progress.End();
  return reason;
}

/// The values of the mappings of a front, each with the evaluation that found it.
report::Table FrontTable(const MapArguments& arguments, const mapspace::MapperResult& result) {
  std::vector<std::string> columns = {"evaluation"};
  columns.insert(columns.end(), arguments.objectives.begin(), arguments.objectives.end());
  report::Table table(columns);
  for (const mapspace::MapperResult::FrontMember& member : result.front) {
    std::vector<report::Cell> cells = {member.evaluations};
    for (const double value : member.values) cells.emplace_back(value, report::FormatValue(value));
    table.AddRow(std::move(cells));
  }
  return table;
}

/// [{"evaluation", "values": {objective: value}, "mapping"}].
nlohmann::json FrontJson(const MapArguments& arguments,
                         const accelerator::NetworkMapping::Layer& layer) {
  nlohmann::json front = nlohmann::json::array();
  for (const mapspace::MapperResult::FrontMember& member : layer.search->result().front) {
    nlohmann::json values;
    for (size_t k = 0; k < member.values.size(); ++k) {
      values[arguments.objectives[k]] = member.values[k];
    }
    front.push_back({{"evaluation", member.evaluations},
                     {"values", values},
                     {"mapping", mapspace::ToJson(member.mapping, layer.layer.problem,
                                                  layer.mapspace->architecture())}});
  }
  return front;
}

void MapOperation(const MapArguments& arguments) {
  accelerator::MapOptions options = arguments.Options(1);
  const std::unique_ptr<remote::WorkerPool> pool = Delegate(arguments, options);
  accelerator::NetworkMapping run({{.name = "", .problem = LoadProblem(arguments)}},
                                  arguments.LoadArchitecture(), arguments.Constraints(), options);
  const accelerator::NetworkMapping::Layer& layer = run.layers().front();
  if (!mapspace::WhyNoneFits(*layer.mapspace, *layer.model).empty()) FailWithoutMapping(layer);
  const trial::StopReason reason = RunWithProgress(run, arguments.workers);
  const mapspace::MapperResult& result = layer.search->result();
  if (!result.best) ThrowIfLost(reason, run.lost());
  if (!result.best) FailWithoutMapping(layer);
  Say("{} on {}: {} mapper, {} evaluations of {} drawn in {} ({}), best {} {:.6g}\n",
      base::SingleLine(layer.layer.problem.Describe()),
      base::SingleLine(layer.mapspace->architecture().name), run.mapper(),
      report::FormatCount(result.evaluations), report::FormatCount(result.drawn),
      report::FormatSeconds(run.Status().seconds), DescribeEnd(reason), arguments.objectives[0],
      result.value);
  nlohmann::json improvements = nlohmann::json::array();
  for (const mapspace::MapperResult::Improvement& improvement : result.improvements) {
    improvements.push_back({improvement.evaluations, improvement.value});
  }
  nlohmann::json about = {{"mapper", run.mapper()},         {"evaluations", result.evaluations},
                          {"drawn", result.drawn},          {"seconds", run.Status().seconds},
                          {"end", trial::ToString(reason)}, {"improvements", improvements}};
  if (!result.front.empty()) {
    if (arguments.json) {
      about["front"] = FrontJson(arguments, layer);
    } else {
      fmt::print("Pareto front, {} mapping{}; the best in {}:\n{}\n", result.front.size(),
                 result.front.size() == 1 ? "" : "s", arguments.objectives[0],
                 FrontTable(arguments, result).Text());
    }
  }
  DeliverMapping(*result.best, result.value, *layer.model, arguments, std::move(about));
  ThrowIfLost(reason, run.lost());  // after what was found is delivered
}

/// Into a folder, what timeloop-model takes: the architecture, and of each layer problem and
/// mapping.
void WriteNetwork(const std::string& folder, const mapspace::Architecture& architecture,
                  const accelerator::NetworkMapping& network) {
  base::WriteFile(folder + "/architecture.yaml", mapspace::PrintArchitectureYaml(architecture));
  int number = 0;
  for (const accelerator::NetworkMapping::Layer& layer : network.layers()) {
    WriteMappedLayer(folder, ++number, layer.layer.name, layer.layer.problem,
                     layer.search->result().best, architecture);
  }
}

void MapNetwork(const MapArguments& arguments) {
  std::vector<accelerator::NetworkLayer> layers = LoadLayers(arguments);
  accelerator::MapOptions options = arguments.Options(std::ssize(layers));
  const std::unique_ptr<remote::WorkerPool> pool = Delegate(arguments, options);
  const mapspace::Architecture architecture = arguments.LoadArchitecture();
  accelerator::NetworkMapping run(std::move(layers), architecture, arguments.Constraints(),
                                  options);
  const trial::StopReason reason = RunWithProgress(run, arguments.workers);
  const int mapped = run.Sum().mapped;
  if (mapped == 0) ThrowIfLost(reason, run.lost());
  if (mapped == 0) FailWithoutMapping(run.layers().back());
  const run::RunStatus status = run.Status();
  Say("{} on {}: {} layers, {} mapper, {} evaluations in {} ({})\n",
      base::SingleLine(std::filesystem::path(arguments.network.path).filename().string()),
      base::SingleLine(architecture.name), run.layers().size(), run.mapper(),
      report::FormatCount(status.trials), report::FormatSeconds(status.seconds),
      DescribeEnd(reason));
  if (!arguments.out.empty()) WriteNetwork(arguments.out, architecture, run);
  if (arguments.json) {
    nlohmann::json json = report::ToJson(run);
    json["architecture"] = architecture.name;
    json["objective"] = options.ObjectiveNames();
    json["mapper"] = run.mapper();
    fmt::print("{}\n", report::JsonText(json));
  } else {
    fmt::print("{}\n{}\n", report::LayerTable(run).Text(), report::TotalsLine(run));
  }
  ThrowIfLost(reason, run.lost());
  if (mapped < std::ssize(run.layers())) {
    throw CheckFailed(fmt::format("{} layers have no mapping that fits and can be evaluated",
                                  std::ssize(run.layers()) - mapped));
  }
}

void Map(const MapArguments& arguments) {
  arguments.Check();
  const int subjects = static_cast<int>(!arguments.network.path.empty()) +
                       static_cast<int>(!arguments.op.empty()) +
                       static_cast<int>(!arguments.problem.empty());
  if (subjects != 1) {
    throw InputError(
        "map needs one of a network, such as resnet50.onnx, --op, such as matmul:512,512,512, and "
        "--problem FILE");
  }
  const bool is_network = !arguments.network.path.empty();
  if (is_network && !arguments.mapping.empty()) {
    throw InputError("--mapping is for one operation, not a network");
  }
  if (is_network && arguments.fuse) return MapFused(arguments);
  if (!arguments.cores.empty()) {
    return MapCores(arguments, is_network ? LoadLayers(arguments)
                                          : std::vector<accelerator::NetworkLayer>{
                                                {.name = "", .problem = LoadProblem(arguments)}});
  }
  if (is_network) return MapNetwork(arguments);
  if (!arguments.mapping.empty()) return EvaluateMapping(arguments);
  MapOperation(arguments);
}

}  // namespace

void AddMapCommand(CLI::App& app) {
  auto options = std::make_shared<MapArguments>();
  CLI::App* map = app.add_subcommand("map", "Map an operation or a network onto an accelerator");
  AddMapOptions(*options, *map);
  map->callback([options] { Map(*options); });
}

}  // namespace bayloom::cli
