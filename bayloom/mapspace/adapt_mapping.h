// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "bayloom/mapspace/mapspace.h"
#include "bayloom/mapspace/model.h"

namespace bayloom::mapspace {

/// A mapping of another problem onto the same architecture as one of this problem: at every level
/// the same loops in the same order with the same tensors kept; factors the nearest divisors of
/// what the bounds leave that fit, the outermost taking the rest. Dimensions and tensors are
/// matched by name. Nullopt for problems that have no dimension in common, and where nothing fits.
/// `model` is of `to`'s problem and architecture.
std::optional<Mapping> AdaptMapping(const Mapping& mapping, const Problem& from, const Mapspace& to,
                                    const AnalyticalModel& model);

}  // namespace bayloom::mapspace
