#pragma once

#include <cstdint>
#include <string>

#include "bayloom/space/outcome.h"

namespace bayloom {

/// Row numbers in one store; they mean nothing elsewhere.
using TargetId = int64_t;
using TaskId = int64_t;
using SessionId = int64_t;

/// One measurement of one candidate, as it is kept.
struct Trial {
  SessionId session = 0;
  TaskId task = 0;
  TargetId target = 0;
  int64_t ordinal = 0;   ///< position among the session's trials, from 0
  std::string strategy;  ///< who proposed it
  int space = 0;         ///< index of the task's design space
  std::string trace;     ///< JSON
  uint64_t program_hash = 0;
  Outcome outcome;
  int64_t timestamp = 0;  ///< microseconds since 1970; filled in when 0
};

/// A workload that is or was tuned.
struct TaskRecord {
  TaskId id = 0;
  uint64_t workload_hash = 0;
  std::string name;
  std::string text;      ///< the workload as a person reads it
  std::string workload;  ///< JSON, see tensor/workload_json.h
};

/// One run of the tuner, however often interrupted and resumed.
struct SessionRecord {
  SessionId id = 0;
  std::string uuid;  ///< identifies the session in every store it is copied to
  TargetId target = 0;
  std::string model;    ///< what is tuned
  std::string options;  ///< JSON
  uint64_t seed = 0;
  int64_t started = 0;  ///< microseconds since 1970
  bool finished = false;
  /// Whatever the session needs to go on from its last completed batch; empty before that.
  std::string state;
};

/// A number that describes the state of learning after a batch, e.g. "rmse".
struct Metric {
  TaskId task = 0;  ///< 0: of the whole session
  int64_t batch = 0;
  std::string name;
  double value = 0;
};

}  // namespace bayloom
