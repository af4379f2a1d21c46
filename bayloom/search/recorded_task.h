// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "bayloom/optimizer/transfer.h"
#include "bayloom/search/scenario.h"

namespace bayloom::search {

/// A recorded space as an earlier task with the scenario's own space: parameters that the records
/// lack have their defaults (else their first values), parameters that the scenario lacks are
/// ignored, and so are configurations that it does not have. `notes` says what of that there was.
///
/// The value is the measurement of the objective's name, or else the file's first objective. Throws
/// InputError where no configuration with a value remains.
optimizer::EarlierTask RecordedTask(const std::string& path, const Scenario& scenario,
                                    std::vector<std::string>& notes);

/// "'unroll' is 4 and 'order' is [0, 1, 2] in what was tried earlier": the parameters of these
/// places, which are new.
std::string NewParametersText(const space::Space& space, const std::vector<int>& parameters);

}  // namespace bayloom::search
