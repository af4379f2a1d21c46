// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bayloom/search/scenario.h"

namespace bayloom::python {

/// A configuration as Python has it: values by the names of their parameters.
using Values = std::map<std::string, space::Value>;

/// Functions of Python that constraints in code call. Python's garbage collector can see and drop
/// them (Traverse, Clear), because a function and what is made with it often hold each other.
struct Functions {
  std::vector<nanobind::callable> held;
};

/// A scenario together with the functions of its constraints.
class Scenario {
 public:
  /// Names of parameters, and what is called with their values: true where they are allowed.
  using Constraint = std::pair<std::vector<std::string>, nanobind::callable>;

  /// Each throws InputError.
  static Scenario Load(const std::string& path);
  static Scenario Parse(const std::string& text, const std::string& path,
                        std::vector<Constraint> constraints);

  const search::Scenario& get() const { return scenario_; }
  search::Scenario& get() { return scenario_; }
  Functions& functions() { return *functions_; }

 private:
  search::Scenario scenario_;
  std::shared_ptr<Functions> functions_ = std::make_shared<Functions>();
};

/// Throws InputError unless the values are a configuration that the known constraints allow.
space::Configuration ConfigurationOf(const space::Space& space, const Values& values);
nanobind::dict ToPython(const space::Space& space, const space::Configuration& configuration);

void BindScenario(nanobind::module_& module);

}  // namespace bayloom::python
