#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "bayloom/record/database.h"
#include "bayloom/record/trial.h"
#include "bayloom/tensor/target.h"
#include "bayloom/tensor/workload.h"

namespace bayloom {

/// The memory of the tuner: every task, session and trial, in one SQLite file.
///
/// What a call has written is durable when it returns: it survives a kill of the process at any
/// moment and a loss of power. So record a trial first, then learn from it. To resume a session,
/// restore `SessionRecord::state` (as of its last completed batch) and ask `SessionTrials`
/// which of the trials since then are known.
///
///     Store store("tuning.db");
///     TaskId task = store.AddTask(workload);
///     TargetId target = store.AddTarget(HostTarget());
///     SessionId session = store.BeginSession(target, "model.onnx", "{}", seed);
///     store.AddTrial(trial);
///     std::vector<Trial> best = store.BestOf(task, target, 10);
///
/// Every failure is an InputError of one line. All methods may be called from any thread.
class Store {
 public:
  using Mode = Database::Mode;

  /// Opens the file; kReadWrite creates it where it does not exist and updates an older schema.
  explicit Store(const std::string& path, Mode mode = Mode::kReadWrite);

  const std::string& path() const { return database_.path(); }

  /// The row of this machine; made if new. Targets that differ in their name only are the same.
  TargetId AddTarget(const Target& target);
  std::optional<TargetId> FindTarget(const Target& target);
  Target TargetOf(TargetId id);
  std::vector<TargetId> Targets();

  /// The row of this workload; made if new.
  TaskId AddTask(const Workload& workload);
  /// The row of a workload with this structural hash.
  std::optional<TaskId> FindTask(uint64_t workload_hash);
  std::vector<TaskRecord> Tasks();
  Workload WorkloadOf(TaskId task);

  /// `options` is JSON; see SessionRecord.
  SessionId BeginSession(TargetId target, const std::string& model, const std::string& options,
                         uint64_t seed);
  SessionRecord SessionOf(SessionId id);
  /// Oldest first.
  std::vector<SessionRecord> Sessions();
  /// Ends a batch: the state to resume from and the batch's metrics, together or not at all.
  void SaveBatch(SessionId session, const std::string& state, std::span<const Metric> metrics);
  void FinishSession(SessionId session);
  /// In order of batch, then task, then name.
  std::vector<Metric> MetricsOf(SessionId session);

  /// False, and nothing changes, if the session already has a trial of this program for this
  /// task. Throws if it has another trial of this ordinal: somebody else goes on with it too.
  bool AddTrial(const Trial& trial);
  /// All trials of a task on a target, in all sessions, oldest first.
  std::vector<Trial> TrialsOf(TaskId task, TargetId target);
  /// All trials of a session by ordinal, from `first` on.
  std::vector<Trial> SessionTrials(SessionId session, int64_t first = 0);
  /// The fastest `count` feasible trials that were timed in full, fastest first, each program
  /// once. Takes O(count log n) steps.
  std::vector<Trial> BestOf(TaskId task, TargetId target, int count);
  /// Hashes of all programs tried for a task on a target.
  std::unordered_set<uint64_t> SeenHashes(TaskId task, TargetId target);
  int64_t CountTrials(SessionId session);

 private:
  friend class JsonLinesReader;
  SessionId InsertSession(const SessionRecord& record);
  void InsertMetric(SessionId session, const Metric& metric);

  std::recursive_mutex mutex_;  ///< guards the database
  Database database_;
};

}  // namespace bayloom
