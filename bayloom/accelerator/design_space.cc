// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/accelerator/design_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include "bayloom/base/file.h"
#include "bayloom/base/random.h"
#include "bayloom/base/result.h"
#include "bayloom/mapspace/timeloop_yaml.h"
#include "bayloom/space/evaluate_expression.h"
#include "bayloom/yaml/yaml_value.h"

namespace bayloom::accelerator {
namespace {

constexpr std::string_view kOpening = "$(";

/// Calls back with every line and its number from 1, ends of lines left out.
template <typename Visit>
void ForEachLine(std::string_view text, const Visit& visit) {
  int number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end), ++number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// The file with all top-level sections but those of a scenario as comments, so that lines keep
/// their numbers.
std::string ScenarioText(const std::string& text) {
  constexpr std::array<std::string_view, 6> kSections = {"name",   "parameters", "constraints",
                                                         "budget", "optimizer",  "seed"};
  std::string kept;
  bool is_kept = true;
  ForEachLine(text, [&](std::string_view line, int) {
    const bool begins_section =
        !line.empty() && std::string_view(" #-\t\r").find(line[0]) == std::string_view::npos;
    if (begins_section) {
      const std::string_view key = line.substr(0, line.find_first_of(": \t"));
      is_kept = std::ranges::find(kSections, key) != kSections.end();
    }
    kept += fmt::format("{}{}\n", is_kept ? "" : "# ", line);
  });
  return kept;
}

/// Where the expression ends whose text begins at `begin`: at its closing parenthesis; npos if
/// there is none.
size_t EndOfExpression(std::string_view line, size_t begin) {
  int open = 1;
  for (size_t i = begin; i < line.size(); ++i) {
    open += line[i] == '(' ? 1 : line[i] == ')' ? -1 : 0;
    if (open == 0) return i;
  }
  return std::string_view::npos;
}

/// Where a comment begins, or the line's end.
size_t CommentOf(std::string_view line) {
  if (line.starts_with('#')) return 0;
  return std::min(line.find(" #"), line.size());
}

using ValuesByName = std::map<std::string, space::Value>;

/// What an expression stands for. Throws InputError without a place.
std::string Evaluate(const std::string& expression, const ValuesByName& values) {
  if (const auto found = values.find(expression); found != values.end()) {
    return space::ToString(found->second);
  }
  const Result<double> number = space::EvaluateExpression(expression, values);
  if (!number) throw InputError(number.error().message);
  return space::ToString(std::floor(*number) == *number && std::abs(*number) < 0x1p53
                             ? space::Value(static_cast<int64_t>(*number))
                             : space::Value(*number));
}

std::string Substitute(const std::string& text, const std::string& path,
                       const ValuesByName& values) {
  std::string result;
  ForEachLine(text, [&](std::string_view line, int number) {
    const auto fail = [&](std::string_view what) {
      throw InputError(fmt::format("{}:{}: {}", path, number, what));
    };
    size_t at = 0;
    const size_t comment = CommentOf(line);
    for (size_t begin = line.find(kOpening); begin < comment; begin = line.find(kOpening, at)) {
      const size_t first = begin + kOpening.size();
      const size_t end = EndOfExpression(line, first);
      if (end == std::string_view::npos) fail("'$(' without its ')'");
      result += line.substr(at, begin - at);
      try {
        result += Evaluate(std::string(line.substr(first, end - first)), values);
      } catch (const InputError& error) {
        fail(error.what());
      }
      at = end + 1;
    }
    result += line.substr(at);
    result += '\n';
  });
  return result;
}

}  // namespace

DesignSpace DesignSpace::Parse(const std::string& text, const std::string& path) {
  const yaml::YamlValue top = yaml::YamlValue::Parse(text, path);
  top.AllowOnly({"name", "technology", "parameters", "constraints", "architecture", "arch",
                 "budget", "optimizer", "seed"});
  top.At("parameters");
  top.AtAny({"architecture", "arch"});
  DesignSpace design;
  design.text_ = text;
  design.path_ = path;
  if (const auto technology = top.Find("technology")) design.technology_ = technology->Text();
  design.scenario_ = search::ParseScenario(ScenarioText(text), path);
  base::RandomStream random(0);
  const auto& standard = design.scenario_.default_configuration;
  const std::optional<space::Configuration> first =
      standard ? standard : design.space().Sample(random);
  if (first) design.TextOf(*first);
  if (standard) {
    // Whether it is an architecture does not depend on what its units cost.
    design.ArchitectureOf(*standard, mapspace::ShippedTechnology("45nm"));
  }
  return design;
}

DesignSpace DesignSpace::Load(const std::string& path) { return Parse(base::ReadFile(path), path); }

std::string DesignSpace::TextOf(const space::Configuration& configuration) const {
  ValuesByName values;
  for (int i = 0; i < space().size(); ++i) {
    values[space().parameter(i).name()] = space().ValueOf(configuration, i);
  }
  return Substitute(text_, path_, values);
}

mapspace::Architecture DesignSpace::ArchitectureOf(const space::Configuration& configuration,
                                                   const mapspace::Technology& technology) const {
  return mapspace::ParseArchitectureYaml(TextOf(configuration), path_, &technology);
}

}  // namespace bayloom::accelerator
