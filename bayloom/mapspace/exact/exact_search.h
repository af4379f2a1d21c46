// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/mapspace/mapping_evaluator.h"
#include "bayloom/mapspace/mapspace.h"
#include "bayloom/mapspace/model.h"

namespace bayloom::mapspace {

/// What became of the partial mappings of an exact search.
struct ExactCounts {
  double made = 0;       ///< partial mappings
  double too_large = 0;  ///< cut off: their tiles do not fit
  double bounded = 0;    ///< cut off: no completion is better than the best mapping known
  double dominated = 0;  ///< cut off: another one is at least as good however both go on
  double finished = 0;   ///< mappings that were not cut off
};

/// A partial mapping that was cut off because of its bound, so that it can be checked.
struct BoundedPartial {
  /// Levels from `levels_decided` on are as in the mapspace's skeleton.
  Mapping mapping;
  int levels_decided = 0;
  double bound = 0;  ///< see ExactResult::bound
};

struct ExactResult {
  /// The best mapping that was found better than the one given; its value is by the model.
  std::optional<Mapping> best;
  double value = 0;
  /// No mapping of the mapspace has less. In the objective's unit (energy: pJ a multiply-
  /// accumulate).
  double bound = 0;
  /// Whether the search went through everything; else it was interrupted, and the bound is that of
  /// what was left.
  bool is_whole = false;
  ExactCounts counts;
  std::vector<BoundedPartial> sample;  ///< of those cut off by bounds
};

struct ExactOptions {
  MapObjective objective = MapObjective::kEnergy;
  /// A mapping's value that is known; infinite: none is. Only better ones are looked for.
  double known_value = 0;
  std::function<bool()> interrupted = [] { return false; };
  /// Partial mappings of one level that are kept before the search is given up (a kilobyte each).
  int64_t max_partials = 4'000'000;
  /// Partial mappings that are made before the search is given up; 0: any number.
  int64_t max_made = 0;
  int sample = 32;
};

/// Why nothing can be proved of these mappings, in a line; empty if it can: one architecture that
/// makes no use of zeros, one output that no window slides over, counts of ReuseCounting::kExact
/// where windows slide.
std::string WhyNotExact(const Mapspace& mapspace, const AnalyticalModel& model);

/// The least value of all mappings of the mapspace that fit.
///
/// Mappings are built from the multipliers outwards, level by level: spatial loops, temporal loops
/// one by one, tensors kept. Of two partial mappings with the same tile, one is dropped whose costs
/// cannot become less than the other's in all that follows (dominance); one is dropped whose
/// completion costs at least as much as the best mapping known, counting what it costs already and
/// that each level outside gets every word at least once (bound). Loops whose order decides
/// nothing, because every tile inside has been moved, are not permuted. What is dropped is the same
/// idea as that of the Turbo-Charged Mapper (Andrulis et al. 2026), which goes from one loop order
/// to the next instead.
ExactResult SearchExactly(const Mapspace& mapspace, const AnalyticalModel& model,
                          const ExactOptions& options);

}  // namespace bayloom::mapspace
