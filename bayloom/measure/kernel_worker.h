// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "bayloom/base/result.h"
#include "bayloom/measure/kernel_measurer.h"
#include "bayloom/measure/kernel_options.h"
#include "bayloom/remote/candidate_evaluator.h"
#include "bayloom/remote/messages.h"
#include "bayloom/target/target.h"

namespace bayloom::measure {

/// The kind of a subject whose candidates are programs that the tuner has compiled.
inline constexpr const char* kKernelKind = "kernel";

/// What the tuner says of such a subject. `references` as of KernelMeasurer::PrepareReference.
nlohmann::json KernelSubject(const tensor::Workload& workload, int threads,
                             std::span<const TrialMessage> references);

/// How a worker on this machine greets. `compiles`: it makes programs of traces by itself.
remote::Report WorkerGreeting(const target::Target& machine, bool compiles);

/// Tries kernels in a worker: makes the data of a task and its expected results, then loads, runs,
/// checks and times what it is sent. Under an emulator nothing is timed: kernels are run twice and
/// checked, and outcomes say "emulated" beside the seconds that one run took.
class KernelWorker {
 public:
  KernelWorker(target::Target machine, KernelOptions options);

  /// An evaluator for a subject. This must outlive it. Fails for a definition that is none, and for
  /// more threads than the machine has processors.
  Result<std::unique_ptr<remote::CandidateEvaluator>> MakeEvaluator(
      const nlohmann::json& definition);

 private:
  target::Target machine_;
  KernelMeasurer measurer_;
};

}  // namespace bayloom::measure
