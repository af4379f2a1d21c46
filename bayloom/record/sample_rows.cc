// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/sample_rows.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "bayloom/base/hash.h"
#include "bayloom/record/pool_chunk.h"

namespace bayloom::record {
namespace {

/// A program's hash and its seconds, NaN where it is infeasible: the rest of a sample.
struct Measurement {
  uint64_t hash;
  double seconds;
};

}  // namespace

int64_t FeatureLayout() {
  base::Hasher names;
  for (int column = 0; column < feature::kFeatureColumns; ++column) {
    names.Add(feature::FeatureColumnName(column));
  }
  return static_cast<int64_t>(names.Digest());
}

PackedSamples PackSamples(std::span<const MeasuredSample> samples) {
  PackedSamples packed;
  std::vector<PoolProgram> programs;
  for (const MeasuredSample& sample : samples) {
    const Measurement one = {sample.hash,
                             sample.seconds.value_or(std::numeric_limits<double>::quiet_NaN())};
    packed.measurements.append(reinterpret_cast<const char*>(&one), sizeof(one));
    programs.emplace_back().features = sample.features;
  }
  packed.features = PackFeatures(programs);
  return packed;
}

Result<std::vector<MeasuredSample>> UnpackSamples(const PackedSamples& packed) {
  Result<std::vector<feature::FeatureMatrix>> features = UnpackFeatures(packed.features);
  if (!features) return features.error();
  if (packed.measurements.size() != features->size() * sizeof(Measurement)) {
    return Error{"there are not as many measurements as programs"};
  }
  std::vector<MeasuredSample> samples;
  for (size_t i = 0; i < features->size(); ++i) {
    Measurement one;
    std::memcpy(&one, packed.measurements.data() + i * sizeof(one), sizeof(one));
    const bool is_feasible = !std::isnan(one.seconds);
    if (is_feasible && !trial::IsTime(one.seconds)) {
      return Error{fmt::format("a program cannot take {} seconds", one.seconds)};
    }
    samples.push_back({.hash = one.hash,
                       .seconds = is_feasible ? std::optional(one.seconds) : std::nullopt,
                       .features = std::move((*features)[i])});
  }
  return samples;
}

TaskSamples ReadSamples(Database& database, TaskId task, TargetId target) {
  TaskSamples found = {.task = task, .given = 0, .samples = {}};
  Rows rows = database
                  .Prepared(
                      "SELECT given, measurements, features FROM samples"
                      " WHERE task = ? AND target = ? AND layout = ?")
                  .Start(task, target, FeatureLayout());
  if (!rows.Step()) return found;
  found.given = rows.Int(0);
  Result<std::vector<MeasuredSample>> samples = UnpackSamples({rows.Blob(1), rows.Blob(2)});
  if (!samples) {
    throw InputError(
        fmt::format("cannot use {}: the samples of task {} are damaged", database.path(), task));
  }
  found.samples = *std::move(samples);
  return found;
}

void WriteSamples(Database& database, TargetId target, const TaskSamples& samples) {
  const PackedSamples packed = PackSamples(samples.samples);
  database
      .Prepared(
          "INSERT OR REPLACE INTO samples (task, target, layout, given, changed, measurements,"
          " features) VALUES (?, ?, ?, ?, (SELECT IFNULL(MAX(changed), 0) + 1 FROM samples), ?, ?)")
      .Run(samples.task, target, FeatureLayout(), samples.given, BlobView{packed.measurements},
           BlobView{packed.features});
}

bool HasModel(Database& database, uint64_t hash) {
  return database.Prepared("SELECT 1 FROM models WHERE hash = ?").Start(hash).Step();
}

void WriteModel(Database& database, TargetId target, const StoredModel& model) {
  database
      .Prepared(
          "INSERT OR REPLACE INTO models (hash, target, layout, added, given, trials, tasks, bytes)"
          " VALUES (?, ?, ?, (SELECT IFNULL(MAX(added), 0) + 1 FROM models), ?, ?, ?, ?)")
      .Run(model.hash, target, FeatureLayout(), model.given, model.trials, model.tasks,
           BlobView{model.bytes});
}

}  // namespace bayloom::record
