// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/search/objective.h"
#include "bayloom/search/scenario_search.h"
#include "bayloom/space/space.h"

namespace bayloom::search {

/// What was found in each context of a scenario: the best configuration of each, and what others
/// that did well are worth in all of them. Configurations are of the space of any context, whose
/// own values do not matter.
struct ContextTable {
  struct Row {
    std::string name;  ///< "M=64 N=128"
    /// Of each parameter that tells contexts apart, the place of its value.
    std::vector<int> place = {};
    std::optional<space::Configuration> best = {};  ///< nullopt: nothing worked
    double value = 0;                               ///< of the best
    /// Of the default configuration, else of the first that worked.
    std::optional<double> first = {};
    int64_t trials = 0;
  };
  /// A configuration that is among the best of some context.
  struct Candidate {
    space::Configuration configuration;
    /// By row: how many times as good as it the row's best is, 1 for the best itself; nullopt where
    /// it was not tried, infinity where it failed.
    std::vector<std::optional<double>> losses;
  };

  std::string name;  ///< the scenario's
  Objective objective;
  /// What tells contexts apart, with all values: the last parameters of the joint space.
  std::vector<std::string> contexts;
  std::shared_ptr<const space::Space> joint;
  std::vector<Row> rows;
  std::vector<Candidate> candidates;

  /// The parameters of the joint space that are no contexts.
  int parameters() const { return joint->size() - static_cast<int>(contexts.size()); }
  const space::Parameter& ContextParameter(size_t i) const {
    return joint->parameter(parameters() + static_cast<int>(i));
  }
  /// The values of a configuration's active parameters but for the contexts', by name.
  nlohmann::json ValuesOf(const space::Configuration& configuration) const;
};

/// Of a search of contexts (ScenarioSearch::AreContexts). `name`: the scenario's.
ContextTable TableOf(const ScenarioSearch& search, const std::string& name);

}  // namespace bayloom::search
