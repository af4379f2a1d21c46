// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/mapspace/model.h"
#include "bayloom/mapspace/uneven.h"
#include "bayloom/record/run_record.h"

namespace bayloom::accelerator {

/// What a search for mappings of one operation was asked, as its run in a store says it.
struct StoredSearch {
  mapspace::Problem problem;
  mapspace::Architecture architecture;
  std::vector<mapspace::Directive> constraints;  ///< besides the architecture's own
  mapspace::ReuseCounting counting = mapspace::ReuseCounting::kExact;
  std::string evaluator;  ///< "model", "timeloop" or a command

  mapspace::AnalyticalModel Model() const { return {problem, architecture, counting}; }
};

/// Throws InputError where the run is none, or was damaged.
StoredSearch ReadStoredSearch(const record::RunRecord& run);

/// What a search for mappings of a network's layers was asked (NetworkMapping::KeepResult).
struct StoredNetwork {
  struct Layer {
    std::string name;
    int count = 1;
    std::string run;  ///< what identifies it in stores
  };
  std::vector<Layer> layers;
  mapspace::Architecture architecture;
  std::vector<mapspace::Directive> constraints;
  mapspace::ReuseCounting counting = mapspace::ReuseCounting::kExact;
  mapspace::MappingKind mappings = mapspace::MappingKind::kEven;
  std::string evaluator;
};

/// Throws InputError where the run is none, or was damaged.
StoredNetwork ReadStoredNetwork(const record::RunRecord& run);

}  // namespace bayloom::accelerator
