// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/search/space_reader.h"

#include <fmt/format.h>

#include <utility>

#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/text_limits.h"
#include "bayloom/search/scenario_readers.h"

namespace bayloom::search {

void SpaceReader::Add(std::unique_ptr<space::Parameter> parameter, const yaml::YamlValue& field) {
  const std::string& name = parameter->name();
  if (name.size() > base::kMaxNameBytes || base::SingleLine(name, base::kMaxNameBytes) != name) {
    field.Fail(fmt::format("a parameter's name has at most {} bytes and no control characters",
                           base::kMaxNameBytes));
  }
  yaml::WithPlace(field, [&] { builder_.Add(std::move(parameter)); });
  ++parameters_;
}

void SpaceReader::AddConstraint(const std::string& text, const yaml::YamlValue& field) {
  constraints_.push_back({text, field});
}

void SpaceReader::AddCondition(const std::string& name, const yaml::YamlValue& field) {
  conditions_.push_back({name, field});
}

std::shared_ptr<const space::Space> SpaceReader::Finish(const yaml::YamlValue& field) {
  if (parameters_ == 0) field.Fail("expected at least one parameter");
  for (const auto& [name, condition] : conditions_) {
    std::string text;
    if (condition.IsList()) {
      for (const yaml::YamlValue& item : condition.Items()) {
        text += fmt::format("{}({})", text.empty() ? "" : " and ", item.Text());
      }
    } else {
      text = condition.Text();
    }
    if (Status added = builder_.AddCondition(name, text); !added) {
      condition.Fail(added.error().message);
    }
  }
  for (const Constraint& constraint : constraints_) {
    if (Status added = builder_.AddConstraint(constraint.text); !added) {
      constraint.field.Fail(added.error().message);
    }
  }
  for (const CodeConstraint& constraint : code_constraints_) {
    builder_.AddConstraint(constraint.parameters, constraint.holds);
  }
  return yaml::WithPlace(field, [&] {
    Result<std::shared_ptr<const space::Space>> space = builder_.Build();
    if (!space) throw InputError(space.error().message);
    return *std::move(space);
  });
}

}  // namespace bayloom::search
