// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/sparse/sparse_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bayloom/mapspace/sparse/draft.h"
#include "bayloom/mapspace/sparse/whole_count.h"

namespace bayloom::mapspace {

bool SparseModel::IsNeeded(const Problem& problem, const Architecture& architecture) {
  return architecture.IsSparse() ||
         std::ranges::any_of(problem.tensors,
                             [](const DataSpace& tensor) { return tensor.word_bits != 0; });
}

SparseModel::SparseModel(const Problem& problem, const Architecture& architecture)
    : problem_(problem), architecture_(architecture) {
  for (const DataSpace& tensor : problem.tensors) {
    densities_.emplace_back(tensor, problem.Whole());
  }
  Resolve(architecture);
}

int SparseModel::TensorNamed(const std::string& name, const std::string& where) const {
  const int tensor = problem_.TensorNamed(name);
  if (tensor >= 0) return tensor;
  throw InputError(fmt::format("{}problem '{}' has no tensor '{}'", where, problem_.name, name));
}

ResolvedFormat SparseModel::ResolveFormat(const TensorFormat& format) const {
  ResolvedFormat resolved{
      .ranks = {}, .inner_to_outer = format.inner_to_outer, .compressed = format.IsCompressed()};
  for (auto rank = format.ranks.rbegin(); rank != format.ranks.rend(); ++rank) {
    ResolvedRank& added = resolved.ranks.emplace_back();
    added.format = rank->format;
    added.metadata_bits = rank->metadata_bits;
    added.payload_bits = rank->payload_bits;
    for (const std::vector<std::string>& list : rank->flattened) {
      DimensionSet& dimensions = added.flattened.emplace_back(0);
      for (const std::string& name : list) {
        const int d = problem_.DimensionNamed(name);
        if (d < 0) {
          throw InputError(fmt::format("{}problem '{}' has no dimension '{}'", format.where,
                                       problem_.name, name));
        }
        dimensions |= DimensionSet{1} << d;
      }
    }
  }
  return resolved;
}

void SparseModel::Resolve(const Architecture& architecture) {
  for (const StorageLevel& storage : architecture.levels) {
    Level& level = levels_.emplace_back();
    level.formats.resize(problem_.tensors.size());
    for (const TensorFormat& format : storage.sparsity.formats) {
      level.formats[TensorNamed(format.tensor, format.where)] = ResolveFormat(format);
    }
    for (const ActionOptimization& action : storage.sparsity.actions) {
      Action& added = level.actions.emplace_back();
      added.kind = action.kind;
      for (const ActionOptimization::Option& option : action.options) {
        Option resolved{.follower = TensorNamed(option.target, action.where), .leaders = {}};
        for (const std::string& leader : option.condition_on) {
          resolved.leaders.push_back(TensorNamed(leader, action.where));
        }
        added.options.push_back(std::move(resolved));
      }
      skips_in_space_ |= action.kind == ActionOptimization::Kind::kSpatialSkipping;
    }
  }
}

double SparseModel::WordShare(int level, int tensor) const {
  const int bits = problem_.tensors[tensor].word_bits;
  return bits == 0 ? 1 : static_cast<double>(bits) / architecture_.levels[level].word_bits;
}

int64_t SparseModel::OccupancyFor(int level, int tensor, const TensorTile& tile) const {
  return densities_[tensor].OccupancyFor(tile,
                                         architecture_.levels[level].sparsity.fit_probability);
}

void SparseModel::BuildTrees(const Mapping& mapping, Draft& draft) const {
  for (int t = 0; t < problem_.TensorCount(); ++t) {
    const Fibertree* child_tree = nullptr;
    int child = -1;
    for (int l = 0; l < architecture_.LevelCount(); ++l) {
      if (!mapping.levels[l].Keeps(t)) continue;
      draft.trees[l][t] = BuildFibertree(draft.nest, problem_.tensors[t], l, child,
                                         levels_[l].formats[t], child_tree);
      child_tree = &draft.trees[l][t];
      child = l;
    }
  }
}

Status SparseModel::CheckSpread(const Mapping& mapping, const Draft& draft) const {
  for (int l = 0; l < architecture_.LevelCount(); ++l) {
    const Fanout feeds = architecture_.FanoutOf(l);
    const Fanout dense = mapping.levels[l].Spread(problem_.DimensionCount());
    double x = static_cast<double>(dense.x), y = static_cast<double>(dense.y);
    if (!draft.uses.empty()) {
      x = y = 1;
      for (const SpatialUse& use : draft.uses) {
        x = std::max(x, std::ceil(use.x[l] / use.x[l + 1] - 1e-9));
        y = std::max(y, std::ceil(use.y[l] / use.y[l + 1] - 1e-9));
      }
    }
    if (x > static_cast<double>(feeds.x) || y > static_cast<double>(feeds.y)) {
      return Error{fmt::format("{} spreads over {}x{} instances, but feeds {}x{}",
                               architecture_.levels[l].name, x, y, feeds.x, feeds.y)};
    }
  }
  return Ok();
}

Status SparseModel::CheckFit(const Mapping& mapping) const {
  Draft draft(mapping, problem_.DimensionCount());
  if (skips_in_space_) FindSpatialUse(mapping, draft);
  if (Status spread = CheckSpread(mapping, draft); !spread) return spread;
  BuildTrees(mapping, draft);
  for (int l = 0; l < architecture_.LevelCount(); ++l) {
    const StorageLevel& storage = architecture_.levels[l];
    double words = 0;
    int64_t bits = 0;
    for (int t = 0; t < problem_.TensorCount(); ++t) {
      if (!mapping.levels[l].Keeps(t)) continue;
      const ResolvedFormat& format = levels_[l].formats[t];
      const TensorTile tile(problem_.tensors[t], draft.nest.Tile(l));
      const int64_t kept = format.compressed ? OccupancyFor(l, t, tile) : tile.words;
      words += static_cast<double>(RoundedUp(static_cast<double>(kept) * WordShare(l, t)));
      if (!format.HasMetadata()) continue;
      if (!draft.trees[l][t].has_all_loops) {
        return Error{fmt::format("the loops of {} at {} need more ranks than its format has",
                                 problem_.tensors[t].name, storage.name)};
      }
      SparseTraffic traffic;
      traffic.tile_words = tile.words;
      CountMetadata(l, t, draft, false, traffic);
      bits += traffic.metadata_bits;
    }
    if (storage.words == 0) continue;
    const LevelSparsity& sparsity = storage.sparsity;
    if (!sparsity.HasMetadataStorage()) {
      words += std::ceil(static_cast<double>(bits) / storage.word_bits);
    } else if (const int64_t capacity = sparsity.metadata_depth * sparsity.metadata_width_bits;
               capacity != 0 && bits > capacity) {
      return Error{fmt::format("metadata of {} bits does not fit into {}, which holds {}", bits,
                               storage.name, capacity)};
    }
    if (words > static_cast<double>(storage.words)) {
      return Error{fmt::format("tiles of {} words do not fit into {}, which holds {}", words,
                               storage.name, storage.words)};
    }
  }
  return Ok();
}

SparseEvaluation SparseModel::Count(const Mapping& mapping, const Evaluation& dense) const {
  Draft draft(mapping, problem_.DimensionCount());
  SparseEvaluation sparse;
  BuildTrees(mapping, draft);
  if (skips_in_space_) FindSpatialUse(mapping, draft);
  CountOccupancies(mapping, draft, sparse);
  FindSafs(mapping, sparse, draft);
  CompressAccesses(mapping, dense, sparse);
  sparse.computes.dense = dense.macs;
  sparse.computes.actual = dense.macs;
  sparse.multipliers = static_cast<double>(dense.multipliers);
  for (int t = 0; t < problem_.TensorCount(); ++t) ApplySafs(mapping, t, draft, sparse);
  CountComputes(mapping, draft, sparse);
  AddEnergy(mapping, draft.nest, sparse);
  return sparse;
}

void SparseModel::Apply(const Mapping& mapping, const SparseEvaluation& sparse,
                        Evaluation& evaluation) const {
  const Arithmetic& arithmetic = architecture_.arithmetic;
  evaluation.energy_pj =
      static_cast<double>(sparse.computes.actual) * arithmetic.mac_energy_pj +
      static_cast<double>(sparse.computes.gated) * arithmetic.sparsity.gated_energy_pj;
  evaluation.cycles = 0;
  for (int l = 0; l < architecture_.LevelCount(); ++l) {
    for (int t = 0; t < problem_.TensorCount(); ++t) {
      if (!mapping.levels[l].Keeps(t)) continue;
      const SparseTraffic& counted = sparse.levels[l][t];
      TensorTraffic& traffic = evaluation.levels[l].tensors[t];
      traffic.reads = counted.reads.actual;
      traffic.fills = counted.fills.actual;
      traffic.updates = counted.updates.actual;
      traffic.tile_words = counted.occupancy;
      traffic.energy_pj = counted.data_energy_pj + counted.metadata_energy_pj;
      evaluation.energy_pj += traffic.energy_pj;
    }
    evaluation.levels[l].cycles = CyclesOf(l, evaluation, sparse);
    evaluation.cycles = std::max(evaluation.cycles, evaluation.levels[l].cycles);
  }
  evaluation.utilization =
      static_cast<double>(sparse.computes.actual) /
      (static_cast<double>(evaluation.cycles) * static_cast<double>(arithmetic.instances));
}

}  // namespace bayloom::mapspace
