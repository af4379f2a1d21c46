// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/directive_yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "bayloom/base/single_line.h"
#include "bayloom/mapspace/problem.h"
#include "bayloom/space/value.h"

namespace bayloom::mapspace {
namespace {

/// Of all factors of a level, or of a permutation.
constexpr size_t kMaxListBytes = 2000;

std::string Joined(const yaml::YamlValue& value, const std::string& separator) {
  std::string text;
  for (const std::string& word : value.Texts()) {
    text += (text.empty() ? "" : separator) + word;
    if (text.size() > kMaxListBytes) {
      value.Fail(fmt::format("expected at most {} bytes", kMaxListBytes));
    }
  }
  return text;
}

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kBlanksAndCommas = " \t\r\n,";

/// Takes what the text begins with, as far as it consists of these characters.
std::string_view Take(std::string_view& text, std::string_view characters) {
  const std::string_view taken =
      text.substr(0, std::min(text.find_first_not_of(characters), text.size()));
  text.remove_prefix(taken.size());
  return taken;
}

/// Takes "C=16", "C 16" or "C<=16" from the text; nullopt for anything else.
std::optional<Directive::Factor> TakeFactor(std::string_view& text) {
  const std::string_view dimension = Take(text, kLetters);
  Take(text, kBlanks);
  const std::string_view relation = Take(text, "<=");
  Take(text, kBlanks);
  const std::string_view digits = Take(text, kDigits);
  if (dimension.empty() || digits.empty() || digits.size() > 15) return std::nullopt;
  if (!relation.empty() && relation != "=" && relation != "<=") return std::nullopt;
  int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return Directive::Factor{std::string(dimension), value, relation == "<="};
}

/// "N=1 M4 C<=16 R=0", also separated by commas.
std::vector<Directive::Factor> ReadFactors(const yaml::YamlValue& value) {
  const std::string text = Joined(value, " ");
  std::vector<Directive::Factor> factors;
  std::string_view rest = text;
  Take(rest, kBlanksAndCommas);
  while (!rest.empty()) {
    const std::string_view begin = rest;
    std::optional<Directive::Factor> factor = TakeFactor(rest);
    if (!factor) {
      value.Fail(fmt::format("'{}' is no factor, such as 'C=16' or, in constraints, 'C<=16'",
                             base::SingleLine(begin)));
    }
    factors.push_back(*std::move(factor));
    Take(rest, kBlanksAndCommas);
  }
  return factors;
}

Directive::Kind ReadKind(const yaml::YamlValue& value) {
  const std::string type = value.Text();
  if (type == "temporal") return Directive::Kind::kTemporal;
  if (type == "spatial") return Directive::Kind::kSpatial;
  if (type == "bypass" || type == "datatype" || type == "dataspace") {
    return Directive::Kind::kBypass;
  }
  value.Fail("'" + base::SingleLine(type) + "' is not one of temporal, spatial, bypass, datatype");
}

/// A mesh has spatial loops only, but Timeloop writes the others, too.
void CheckSaysNothing(const yaml::YamlValue& item, const Directive& directive) {
  const bool has_loops = std::ranges::any_of(
      directive.factors, [](const Directive::Factor& factor) { return factor.value != 1; });
  if (!has_loops && directive.keep.empty()) return;
  item.Fail(fmt::format("'{}' is a mesh, which keeps nothing and has spatial loops only",
                        directive.target));
}

bool AsksForNothing(const yaml::YamlValue& value) {
  double number = 1;
  return value.IsList()
             ? value.Items().empty()
             : value.IsScalar() && space::ParseNumber(value.Text(), number) && number == 0;
}

}  // namespace

std::vector<std::string> PlacesOf(const yaml::YamlValue& map,
                                  std::initializer_list<std::string_view> keys) {
  std::vector<std::string> places;
  for (const std::string_view key : keys) {
    std::string other(key);
    std::ranges::replace(other, '-', '_');
    const auto value = map.FindAny({key, other});
    if (value && !AsksForNothing(*value))
      places.push_back(fmt::format("{}'{}'", value->Where(), key));
  }
  return places;
}

Directive ReadDirective(const yaml::YamlValue& item, Directive::Kind kind, std::string target) {
  Directive directive;
  directive.where = item.Where();
  directive.kind = kind;
  directive.target = std::move(target);
  if (const auto factors = item.Find("factors")) directive.factors = ReadFactors(*factors);
  if (const auto order = item.Find("permutation")) directive.permutation = Joined(*order, ",");
  if (const auto split = item.Find("split")) {
    directive.split = static_cast<int>(std::min<int64_t>(split->IntAtLeast(0), kMaxDimensions));
  }
  if (const auto keep = item.Find("keep")) directive.keep = keep->Names();
  if (const auto bypass = item.Find("bypass")) directive.bypass = bypass->Names();
  directive.without_effect =
      PlacesOf(item, {"no-temporal-reuse", "no-multicast-no-reduction", "no-link-transfer",
                      "no-reuse", "no-coalesce", "rmw-first-update", "min-parallelism",
                      "min-utilization", "max-overbooked-proportion-for-confidence"});
  return directive;
}

std::vector<Directive> ReadDirectives(const yaml::YamlValue& list) {
  std::vector<Directive> directives;
  for (const yaml::YamlValue& item : list.Items()) {
    item.RefuseMisspelt(
        {"type", "target", "name", "factors", "permutation", "split", "keep", "bypass"});
    Directive directive =
        ReadDirective(item, ReadKind(item.At("type")), item.AtAny({"target", "name"}).Name());
    if (directive.kind == Directive::Kind::kSpatial || !IsTimeloopMesh(directive.target)) {
      directives.push_back(std::move(directive));
    } else {
      CheckSaysNothing(item, directive);
    }
  }
  return directives;
}

}  // namespace bayloom::mapspace
