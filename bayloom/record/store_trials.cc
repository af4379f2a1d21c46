// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/base/result.h"
#include "bayloom/record/store.h"
#include "bayloom/record/stored_rows.h"
#include "bayloom/record/trial_details.h"

// What a store holds of trials and their repeats.

namespace bayloom::record {
namespace {

/// The middle one, or the mean of the two in the middle.
double Median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

bool Store::AddTrial(const StoredTrial& trial) {
  std::lock_guard lock(mutex_);
  const trial::Outcome& outcome = trial.outcome;
  database_
      .Prepared(fmt::format("INSERT INTO trials ({}, cut_short) VALUES"
                            " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                            kTrialColumns))
      .Run(trial.run, trial.ordinal, NullIfZero(trial.task), NullIfZero(trial.target),
           trial.candidate, trial.key, trial.proposer,
           std::string(trial::ToString(outcome.verdict)), outcome.value, outcome.reason,
           DetailsToText(outcome.values), trial.elapsed,
           trial.timestamp != 0 ? trial.timestamp : base::UnixMicroseconds(),
           outcome.Get("cut_short", 0) != 0);
  if (database_.Changes() == 1) return true;
  if (HasCandidate(trial)) return false;
  throw InputError(fmt::format("{}: run {} has another trial {}: is it running twice?", path(),
                               trial.run, trial.ordinal));
}

bool Store::HasCandidate(const StoredTrial& trial) {
  if (trial.key != 0) {
    return database_
        .Prepared(
            "SELECT 1 FROM trials WHERE run = ? AND IFNULL(task, 0) = ? AND key = ?"
            " AND key <> 0")
        .Start(trial.run, trial.task, trial.key)
        .Step();
  }
  return database_.Prepared("SELECT 1 FROM trials WHERE run = ? AND candidate = ? AND key = 0")
      .Start(trial.run, trial.candidate)
      .Step();
}

int64_t Store::AddTrials(std::span<const StoredTrial> trials, int64_t first_ordinal) {
  std::lock_guard lock(mutex_);
  Transaction transaction(database_);
  int64_t added = 0;
  for (StoredTrial trial : trials) {
    trial.ordinal = first_ordinal + added;
    // The candidate is looked for first: one that is known must not count as a second trial of the
    // ordinal.
    if (!HasCandidate(trial) && AddTrial(trial)) ++added;
  }
  transaction.Commit();
  return added;
}

std::vector<StoredTrial> Store::TrialsOf(TaskId task, TargetId target) {
  std::lock_guard lock(mutex_);
  return ReadTrials(database_,
                    database_.Prepared(SelectTrials("WHERE task = ? AND target = ? ORDER BY id"))
                        .Start(task, target));
}

std::vector<StoredTrial> Store::TrialsOfRun(RunId run, int64_t first) {
  return TrialsOfRun(run, first, std::numeric_limits<int64_t>::max());
}

std::vector<StoredTrial> Store::TrialsOfRun(RunId run, int64_t first, int64_t count) {
  std::lock_guard lock(mutex_);
  return ReadTrials(
      database_,
      database_.Prepared(SelectTrials("WHERE run = ? AND ordinal >= ? ORDER BY ordinal LIMIT ?"))
          .Start(run, first, count));
}

std::vector<StoredTrial> Store::BestOf(TaskId task, TargetId target, int count) {
  std::lock_guard lock(mutex_);
  std::vector<StoredTrial> best;
  std::unordered_set<uint64_t> programs;
  const std::vector<Repeat> comparison = LastComparison(task, target);
  int64_t compared = -1;
  for (const Repeat& repeat : comparison) compared = std::max(compared, repeat.timestamp);
  for (StoredTrial& trial : Compared(comparison)) {
    programs.insert(trial.key);
    if (trial.outcome.ok()) best.push_back(std::move(trial));
  }
  const auto add = [&](std::string_view when, size_t most) {
    Rows rows = database_
                    .Prepared(SelectTrials(fmt::format(
                        "WHERE task = ? AND target = ? AND verdict = 'ok' AND"
                        " cut_short = 0 AND value >= {} AND timestamp {} ? ORDER BY value",
                        trial::kMinSeconds, when)))
                    .Start(task, target, compared);
    while (best.size() < most && rows.Step()) {
      StoredTrial trial = ReadTrial(database_, rows);
      if (programs.insert(trial.key).second) best.push_back(std::move(trial));
    }
  };
  const auto wanted = static_cast<size_t>(std::max(0, count));
  add(">", best.size() + wanted);
  std::ranges::stable_sort(best, {}, [](const StoredTrial& t) { return t.outcome.value; });
  if (best.size() > wanted) best.resize(wanted);
  if (compared >= 0) add("<=", wanted);
  return best;
}

std::vector<StoredTrial> Store::Compared(std::span<const Repeat> comparison) {
  std::map<std::pair<RunId, int64_t>, std::vector<const Repeat*>> by_trial;
  for (const Repeat& repeat : comparison) {
    if (repeat.trial_run != 0) by_trial[{repeat.trial_run, repeat.trial}].push_back(&repeat);
  }
  std::vector<StoredTrial> trials;
  double slowdown = std::numeric_limits<double>::infinity();
  for (const auto& [place, repeats] : by_trial) {
    Rows rows = database_.Prepared(SelectTrials("WHERE run = ? AND ordinal = ?"))
                    .Start(place.first, place.second);
    if (!rows.Step()) continue;
    StoredTrial& trial = trials.emplace_back(ReadTrial(database_, rows));
    if (!trial.outcome.ok()) continue;
    const auto failed = std::ranges::find_if_not(
        repeats, [](const Repeat* repeat) { return repeat->outcome.ok(); });
    if (failed != repeats.end()) {
      trial.outcome = (*failed)->outcome;
      continue;
    }
    std::vector<double> values;
    for (const Repeat* repeat : repeats) values.push_back(repeat->outcome.value);
    const double median = Median(std::move(values));
    slowdown = std::min(slowdown, median / trial.outcome.value);
    trial.outcome.value = median;
    trial.outcome.Set("repeats", static_cast<double>(repeats.size()));
    if (repeats.front()->outcome.Get(kChosen, 0) > 0) trial.outcome.Set(kChosen, 1);
  }
  const auto chosen = std::ranges::find_if(trials, [](const StoredTrial& trial) {
    return trial.outcome.ok() && trial.outcome.Get(kChosen, 0) > 0;
  });
  for (StoredTrial& trial : trials) {
    if (chosen != trials.end() && trial.outcome.ok()) {
      trial.outcome.value = std::max(trial.outcome.value, chosen->outcome.value);
    }
  }
  if (chosen != trials.end()) std::rotate(trials.begin(), chosen, chosen + 1);
  for (StoredTrial& trial : trials) trial.outcome.value /= slowdown;
  return trials;
}

void Store::AddRepeats(std::span<const Repeat> repeats) {
  std::lock_guard lock(mutex_);
  Transaction transaction(database_);
  for (const Repeat& repeat : repeats) InsertRepeat(repeat);
  transaction.Commit();
}

void Store::InsertRepeat(const Repeat& repeat) {
  const trial::Outcome& outcome = repeat.outcome;
  database_
      .Prepared(fmt::format("INSERT INTO repeats ({}) VALUES"
                            " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                            kRepeatColumns))
      .Run(repeat.run, repeat.after, NullIfZero(repeat.task), NullIfZero(repeat.target),
           NullIfZero(repeat.trial_run), repeat.trial, repeat.round,
           std::string(trial::ToString(outcome.verdict)), outcome.value, outcome.reason,
           DetailsToText(outcome.values),
           repeat.timestamp != 0 ? repeat.timestamp : base::UnixMicroseconds());
}

std::vector<Repeat> Store::RepeatsOf(RunId run) {
  std::lock_guard lock(mutex_);
  return ReadRepeats(
      database_,
      database_
          .Prepared(fmt::format("SELECT {} FROM repeats WHERE run = ? ORDER BY id", kRepeatColumns))
          .Start(run));
}

std::vector<Repeat> Store::LastComparison(TaskId task, TargetId target) {
  std::lock_guard lock(mutex_);
  std::vector<Repeat> repeats = ReadRepeats(
      database_, database_
                     .Prepared(fmt::format("SELECT {} FROM repeats WHERE task = ? AND"
                                           " target = ? ORDER BY timestamp DESC, id DESC",
                                           kRepeatColumns))
                     .Start(task, target));
  std::erase_if(repeats, [last = repeats.empty() ? Repeat() : repeats.front()](const Repeat& r) {
    return r.run != last.run || r.after != last.after;
  });
  std::ranges::reverse(repeats);
  return repeats;
}

int64_t Store::CountTrials(RunId run) {
  std::lock_guard lock(mutex_);
  Rows rows = database_.Prepared("SELECT COUNT(*) FROM trials WHERE run = ?").Start(run);
  rows.Step();
  return rows.Int(0);
}

}  // namespace bayloom::record
