// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/base/json.h"
#include "bayloom/base/result.h"
#include "bayloom/base/single_line.h"
#include "bayloom/record/schema.h"
#include "bayloom/record/stored_rows.h"
#include "bayloom/record/uuid.h"
#include "bayloom/target/target_check.h"
#include "bayloom/target/target_json.h"
#include "bayloom/tensor/program.h"
#include "bayloom/tensor/workload_json.h"
#include "bayloom/tensor/workload_name.h"

namespace bayloom::record {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kRunColumns =
    "uuid, kind, name, definition, target, objective, maximize, proposer, seed, started, finished,"
    " state";

RunRecord ReadRun(const Database& database, const Rows& row) {
  RunRecord run;
  run.id = row.Int(0);
  run.uuid = row.Text(1);
  const std::optional<RunKind> kind = ParseRunKind(row.Text(2));
  if (!kind)
    Damaged(database,
            fmt::format("run {} is of the kind '{}'", run.id, base::SingleLine(row.Text(2))));
  run.kind = *kind;
  run.name = row.Text(3);
  run.definition = CheckedText(database, row, 4, "definition of run", run.id);
  run.target = NullIfZero(row.Int(5));
  run.objective = row.Text(6);
  run.maximize = row.Int(7) != 0;
  run.proposer = row.Text(8);
  run.seed = row.Hash(9);
  run.started = row.Int(10);
  run.finished = row.Int(11) != 0;
  run.state = CheckedText(database, row, 12, "state of run", run.id);
  return run;
}

/// Names tasks by their workloads, as older versions wrote names that many tasks share; those that
/// cannot be read keep the name they have.
void SetNames(std::vector<TaskRecord>& tasks) {
  std::vector<tensor::Workload> workloads;
  std::vector<TaskRecord*> named;
  for (TaskRecord& task : tasks) {
    Result<tensor::Workload> workload =
        tensor::WorkloadFromJson(base::ParseJsonOrDiscard(task.workload));
    if (!workload) continue;
    workloads.push_back(*std::move(workload));
    named.push_back(&task);
  }
  std::vector<const tensor::Workload*> pointers;
  for (const tensor::Workload& workload : workloads) pointers.push_back(&workload);
  const std::vector<std::string> names = tensor::NamesOf(pointers);
  for (size_t i = 0; i < names.size(); ++i) named[i]->name = names[i];
}

}  // namespace

Store::Store(const std::string& path, Mode mode) : database_(path, mode) {
  Migrate(database_, StoreMigrations());
}

TargetId Store::AddTarget(const target::Target& target) {
  std::lock_guard lock(mutex_);
  if (std::optional<TargetId> known = FindTarget(target)) {
    if (target.machine && !TargetOf(*known).machine) {
      database_.Prepared("UPDATE targets SET json = ? WHERE id = ?")
          .Run(target::TargetToJson(target).dump(), *known);
    }
    return *known;
  }
  database_.Prepared("INSERT INTO targets (hash, json) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING")
      .Run(target::HashOf(target), target::TargetToJson(target).dump());
  return FindTarget(target).value();
}

std::optional<TargetId> Store::FindTarget(const target::Target& target) {
  std::lock_guard lock(mutex_);
  Rows rows =
      database_.Prepared("SELECT id FROM targets WHERE hash = ?").Start(target::HashOf(target));
  if (!rows.Step()) return std::nullopt;
  return rows.Int(0);
}

target::Target Store::TargetOf(TargetId id) {
  std::lock_guard lock(mutex_);
  Rows rows = database_.Prepared("SELECT json FROM targets WHERE id = ?").Start(id);
  if (!rows.Step()) Damaged(database_, fmt::format("there is no target {}", id));
  Result<target::Target> target = target::CheckedTarget(base::ParseJsonOrDiscard(rows.Text(0)));
  if (!target) Damaged(database_, fmt::format("target {}: {}", id, target.error().message));
  return *std::move(target);
}

std::vector<TargetId> Store::Targets() {
  std::lock_guard lock(mutex_);
  std::vector<TargetId> targets;
  Rows rows = database_.Prepared("SELECT id FROM targets ORDER BY id").Start();
  while (rows.Step()) targets.push_back(rows.Int(0));
  return targets;
}

