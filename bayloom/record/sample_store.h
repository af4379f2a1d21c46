// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/feature/program_features.h"
#include "bayloom/record/database.h"
#include "bayloom/record/run_record.h"

namespace bayloom::record {

/// A measured program as a cost model sees it.
struct MeasuredSample {
  uint64_t hash = 0;              ///< structural, of the program
  std::optional<double> seconds;  ///< of one run; nullopt: infeasible
  feature::FeatureMatrix features;
};

/// What is kept of a task on a target.
struct TaskSamples {
  TaskId task = 0;
  int64_t given = 0;  ///< programs measured so far, those included that were not kept
  std::vector<MeasuredSample> samples;
};

/// A task with samples on some target.
struct SampledTask {
  TaskId id = 0;
  int64_t given = 0;  ///< as TaskSamples has it
};

/// A trained cost model and what it was trained on.
struct StoredModel {
  uint64_t hash = 0;   ///< of the bytes
  int64_t given = 0;   ///< programs measured on its target by then
  int64_t trials = 0;  ///< programs that it learnt from
  int64_t tasks = 0;   ///< whose programs these are
  std::string bytes;   ///< see cost::PackModel
};

/// Measured programs for cost models to learn from, and models trained on them, in a database of
/// records beside its tasks and targets (see Store). Of a task on a target there is one set of
/// samples: who adds to it decides what stays.
///
/// Samples whose features an older version extracted are no longer there. What a call has written
/// is durable when it returns. Failures are those of Database. All methods may be called from any
/// thread.
class SampleStore {
 public:
  using Mode = Database::Mode;

  explicit SampleStore(const std::string& path, Mode mode = Mode::kReadWrite);

  const std::string& path() const { return database_.path(); }

  /// Replaces what is kept of the task on the target by what `change` makes of it. Who else adds
  /// to it, in any process, does so before or afterwards; `change` must not use this store. Where
  /// it throws, nothing is changed.
  void Update(TaskId task, TargetId target, const std::function<void(TaskSamples&)>& change);
  /// Nothing kept: no samples, none given. Throws InputError where they are damaged.
  TaskSamples Of(TaskId task, TargetId target);
  /// Tasks with samples on the target, those changed longest ago first.
  std::vector<SampledTask> TasksOn(TargetId target);
  /// Programs of all tasks measured on the target.
  int64_t Given(TargetId target);

  /// Bytes that all samples take.
  int64_t Bytes();
  /// Removes the samples of the tasks changed longest ago, on any target, until all take no more
  /// than `bytes`.
  void Trim(int64_t bytes);

  /// Adds a model of a target; the same model is kept once.
  void AddModel(TargetId target, const StoredModel& model);
  /// Puts a model in the place of all models of a target, at once: of several processes that do
  /// so, the model of one is kept.
  void ReplaceModels(TargetId target, const StoredModel& model);
  std::optional<StoredModel> ModelOf(uint64_t hash);
  /// The one added last.
  std::optional<StoredModel> LastModel(TargetId target);

 private:
  /// The one added last of those with this value in a column.
  std::optional<StoredModel> FindModel(const std::string& column, int64_t value);

  std::mutex mutex_;  ///< guards the database
  Database database_;
};

}  // namespace bayloom::record
