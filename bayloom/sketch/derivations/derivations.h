// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bayloom/base/registry.h"
#include "bayloom/sketch/derivations/derivation_choice.h"
#include "bayloom/target/target.h"
#include "bayloom/tensor/schedule.h"

namespace bayloom::sketch {

/// A derivation computes what a block computes by another algorithm: a primitive replaces the block
/// by other blocks, and a sketch of its own schedules those. Both are steps of one trace, so that
/// its design spaces are design spaces of the workload like any others.
///
/// Gives the schedules to go on with for the workload after the rules for inlining; none where the
/// derivation does not suit the block or does not promise to be faster.
using Derivation = std::function<std::vector<tensor::Schedule>(
    const tensor::Schedule& inlined, const std::string& block, const target::Target& target)>;

/// The derivations by name, in the order in which their spaces are listed:
///
///     winograd-2x2, winograd-4x4, winograd-6x6    3x3 convolutions, by tiles of so many outputs
base::Registry<Derivation>& Derivations();

/// The schedules of all chosen derivations of all blocks.
std::vector<tensor::Schedule> Derive(const tensor::Schedule& inlined, const target::Target& target,
                                     const DerivationChoice& choice = {});

// One kind of derivation per file.
Derivation WinogradDerivation(int64_t tile);
/// Whether one of them, in tiles of 2 or 4, is made for the block.
bool PromisesWinograd(const tensor::Schedule& schedule, const std::string& block);

}  // namespace bayloom::sketch
