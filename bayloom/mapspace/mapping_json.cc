#include "bayloom/mapspace/mapping_json.h"

#include <nlohmann/json.hpp>

namespace bayloom {
namespace {

using Json = nlohmann::ordered_json;

Json FactorsJson(const Extents& factors, const Problem& problem) {
  Json json = Json::object();
  for (int d = 0; d < problem.DimensionCount(); ++d) {
    if (factors[d] > 1) json[problem.dimensions[d]] = factors[d];
  }
  return json;
}

}  // namespace

nlohmann::json ToJson(const Mapping& mapping, const Problem& problem,
                      const Architecture& architecture) {
  Json levels = Json::array();
  for (int l = 0; l < architecture.LevelCount(); ++l) {
    const MappingLevel& level = mapping.levels[l];
    Json order = Json::array(), keep = Json::array(), along_y = Json::array();
    for (int i = 0; i < problem.DimensionCount(); ++i) {
      order.push_back(problem.dimensions[level.order[i]]);
      if (level.AlongY(i) && level.spatial[i] > 1) along_y.push_back(problem.dimensions[i]);
    }
    for (int t = 0; t < problem.TensorCount(); ++t) {
      if (level.Keeps(t)) keep.push_back(problem.tensors[t].name);
    }
    levels.push_back({{"name", architecture.levels[l].name},
                      {"keep", keep},
                      {"temporal", FactorsJson(level.temporal, problem)},
                      {"order", order},
                      {"spatial", FactorsJson(level.spatial, problem)},
                      {"along_y", along_y}});
  }
  return Json{{"compact", PrintCompact(mapping, problem)}, {"levels", levels}};
}

nlohmann::json ToJson(const Evaluation& evaluation, const Mapping& mapping, const Problem& problem,
                      const Architecture& architecture) {
  Json levels = Json::array();
  for (int l = 0; l < architecture.LevelCount(); ++l) {
    const LevelTraffic& level = evaluation.levels[l];
    Json tensors = Json::object();
    for (int t = 0; t < problem.TensorCount(); ++t) {
      if (!mapping.levels[l].Keeps(t)) continue;
      const TensorTraffic& traffic = level.tensors[t];
      tensors[problem.tensors[t].name] = {{"reads", traffic.reads},
                                          {"fills", traffic.fills},
                                          {"updates", traffic.updates},
                                          {"tile_words", traffic.tile_words},
                                          {"energy_pj", traffic.energy_pj}};
    }
    levels.push_back({{"name", architecture.levels[l].name},
                      {"instances", level.instances},
                      {"cycles", level.cycles},
                      {"tensors", tensors}});
  }
  return Json{{"energy_pj", evaluation.energy_pj}, {"pj_per_mac", evaluation.EnergyPerMac()},
              {"cycles", evaluation.cycles},       {"utilization", evaluation.utilization},
              {"macs", evaluation.macs},           {"levels", levels}};
}

}  // namespace bayloom
