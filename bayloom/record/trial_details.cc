// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/trial_details.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "bayloom/base/json.h"
#include "bayloom/record/json_text.h"

namespace bayloom::record {

using Json = nlohmann::json;

std::string DetailsToText(const std::vector<trial::NamedValue>& values) {
  std::string members;
  for (const trial::NamedValue& value : values) {
    const std::string number = ExactText(value.value);
    if (number.empty()) continue;
    if (!members.empty()) members += ',';
    members += Json(value.name).dump(-1, ' ', false, Json::error_handler_t::replace);
    members += ':' + number;
  }
  return members.empty() ? members : '{' + members + '}';
}

std::optional<std::vector<trial::NamedValue>> DetailsFromText(std::string_view text) {
  std::vector<trial::NamedValue> values;
  if (text.empty()) return values;
  const Json json = base::ParseJsonOrDiscard(text);
  if (!json.is_object()) return std::nullopt;
  for (const auto& [name, value] : json.items()) {
    if (!value.is_number()) return std::nullopt;
    values.push_back({name, value.get<double>()});
  }
  return values;
}

std::string ExactText(double number) {
  return std::isfinite(number) ? fmt::format("{}", number) : std::string();
}

}  // namespace bayloom::record
