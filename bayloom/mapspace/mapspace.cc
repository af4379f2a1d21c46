// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/mapspace.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "bayloom/base/prime_factors.h"
#include "bayloom/base/result.h"

namespace bayloom::mapspace {

Mapspace::Mapspace(Problem problem, Architecture architecture,
                   std::span<const Directive> constraints)
    : problem_(std::move(problem)),
      architecture_(std::move(architecture)),
      directives_(constraints.begin(), constraints.end()) {
  CheckProblem(problem_);
  CheckArchitecture(architecture_);
  std::vector<Directive> all = architecture_.constraints;
  all.insert(all.end(), constraints.begin(), constraints.end());
  constraints_ = ResolveConstraints(all, problem_, architecture_);
  skeleton_.levels.resize(architecture_.levels.size());
  for (int l = 0; l < architecture_.LevelCount(); ++l) {
    const LevelConstraint& level = constraints_.levels[l];
    fanouts_.push_back(architecture_.FanoutOf(l));
    skeleton_.levels[l].keep = ((uint32_t{1} << problem_.TensorCount()) - 1) & ~level.must_bypass;
    if (l < architecture_.LastPart(l)) skeleton_.levels[l].keep = 0;
    std::vector<int>& order = free_order_.emplace_back();
    for (int d = 0; d < problem_.DimensionCount(); ++d) {
      if (std::ranges::find(level.innermost, d) == level.innermost.end() &&
          std::ranges::find(level.outermost, d) == level.outermost.end()) {
        order.push_back(d);
      }
    }
    SetOrder(l, order, skeleton_);
  }
  for (int d = 0; d < problem_.DimensionCount(); ++d) {
    Dimension& dimension = dimensions_.emplace_back();
    dimension.extent = problem_.bounds[d];
    for (int l = 0; l < architecture_.LevelCount(); ++l) {
      const LevelConstraint& level = constraints_.levels[l];
      for (const bool spatial : {true, false}) {
        if (spatial && fanouts_[l].x * fanouts_[l].y == 1) continue;
        const int64_t fixed = (spatial ? level.spatial : level.temporal)[d];
        if (fixed == 0) {
          dimension.slots.push_back({l, spatial});
        } else {
          FactorAt(skeleton_, {l, spatial}, d) = fixed;
          dimension.extent = dimension.extent % fixed == 0 ? dimension.extent / fixed : 0;
        }
      }
    }
    if (dimension.extent == 0 || (dimension.slots.empty() && dimension.extent != 1)) {
      throw InputError(
          fmt::format("constraints: the factors of {} cannot multiply up to its bound {}",
                      problem_.dimensions[d], problem_.bounds[d]));
    }
    dimension.splits =
        space::MakeFactorization(problem_.dimensions[d], dimension.extent,
                                 std::max<int>(1, static_cast<int>(dimension.slots.size())));
  }
}

uint32_t Mapspace::FreeKeep(int level) const {
  const LevelConstraint& constraint = constraints_.levels[level];
  return ((uint32_t{1} << problem_.TensorCount()) - 1) & ~constraint.must_keep &
         ~constraint.must_bypass;
}

void Mapspace::SetSplit(int dimension, double rank, Mapping& mapping) const {
  const std::vector<Slot>& slots = dimensions_[dimension].slots;
  if (slots.empty()) return;
  std::array<int64_t, 2 * kMaxLevels> factors;
  dimensions_[dimension].splits->ElementsAt(rank, factors);
  for (size_t i = 0; i < slots.size(); ++i) {
    FactorAt(mapping, slots[i], dimension) = factors[slots.size() - 1 - i];
  }
}

void Mapspace::SetOrder(int level, std::span<const int> free_dimensions, Mapping& mapping) const {
  const LevelConstraint& constraint = constraints_.levels[level];
  size_t place = 0;
  const auto append = [&](std::span<const int> dimensions) {
    for (int d : dimensions) mapping.levels[level].order[place++] = static_cast<int8_t>(d);
  };
  append(constraint.innermost);
  append(free_dimensions);
  append(constraint.outermost);
}

void Mapspace::StandardizeOrders(Mapping& mapping) const {
  for (int l = 1; l < architecture_.LevelCount(); ++l) {
    MappingLevel& level = mapping.levels[l];
    const auto free = std::span(level.order)
                          .subspan(constraints_.levels[l].innermost.size(), free_order_[l].size());
    const auto once = std::ranges::stable_partition(
        free, [&](int d) { return level.temporal[static_cast<size_t>(d)] > 1; });
    std::ranges::sort(once);
  }
}

bool Mapspace::PlaceSpatialLoops(int level, MappingLevel& mapping) const {
  const LevelConstraint& constraint = constraints_.levels[level];
  const Fanout room = fanouts_[level];
  DimensionSet spread = 0;
  for (int d = 0; d < problem_.DimensionCount(); ++d) {
    if (mapping.spatial[d] > 1) spread |= DimensionSet{1} << d;
  }
  // All subsets of the spread dimensions along y, until one has room.
  for (DimensionSet along_y = spread;; along_y = (along_y - 1) & spread) {
    mapping.along_y = along_y;
    const Fanout used = mapping.Spread(problem_.DimensionCount());
    if (used.x <= room.x && used.y <= room.y && (along_y & ~constraint.along_y) == 0 &&
        (spread & ~along_y & ~constraint.along_x) == 0) {
      return true;
    }
    if (along_y == 0) return false;
  }
}

void Mapspace::GiveOnePlaceEach(Mapping& mapping) const {
  uint32_t kept = 0;
  for (int l = architecture_.LevelCount() - 1; l >= 0; --l) {
    if (architecture_.FirstPart(l) == architecture_.LastPart(l)) continue;
    if (l == architecture_.LastPart(l)) {
      kept = 0;
      for (int part = architecture_.FirstPart(l); part <= l; ++part) {
        kept |= mapping.levels[part].keep;
      }
      mapping.levels[l].keep |= constraints_.levels[l].memory_must_keep & ~kept;
      kept = 0;
    }
    mapping.levels[l].keep &= ~kept;
    kept |= mapping.levels[l].keep;
  }
}

bool Mapspace::HasOnePlaceEach(const Mapping& mapping) const {
  Mapping placed = mapping;
  GiveOnePlaceEach(placed);
  return placed == mapping;
}

bool Mapspace::Repair(Mapping& mapping) const {
  GiveOnePlaceEach(mapping);
  for (int l = 0; l < architecture_.LevelCount(); ++l) {
    const LevelConstraint& constraint = constraints_.levels[l];
    MappingLevel& level = mapping.levels[l];
    const auto exceeds = [](int64_t factor, int64_t most) { return most != 0 && factor > most; };
    for (int d = 0; d < problem_.DimensionCount(); ++d) {
      if (exceeds(level.temporal[d], constraint.temporal_at_most[d]) ||
          exceeds(level.spatial[d], constraint.spatial_at_most[d])) {
        return false;
      }
    }
    if (fanouts_[l].x * fanouts_[l].y > 1 && !PlaceSpatialLoops(l, level)) return false;
  }
  return true;
}

double Mapspace::Size() const {
  double size = 1;
  for (const Dimension& dimension : dimensions_) {
    size *= static_cast<double>(dimension.splits->Cardinality());
  }
  for (int l = 0; l < architecture_.LevelCount(); ++l) {
    if (l > 0) size *= std::tgamma(static_cast<double>(free_order_[l].size()) + 1);
    const int parts = architecture_.LastPart(l) - architecture_.FirstPart(l) + 1;
    if (parts == 1) size *= std::exp2(std::popcount(FreeKeep(l)));
    if (parts == 1 || l < architecture_.LastPart(l)) continue;
    const uint32_t must = constraints_.levels[l].memory_must_keep;
    size *= std::pow(parts, std::popcount(must)) *
            std::pow(parts + 1, std::popcount(FreeKeep(l) & ~must));
  }
  return size;
}

bool Mapspace::SampleTiling(base::RandomStream& random, Mapping& mapping) const {
  mapping = skeleton_;
  for (int d = 0; d < problem_.DimensionCount(); ++d) {
    SetSplit(d, dimensions_[d].splits->Sample(random), mapping);
  }
  for (int l = 0; l < architecture_.LevelCount(); ++l) {
    mapping.levels[l].keep &= ~FreeKeep(l) | static_cast<uint32_t>(random.Next());
  }
  return Repair(mapping);
}

void Mapspace::ShuffleOrders(base::RandomStream& random, Mapping& mapping) const {
  for (int l = 1; l < architecture_.LevelCount(); ++l) {
    std::vector<int> order = free_order_[l];
    random.Shuffle(order);
    SetOrder(l, order, mapping);
  }
}

bool Mapspace::Step(base::RandomStream& random, Mapping& mapping) const {
  const double what = random.Uniform();
  if (what < 0.1 && FlipKeep(random, mapping)) return true;
  if (what < 0.4 && SwapFactors(random, mapping)) return true;
  return MovePrime(random, mapping) && Repair(mapping);
}

bool Mapspace::MovePrime(base::RandomStream& random, Mapping& mapping) const {
  const int d = static_cast<int>(random.UniformInt(problem_.DimensionCount()));
  const std::vector<Slot>& slots = dimensions_[d].slots;
  const auto count = static_cast<int64_t>(slots.size());
  if (dimensions_[d].extent == 1 || count < 2) return false;
  int64_t from = random.UniformInt(count);
  while (FactorAt(mapping, slots[from], d) == 1) from = (from + 1) % count;
  const int64_t to = (from + 1 + random.UniformInt(count - 1)) % count;
  const base::PrimeFactors primes(FactorAt(mapping, slots[from], d));
  const int64_t prime = primes[random.UniformInt(primes.size())].prime;
  FactorAt(mapping, slots[from], d) /= prime;
  FactorAt(mapping, slots[to], d) *= prime;
  return true;
}

bool Mapspace::SwapFactors(base::RandomStream& random, Mapping& mapping) const {
  const int l = static_cast<int>(random.UniformInt(architecture_.LevelCount()));
  std::array<int8_t*, kMaxDimensions> loops;
  int64_t count = 0;
  MappingLevel& level = mapping.levels[l];
  for (int i = 0; i < problem_.DimensionCount(); ++i) {
    const bool is_free = std::ranges::find(free_order_[l], level.order[i]) != free_order_[l].end();
    if (is_free && level.temporal[level.order[i]] > 1) loops[count++] = &level.order[i];
  }
  if (count < 2) return false;
  const int64_t first = random.UniformInt(count);
  const int64_t second = (first + 1 + random.UniformInt(count - 1)) % count;
  std::swap(*loops[first], *loops[second]);
  return true;
}

bool Mapspace::FlipKeep(base::RandomStream& random, Mapping& mapping) const {
  const int l = static_cast<int>(random.UniformInt(architecture_.LevelCount()));
  const uint32_t bit = uint32_t{1} << random.UniformInt(problem_.TensorCount());
  if ((FreeKeep(l) & bit) == 0) return false;
  mapping.levels[l].keep ^= bit;
  if (mapping.levels[l].Keeps(std::countr_zero(bit))) {
    for (int part = architecture_.FirstPart(l); part <= architecture_.LastPart(l); ++part) {
      if (part != l) mapping.levels[part].keep &= ~bit;
    }
  }
  GiveOnePlaceEach(mapping);
  return true;
}

int64_t Mapspace::TilingCount() const {
  int64_t count = 1;
  for (int d = 0; d < problem_.DimensionCount(); ++d) count *= dimensions_[d].splits->Cardinality();
  return count;
}

bool Mapspace::ForEachOfTiling(int64_t tiling,
                               const std::function<bool(const Mapping&)>& visit) const {
  Mapping mapping = skeleton_;
  for (int d = problem_.DimensionCount() - 1; d >= 0; --d) {
    const int64_t splits = dimensions_[d].splits->Cardinality();
    SetSplit(d, static_cast<double>(tiling % splits), mapping);
    tiling /= splits;
  }
  return !Repair(mapping) || ForEachKeep(0, mapping, visit);
}

bool Mapspace::ForEachKeep(int level, Mapping& mapping,
                           const std::function<bool(const Mapping&)>& visit) const {
  if (level == architecture_.LevelCount()) {
    return !HasOnePlaceEach(mapping) || ForEachOrder(1, mapping, visit);
  }
  const uint32_t free = FreeKeep(level);
  for (uint32_t kept = free;; kept = (kept - 1) & free) {
    mapping.levels[level].keep = (skeleton_.levels[level].keep & ~free) | kept;
    if (!ForEachKeep(level + 1, mapping, visit)) return false;
    if (kept == 0) return true;
  }
}

bool Mapspace::ForEachOrder(int level, Mapping& mapping,
                            const std::function<bool(const Mapping&)>& visit) const {
  if (level >= architecture_.LevelCount()) return visit(mapping);
  // Only loops that run more than once have an order; the others stay inside of them.
  std::vector<int> order = free_order_[level];
  const auto moving = std::ranges::stable_partition(
      order, [&](int d) { return mapping.levels[level].temporal[d] == 1; });
  std::ranges::sort(moving);
  do {
    SetOrder(level, order, mapping);
    if (!ForEachOrder(level + 1, mapping, visit)) return false;
  } while (std::ranges::next_permutation(moving).found);
  return true;
}

}  // namespace bayloom::mapspace
