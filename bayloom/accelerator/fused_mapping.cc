// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/accelerator/fused_mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "bayloom/accelerator/fused_layers.h"
#include "bayloom/accelerator/run_journal.h"
#include "bayloom/base/clock.h"
#include "bayloom/base/json.h"
#include "bayloom/base/result.h"
#include "bayloom/graph/graph.h"
#include "bayloom/mapspace/mapping_json.h"
#include "bayloom/mapspace/sparse/sparse_evaluation.h"
#include "bayloom/mapspace/timeloop_yaml.h"

namespace bayloom::accelerator {
namespace {

/// Layers get this part of a limited time.
constexpr double kLayersShare = 1.0 / 3;

void CheckOptions(const MapOptions& options) {
  if (options.evaluator != "model") throw InputError("fused groups need the built-in model");
  if (options.search.objectives.size() > 1) {
    throw InputError("several objectives are for one operation, not for a network");
  }
}

MapOptions LayerOptions(const FusedOptions& options) {
  CheckOptions(options.layers);
  MapOptions layers = options.layers;
  layers.search.run.budget.seconds *= kLayersShare;
  return layers;
}

/// All loops outside of a level at that level, with every tensor.
mapspace::Mapping AllInside(const mapspace::Mapping& mapping, int level) {
  mapspace::Mapping inside = mapping;
  inside.levels.resize(static_cast<size_t>(level) + 1);
  mapspace::MappingLevel& home = inside.levels.back();
  home.keep = mapspace::MappingLevel().keep;
  for (size_t l = inside.levels.size(); l < mapping.levels.size(); ++l) {
    for (size_t d = 0; d < home.temporal.size(); ++d) {
      home.temporal[d] *= mapping.levels[l].temporal[d] * mapping.levels[l].spatial[d];
    }
  }
  return inside;
}

mapspace::TileMapperOptions TileOptions(const FusedOptions& options) {
  mapspace::TileMapperOptions tiles;
  tiles.mapper = options.layers.MapperName();
  tiles.search = options.layers.search;
  tiles.search.run.budget.trials = options.tile_evaluations;
  tiles.search.run.budget.seconds = std::numeric_limits<double>::infinity();
  tiles.counting = options.layers.counting;
  return tiles;
}

}  // namespace

FusedMapping::FusedMapping(const graph::Graph& graph, const mapspace::Architecture& architecture,
                           std::span<const mapspace::Directive> constraints, FusedOptions options)
    : FusedMapping(FusedLayersOf(graph), architecture, constraints, std::move(options)) {}

FusedMapping::FusedMapping(mapspace::FusedNetwork network,
                           const mapspace::Architecture& architecture,
                           std::span<const mapspace::Directive> constraints, FusedOptions options)
    : network_(std::move(network)),
      architecture_(architecture),
      constraints_(constraints.begin(), constraints.end()),
      options_(std::move(options)) {
  if (mapspace::RetentionLevelsOf(architecture_, constraints_).empty()) {
    throw InputError(fmt::format(
        "'{}' has no memory for tensors between layers: one instance on the chip, of known "
        "capacity, that inputs may be kept in",
        architecture_.name));
  }
  std::vector<NetworkLayer> layers = LayersOf(network_);
  for (const mapspace::FusedOperator& op : network_.operators) {
    layer_of_.push_back(-1);
    if (!op.product) continue;
    const auto found = std::ranges::find(layers, op.product->problem, &NetworkLayer::problem);
    layer_of_.back() = static_cast<int>(found - layers.begin());
  }
  layers_ = std::make_unique<NetworkMapping>(std::move(layers), architecture_, constraints,
                                             LayerOptions(options_));
  tiles_ =
      std::make_unique<mapspace::TileMapper>(architecture_, constraints_, TileOptions(options_));
  if (!options_.layers.database.empty()) OpenRecord();
}

FusedMapping::~FusedMapping() = default;

/// All that a tile's best mapping depends on but its sizes and the seed.
std::string FusedMapping::Definition() const {
  std::string operators;
  for (const mapspace::FusedOperator& op : network_.operators) {
    operators += op.product ? op.product->problem.Describe() : op.name;
    operators += '\n';
  }
  mapspace::Architecture constrained = architecture_;
  constrained.constraints.insert(constrained.constraints.end(), constraints_.begin(),
                                 constraints_.end());
  const mapspace::MapperOptions& search = options_.layers.search;
  return nlohmann::json{
      {"operators", operators},
      {"architecture", mapspace::PrintArchitectureYaml(constrained)},
      {"evaluator", "model"},
      {"reuse", options_.layers.counting == mapspace::ReuseCounting::kExact ? "exact" : "timeloop"},
      {"mapper", options_.layers.MapperName()},
      {"encodings", search.tiles + " " + search.orders},
      {"tile_evaluations", options_.tile_evaluations},
      {"victory", search.victory}}
      .dump();
}

/// Finds or begins the run of the tiles; makes those of earlier runs known.
void FusedMapping::OpenRecord() {
  record::RunRecord wanted;
  wanted.kind = record::RunKind::kMap;
  wanted.name = fmt::format("{} fused on {}", network_.name, architecture_.name);
  wanted.definition = Definition();
  wanted.objective = options_.layers.ObjectiveNames();
  wanted.proposer = options_.layers.MapperName();
  wanted.seed = options_.layers.search.run.seed;
  journal_ = std::make_unique<RunJournal>(options_.layers.database, wanted, options_.layers.resume);
  Restore(journal_->Earlier());
  tiles_->SetOnMapped([this](const mapspace::MappedTile& tile) { Keep(tile); });
}

void FusedMapping::Restore(const std::vector<record::StoredTrial>& trials) {
  for (const record::StoredTrial& trial : trials) {
    const std::string where = fmt::format("cannot resume: trial {}", trial.ordinal);
    const nlohmann::json tile = base::ParseJsonOrDiscard(trial.candidate);
    const bool is_tile = tile.is_object() && tile.contains("problem") &&
                         tile["problem"].is_string() && tile.contains("home") &&
                         tile["home"].is_string() && tile.contains("levels");
    if (!is_tile) throw InputError(where + " is no tile");
    const int level = architecture_.LevelNamed(tile["home"].get<std::string>());
    const std::vector<mapspace::RetentionLevel> homes =
        mapspace::RetentionLevelsOf(architecture_, constraints_);
    const auto home = std::ranges::find(homes, level, &mapspace::RetentionLevel::level);
    if (home == homes.end()) throw InputError(where + " is at a level that keeps nothing");
    const mapspace::Problem problem =
        mapspace::ParseProblemYaml(tile["problem"].get<std::string>(), where);
    std::optional<mapspace::Mapping> mapping;
    if (trial.outcome.ok()) {
      Result<mapspace::Mapping> read = mapspace::MappingFromJson(
          tile["levels"], problem, mapspace::InsideOf(architecture_, level));
      if (!read) throw InputError(where + " is no mapping of its tile: " + read.error().message);
      mapping = *std::move(read);
    }
    tiles_->Restore(problem, *home, std::move(mapping));
    ++restored_;
  }
}

void FusedMapping::Keep(const mapspace::MappedTile& tile) {
  nlohmann::json candidate = {{"problem", mapspace::PrintProblemYaml(tile.problem)},
                              {"home", architecture_.levels[tile.home.level].name},
                              {"levels", nullptr}};
  trial::Outcome outcome =
      trial::Outcome::Infeasible(trial::Verdict::kMemory, "no mapping of the tile fits");
  if (tile.mapping) {
    const mapspace::Architecture inside = mapspace::InsideOf(architecture_, tile.home.level);
    candidate["levels"] = mapspace::ToJson(*tile.mapping, tile.problem, inside).at("levels");
    const mapspace::OnChipModel model(tile.problem, architecture_, tile.home,
                                      options_.layers.counting);
    outcome = trial::Outcome::Feasible(model.ValueOf(tile.cost, objective()));
    outcome.Set("energy_pj", tile.cost.energy_pj);
    outcome.Set("cycles", static_cast<double>(tile.cost.cycles));
  }
  journal_->Add({.candidate = candidate.dump(),
                 .proposer = options_.layers.MapperName(),
                 .outcome = std::move(outcome),
                 .elapsed = base::MonotonicSeconds() - begin_});
}

trial::StopReason FusedMapping::RunLayers(const run::RunObserver& observer) {
  begin_ = base::MonotonicSeconds();
  const trial::StopReason reason = layers_->Run(observer);
  if (layers_->Sum().mapped == std::ssize(layers_->layers())) ReadLayers();
  return reason;
}

FusedMapping::OnChip FusedMapping::OnChipOf(const NetworkMapping::Layer& layer,
                                            const mapspace::Evaluation& evaluation) const {
  const int outermost = architecture_.LevelCount() - 1;
  double energy = evaluation.energy_pj;
  for (const mapspace::TensorTraffic& traffic : evaluation.levels[outermost].tensors) {
    energy -= traffic.energy_pj;
  }
  int64_t cycles = 0;
  for (int l = 0; l < outermost; ++l) cycles = std::max(cycles, evaluation.levels[l].cycles);
  const double macs = static_cast<double>(evaluation.macs);
  OnChip on_chip = {.energy_pj = energy / macs, .cycles = static_cast<double>(cycles) / macs};
  if (layer.model->sparse() == nullptr) return on_chip;
  const mapspace::Mapping& best = *layer.search->result().best;
  for (const mapspace::RetentionLevel home :
       mapspace::RetentionLevelsOf(architecture_, constraints_)) {
    const mapspace::OnChipModel model(layer.layer.problem, architecture_, home,
                                      options_.layers.counting);
    on_chip.forms[home.level] = model.EvaluateWithForms(AllInside(best, home.level)).forms;
  }
  return on_chip;
}

void FusedMapping::ReadLayers() {
  std::vector<mapspace::Evaluation> evaluations;
  std::vector<std::unique_ptr<const mapspace::SparseEvaluation>> sparse;
  for (const NetworkMapping::Layer& layer : layers_->layers()) {
    const mapspace::Mapping& best = *layer.search->result().best;
    evaluations.push_back(layer.model->Evaluate(best, sparse.emplace_back()));
    on_chip_.push_back(OnChipOf(layer, evaluations.back()));
    tiles_->AddLayer(layer.layer.problem, best);
  }
  for (int k = 0; k < network_.OperatorCount(); ++k) {
    const int layer = layer_of_[k];
    costs_.push_back(layer < 0
                         ? mapspace::CostOfStreamedLayer(network_, architecture_, k)
                         : mapspace::CostOfMappedLayer(network_, architecture_, k,
                                                       evaluations[layer], sparse[layer].get()));
  }
}

std::optional<mapspace::TileCost> FusedMapping::Estimate(int op, const mapspace::Problem& tile,
                                                         mapspace::RetentionLevel home) const {
  const OnChip& layer = on_chip_[layer_of_[op]];
  const double macs = static_cast<double>(tile.Macs());
  mapspace::TileCost cost = {.energy_pj = macs * layer.energy_pj,
                             .cycles = static_cast<int64_t>(macs * layer.cycles),
                             .operations = macs};
  const auto forms = layer.forms.find(home.level);
  if (forms != layer.forms.end()) cost.forms = forms->second;
  if (!home.keeps_weights) {
    // At the least, every weight comes once for each tile.
    mapspace::Extents extents;
    extents.fill(1);
    std::ranges::copy(tile.bounds, extents.begin());
    const int weights = tile.TensorNamed("Weights");
    const int64_t words = weights < 0 ? 0 : tile.tensors[weights].BoxWords(extents);
    const mapspace::StorageLevel& outermost = architecture_.levels.back();
    const mapspace::AccessForm form =
        cost.forms && weights >= 0 ? (*cost.forms)[weights].outside : mapspace::AccessForm();
    cost.outside_reads = form.MovedWords(words, outermost);
    cost.energy_pj += form.EnergyPj(words, outermost, outermost.access_energy_pj);
    cost.cycles = std::max(cost.cycles, mapspace::TransferCycles(cost.outside_reads, 0, outermost));
  }
  return cost;
}

bool FusedMapping::IsOver() const {
  const trial::Budget& budget = options_.layers.search.run.budget;
  return budget.stop() || base::MonotonicSeconds() - begin_ > budget.seconds;
}

mapspace::TileCoster FusedMapping::Estimator() const {
  return [this](int op, const mapspace::Problem& tile, mapspace::RetentionLevel home) {
    return Estimate(op, tile, home);
  };
}

mapspace::TileCoster FusedMapping::Exact(const std::function<void(const Status&)>& on_tile) {
  return [this, &on_tile](int, const mapspace::Problem& tile,
                          mapspace::RetentionLevel home) -> std::optional<mapspace::TileCost> {
    if (IsOver()) return std::nullopt;
    const int64_t before = tiles_->mapped();
    const mapspace::MappedTile* mapped = tiles_->Map(tile, home);
    if (on_tile && tiles_->mapped() != before) on_tile(GetStatus());
    if (mapped == nullptr || !mapped->mapping) return std::nullopt;
    return mapped->cost;
  };
}

trial::StopReason FusedMapping::EndOfGroups(bool ended) {
  end_ = base::MonotonicSeconds();
  const trial::StopReason reason = options_.layers.search.run.budget.stop()
                                       ? trial::StopReason::kStopped
                                   : ended ? trial::StopReason::kExhausted
                                           : trial::StopReason::kTime;
  if (journal_) journal_->End(reason);
  return reason;
}

trial::StopReason FusedMapping::RunGroups(const std::function<void(const Status&)>& on_tile) {
  if (costs_.empty()) throw InputError("not all layers have a mapping");
  mapspace::GroupSearchOptions options;
  options.objective = objective();
  options.constraints = constraints_;
  options.max_operators = options_.max_operators;
  options.stop = [this] { return IsOver(); };
  search_ = std::make_unique<mapspace::GroupSearch>(network_, architecture_, costs_, Estimator(),
                                                    Exact(on_tile), options);
  return EndOfGroups(search_->Run());
}

trial::StopReason FusedMapping::RunDivisions(const mapspace::NetworkOnChip& chip,
                                             const std::function<void(const Status&)>& on_tile) {
  mapspace::DivisionSearchOptions options;
  options.objective = objective();
  options.constraints = constraints_;
  options.max_operators = options_.max_operators;
  options.stop = [this] { return IsOver(); };
  chip_ = chip;
  end_ = 0;
  divisions_ = mapspace::DivideNetwork(network_, architecture_, chip, Plan(), costs_, Estimator(),
                                       Exact(on_tile), options);
  return EndOfGroups(!IsOver());
}

void FusedMapping::KeepResult(const std::string& result) {
  if (journal_) journal_->KeepResult(layers_->LayerRuns(), result);
}

const mapspace::GroupPlan& FusedMapping::Plan() const {
  static const mapspace::GroupPlan kEmpty;
  return search_ ? search_->plan() : kEmpty;
}

mapspace::GroupPlan FusedMapping::LayerByLayer() const {
  mapspace::GroupPlan plan;
  for (int k = 0; k < std::ssize(costs_); ++k) {
    plan.groups.push_back(
        {.group = {.begin = k, .end = k + 1, .home = {}, .tiling = {}}, .cost = costs_[k]});
    plan.energy_pj += costs_[k].energy_pj;
    plan.cycles += costs_[k].cycles;
    plan.outside_words += costs_[k].OutsideWords();
  }
  return plan;
}

mapspace::TileCoster FusedMapping::CollectInto(std::vector<mapspace::MappedTile>& tiles) {
  const auto known = std::make_shared<std::set<std::string>>();
  return [this, known, &tiles](int, const mapspace::Problem& tile,
                               mapspace::RetentionLevel home) -> std::optional<mapspace::TileCost> {
    const mapspace::MappedTile* mapped = tiles_->Map(tile, home);
    if (mapped == nullptr || !mapped->mapping) return std::nullopt;
    if (known->insert(tile.Describe()).second) tiles.push_back(*mapped);
    return mapped->cost;
  };
}

std::vector<mapspace::MappedTile> FusedMapping::TilesOf(const mapspace::FusedGroup& group) {
  std::vector<mapspace::MappedTile> tiles;
  const mapspace::TileCoster collect = CollectInto(tiles);
  if (group.home && !mapspace::CostOfFusedGroup(network_, architecture_, group, collect)) return {};
  return tiles;
}

std::vector<mapspace::MappedTile> FusedMapping::TilesOf(const mapspace::DividedGroup& group) {
  if (!group.group.home || !chip_) return {};
  std::vector<mapspace::MappedTile> tiles;
  const mapspace::TileCoster collect = CollectInto(tiles);
  if (!mapspace::CostOfDividedGroup(network_, architecture_, *chip_, group, collect)) return {};
  return tiles;
}

FusedMapping::Status FusedMapping::GetStatus() const {
  Status status;
  status.searched = tiles_->mapped();
  status.tiles = restored_ + status.searched;
  status.evaluations = tiles_->evaluations();
  status.seconds = (end_ > 0 ? end_ : base::MonotonicSeconds()) - begin_;
  if (search_) status.search = search_->progress();
  return status;
}

}  // namespace bayloom::accelerator
