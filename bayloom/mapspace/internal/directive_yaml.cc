// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/mapspace/internal/directive_yaml.h"

#include <regex>

namespace bayloom::mapspace {
namespace {

std::string Joined(const yaml::YamlValue& value, const std::string& separator) {
  std::string text;
  for (const std::string& word : value.Texts()) text += (text.empty() ? "" : separator) + word;
  return text;
}

/// "N=1 M4 C<=16 R=0", also separated by commas.
std::vector<Directive::Factor> ReadFactors(const yaml::YamlValue& value) {
  static const std::regex kFactor("^[\\s,]*([A-Za-z_]+)\\s*(<=|=)?\\s*([0-9]{1,15})(?![0-9])");
  static const std::regex kRest("^[\\s,]*$");
  std::vector<Directive::Factor> factors;
  std::string text = Joined(value, " ");
  for (std::smatch match; !std::regex_search(text, kRest); text = match.suffix()) {
    if (!std::regex_search(text, match, kFactor)) {
      value.Fail("'" + text + "' is no factor, such as 'C=16' or, in constraints, 'C<=16'");
    }
    factors.push_back({match[1], std::stoll(match[3]), match[2] == "<="});
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
  value.Fail("'" + type + "' is none of temporal, spatial, bypass, datatype");
}

}  // namespace

std::vector<Directive> ReadDirectives(const yaml::YamlValue& list) {
  std::vector<Directive> directives;
  for (const yaml::YamlValue& item : list.Items()) {
    Directive directive;
    directive.where = item.Where();
    item.RefuseMisspelt(
        {"type", "target", "name", "factors", "permutation", "split", "keep", "bypass"});
    directive.kind = ReadKind(item.At("type"));
    directive.target = item.AtAny({"target", "name"}).Text();
    if (const auto factors = item.Find("factors")) directive.factors = ReadFactors(*factors);
    if (const auto order = item.Find("permutation")) {
      directive.permutation = Joined(*order, ",");
    }
    if (const auto split = item.Find("split")) {
      directive.split = static_cast<int>(split->IntAtLeast(0));
    }
    if (const auto keep = item.Find("keep")) directive.keep = keep->Texts();
    if (const auto bypass = item.Find("bypass")) directive.bypass = bypass->Texts();
    directives.push_back(std::move(directive));
  }
  return directives;
}

}  // namespace bayloom::mapspace
