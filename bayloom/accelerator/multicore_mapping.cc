// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/accelerator/multicore_mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "bayloom/accelerator/run_journal.h"
#include "bayloom/base/json.h"
#include "bayloom/base/result.h"
#include "bayloom/mapspace/cores/core_split_json.h"
#include "bayloom/mapspace/mapping_json.h"
#include "bayloom/mapspace/timeloop_yaml.h"

namespace bayloom::accelerator {
namespace {

void AddTimes(int count, const mapspace::CoreCost& cost, mapspace::CoreCost& sum) {
  const auto times = static_cast<double>(count);
  sum.core_energy_pj += times * cost.core_energy_pj;
  sum.network_energy_pj += times * cost.network_energy_pj;
  sum.memory_energy_pj += times * cost.memory_energy_pj;
  sum.energy_pj += times * cost.energy_pj;
  sum.cycles += count * cost.cycles;
  sum.macs += times * cost.macs;
  sum.memory_reads += count * cost.memory_reads;
  sum.memory_writes += count * cost.memory_writes;
  sum.network_sent += times * cost.network_sent;
  sum.network_delivered += times * cost.network_delivered;
  sum.network_word_hops += times * cost.network_word_hops;
}

}  // namespace

MulticoreMapping::MulticoreMapping(std::vector<NetworkLayer> layers,
                                   const mapspace::Architecture& architecture,
                                   std::span<const mapspace::Directive> constraints,
                                   MapOptions options, const mapspace::NetworkOnChip& network)
    : options_(std::move(options)), network_(network) {
  if (architecture.IsSparse()) {
    throw InputError("several cores are counted with dense tensors; " + architecture.name +
                     " makes use of zeros");
  }
  if (architecture.LevelCount() < 2) {
    throw InputError("'" + architecture.name +
                     "' has one level of memory: cores need one of their own");
  }
  layers_ =
      std::make_unique<NetworkMapping>(std::move(layers), architecture, constraints, options_);
  if (!options_.database.empty()) OpenJournal(architecture, constraints);
}

MulticoreMapping::~MulticoreMapping() = default;

int64_t MulticoreMapping::EvaluationsOfLayer() const {
  const int64_t trials = options_.search.run.budget.trials;
  if (trials == trial::Budget::kUnlimited) return DefaultEvaluations(layers_->mapper());
  return std::max<int64_t>(1, trials / std::ssize(layers_->layers()));
}

/// All that the splits depend on but the seed.
std::string MulticoreMapping::Definition(const mapspace::Architecture& architecture,
                                         std::span<const mapspace::Directive> constraints) const {
  std::string layers;
  for (const NetworkMapping::Layer& layer : layers_->layers()) {
    layers += mapspace::PrintProblemYaml(layer.layer.problem);
  }
  mapspace::Architecture constrained = architecture;
  constrained.constraints.insert(constrained.constraints.end(), constraints.begin(),
                                 constraints.end());
  return nlohmann::json{
      {"layers", layers},
      {"architecture", mapspace::PrintArchitectureYaml(constrained)},
      {"cores", network_.Describe()},
      {"evaluator", "model"},
      {"reuse", options_.counting == mapspace::ReuseCounting::kExact ? "exact" : "timeloop"},
      {"mapper", layers_->mapper()},
      {"encodings", options_.search.tiles + " " + options_.search.orders},
      {"evaluations", EvaluationsOfLayer()},
      {"victory", options_.search.victory}}
      .dump();
}

void MulticoreMapping::OpenJournal(const mapspace::Architecture& architecture,
                                   std::span<const mapspace::Directive> constraints) {
  record::RunRecord wanted;
  wanted.kind = record::RunKind::kMap;
  wanted.name = fmt::format("{} layers on {} of {}", layers_->layers().size(), network_.Describe(),
                            architecture.name);
  wanted.definition = Definition(architecture, constraints);
  wanted.objective = options_.ObjectiveNames();
  wanted.proposer = layers_->mapper();
  wanted.seed = options_.search.run.seed;
  journal_ = std::make_unique<RunJournal>(options_.database, wanted, options_.resume);
  Restore(journal_->Earlier());
}

void MulticoreMapping::Restore(const std::vector<record::StoredTrial>& trials) {
  for (const record::StoredTrial& trial : trials) {
    const auto refuse = [&](const std::string& what) {
      throw InputError(fmt::format("cannot resume: trial {} {}", trial.ordinal, what));
    };
    const nlohmann::json kept = base::ParseJsonOrDiscard(trial.candidate);
    const bool is_split = kept.is_object() && kept.contains("layer") &&
                          kept["layer"].is_number_integer() && kept.contains("split") &&
                          kept.contains("levels");
    if (!is_split) refuse("is no layer's split");
    const int64_t number = kept["layer"].get<int64_t>();
    if (number < 0 || number >= std::ssize(layers_->layers())) refuse("is of no layer");
    const NetworkMapping::Layer& layer = layers_->layers()[number];
    const mapspace::Problem& problem = layer.layer.problem;
    const std::optional<mapspace::CoreSplit> split =
        mapspace::CoreSplitFromJson(kept["split"], problem);
    if (!split) refuse("divides no layer");
    const mapspace::CoreModel model(problem, layer.mapspace->architecture(), network_, *split,
                                    options_.counting);
    Result<mapspace::Mapping> mapping = mapspace::MappingFromJson(
        kept["levels"], model.part().problem(), model.part().architecture());
    if (!mapping) refuse("is no mapping of its part: " + mapping.error().message);
    if (const Status fits = model.part().CheckFit(*mapping); !fits) refuse(fits.error().message);
    const mapspace::CoreCost cost = model.Evaluate(*mapping);
    known_.insert_or_assign(static_cast<int>(number),
                            mapspace::CoreMapping{.split = *split,
                                                  .part = model.part().problem(),
                                                  .mapping = *std::move(mapping),
                                                  .cost = cost});
  }
}

void MulticoreMapping::Keep(const Split& split) {
  const NetworkMapping::Layer& layer = layers_->layers()[split.layer];
  const nlohmann::json candidate = {
      {"layer", split.layer},
      {"split", mapspace::ToJson(split.mapping.split, layer.layer.problem)},
      {"levels",
       mapspace::ToJson(split.mapping.mapping, split.mapping.part, layer.mapspace->architecture())
           .at("levels")}};
  trial::Outcome outcome = trial::Outcome::Feasible(
      mapspace::CoreModel::ValueOf(split.mapping.cost, options_.search.objectives[0]));
  outcome.Set("energy_pj", split.mapping.cost.energy_pj);
  outcome.Set("cycles", static_cast<double>(split.mapping.cost.cycles));
  journal_->Add({.candidate = candidate.dump(),
                 .proposer = layers_->mapper(),
                 .outcome = std::move(outcome),
                 .elapsed = options_.search.run.budget.clock() - begin_});
}

trial::StopReason MulticoreMapping::RunLayers(const run::RunObserver& observer) {
  begin_ = options_.search.run.budget.clock();
  return layers_->Run(observer);
}

trial::StopReason MulticoreMapping::RunSplits(const std::function<void(int done)>& on_layer) {
  const trial::Budget& budget = options_.search.run.budget;
  const auto count = static_cast<int>(layers_->layers().size());
  mapspace::CoreMapperOptions search;
  search.mapper = layers_->mapper();
  search.search = options_.search;
  search.counting = options_.counting;
  search.search.run.budget.trials = EvaluationsOfLayer();
  trial::StopReason end = trial::StopReason::kExhausted;
  for (int k = 0; k < count; ++k) {
    const NetworkMapping::Layer& layer = layers_->layers()[k];
    const mapspace::MapperResult& found = layer.search->result();
    if (!found.best) continue;
    const double left = begin_ + budget.seconds - budget.clock();
    if (budget.stop()) end = trial::StopReason::kStopped;
    if (end != trial::StopReason::kStopped && left <= 0) end = trial::StopReason::kTime;
    // Of splits that are not searched, the best with the adapted mapping is taken.
    mapspace::CoreMapperOptions own = search;
    own.search.run.budget.seconds = std::max(0.0, left) / (count - k);
    Split split{.layer = k, .mapping = {}, .single = {}};
    const mapspace::Architecture& architecture = layer.mapspace->architecture();
    split.single =
        mapspace::CoreModel(layer.layer.problem, architecture, network_, {}, options_.counting)
            .Evaluate(*found.best);
    const auto value = [&](const mapspace::CoreCost& cost) {
      return mapspace::CoreModel::ValueOf(cost, options_.search.objectives[0]);
    };
    const auto known = known_.find(k);
    if (known != known_.end() && value(known->second.cost) <= value(split.single)) {
      split.mapping = known->second;
    } else {
      split.mapping =
          mapspace::MapOntoCores(layer.layer.problem, architecture, layer.mapspace->directives(),
                                 network_, *found.best, own);
      if (!budget.stop()) {
        ++searched_;
        if (journal_ && left > 0) Keep(split);
      }
    }
    splits_.push_back(std::move(split));
    if (on_layer) on_layer(k + 1);
  }
  if (budget.stop()) end = trial::StopReason::kStopped;
  if (journal_) journal_->End(end);
  return end;
}

void MulticoreMapping::KeepResult(const std::string& result) {
  if (journal_) journal_->KeepResult(layers_->LayerRuns(), result);
}

MulticoreMapping::Totals MulticoreMapping::Sum() const {
  Totals totals;
  for (const Split& split : splits_) {
    const int count = layers_->layers()[split.layer].layer.count;
    AddTimes(count, split.mapping.cost, totals.cores);
    AddTimes(count, split.single, totals.single);
  }
  return totals;
}

}  // namespace bayloom::accelerator
