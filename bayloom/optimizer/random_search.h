// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>

#include "bayloom/optimizer/optimizer.h"

namespace bayloom::optimizer {

/// Draws feasible configurations without replacement, by the space's sampling method. Outcomes
/// change nothing.
std::unique_ptr<Optimizer> MakeRandomSearch(std::shared_ptr<const space::Space> space,
                                            space::SamplingMethod method, uint64_t seed);

}  // namespace bayloom::optimizer
