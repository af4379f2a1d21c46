// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/page/mapping_details.h"

#include <nlohmann/json.hpp>

#include "bayloom/accelerator/stored_search.h"
#include "bayloom/base/json.h"
#include "bayloom/base/result.h"
#include "bayloom/mapspace/mapping_json.h"
#include "bayloom/page/sanitized.h"

namespace bayloom::page {
namespace {

using Json = nlohmann::json;

/// How full an instance is, and how fast all of them together can be; null where there is no bound.
void AddBounds(const mapspace::StorageLevel& storage, const mapspace::LevelTraffic& level,
               Json& json) {
  double reads = 0, writes = 0, held = 0;
  for (const mapspace::TensorTraffic& traffic : level.tensors) {
    reads += static_cast<double>(traffic.reads);
    writes += static_cast<double>(traffic.fills + traffic.updates);
    held += static_cast<double>(traffic.tile_words);
  }
  const auto instances = static_cast<double>(level.instances);
  json["words_moved"] = Finite((reads + writes) * instances);
  json["words_per_cycle"] = Finite(storage.Bandwidth(reads, writes) * instances);
  json["occupancy"] = storage.words > 0 ? Json(held / static_cast<double>(storage.words)) : Json();
}

/// What each level costs, outermost first, and the arithmetic: a list, for the order matters.
Json LevelsJson(const mapspace::Evaluation& evaluation, const mapspace::Mapping& mapping,
                const mapspace::AnalyticalModel& model) {
  const mapspace::Architecture& architecture = model.architecture();
  Json levels = Json::array();
  double moved = 0;
  for (int l = architecture.LevelCount() - 1; l >= 0; --l) {
    Json tensors = Json::array();
    for (int t = 0; t < model.problem().TensorCount(); ++t) {
      if (!mapping.levels[l].Keeps(t)) continue;
      const mapspace::TensorTraffic& traffic = evaluation.levels[l].tensors[t];
      moved += traffic.energy_pj;
      tensors.push_back({{"name", Sanitized(model.problem().tensors[t].name)},
                         {"energy_pj", Finite(traffic.energy_pj)},
                         {"tile_words", traffic.tile_words},
                         {"reads", traffic.reads},
                         {"fills", traffic.fills},
                         {"updates", traffic.updates}});
    }
    Json& level = levels.emplace_back(Json{{"name", Sanitized(architecture.levels[l].name)},
                                           {"instances", evaluation.levels[l].instances},
                                           {"cycles", evaluation.levels[l].cycles},
                                           {"tensors", std::move(tensors)}});
    AddBounds(architecture.levels[l], evaluation.levels[l], level);
  }
  Json arithmetic = {{"name", "multiply-accumulates"},
                     {"energy_pj", Finite(evaluation.energy_pj - moved)}};
  levels.push_back({{"name", Sanitized(architecture.arithmetic.name)},
                    {"instances", evaluation.multipliers},
                    {"tensors", Json::array({std::move(arithmetic)})}});
  return levels;
}

}  // namespace

nlohmann::json MappingDetails(const record::RunRecord& run, const std::string& candidate) {
  Json details = {{"id", run.id}};
  try {
    const accelerator::StoredSearch search = accelerator::ReadStoredSearch(run);
    const mapspace::AnalyticalModel model = search.Model();
    details["problem"] = Sanitized(model.problem().Describe());
    details["architecture"] = SanitizedLines(model.architecture().Describe());
    details["evaluator"] = Sanitized(search.evaluator);
    const Result<mapspace::Mapping> mapping = mapspace::MappingFromJson(
        base::ParseJsonOrDiscard(candidate), model.problem(), model.architecture());
    if (!mapping) throw InputError(mapping.error().message);
    const mapspace::Evaluation evaluation = model.Evaluate(*mapping);
    details["nest"] =
        SanitizedLines(mapspace::PrintLoopNest(*mapping, model.problem(), model.architecture()));
    details["compact"] = Sanitized(mapspace::PrintCompact(*mapping, model.problem()));
    details["energy_pj"] = Finite(evaluation.energy_pj);
    details["pj_per_mac"] = Finite(evaluation.EnergyPerMac());
    details["cycles"] = evaluation.cycles;
    details["utilization"] = Finite(evaluation.utilization);
    details["macs"] = evaluation.macs;
    details["multipliers"] = model.architecture().arithmetic.instances;
    details["levels"] = LevelsJson(evaluation, *mapping, model);
  } catch (const InputError& error) {
    details["note"] = Sanitized(error.what());
  }
  return details;
}

}  // namespace bayloom::page
