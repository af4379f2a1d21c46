// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>

#include "bayloom/mapspace/sparse/draft.h"
#include "bayloom/mapspace/sparse/leader.h"
#include "bayloom/mapspace/sparse/whole_count.h"

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
double NonemptyProbability(const DensityModel& density, const TensorTile& tile) {
  return std::max(1e-12, 1 - density.EmptyProbability(tile));
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

std::vector<RankMetadata> SparseModel::EstimateMetadata(int level, int tensor,
                                                        const Fibertree& tree,
                                                        const TensorTile& tile, double nonempty,
                                                        SparseTraffic& traffic) const {
  const DensityModel& density = densities_[tensor];
  const auto metadata_of = [&](int64_t nonzeros) {
    const DensityModel inside = density.Given(tile.words, nonzeros);
    return MetadataOf(levels_[level].formats[tensor], tree, tile, [&](const TensorTile& part) {
      return 1 - inside.EmptyProbability(part.words);
    });
  };
  for (const OccupancyPoint& point : density.Occupancies(tile)) {
    if (nonempty < 1 && point.occupancy == 0) continue;
    const std::vector<RankMetadata> metadata = metadata_of(point.occupancy);
    for (size_t r = 0; r < metadata.size(); ++r) {
      AddScaled(metadata[r], point.probability / nonempty, traffic.ranks[r].expected);
    }
  }
  return metadata_of(OccupancyFor(level, tensor, tile));
}

std::vector<RankMetadata> SparseModel::CountKnownMetadata(int level, int tensor,
                                                          const Fibertree& tree,
                                                          const TensorTile& tile, double nonempty,
                                                          SparseTraffic& traffic) const {
  const NonzeroPattern& pattern = *densities_[tensor].pattern();
  const ResolvedFormat& format = levels_[level].formats[tensor];
  const std::vector<RankMetadata> expected =
      MetadataOf(format, tree, tile, [&](const TensorTile& part) {
        return pattern.NonemptyParts(tile.extents, part.extents)->mean / nonempty;
      });
  for (size_t r = 0; r < expected.size(); ++r) traffic.ranks[r].expected = expected[r];
  const double fits = architecture_.levels[level].sparsity.fit_probability;
  return MetadataOf(format, tree, tile, [&](const TensorTile& part) {
    return pattern.NonemptyParts(tile.extents, part.extents)->At(fits);
  });
}

void SparseModel::CountMetadata(int level, int tensor, const Draft& draft, bool is_nonempty,
                                SparseTraffic& traffic) const {
  const ResolvedFormat& format = levels_[level].formats[tensor];
  const Fibertree& tree = draft.trees[level][tensor];
  const TensorTile tile(problem_.tensors[tensor], draft.nest.Tile(level));
  const LevelSparsity& storage = architecture_.levels[level].sparsity;
  traffic.ranks.resize(format.ranks.size());
  const double nonempty = is_nonempty ? NonemptyProbability(densities_[tensor], tile) : 1;
  const std::vector<RankMetadata> most =
      densities_[tensor].pattern() != nullptr
          ? CountKnownMetadata(level, tensor, tree, tile, nonempty, traffic)
          : EstimateMetadata(level, tensor, tree, tile, nonempty, traffic);
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
      const TensorTile tile(problem_.tensors[t], draft.nest.Tile(l));
      traffic.tile_words = tile.words;
      traffic.occupancy = levels_[l].formats[t].compressed ? OccupancyFor(l, t, tile) : tile.words;
      const Fanout& all = draft.nest.Instances(l + 1);
      traffic.instances = static_cast<double>(all.x * all.y);
      // A level outside that knows of empty tiles does not send them.
      const int parent = ParentLevel(mapping, l, t);
      const bool is_nonempty = parent >= 0 && levels_[parent].formats[t].HasMetadata() &&
                               density.MinOccupancy(tile) == 0;
      const double nonempty = is_nonempty ? NonemptyProbability(density, tile) : 1;
      traffic.instances *= draft.uses.empty() ? nonempty : draft.uses[t].share[l + 1];
      traffic.density = std::min(
          1.0, density.ExpectedOccupancy(tile) / (static_cast<double>(tile.words) * nonempty));
      if (levels_[l].formats[t].HasMetadata()) CountMetadata(l, t, draft, is_nonempty, traffic);
    }
  }
}

