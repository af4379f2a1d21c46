// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

#include "bayloom/pareto/front.h"

namespace bayloom::pareto {

/// The volume of what the points dominate on this side of the reference point: how good a set of
/// compromises is, in one number; more is better. Points that are not better than the reference in
/// every objective add nothing.
///
/// Exact: by sweeping in two objectives (n log n) and in three (n log n as well, with a staircase
/// that is kept sorted), by the exclusive volumes of While, Bradstreet and Barone (2012, WFG) in
/// more, where the time may grow exponentially with the objectives.
double Hypervolume(std::span<const Point> points, std::span<const double> reference);

}  // namespace bayloom::pareto
