// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "bayloom/search/study.h"

namespace bayloom::report {

/// Searches in the formats of other programs.

/// The trials as a study in Optuna's journal, a line of JSON for each (`JournalStorage` with a
/// `JournalFileBackend` reads it): the study's name is the scenario's; trials without a value are
/// failed and keep their reason as a user attribute, as all named values are. Parameters that are
/// neither real nor integer are categorical; of permutations and factorizations the choices are
/// those that were tried, as text. `started`: microseconds since 1970.
std::string OptunaJournal(const search::Scenario& scenario,
                          std::span<const search::StudyTrial> trials, int64_t started);

/// The trials with a value as a report of Google Benchmark in JSON: each is a benchmark whose name
/// says its configuration. Throws InputError where the objective is no time: "seconds",
/// "milliseconds", "microseconds", "nanoseconds" or "s", "ms", "us", "ns".
std::string GoogleBenchmarkReport(const search::Scenario& scenario,
                                  std::span<const search::StudyTrial> trials, int64_t started);

/// The trials as a cache file of Kernel Tuner (its option `cache`), which it goes on from and
/// simulates searches on (`tune_cache`). The device is "bayloom", the kernel the scenario's name,
/// the problem size 1, for a search knows of none. Of reals, of integers with more than 1,024
/// values, of permutations and of factorizations the values are those that were tried; lists are
/// text. Of an inactive parameter the value is its default or its first one. Times are in
/// milliseconds, values in the unit of the objective; `objective_higher_is_better` says whether it
/// is maximized, as Kernel Tuner's option of that name does. `started`: microseconds since 1970.
/// Throws InputError where an objective is called as a parameter.
std::string KernelTunerCache(const search::Scenario& scenario,
                             std::span<const search::StudyTrial> trials, int64_t started);

}  // namespace bayloom::report
