// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/exact/exact_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "bayloom/mapspace/exact/partial_mapping.h"
#include "bayloom/mapspace/exact/partial_table.h"

namespace bayloom::mapspace {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Among the tensors placed in a memory: its parts that follow keep none.
constexpr uint32_t kIsThrough = uint32_t{1} << 31;
/// Partial mappings between looks at the clock.
constexpr int kPatience = 1024;

/// How a level was decided, for the way back from a complete mapping.
struct Decision {
  int32_t inside = -1;  ///< that of the level inside; -1: none
  TileIndex spread, tile;
  std::array<int8_t, kMaxDimensions> order;  ///< innermost loops whose order matters
  int8_t ordered = 0;
  uint32_t keep = 0;
};

/// A partial mapping whose innermost undecided level has some of its loops.
struct Looped {
  PartialMapping partial;
  Decision decision;        ///< `tile` is not known yet
  DimensionSet looped = 0;  ///< dimensions with a temporal loop at this level
  int8_t last_rank = 0;     ///< see ExactSearch::ranks_
};

/// Loops followed that moved the tile and cost nothing.
struct Grown {
  int32_t from;  ///< position in the list of Looped
};

/// A partial mapping whose levels are whole.
struct Leveled {
  PartialMapping partial;
  int32_t decision = -1;
};

class ExactSearch {
 public:
  ExactSearch(const Mapspace& mapspace, const AnalyticalModel& model, const ExactOptions& options)
      : mapspace_(mapspace),
        model_(model),
        options_(options),
        costs_(mapspace, model, options.objective),
        dimensions_(mapspace.problem().DimensionCount()),
        levels_(mapspace.architecture().LevelCount()) {
    const bool per_mac = options.objective == MapObjective::kEnergy;
    scale_ = per_mac ? 1 / static_cast<double>(mapspace.problem().Macs()) : 1;
    cutoff_ = options.known_value / scale_;
    least_ = cutoff_;
    for (int l = 0; l < levels_; ++l) {
      FindSpreads(l);
      FindRanks(l);
    }
  }

  ExactResult Run() {
    PartialTable<Leveled> inside;
    inside.Add({}, {costs_.Empty(), -1});
    for (int l = 0; l < levels_ && !is_asked_; ++l) {
      PartialTable<Leveled> outside;
      DecideLevel(l, inside, outside);
      inside = std::move(outside);
    }
    result_.is_whole = !is_asked_;
    result_.bound = std::min(least_, left_) * scale_;
    if (result_.best) result_.bound = std::min(result_.bound, result_.value);
    return std::move(result_);
  }

 private:
  const LevelConstraint& Constraint(int level) const {
    return mapspace_.constraints().levels[level];
  }

  /// All ways to spread the problem over what a level feeds.
  void FindSpreads(int level) {
    spreads_.emplace_back();
    Extents factors = kUnitExtents;
    const Fanout fanout = mapspace_.architecture().FanoutOf(level);
    SpreadFrom(level, 0, fanout.x * fanout.y, factors);
  }

  void SpreadFrom(int level, int dimension, int64_t room, Extents& factors) {
    if (dimension == dimensions_) {
      Mapping mapping = mapspace_.Skeleton();
      mapping.levels[level].spatial = factors;
      if (mapspace_.Repair(mapping)) spreads_[level].push_back(factors);
      return;
    }
    const int64_t fixed = Constraint(level).spatial[dimension];
    for (const int64_t factor : costs_.Divisors(dimension)) {
      if (factor > room) break;
      if (fixed != 0 && factor != fixed) continue;
      factors[dimension] = factor;
      SpreadFrom(level, dimension + 1, room / factor, factors);
    }
    factors[dimension] = 1;
  }

  /// Where constraints have a dimension's loop stand: loops go by rank, those of equal rank anyhow.
  void FindRanks(int level) {
    const LevelConstraint& constraint = Constraint(level);
    std::array<int8_t, kMaxDimensions>& ranks = ranks_.emplace_back();
    ranks.fill(kMaxDimensions);
    for (size_t i = 0; i < constraint.innermost.size(); ++i) {
      ranks[constraint.innermost[i]] = static_cast<int8_t>(i);
    }
    for (size_t i = 0; i < constraint.outermost.size(); ++i) {
      ranks[constraint.outermost[i]] = static_cast<int8_t>(kMaxDimensions + 1 + i);
    }
  }

