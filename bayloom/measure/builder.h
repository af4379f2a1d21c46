// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "bayloom/measure/build_worker.h"
#include "bayloom/measure/interruption.h"
#include "bayloom/measure/measurement_details.h"
#include "bayloom/measure/resource_usage.h"
#include "bayloom/target/target.h"
#include "bayloom/tensor/program.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::measure {

struct BuilderOptions {
  int threads = 0;  ///< compilations at a time; 0 for one per hardware thread
  /// After so long a compilation is ended. The usual one takes tens of milliseconds.
  double timeout_seconds = 30;
  /// Stands for CompileProgram in tests.
  Compile compile;
};

struct Build {
  std::optional<codegen::KernelObject> kernel;
  trial::Verdict verdict = trial::Verdict::kBuildError;  ///< what it is if there is no kernel
  std::string error;                                     ///< why there is none
  double seconds = 0;                                    ///< on one thread
  ResourceUsage use = {};                                ///< of GPUs, also without a kernel
};

/// What is known of the program that was built before it is run by so many threads.
MeasurementDetails DetailsOf(const Build& build, const tensor::Program& program, int threads);

/// Compiles programs for a target, several at a time, in processes of their own: one on which the
/// compiler crashes, aborts or does not end costs that program only.
///
/// What the assembler of a GPU says that the device cannot run well (RefusalOf) is no kernel, and
/// is remembered: the same program is not assembled again.
class Builder {
 public:
  explicit Builder(target::Target target, BuilderOptions options = {});

  const target::Target& target() const { return target_; }
  /// One result per program, in their order. Throws SystemError if no process can be started, and
  /// Interrupted.
  std::vector<Build> BuildAll(std::span<const tensor::Program* const> programs,
                              const StopCheck& stop = {});

 private:
  target::Target target_;
  BuilderOptions options_;
  std::unordered_map<uint64_t, ResourceUsage> refused_;  ///< by the programs' hashes
  bool warm_ = false;  ///< the compiler has been used once, and its children inherit that
};

}  // namespace bayloom::measure
