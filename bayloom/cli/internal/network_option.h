// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/cli/internal/model_option.h"
#include "bayloom/cli/internal/store_option.h"
#include "bayloom/cli/internal/target_option.h"
#include "bayloom/graph/tasks.h"
#include "bayloom/tuning/tuned_network.h"

namespace bayloom::cli {

/// The arguments that name a model and the records to use for it.
struct NetworkOption {
  ModelOption model;
  TargetOption target;
  std::string database;
  StoreOption store;
  std::string effort = "normal";

  void AddTo(CLI::App& command);
  /// The model with the best recorded programs, chosen ones for tasks without records; says on
  /// standard error how many there are of each. Throws InputError for what cannot be used, a
  /// database that is not there among it.
  tuning::TunedNetwork Load() const;
  /// The same for each of the targets that --target lists, whose code runs elsewhere.
  std::vector<tuning::TunedNetwork> LoadForAll() const;

  /// The same network as if nothing were recorded.
  tuning::TunedNetwork Untuned(const tuning::TunedNetwork& network) const;

 private:
  std::vector<tuning::TunedNetwork> LoadFor(const std::vector<target::Target>& targets,
                                            bool runs_here) const;
};

}  // namespace bayloom::cli
