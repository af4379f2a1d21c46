// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/mapspace/model.h"
#include "bayloom/report/table.h"

namespace bayloom::report {

/// What each level does for each tensor it keeps, outermost level first: words of one instance, and
/// the energy of all.
Table TrafficTable(const mapspace::Evaluation& evaluation, const mapspace::Mapping& mapping,
                   const mapspace::Problem& problem, const mapspace::Architecture& architecture);

}  // namespace bayloom::report
