// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/uneven.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/constraints.h"

namespace bayloom::mapspace {
namespace {

bool SaysLoops(const LevelConstraint& constraint) {
  const auto says = [](const Extents& factors) {
    return std::ranges::any_of(factors, [](int64_t factor) { return factor != 0; });
  };
  return says(constraint.temporal) || says(constraint.temporal_at_most) ||
         !constraint.innermost.empty() || !constraint.outermost.empty();
}

}  // namespace

MappingKind ParseMappingKind(std::string_view text) {
  if (text == "even") return MappingKind::kEven;
  if (text == "uneven") return MappingKind::kUneven;
  throw InputError(fmt::format("mappings are even or uneven, not '{}'", text));
}

Architecture SplitMemories(const Architecture& architecture, const Problem& problem,
                           std::span<const Directive> constraints) {
  if (architecture.IsSparse()) {
    throw InputError("uneven mappings are for architectures that do nothing about zeros");
  }
  std::vector<Directive> all = architecture.constraints;
  all.insert(all.end(), constraints.begin(), constraints.end());
  const MapspaceConstraints resolved = ResolveConstraints(all, problem, architecture);
  Architecture split = architecture;
  split.levels.clear();
  for (int l = 0; l < architecture.LevelCount(); ++l) {
    const LevelConstraint& constraint = resolved.levels[l];
    split.levels.push_back(architecture.levels[l]);
    if (l + 1 == architecture.LevelCount() || SaysLoops(constraint)) continue;
    const uint32_t tensors = (uint32_t{1} << problem.TensorCount()) - 1;
    const int parts = std::popcount(tensors & ~constraint.must_bypass);
    for (int part = 2; part <= parts; ++part) {
      StorageLevel more = architecture.levels[l];
      more.name += fmt::format("#{}", part);
      more.is_part = true;
      split.levels.push_back(more);
    }
  }
  CheckArchitecture(split);
  return split;
}

}  // namespace bayloom::mapspace
