// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

#include "bayloom/record/run_record.h"

namespace bayloom::report {

/// What is minimized of mappings and designs, in one unit for each: "4.46941 pJ/MAC" (energy of an
/// operation), "134,217,728 cycles", "237.123 J cycles" (energy times delay).
std::string FormatMapValue(std::string_view objective, double value);

/// The same of a design, whose energy is that of a whole network: "1.23456 mJ", "4.5 mm2".
std::string FormatDesignValue(std::string_view objective, double value);

/// "pJ/MAC", "cycles" or "pJ cycles": of the values of a run's trials; empty where they are those
/// of a search, or of a simulator that says what it likes.
std::string UnitOf(const record::RunRecord& run);
/// A value of a run's trials, in its unit if it has one.
std::string FormatRunValue(const record::RunRecord& run, double value);

}  // namespace bayloom::report
