// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "bayloom/base/random.h"
#include "bayloom/space/space.h"

namespace bayloom::optimizer {

/// A feasible configuration that has the centre's values but for about this share of the
/// parameters, which are drawn. None where constraints keep forbidding that.
std::optional<space::Configuration> DrawNear(const space::Space& space,
                                             const space::Configuration& centre, double share,
                                             base::RandomStream& random);

}  // namespace bayloom::optimizer
