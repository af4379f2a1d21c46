// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/mapspace/cores/core_model.h"
#include "bayloom/mapspace/mapper.h"

namespace bayloom::mapspace {

struct CoreMapperOptions {
  std::string mapper = "genetic";
  /// Of all splits together; `objective` is what is minimized.
  MapperOptions search = {.run = {.budget = {.trials = 20000}}};
  ReuseCounting counting = ReuseCounting::kExact;
  /// Splits whose mappings are searched for, those that the mapping for one core does best on.
  int max_searched = 3;
};

/// A problem's split over cores with the mapping of one core's part.
struct CoreMapping {
  CoreSplit split;
  Problem part;
  Mapping mapping;
  CoreCost cost;
};

/// Searches for the split of a problem and the mapping of its parts that cost least.
/// `single` maps the whole problem onto one core: nothing worse is returned, and searches of parts
/// begin with it. Every split is rated by that mapping, adapted to its parts; those rated best are
/// searched. `constraints` as of a Mapspace; a split whose parts they leave no mapping is left out.
CoreMapping MapOntoCores(const Problem& problem, const Architecture& architecture,
                         std::span<const Directive> constraints, const NetworkOnChip& network,
                         const Mapping& single, const CoreMapperOptions& options);

}  // namespace bayloom::mapspace