  /// Tests a partial mapping's tile and bound, and counts it.
  bool IsWorthwhile(PartialMapping& partial, const Decision& decision, Position position) {
    ++result_.counts.made;
    if (!HasRoom(partial, partial.tile, position.level)) {
      ++result_.counts.too_large;
      return false;
    }
    const double enough = cutoff_ * (1 - kCostRounding);
    const double bound = costs_.LowerBound(partial, position, enough);
    if (bound < enough) return true;
    ++result_.counts.bounded;
    if (!position.is_spread) Sample(decision, position.level, bound);
    return false;
  }

  /// Whether a level has room for what it has to keep of the tile, or more.
  bool HasRoom(const PartialMapping& partial, const TileIndex& tile, int level) const {
    const int64_t capacity = mapspace_.architecture().levels[level].words;
    if (capacity == 0) return true;
    const LevelConstraint& last = Constraint(mapspace_.architecture().LastPart(level));
    const uint32_t must = (last.must_keep | last.memory_must_keep) & ~partial.placed;
    int64_t words = partial.used_words;
    for (int t = 0; t < mapspace_.problem().TensorCount(); ++t) {
      if ((must >> t & 1) != 0) words += costs_.Words(t, tile);
    }
    return words <= capacity;
  }

  void DecideLevel(int level, PartialTable<Leveled>& inside, PartialTable<Leveled>& outside) {
    PartialTable<Looped> layer;
    std::vector<Looped> closed;  // no loop that follows at this level costs anything
    for (const Leveled& leveled : inside.members()) {
      if ((leveled.partial.placed & kIsThrough) != 0 && !MayLoopOutside(level)) {
        KeepOne(level, Leveled(leveled), UnchangedAfter(leveled), outside);
      } else {
        SpreadAll(level, leveled, layer);
      }
    }
    while (!layer.members().empty() && !Stop(layer.members().size())) {
      PartialTable<Looped> next;
      for (Looped& looped : layer.members()) {
        if (!looped.partial.IsOpen(mapspace_.problem().TensorCount())) {
          closed.push_back(std::move(looped));
          continue;
        }
        if (Interrupted()) break;
        KeepAll(level, looped, looped.partial.tile, outside);
        LoopAll(level, looped, next);
      }
      layer = std::move(next);
    }
    if (!Stop(closed.size())) GrowAll(level, closed, outside);
    if (!Stop(outside.members().size())) return;
    // Every mapping that is not cut off goes on from one of those that were there.
    for (Leveled& leveled : inside.members()) {
      left_ = std::min(left_, costs_.LowerBound(leveled.partial, {level, false}, kInfinity));
    }
  }

  /// A part of a memory without loops and tensors.
  static Decision UnchangedAfter(const Leveled& leveled) {
    Decision decision;
    decision.inside = leveled.decision;
    decision.spread = decision.tile = leveled.partial.tile;
    return decision;
  }

  /// Every way to spread a partial mapping over what the level feeds.
  void SpreadAll(int level, const Leveled& leveled, PartialTable<Looped>& into) {
    const Extents inner = costs_.ExtentsOf(leveled.partial.tile);
    for (const Extents& factors : spreads_[level]) {
      if (Interrupted()) return;
      Looped looped;
      TileIndex tile = leveled.partial.tile;
      if (!Multiply(inner, factors, tile)) continue;
      looped.partial = leveled.partial;
      costs_.Spread(looped.partial, tile);
      looped.decision.inside = leveled.decision;
      looped.decision.spread = looped.decision.tile = tile;
      AddLooped(level, std::move(looped), into);
    }
  }

  /// The tile times the factors; whether they divide what is left.
  bool Multiply(const Extents& extents, const Extents& factors, TileIndex& tile) const {
    for (int d = 0; d < dimensions_; ++d) {
      if (factors[d] == 1) continue;
      const std::vector<int64_t>& divisors = costs_.Divisors(d);
      const auto found = std::ranges::lower_bound(divisors, extents[d] * factors[d]);
      if (found == divisors.end() || *found != extents[d] * factors[d]) return false;
      tile[d] = static_cast<uint8_t>(found - divisors.begin());
    }
    return true;
  }

  /// Whether the member was not dropped.
  template <typename Member, typename Dominates>
  bool Insert(const PartialKey& key, Member&& member, PartialTable<Member>& into,
              const Dominates& dominates) {
    using Insertion = typename PartialTable<Member>::Insertion;
    const Insertion insertion = into.AddUndominated(key, std::move(member), dominates);
    if (insertion != Insertion::kAdded) ++result_.counts.dominated;
    return insertion != Insertion::kDropped;
  }

