// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "bayloom/mapspace/sparse/access_form.h"
#include "bayloom/mapspace/sparse/draft.h"
#include "bayloom/mapspace/sparse/whole_count.h"

namespace bayloom::mapspace {
namespace {

/// Whole actions among `count` that happen with this probability.
int64_t Whole(int64_t count, double probability) {
  return static_cast<int64_t>(std::floor(static_cast<double>(count) * probability));
}

void Reduce(int64_t& count, double probability) { count -= Whole(count, probability); }

void Reduce(RankAccesses& accesses, double probability) {
  Reduce(accesses.metadata, probability);
  Reduce(accesses.payload, probability);
}

/// All accesses to a tensor that a level outside does not cause any more.
void ReduceAll(SparseTraffic& traffic, double probability) {
  for (ActionCounts* counts : {&traffic.reads, &traffic.fills, &traffic.updates}) {
    Reduce(counts->actual, probability);
  }
  for (RankTraffic& rank : traffic.ranks) {
    for (RankActions* actions : {&rank.reads, &rank.fills, &rank.updates}) {
      Reduce(actions->actual, probability);
    }
  }
}

/// Turns actual accesses into gated or skipped ones.
void MoveCounts(int64_t amount, ActionCounts& counts, bool gates) {
  counts.actual -= amount;
  (gates ? counts.gated : counts.skipped) += amount;
}

void MoveCounts(double probability, RankActions& actions, bool gates) {
  RankAccesses& to = gates ? actions.gated : actions.skipped;
  const int64_t metadata = Whole(actions.actual.metadata, probability);
  const int64_t payload = Whole(actions.actual.payload, probability);
  actions.actual.metadata -= metadata;
  actions.actual.payload -= payload;
  to.metadata += metadata;
  to.payload += payload;
}

/// What a level itself does about accesses of the level inside, whose tiles have so many ranks.
void ApplyLocally(SparseTraffic& traffic, double probability, bool gates, bool read_write,
                  size_t ranks_inside) {
  // Of partial sums at least as much is not read as is not written.
  const double reads = static_cast<double>(traffic.reads.actual) * probability;
  MoveCounts(static_cast<int64_t>(read_write ? std::ceil(reads) : std::floor(reads)), traffic.reads,
             gates);
  MoveCounts(Whole(traffic.updates.actual, probability), traffic.updates, gates);
  for (size_t r = 0; r < std::min(ranks_inside, traffic.ranks.size()); ++r) {
    MoveCounts(probability, traffic.ranks[r].reads, gates);
    MoveCounts(probability, traffic.ranks[r].updates, gates);
  }
}

RankAccesses AccessesOf(const RankMetadata& expected, int64_t words, int64_t tile_words) {
  const double tiles = static_cast<double>(words) / static_cast<double>(tile_words);
  return {RoundedUp(expected.metadata * tiles), RoundedUp(expected.payload * tiles)};
}

}  // namespace

void SparseModel::CompressAccesses(const Mapping& mapping, const Evaluation& dense,
                                   SparseEvaluation& sparse) const {
  for (int l = 0; l < architecture_.LevelCount(); ++l) {
    for (int t = 0; t < problem_.TensorCount(); ++t) {
      if (!mapping.levels[l].Keeps(t)) continue;
      SparseTraffic& traffic = sparse.levels[l][t];
      const TensorTraffic& counted = dense.levels[l].tensors[t];
      const bool knows_zeros = levels_[l].formats[t].HasMetadata();
      const double absent = knows_zeros ? std::max(0.0, 1 - traffic.density) : 0;
      const auto compress = [&](int64_t count) {
        ActionCounts counts{.dense = count, .actual = count};
        Reduce(counts.actual, absent);
        return counts;
      };
      traffic.reads = compress(counted.reads);
      traffic.fills = compress(counted.fills);
      traffic.updates = compress(counted.updates);
      for (RankTraffic& rank : traffic.ranks) {
        rank.reads.actual = AccessesOf(rank.expected, counted.reads, traffic.tile_words);
        rank.fills.actual = AccessesOf(rank.expected, counted.fills, traffic.tile_words);
        rank.updates.actual = AccessesOf(rank.expected, counted.updates, traffic.tile_words);
      }
    }
  }
}

void SparseModel::ApplySafs(const Mapping& mapping, int tensor, Draft& draft,
                            SparseEvaluation& sparse) const {
  const bool read_write = problem_.tensors[tensor].read_write;
  double outside = 0;  // ineffectual, as the level with a SAF outside of this one has found
  const Saf* innermost = nullptr;
  for (int l = architecture_.LevelCount() - 1; l >= 0; --l) {
    const Saf& saf = draft.safs[l][tensor];
    SparseTraffic& traffic = sparse.levels[l][tensor];
    const bool keeps = mapping.levels[l].Keeps(tensor);
    if (keeps) ReduceAll(traffic, outside);
    if (saf.kind == Saf::Kind::kNone) continue;
    if (keeps && saf.kind != Saf::Kind::kSpatialSkip) {
      // Probabilities are of all accesses: what did not get here does not count again.
      const double here =
          outside < 1 ? std::max(0.0, 1 - (1 - saf.probability) / (1 - outside)) : 0;
      const int child = ChildLevel(mapping, l, tensor);
      const size_t ranks_inside =
          child < 0 ? traffic.ranks.size() : levels_[child].formats[tensor].ranks.size();
      ApplyLocally(traffic, here, saf.kind == Saf::Kind::kGate, read_write, ranks_inside);
    }
    outside = saf.probability;
    innermost = &saf;
  }
  if (innermost == nullptr || read_write) return;
  // Of accesses to nonzeros another share may be ineffectual than of all multiplications.
  if (innermost->kind != Saf::Kind::kSpatialSkip) outside = 1 - AllNonempty(innermost->conditions);
  Reduce(sparse.computes.actual, outside);
  draft.operand_has_saf[tensor] = true;
  draft.operand_empty[tensor] = outside;
  draft.let_through.insert(draft.let_through.end(), innermost->conditions.begin(),
                           innermost->conditions.end());
}

namespace {

double Millionths(double probability) { return std::round(probability * 1e6) / 1e6; }

}  // namespace

std::vector<int> SparseModel::Operands() const {
  std::vector<int> operands;
  for (int t = 0; t < problem_.TensorCount(); ++t) {
    if (!problem_.tensors[t].read_write) operands.push_back(t);
  }
  return operands;
}

bool SparseModel::KnowsZeros(const Mapping& mapping, int tensor) const {
  return levels_[HoldingLevel(mapping, 0, tensor)].formats[tensor].HasMetadata();
}

SparseModel::OperandStates SparseModel::EstimateStates(const Mapping& mapping,
                                                       const Draft& draft) const {
  OperandStates states;
  for (const int t : Operands()) {
    // Of those multiplications that storage let through because of this operand.
    double nonempty = 1;
    for (int other = 0; other < problem_.TensorCount(); ++other) {
      if (other != t && draft.operand_has_saf[other]) {
        nonempty *= 1 - Millionths(draft.operand_empty[other]);
      }
    }
    const double density = Millionths(densities_[t].ExpectedOccupancy(1));
    const double nonzero = nonempty > 0 ? std::min(1.0, density / nonempty) : 0;
    const double missing = KnowsZeros(mapping, t) ? 1 - nonzero : 0;
    states.effectual *= nonzero;
    states.none *= missing;
    states.all_there *= 1 - missing;
  }
  return states;
}

SparseModel::OperandStates SparseModel::CountStates(const Mapping& mapping, const Draft& draft,
                                                    int first, int second) const {
  const double let_through = AllNonempty(draft.let_through);
  if (let_through == 0) return {.effectual = 0, .none = 0, .all_there = 1};
  const auto share = [&](std::initializer_list<int> nonzero) {
    std::vector<Nonempty> conditions = draft.let_through;
    for (const int t : nonzero) conditions.push_back({t, TensorTile()});
    return AllNonempty(conditions) / let_through;
  };
  const double both = share({first, second});
  const bool first_known = KnowsZeros(mapping, first), second_known = KnowsZeros(mapping, second);
  OperandStates states{.effectual = both, .none = 0, .all_there = 1};
  if (first_known && second_known) {
    states.none = std::max(0.0, 1 - share({first}) - share({second}) + both);
    states.all_there = both;
  } else if (first_known || second_known) {
    states.all_there = share({first_known ? first : second});
  }
  return states;
}

void SparseModel::CountComputes(const Mapping& mapping, const Draft& draft,
                                SparseEvaluation& sparse) const {
  const std::vector<int> operands = Operands();
  OperandStates states;
  if (operands.size() == 2 && densities_[operands[0]].pattern() != nullptr &&
      densities_[operands[1]].pattern() != nullptr) {
    states = CountStates(mapping, draft, operands[0], operands[1]);
    if (draft.uses.empty()) {
      sparse.computes.actual = sparse.computes.dense;
      Reduce(sparse.computes.actual, 1 - AllNonempty(draft.let_through));
    }
  } else {
    states = EstimateStates(mapping, draft);
  }
  const ComputeSparsity& does = architecture_.arithmetic.sparsity;
  const auto total = static_cast<double>(sparse.computes.actual);
  double gated = 0, skipped = 0;
  const double unaligned = std::max(0.0, 1 - states.all_there - states.none);
  const double zeros = std::max(0.0, states.all_there - states.effectual);
  if (does.gates_zeros) gated += zeros;
  if (does.skips_unaligned) {
    skipped += unaligned;
  } else if (does.gates_zeros) {
    gated += unaligned;
  }
  ActionCounts& computes = sparse.computes;
  computes.gated = static_cast<int64_t>(std::floor(total * gated));
  computes.skipped = static_cast<int64_t>(std::floor(total * skipped));
  computes.actual -=
      computes.gated + computes.skipped + static_cast<int64_t>(std::floor(total * states.none));
  if (!draft.uses.empty()) {
    double share = 0;
    for (const SpatialUse& use : draft.uses) share = std::max(share, use.share[0]);
    sparse.multipliers *= share;
  }
  // A cycle at least, so that there are words a cycle.
  sparse.compute_cycles = std::max<int64_t>(
      1, RoundedUp(static_cast<double>(computes.actual + computes.gated) / sparse.multipliers));
}

double SparseModel::BlockOverhead(int level, int tensor, const TensorTile& tile,
                                  const SparseTraffic& traffic) const {
  const int64_t block = architecture_.levels[level].block_words;
  const auto words = static_cast<double>(block);
  constexpr int64_t kManyBlocks = 64;
  if (!levels_[level].formats[tensor].compressed || block == 1 || traffic.density >= 1 ||
      traffic.tile_words > kManyBlocks * block) {
    return 1;
  }
  // A small compressed tile ends within a block.
  double blocks = 0, nonzeros = 0;
  for (const OccupancyPoint& point : densities_[tensor].Occupancies(tile)) {
    blocks += point.probability * std::ceil(static_cast<double>(point.occupancy) / words);
    nonzeros += point.probability * static_cast<double>(point.occupancy);
  }
  return blocks * words / nonzeros;
}

void SparseModel::AddEnergy(const Mapping& mapping, const SparseNest& nest,
                            SparseEvaluation& sparse) const {
  for (int l = 0; l < architecture_.LevelCount(); ++l) {
    const StorageLevel& storage = architecture_.levels[l];
    for (int t = 0; t < problem_.TensorCount(); ++t) {
      if (!mapping.levels[l].Keeps(t)) continue;
      SparseTraffic& traffic = sparse.levels[l][t];
      traffic.block_overhead =
          BlockOverhead(l, t, TensorTile(problem_.tensors[t], nest.Tile(l)), traffic);
      traffic.word_share = WordShare(l, t);
      double data = 0, metadata = 0;
      for (const AccessKind& kind : {kReads, kFills, kUpdates}) {
        const AccessForm form(traffic, kind);
        const bool reads = kind.words == kReads.words;
        data += form.DataEnergyPj(form.dense(), storage,
                                  reads ? storage.access_energy_pj : storage.WriteEnergyPj());
        metadata += form.MetadataEnergyPj(form.dense(), storage);
      }
      traffic.data_energy_pj = traffic.instances * data;
      traffic.metadata_energy_pj = traffic.instances * metadata;
    }
  }
}

int64_t SparseModel::CyclesOf(int level, const Evaluation& dense,
                              const SparseEvaluation& sparse) const {
  const StorageLevel& storage = architecture_.levels[level];
  const auto compute = static_cast<double>(sparse.compute_cycles);
  double reads = 0, writes = 0;  // words a cycle
  for (int t = 0; t < problem_.TensorCount(); ++t) {
    const SparseTraffic& traffic = sparse.levels[level][t];
    const auto words = [&](int64_t data, std::initializer_list<AccessKind> kinds) {
      double bits = 0;
      for (const AccessKind& kind : kinds) bits += AccessForm(traffic, kind).metadata_bits();
      return static_cast<double>(data) * WordShare(level, t) + std::floor(bits / storage.word_bits);
    };
    // Of instances that all work, on average.
    const double busy = traffic.instances / static_cast<double>(dense.levels[level].instances);
    reads += busy * words(traffic.reads.actual + traffic.reads.gated, {kReads}) / compute;
    writes += busy *
              words(traffic.fills.actual + traffic.updates.actual + traffic.fills.gated +
                        traffic.updates.gated,
                    {kFills, kUpdates}) /
              compute;
  }
  return static_cast<int64_t>(std::ceil(compute / storage.Slowdown(reads, writes)));
}

}  // namespace bayloom::mapspace
