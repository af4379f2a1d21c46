// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bayloom/mapspace/sparse/sparse_model.h"

namespace bayloom::mapspace {

/// A mapping with its unit loops dropped, which decide nothing.
struct AnalyticalModel::Nest {
  Nest(const Mapping& mapping, int dimensions) {
    const int level_count = static_cast<int>(mapping.levels.size());
    Extents tile = kUnitExtents;
    for (int l = 0; l < level_count; ++l) {
      const MappingLevel& level = mapping.levels[l];
      inner[l] = tile;
      for (int d = 0; d < dimensions; ++d) {
        spatial[l][d] = level.spatial[d];
        fanout[l] *= spatial[l][d];
        tile[d] *= spatial[l][d];
      }
      spread[l] = tile;
      first_loop[l] = loop_count;
      for (int i = 0; i < dimensions; ++i) {
        const int d = level.order[i];
        if (level.temporal[d] == 1) continue;
        loops[loop_count++] = {d, level.temporal[d], tile[d]};
        tile[d] *= level.temporal[d];
      }
      whole[l] = tile;
    }
    for (int l = level_count - 2; l >= 0; --l) instances[l] = instances[l + 1] * fanout[l + 1];
  }

  /// The temporal loops of this level and all outside.
  std::span<const NestLoop> LoopsFrom(int level) const {
    return std::span(loops).subspan(first_loop[level], loop_count - first_loop[level]);
  }

  std::array<Extents, kMaxLevels> spatial = MakeUnits();
  /// Extents of one tile of the level inside; of all that run side by side; of this level's tile.
  std::array<Extents, kMaxLevels> inner, spread, whole;
  std::array<int64_t, kMaxLevels> fanout = Ones();
  std::array<int64_t, kMaxLevels> instances = Ones();
  std::array<NestLoop, kMaxLevels * kMaxDimensions> loops;
  std::array<int, kMaxLevels> first_loop;
  int loop_count = 0;

