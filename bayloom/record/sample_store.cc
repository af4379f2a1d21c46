// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/sample_store.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "bayloom/base/hash.h"
#include "bayloom/base/result.h"
#include "bayloom/record/internal/schema.h"
#include "bayloom/record/pool_chunk.h"

namespace bayloom::record {
namespace {

/// Changes when columns come, go or move.
int64_t FeatureLayout() {
  base::Hasher names;
  for (int column = 0; column < feature::kFeatureColumns; ++column) {
    names.Add(feature::FeatureColumnName(column));
  }
  return static_cast<int64_t>(names.Digest());
}

/// A program's hash and its seconds, NaN where it is infeasible: the rest of a sample.
struct Measurement {
  uint64_t hash;
  double seconds;
};

std::string PackMeasurements(const std::vector<MeasuredSample>& samples) {
  std::string bytes;
  for (const MeasuredSample& sample : samples) {
    const Measurement one = {sample.hash,
                             sample.seconds.value_or(std::numeric_limits<double>::quiet_NaN())};
    bytes.append(reinterpret_cast<const char*>(&one), sizeof(one));
  }
  return bytes;
}

}  // namespace

SampleStore::SampleStore(const std::string& path, Mode mode) : database_(path, mode) {
  Migrate(database_, StoreMigrations());
}

void SampleStore::Damaged(TaskId task) const {
  throw InputError(fmt::format("cannot use {}: the samples of task {} are damaged", path(), task));
}

void SampleStore::Put(TargetId target, const TaskSamples& samples) {
  const std::string measurements = PackMeasurements(samples.samples);
  std::vector<PoolProgram> programs(samples.samples.size());
  for (size_t i = 0; i < programs.size(); ++i) programs[i].features = samples.samples[i].features;
  const std::string features = PackFeatures(programs);
  const std::lock_guard lock(mutex_);
  database_
      .Prepared(
          "INSERT OR REPLACE INTO samples (task, target, layout, given, changed, measurements,"
          " features) VALUES (?, ?, ?, ?, (SELECT IFNULL(MAX(changed), 0) + 1 FROM samples), ?, ?)")
      .Run(samples.task, target, FeatureLayout(), samples.given, BlobView{measurements},
           BlobView{features});
}

TaskSamples SampleStore::Of(TaskId task, TargetId target) {
  TaskSamples found = {.task = task, .given = 0, .samples = {}};
  std::string measurements, packed;
  {
    const std::lock_guard lock(mutex_);
    Rows rows = database_
                    .Prepared(
                        "SELECT given, measurements, features FROM samples"
                        " WHERE task = ? AND target = ? AND layout = ?")
                    .Start(task, target, FeatureLayout());
    if (!rows.Step()) return found;
    found.given = rows.Int(0);
    measurements = rows.Blob(1);
    packed = rows.Blob(2);
  }
  Result<std::vector<feature::FeatureMatrix>> features = UnpackFeatures(packed);
  if (!features || measurements.size() != features->size() * sizeof(Measurement)) Damaged(task);
  for (size_t i = 0; i < features->size(); ++i) {
    Measurement one;
    std::memcpy(&one, measurements.data() + i * sizeof(one), sizeof(one));
    const bool is_feasible = !std::isnan(one.seconds);
    if (is_feasible && !(one.seconds > 0 && std::isfinite(one.seconds))) Damaged(task);
    found.samples.push_back({.hash = one.hash,
                             .seconds = is_feasible ? std::optional(one.seconds) : std::nullopt,
                             .features = std::move((*features)[i])});
  }
  return found;
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
  database_
      .Prepared(
          "INSERT OR REPLACE INTO models (hash, target, layout, added, given, trials, tasks, bytes)"
          " VALUES (?, ?, ?, (SELECT IFNULL(MAX(added), 0) + 1 FROM models), ?, ?, ?, ?)")
      .Run(model.hash, target, FeatureLayout(), model.given, model.trials, model.tasks,
           BlobView{model.bytes});
}

void SampleStore::KeepOnlyModel(TargetId target, uint64_t hash) {
  const std::lock_guard lock(mutex_);
  database_.Prepared("DELETE FROM models WHERE target = ? AND hash <> ?").Run(target, hash);
}

std::optional<StoredModel> SampleStore::ReadModel(Rows rows) {
  if (!rows.Step()) return std::nullopt;
  return StoredModel{.hash = rows.Hash(0),
                     .given = rows.Int(1),
                     .trials = rows.Int(2),
                     .tasks = rows.Int(3),
                     .bytes = rows.Blob(4)};
}

std::optional<StoredModel> SampleStore::ModelOf(uint64_t hash) {
  const std::lock_guard lock(mutex_);
  return ReadModel(database_
                       .Prepared("SELECT hash, given, trials, tasks, bytes FROM models"
                                 " WHERE hash = ? AND layout = ?")
                       .Start(hash, FeatureLayout()));
}

std::optional<StoredModel> SampleStore::LastModel(TargetId target) {
  const std::lock_guard lock(mutex_);
  return ReadModel(database_
                       .Prepared("SELECT hash, given, trials, tasks, bytes FROM models"
                                 " WHERE target = ? AND layout = ? ORDER BY added DESC LIMIT 1")
                       .Start(target, FeatureLayout()));
}

}  // namespace bayloom::record
