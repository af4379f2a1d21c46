// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bayloom/record/database.h"
#include "bayloom/record/run_record.h"
#include "bayloom/target/target.h"
#include "bayloom/tensor/workload.h"

namespace bayloom::record {

/// Every run of every kind, its trials, and the tasks and targets that they belong to, in one
/// SQLite file.
///
/// What a call has written is durable when it returns: it survives a kill of the process at any
/// moment and a loss of power. So record a trial first, then learn from it. To resume a run,
/// restore `RunRecord::state` (as of its last completed slot) and ask `TrialsOfRun` which of the
/// trials since then are known.
///
///     Store store("tuning.db");
///     TaskId task = store.AddTask(workload);
///     TargetId target = store.AddTarget(HostTarget());
///     RunRecord run = store.BeginRun({.kind = RunKind::kTune, .name = "model.onnx",
///                                     .target = target, .objective = "seconds"});
///     store.AddTrial(trial);
///     std::vector<StoredTrial> best = store.BestOf(task, target, 10);
///
/// Failures are those of Database. All methods may be called from any thread.
class Store {
 public:
  using Mode = Database::Mode;

  /// Opens the file. kReadWrite creates it where it does not exist and updates an older schema;
  /// kReadOnly never changes the file, and reads a copy of it if its schema is older.
  explicit Store(const std::string& path, Mode mode = Mode::kReadWrite);

  const std::string& path() const { return database_.path(); }

  /// The row of this machine; made if new. Targets that differ in their name only are the same. A
  /// row without a machine model takes that of the target.
  TargetId AddTarget(const target::Target& target);
  std::optional<TargetId> FindTarget(const target::Target& target);
  target::Target TargetOf(TargetId id);
  std::vector<TargetId> Targets();
  /// What was measured of a target, as JSON. It is no part of what identifies the target.
  void SetMachine(TargetId target, const std::string& json);
  /// nullopt if nothing was measured.
  std::optional<std::string> MachineOf(TargetId target);

  /// The row of this workload; made if new.
  TaskId AddTask(const tensor::Workload& workload);
  /// The row of a workload with this structural hash.
  std::optional<TaskId> FindTask(uint64_t workload_hash);
  /// Named by tensor::NamesOf.
  std::vector<TaskRecord> Tasks();
  tensor::Workload WorkloadOf(TaskId task);

  /// Begins a run: `id`, `uuid` and `started` are filled in, the rest is kept as given.
  RunRecord BeginRun(RunRecord run);
  /// Throws InputError if there is no such run.
  RunRecord RunOf(RunId id);
  /// All runs, or those of one kind, oldest first.
  std::vector<RunRecord> Runs(std::optional<RunKind> kind = std::nullopt);
  /// The last run of this kind and name.
  std::optional<RunRecord> LastRun(RunKind kind, const std::string& name);
  void SetFinished(RunId run, bool finished);
  /// Ends a slot: the state to resume from and the slot's metrics, together or not at all.
  void SaveState(RunId run, const std::string& state, std::span<const Metric> metrics);
  /// In order of batch, then task, then name.
  std::vector<Metric> MetricsOf(RunId run);

  /// False, and nothing changes, if the run already has this candidate: a trial of the same task
  /// and key, or without a key one of the same text. Throws InputError if it has another trial of
  /// this ordinal: another process goes on with it too.
  bool AddTrial(const StoredTrial& trial);
  /// Adds trials of one run, all or none, whose ordinals are counted from `first_ordinal` on. A
  /// candidate that the run already has is left out and takes no ordinal. Returns how many were
  /// added. Many take little longer than one.
  int64_t AddTrials(std::span<const StoredTrial> trials, int64_t first_ordinal);
  /// All trials of a task on a target, in all runs, oldest first.
  std::vector<StoredTrial> TrialsOf(TaskId task, TargetId target);
  /// All trials of a run by ordinal, from `first` on.
  std::vector<StoredTrial> TrialsOfRun(RunId run, int64_t first = 0);
  /// The first `count` of these.
  std::vector<StoredTrial> TrialsOfRun(RunId run, int64_t first, int64_t count);
  /// The `count` best feasible trials that were not cut short, best first, each
  /// key once.
  ///
  /// Without repeats that is by value, and takes O(count log n) steps. Where the task has a
  /// comparison (LastComparison), its candidates have the median of their repeats for a value, and
  /// the named value "repeats" says of how many. The medians are divided by the least ratio of one
  /// to its trial's value: so much slower the machine is taken to have been by then, for the rest
  /// is luck of the trials. Where the repeats say which candidate was "chosen", no other one counts
  /// as faster. The candidates and all trials made since are ordered by value, and come before
  /// those that were not thought worth repeating. A candidate with a repeat that failed is left
  /// out.
  std::vector<StoredTrial> BestOf(TaskId task, TargetId target, int count);
  int64_t CountTrials(RunId run);

  /// Adds all or none; one that is there already (the same candidate and round of the same
  /// comparison) stays as it is.
  void AddRepeats(std::span<const Repeat> repeats);
  /// All that a run made, in the order in which they were added.
  std::vector<Repeat> RepeatsOf(RunId run);
  /// The repeats of the task's latest comparison on the target, by any run.
  std::vector<Repeat> LastComparison(TaskId task, TargetId target);

 private:
  friend class JsonLinesReader;
  friend class JsonLinesWriter;
  friend class TrialRemover;
  /// The id of the run of this uuid; adds `run`, whose id is not used, if there is none.
  RunId InsertRun(const RunRecord& run);
  void InsertMetric(RunId run, const Metric& metric);
  void InsertRepeat(const Repeat& repeat);
  bool HasCandidate(const StoredTrial& trial);
  /// The trials of a comparison's candidates, in terms of their repeats as BestOf has them; with
  /// the outcome of the repeat where one failed.
  std::vector<StoredTrial> Compared(std::span<const Repeat> comparison);

  std::recursive_mutex mutex_;  ///< guards the database
  Database database_;
};

}  // namespace bayloom::record
