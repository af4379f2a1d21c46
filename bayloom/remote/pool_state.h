// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bayloom/base/result.h"
#include "bayloom/remote/connection.h"
#include "bayloom/remote/messages.h"
#include "bayloom/trial/evaluator.h"

namespace bayloom::remote {

// What a pool knows of its trials, subjects and workers.

struct PoolTrial {
  trial::TrialId id = 0;
  SubjectId subject = 0;
  nlohmann::json candidate;
  bool is_repeat = false;
  bool is_probe = false;  ///< the pool's own, to see a worker's drift
};

struct PoolSubject {
  nlohmann::json definition;
  bool is_timed = false;
  double answer_seconds = 0;  ///< as WorkerPool::AddSubject has it
  std::optional<nlohmann::json> incumbent;
  double incumbent_value = 0;
  int trials_since_comparison = 0;
};

struct PoolWorker {
  enum class State : uint8_t { kPaused, kStarting, kReady, kLeftOut };

  std::string command;
  State state = State::kPaused;
  std::optional<Connection> connection;
  double resume_at = 0;  ///< of a pause; when it was started, while starting
  double silence = 0;
  double waited = 0;  ///< since its last answer, while it owes one
  int notes = 0;      ///< that it has written
  int failures = 0;   ///< ends in a row without an outcome
  std::string last_failure;
  bool was_greeted = false;        ///< it has said hello once
  bool was_lost = false;           ///< a person was told so
  bool was_waited_for = false;     ///< a person was told so
  std::map<SubjectId, int> slots;  ///< of the subjects it was told of; 0: no answer yet
  std::map<LeaseId, PoolTrial> leases;
  bool measures = false;  ///< it was asked for its machine
  std::optional<Result<nlohmann::json>> machine;

  std::string Name() const;  ///< "worker 'ssh board bayloom worker'"
  /// How long it may take for the next of the answers that it owes; 0: it owes none.
  double AnswerSeconds(const std::map<SubjectId, PoolSubject>& subjects,
                       double preparation_seconds) const;
};

std::string WhyNoneIsLeft(const std::vector<PoolWorker>& workers);

/// What is wrong with a worker's outcome of a program; empty if nothing is.
std::string WhyNoMeasurement(const trial::Outcome& outcome);

}  // namespace bayloom::remote
