// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/accelerator/bottlenecks.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace bayloom::accelerator {
namespace {

PartCost& PartNamed(const std::string& name, std::vector<PartCost>& parts) {
  const auto found = std::ranges::find(parts, name, &PartCost::name);
  if (found != parts.end()) return *found;
  return parts.emplace_back(PartCost{.name = name});
}

void AddLayer(const CostedLayer& layer, std::vector<PartCost>& parts) {
  const mapspace::Architecture& architecture = *layer.architecture;
  const mapspace::Evaluation& evaluation = layer.evaluation;
  const auto count = static_cast<double>(layer.count);
  double moved = 0;
  std::string slowest = architecture.arithmetic.name;
  const auto compute = static_cast<double>(evaluation.macs / evaluation.multipliers);
  double most = compute;
  for (int l = architecture.LevelCount() - 1; l >= 0; --l) {
    const mapspace::LevelTraffic& level = evaluation.levels[l];
    PartCost& part = PartNamed(architecture.levels[architecture.FirstPart(l)].name, parts);
    for (const mapspace::TensorTraffic& traffic : level.tensors) {
      part.energy_pj += count * traffic.energy_pj;
      moved += traffic.energy_pj;
    }
    // The outermost part of a memory is counted with all that are inside.
    const auto cycles = static_cast<double>(level.cycles);
    if (architecture.LastPart(l) == l) part.cycles += count * cycles;
    if (cycles > most) {
      most = cycles;
      slowest = part.name;
    }
  }
  PartCost& arithmetic = PartNamed(architecture.arithmetic.name, parts);
  arithmetic.energy_pj += count * (evaluation.energy_pj - moved);
  arithmetic.cycles += count * compute;
  PartNamed(slowest, parts).bound_cycles += count * static_cast<double>(evaluation.cycles);
}

/// The memories of an architecture: the levels of each are [first, last].
std::vector<std::pair<int, int>> MemoriesOf(const mapspace::Architecture& architecture) {
  std::vector<std::pair<int, int>> memories;
  for (int l = architecture.LevelCount() - 1; l >= 0; l = architecture.FirstPart(l) - 1) {
    memories.emplace_back(architecture.FirstPart(l), l);
  }
  return memories;
}

/// The change, and the architecture with it; nullopt where there is no bound to double.
std::optional<mapspace::Architecture> Doubled(const mapspace::Architecture& architecture,
                                              std::pair<int, int> memory, bool bandwidth) {
  mapspace::Architecture doubled = architecture;
  bool is_bounded = false;
  for (int l = memory.first; l <= memory.second; ++l) {
    mapspace::StorageLevel& level = doubled.levels[l];
    if (!bandwidth) {
      is_bounded = is_bounded || (level.words > 0 && !architecture.IsMesh(l));
      level.words *= 2;
      continue;
    }
    for (double* words : {&level.read_bandwidth, &level.write_bandwidth, &level.shared_bandwidth}) {
      is_bounded = is_bounded || std::isfinite(*words);
      *words *= 2;
    }
  }
  return is_bounded ? std::optional(std::move(doubled)) : std::nullopt;
}

}  // namespace

std::vector<PartCost> CostsByPart(std::span<const CostedLayer> layers) {
  std::vector<PartCost> parts;
  for (const CostedLayer& layer : layers) AddLayer(layer, parts);
  return parts;
}

std::vector<PartCost> CostsByPart(const NetworkMapping& run) {
  std::vector<PartCost> parts;
  for (const NetworkMapping::Layer& layer : run.layers()) {
    const auto& best = layer.search->result().best;
    if (!best) continue;
    AddLayer({&layer.mapspace->architecture(), layer.model->Evaluate(*best), layer.layer.count},
             parts);
  }
  return parts;
}

std::vector<Doubling> DoubleParts(std::span<const NetworkLayer> layers,
                                  const mapspace::Architecture& architecture,
                                  std::span<const mapspace::Directive> constraints,
                                  MapOptions options,
                                  std::span<const std::optional<mapspace::Mapping>> known,
                                  const std::function<void(int done, int all)>& on_search) {
  options.mapper = options.MapperName() == "exact" ? "exact" : "genetic";
  options.evaluator = "model";
  options.make_evaluator = {};
  options.database.clear();
  options.resume = false;
  options.learn_from = {};
  options.rehearsal = 0;
  options.search.top_k = 0;
  options.search.objectives.resize(1);
  std::vector<Doubling> doublings = {{}};
  std::vector<mapspace::Architecture> architectures = {architecture};
  for (const auto& memory : MemoriesOf(architecture)) {
    for (const bool bandwidth : {false, true}) {
      std::optional<mapspace::Architecture> doubled = Doubled(architecture, memory, bandwidth);
      if (!doubled) continue;
      architectures.push_back(*std::move(doubled));
      doublings.push_back({.part = architecture.levels[memory.first].name,
                           .is_bandwidth = bandwidth,
                           .totals = {}});
    }
  }
  for (size_t k = 0; k < architectures.size(); ++k) {
    if (on_search) on_search(static_cast<int>(k), static_cast<int>(architectures.size()));
    if (options.search.run.budget.stop()) {
      doublings.resize(k);
      break;
    }
    NetworkMapping run({layers.begin(), layers.end()}, architectures[k], constraints, options);
    for (size_t layer = 0; layer < known.size(); ++layer) {
      if (known[layer]) run.Suggest(static_cast<int>(layer), *known[layer]);
    }
    run.Run();
    doublings[k].totals = run.Sum();
  }
  return doublings;
}

}  // namespace bayloom::accelerator
