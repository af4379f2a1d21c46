#pragma once

#include <span>

#include "bayloom/optimizer/sensitivity.h"
#include "bayloom/report/table.h"

namespace bayloom {

/// Parameters in the order of the ranking with both Sobol indices, half the widths of their
/// confidence intervals, and a bar as long as the total index.
Table SensitivityTable(const Space& space, std::span<const ParameterSensitivity> ranking);

}  // namespace bayloom
