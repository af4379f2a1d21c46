// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "bayloom/external/study.h"

namespace bayloom::report {

/// Searches in the formats of other programs.

/// The trials as a study in Optuna's journal, a line of JSON for each (`JournalStorage` with a
/// `JournalFileBackend` reads it): the study's name is the scenario's; trials without a value are
/// failed and keep their reason as a user attribute, as all named values are. Parameters that are
/// neither real nor integer are categorical; of permutations and factorizations the choices are
/// those that were tried, as text. `started`: microseconds since 1970.
std::string OptunaJournal(const external::Scenario& scenario,
                          std::span<const external::StudyTrial> trials, int64_t started);

/// The trials with a value as a report of Google Benchmark in JSON: each is a benchmark whose name
/// says its configuration. Throws InputError where the objective is no time: "seconds",
/// "milliseconds", "microseconds", "nanoseconds" or "s", "ms", "us", "ns".
std::string GoogleBenchmarkReport(const external::Scenario& scenario,
                                  std::span<const external::StudyTrial> trials, int64_t started);

}  // namespace bayloom::report