  void AddLooped(int level, Looped&& looped, PartialTable<Looped>& into) {
    const Position position = {level, true};
    if (!IsWorthwhile(looped.partial, looped.decision, position)) return;
    const PartialKey key = {std::bit_cast<uint64_t>(looped.partial.tile),
                            uint64_t{looped.looped} << 8 | static_cast<uint8_t>(looped.last_rank)};
    const TileIndex tile = looped.partial.tile;
    (void)Insert(key, std::move(looped), into, [&](const Looped& a, const Looped& b) {
      return costs_.Dominates(a.partial, b.partial, tile, position);
    });
  }

  /// The factors that a temporal loop of the level can have.
  bool Allows(int level, int dimension, int64_t factor) const {
    const int64_t fixed = Constraint(level).temporal[dimension];
    const int64_t most = Constraint(level).temporal_at_most[dimension];
    return (fixed == 0 || fixed == factor) && (most == 0 || factor <= most);
  }

  /// Whether a tile of the level may be so large: the outermost level's is the whole problem.
  bool Reaches(int level, int dimension, int divisor) const {
    return level + 1 < levels_ || divisor == costs_.Whole()[dimension];
  }

  /// Every loop that may be next.
  void LoopAll(int level, const Looped& looped, PartialTable<Looped>& into) {
    for (int d = 0; d < dimensions_; ++d) {
      if (!MayLoop(level, looped, d)) continue;
      const int at = looped.partial.tile[d];
      for (const uint8_t divisor : costs_.Multiples(d, at)) {
        if (divisor == at || !Reaches(level, d, divisor)) continue;
        if (!Allows(level, d, costs_.Divisors(d)[divisor] / costs_.Divisors(d)[at])) continue;
        Looped longer = looped;
        costs_.Loop(longer.partial, d, divisor);
        longer.looped |= DimensionSet{1} << d;
        longer.last_rank = ranks_[level][d];
        longer.decision.order[longer.decision.ordered++] = static_cast<int8_t>(d);
        AddLooped(level, std::move(longer), into);
      }
    }
  }

  bool MayLoop(int level, const Looped& looped, int dimension) const {
    return (looped.looped >> dimension & 1) == 0 && ranks_[level][dimension] >= looped.last_rank;
  }

  /// All tiles that further loops can make of partial mappings, none of which they cost anything.
  void GrowAll(int level, const std::vector<Looped>& closed, PartialTable<Leveled>& outside) {
    const Position position = {level, true};
    PartialTable<Grown> grown;
    const auto add = [&](PartialTable<Grown>& into, const TileIndex& tile, int32_t from,
                         int dimension) {
      if (!HasRoom(closed[from].partial, tile, level)) {
        ++result_.counts.too_large;
        return;
      }
      // Dimensions that may still loop: other partial mappings may not be able to follow.
      uint64_t may = 0;
      for (int d = dimension; d < dimensions_; ++d) {
        may |= uint64_t{MayLoop(level, closed[from], d)} << d;
      }
      (void)Insert({std::bit_cast<uint64_t>(tile), may}, Grown{from}, into,
                   [&](const Grown& a, const Grown& b) {
                     return costs_.Dominates(closed[a.from].partial, closed[b.from].partial, tile,
                                             position);
                   });
    };
    for (int32_t i = 0; i < std::ssize(closed); ++i) add(grown, closed[i].partial.tile, i, 0);
    for (int d = 0; d < dimensions_; ++d) {
      PartialTable<Grown> next;
      grown.ForEach([&](const PartialKey& key, const Grown& member) {
        if (Interrupted()) return;
        const TileIndex tile = std::bit_cast<TileIndex>(key.tile);
        const bool may = MayLoop(level, closed[member.from], d);
        const bool has = (closed[member.from].looped >> d & 1) != 0;
        for (const uint8_t divisor : costs_.Multiples(d, tile[d])) {
          const int64_t factor = costs_.Divisors(d)[divisor] / costs_.Divisors(d)[tile[d]];
          if (factor > 1 && !may) break;
          if (!Reaches(level, d, divisor)) continue;
          if (!has && !Allows(level, d, factor)) continue;
          TileIndex larger = tile;
          larger[d] = divisor;
          ++result_.counts.made;
          add(next, larger, member.from, d + 1);
        }
      });
      grown = std::move(next);
    }
    grown.ForEach([&](const PartialKey& key, const Grown& member) {
      KeepAll(level, closed[member.from], std::bit_cast<TileIndex>(key.tile), outside);
    });
  }

