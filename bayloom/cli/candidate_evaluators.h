// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "bayloom/measure/kernel_worker.h"
#include "bayloom/measure/load_monitor.h"
#include "bayloom/measure/measurer.h"
#include "bayloom/remote/server.h"

namespace bayloom::cli {

/// What a worker is set up with.
struct WorkerOptions {
  target::Target target;  ///< this machine
  measure::MeasureOptions measuring;
  int jobs = 1;  ///< configurations or mappings that are evaluated at the same time
};

/// Makes the evaluators of one worker: for programs, compiled programs, configurations and
/// mappings.
class CandidateEvaluators {
 public:
  explicit CandidateEvaluators(WorkerOptions options);

  /// How a worker with these evaluators is to be served; valid as long as this lives.
  remote::ServerOptions ServerOptions();

 private:
  Result<std::unique_ptr<remote::CandidateEvaluator>> Make(const nlohmann::json& definition);
  Result<nlohmann::json> Measure(const std::function<bool()>& stop);
  /// That other processes disturbed what was just measured, or have begun to disturb trials.
  std::string Note();

  WorkerOptions options_;
  std::unique_ptr<measure::Measurer> measurer_;     ///< null until a program is to be measured
  std::unique_ptr<measure::KernelWorker> kernels_;  ///< null until a compiled one is
  std::optional<measure::LoadMonitor> load_;        ///< from the first subject that takes time
  std::string machine_note_;                        ///< that the machine was busy, until it is said
};

}  // namespace bayloom::cli
