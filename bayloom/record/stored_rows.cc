// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/stored_rows.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "bayloom/base/json.h"
#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/text_limits.h"
#include "bayloom/record/trial_details.h"

namespace bayloom::record {
namespace {

/// The four columns from `first` on: verdict, value, reason, details of a trial. Trials on a target
/// are of programs, whose values are times.
trial::Outcome ReadOutcome(const Database& database, const Rows& row, int first, RunId run,
                           int64_t ordinal, TargetId target) {
  trial::Outcome outcome;
  const std::optional<trial::Verdict> verdict = trial::ParseVerdict(row.Text(first));
  if (!verdict) {
    Damaged(database, fmt::format("trial {} of run {} has the verdict '{}'", ordinal, run,
                                  base::SingleLine(row.Text(first))));
  }
  outcome.verdict = *verdict;
  outcome.value = row.Real(first + 1);
  if (outcome.ok() && !std::isfinite(outcome.value)) {
    Damaged(database,
            fmt::format("trial {} of run {} has the value {}", ordinal, run, outcome.value));
  }
  outcome.reason = row.Text(first + 2);
  std::optional<std::vector<trial::NamedValue>> details = DetailsFromText(row.Text(first + 3));
  if (!details) {
    Damaged(database,
            fmt::format("the details of trial {} of run {} are no numbers", ordinal, run));
  }
  outcome.values = *std::move(details);
  if (outcome.ok() && target != 0 && !trial::IsTime(outcome.value)) {
    outcome.verdict = trial::Verdict::kInvalidAnswer;
    outcome.reason = fmt::format("a program cannot take {} seconds",
                                 std::exchange(outcome.value, trial::Outcome().value));
  }
  return outcome;
}

}  // namespace

std::string SelectTrials(std::string_view rest) {
  return fmt::format("SELECT {} FROM trials {}", kTrialColumns, rest);
}

std::optional<int64_t> NullIfZero(int64_t id) {
  return id != 0 ? std::optional<int64_t>(id) : std::nullopt;
}

void Damaged(const Database& database, const std::string& what) {
  throw InputError(fmt::format("cannot use {}: it is damaged: {}", database.path(), what));
}

std::string CheckedText(const Database& database, const Rows& row, int column, const char* what,
                        int64_t owner) {
  std::string text = row.Text(column);
  const bool may_be_json = text.starts_with('{') || text.starts_with('[');
  if (may_be_json && base::IsNestedTooDeep(text)) {
    Damaged(database, fmt::format("the {} {} is nested deeper than {} levels", what, owner,
                                  base::kMaxJsonDepth));
  }
  return text;
}

StoredTrial ReadTrial(const Database& database, const Rows& row) {
  StoredTrial trial;
  trial.run = row.Int(0);
  trial.ordinal = row.Int(1);
  trial.task = row.Int(2);
  trial.target = row.Int(3);
  trial.candidate = CheckedText(database, row, 4, "candidate of a trial of run", trial.run);
  trial.key = row.Hash(5);
  trial.proposer = row.Text(6);
  trial.outcome = ReadOutcome(database, row, 7, trial.run, trial.ordinal, trial.target);
  trial.elapsed = row.Real(11);
  trial.timestamp = row.Int(12);
  return trial;
}

std::vector<StoredTrial> ReadTrials(const Database& database, Rows rows) {
  std::vector<StoredTrial> trials;
  while (rows.Step()) trials.push_back(ReadTrial(database, rows));
  return trials;
}

std::vector<Repeat> ReadRepeats(const Database& database, Rows rows) {
  std::vector<Repeat> repeats;
  while (rows.Step()) {
    Repeat& repeat = repeats.emplace_back();
    repeat.run = rows.Int(0);
    repeat.after = rows.Int(1);
    repeat.task = rows.Int(2);
    repeat.target = rows.Int(3);
    repeat.trial_run = rows.Int(4);
    repeat.trial = rows.Int(5);
    repeat.round = static_cast<int>(rows.Int(6));
    repeat.outcome = ReadOutcome(database, rows, 7, repeat.trial_run, repeat.trial, repeat.target);
    repeat.timestamp = rows.Int(11);
  }
  return repeats;
}

}  // namespace bayloom::record