  /// Every choice of tensors that the level may keep, its tile being this.
  void KeepAll(int level, const Looped& looped, const TileIndex& tile,
               PartialTable<Leveled>& outside) {
    for (int d = 0; d < dimensions_; ++d) {
      const bool loops = tile[d] != looped.decision.spread[d];
      if (!loops && !Allows(level, d, 1)) return;
    }
    const bool is_outermost = level + 1 == levels_;
    if (is_outermost && tile != costs_.Whole()) return;
    const uint32_t must = mapspace_.Skeleton().levels[level].keep & ~mapspace_.FreeKeep(level);
    const uint32_t free = is_outermost ? 0 : mapspace_.FreeKeep(level) & ~looped.partial.placed;
    const bool has_loops = tile != looped.decision.spread;
    const uint32_t all = (uint32_t{1} << mapspace_.problem().TensorCount()) - 1;
    for (uint32_t kept = free;; kept = (kept - 1) & free) {
      if (MayKeep(level, looped.partial.placed, kept, has_loops)) {
        Leveled leveled = {looped.partial, -1};
        leveled.partial.tile = tile;
        Decision decision = looped.decision;
        decision.tile = tile;
        decision.keep = is_outermost ? all : must | kept;
        KeepOne(level, std::move(leveled), decision, outside);
      }
      if (kept == 0) return;
    }
  }

  /// Whether a part of a memory may keep just these of its tensors. Parts that keep nothing are the
  /// outermost ones and run no loops, which are as well the next memory's, unless that has its
  /// spatial loops between.
  bool MayKeep(int level, uint32_t placed, uint32_t kept, bool has_loops) const {
    const int last = mapspace_.architecture().LastPart(level);
    if (mapspace_.architecture().FirstPart(level) == last) return true;
    const bool is_left_out = (Constraint(last).memory_must_keep & ~(placed | kept)) != 0;
    if (kept == 0) return !is_left_out && (!has_loops || MayLoopOutside(level));
    return (placed & kIsThrough) == 0 && (level < last || !is_left_out);
  }

  bool MayLoopOutside(int level) const {
    return level == mapspace_.architecture().LastPart(level) && spreads_[level + 1].size() > 1;
  }

  void KeepOne(int level, Leveled&& leveled, Decision decision, PartialTable<Leveled>& outside) {
    PartialMapping& partial = leveled.partial;
    const int64_t capacity = mapspace_.architecture().levels[level].words;
    int64_t words = partial.used_words;
    for (int t = 0; t < mapspace_.problem().TensorCount(); ++t) {
      if ((decision.keep >> t & 1) != 0) words += costs_.Words(t, partial.tile);
    }
    if (capacity != 0 && decision.keep != 0 && words > capacity) {
      ++result_.counts.too_large;
      return;
    }
    if (decision.keep == 0) partial.placed |= kIsThrough;
    costs_.Place(partial, level, decision.keep);
    if (level + 1 == levels_) return Finish(partial, decision);
    // Its decision is recorded only if it is not cut off, but is needed for a sample.
    const Position position = {level + 1, false};
    if (!IsWorthwhile(partial, decision, position)) return;
    leveled.decision = static_cast<int32_t>(decisions_.size());
    const TileIndex tile = partial.tile;
    if (Insert({std::bit_cast<uint64_t>(tile), partial.placed}, std::move(leveled), outside,
               [&](const Leveled& a, const Leveled& b) {
                 return costs_.Dominates(a.partial, b.partial, tile, position);
               })) {
      decisions_.push_back(decision);
    }
  }

  void Finish(PartialMapping& partial, const Decision& decision) {
    ++result_.counts.made;
    costs_.Finish(partial);
    const double value = costs_.ValueOf(partial);
    if (value >= least_ * (1 - kCostRounding)) {
      ++result_.counts.bounded;
      return;
    }
    ++result_.counts.finished;
    least_ = value;
    cutoff_ = std::min(cutoff_, value);
    Mapping mapping = MappingOf(decision, levels_);
    const double by_model = mapspace::ValueOf(model_.Evaluate(mapping), options_.objective);
    if (result_.best && by_model >= result_.value) return;
    if (by_model >= options_.known_value) return;
    result_.best = std::move(mapping);
    result_.value = by_model;
  }

