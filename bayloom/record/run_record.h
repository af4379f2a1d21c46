// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bayloom/trial/trial_store.h"

namespace bayloom::record {

/// Row numbers in one store; they mean nothing elsewhere.
using TargetId = int64_t;
using TaskId = int64_t;
using RunId = int64_t;

/// What a run does.
enum class RunKind : uint8_t {
  kTune,     ///< tunes the operators of a model, or a single operator
  kDataset,  ///< measures programs of a pool
  kSearch,   ///< searches a scenario
  kMap,      ///< searches mappings of an operation onto an accelerator
};

/// "tune", "dataset", "search", "map".
std::string_view ToString(RunKind kind);
std::optional<RunKind> ParseRunKind(std::string_view text);

/// One run, however often interrupted and resumed.
struct RunRecord {
  RunId id = 0;
  std::string uuid = {};  ///< identifies the run in every store it is copied to
  RunKind kind = RunKind::kTune;
  std::string name = {};  ///< the model, operator, scenario or problem
  std::string definition =
      {};  ///< options as JSON (tune, dataset, map) or the scenario as it was read
  std::optional<TargetId> target = {};  ///< of tune and dataset
  std::string objective = {};           ///< what a trial's value is: "seconds", "energy"
  bool maximize = false;
  std::string proposer = {};  ///< the optimizer or mapper; empty if it is chosen by task
  uint64_t seed = 0;
  int64_t started = 0;  ///< microseconds since 1970
  bool finished = false;
  /// What the run needs beside its trials to go on from its last completed slot; empty before that.
  std::string state = {};
};

/// Whether its trials are of several tasks, whose values do not compare: a tuning, or measurements
/// of a pool.
bool HasTasks(const RunRecord& run);

/// A trial together with the rows it belongs to.
struct StoredTrial : trial::TrialRecord {
  RunId run = 0;
  TaskId task = 0;      ///< 0: none
  TargetId target = 0;  ///< 0: none
};

/// A candidate measured once more, in turns with others that were about as good: so a lucky
/// measurement is found out, and what the machine does meanwhile affects all of them alike. Those
/// of the same `run`, `after` and `task` are one comparison.
struct Repeat {
  RunId run = 0;        ///< that measured it
  int64_t after = 0;    ///< trials that the run had by then
  TaskId task = 0;      ///< 0: none
  TargetId target = 0;  ///< 0: none
  /// The trial whose candidate it is, by its run and ordinal. Run 0: the default program, which no
  /// trial has.
  RunId trial_run = 0;
  int64_t trial = 0;
  int round = 0;
  trial::Outcome outcome = {};
  int64_t timestamp = 0;  ///< microseconds since 1970; filled in by the store when 0
};

/// The named value of a repeat's outcome that says: of its comparison, this candidate was chosen.
inline constexpr const char* kChosen = "chosen";

/// A workload that is or was tuned.
struct TaskRecord {
  TaskId id = 0;
  uint64_t workload_hash = 0;
  std::string name = {};
  std::string text;      ///< the workload as a person reads it
  std::string workload;  ///< JSON, see tensor/workload_json.h
};

/// A number that describes the state of learning after a slot, e.g. "rmse".
struct Metric {
  TaskId task = 0;  ///< 0: of the whole run
  int64_t batch = 0;
  std::string name = {};
  double value = 0;
};

}  // namespace bayloom::record
