// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <span>
#include <string>

#include "bayloom/run/learn_from.h"
#include "bayloom/target/target.h"
#include "bayloom/tuning/earlier_trials.h"
#include "bayloom/tuning/user_store.h"

namespace bayloom::tuning {

/// Whether the sources are one file that is no database: that of a pre-trained cost model. Throws
/// InputError where it cannot be read.
bool IsOfModel(const run::LearnFrom& sources);

/// The cost model that a new tuning on the target begins with, by what the user's store or
/// databases of other tunings have measured there. nullopt where they are not among the sources,
/// and where the store knows too little, is null, or an emulator runs the programs. Throws
/// InputError where databases have too little, and where more than one model is asked for.
std::optional<TrialPrior> LearnFrom(const run::LearnFrom& sources, const target::Target& target,
                                    UserStore* store);

/// What databases of tunings have measured on the target teaches, as UserStore::Prior learns it
/// from the user's store. Throws InputError where that is too little.
TrialPrior LearnFromDatabases(std::span<const std::string> databases, const target::Target& target);

}  // namespace bayloom::tuning
