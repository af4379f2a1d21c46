// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "bayloom/measure/guarded_memory.h"
#include "bayloom/measure/kernel_call.h"
#include "bayloom/trial/outcome.h"

namespace bayloom::measure {

/// A kernel could not be built, or was refused when it was launched.
class LaunchError : public std::runtime_error {
 public:
  LaunchError(trial::Verdict verdict, const std::string& what)
      : std::runtime_error(what), verdict_(verdict) {}
  trial::Verdict verdict() const { return verdict_; }

 private:
  trial::Verdict verdict_;
};

/// A user's kernel, ready to be run by the runner process on the task's memory.
/// Members throw LaunchError.
class KernelLauncher {
 public:
  virtual ~KernelLauncher() = default;

  /// Runs it so many times and returns the seconds of all of them.
  virtual double Time(int64_t count) = 0;
  /// To be called before memory of a parameter is written to here, and after.
  virtual void BeginWriting(size_t /*parameter*/) {}
  virtual void EndWriting(size_t /*parameter*/) {}
  /// Brings here what was computed of a parameter.
  virtual void Download(size_t /*parameter*/) {}
};

/// One whose parameters lie in `memory`, which must outlive it.
std::unique_ptr<KernelLauncher> MakeFunctionLauncher(const KernelCall& call,
                                                     std::span<const GuardedMemory> memory);
std::unique_ptr<KernelLauncher> MakeOpenClLauncher(const KernelCall& call,
                                                   std::span<const GuardedMemory> memory);
inline std::unique_ptr<KernelLauncher> MakeLauncher(const KernelCall& call,
                                                    std::span<const GuardedMemory> memory) {
  return call.kind == KernelCall::Kind::kOpenCl ? MakeOpenClLauncher(call, memory)
                                                : MakeFunctionLauncher(call, memory);
}

}  // namespace bayloom::measure
