// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "bayloom/base/result.h"
#include "bayloom/remote/candidate_evaluator.h"
#include "bayloom/remote/messages.h"

namespace bayloom::remote {

struct ServerOptions {
  Report hello;  ///< what it says of itself
  /// Makes the evaluator of a subject from its definition; fails for what this worker cannot try.
  std::function<Result<std::unique_ptr<CandidateEvaluator>>(const nlohmann::json& definition)>
      make_evaluator;
  /// Measures this machine; ends early, in any way, once `stop` is true.
  std::function<Result<nlohmann::json>(const std::function<bool()>& stop)> measure_machine;
  /// What a person should know of this machine, in one line, such as that it is busy; empty where
  /// there is nothing new. Asked after each trial and after the machine was measured; may be null.
  std::function<std::string()> note = nullptr;
  double alive_seconds = 1;  ///< between two signs of life
};

/// Serves a tuner: reads requests from a descriptor and writes reports to another until the first
/// is at its end or the second is closed. Then what runs is ended, within a second, and no
/// measurement of the machine is begun. A line that is no request is answered by an error and
/// changes nothing.
///
/// Throws SystemError where the machine fails.
void Serve(int input, int output, const ServerOptions& options);

}  // namespace bayloom::remote
