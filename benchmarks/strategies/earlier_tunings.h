// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/target/target.h"
#include "bayloom/tuning/earlier_trials.h"

namespace bayloom {

/// What the trials on the target that these databases have teach, as `bayloom tune` learns it from
/// the user's store. Throws InputError where that is too little.
tuning::TrialPrior LearnFrom(const std::vector<std::string>& databases,
                             const target::Target& target);

}  // namespace bayloom
