// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <span>

#include "bayloom/base/random.h"
#include "bayloom/pareto/front.h"

namespace bayloom::optimizer {

/// From where the next suggestion counts hypervolume, given the points so far and, of each
/// objective or none, what is of no interest beyond.
///
/// That is a threshold where it is before pareto::DefaultReference, which lies behind the ends of
/// the front. Those are points that are good in one objective alone, of which there are many, and
/// each of which moves the reference further out. So half of the first suggestions, and fewer the
/// more points there are for each of the space's parameters, count only what is better than the
/// median in the objectives without such a threshold. (Not from a threshold that is far behind the
/// front: there noise in one objective counts times the distance in the others.)
pareto::Point HypervolumeReference(std::span<const pareto::Point> points,
                                   std::span<const std::optional<double>> thresholds,
                                   int parameters, base::RandomStream& random);

}  // namespace bayloom::optimizer
