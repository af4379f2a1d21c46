// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

#include "bayloom/optimizer/sensitivity.h"
#include "bayloom/report/table.h"

namespace bayloom::report {

/// Parameters in the order of the ranking with both Sobol indices, half the widths of their
/// confidence intervals, and a bar as long as the total index.
Table SensitivityTable(const space::Space& space,
                       std::span<const optimizer::ParameterSensitivity> ranking);

}  // namespace bayloom::report
