// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>

#include "bayloom/base/result.h"
#include "bayloom/mapspace/constraints.h"
#include "bayloom/mapspace/directive_yaml.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "bayloom/yaml/yaml_value.h"

namespace bayloom::mapspace {
namespace {

Mapping UnitMapping(const Architecture& architecture) {
  Mapping mapping;
  mapping.levels.resize(architecture.levels.size());
  for (int l = 0; l < architecture.LevelCount(); ++l) {
    if (architecture.IsMesh(l)) mapping.levels[l].keep = 0;
  }
  return mapping;
}

/// All dimensions: those of the permutation first, the others (whose place then makes no
/// difference, or was left open) behind them.
std::array<int8_t, kMaxDimensions> FullOrder(const Directive& directive, const Problem& problem) {
  PartialOrder partial = ParsePermutation(directive, problem);
  std::vector<int> order = partial.innermost;
  for (int d = 0; d < problem.DimensionCount(); ++d) {
    if (std::ranges::find(partial.innermost, d) == partial.innermost.end() &&
        std::ranges::find(partial.outermost, d) == partial.outermost.end()) {
      order.push_back(d);
    }
  }
  order.insert(order.end(), partial.outermost.begin(), partial.outermost.end());
  std::array<int8_t, kMaxDimensions> full = kNaturalOrder;
  for (size_t i = 0; i < order.size(); ++i) full[i] = static_cast<int8_t>(order[i]);
  return full;
}

void ApplyDirective(const Directive& directive, const Problem& problem, MappingLevel& level) {
  if (directive.kind == Directive::Kind::kBypass) {
    for (const std::string& name : directive.keep) {
      level.keep |= uint32_t{1} << TensorNamed(directive, name, problem);
    }
    for (const std::string& name : directive.bypass) {
      level.keep &= ~(uint32_t{1} << TensorNamed(directive, name, problem));
    }
    return;
  }
  const std::array<int8_t, kMaxDimensions> order = FullOrder(directive, problem);
  const bool spatial = directive.kind == Directive::Kind::kSpatial;
  if (!spatial) level.order = order;
  for (const Directive::Factor& factor : directive.factors) {
    if (factor.at_most) {
      throw InputError(directive.where + "factors: a mapping says what factors are, not bounds");
    }
    const int d = FactorDimension(directive, factor, problem);
    const auto place = std::find(order.begin(), order.end(), d) - order.begin();
    (spatial ? level.spatial : level.temporal)[d] =
        factor.value == 0 ? problem.bounds[d] : factor.value;
    if (spatial && directive.split >= 0 && place >= directive.split) {
      level.along_y |= DimensionSet{1} << d;
    }
  }
}

Mapping ReadDocument(const yaml::YamlValue& document, const Problem& problem,
                     const Architecture& architecture) {
  const yaml::YamlValue list = document.At("mapping");
  Mapping mapping = UnitMapping(architecture);
  for (const Directive& directive : ReadDirectives(list)) {
    ApplyDirective(directive, problem, mapping.levels[TargetLevel(directive, architecture)]);
  }
  if (const Status status = CheckMapping(mapping, problem, architecture); !status) {
    list.Fail(status.error().message);
  }
  return mapping;
}

std::string FactorText(const Extents& factors, const Problem& problem) {
  std::string text;
  for (int d = 0; d < problem.DimensionCount(); ++d) {
    text += fmt::format("{}{}={}", d == 0 ? "" : " ", problem.dimensions[d], factors[d]);
  }
  return text;
}

std::string OrderText(const std::array<int8_t, kMaxDimensions>& order, const Problem& problem) {
  const bool letters = std::ranges::all_of(
      problem.dimensions, [](const std::string& name) { return name.size() == 1; });
  std::string text;
  for (int i = 0; i < problem.DimensionCount(); ++i) {
    text += (i == 0 || letters ? "" : ",") + problem.dimensions[order[i]];
  }
  return text;
}

/// Dimensions that spread along x come first; `split` says how many those are.
std::string SpatialText(const MappingLevel& level, const std::string& target,
                        const Problem& problem) {
  std::array<int8_t, kMaxDimensions> order = kNaturalOrder;
  const auto along_y =
      std::stable_partition(order.begin(), order.begin() + problem.DimensionCount(),
                            [&](int8_t d) { return !level.AlongY(d); });
  return fmt::format(
      "  - target: {}\n    type: spatial\n    factors: {}\n    permutation: {}\n    split: {}\n",
      target, FactorText(level.spatial, problem), OrderText(order, problem),
      along_y - order.begin());
}

}  // namespace

Mapping ReadMapping(const std::string& file, const Problem& problem,
                    const Architecture& architecture, const yaml::TemplateVariables& variables) {
  return ReadDocument(yaml::LoadTemplate(file, variables), problem, architecture);
}

Mapping ParseMappingYaml(const std::string& text, const std::string& file, const Problem& problem,
                         const Architecture& architecture) {
  return ReadDocument(yaml::YamlValue::Parse(text, file), problem, architecture);
}

std::string PrintMappingYaml(const Mapping& mapping, const Problem& problem,
                             const Architecture& architecture) {
  std::string text = "mapping:\n";
  for (int l = architecture.LevelCount() - 1; l >= 0; --l) {
    const MappingLevel& level = mapping.levels[l];
    const std::string& target = architecture.levels[l].name;
    text +=
        fmt::format("  - target: {}\n    type: temporal\n    factors: {}\n    permutation: {}\n",
                    target, FactorText(level.temporal, problem), OrderText(level.order, problem));
    const Fanout fanout = architecture.FanoutOf(l);
    if (fanout.x * fanout.y > 1) text += SpatialText(level, target, problem);
    std::vector<std::string> keep, bypass;
    for (int t = 0; t < problem.TensorCount(); ++t) {
      (level.Keeps(t) ? keep : bypass).push_back(problem.tensors[t].name);
    }
    text += fmt::format("  - target: {}\n    type: bypass\n    keep: [{}]\n    bypass: [{}]\n",
                        target, fmt::join(keep, ", "), fmt::join(bypass, ", "));
  }
  return text;
}

}  // namespace bayloom::mapspace
