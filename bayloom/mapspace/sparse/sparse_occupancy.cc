// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "bayloom/mapspace/sparse/internal/draft.h"
#include "bayloom/mapspace/sparse/internal/whole_count.h"
#include "bayloom/mapspace/sparse/leader.h"

namespace bayloom::mapspace {
namespace {

void AddScaled(const RankMetadata& from, double scale, RankMetadata& to) {
  to.metadata += scale * from.metadata;
  to.payload += scale * from.payload;
}

int GivenBits(int given, const LevelSparsity& level, int otherwise) {
  if (given != kBitsOfLevel) return given;
  return level.metadata_word_bits != 0 ? level.metadata_word_bits : otherwise;
}

/// Words of metadata do not go from one row of their memory to the next: as many bits as fill rows.
int RowBits(int bits, int64_t width) {
  if (bits == 0 || bits > width) return bits;
  while (width % bits != 0) ++bits;
  return bits;
}

/// At least so much that means over tiles which are not empty are numbers.
double NonemptyProbability(const DensityModel& density, int64_t tile_words) {
  return std::max(1e-12, 1 - density.EmptyProbability(tile_words));
}

int64_t MetadataBits(const SparseTraffic& traffic) {
  double bits = 0;
  for (const RankTraffic& rank : traffic.ranks) {
    bits +=
        rank.occupancy.metadata * rank.metadata_bits + rank.occupancy.payload * rank.payload_bits;
  }
  return RoundedUp(bits);
}

}  // namespace

void SparseModel::CountMetadata(int level, int tensor, const Draft& draft, bool is_nonempty,
                                SparseTraffic& traffic) const {
  const ResolvedFormat& format = levels_[level].formats[tensor];
  const Fibertree& tree = draft.trees[level][tensor];
  const DensityModel& density = densities_[tensor];
  const LevelSparsity& storage = architecture_.levels[level].sparsity;
  const auto metadata_of = [&](int64_t nonzeros) {
    return MetadataOf(format, tree, density, traffic.tile_words, nonzeros);
  };
  traffic.ranks.resize(format.ranks.size());
  const double nonempty = is_nonempty ? NonemptyProbability(density, traffic.tile_words) : 1;
  for (const OccupancyPoint& point : density.Occupancies(traffic.tile_words)) {
    if (is_nonempty && point.occupancy == 0) continue;
    const std::vector<RankMetadata> metadata = metadata_of(point.occupancy);
    for (size_t r = 0; r < metadata.size(); ++r) {
      AddScaled(metadata[r], point.probability / nonempty, traffic.ranks[r].expected);
    }
  }
  const std::vector<RankMetadata> most =
      metadata_of(OccupancyFor(level, tensor, traffic.tile_words));
  for (size_t r = 0; r < traffic.ranks.size(); ++r) {
    RankTraffic& rank = traffic.ranks[r];
    const ResolvedRank& spec = format.ranks[r];
    rank.occupancy = most[r];
    const bool is_flag = spec.format == RankFormat::kBitmask;
    rank.metadata_bits =
        is_flag && spec.metadata_bits == kBitsOfLevel
            ? 1
            : GivenBits(spec.metadata_bits, storage, CoordinateBits(tree.ranks[r].fiber));
    rank.payload_bits =
        GivenBits(spec.payload_bits, storage, CoordinateBits(traffic.tile_words + 1));
    if (storage.HasMetadataStorage()) {
      rank.metadata_bits = RowBits(rank.metadata_bits, storage.metadata_width_bits);
      rank.payload_bits = RowBits(rank.payload_bits, storage.metadata_width_bits);
    }
  }
  traffic.metadata_bits = MetadataBits(traffic);
}

void SparseModel::CountOccupancies(const Mapping& mapping, Draft& draft,
                                   SparseEvaluation& sparse) const {
  for (int t = 0; t < problem_.TensorCount(); ++t) {
    const DensityModel& density = densities_[t];
    for (int l = 0; l < architecture_.LevelCount(); ++l) {
      if (!mapping.levels[l].Keeps(t)) continue;
      SparseTraffic& traffic = sparse.levels[l][t];
      traffic.tile_words = problem_.tensors[t].BoxWords(draft.nest.Tile(l));
      traffic.occupancy = levels_[l].formats[t].compressed ? OccupancyFor(l, t, traffic.tile_words)
                                                           : traffic.tile_words;
      const Fanout& all = draft.nest.Instances(l + 1);
      traffic.instances = static_cast<double>(all.x * all.y);
      // A level outside that knows of empty tiles does not send them.
      const int parent = ParentLevel(mapping, l, t);
      const bool is_nonempty = parent >= 0 && levels_[parent].formats[t].HasMetadata() &&
                               density.MinOccupancy(traffic.tile_words) == 0;
      const double nonempty = is_nonempty ? NonemptyProbability(density, traffic.tile_words) : 1;
      traffic.instances *= draft.uses.empty() ? nonempty : draft.uses[t].share[l + 1];
      traffic.density = std::min(1.0, density.ExpectedOccupancy(traffic.tile_words) /
                                          (static_cast<double>(traffic.tile_words) * nonempty));
      if (levels_[l].formats[t].HasMetadata()) CountMetadata(l, t, draft, is_nonempty, traffic);
    }
  }
}

double SparseModel::Ineffectual(const Mapping& mapping, const Draft& draft, int level,
                                const Option& option) const {
  const LeaderQuery query{.mapping = mapping,
                          .nest = draft.nest,
                          .problem = problem_,
                          .follower = option.follower,
                          .level = level,
                          .block_words = architecture_.levels[level].block_words};
  double effectual = 1;
  for (const int leader : option.leaders) {
    const int64_t words = LeaderTileWords(query, leader);
    if (words > 0) effectual *= 1 - densities_[leader].EmptyProbability(words);
  }
  return 1 - effectual;
}

void SparseModel::FindSafs(const Mapping& mapping, const SparseEvaluation& sparse,
                           Draft& draft) const {
  for (int l = 0; l < architecture_.LevelCount(); ++l) {
    for (const Action& action : levels_[l].actions) {
      if (action.kind == ActionOptimization::Kind::kSpatialSkipping) {
        for (const Option& option : action.options) {
          draft.safs[l][option.follower] = {Saf::Kind::kSpatialSkip,
                                            1 - draft.uses[option.follower].share[l]};
        }
        continue;
      }
      // Of several ways, the one that saves most; the level that keeps the tensor does it.
      Saf best;
      int best_level = -1, follower = -1;
      double best_savings = -1;
      for (const Option& option : action.options) {
        const int at = HoldingLevel(mapping, l, option.follower);
        const SparseTraffic& traffic = sparse.levels[at][option.follower];
        const double probability = Ineffectual(mapping, draft, at, option);
        double words = traffic.density * static_cast<double>(traffic.tile_words);
        for (const RankTraffic& rank : traffic.ranks) {
          words += (rank.expected.metadata * rank.metadata_bits +
                    rank.expected.payload * rank.payload_bits) /
                   architecture_.levels[at].word_bits;
        }
        const double savings = words * probability * architecture_.levels[at].access_energy_pj /
                               static_cast<double>(architecture_.levels[at].block_words);
        if (savings < best_savings) continue;
        best_savings = savings;
        best_level = at;
        follower = option.follower;
        best = {
            action.kind == ActionOptimization::Kind::kGating ? Saf::Kind::kGate : Saf::Kind::kSkip,
            probability};
      }
      if (best_level < 0) continue;
      Saf& saf = draft.safs[best_level][follower];
      if (saf.kind == Saf::Kind::kNone || saf.probability < best.probability) saf = best;
    }
  }
}

void SparseModel::FindSpatialUse(const Mapping& mapping, Draft& draft) const {
  for (int t = 0; t < problem_.TensorCount(); ++t) {
    std::vector<SpatialLeader> leaders;
    for (int l = 0; l < architecture_.LevelCount(); ++l) {
      const auto knows_zeros = [&](int tensor) {
        return levels_[HoldingLevel(mapping, l, tensor)].formats[tensor].HasMetadata();
      };
      bool is_follower = false;
      for (const Action& action : levels_[l].actions) {
        if (action.kind != ActionOptimization::Kind::kSpatialSkipping) continue;
        for (const Option& option : action.options) {
          if (option.follower != t) continue;
          is_follower = true;
          for (const int leader : option.leaders) {
            if (knows_zeros(leader)) leaders.push_back({l, leader});
          }
        }
      }
      // A tensor whose zeros are known takes no instances for them.
      if (!is_follower && knows_zeros(t)) leaders.push_back({l, t});
    }
    draft.uses.push_back(UseOfInstances(mapping, draft.nest, problem_, densities_, t, leaders));
  }
}

}  // namespace bayloom::mapspace
