// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bayloom/search/code_constraint.h"
#include "bayloom/space/space.h"
#include "bayloom/yaml/yaml_value.h"

namespace bayloom::search {

/// Builds a space from what a file says, so that what is wrong is said at its place in the file.
class SpaceReader {
 public:
  /// The constraints in code are added to those of the file. They must outlive the reader.
  explicit SpaceReader(std::span<const CodeConstraint> constraints)
      : code_constraints_(constraints) {}

  /// A reader of another space with the same constraints in code.
  SpaceReader Another() const { return SpaceReader(code_constraints_); }

  void Add(std::unique_ptr<space::Parameter> parameter, const yaml::YamlValue& field);
  /// A constraint in this project's language. Parameters may follow that it speaks of.
  void AddConstraint(const std::string& text, const yaml::YamlValue& field);
  /// When the parameter is active: a constraint, or a list of them, all of which must hold.
  void AddCondition(const std::string& name, const yaml::YamlValue& field);
  /// `field` is blamed where the constraints contradict each other.
  std::shared_ptr<const space::Space> Finish(const yaml::YamlValue& field);

 private:
  struct Constraint {
    std::string text;
    yaml::YamlValue field;
  };

  space::Space::Builder builder_;
  int parameters_ = 0;
  struct Condition {
    std::string name;
    yaml::YamlValue field;
  };
  std::vector<Constraint> constraints_;
  std::vector<Condition> conditions_;
  std::span<const CodeConstraint> code_constraints_;
};

}  // namespace bayloom::search
