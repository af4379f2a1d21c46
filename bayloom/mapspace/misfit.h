// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "bayloom/mapspace/mapspace.h"
#include "bayloom/mapspace/model.h"

namespace bayloom::mapspace {

/// The constraint, room or capacity that leaves no mapping, one line; empty if none of them does by
/// itself. Looks at the least that factors can be at each level on its own, and at capacities only
/// where nothing is sparse.
std::string WhyNoneFits(const Mapspace& mapspace, const AnalyticalModel& model);

/// The same where several limits leave none together: what random mappings fail by.
std::string WhyFewFit(const Mapspace& mapspace, const AnalyticalModel& model);

}  // namespace bayloom::mapspace
