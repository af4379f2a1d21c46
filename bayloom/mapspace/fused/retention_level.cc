// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/fused/retention_level.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "bayloom/mapspace/sparse/sparse_model.h"
#include "bayloom/trial/inline_evaluator.h"

namespace bayloom::mapspace {
namespace {

bool Bypasses(std::span<const Directive> constraints, std::string_view level,
              std::string_view tensor) {
  return std::ranges::any_of(constraints, [&](const Directive& directive) {
    return directive.kind == Directive::Kind::kBypass && directive.target == level &&
           std::ranges::find(directive.bypass, tensor) != directive.bypass.end();
  });
}

/// The levels up to home, which has any capacity, and the outermost one around them.
Architecture StackedOn(const Architecture& architecture, int home) {
  Architecture stacked = architecture;
  stacked.levels.resize(static_cast<size_t>(home) + 1);
  stacked.levels.back().words = 0;
  stacked.levels.push_back(architecture.levels.back());
  stacked.constraints.clear();
  return stacked;
}

}  // namespace

std::vector<RetentionLevel> RetentionLevelsOf(const Architecture& architecture,
                                              std::span<const Directive> constraints) {
  const auto bypasses = [&](const StorageLevel& level, std::string_view tensor) {
    return Bypasses(architecture.constraints, level.name, tensor) ||
           Bypasses(constraints, level.name, tensor);
  };
  std::vector<RetentionLevel> homes;
  for (int l = architecture.LevelCount() - 2; l >= 1; --l) {
    const StorageLevel& level = architecture.levels[l];
    if (level.instances != 1 || level.words == 0 || bypasses(level, "Inputs")) continue;
    homes.push_back({.level = l, .keeps_weights = !bypasses(level, "Weights")});
  }
  return homes;
}

Architecture InsideOf(const Architecture& architecture, int home) {
  Architecture inside = architecture;
  inside.levels.resize(static_cast<size_t>(home) + 1);
  StorageLevel& outermost = inside.levels.back();
  outermost.words = 0;
  outermost.access_energy_pj = 0;
  outermost.write_energy_pj.reset();
  outermost.read_bandwidth = outermost.write_bandwidth = outermost.shared_bandwidth =
      std::numeric_limits<double>::infinity();
  std::erase_if(inside.constraints, [&](const Directive& directive) {
    const int level = architecture.LevelNamed(directive.target);
    return level > home || (level == home && directive.kind != Directive::Kind::kSpatial);
  });
  return inside;
}

OnChipModel::OnChipModel(Problem tile, const Architecture& architecture, RetentionLevel home,
                         ReuseCounting counting)
    : architecture_(architecture),
      home_(home),
      inside_(std::move(tile), InsideOf(architecture, home.level), counting) {
  if (SparseModel::IsNeeded(inside_.problem(), architecture_)) {
    stacked_.emplace(inside_.problem(), StackedOn(architecture, home.level), counting);
  }
}

bool OnChipModel::Passes(int tensor) const {
  return !home_.keeps_weights && inside_.problem().tensors[tensor].name == "Weights";
}

Mapping OnChipModel::Stacked(const Mapping& mapping) const {
  Mapping stacked = mapping;
  MappingLevel& home = stacked.levels.back();
  for (int t = 0; t < inside_.problem().TensorCount(); ++t) {
    if (Passes(t)) home.keep &= ~(uint32_t{1} << t);
  }
  stacked.levels.emplace_back();
  return stacked;
}

bool OnChipModel::Fits(const Mapping& mapping) const {
  if (!stacked_) return inside_.Fits(mapping);
  return stacked_->Fits(Stacked(mapping));
}

Status OnChipModel::CheckFit(const Mapping& mapping) const {
  if (!stacked_) return inside_.CheckFit(mapping);
  return stacked_->CheckFit(Stacked(mapping));
}

TileCost OnChipModel::EvaluateSparse(const Mapping& mapping,
                                     std::unique_ptr<const SparseEvaluation>& sparse) const {
  const Evaluation evaluation = stacked_->Evaluate(Stacked(mapping), sparse);
  const Arithmetic& arithmetic = architecture_.arithmetic;
  const StorageLevel& home = architecture_.levels[home_.level];
  const StorageLevel& outermost = architecture_.levels.back();
  TileCost cost = {
      .energy_pj =
          static_cast<double>(sparse->computes.actual) * arithmetic.mac_energy_pj +
          static_cast<double>(sparse->computes.gated) * arithmetic.sparsity.gated_energy_pj,
      .cycles = sparse->compute_cycles,
      .operations = static_cast<double>(evaluation.macs)};
  for (int l = 0; l < home_.level; ++l) {
    cost.cycles = std::max(cost.cycles, evaluation.levels[l].cycles);
    for (const TensorTraffic& traffic : evaluation.levels[l].tensors) {
      cost.energy_pj += traffic.energy_pj;
    }
  }
  for (int t = 0; t < inside_.problem().TensorCount(); ++t) {
    const bool passes = Passes(t);
    const StorageLevel& from = passes ? outermost : home;
    const SparseTraffic& traffic = sparse->levels[home_.level + (passes ? 1 : 0)][t];
    const AccessForm reads(traffic, kReads), updates(traffic, kUpdates);
    (passes ? cost.outside_reads : cost.home_reads) += reads.MovedWords(reads.dense(), from);
    cost.home_writes += updates.MovedWords(updates.dense(), home);
    cost.energy_pj += reads.EnergyPj(reads.dense(), from, from.access_energy_pj) +
                      updates.EnergyPj(updates.dense(), home, home.WriteEnergyPj());
  }
  cost.cycles = std::max({cost.cycles, TransferCycles(cost.home_reads, cost.home_writes, home),
                          TransferCycles(cost.outside_reads, 0, outermost)});
  return cost;
}

TileCost OnChipModel::EvaluateWithForms(const Mapping& mapping) const {
  if (!stacked_) return Evaluate(mapping);
  std::unique_ptr<const SparseEvaluation> sparse;
  TileCost cost = EvaluateSparse(mapping, sparse);
  const auto forms = std::make_shared<TileForms>();
  const SparseModel& model = *stacked_->sparse();
  const int home = home_.level;
  for (int t = 0; t < inside_.problem().TensorCount(); ++t) {
    const bool read_write = inside_.problem().tensors[t].read_write;
    TensorForms& form = (*forms)[t];
    form.outside = AccessForm(sparse->levels[home + 1][t], read_write ? kUpdates : kReads);
    if (Passes(t)) continue;
    const SparseTraffic& traffic = sparse->levels[home][t];
    form.home = AccessForm(traffic, kFills);
    if (const DensityModel* density = model.CompressedAt(home, t)) form.compressed = *density;
    form.fit_probability = architecture_.levels[home].sparsity.fit_probability;
    form.word_share = model.WordShare(home, t);
    form.tile_words = traffic.tile_words;
    form.metadata_bits = traffic.metadata_bits;
  }
  cost.forms = forms;
  return cost;
}

TileCost OnChipModel::Evaluate(const Mapping& mapping) const {
  if (stacked_) {
    std::unique_ptr<const SparseEvaluation> sparse;
    return EvaluateSparse(mapping, sparse);
  }
  const Evaluation evaluation = inside_.Evaluate(mapping);
  const StorageLevel& home = architecture_.levels[home_.level];
  const StorageLevel& outermost = architecture_.levels.back();
  TileCost cost = {.energy_pj = evaluation.energy_pj,
                   .cycles = evaluation.cycles,
                   .operations = static_cast<double>(evaluation.macs)};
  for (int t = 0; t < inside_.problem().TensorCount(); ++t) {
    const TensorTraffic& traffic = evaluation.levels[home_.level].tensors[t];
    const bool passes = Passes(t);
    (passes ? cost.outside_reads : cost.home_reads) += traffic.reads;
    cost.home_writes += traffic.updates;
    cost.energy_pj +=
        ReadEnergy(traffic.reads, passes ? outermost : home) + WriteEnergy(traffic.updates, home);
  }
  cost.cycles = std::max({cost.cycles, TransferCycles(cost.home_reads, cost.home_writes, home),
                          TransferCycles(cost.outside_reads, 0, outermost)});
  return cost;
}

double OnChipModel::ValueOf(const TileCost& cost, MapObjective objective) const {
  switch (objective) {
    case MapObjective::kEnergy:
      return cost.energy_pj / cost.operations;
    case MapObjective::kDelay:
      return static_cast<double>(cost.cycles);
    case MapObjective::kEnergyDelay:
      break;
  }
  return cost.energy_pj * static_cast<double>(cost.cycles);
}

std::unique_ptr<trial::Evaluator<Mapping>> MakeHomeEvaluator(const OnChipModel& model,
                                                             MapObjective objective) {
  return std::make_unique<trial::InlineEvaluator<Mapping>>(
      [&model, objective](const Mapping& mapping) {
        if (!model.Fits(mapping)) {
          return trial::Outcome::Infeasible(trial::Verdict::kMemory,
                                            model.CheckFit(mapping).error().message);
        }
        const TileCost cost = model.Evaluate(mapping);
        return FeasibleWithTieBreak(model.ValueOf(cost, objective), objective,
                                    model.ValueOf(cost, TieBreakOf(objective)));
      });
}

double ReadEnergy(int64_t words, const StorageLevel& level) {
  return level.Blocks(words) * level.access_energy_pj;
}

double WriteEnergy(int64_t words, const StorageLevel& level) {
  return level.Blocks(words) * level.WriteEnergyPj();
}

int64_t TransferCycles(int64_t reads, int64_t writes, const StorageLevel& level) {
  const auto read = static_cast<double>(reads), written = static_cast<double>(writes);
  return static_cast<int64_t>(
      std::ceil(std::max({read / level.read_bandwidth, written / level.write_bandwidth,
                          (read + written) / level.shared_bandwidth})));
}

TileCost LayerCost(const Evaluation& evaluation, const Architecture& architecture,
                   const SparseEvaluation* sparse) {
  TileCost cost = {.energy_pj = evaluation.energy_pj,
                   .cycles = evaluation.cycles,
                   .operations = static_cast<double>(evaluation.macs)};
  const int level = architecture.LevelCount() - 1;
  const LevelTraffic& outermost = evaluation.levels[level];
  for (size_t t = 0; t < outermost.tensors.size(); ++t) {
    if (sparse == nullptr) {
      cost.outside_reads += outermost.instances * outermost.tensors[t].reads;
      cost.outside_writes += outermost.instances * outermost.tensors[t].updates;
      continue;
    }
    const StorageLevel& storage = architecture.levels[level];
    const AccessForm reads(sparse->levels[level][t], kReads);
    const AccessForm updates(sparse->levels[level][t], kUpdates);
    cost.outside_reads += reads.MovedWords(reads.dense(), storage);
    cost.outside_writes += updates.MovedWords(updates.dense(), storage);
  }
  return cost;
}

TileCost StreamCost(int64_t words_read, int64_t words_written, double operations,
                    const Architecture& architecture, int level) {
  const StorageLevel& from = architecture.levels[level];
  const Arithmetic& arithmetic = architecture.arithmetic;
  const double compute = std::ceil(operations / static_cast<double>(arithmetic.instances));
  const bool is_outside = level + 1 == architecture.LevelCount();
  TileCost cost = {.energy_pj = operations * arithmetic.mac_energy_pj +
                                ReadEnergy(words_read, from) + WriteEnergy(words_written, from),
                   .cycles = std::max(static_cast<int64_t>(compute),
                                      TransferCycles(words_read, words_written, from)),
                   .operations = operations};
  (is_outside ? cost.outside_reads : cost.home_reads) = words_read;
  (is_outside ? cost.outside_writes : cost.home_writes) = words_written;
  return cost;
}

}  // namespace bayloom::mapspace
