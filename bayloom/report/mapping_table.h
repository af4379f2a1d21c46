#pragma once

#include "bayloom/mapspace/model.h"
#include "bayloom/report/table.h"

namespace bayloom {

/// What each level does for each tensor it keeps, outermost level first: words of one instance, and
/// the energy of all.
Table TrafficTable(const Evaluation& evaluation, const Mapping& mapping, const Problem& problem,
                   const Architecture& architecture);

}  // namespace bayloom
