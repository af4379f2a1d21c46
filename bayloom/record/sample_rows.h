// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/record/database.h"
#include "bayloom/record/sample_store.h"

namespace bayloom::record {

// The rows of a SampleStore, for those who have a database and a transaction of their own.

/// Which columns features have; changes when columns come, go or move.
int64_t FeatureLayout();

/// Samples as the database keeps them.
struct PackedSamples {
  std::string measurements;
  std::string features;
};
PackedSamples PackSamples(std::span<const MeasuredSample> samples);
/// Fails for bytes that PackSamples does not make.
Result<std::vector<MeasuredSample>> UnpackSamples(const PackedSamples& packed);

/// As SampleStore::Of.
TaskSamples ReadSamples(Database& database, TaskId task, TargetId target);
/// Takes the place of what was kept of the task on the target; it was changed last.
void WriteSamples(Database& database, TargetId target, const TaskSamples& samples);

/// Whether there is a model of this hash.
bool HasModel(Database& database, uint64_t hash);
/// As SampleStore::AddModel.
void WriteModel(Database& database, TargetId target, const StoredModel& model);

}  // namespace bayloom::record
