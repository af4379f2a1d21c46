// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/target/target.h"
#include "bayloom/tensor/schedule.h"

namespace bayloom::sketch {

/// A derivation computes what a block computes by another algorithm: a primitive replaces the block
/// by other blocks, and a sketch of its own schedules those. Both are steps of one trace, so that
/// its design spaces are design spaces of the workload like any others.
///
/// The schedules of all derivations of all blocks, for the workload after the rules for inlining;
/// none where no derivation suits or promises to be faster.
std::vector<tensor::Schedule> Derive(const tensor::Schedule& inlined, const target::Target& target);

// One derivation per file. Each gives the schedules to go on with, or none.
std::vector<tensor::Schedule> DeriveWinograd(const tensor::Schedule& schedule,
                                             const std::string& block,
                                             const target::Target& target);

}  // namespace bayloom::sketch
