// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/cli/options/model_option.h"
#include "bayloom/cli/options/objective_option.h"
#include "bayloom/cli/options/store_option.h"
#include "bayloom/cli/options/target_option.h"
#include "bayloom/graph/network_plan.h"
#include "bayloom/graph/partial.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/tuning/tuned_network.h"

namespace bayloom::cli {

/// A network for inputs of one shape, with the programs for each of several targets.
struct ShapedNetwork {
  std::string label;  ///< as ModelShape::label
  std::vector<tuning::TunedNetwork> targets;
};

/// The arguments that name a model and the records to use for it.
struct NetworkOption {
  ModelOption model;
  TargetOption target;
  std::string database;
  StoreOption store;
  std::string effort = "normal";
  std::optional<std::string> derivations;
  std::optional<std::string> divisions;
  std::string branches = "in-turn";
  PreferenceOption preference;

  void AddTo(CLI::App& command);
  /// The model with the best recorded programs, chosen ones for tasks without records; says on
  /// standard error how many there are of each. Throws InputError for what cannot be used, a
  /// database that is not there among it.
  tuning::TunedNetwork Load() const;
  /// The same for all shapes, and for each of the targets that --target lists, whose code runs
  /// elsewhere.
  std::vector<ShapedNetwork> LoadForAll() const;
  /// The same for the parts of a network, in order, labelled "part 1" and so on. Their graphs are
  /// moved.
  std::vector<ShapedNetwork> LoadParts(graph::PartialNetwork& network) const;

  /// As --branches says.
  graph::Branches Branches() const;

  /// The same network as if nothing were recorded.
  tuning::TunedNetwork ZeroTrial(const tuning::TunedNetwork& network) const;

 private:
  /// The networks that `load` returns for the labels. `runs_here`: the programs that are chosen are
  /// run once, to see that they are right.
  std::vector<ShapedNetwork> LoadFor(const std::vector<std::string>& labels,
                                     const std::function<graph::TaskGraph(size_t)>& load,
                                     const std::vector<target::Target>& targets,
                                     bool runs_here) const;
  std::vector<ShapedNetwork> LoadShapes(const std::vector<ModelShape>& shapes,
                                        const std::vector<target::Target>& targets,
                                        bool runs_here) const;
  tuning::TunedNetwork Choose(const graph::TaskGraph& network, const target::Target& wanted,
                              record::Store* records, tuning::UserStore& user_store, bool runs_here,
                              tuning::ConstantForms* forms) const;
};

}  // namespace bayloom::cli
