// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

namespace bayloom::base {

/// The q-quantile (0 <= q <= 1), linear between order statistics. `values` is not empty.
double Quantile(std::span<const double> values, double q);
inline double Median(std::span<const double> values) { return Quantile(values, 0.5); }
/// Of positive values, at least one.
double GeometricMean(std::span<const double> values);

}  // namespace bayloom::base
