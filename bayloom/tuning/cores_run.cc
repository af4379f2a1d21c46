// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/cores_run.h"

#include <algorithm>
#include <utility>

#include "bayloom/base/result.h"

namespace bayloom::tuning {
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

CoresRun::CoresRun(std::vector<NetworkLayer> layers, const mapspace::Architecture& architecture,
                   std::span<const mapspace::Directive> constraints, MapOptions options,
                   const mapspace::NetworkOnChip& network)
    : options_(std::move(options)), network_(network) {
  if (architecture.IsSparse()) {
    throw InputError("several cores are counted with dense tensors; " + architecture.name +
                     " makes use of zeros");
  }
  if (architecture.LevelCount() < 2) {
    throw InputError("'" + architecture.name +
                     "' has one level of memory: cores need one of their own");
  }
  layers_ = std::make_unique<MapRun>(std::move(layers), architecture, constraints, options_);
}

trial::StopReason CoresRun::RunLayers(const run::RunObserver& observer) {
  begin_ = options_.search.budget.clock();
  return layers_->Run(observer);
}

trial::StopReason CoresRun::RunSplits(const std::function<void(int done)>& on_layer) {
  const trial::Budget& budget = options_.search.budget;
  const auto count = static_cast<int>(layers_->layers().size());
  mapspace::CoreMapperOptions search;
  search.mapper = layers_->mapper();
  search.search = options_.search;
  search.counting = options_.counting;
  search.search.budget.trials = budget.trials == trial::Budget::kUnlimited
                                    ? DefaultEvaluations(search.mapper)
                                    : std::max<int64_t>(1, budget.trials / count);
  trial::StopReason end = trial::StopReason::kExhausted;
  for (int k = 0; k < count; ++k) {
    const MapRun::Layer& layer = layers_->layers()[k];
    const mapspace::MapperResult& found = layer.search->result();
    if (!found.best) continue;
    const double left = begin_ + budget.seconds - budget.clock();
    if (budget.stop()) end = trial::StopReason::kStopped;
    if (end != trial::StopReason::kStopped && left <= 0) end = trial::StopReason::kTime;
    // Of splits that are not searched, the best with the adapted mapping is taken.
    mapspace::CoreMapperOptions own = search;
    own.search.budget.seconds = std::max(0.0, left) / (count - k);
    Split split{.layer = k, .mapping = {}, .single = {}};
    const mapspace::Architecture& architecture = layer.mapspace->architecture();
    split.single =
        mapspace::CoreModel(layer.layer.problem, architecture, network_, {}, options_.counting)
            .Evaluate(*found.best);
    split.mapping =
        mapspace::MapOntoCores(layer.layer.problem, architecture, layer.mapspace->directives(),
                               network_, *found.best, own);
    splits_.push_back(std::move(split));
    if (on_layer) on_layer(k + 1);
  }
  return end;
}

CoresRun::Totals CoresRun::Sum() const {
  Totals totals;
  for (const Split& split : splits_) {
    const int count = layers_->layers()[split.layer].layer.count;
    AddTimes(count, split.mapping.cost, totals.cores);
    AddTimes(count, split.single, totals.single);
  }
  return totals;
}

}  // namespace bayloom::tuning
