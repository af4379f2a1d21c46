// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "bayloom/base/result.h"
#include "bayloom/trial/evaluator.h"

namespace bayloom::remote {

// What a tuner and a worker say to each other: one JSON object a line (docs/workers.md is the
// manual). Both sides trust nothing that they receive: what is no message
// is refused with one line that says why.

inline constexpr int kProtocolVersion = 1;
/// Of one line; the largest are workloads.
inline constexpr size_t kMaxMessageBytes = size_t{64} << 20;

/// A number that the tuner gives to a subject: what candidates are candidates of.
using SubjectId = int64_t;
/// A number that the tuner gives to each time that it hands a trial to a worker. An answer with a
/// lease that is over is dropped.
using LeaseId = int64_t;

/// From the tuner.
struct Request {
  enum class Kind : uint8_t {
    kSubject,  ///< what trials are about from now on: `subject`, `body`
    kTrial,    ///< try a candidate: `lease`, `subject`, `body`, `is_repeat`
    kCancel,   ///< forget all trials
    kMachine,  ///< measure the machine
  };
  Kind kind = Kind::kCancel;
  SubjectId subject = 0;
  LeaseId lease = 0;
  nlohmann::json body = {};  ///< the subject's definition, or the candidate
  bool is_repeat = false;    ///< the candidate is measured again, for less long than at first
};

/// From the worker.
struct Report {
  enum class Kind : uint8_t {
    kHello,    ///< the first line: `version`, `identity`, `body`
    kAlive,    ///< every second
    kSubject,  ///< `subject` is ready for `slots` trials at a time
    kOutcome,  ///< `lease` and `outcome`
    kLost,     ///< `lease` could not be tried: `text` says why
    kMachine,  ///< what was measured: `body`
    kError,    ///< a line was refused: `text`; of a subject: `subject`, else 0
  };
  Kind kind = Kind::kAlive;
  std::string version;
  int protocol = 0;
  nlohmann::json body;   ///< the target, as TargetToJson has it; the machine
  std::string identity;  ///< workers of the same are alike
  bool compiles = true;  ///< else it takes programs that are compiled already
  SubjectId subject = 0;
  LeaseId lease = 0;
  int slots = 0;
  trial::Outcome outcome;
  std::string text;
  /// With an outcome, a loss or a machine: what a person should know of the worker's machine; may
  /// be empty. Tuners that know no notes pass over it.
  std::string note;
};

/// One line each, with its end.
std::string ToLine(const Request& request);
std::string ToLine(const Report& report);

Result<Request> ReadRequest(std::string_view line);
Result<Report> ReadReport(std::string_view line);

}  // namespace bayloom::remote
