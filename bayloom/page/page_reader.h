// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "bayloom/page/cursor.h"
#include "bayloom/record/store.h"

namespace bayloom::report {
class RunDigest;
}

namespace bayloom::page {

/// What a database holds as one JSON document, and what was added to it since: the data of the
/// report page (page_html.h), of notebooks and of other programs.
///
///     record::Store store("resnet18.db", record::Store::Mode::kReadOnly);
///     PageReader reader(store, "resnet18.db");
///     reader.Refresh();
///     const nlohmann::json document = reader.Since({});
///
/// A document has lists of items and lists of trials:
///
///     format, bayloom, database, written   version of this form and of the program, the file's
///                                          name, microseconds since 1970
///     cursor                               to be given to Since next time, as text
///     targets    {id, name, cpu, threads, vector_bytes, peak_flops?, bytes_per_second?}
///     tasks      {id, name, flops, workload}
///     runs       {id, kind, name, by, scheduler, objective, goal, seed, target, started, finished,
///                trials, failures: {verdict: count}, seconds}, further
///                of runs with tasks {latency, tasks: [{task, weight, slots, trials, best,
///                best_trial}], phases?: {name: seconds},
///                gain?: {tasks, by_default, tuned, roofline?}}
///                and of the others {best, first: {trial, elapsed, value, candidate} or null,
///                unit?: "pJ/MAC", "cycles" or "pJ cycles", of: the run of the network that it is a
///                layer of, or null,
///                parts?: what its trials are if they are problems of their own,
///                result?: what a mapping of a network came to (report/kept_result.h)}
///     learning   {id (the run), metrics: {name: [[batch, value]]}, repeats: [...]}
///     programs   {id, task, target, measured?, best?, by_default, why?, roofline?, note?}: of each
///                task that was tried on a target, its programs with their estimated times and
///                features, and why the best one is fast (explain/explanation.h)
///     searches   {id (the run), parameters: [{name, kind, domain, active_if?, values?}], feasible,
///                log10_feasible, objectives: [{name, goal}], has_default, importance?,
///                ranked_trials?, note?}
///     mappings   {id (the run), problem, architecture, nest, levels, energy_pj, cycles, ...}
///     pools      {id (the group's place), group, tasks, programs}
///     trials     {run, first, count, ordinal?, value, elapsed, verdicts, verdict?, reasons,
///                reason?, proposers, proposer?, task?, details: {name: column}, parameters?}
///
/// An entry of `trials` holds trials of one run as columns of equal length. `ordinal` is left out
/// where the trials are numbered from `first` on; `verdict`, `reason` and `proposer` are places in
/// the lists beside them, left out where there is one text for all. Values are exact; `elapsed` is
/// rounded to milliseconds, named values (`details`) to four digits. Null stands for what is not
/// there and for numbers that are not finite. All names and reasons are single lines without
/// control characters.
///
/// Documents since successive cursors put together are the document since the beginning: an item
/// takes the place of the one of the same list and id, trials are appended to those of their run.
class PageReader {
 public:
  /// `id` tells this reader's cursors from those of others. `store` must outlive it.
  PageReader(record::Store& store, std::string database, uint64_t id = 0);
  ~PageReader();
  PageReader(const PageReader&) = delete;
  PageReader& operator=(const PageReader&) = delete;

  /// Takes up what the store has now, and works at the details, which take longer than reading
  /// trials (learning, importance, mappings, programs), one after the other until
  /// `detail_seconds` have passed; at none if that is 0. False if trials that were read are gone:
  /// what was given out is wrong then, and a new reader is needed. Throws InputError where the
  /// store is damaged.
  bool Refresh(double detail_seconds = std::numeric_limits<double>::infinity());
  /// Whether all details are of what was taken up last.
  bool details_are_current() const { return details_are_current_; }

  /// What was taken up after the cursor; everything for the default one.
  nlohmann::json Since(const Cursor& cursor);
  /// The end of what was taken up.
  Cursor Now() const;
  /// Whether the cursor is one that this reader made.
  bool Knows(const Cursor& cursor) const;

 private:
  struct Item {
    nlohmann::json json;
    int64_t revision = 0;
  };
  using ItemKey = std::pair<int64_t, int64_t>;

  void Put(const std::string& list, ItemKey key, nlohmann::json json);
  void ReadTrials(report::RunDigest& digest);
  void PutTargets();
  void PutTasks();
  void PutPools();
  bool RefreshDetails(double until);
  bool RefreshPrograms(double until);
  void RefreshLearning(const report::RunDigest& digest);
  bool RefreshSearch(const report::RunDigest& digest);
  void RefreshMapping(const report::RunDigest& digest);
  void PutRuns();
  nlohmann::json GainOf(const report::RunDigest& digest) const;
  nlohmann::json TrialsSince(const Cursor& cursor);

  record::Store& store_;
  std::string database_;
  uint64_t id_;
  int64_t revision_ = 0;
  std::map<std::string, std::map<ItemKey, Item>> lists_;
  std::map<record::RunId, std::unique_ptr<report::RunDigest>> digests_;
  /// What the details shown were made from, by task and target or by run.
  std::map<ItemKey, std::string> program_keys_;
  ItemKey last_program_ = {};  ///< that was made; the next one is made first
  bool details_are_current_ = false;
  std::map<record::RunId, int64_t> ranked_trials_, mapped_trials_, learnt_slots_, shown_repeats_;
};

}  // namespace bayloom::page