  /// The mapping whose levels below `decided` are those of the decision and those inside of it.
  Mapping MappingOf(const Decision& decision, int decided) const {
    Mapping mapping = mapspace_.Skeleton();
    const Decision* at = &decision;
    for (int l = decided - 1; l >= 0; --l) {
      const Extents inner =
          at->inside < 0 ? kUnitExtents : costs_.ExtentsOf(decisions_[at->inside].tile);
      const Extents spread = costs_.ExtentsOf(at->spread);
      const Extents tile = costs_.ExtentsOf(at->tile);
      MappingLevel& level = mapping.levels[l];
      for (int d = 0; d < dimensions_; ++d) {
        level.spatial[d] = spread[d] / inner[d];
        level.temporal[d] = tile[d] / spread[d];
      }
      level.keep = at->keep;
      OrderLoops(l, *at, mapping);
      if (at->inside >= 0) at = &decisions_[at->inside];
    }
    (void)mapspace_.Repair(mapping);
    return mapping;
  }

  void OrderLoops(int level, const Decision& decision, Mapping& mapping) const {
    std::vector<int> order;
    const std::vector<int>& free = mapspace_.FreeOrder(level);
    for (int i = 0; i < decision.ordered; ++i) {
      if (std::ranges::find(free, decision.order[i]) != free.end()) {
        order.push_back(decision.order[i]);
      }
    }
    for (const int d : free) {
      if (std::ranges::find(order, d) == order.end()) order.push_back(d);
    }
    mapspace_.SetOrder(level, order, mapping);
  }

  /// Remembers every so many of those cut off, between memories: amid the parts of one it is more
  /// than the levels that says which tensors have no place yet.
  void Sample(const Decision& decision, int level, double bound) {
    if (level > 0 && mapspace_.architecture().LastPart(level - 1) >= level) return;
    const auto seen = static_cast<int64_t>(result_.counts.bounded);
    if (std::ssize(result_.sample) >= options_.sample) {
      // The older a search is, the rarer: positions are drawn by a fixed multiplicative sequence.
      const auto place =
          static_cast<int64_t>(static_cast<uint64_t>(seen) * 0x9E3779B97F4A7C15ULL >> 1) % seen;
      if (place >= options_.sample) return;
      result_.sample[place] = {MappingOf(decision, level), level, bound * scale_};
      return;
    }
    result_.sample.push_back({MappingOf(decision, level), level, bound * scale_});
  }

  bool Interrupted() {
    if (++steps_ % kPatience == 0) is_asked_ = is_asked_ || IsEnough() || options_.interrupted();
    return is_asked_;
  }

  bool IsEnough() const {
    return options_.max_made > 0 && result_.counts.made > static_cast<double>(options_.max_made);
  }

  /// Whether to give up, of so many partial mappings.
  bool Stop(size_t partials) {
    is_asked_ = is_asked_ || IsEnough() || options_.interrupted() ||
                static_cast<int64_t>(partials) > options_.max_partials;
    return is_asked_;
  }

  const Mapspace& mapspace_;
  const AnalyticalModel& model_;
  const ExactOptions& options_;
  PartialMappingModel costs_;
  int dimensions_, levels_;
  double scale_;
  double cutoff_, least_;
  double left_ = kInfinity;
  bool is_asked_ = false;
  int64_t steps_ = 0;
  std::vector<std::vector<Extents>> spreads_;
  std::vector<std::array<int8_t, kMaxDimensions>> ranks_;
  std::vector<Decision> decisions_;
  ExactResult result_;
};

}  // namespace

std::string WhyNotExact(const Mapspace& mapspace, const AnalyticalModel& model) {
  if (model.sparse() != nullptr) {
    return "sparse tensors, and tensors with words of their own width, are estimated otherwise";
  }
  int outputs = 0;
  for (const DataSpace& tensor : mapspace.problem().tensors) {
    const TensorReuse reuse(tensor);
    DimensionSet seen = 0;
    bool is_plain = true;  // each dimension moves the tile along one axis
    for (int a = 0; a < reuse.AxisCount(); ++a) {
      for (int d = 0; d < kMaxDimensions; ++d) {
        if (reuse.Coefficient(a, d) == 0) continue;
        is_plain = is_plain && (seen >> d & 1) == 0 && reuse.Coefficient(a, d) > 0;
        seen |= DimensionSet{1} << d;
      }
    }
    if (!is_plain) return "an index of " + tensor.name + " stands in several of its axes";
    if (reuse.IsWindowed() && model.counting() == ReuseCounting::kTimeloop) {
      return "where windows slide (" + tensor.name + "), only the counting 'exact' is covered";
    }
    if (!tensor.read_write) continue;
    if (++outputs > 1 || reuse.IsWindowed()) return "only one output without windows is covered";
  }
  return "";
}

ExactResult SearchExactly(const Mapspace& mapspace, const AnalyticalModel& model,
                          const ExactOptions& options) {
  return ExactSearch(mapspace, model, options).Run();
}

}  // namespace bayloom::mapspace
