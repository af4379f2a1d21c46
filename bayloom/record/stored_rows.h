// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bayloom/record/database.h"
#include "bayloom/record/run_record.h"

namespace bayloom::record {

// Rows of a store as the records they hold. What no version of the store writes is refused as
// damage (InputError).

inline constexpr std::string_view kTrialColumns =
    "run, ordinal, task, target, candidate, key, proposer, verdict, value, reason, details, "
    "elapsed,"
    " timestamp";

inline constexpr std::string_view kRepeatColumns =
    "run, after, task, target, trial_run, trial, round, verdict, value, reason, details, timestamp";

/// A query for ReadTrials; `rest` chooses and orders.
std::string SelectTrials(std::string_view rest);

/// Ids are positive; 0 stands for none and is stored as NULL.
std::optional<int64_t> NullIfZero(int64_t id);

[[noreturn]] void Damaged(const Database& database, const std::string& what);

/// A column's text. What goes through JSON later must not be nested without bounds.
std::string CheckedText(const Database& database, const Rows& row, int column, const char* what,
                        int64_t owner);

/// A row of SelectTrials.
StoredTrial ReadTrial(const Database& database, const Rows& row);
std::vector<StoredTrial> ReadTrials(const Database& database, Rows rows);

/// Rows of kRepeatColumns.
std::vector<Repeat> ReadRepeats(const Database& database, Rows rows);

}  // namespace bayloom::record
