// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>

#include "bayloom/external/scenario.h"
#include "bayloom/optimizer/transfer.h"
#include "bayloom/record/store.h"

namespace bayloom::tuning {

/// What the searches in these databases have to say to a search of another scenario
/// (OptimizerOptions::transfer): those that look for the same, have a parameter of the same name
/// and a trial with a value. What else a database keeps is passed over, and so are earlier searches
/// of the very same scenario, which resuming is for. Tasks are described by the numbers that the
/// scenario calls its `task`: by their logarithms where they are positive, 0 what one lacks.
///
/// Throws InputError for a file that is no database.
optimizer::TransferOptions LearnFromSearches(std::span<const std::string> databases,
                                             const std::string& method,
                                             const external::Scenario& scenario);

}  // namespace bayloom::tuning