 private:
  static constexpr std::array<int64_t, kMaxLevels> Ones() {
    std::array<int64_t, kMaxLevels> ones = {};
    ones.fill(1);
    return ones;
  }
  static std::array<Extents, kMaxLevels> MakeUnits() {
    std::array<Extents, kMaxLevels> units;
    units.fill(kUnitExtents);
    return units;
  }
};

AnalyticalModel::AnalyticalModel(Problem problem, Architecture architecture, ReuseCounting counting)
    : problem_(std::move(problem)), architecture_(std::move(architecture)), counting_(counting) {
  CheckProblem(problem_);
  CheckArchitecture(architecture_);
  for (const DataSpace& tensor : problem_.tensors) tensors_.emplace_back(tensor);
  for (int l = 0; l < architecture_.LevelCount(); ++l) {
    fanouts_.push_back(architecture_.FanoutOf(l));
  }
  if (SparseModel::IsNeeded(problem_, architecture_)) {
    sparse_ = std::make_shared<const SparseModel>(problem_, architecture_);
  }
}

namespace {

/// Words that a level keeps in one instance.
int64_t KeptWords(const std::vector<TensorReuse>& tensors, const MappingLevel& level,
                  const Extents& tile) {
  int64_t words = 0;
  for (size_t t = 0; t < tensors.size(); ++t) {
    if (level.Keeps(static_cast<int>(t))) words += tensors[t].BoxWords(tile);
  }
  return words;
}

}  // namespace

bool AnalyticalModel::Fits(const Mapping& mapping) const {
  if (sparse_) return static_cast<bool>(sparse_->CheckFit(mapping));
  const int dimensions = problem_.DimensionCount();
  Extents tile = kUnitExtents;
  int64_t kept = 0;  // in the memory
  for (int l = 0; l < architecture_.LevelCount(); ++l) {
    const MappingLevel& level = mapping.levels[l];
    const Fanout spread = level.Spread(dimensions);
    if (spread.x > fanouts_[l].x || spread.y > fanouts_[l].y) return false;
    for (int d = 0; d < dimensions; ++d) tile[d] *= level.temporal[d] * level.spatial[d];
    const int64_t words = architecture_.levels[l].words;
    if (words == 0) continue;
    kept = KeptWords(tensors_, level, tile) + (architecture_.levels[l].is_part ? kept : 0);
    if (kept > words) return false;
  }
  return true;
}

Status AnalyticalModel::CheckFit(const Mapping& mapping) const {
  if (sparse_) return sparse_->CheckFit(mapping);
  const Nest nest(mapping, problem_.DimensionCount());
  int64_t words = 0;
  for (int l = 0; l < architecture_.LevelCount(); ++l) {
    const StorageLevel& storage = architecture_.levels[l];
    const Fanout spread = mapping.levels[l].Spread(problem_.DimensionCount());
    if (spread.x > fanouts_[l].x || spread.y > fanouts_[l].y) {
      return Error{fmt::format("{} spreads over {}x{} instances, but feeds {}x{}", storage.name,
                               spread.x, spread.y, fanouts_[l].x, fanouts_[l].y)};
    }
    words = KeptWords(tensors_, mapping.levels[l], nest.whole[l]) + (storage.is_part ? words : 0);
    if (storage.words != 0 && words > storage.words) {
      return Error{fmt::format("tiles of {} words do not fit into {}, which holds {}", words,
                               storage.name, storage.words)};
    }
  }
  return Ok();
}

Evaluation AnalyticalModel::Evaluate(const Mapping& mapping) const {
  std::unique_ptr<const SparseEvaluation> sparse;
  return Evaluate(mapping, sparse);
}

Evaluation AnalyticalModel::Evaluate(const Mapping& mapping,
                                     std::unique_ptr<const SparseEvaluation>& sparse) const {
  const Nest nest(mapping, problem_.DimensionCount());
  Evaluation evaluation = CountDense(mapping, nest);
  if (sparse_) {
    sparse = std::make_unique<const SparseEvaluation>(sparse_->Count(mapping, evaluation));
    sparse_->Apply(mapping, *sparse, evaluation);
  } else {
    AddEnergy(evaluation);
    AddCycles(evaluation);
  }
  return evaluation;
}

std::unique_ptr<const SparseEvaluation> AnalyticalModel::EvaluateSparse(
    const Mapping& mapping) const {
  std::unique_ptr<const SparseEvaluation> sparse;
  (void)Evaluate(mapping, sparse);
  return sparse;
}

Evaluation AnalyticalModel::CountDense(const Mapping& mapping, const Nest& nest) const {
  Evaluation evaluation;
  evaluation.macs = problem_.Macs();
  evaluation.multipliers = nest.instances[0] * nest.fanout[0];
  for (int l = 0; l < architecture_.LevelCount(); ++l) {
    evaluation.levels[l].instances = nest.instances[l];
  }
  for (int t = 0; t < problem_.TensorCount(); ++t) CountTensor(mapping, nest, t, evaluation);
  return evaluation;
}

void AnalyticalModel::CountTensor(const Mapping& mapping, const Nest& nest, int tensor,
                                  Evaluation& evaluation) const {
  const TensorReuse& reuse = tensors_[tensor];
  const bool read_write = problem_.tensors[tensor].read_write;
  const int levels = architecture_.LevelCount();

  const auto keeps = [&](int level) { return mapping.levels[level].Keeps(tensor); };
  // Words delivered to one tile of the level inside, and what each level is asked for.
  std::array<int64_t, kMaxLevels> delivered, asked;
  std::array<SpatialSpread, kMaxLevels> spread;
  for (int l = 0; l < levels; ++l) {
    if (nest.fanout[l] > 1) spread[l] = reuse.Spread(nest.inner[l], nest.spatial[l]);
    if (l == 0) {
      // Multipliers keep nothing: they get every word again.
      delivered[l] = evaluation.macs / evaluation.multipliers;
    } else if (keeps(l - 1)) {
      delivered[l] = reuse.Deliveries(nest.whole[l - 1], nest.LoopsFrom(l), counting_);
    } else {
      delivered[l] = asked[l - 1];  // a level that keeps nothing hands on what it is asked for
    }
    asked[l] = delivered[l] * spread[l].boxes;
  }

  // Each instance's share of the tensor: the words whose first visit reads nothing back.
  int64_t share = reuse.BoxWords(nest.whole[levels - 1]);
  bool outermost = true;
  for (int l = levels - 1; l >= 0; --l) {
    const int64_t tile_words = reuse.BoxWords(nest.whole[l]);
    if (l + 1 < levels) share = share * tile_words / reuse.BoxWords(nest.spread[l + 1]);
    if (!keeps(l)) continue;
    TensorTraffic& traffic = evaluation.levels[l].tensors[tensor];
    traffic.tile_words = tile_words;
    traffic.reads = read_write ? asked[l] - share : asked[l];
    traffic.updates = read_write ? asked[l] : 0;
    if (!outermost) {
      traffic.fills = delivered[l + 1];
      if (counting_ == ReuseCounting::kTimeloop) traffic.fills *= spread[l + 1].group_sizes;
    }
    outermost = false;
  }
}

void AnalyticalModel::AddEnergy(Evaluation& evaluation) const {
  evaluation.energy_pj =
      static_cast<double>(evaluation.macs) * architecture_.arithmetic.mac_energy_pj;
  for (int l = 0; l < architecture_.LevelCount(); ++l) {
    const StorageLevel& storage = architecture_.levels[l];
    LevelTraffic& level = evaluation.levels[l];
    for (int t = 0; t < problem_.TensorCount(); ++t) {
      TensorTraffic& traffic = level.tensors[t];
      const double writes = storage.Blocks(traffic.fills) + storage.Blocks(traffic.updates);
      traffic.energy_pj = static_cast<double>(level.instances) *
                          storage.EnergyPj(storage.Blocks(traffic.reads), writes);
      evaluation.energy_pj += traffic.energy_pj;
    }
  }
}

void AnalyticalModel::AddCycles(Evaluation& evaluation) const {
  const double compute = static_cast<double>(evaluation.macs / evaluation.multipliers);
  double reads = 0;  // words a cycle, of the memory
  double writes = 0;
  for (int l = 0; l < architecture_.LevelCount(); ++l) {
    const StorageLevel& storage = architecture_.levels[l];
    LevelTraffic& level = evaluation.levels[l];
    if (!storage.is_part) reads = writes = 0;
    for (const TensorTraffic& traffic : level.tensors) {
      reads += static_cast<double>(traffic.reads) / compute;
      writes += static_cast<double>(traffic.fills + traffic.updates) / compute;
    }
    level.cycles = static_cast<int64_t>(std::ceil(compute / storage.Slowdown(reads, writes)));
    evaluation.cycles = std::max(evaluation.cycles, level.cycles);
  }
  evaluation.utilization = static_cast<double>(evaluation.macs) /
                           (static_cast<double>(evaluation.cycles) *
                            static_cast<double>(architecture_.arithmetic.instances));
}

}  // namespace bayloom::mapspace
