// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bayloom/space/space.h"

namespace bayloom::optimizer {

/// Whether a user has said of any parameter where good values lie.
bool AnyPrior(const space::Space& space);

/// Logarithm of the product of the users' priors; what they call impossible is a millionth.
double LogPrior(const space::Space& space, const space::Configuration& configuration);

}  // namespace bayloom::optimizer
