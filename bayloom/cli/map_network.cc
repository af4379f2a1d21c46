#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "bayloom/base/result.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/cli/commands.h"
#include "bayloom/cli/map_options.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "bayloom/report/format.h"
#include "bayloom/report/network_mapping_table.h"

namespace bayloom {
namespace {

/// "/layer1/conv" as a part of a file's name: "layer1-conv".
std::string FileName(const std::string& layer) {
  std::string name;
  for (char c : layer) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
    if (plain) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  return name;
}

/// Into a folder, what timeloop-model takes: the architecture, and of each layer problem and
/// mapping.
void WriteNetwork(const std::string& folder, const NetworkMapping& network) {
  const Architecture& architecture = network.layers().front().mapspace->architecture();
  WriteMapFile(folder + "/architecture.yaml", PrintArchitectureYaml(architecture));
  int number = 0;
  for (const NetworkMapping::Layer& layer : network.layers()) {
    const std::string file =
        fmt::format("{}/{:02}-{}", folder, ++number, FileName(layer.layer.name));
    const Problem& problem = layer.layer.problem;
    WriteMapFile(file + ".problem.yaml", PrintProblemYaml(problem));
    if (!layer.search->result().best) continue;
    WriteMapFile(file + ".mapping.yaml",
                 PrintMappingYaml(*layer.search->result().best, problem, architecture));
  }
}

NetworkMappingOptions OptionsFor(const MapOptions& options, size_t layers) {
  NetworkMappingOptions network;
  network.mapper = options.MapperName();
  network.search = options.Mapper();
  network.objective = ParseMapObjective(options.objective);
  network.counting = options.Counting();
  network.scheduler = options.scheduler;
  network.max_evaluations = options.Evaluations() * static_cast<int64_t>(layers);
  std::swap(network.max_seconds, network.search.max_seconds);
  return network;
}

}  // namespace

void MapNetwork(const MapOptions& options) {
  std::vector<NetworkLayer> layers = LoadLayers(options.network);
  const Architecture architecture = LoadArchitecture(options.architecture);
  const NetworkMappingOptions search = OptionsFor(options, layers.size());
  CatchStopSignals();
  const std::unique_ptr<SearchRecords> records = options.Records();
  NetworkMapping network(
      std::move(layers), architecture, options.Constraints(),
      [&](const Mapspace& mapspace, const AnalyticalModel& model, MapperOptions& layer_search) {
        layer_search.earlier = options.Earlier(mapspace, model);
        return options.Evaluator(model, records.get(), layer_search.seed);
      },
      search);
  NetworkMappingProgress progress(stderr, network, search.max_evaluations);
  network.Run([&] { progress.Turn(); });
  progress.End();
  const int mapped = network.Sum().mapped;
  if (mapped == 0) FailWithoutMapping(network.layers().back().search->result().failure);
  fmt::print(stderr, "{} on {}: {} layers, {} mapper, {} evaluations in {} ({})\n",
             std::filesystem::path(options.network.path).filename().string(), architecture.name,
             network.layers().size(), search.mapper, FormatCount(network.evaluations()),
             FormatSeconds(network.seconds()), ToString(network.end()));
  if (!options.out.empty()) WriteNetwork(options.out, network);
  if (options.json) {
    nlohmann::json json = ToJson(network);
    json["architecture"] = architecture.name;
    json["objective"] = options.objective;
    json["mapper"] = search.mapper;
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("{}\n{}\n", LayerTable(network).Text(), TotalsLine(network));
  }
  if (mapped < static_cast<int>(network.layers().size())) {
    throw CheckFailed(fmt::format("{} layers have no mapping that fits and can be evaluated",
                                  static_cast<int>(network.layers().size()) - mapped));
  }
}

}  // namespace bayloom