double SparseModel::AllNonempty(std::span<const Nonempty> conditions) const {
  // Of several tiles of a tensor that lie within each other the smallest says all.
  std::vector<Nonempty> distinct;
  for (const Nonempty& condition : conditions) {
    const auto same = std::ranges::find(distinct, condition.tensor, &Nonempty::tensor);
    if (same == distinct.end()) {
      distinct.push_back(condition);
    } else if (condition.tile.words < same->tile.words) {
      same->tile = condition.tile;
    }
  }
  double probability = 1;
  std::vector<Nonempty> known;
  for (const Nonempty& condition : distinct) {
    if (densities_[condition.tensor].pattern() != nullptr) {
      known.push_back(condition);
    } else {
      probability *= 1 - densities_[condition.tensor].EmptyProbability(condition.tile);
    }
  }
  if (known.size() >= 2) {
    const NonzeroPattern& first = *densities_[known[0].tensor].pattern();
    probability *= first.NonemptyTogether(
        known[0].tile.extents, *densities_[known[1].tensor].pattern(), known[1].tile.extents);
    known.erase(known.begin(), known.begin() + 2);
  }
  for (const Nonempty& condition : known) {
    probability *= 1 - densities_[condition.tensor].EmptyProbability(condition.tile);
  }
  return probability;
}

SparseModel::Saf SparseModel::MakeSaf(const Mapping& mapping, const Draft& draft, int level,
                                      const Option& option, Saf::Kind kind) const {
  const LeaderQuery query{.mapping = mapping,
                          .nest = draft.nest,
                          .problem = problem_,
                          .follower = option.follower,
                          .level = level,
                          .block_words = architecture_.levels[level].block_words};
  Saf saf{.kind = kind};
  for (const int leader : option.leaders) {
    if (const auto tile = LeaderTile(query, leader)) saf.conditions.push_back({leader, *tile});
  }
  double effectual = AllNonempty(saf.conditions);
  if (levels_[level].formats[option.follower].HasMetadata() &&
      densities_[option.follower].pattern() != nullptr) {
    // Of accesses to words that are there: those are where the follower is not zero.
    const double there = 1 - densities_[option.follower].EmptyProbability(TensorTile());
    std::vector<Nonempty> all = saf.conditions;
    all.push_back({option.follower, TensorTile()});
    effectual = AllNonempty(all) / there;
  }
  saf.probability = 1 - effectual;
  return saf;
}

void SparseModel::FindSafs(const Mapping& mapping, const SparseEvaluation& sparse,
                           Draft& draft) const {
  for (int l = 0; l < architecture_.LevelCount(); ++l) {
    for (const Action& action : levels_[l].actions) {
      if (action.kind == ActionOptimization::Kind::kSpatialSkipping) {
        for (const Option& option : action.options) {
          draft.safs[l][option.follower] = {
              .kind = Saf::Kind::kSpatialSkip,
              .probability = 1 - draft.uses[option.follower].share[l]};
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
        Saf saf = MakeSaf(
            mapping, draft, at, option,
            action.kind == ActionOptimization::Kind::kGating ? Saf::Kind::kGate : Saf::Kind::kSkip);
        double words = traffic.density * static_cast<double>(traffic.tile_words);
        for (const RankTraffic& rank : traffic.ranks) {
          words += (rank.expected.metadata * rank.metadata_bits +
                    rank.expected.payload * rank.payload_bits) /
                   architecture_.levels[at].word_bits;
        }
        const double savings = words * saf.probability * architecture_.levels[at].access_energy_pj /
                               static_cast<double>(architecture_.levels[at].block_words);
        if (savings < best_savings) continue;
        best_savings = savings;
        best_level = at;
        follower = option.follower;
        best = std::move(saf);
      }
      if (best_level < 0) continue;
      Saf& saf = draft.safs[best_level][follower];
      if (saf.kind == Saf::Kind::kNone || saf.probability < best.probability) saf = std::move(best);
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
