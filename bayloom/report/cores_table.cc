// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/report/cores_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bayloom/mapspace/cores/core_split_json.h"
#include "bayloom/mapspace/mapping_json.h"
#include "bayloom/report/format.h"

namespace bayloom::report {
namespace {

/// Of totals.
constexpr int kCoreDigits = 4;

int64_t MemoryWords(const mapspace::CoreCost& cost) {
  return cost.memory_reads + cost.memory_writes;
}

nlohmann::json CoreCostJson(const mapspace::CoreCost& cost) {
  return {{"energy_pj", cost.energy_pj},
          {"core_energy_pj", cost.core_energy_pj},
          {"network_energy_pj", cost.network_energy_pj},
          {"memory_energy_pj", cost.memory_energy_pj},
          {"cycles", cost.cycles},
          {"memory_reads", cost.memory_reads},
          {"memory_writes", cost.memory_writes},
          {"network_words_sent", cost.network_sent},
          {"network_words_delivered", cost.network_delivered},
          {"network_word_hops", cost.network_word_hops}};
}

}  // namespace

std::string CountText(double words) { return FormatCount(static_cast<int64_t>(words)); }

Table CoresTable(const accelerator::MulticoreMapping& run) {
  Table table({"layer", "problem", "times", "split", "cores", "energy uJ", "one core", "cycles",
               "one core ", "DRAM words", "NoC words", "NoC hops"});
  for (const accelerator::MulticoreMapping::Split& split : run.splits()) {
    const accelerator::NetworkLayer& layer = run.layers().layers()[split.layer].layer;
    const mapspace::CoreCost& cost = split.mapping.cost;
    const auto energy = [](double pj) { return Cell(pj / 1e6, fmt::format("{:.1f}", pj / 1e6)); };
    const auto count = [](int64_t words) { return Cell(words, FormatCount(words)); };
    const auto real = [](double words) { return Cell(words, CountText(words)); };
    table.AddRow({layer.name, layer.problem.Describe(), layer.count,
                  split.mapping.split.Describe(layer.problem), split.mapping.split.CoreCount(),
                  energy(cost.energy_pj), energy(split.single.energy_pj), count(cost.cycles),
                  count(split.single.cycles), count(MemoryWords(cost)),
                  real(cost.network_delivered), real(cost.network_word_hops)});
  }
  return table;
}

std::string CoresTotals(const accelerator::MulticoreMapping& run) {
  const auto [cores, single] = run.Sum();
  return fmt::format(
      "{} cores ({}): {}, {} cycles; cores {}, network {}, memory {}\n"
      "one core: {}, {} cycles; {:.2f}x as fast, energy {:.3f}\n"
      "words: {} read from the memory and {} written, one core {} and {}; {} delivered by the "
      "network over {} links",
      run.network().CoreCount(), run.network().Describe(),
      FormatEnergy(cores.energy_pj, kCoreDigits), FormatCount(cores.cycles),
      FormatEnergy(cores.core_energy_pj, kCoreDigits),
      FormatEnergy(cores.network_energy_pj, kCoreDigits),
      FormatEnergy(cores.memory_energy_pj, kCoreDigits),
      FormatEnergy(single.energy_pj, kCoreDigits), FormatCount(single.cycles),
      static_cast<double>(single.cycles) / static_cast<double>(cores.cycles),
      cores.energy_pj / single.energy_pj, FormatCount(cores.memory_reads),
      FormatCount(cores.memory_writes), FormatCount(single.memory_reads),
      FormatCount(single.memory_writes), CountText(cores.network_delivered),
      CountText(cores.network_word_hops));
}

nlohmann::json ToJson(const accelerator::MulticoreMapping& run) {
  nlohmann::json layers = nlohmann::json::array();
  for (const accelerator::MulticoreMapping::Split& split : run.splits()) {
    const accelerator::NetworkMapping::Layer& layer = run.layers().layers()[split.layer];
    const mapspace::CoreMapping& mapping = split.mapping;
    layers.push_back({{"name", layer.layer.name},
                      {"problem", layer.layer.problem.Describe()},
                      {"count", layer.layer.count},
                      {"split", mapspace::ToJson(mapping.split, layer.layer.problem)},
                      {"cores", mapping.split.CoreCount()},
                      {"part", mapping.part.Describe()},
                      {"mapping", mapspace::ToJson(mapping.mapping, mapping.part,
                                                   layer.mapspace->architecture())},
                      {"cost", CoreCostJson(mapping.cost)},
                      {"one_core", CoreCostJson(split.single)}});
  }
  const auto [cores, single] = run.Sum();
  return {{"layers", layers},
          {"totals", {{"cores", CoreCostJson(cores)}, {"one_core", CoreCostJson(single)}}},
          {"splits_searched", run.searched()},
          {"network", run.network().Describe()}};
}

Table StageTable(const mapspace::Pipeline& pipeline, const mapspace::GroupPlan& plan,
                 const mapspace::FusedNetwork& network) {
  Table table({"core", "first operator", "last operator", "groups", "cycles"});
  for (size_t core = 0; core < pipeline.stages.size(); ++core) {
    const mapspace::Pipeline::Stage& stage = pipeline.stages[core];
    table.AddRow({static_cast<int64_t>(core),
                  network.operators[plan.groups[stage.begin].group.begin].name,
                  network.operators[plan.groups[stage.end - 1].group.end - 1].name,
                  static_cast<int64_t>(stage.end) - static_cast<int64_t>(stage.begin),
                  Cell(stage.cycles, FormatCount(stage.cycles))});
  }
  return table;
}

std::string PipelineTotals(const mapspace::Pipeline& pipeline, const mapspace::GroupPlan& plan) {
  const double speed = static_cast<double>(plan.cycles) /
                       static_cast<double>(std::max<int64_t>(1, pipeline.interval_cycles));
  return fmt::format(
      "an input every {} cycles ({:.2f}x as often as on one core), {} cycles through "
      "all stages; {} an input, {} of them the network's: {} words over "
      "{} links",
      FormatCount(pipeline.interval_cycles), speed, FormatCount(pipeline.latency_cycles),
      FormatEnergy(pipeline.energy_pj, kCoreDigits),
      FormatEnergy(pipeline.network_energy_pj, kCoreDigits), CountText(pipeline.network_words),
      CountText(pipeline.network_word_hops));
}

nlohmann::json ToJson(const mapspace::Pipeline& pipeline) {
  nlohmann::json stages = nlohmann::json::array();
  for (size_t core = 0; core < pipeline.stages.size(); ++core) {
    const mapspace::Pipeline::Stage& stage = pipeline.stages[core];
    stages.push_back(
        {{"core", core}, {"groups", {stage.begin, stage.end}}, {"cycles", stage.cycles}});
  }
  return {{"stages", stages},
          {"interval_cycles", pipeline.interval_cycles},
          {"latency_cycles", pipeline.latency_cycles},
          {"energy_pj", pipeline.energy_pj},
          {"network_energy_pj", pipeline.network_energy_pj},
          {"network_words", pipeline.network_words},
          {"network_word_hops", pipeline.network_word_hops}};
}

}  // namespace bayloom::report