void Store::SetMachine(TargetId target, const std::string& json) {
  std::lock_guard lock(mutex_);
  database_.Prepared("UPDATE targets SET machine = ? WHERE id = ?").Run(json, target);
}

std::optional<std::string> Store::MachineOf(TargetId target) {
  std::lock_guard lock(mutex_);
  Rows rows = database_.Prepared("SELECT machine FROM targets WHERE id = ? AND machine IS NOT NULL")
                  .Start(target);
  if (!rows.Step()) return std::nullopt;
  return rows.Text(0);
}

TaskId Store::AddTask(const tensor::Workload& workload) {
  std::lock_guard lock(mutex_);
  const uint64_t hash = workload.StructuralHash();
  if (std::optional<TaskId> known = FindTask(hash)) return *known;
  database_
      .Prepared(
          "INSERT INTO tasks (hash, name, text, workload) VALUES (?, ?, ?, ?)"
          " ON CONFLICT (hash) DO NOTHING")
      .Run(hash, tensor::NameOf(workload), tensor::Print(workload),
           tensor::WorkloadToJson(workload).dump());
  return FindTask(hash).value();
}

std::optional<TaskId> Store::FindTask(uint64_t workload_hash) {
  std::lock_guard lock(mutex_);
  Rows rows = database_.Prepared("SELECT id FROM tasks WHERE hash = ?").Start(workload_hash);
  if (!rows.Step()) return std::nullopt;
  return rows.Int(0);
}

std::vector<TaskRecord> Store::Tasks() {
  std::lock_guard lock(mutex_);
  std::vector<TaskRecord> tasks;
  Rows rows =
      database_.Prepared("SELECT id, hash, name, text, workload FROM tasks ORDER BY id").Start();
  while (rows.Step()) {
    tasks.push_back({rows.Int(0), rows.Hash(1), rows.Text(2), rows.Text(3), rows.Text(4)});
  }
  SetNames(tasks);
  return tasks;
}

tensor::Workload Store::WorkloadOf(TaskId task) {
  std::lock_guard lock(mutex_);
  Rows rows = database_.Prepared("SELECT workload FROM tasks WHERE id = ?").Start(task);
  if (!rows.Step()) Damaged(database_, fmt::format("there is no task {}", task));
  Result<tensor::Workload> workload =
      tensor::WorkloadFromJson(base::ParseJsonOrDiscard(rows.Text(0)));
  if (!workload) Damaged(database_, fmt::format("task {}: {}", task, workload.error().message));
  return *std::move(workload);
}

RunRecord Store::BeginRun(RunRecord run) {
  std::lock_guard lock(mutex_);
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
  std::lock_guard lock(mutex_);
  Rows rows = database_.Prepared(fmt::format("SELECT id, {} FROM runs WHERE id = ?", kRunColumns))
                  .Start(id);
  if (!rows.Step()) throw InputError(fmt::format("{} has no run {}", path(), id));
  return ReadRun(database_, rows);
}

std::vector<RunRecord> Store::Runs(std::optional<RunKind> kind) {
  std::lock_guard lock(mutex_);
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
  std::lock_guard lock(mutex_);
  Rows rows = database_
                  .Prepared(fmt::format("SELECT id, {} FROM runs WHERE kind = ? AND name = ?"
                                        " ORDER BY id DESC LIMIT 1",
                                        kRunColumns))
                  .Start(std::string(ToString(kind)), name);
  if (!rows.Step()) return std::nullopt;
  return ReadRun(database_, rows);
}

void Store::SaveState(RunId run, const std::string& state, std::span<const Metric> metrics) {
  std::lock_guard lock(mutex_);
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
  std::lock_guard lock(mutex_);
  database_.Prepared("UPDATE runs SET finished = ? WHERE id = ?").Run(finished, run);
}

std::vector<Metric> Store::MetricsOf(RunId run) {
  std::lock_guard lock(mutex_);
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

}  // namespace bayloom::record
