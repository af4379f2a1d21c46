// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>
#include <vector>

#include "bayloom/optimizer/transfer.h"
#include "bayloom/record/store.h"
#include "bayloom/run/learn_from.h"
#include "bayloom/search/scenario.h"

namespace bayloom::search {

/// What earlier searches have to say to a search of a scenario.
struct EarlierSearches {
  optimizer::TransferOptions transfer;  ///< for OptimizerOptions::transfer
  /// For a person, a line each: what is learnt from, and what of it is left out or made up.
  std::vector<std::string> notes;
};

/// Learns from files: databases of searches, and recorded spaces (see RecordedSpace).
///
/// Of a database, the searches count that look for the same, have a parameter of the same name and
/// a trial with a value. What else it keeps is passed over, and so are in `own_database`, the one
/// that this search is recorded in, searches of the very same scenario, which resuming is for. A
/// recorded space counts as if the scenario's space had been searched.
///
/// Parameters are matched by name. Where all that are in both have the same domains, new ones have
/// their defaults (else their first values) in what was tried earlier; otherwise values are
/// compared relative to their ranges. Tasks are described by the numbers that the scenario calls
/// its `task`: by their logarithms where they are positive, 0 what one lacks.
///
/// Throws InputError for a file that is neither, and for a recorded space that has no configuration
/// of the scenario with a value.
EarlierSearches LearnFromSearches(std::span<const std::string> files, const std::string& method,
                                  const Scenario& scenario, const std::string& own_database = "");

/// The same of all sources, told to the scenario's optimizer; the notes. Throws InputError also
/// where the files have nothing to learn from, and for an optimizer that cannot learn.
std::vector<std::string> TeachOptimizer(const run::LearnFrom& sources, const std::string& method,
                                        const std::string& own_database, Scenario& scenario);

}  // namespace bayloom::search
