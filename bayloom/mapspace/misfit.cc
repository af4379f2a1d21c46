// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/misfit.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <vector>

#include "bayloom/base/prime_factors.h"
#include "bayloom/base/random.h"
#include "bayloom/mapspace/reuse.h"

namespace bayloom::mapspace {
namespace {

using Slot = Mapspace::Slot;
using SlotFilter = std::function<bool(const Slot&)>;

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

/// The largest factor that constraints and the room in space leave to a slot.
int64_t LimitOf(const Mapspace& mapspace, int dimension, const Slot& slot) {
  const LevelConstraint& level = mapspace.constraints().levels[slot.level];
  const int64_t at_most =
      (slot.spatial ? level.spatial_at_most : level.temporal_at_most)[dimension];
  int64_t limit = at_most == 0 ? kUnlimited : at_most;
  if (slot.spatial) {
    const Fanout room = mapspace.architecture().FanoutOf(slot.level);
    const int64_t x = (level.along_x >> dimension & 1) != 0 ? room.x : 1;
    const int64_t y = (level.along_y >> dimension & 1) != 0 ? room.y : 1;
    limit = std::min(limit, std::max(x, y));
  }
  return limit;
}

std::vector<int64_t> DivisorsOf(int64_t number) {
  std::vector<int64_t> divisors = {1};
  for (const auto [prime, exponent] : base::PrimeFactors(number)) {
    const size_t without = divisors.size();
    for (int power = 0; power < exponent; ++power) {
      const size_t begin = divisors.size() - without;
      for (size_t i = 0; i < without; ++i) divisors.push_back(divisors[begin + i] * prime);
    }
  }
  return divisors;
}

/// The divisors of what is left of a dimension's bound that factors of these slots multiply up to.
std::set<int64_t> ProductsOf(const Mapspace& mapspace, int dimension, const SlotFilter& counts) {
  const int64_t extent = mapspace.FreeExtent(dimension);
  std::set<int64_t> products = {1};
  for (const Slot& slot : mapspace.FreeSlots(dimension)) {
    if (!counts(slot)) continue;
    const int64_t limit = LimitOf(mapspace, dimension, slot);
    std::set<int64_t> longer;
    for (const int64_t product : products) {
      for (const int64_t factor : DivisorsOf(extent / product)) {
        if (factor <= limit) longer.insert(product * factor);
      }
    }
    products = std::move(longer);
  }
  return products;
}

/// The least that the factors of these slots multiply up to, fixed ones included, if all factors of
/// the dimension multiply up to its bound; 0 if they cannot.
int64_t LeastProduct(const Mapspace& mapspace, int dimension, const SlotFilter& counts) {
  const Mapping fixed = mapspace.Skeleton();
  int64_t least = 1;
  for (int l = 0; l < mapspace.architecture().LevelCount(); ++l) {
    for (const bool spatial : {true, false}) {
      const Slot slot = {l, spatial};
      if (counts(slot)) least *= FactorAt(fixed, slot, dimension);
    }
  }
  const auto takes_all = [&](const Slot& slot) {
    return !counts(slot) && LimitOf(mapspace, dimension, slot) >= mapspace.FreeExtent(dimension);
  };
  if (std::ranges::any_of(mapspace.FreeSlots(dimension), takes_all)) return least;
  const std::set<int64_t> rest = ProductsOf(mapspace, dimension, std::not_fn(counts));
  for (const int64_t product : ProductsOf(mapspace, dimension, counts)) {
    if (rest.contains(mapspace.FreeExtent(dimension) / product)) return least * product;
  }
  return 0;
}

/// "C=32 M=2": what is more than 1.
std::string FactorsText(const Mapspace& mapspace, const Extents& factors) {
  std::string text;
  for (int d = 0; d < mapspace.problem().DimensionCount(); ++d) {
    if (factors[d] == 1) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", mapspace.problem().dimensions[d],
                        factors[d]);
  }
  return text;
}

/// "2 at L1, at most 16 in space at PEs": all factors of a dimension that are not free.
std::string LimitsText(const Mapspace& mapspace, int dimension) {
  std::string text;
  const Mapping fixed = mapspace.Skeleton();
  const auto add = [&](std::string_view relation, int64_t factor, const Slot& slot) {
    text += fmt::format("{}{}{}{} at {}", text.empty() ? "" : ", ", relation, factor,
                        slot.spatial ? " in space" : "",
                        mapspace.architecture().levels[slot.level].name);
  };
  for (int l = 0; l < mapspace.architecture().LevelCount(); ++l) {
    for (const Slot slot : {Slot{l, true}, Slot{l, false}}) {
      if (const int64_t factor = FactorAt(fixed, slot, dimension); factor > 1)
        add("", factor, slot);
    }
  }
  for (const Slot& slot : mapspace.FreeSlots(dimension))
    add("at most ", LimitOf(mapspace, dimension, slot), slot);
  return text;
}

/// Why the spatial loops of a level that are as short as can be have no room; empty if they have.
std::string WhyNoRoom(const Mapspace& mapspace, int level) {
  Mapping least;
  least.levels.resize(mapspace.architecture().levels.size());
  Extents& spatial = least.levels[level].spatial;
  for (int d = 0; d < mapspace.problem().DimensionCount(); ++d) {
    spatial[d] = LeastProduct(
        mapspace, d, [&](const Slot& slot) { return slot.level == level && slot.spatial; });
  }
  if (mapspace.Repair(least)) return "";
  const Fanout room = mapspace.architecture().FanoutOf(level);
  return fmt::format(
      "{} feeds {}x{} instances, which have no room for {} in space, the least that "
      "constraints leave",
      mapspace.architecture().levels[level].name, room.x, room.y, FactorsText(mapspace, spatial));
}

/// Why the least tiles of the tensors that a level has to keep do not fit into it; empty if they
/// do.
std::string WhyNoCapacity(const Mapspace& mapspace, int level) {
  const StorageLevel& storage = mapspace.architecture().levels[level];
  const uint32_t kept = mapspace.constraints().levels[level].must_keep;
  if (storage.words == 0 || kept == 0) return "";
  const Problem& problem = mapspace.problem();
  Extents tile = kUnitExtents;
  for (int d = 0; d < problem.DimensionCount(); ++d) {
    tile[d] = LeastProduct(mapspace, d, [&](const Slot& slot) { return slot.level <= level; });
  }
  int64_t words = 0;
  std::string tensors;
  for (int t = 0; t < problem.TensorCount(); ++t) {
    if ((kept >> t & 1) == 0) continue;
    words += TensorReuse(problem.tensors[t]).BoxWords(tile);
    tensors += (tensors.empty() ? "" : ", ") + problem.tensors[t].name;
  }
  if (words <= storage.words) return "";
  const std::string factors = FactorsText(mapspace, tile);
  return fmt::format("{} has {} words, and has to keep {} with tiles of at least {} words{}{}",
                     storage.name, storage.words, tensors, words,
                     factors.empty() ? "" : " in all, as constraints leave ", factors);
}

/// A factor that is asked for and is above what is allowed; empty if none is.
std::string WhyContradiction(const Mapspace& mapspace, int level) {
  const LevelConstraint& constraint = mapspace.constraints().levels[level];
  const bool feeds_several = mapspace.architecture().FanoutOf(level) != Fanout{};
  for (int d = 0; d < mapspace.problem().DimensionCount(); ++d) {
    for (const bool spatial : {true, false}) {
      if (spatial && !feeds_several) continue;
      const int64_t fixed = (spatial ? constraint.spatial : constraint.temporal)[d];
      const int64_t most = (spatial ? constraint.spatial_at_most : constraint.temporal_at_most)[d];
      if (most == 0 || fixed <= most) continue;
      const std::string& dimension = mapspace.problem().dimensions[d];
      return fmt::format("constraints of {} ask for {}={} and for {}<={}",
                         mapspace.architecture().levels[level].name, dimension, fixed, dimension,
                         most);
    }
  }
  return "";
}

}  // namespace

