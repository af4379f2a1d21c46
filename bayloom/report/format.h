// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

namespace bayloom::report {

/// Quantities as people read them, with three significant digits and the fitting unit.

/// "1.23 ms", "45.6 us", "12.3 s", "4 min 5 s", "2 h 10 min"; "-" unless finite.
std::string FormatSeconds(double seconds);
/// Floating-point operations per second: "12.3 GFLOP/s"; "-" unless finite.
std::string FormatRate(double flops_per_second);
/// Operations: "1.23 GFLOP".
std::string FormatFlops(double flops);
/// Energy: "4.47 pJ", "1.23 uJ", with so many significant digits; "-" unless finite.
std::string FormatEnergy(double pj, int digits = 3);
/// "17", "1,234,567".
std::string FormatCount(int64_t count);
/// "2.41x"; "-" unless finite.
std::string FormatRatio(double ratio);
/// What a search found, in any unit: "0.00123457"; "-" unless finite.
std::string FormatValue(double value);
/// A point in time, in microseconds since 1970, as local "2026-02-28 13:45"; "-" far from any
/// clock.
std::string FormatTime(int64_t microseconds);

}  // namespace bayloom::report
