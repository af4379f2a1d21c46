// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "bayloom/base/single_line.h"
#include "bayloom/search/scenario_readers.h"

namespace bayloom::search {
namespace {

constexpr size_t kMaxContexts = 1000;

/// The parameter that tells contexts apart. It has a default, so that nothing else needs to say it.
std::unique_ptr<space::Parameter> ReadContextParameter(const std::string& name,
                                                       const yaml::YamlValue& values) {
  if (!values.IsList() || values.Items().empty()) values.Fail("expected a list of values");
  std::unique_ptr<space::Parameter> parameter = ReadListParameter(name, values);
  const Status set = parameter->SetDefault(parameter->ValueAt(0));
  if (!set) values.Fail(set.error().message);
  return parameter;
}

/// The same with one of its values.
std::unique_ptr<space::Parameter> OnlyWith(const space::Parameter& parameter,
                                           const space::Value& value) {
  std::unique_ptr<space::Parameter> only;
  if (parameter.kind() == space::ParameterKind::kCategorical) {
    only = space::MakeCategorical(parameter.name(), {std::get<std::string>(value)});
  } else {
    only = space::MakeOrdinal(parameter.name(),
                              std::vector{parameter.NumberAt(*parameter.CoordinateOf(value))});
  }
  (void)only->SetDefault(only->ValueAt(0));
  return only;
}

}  // namespace

std::string ContextValues::Text() const {
  std::string text;
  for (const auto& [name, value] : values) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", base::SingleLine(name),
                        base::SingleLine(space::ToString(value)));
  }
  return text;
}

std::vector<ContextValues> ReadContexts(const yaml::YamlValue& field) {
  std::vector<ContextValues> contexts(1);
  for (const auto& [name, values] : field.Entries()) {
    const std::unique_ptr<space::Parameter> parameter = ReadContextParameter(name, values);
    const auto count = static_cast<size_t>(parameter->Cardinality());
    if (contexts.size() * count > kMaxContexts) {
      values.Fail(fmt::format("expected at most {} contexts together", kMaxContexts));
    }
    std::vector<ContextValues> extended;
    for (const ContextValues& context : contexts) {
      for (size_t i = 0; i < count; ++i) {
        extended.push_back(context);
        extended.back().values.emplace_back(name, parameter->ValueAt(static_cast<double>(i)));
      }
    }
    contexts = std::move(extended);
  }
  if (contexts.front().values.empty()) field.Fail("expected at least one context");
  return contexts;
}

void AddContexts(const yaml::YamlValue& field, const ContextValues* only, SpaceReader& space) {
  for (const auto& [name, values] : field.Entries()) {
    if (name == "work" || name == "here") {
      values.Fail(
          fmt::format("'{{{}}}' is a folder in commands; give the context another name", name));
    }
    std::unique_ptr<space::Parameter> parameter = ReadContextParameter(name, values);
    if (only != nullptr) {
      const auto value =
          std::ranges::find(only->values, name, &std::pair<std::string, space::Value>::first);
      parameter = OnlyWith(*parameter, value->second);
    }
    space.Add(std::move(parameter), values);
  }
}

}  // namespace bayloom::search
