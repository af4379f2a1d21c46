// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/optimizer/local_search.h"

#include <utility>
#include <vector>

#include "bayloom/optimizer/techniques/heuristic_search.h"
#include "bayloom/optimizer/techniques/technique.h"

namespace bayloom::optimizer {

std::unique_ptr<Optimizer> MakeLocalSearch(std::shared_ptr<const space::Space> space,
                                           uint64_t seed) {
  std::vector<std::unique_ptr<Technique>> techniques;
  techniques.push_back(MakeHillClimb());
  return std::make_unique<HeuristicSearch>(std::move(space), std::move(techniques), seed);
}

}  // namespace bayloom::optimizer
