// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/plan/vector_plan.h"

namespace bayloom::plan {

/// Cache lines that an access of one register touches on average: about two where it is as wide as
/// a line and the loops around move it by other steps than whole registers. `together`: so many
/// elements at each lane lie next to each other.
double LinesOf(const tensor::Program& program, const PlacedAccess& access, const VectorLoop& vector,
               int64_t together = 1);

}  // namespace bayloom::plan
