#include "bayloom/record/store.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "bayloom/base/clock.h"
#include "bayloom/base/result.h"
#include "bayloom/record/schema.h"
#include "bayloom/record/target_json.h"
#include "bayloom/record/uuid.h"
#include "bayloom/tensor/program.h"
#include "bayloom/tensor/workload_json.h"

namespace bayloom {
namespace {

using Json = nlohmann::json;
using Lock = std::lock_guard<std::recursive_mutex>;

constexpr std::string_view kTrialColumns =
    "session, task, target, ordinal, strategy, space, trace, program_hash, verdict, seconds,"
    " spread, cut_short, drift, reason, build_seconds, measure_seconds, timestamp";

/// A query for ReadTrial; `rest` chooses and orders.
std::string SelectTrials(std::string_view rest) {
  return fmt::format("SELECT {} FROM trials {}", kTrialColumns, rest);
}

[[noreturn]] void Damaged(const Database& database, const std::string& what) {
  throw InputError(fmt::format("cannot use {}: it is damaged: {}", database.path(), what));
}

Trial ReadTrial(const Database& database, const Rows& row) {
  Trial trial;
  trial.session = row.Int(0);
  trial.task = row.Int(1);
  trial.target = row.Int(2);
  trial.ordinal = row.Int(3);
  trial.strategy = row.Text(4);
  trial.space = static_cast<int>(row.Int(5));
  trial.trace = row.Text(6);
  trial.program_hash = row.Hash(7);
  const std::optional<Verdict> verdict = ParseVerdict(row.Text(8));
  if (!verdict) Damaged(database, fmt::format("a trial has the verdict '{}'", row.Text(8)));
  trial.outcome.verdict = *verdict;
  trial.outcome.value = row.Real(9);
  trial.outcome.spread = row.Real(10);
  trial.outcome.cut_short = row.Int(11) != 0;
  trial.outcome.drift = row.Real(12);
  trial.outcome.reason = row.Text(13);
  trial.outcome.build_seconds = row.Real(14);
  trial.outcome.measure_seconds = row.Real(15);
  trial.timestamp = row.Int(16);
  return trial;
}

std::vector<Trial> ReadTrials(const Database& database, Rows rows) {
  std::vector<Trial> trials;
  while (rows.Step()) trials.push_back(ReadTrial(database, rows));
  return trials;
}

}  // namespace

Store::Store(const std::string& path, Mode mode) : database_(path, mode) {
  Migrate(database_, StoreMigrations());
}

TargetId Store::AddTarget(const Target& target) {
  Lock lock(mutex_);
  if (std::optional<TargetId> known = FindTarget(target)) return *known;
  database_.Prepared("INSERT INTO targets (hash, json) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING")
      .Run(HashOf(target), TargetToJson(target).dump());
  return FindTarget(target).value();
}

std::optional<TargetId> Store::FindTarget(const Target& target) {
  Lock lock(mutex_);
  Rows rows = database_.Prepared("SELECT id FROM targets WHERE hash = ?").Start(HashOf(target));
  if (!rows.Step()) return std::nullopt;
  return rows.Int(0);
}

Target Store::TargetOf(TargetId id) {
  Lock lock(mutex_);
  Rows rows = database_.Prepared("SELECT json FROM targets WHERE id = ?").Start(id);
  if (!rows.Step()) Damaged(database_, fmt::format("there is no target {}", id));
  try {
    return TargetFromJson(Json::parse(rows.Text(0)));
  } catch (const Json::exception& e) {
    Damaged(database_, fmt::format("target {}: {}", id, e.what()));
  }
}

std::vector<TargetId> Store::Targets() {
  Lock lock(mutex_);
  std::vector<TargetId> targets;
  Rows rows = database_.Prepared("SELECT id FROM targets ORDER BY id").Start();
  while (rows.Step()) targets.push_back(rows.Int(0));
  return targets;
}

TaskId Store::AddTask(const Workload& workload) {
  Lock lock(mutex_);
  const uint64_t hash = workload.StructuralHash();
  if (std::optional<TaskId> known = FindTask(hash)) return *known;
  database_
      .Prepared(
          "INSERT INTO tasks (hash, name, text, workload) VALUES (?, ?, ?, ?)"
          " ON CONFLICT (hash) DO NOTHING")
      .Run(hash, workload.name, Print(workload), WorkloadToJson(workload).dump());
  return FindTask(hash).value();
}

std::optional<TaskId> Store::FindTask(uint64_t workload_hash) {
  Lock lock(mutex_);
  Rows rows = database_.Prepared("SELECT id FROM tasks WHERE hash = ?").Start(workload_hash);
  if (!rows.Step()) return std::nullopt;
  return rows.Int(0);
}

std::vector<TaskRecord> Store::Tasks() {
  Lock lock(mutex_);
  std::vector<TaskRecord> tasks;
  Rows rows =
      database_.Prepared("SELECT id, hash, name, text, workload FROM tasks ORDER BY id").Start();
  while (rows.Step()) {
    tasks.push_back({rows.Int(0), rows.Hash(1), rows.Text(2), rows.Text(3), rows.Text(4)});
  }
  return tasks;
}

Workload Store::WorkloadOf(TaskId task) {
  Lock lock(mutex_);
  Rows rows = database_.Prepared("SELECT workload FROM tasks WHERE id = ?").Start(task);
  if (!rows.Step()) Damaged(database_, fmt::format("there is no task {}", task));
  const Json json = Json::parse(rows.Text(0), nullptr, /*allow_exceptions=*/false);
  Result<Workload> workload = WorkloadFromJson(json);
  if (!workload) Damaged(database_, fmt::format("task {}: {}", task, workload.error().message));
  return *std::move(workload);
}

SessionId Store::BeginSession(TargetId target, const std::string& model, const std::string& options,
                              uint64_t seed) {
  Lock lock(mutex_);
  SessionRecord record;
  record.uuid = RandomUuid();
  record.target = target;
  record.model = model;
  record.options = options;
  record.seed = seed;
  record.started = UnixMicroseconds();
  return InsertSession(record);
}

SessionId Store::InsertSession(const SessionRecord& record) {
  database_
      .Prepared(
          "INSERT INTO sessions"
          " (uuid, target, model, options, seed, started, finished, state)"
          " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (uuid) DO NOTHING")
      .Run(record.uuid, record.target, record.model, record.options, record.seed, record.started,
           record.finished, record.state);
  Rows rows = database_.Prepared("SELECT id FROM sessions WHERE uuid = ?").Start(record.uuid);
  rows.Step();
  return rows.Int(0);
}

SessionRecord Store::SessionOf(SessionId id) {
  for (const SessionRecord& session : Sessions()) {
    if (session.id == id) return session;
  }
  throw InputError(fmt::format("{} has no session {}", path(), id));
}

std::vector<SessionRecord> Store::Sessions() {
  Lock lock(mutex_);
  std::vector<SessionRecord> sessions;
  Rows rows = database_
                  .Prepared(
                      "SELECT id, uuid, target, model, options, seed, started, finished,"
                      " state FROM sessions ORDER BY id")
                  .Start();
  while (rows.Step()) {
    sessions.push_back({rows.Int(0), rows.Text(1), rows.Int(2), rows.Text(3), rows.Text(4),
                        rows.Hash(5), rows.Int(6), rows.Int(7) != 0, rows.Text(8)});
  }
  return sessions;
}

void Store::SaveBatch(SessionId session, const std::string& state,
                      std::span<const Metric> metrics) {
  Lock lock(mutex_);
  Transaction transaction(database_);
  database_.Prepared("UPDATE sessions SET state = ? WHERE id = ?").Run(state, session);
  for (const Metric& metric : metrics) InsertMetric(session, metric);
  transaction.Commit();
}

void Store::InsertMetric(SessionId session, const Metric& metric) {
  database_
      .Prepared(
          "INSERT OR REPLACE INTO metrics (session, task, batch, name, value)"
          " VALUES (?, ?, ?, ?, ?)")
      .Run(session, metric.task, metric.batch, metric.name, metric.value);
}

void Store::FinishSession(SessionId session) {
  Lock lock(mutex_);
  database_.Prepared("UPDATE sessions SET finished = 1 WHERE id = ?").Run(session);
}

std::vector<Metric> Store::MetricsOf(SessionId session) {
  Lock lock(mutex_);
  std::vector<Metric> metrics;
  Rows rows = database_
                  .Prepared(
                      "SELECT task, batch, name, value FROM metrics WHERE session = ?"
                      " ORDER BY batch, task, name")
                  .Start(session);
  while (rows.Step()) {
    metrics.push_back({rows.Int(0), rows.Int(1), rows.Text(2), rows.Real(3)});
  }
  return metrics;
}

bool Store::AddTrial(const Trial& trial) {
  Lock lock(mutex_);
  const Outcome& outcome = trial.outcome;
  database_
      .Prepared(fmt::format("INSERT INTO trials ({}) VALUES"
                            " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                            " ON CONFLICT DO NOTHING",
                            kTrialColumns))
      .Run(trial.session, trial.task, trial.target, trial.ordinal, trial.strategy, trial.space,
           trial.trace, trial.program_hash, std::string(ToString(outcome.verdict)), outcome.value,
           outcome.spread, outcome.cut_short, outcome.drift, outcome.reason, outcome.build_seconds,
           outcome.measure_seconds, trial.timestamp != 0 ? trial.timestamp : UnixMicroseconds());
  if (database_.Changes() == 1) return true;
  Rows same = database_
                  .Prepared(
                      "SELECT 1 FROM trials WHERE session = ? AND task = ? AND"
                      " program_hash = ?")
                  .Start(trial.session, trial.task, trial.program_hash);
  if (same.Step()) return false;
  throw InputError(fmt::format("{}: session {} has another trial {}: is it running twice?", path(),
                               trial.session, trial.ordinal));
}

std::vector<Trial> Store::TrialsOf(TaskId task, TargetId target) {
  Lock lock(mutex_);
  return ReadTrials(database_,
                    database_.Prepared(SelectTrials("WHERE task = ? AND target = ? ORDER BY id"))
                        .Start(task, target));
}

std::vector<Trial> Store::SessionTrials(SessionId session, int64_t first) {
  Lock lock(mutex_);
  return ReadTrials(
      database_,
      database_.Prepared(SelectTrials("WHERE session = ? AND ordinal >= ? ORDER BY ordinal"))
          .Start(session, first));
}

std::vector<Trial> Store::BestOf(TaskId task, TargetId target, int count) {
  Lock lock(mutex_);
  std::vector<Trial> best;
  std::unordered_set<uint64_t> programs;
  Rows rows = database_
                  .Prepared(SelectTrials("WHERE task = ? AND target = ? AND verdict = 'ok'"
                                         " AND cut_short = 0 ORDER BY seconds"))
                  .Start(task, target);
  while (static_cast<int>(best.size()) < count && rows.Step()) {
    Trial trial = ReadTrial(database_, rows);
    if (programs.insert(trial.program_hash).second) best.push_back(std::move(trial));
  }
  return best;
}

std::unordered_set<uint64_t> Store::SeenHashes(TaskId task, TargetId target) {
  Lock lock(mutex_);
  std::unordered_set<uint64_t> hashes;
  Rows rows = database_.Prepared("SELECT program_hash FROM trials WHERE task = ? AND target = ?")
                  .Start(task, target);
  while (rows.Step()) hashes.insert(rows.Hash(0));
  return hashes;
}

int64_t Store::CountTrials(SessionId session) {
  Lock lock(mutex_);
  Rows rows = database_.Prepared("SELECT COUNT(*) FROM trials WHERE session = ?").Start(session);
  rows.Step();
  return rows.Int(0);
}

}  // namespace bayloom
