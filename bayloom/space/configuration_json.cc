// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/space/configuration_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "bayloom/base/single_line.h"

namespace bayloom::space {
namespace {

std::optional<std::vector<int64_t>> NumbersFrom(const nlohmann::json& json) {
  std::vector<int64_t> numbers;
  for (const nlohmann::json& item : json) {
    if (!item.is_number_integer()) return std::nullopt;
    numbers.push_back(item.get<int64_t>());
  }
  return numbers;
}

std::optional<Value> ValueFrom(const nlohmann::json& json, const Parameter& parameter) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_boolean()) {
    const std::string lower = json.get<bool>() ? "true" : "false";
    if (parameter.CoordinateOf(lower).ok()) return lower;
    return json.get<bool>() ? "True" : "False";
  }
  if (json.is_number_float()) return json.get<double>();
  if (json.is_number()) return json.get<int64_t>();
  if (!json.is_array()) return std::nullopt;
  return NumbersFrom(json);
}

}  // namespace

nlohmann::json ToJson(const Value& value) {
  return std::visit([](const auto& v) -> nlohmann::json { return v; }, value);
}

nlohmann::json ToJson(const Space& space, const Configuration& configuration) {
  nlohmann::json json = nlohmann::json::object();
  for (int i = 0; i < space.size(); ++i) {
    if (!space.IsActive(configuration, i)) continue;
    json[space.parameter(i).name()] = ToJson(space.ValueOf(configuration, i));
  }
  return json;
}

Result<Configuration> FromJson(const Space& space, const nlohmann::json& json) {
  if (!json.is_object()) return Error{"a configuration is an object of names and values"};
  std::map<std::string, Value> values;
  for (const auto& [name, item] : json.items()) {
    const int i = space.IndexOf(name);
    if (i < 0) return Error{fmt::format("there is no parameter '{}'", base::SingleLine(name))};
    if (item.is_null()) continue;
    std::optional<Value> value = ValueFrom(item, space.parameter(i));
    if (!value) {
      return Error{fmt::format(
          "parameter '{}': a value is a number, a text or a list of whole numbers", name)};
    }
    values.emplace(name, std::move(*value));
  }
  return space.Parse(values);
}

}  // namespace bayloom::space
