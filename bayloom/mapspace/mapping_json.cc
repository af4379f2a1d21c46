// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/mapping_json.h"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace bayloom::mapspace {
namespace {

using Json = nlohmann::ordered_json;

Json FactorsJson(const Extents& factors, const Problem& problem) {
  Json json = Json::object();
  for (int d = 0; d < problem.DimensionCount(); ++d) {
    if (factors[d] > 1) json[problem.dimensions[d]] = factors[d];
  }
  return json;
}

/// Throws json's exceptions, and std::out_of_range for a dimension or tensor that is not there.
MappingLevel LevelFromJson(const nlohmann::json& json, const Problem& problem) {
  const auto dimension = [&](const std::string& name) {
    const int d = problem.DimensionNamed(name);
    if (d < 0) throw std::out_of_range("no dimension '" + name + "'");
    return d;
  };
  MappingLevel level;
  for (const auto& [name, factor] : json.at("temporal").items()) {
    level.temporal[dimension(name)] = factor.get<int64_t>();
  }
  for (const auto& [name, factor] : json.at("spatial").items()) {
    level.spatial[dimension(name)] = factor.get<int64_t>();
  }
  for (const auto& name : json.at("along_y")) {
    level.along_y |= DimensionSet{1} << dimension(name.get<std::string>());
  }
  size_t place = 0;
  for (const auto& name : json.at("order")) {
    level.order.at(place++) = static_cast<int8_t>(dimension(name.get<std::string>()));
  }
  level.keep = 0;
  for (const auto& name : json.at("keep")) {
    const int tensor = problem.TensorNamed(name.get<std::string>());
    if (tensor < 0) throw std::out_of_range("no tensor " + name.dump());
    level.keep |= uint32_t{1} << tensor;
  }
  return level;
}

}  // namespace

Result<Mapping> MappingFromJson(const nlohmann::json& levels, const Problem& problem,
                                const Architecture& architecture) {
  Mapping mapping;
  try {
    for (const auto& level : levels) mapping.levels.push_back(LevelFromJson(level, problem));
  } catch (const std::exception& error) {
    return Error{std::string("no mapping: ") + error.what()};
  }
  if (const Status status = CheckMapping(mapping, problem, architecture); !status) {
    return status.error();
  }
  return mapping;
}

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

namespace {

Json ToJson(const ActionCounts& counts) {
  return {{"dense", counts.dense},
          {"actual", counts.actual},
          {"gated", counts.gated},
          {"skipped", counts.skipped}};
}

/// [metadata, payload].
Json ToJson(const RankAccesses& accesses) {
  return Json::array({accesses.metadata, accesses.payload});
}

Json ToJson(const RankActions& actions) {
  return {{"actual", ToJson(actions.actual)},
          {"gated", ToJson(actions.gated)},
          {"skipped", ToJson(actions.skipped)}};
}

Json ToJson(const SparseTraffic& traffic) {
  Json ranks = Json::array();
  for (auto rank = traffic.ranks.rbegin(); rank != traffic.ranks.rend(); ++rank) {
    ranks.push_back({{"occupancy", {rank->occupancy.metadata, rank->occupancy.payload}},
                     {"expected", {rank->expected.metadata, rank->expected.payload}},
                     {"bits", {rank->metadata_bits, rank->payload_bits}},
                     {"reads", ToJson(rank->reads)},
                     {"fills", ToJson(rank->fills)},
                     {"updates", ToJson(rank->updates)}});
  }
  return {{"tile_words", traffic.tile_words},
          {"occupancy", traffic.occupancy},
          {"metadata_bits", traffic.metadata_bits},
          {"density", traffic.density},
          {"instances", traffic.instances},
          {"reads", ToJson(traffic.reads)},
          {"fills", ToJson(traffic.fills)},
          {"updates", ToJson(traffic.updates)},
          {"ranks", ranks},
          {"data_energy_pj", traffic.data_energy_pj},
          {"metadata_energy_pj", traffic.metadata_energy_pj}};
}

}  // namespace

nlohmann::json ToJson(const SparseEvaluation& sparse, const Mapping& mapping,
                      const Problem& problem, const Architecture& architecture) {
  Json levels = Json::array();
  for (int l = 0; l < architecture.LevelCount(); ++l) {
    Json tensors = Json::object();
    for (int t = 0; t < problem.TensorCount(); ++t) {
      if (mapping.levels[l].Keeps(t))
        tensors[problem.tensors[t].name] = ToJson(sparse.levels[l][t]);
    }
    levels.push_back({{"name", architecture.levels[l].name}, {"tensors", tensors}});
  }
  return Json{{"computes", ToJson(sparse.computes)},
              {"multipliers", sparse.multipliers},
              {"compute_cycles", sparse.compute_cycles},
              {"levels", levels}};
}

}  // namespace bayloom::mapspace
