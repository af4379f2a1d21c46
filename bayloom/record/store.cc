// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/store.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_set>

#include "bayloom/base/clock.h"
#include "bayloom/base/result.h"
#include "bayloom/record/internal/schema.h"
#include "bayloom/record/internal/trial_details.h"
#include "bayloom/record/internal/uuid.h"
#include "bayloom/target/target_json.h"
#include "bayloom/tensor/program.h"
#include "bayloom/tensor/workload_json.h"

namespace bayloom::record {
namespace {

using Json = nlohmann::json;
using Lock = std::lock_guard<std::recursive_mutex>;

constexpr std::string_view kRunColumns =
    "uuid, kind, name, definition, target, objective, maximize, proposer, seed, started, finished,"
    " state";

constexpr std::string_view kTrialColumns =
    "run, ordinal, task, target, candidate, key, proposer, verdict, value, reason, details, "
    "elapsed,"
    " timestamp";

/// A query for ReadTrial; `rest` chooses and orders.
std::string SelectTrials(std::string_view rest) {
  return fmt::format("SELECT {} FROM trials {}", kTrialColumns, rest);
}

std::optional<int64_t> NullIfZero(int64_t id) {
  return id != 0 ? std::optional<int64_t>(id) : std::nullopt;
}

[[noreturn]] void Damaged(const Database& database, const std::string& what) {
  throw InputError(fmt::format("cannot use {}: it is damaged: {}", database.path(), what));
}

RunRecord ReadRun(const Database& database, const Rows& row) {
  RunRecord run;
  run.id = row.Int(0);
  run.uuid = row.Text(1);
  const std::optional<RunKind> kind = ParseRunKind(row.Text(2));
  if (!kind) Damaged(database, fmt::format("run {} is of the kind '{}'", run.id, row.Text(2)));
  run.kind = *kind;
  run.name = row.Text(3);
  run.definition = row.Text(4);
  run.target = NullIfZero(row.Int(5));
  run.objective = row.Text(6);
  run.maximize = row.Int(7) != 0;
  run.proposer = row.Text(8);
  run.seed = row.Hash(9);
  run.started = row.Int(10);
  run.finished = row.Int(11) != 0;
  run.state = row.Text(12);
  return run;
}

StoredTrial ReadTrial(const Database& database, const Rows& row) {
  StoredTrial trial;
  trial.run = row.Int(0);
  trial.ordinal = row.Int(1);
  trial.task = row.Int(2);
  trial.target = row.Int(3);
  trial.candidate = row.Text(4);
  trial.key = row.Hash(5);
  trial.proposer = row.Text(6);
  const std::optional<trial::Verdict> verdict = trial::ParseVerdict(row.Text(7));
  if (!verdict) Damaged(database, fmt::format("a trial has the verdict '{}'", row.Text(7)));
  trial.outcome.verdict = *verdict;
  trial.outcome.value = row.Real(8);
  trial.outcome.reason = row.Text(9);
  std::optional<std::vector<trial::NamedValue>> details = DetailsFromText(row.Text(10));
  if (!details) Damaged(database, "the details of a trial are no numbers");
  trial.outcome.values = *std::move(details);
  trial.elapsed = row.Real(11);
  trial.timestamp = row.Int(12);
  return trial;
}

std::vector<StoredTrial> ReadTrials(const Database& database, Rows rows) {
  std::vector<StoredTrial> trials;
  while (rows.Step()) trials.push_back(ReadTrial(database, rows));
  return trials;
}

}  // namespace

Store::Store(const std::string& path, Mode mode) : database_(path, mode) {
  Migrate(database_, StoreMigrations());
}

TargetId Store::AddTarget(const target::Target& target) {
  Lock lock(mutex_);
  if (std::optional<TargetId> known = FindTarget(target)) return *known;
  database_.Prepared("INSERT INTO targets (hash, json) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING")
      .Run(target::HashOf(target), target::TargetToJson(target).dump());
  return FindTarget(target).value();
}

std::optional<TargetId> Store::FindTarget(const target::Target& target) {
  Lock lock(mutex_);
  Rows rows =
      database_.Prepared("SELECT id FROM targets WHERE hash = ?").Start(target::HashOf(target));
  if (!rows.Step()) return std::nullopt;
  return rows.Int(0);
}

target::Target Store::TargetOf(TargetId id) {
  Lock lock(mutex_);
  Rows rows = database_.Prepared("SELECT json FROM targets WHERE id = ?").Start(id);
  if (!rows.Step()) Damaged(database_, fmt::format("there is no target {}", id));
  try {
    return target::TargetFromJson(Json::parse(rows.Text(0)));
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

void Store::SetMachine(TargetId target, const std::string& json) {
  Lock lock(mutex_);
  database_.Prepared("UPDATE targets SET machine = ? WHERE id = ?").Run(json, target);
}

std::optional<std::string> Store::MachineOf(TargetId target) {
  Lock lock(mutex_);
  Rows rows = database_.Prepared("SELECT machine FROM targets WHERE id = ? AND machine IS NOT NULL")
                  .Start(target);
  if (!rows.Step()) return std::nullopt;
  return rows.Text(0);
}

TaskId Store::AddTask(const tensor::Workload& workload) {
  Lock lock(mutex_);
  const uint64_t hash = workload.StructuralHash();
  if (std::optional<TaskId> known = FindTask(hash)) return *known;
  database_
      .Prepared(
          "INSERT INTO tasks (hash, name, text, workload) VALUES (?, ?, ?, ?)"
          " ON CONFLICT (hash) DO NOTHING")
      .Run(hash, workload.name, tensor::Print(workload), tensor::WorkloadToJson(workload).dump());
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

tensor::Workload Store::WorkloadOf(TaskId task) {
  Lock lock(mutex_);
  Rows rows = database_.Prepared("SELECT workload FROM tasks WHERE id = ?").Start(task);
  if (!rows.Step()) Damaged(database_, fmt::format("there is no task {}", task));
  const Json json = Json::parse(rows.Text(0), nullptr, /*allow_exceptions=*/false);
  Result<tensor::Workload> workload = tensor::WorkloadFromJson(json);
  if (!workload) Damaged(database_, fmt::format("task {}: {}", task, workload.error().message));
  return *std::move(workload);
}

RunRecord Store::BeginRun(RunRecord run) {
  Lock lock(mutex_);
  run.uuid = RandomUuid();
  run.started = base::UnixMicroseconds();
  run.id = InsertRun(run);
  return run;
}

RunId Store::InsertRun(const RunRecord& run) {
  database_
      .Prepared(fmt::format("INSERT INTO runs ({}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                            " ON CONFLICT (uuid) DO NOTHING",
                            kRunColumns))
      .Run(run.uuid, std::string(ToString(run.kind)), run.name, run.definition, run.target,
           run.objective, run.maximize, run.proposer, run.seed, run.started, run.finished,
           run.state);
  Rows rows = database_.Prepared("SELECT id FROM runs WHERE uuid = ?").Start(run.uuid);
  rows.Step();
  return rows.Int(0);
}

RunRecord Store::RunOf(RunId id) {
  Lock lock(mutex_);
  Rows rows = database_.Prepared(fmt::format("SELECT id, {} FROM runs WHERE id = ?", kRunColumns))
                  .Start(id);
  if (!rows.Step()) throw InputError(fmt::format("{} has no run {}", path(), id));
  return ReadRun(database_, rows);
}

std::vector<RunRecord> Store::Runs(std::optional<RunKind> kind) {
  Lock lock(mutex_);
  std::vector<RunRecord> runs;
  Rows rows =
      database_.Prepared(fmt::format("SELECT id, {} FROM runs ORDER BY id", kRunColumns)).Start();
  while (rows.Step()) {
    RunRecord run = ReadRun(database_, rows);
    if (!kind || run.kind == *kind) runs.push_back(std::move(run));
  }
  return runs;
}

std::optional<RunRecord> Store::LastRun(RunKind kind, const std::string& name) {
  Lock lock(mutex_);
  Rows rows = database_
                  .Prepared(fmt::format("SELECT id, {} FROM runs WHERE kind = ? AND name = ?"
                                        " ORDER BY id DESC LIMIT 1",
                                        kRunColumns))
                  .Start(std::string(ToString(kind)), name);
  if (!rows.Step()) return std::nullopt;
  return ReadRun(database_, rows);
}

void Store::SaveState(RunId run, const std::string& state, std::span<const Metric> metrics) {
  Lock lock(mutex_);
  Transaction transaction(database_);
  database_.Prepared("UPDATE runs SET state = ? WHERE id = ?").Run(state, run);
  for (const Metric& metric : metrics) InsertMetric(run, metric);
  transaction.Commit();
}

void Store::InsertMetric(RunId run, const Metric& metric) {
  database_
      .Prepared(
          "INSERT OR REPLACE INTO metrics (run, task, batch, name, value) VALUES (?, ?, ?, ?, ?)")
      .Run(run, metric.task, metric.batch, metric.name, metric.value);
}

void Store::SetFinished(RunId run, bool finished) {
  Lock lock(mutex_);
  database_.Prepared("UPDATE runs SET finished = ? WHERE id = ?").Run(finished, run);
}

std::vector<Metric> Store::MetricsOf(RunId run) {
  Lock lock(mutex_);
  std::vector<Metric> metrics;
  Rows rows = database_
                  .Prepared(
                      "SELECT task, batch, name, value FROM metrics WHERE run = ?"
                      " ORDER BY batch, task, name")
                  .Start(run);
  while (rows.Step()) {
    metrics.push_back({rows.Int(0), rows.Int(1), rows.Text(2), rows.Real(3)});
  }
  return metrics;
}

bool Store::AddTrial(const StoredTrial& trial) {
  Lock lock(mutex_);
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
  Lock lock(mutex_);
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
  Lock lock(mutex_);
  return ReadTrials(database_,
                    database_.Prepared(SelectTrials("WHERE task = ? AND target = ? ORDER BY id"))
                        .Start(task, target));
}

std::vector<StoredTrial> Store::TrialsOfRun(RunId run, int64_t first) {
  Lock lock(mutex_);
  return ReadTrials(
      database_, database_.Prepared(SelectTrials("WHERE run = ? AND ordinal >= ? ORDER BY ordinal"))
                     .Start(run, first));
}

std::vector<StoredTrial> Store::BestOf(TaskId task, TargetId target, int count) {
  Lock lock(mutex_);
  std::vector<StoredTrial> best;
  std::unordered_set<uint64_t> programs;
  Rows rows = database_
                  .Prepared(SelectTrials("WHERE task = ? AND target = ? AND verdict = 'ok'"
                                         " AND cut_short = 0 ORDER BY value"))
                  .Start(task, target);
  while (static_cast<int>(best.size()) < count && rows.Step()) {
    StoredTrial trial = ReadTrial(database_, rows);
    if (programs.insert(trial.key).second) best.push_back(std::move(trial));
  }
  return best;
}

int64_t Store::CountTrials(RunId run) {
  Lock lock(mutex_);
  Rows rows = database_.Prepared("SELECT COUNT(*) FROM trials WHERE run = ?").Start(run);
  rows.Step();
  return rows.Int(0);
}

}  // namespace bayloom::record
