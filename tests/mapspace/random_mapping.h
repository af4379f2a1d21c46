// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/base/random.h"
#include "bayloom/mapspace/mapping.h"

namespace bayloom::mapspace {

/// Any mapping that CheckMapping accepts, spatial loops within the fanouts, bypass at will.
Mapping RandomMapping(const Problem& problem, const Architecture& architecture,
                      base::RandomStream& random);

/// Three levels, 2 x 2 instances under the outermost and 2 under the middle; no limits.
Architecture SmallArchitecture();

}  // namespace bayloom::mapspace
