// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/sample_store.h"

#include "bayloom/record/sample_rows.h"
#include "bayloom/record/schema.h"

namespace bayloom::record {

SampleStore::SampleStore(const std::string& path, Mode mode) : database_(path, mode) {
  Migrate(database_, StoreMigrations());
}

void SampleStore::Update(TaskId task, TargetId target,
                         const std::function<void(TaskSamples&)>& change) {
  const std::lock_guard lock(mutex_);
  Transaction transaction(database_);
  TaskSamples samples = ReadSamples(database_, task, target);
  change(samples);
  WriteSamples(database_, target, samples);
  transaction.Commit();
}

TaskSamples SampleStore::Of(TaskId task, TargetId target) {
  const std::lock_guard lock(mutex_);
  return ReadSamples(database_, task, target);
}

std::vector<SampledTask> SampleStore::TasksOn(TargetId target) {
  const std::lock_guard lock(mutex_);
  std::vector<SampledTask> tasks;
  Rows rows =
      database_
          .Prepared(
              "SELECT task, given FROM samples WHERE target = ? AND layout = ? ORDER BY changed")
          .Start(target, FeatureLayout());
  while (rows.Step()) tasks.push_back({.id = rows.Int(0), .given = rows.Int(1)});
  return tasks;
}

int64_t SampleStore::Given(TargetId target) {
  const std::lock_guard lock(mutex_);
  Rows rows =
      database_
          .Prepared("SELECT IFNULL(SUM(given), 0) FROM samples WHERE target = ? AND layout = ?")
          .Start(target, FeatureLayout());
  return rows.Step() ? rows.Int(0) : 0;
}

int64_t SampleStore::Bytes() {
  const std::lock_guard lock(mutex_);
  Rows rows =
      database_
          .Prepared("SELECT IFNULL(SUM(LENGTH(measurements) + LENGTH(features)), 0) FROM samples")
          .Start();
  return rows.Step() ? rows.Int(0) : 0;
}

void SampleStore::Trim(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  database_
      .Prepared(
          "DELETE FROM samples WHERE (task, target) IN (SELECT task, target FROM"
          " (SELECT task, target, SUM(LENGTH(measurements) + LENGTH(features))"
          "  OVER (ORDER BY changed DESC, task, target) AS total FROM samples) WHERE total > ?)")
      .Run(bytes);
}

void SampleStore::AddModel(TargetId target, const StoredModel& model) {
  const std::lock_guard lock(mutex_);
  WriteModel(database_, target, model);
}

void SampleStore::ReplaceModels(TargetId target, const StoredModel& model) {
  const std::lock_guard lock(mutex_);
  Transaction transaction(database_);
  database_.Prepared("DELETE FROM models WHERE target = ?").Run(target);
  WriteModel(database_, target, model);
  transaction.Commit();
}

std::optional<StoredModel> SampleStore::FindModel(const std::string& column, int64_t value) {
  const std::lock_guard lock(mutex_);
  Rows rows = database_
                  .Prepared("SELECT hash, given, trials, tasks, bytes FROM models WHERE " + column +
                            " = ? AND layout = ? ORDER BY added DESC LIMIT 1")
                  .Start(value, FeatureLayout());
  if (!rows.Step()) return std::nullopt;
  return StoredModel{.hash = rows.Hash(0),
                     .given = rows.Int(1),
                     .trials = rows.Int(2),
                     .tasks = rows.Int(3),
                     .bytes = rows.Blob(4)};
}

std::optional<StoredModel> SampleStore::ModelOf(uint64_t hash) {
  return FindModel("hash", static_cast<int64_t>(hash));
}

std::optional<StoredModel> SampleStore::LastModel(TargetId target) {
  return FindModel("target", target);
}

}  // namespace bayloom::record
