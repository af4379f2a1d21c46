// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>

#include "bayloom/optimizer/optimizer.h"

namespace bayloom::optimizer {

/// Hill climbing over feasible neighbours to the first better one, which starts again from a random
/// place where none is left: what a search has to beat that learns from its trials.
std::unique_ptr<Optimizer> MakeLocalSearch(std::shared_ptr<const space::Space> space,
                                           uint64_t seed);

}  // namespace bayloom::optimizer
