// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/adapt_mapping.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "bayloom/mapspace/tile_encoding.h"

namespace bayloom::mapspace {
namespace {

int TensorNamed(const Problem& problem, const std::string& name) {
  const auto found = std::ranges::find(problem.tensors, name, &DataSpace::name);
  return found == problem.tensors.end() ? -1 : static_cast<int>(found - problem.tensors.begin());
}

/// Free dimensions as the other problem's loops have them, innermost first; outermost those that it
/// does not have.
void CopyOrder(const MappingLevel& source, const Problem& from, int level, const Mapspace& to,
               Mapping& mapping) {
  const auto place = [&](int d) {
    const int other = from.DimensionNamed(to.problem().dimensions[d]);
    return other < 0 ? std::numeric_limits<std::ptrdiff_t>::max()
                     : std::ranges::find(source.order, other) - source.order.begin();
  };
  std::vector<int> order = to.FreeOrder(level);
  std::ranges::stable_sort(order, {}, place);
  to.SetOrder(level, order, mapping);
}

void CopyKeeps(const MappingLevel& source, const Problem& from, int level, const Mapspace& to,
               Mapping& mapping) {
  uint32_t& keep = mapping.levels[level].keep;
  for (int t = 0; t < to.problem().TensorCount(); ++t) {
    const int other = TensorNamed(from, to.problem().tensors[t].name);
    const uint32_t bit = uint32_t{1} << t;
    if (other < 0 || (to.FreeKeep(level) & bit) == 0) continue;
    keep = source.Keeps(other) ? keep | bit : keep & ~bit;
  }
}

}  // namespace

std::optional<Mapping> AdaptMapping(const Mapping& mapping, const Problem& from, const Mapspace& to,
                                    const AnalyticalModel& model) {
  Mapping planted = to.Skeleton();
  WantedFactors wanted;
  bool is_related = false;
  for (int d = 0; d < to.problem().DimensionCount(); ++d) {
    const int other = from.DimensionNamed(to.problem().dimensions[d]);
    is_related = is_related || other >= 0;
    if (!HasChoice(to, d)) continue;
    const std::span<int64_t> factors = wanted.Add(d);
    size_t next = 0;
    for (const Mapspace::Slot& slot : to.FreeSlots(d)) {
      factors[next++] = other < 0 ? 1 : FactorAt(mapping, slot, other);
    }
  }
  if (!is_related) return std::nullopt;
  for (int l = 0; l < to.architecture().LevelCount(); ++l) {
    CopyOrder(mapping.levels[l], from, l, to, planted);
    CopyKeeps(mapping.levels[l], from, l, to, planted);
  }
  SetAllFactors(to, model, wanted, planted);
  if (!to.Repair(planted) || !model.Fits(planted)) return std::nullopt;
  to.StandardizeOrders(planted);
  return planted;
}

}  // namespace bayloom::mapspace