std::string WhyNoneFits(const Mapspace& mapspace, const AnalyticalModel& model) {
  const int levels = mapspace.architecture().LevelCount();
  for (int l = 0; l < levels; ++l) {
    if (std::string reason = WhyContradiction(mapspace, l); !reason.empty()) return reason;
  }
  for (int d = 0; d < mapspace.problem().DimensionCount(); ++d) {
    if (LeastProduct(mapspace, d, [](const Slot&) { return true; }) != 0) continue;
    return fmt::format("the factors of {} cannot multiply up to its bound {}: {}",
                       mapspace.problem().dimensions[d], mapspace.problem().bounds[d],
                       LimitsText(mapspace, d));
  }
  for (int l = 0; l < levels; ++l) {
    if (std::string reason = WhyNoRoom(mapspace, l); !reason.empty()) return reason;
  }
  for (int l = 0; l < levels && model.sparse() == nullptr; ++l) {
    if (std::string reason = WhyNoCapacity(mapspace, l); !reason.empty()) return reason;
  }
  return "";
}

std::string WhyFewFit(const Mapspace& mapspace, const AnalyticalModel& model) {
  constexpr int kDraws = 1000;
  base::RandomStream random(1);
  int without_room = 0, too_large = 0;
  std::string last;
  for (int i = 0; i < kDraws; ++i) {
    Mapping mapping;
    if (!mapspace.SampleTiling(random, mapping)) {
      ++without_room;
    } else if (const Status fit = model.CheckFit(mapping); !fit) {
      ++too_large;
      last = fit.error().message;
    }
  }
  return fmt::format(
      "of {} random mappings {} exceed limits of factors or the room in space, and "
      "{} do not fit{}",
      kDraws, without_room, too_large, last.empty() ? "" : ": " + last);
}

}  // namespace bayloom::mapspace
