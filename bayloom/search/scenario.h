// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/optimizer/optimizer.h"
#include "bayloom/search/evaluator_options.h"
#include "bayloom/search/objective.h"
#include "bayloom/search/stop_rules.h"
#include "bayloom/space/configuration.h"
#include "bayloom/space/space.h"

namespace bayloom::search {

/// The column of HyperMapper's protocol that says whether a configuration works.
struct ValidityColumn {
  std::string name;
  std::string true_value;
};

/// What a search is about, as a file says it: which configurations there are, how one is
/// evaluated, what is looked for, and how much may be spent. docs/scenarios.md is its manual.
struct Scenario {
  std::string name;
  std::string text;  ///< the file, as read

  std::shared_ptr<const space::Space> space;
  /// All parameters' defaults, where they are known and allowed together: tried first.
  std::optional<space::Configuration> default_configuration;
  /// Configurations that are known to be good: tried next, in this order.
  std::vector<space::Configuration> known;

  /// Numbers that tell this task from others of its kind (sizes, mostly), for what is learnt from
  /// one to serve another.
  std::map<std::string, double> task;

  /// What is minimized or maximized; of several a Pareto front is sought.
  std::vector<Objective> objectives = {Objective()};

  /// Whether the outcomes of a configuration are those that are looked for, and not those of a
  /// lower fidelity (see OptimizerOptions::fidelity).
  bool IsFull(const space::Configuration& configuration) const;

  EvaluatorOptions evaluator;
  /// Of HyperMapper's files, where they have one.
  std::optional<ValidityColumn> validity;

  std::optional<int64_t> max_trials;
  std::optional<double> max_seconds;
  StopRules stop;

  std::string optimizer = "bayesian";
  optimizer::OptimizerOptions optimizer_options;

  /// The same scenario in each of its contexts, such as sizes of a problem, where it names some:
  /// what is searched in its place, together. Its own space then has the contexts' values as
  /// parameters, the last ones; in each of these they have a single value.
  std::vector<Scenario> contexts = {};
};

/// A scenario by itself, or its contexts.
std::vector<Scenario> EachContext(Scenario scenario);

/// Of a scenario that times a kernel: the seconds of the unit that its objective is in.
double KernelTimeUnit(const Scenario& scenario);

/// Reads a scenario file, whichever of these it is (see docs/scenarios.md):
///
///   - this project's own form, YAML or JSON
///   - a BaCO or HyperMapper scenario, JSON
///   - a Kernel Tuner T1 space, JSON
///
/// Throws InputError of one line, with line and field where a part of the file is wrong.
Scenario LoadScenario(const std::string& path);
/// The same from text; `path` names it in messages and is what relative paths start from.
Scenario ParseScenario(const std::string& text, const std::string& path);
/// The same, of one of its contexts if it has some of which one has this name.
Scenario ParseScenario(const std::string& text, const std::string& path, const std::string& name);

}  // namespace bayloom::search
