// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/constraints.h"

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/base/result.h"

namespace bayloom::mapspace {

int TargetLevel(const Directive& directive, const Architecture& architecture) {
  const int level = architecture.LevelNamed(directive.target);
  const bool is_mesh = level >= 0 && architecture.levels[level].name != directive.target;
  if (level < 0 || (is_mesh && directive.kind != Directive::Kind::kSpatial)) {
    std::string names;
    for (const StorageLevel& storage : architecture.levels) names += " " + storage.name;
    throw InputError(fmt::format("{}target: there is no level '{}'; there are{}", directive.where,
                                 directive.target, names));
  }
  return level;
}

int FactorDimension(const Directive& directive, const Directive::Factor& factor,
                    const Problem& problem) {
  const int dimension = problem.DimensionNamed(factor.dimension);
  if (dimension < 0) {
    throw InputError(fmt::format("{}factors: there is no dimension '{}'; there are {}",
                                 directive.where, factor.dimension,
                                 fmt::join(problem.dimensions, ", ")));
  }
  return dimension;
}

int TensorNamed(const Directive& directive, std::string_view name, const Problem& problem) {
  const int tensor = problem.TensorNamed(name);
  if (tensor < 0) {
    throw InputError(
        fmt::format("{}there is no tensor '{}' in {}", directive.where, name, problem.name));
  }
  return tensor;
}

namespace {

/// The dimension whose name begins the text, the longest if several do; -1 if none.
int LeadingDimension(std::string_view text, std::span<const std::string> dimensions) {
  int longest = -1;
  for (int d = 0; d < std::ssize(dimensions); ++d) {
    if (text.starts_with(dimensions[d]) &&
        (longest < 0 || dimensions[d].size() > dimensions[longest].size())) {
      longest = d;
    }
  }
  return longest;
}

/// A directive of loops without those of dimensions that are known but not the problem's.
Directive Without(const Directive& directive, const Problem& problem,
                  std::span<const std::string> known) {
  const auto is_foreign = [&](const std::string& name) {
    return problem.DimensionNamed(name) < 0 && std::ranges::find(known, name) != known.end();
  };
  Directive kept = directive;
  std::erase_if(kept.factors,
                [&](const Directive::Factor& factor) { return is_foreign(factor.dimension); });
  kept.permutation.clear();
  int position = 0;
  for (std::string_view rest = directive.permutation; !rest.empty();) {
    const int dimension = LeadingDimension(rest, known);
    const size_t size = dimension < 0 ? 1 : known[dimension].size();
    if (dimension >= 0 && is_foreign(known[dimension])) {
      if (position < directive.split) --kept.split;
    } else {
      kept.permutation += rest.substr(0, size);
    }
    if (dimension >= 0) ++position;
    rest.remove_prefix(size);
  }
  return kept;
}

}  // namespace

PartialOrder ParsePermutation(const Directive& directive, const Problem& problem) {
  PartialOrder order;
  std::vector<int>* part = &order.innermost;
  DimensionSet seen = 0;
  for (std::string_view rest = directive.permutation; !rest.empty();) {
    if (rest.front() == ' ' || rest.front() == ',') {
      rest.remove_prefix(1);
    } else if (rest.front() == '*' && part == &order.innermost) {
      part = &order.outermost;
      rest.remove_prefix(1);
    } else {
      const int dimension = LeadingDimension(rest, problem.dimensions);
      const DimensionSet bit = dimension < 0 ? 0 : DimensionSet{1} << dimension;
      if (dimension < 0 || (seen & bit) != 0) {
        throw InputError(fmt::format("{}permutation '{}': at '{}' expected another one of {}",
                                     directive.where, directive.permutation, rest,
                                     fmt::join(problem.dimensions, ", ")));
      }
      seen |= bit;
      part->push_back(dimension);
      rest.remove_prefix(problem.dimensions[dimension].size());
    }
  }
  return order;
}

namespace {

void Constrain(const Directive& directive, const Problem& problem, LevelConstraint& level) {
  const bool spatial = directive.kind == Directive::Kind::kSpatial;
  for (const Directive::Factor& factor : directive.factors) {
    const int d = FactorDimension(directive, factor, problem);
    const int64_t value = factor.value == 0 ? problem.bounds[d] : factor.value;
    if (factor.at_most) {
      (spatial ? level.spatial_at_most : level.temporal_at_most)[d] = value;
    } else if (problem.bounds[d] % value != 0) {
      throw InputError(fmt::format("{}factors: {}={} does not divide its bound {}", directive.where,
                                   factor.dimension, value, problem.bounds[d]));
    } else {
      (spatial ? level.spatial : level.temporal)[d] = value;
    }
  }
  const PartialOrder order = ParsePermutation(directive, problem);
  if (!spatial) {
    level.innermost = order.innermost;
    level.outermost = order.outermost;
  } else if (directive.split >= 0) {
    level.along_x = level.along_y = 0;
    for (size_t i = 0; i < order.innermost.size(); ++i) {
      const bool first = i < static_cast<size_t>(directive.split);
      (first ? level.along_x : level.along_y) |= DimensionSet{1} << order.innermost[i];
    }
  }
}

}  // namespace

MapspaceConstraints ResolveConstraints(std::span<const Directive> directives,
                                       const Problem& problem, const Architecture& architecture) {
  MapspaceConstraints constraints;
  constraints.levels.resize(architecture.levels.size());
  for (const Directive& directive : directives) {
    LevelConstraint& level = constraints.levels[TargetLevel(directive, architecture)];
    if (directive.kind != Directive::Kind::kBypass) {
      Constrain(directive, problem, level);
      continue;
    }
    for (const std::string& name : directive.keep) {
      level.must_keep |= uint32_t{1} << TensorNamed(directive, name, problem);
    }
    for (const std::string& name : directive.bypass) {
      level.must_bypass |= uint32_t{1} << TensorNamed(directive, name, problem);
    }
    if ((level.must_keep & level.must_bypass) != 0) {
      throw InputError(fmt::format("{}{} is asked to keep and to bypass the same tensor",
                                   directive.where, directive.target));
    }
  }
  for (int l = 0; l < architecture.LevelCount(); ++l) {
    const int last = architecture.LastPart(l);
    const int first = architecture.FirstPart(l);
    if (first == last) continue;
    // What is said of a memory is of all its parts.
    constraints.levels[l].must_bypass |= constraints.levels[first].must_bypass;
    constraints.levels[last].memory_must_keep |= constraints.levels[l].must_keep;
    constraints.levels[l].must_keep = 0;
  }
  LevelConstraint& outermost = constraints.levels.back();
  outermost.must_keep = (uint32_t{1} << problem.TensorCount()) - 1;
  if (outermost.must_bypass != 0) {
    throw InputError("constraints: the outermost level, " + architecture.levels.back().name +
                     ", cannot bypass a tensor");
  }
  return constraints;
}

std::vector<Directive> DirectivesFor(const Problem& problem, std::span<const Directive> directives,
                                     std::span<const std::string> dimensions) {
  std::vector<Directive> all;
  for (const Directive& directive : directives) {
    all.push_back(Without(directive, problem, dimensions));
  }
  return all;
}

namespace {

bool FactorObeys(int64_t factor, int64_t fixed, int64_t at_most) {
  return (fixed == 0 || factor == fixed) && (at_most == 0 || factor <= at_most);
}

bool LevelObeys(const MappingLevel& level, const LevelConstraint& constraint,
                const Problem& problem) {
  for (int d = 0; d < problem.DimensionCount(); ++d) {
    if (!FactorObeys(level.temporal[d], constraint.temporal[d], constraint.temporal_at_most[d]) ||
        !FactorObeys(level.spatial[d], constraint.spatial[d], constraint.spatial_at_most[d]) ||
        (level.spatial[d] > 1 &&
         ((level.AlongY(d) ? constraint.along_y : constraint.along_x) >> d & 1) == 0)) {
      return false;
    }
  }
  const auto in_place = [&](const std::vector<int>& wanted, int first) {
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (level.order[first + static_cast<int>(i)] != wanted[i]) return false;
    }
    return true;
  };
  const int outermost = problem.DimensionCount() - static_cast<int>(constraint.outermost.size());
  return (level.keep & constraint.must_keep) == constraint.must_keep &&
         (level.keep & constraint.must_bypass) == 0 && in_place(constraint.innermost, 0) &&
         in_place(constraint.outermost, outermost);
}

}  // namespace

bool Satisfies(const Mapping& mapping, const MapspaceConstraints& constraints,
               const Problem& problem, const Architecture& architecture) {
  uint32_t kept = 0;  // by the parts of a memory so far
  for (int l = 0; l < architecture.LevelCount(); ++l) {
    const LevelConstraint& constraint = constraints.levels[l];
    if (!LevelObeys(mapping.levels[l], constraint, problem)) return false;
    if (!architecture.levels[l].is_part) kept = 0;
    if (architecture.FirstPart(l) == architecture.LastPart(l)) continue;
    if ((kept & mapping.levels[l].keep) != 0) return false;
    kept |= mapping.levels[l].keep;
    if ((kept & constraint.memory_must_keep) != constraint.memory_must_keep) return false;
  }
  return true;
}

}  // namespace bayloom::mapspace
